"""Cotangents and tangents of several seeds at once: every number or array has a leading axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.runtime.structure import as_gradient, zeros_like
from adcompiler.runtime.tangents import as_tangent

MANY_SEEDS = 8
"""From so many seeds on native loops over them are the innermost ones, where there are such."""
FEW_SEEDS = 3
"""The same where functions or products that no seed decides are computed once for all then."""


def count_seeds(g: Any) -> int:
    """Return the number of seeds: the length of the leading axis of what ``g`` holds.

    Raises ValueError if ``g`` holds no array.
    """
    found = first_array(g)
    if found is None:
        raise ValueError("there is no array to count the seeds of")
    return len(found)


def first_array(g: Any) -> np.ndarray | None:
    """Return the first array inside of a value, None if there is none."""
    if isinstance(g, np.ndarray):
        return g
    if isinstance(g, (tuple, list)):
        parts: Any = g
    elif isinstance(g, dict):
        parts = g.values()
    elif is_record(g):
        parts = state_of(g).values()
    else:
        return None
    return next((a for part in parts if (a := first_array(part)) is not None), None)


def repeated(x: Any, seeds: int) -> Any:
    """Return ``x`` once for each seed: with a leading axis, in storage of its own."""
    if x is None:
        return None
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(repeated(item, seeds) for item in x))
    if isinstance(x, (tuple, list)):
        return type(x)(repeated(item, seeds) for item in x)
    if isinstance(x, dict):
        return {key: repeated(item, seeds) for key, item in x.items()}
    if is_record(x):
        return record(**{name: repeated(item, seeds) for name, item in state_of(x).items()})
    return np.repeat(np.asarray(x)[np.newaxis], seeds, axis=0)


def zeros_of_each(x: Any, seeds: int) -> Any:
    """Return the zero cotangents of ``x`` for every seed."""
    if isinstance(x, np.ndarray):
        return np.zeros((seeds, *x.shape), x.dtype if x.dtype.kind in "fc" else np.float64)
    return repeated(zeros_like(x), seeds)


def unbroadcast_each(g: Any, shape: tuple[int, ...]) -> Any:
    """Return ``g`` summed as ``unbroadcast`` does for each seed: to ``(seeds, *shape)``."""
    wanted = (len(g), *shape)
    if g.shape == wanted:
        return g
    missing = len(shape) + 1 - g.ndim
    if missing > 0:
        g = g.reshape(len(g), *(1,) * missing, *g.shape[1:])
    inner = np.broadcast_shapes(g.shape[1:], shape)
    g = np.broadcast_to(g, (len(g), *inner))
    extra = g.ndim - len(wanted)
    if extra:
        g = g.sum(axis=tuple(range(1, extra + 1)))
    stretched = tuple(i for i, n in enumerate(wanted) if n == 1 and g.shape[i] != 1)
    return g.sum(axis=stretched, keepdims=True) if stretched else g


def project_each(g: Any, x: Any) -> Any:
    """Return ``g`` as cotangents of ``x``, as ``project`` does for each seed."""
    if isinstance(g, np.ndarray) and isinstance(x, (np.ndarray, np.generic, int, float, complex)):
        g = unbroadcast_each(g, np.shape(x))
        dtype = np.asarray(x).dtype
        if dtype.kind != "c" and g.dtype.kind == "c":
            g = g.real
        return g.astype(dtype, copy=False) if dtype.kind in "fc" else g
    return stacked([project(seed_of(g, i), x) for i in range(count_seeds(g))])


def as_gradient_each(g: Any, x: Any, seeds: int) -> Any:
    """Return ``g`` as gradients with respect to ``x``, as ``as_gradient`` does for each seed."""
    if isinstance(g, np.ndarray) and isinstance(x, (np.ndarray, np.generic, int, float, complex)):
        return np.array(project_each(g, x))
    if isinstance(g, (tuple, list)) and isinstance(x, (tuple, list)) and not is_record(x):
        items = [as_gradient_each(gi, xi, seeds) for gi, xi in zip(g, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    if isinstance(g, dict) and isinstance(x, dict) and not is_record(x):
        return {key: as_gradient_each(g[key], value, seeds) for key, value in x.items()}
    return stacked([as_gradient(seed_of(g, i), x) for i in range(seeds)])


def as_tangent_each(d: Any, x: Any) -> Any:
    """Return ``d`` as tangents of ``x``, as ``as_tangent`` does for each seed."""
    if isinstance(d, np.ndarray) and isinstance(x, (np.ndarray, np.generic, int, float, complex)):
        like = np.asarray(x)
        if like.dtype.kind != "c" and d.dtype.kind == "c":
            d = d.real
        dtype = like.dtype if like.dtype.kind in "fc" else np.dtype(np.float64)
        if d.shape[1:] != like.shape:
            missing = like.ndim + 1 - d.ndim
            d = d.reshape(len(d), *(1,) * missing, *d.shape[1:])
            d = np.broadcast_to(d, (len(d), *like.shape))
        return d.astype(dtype, copy=False)
    return stacked([as_tangent(seed_of(d, i), x) for i in range(count_seeds(d))])


def elementwise_each(function: Any, each: tuple[bool, ...], *args: Any) -> Any:
    """Return an elementwise function of arguments, of which some, by ``each``, are of many seeds.

    Sums of lists and tuples are what is in both.
    """
    if isinstance(args[0], (list, tuple)):
        return function(*args)
    ranks = [np.ndim(a) - e for a, e in zip(args, each, strict=True)]
    rank = max(ranks)
    return function(*(
        a.reshape(len(a), *(1,) * (rank - r), *a.shape[1:]) if e and r < rank else a
        for a, e, r in zip(args, each, ranks, strict=True)
    ))


def seed_of(g: Any, i: int) -> Any:
    """Return what ``g`` holds for one seed."""
    if isinstance(g, np.ndarray):
        return g[i]
    if isinstance(g, tuple) and hasattr(g, "_fields"):
        return type(g)(*(seed_of(item, i) for item in g))
    if isinstance(g, (tuple, list)):
        return type(g)(seed_of(item, i) for item in g)
    if isinstance(g, dict):
        return {key: seed_of(item, i) for key, item in g.items()}
    if is_record(g):
        return record(**{name: seed_of(item, i) for name, item in state_of(g).items()})
    return g


def each_array(change: Callable[[Any], Any], g: Any) -> Any:
    """Return what ``g`` holds with every array changed."""
    if isinstance(g, np.ndarray):
        return change(g)
    if isinstance(g, tuple) and hasattr(g, "_fields"):
        return type(g)(*(each_array(change, item) for item in g))
    if isinstance(g, (tuple, list)):
        return type(g)(each_array(change, item) for item in g)
    if isinstance(g, dict):
        return {key: each_array(change, item) for key, item in g.items()}
    if is_record(g):
        return record(**{k: each_array(change, item) for k, item in state_of(g).items()})
    return g


def no_seeds(g: Any, name: str) -> bool:
    """Say whether arrays of many seeds are of none; raise ValueError if not all of as many."""
    if isinstance(g, tuple) and len(g) == 1 and isinstance(g[0], np.ndarray):
        return not len(g[0])
    counts: set[int] = set()
    each_array(lambda a: counts.add(len(a)), g)
    if len(counts) > 1:
        numbers = " and ".join(map(str, sorted(counts)))
        raise ValueError(f"{name} are of different numbers of seeds: {numbers}")
    return counts == {0}


def one_zero(g: Any) -> Any:
    """Return one seed of zeros, from no seeds at all."""
    return each_array(lambda a: np.zeros((1, *a.shape[1:]), a.dtype), g)


def none_of(g: Any) -> Any:
    """Return values for no seed at all, from those for some."""
    return each_array(lambda a: a[:0].copy(), g)


def along_each(
    run: Callable[..., Any], args: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return the value and its derivatives along tangents, which ``run`` is given seed by seed.

    Each but the last call gets copies of the arguments: it may write into them.
    """
    kept = [own(args) for _ in range(1, count_seeds(tangents))]
    found = [run(*at, *seed_of(tangents, i)) for i, at in enumerate((*kept, args))]
    return found[-1][0], stacked([y_dot for _, y_dot in found])


def pulled_each(pullback: Callable[..., Any], residuals: Any, cotangents: Any) -> Any:
    """Return the cotangents that ``pullback`` gives, which is given those of each seed in turn."""
    seeds = range(count_seeds(cotangents))
    return stacked([pullback(residuals, seed_of(cotangents, i)) for i in seeds])


def seeds_last(g: np.ndarray) -> np.ndarray:
    """Return an array of many seeds with the axis that counts them last, in C order."""
    last = g.T if g.ndim <= 2 else g.transpose(*range(1, g.ndim), 0)
    return last if last.flags.c_contiguous else np.ascontiguousarray(last)


def turned(g: np.ndarray) -> np.ndarray:
    """Return an array of many seeds, in memory as loops over all of them at once take it."""
    return seeds_first(seeds_last(g))


def seeds_first(g: np.ndarray) -> np.ndarray:
    """Return an array of many seeds, the last axis of which counts them, with that axis first."""
    return g.T if g.ndim <= 2 else g.transpose(-1, *range(g.ndim - 1))


def stacked(found: Sequence[Any]) -> Any:
    """Return the values found for each seed as one, with a leading axis; the inverse of seed_of."""
    first = found[0]
    if first is None:
        return next((stacked(found[i:]) for i, x in enumerate(found) if x is not None), None)
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(stacked, zip(*found, strict=True)))
    if isinstance(first, (tuple, list)):
        return type(first)(map(stacked, zip(*found, strict=True)))
    if isinstance(first, dict):
        return {key: stacked([x[key] for x in found]) for key in first}
    if is_record(first):
        return record(**{
            name: stacked([state_of(x)[name] for x in found]) for name in state_of(first)
        })
    return np.stack(found)

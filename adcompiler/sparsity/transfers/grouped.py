"""Transfer of functions with a rule that work on lines, matrices or single numbers of arrays.

Within a line or matrix all results depend on all elements.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ops.classify import of_letters
from adcompiler.ops.facts import CURVED, Facts
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.sparsity.dependences.index_sets import Array, Shape
from adcompiler.sparsity.dependences.values import (
    NOTHING, Axis, Dependent, Relation, Value, dependents_in, dtype_of,
    has_dependents, is_float, moved, stretched,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import GROUPED, SYSTEM, TRANSFERS, transfer
from adcompiler.sparsity.transfers.elementwise import applied, output_of
from adcompiler.sparsity.transfers.reductions import groups, normal_axes, reduced
from adcompiler.support.signatures import signature as signature_of

SYSTEMS = ("solve", "solve_triangular", "cholesky", "factor")
"""Transfers of functions that solve systems, or factorise a matrix."""


@transfer(GROUPED)
def grouped(
    run: Run, function: Callable[..., Any], args: tuple[Dependent | Array, ...],
    kwargs: Mapping[str, Any], shown: Array
) -> Any:
    """Return the result of a function whose results depend on parts of its arguments.

    ``shown`` is a result, or one of its structure. None if nothing is known of the function.
    """
    if not hashable(function):
        return None
    resolved = REGISTRY.resolve(function)
    known = REGISTRY.facts(resolved)
    if is_function_of_numbers(resolved, known):
        return of_numbers(run, function, args, kwargs, shown)
    if known.transfer in SYSTEMS:
        return TRANSFERS[SYSTEM](run, known.transfer, args, kwargs, shown)
    if not args or not isinstance(args[0], Dependent) or any(
        d.is_active for d in dependents_in([list(args[1:]), dict(kwargs)])
    ):
        return None
    if known.transfer == "matrix" and len(args[0].shape or ()) > 2:
        return within(run, args[0], (-2, -1), CURVED, shown, ())
    method = getattr(resolved, "__name__", "")
    if isinstance(getattr(resolved, "__self__", None), np.ufunc) and method in (
        "reduce", "accumulate", "reduceat"
    ):
        parameter, default, kind = "axis", 0, CURVED
    elif known.along is not None:
        parameter, default, kind = known.along
    else:
        return None
    axes = axes_of(resolved, args, kwargs, parameter, default)
    if axes is UNKNOWN:
        return None
    if known.transfer == "quantile":
        quantiles = args[1] if len(args) > 1 else kwargs["q"]
        return within(run, args[0], axes, kind, shown, np.shape(quantiles))
    return within(run, args[0], axes, kind, shown)


UNKNOWN: Any = object()


def axes_of(
    function: Callable[..., Any], args: tuple[Dependent | Array, ...], kwargs: Mapping[str, Value],
    parameter: str, default: Value
) -> Any:
    """Return along which axes a call works, ``UNKNOWN`` if it does not say."""
    rule = REGISTRY.find(function)
    if rule is None or rule.definition is None:
        return UNKNOWN
    try:
        bound = signature_of(rule.definition).bind(*args, **kwargs)
    except TypeError:
        return UNKNOWN
    if parameter not in bound.signature.parameters:
        return UNKNOWN
    found = bound.arguments.get(parameter, default)
    if has_dependents(found):
        return UNKNOWN
    lengths = bound.arguments.get("s", bound.arguments.get("shape"))
    if found is None and lengths is not None:
        return UNKNOWN
    return tuple(found) if isinstance(found, list) else found


def within(
    run: Run, a: Dependent, axes: Axis, kind: str, shown: Any, before: Shape | None = None
) -> Any:
    """Return a result of which each number depends on a line, or a matrix, of an array.

    ``before`` is the shape of the axes that come first in a result without those worked along,
    then those left of the array, then any others; without it the axes are where they were, or
    gone. None if the shape of the result is another one.
    """
    assert a.shape is not None
    along = normal_axes(axes, len(a.shape))
    leaves = list(shown) if isinstance(shown, (list, tuple)) else [shown]
    if not all(isinstance(leaf, (np.ndarray, np.generic, float)) for leaf in leaves):
        return None
    rest = tuple(extent for i, extent in enumerate(a.shape) if i not in along)
    kept = tuple(1 if i in along else extent for i, extent in enumerate(a.shape))
    placed = [
        in_place(np.shape(leaf), kept, along, rest) if before is None else
        after(np.shape(leaf), before, rest, kept) for leaf in leaves
    ]
    shapes = [shape for shape in placed if shape is not None]
    if len(shapes) < len(leaves):
        return None
    a.shared = True
    stack, positions = groups(a.shape, axes, False)
    first, second = (reduced(r, a.shape, stack, positions) for r in (a.first, a.second))
    if run.second and kind == CURVED and first != NOTHING:
        second = run.note(stack, [second], [(first, first)])
    items = [
        spread_over(run, leaf, shape, stack, first, second)
        for leaf, shape in zip(leaves, shapes, strict=True)
    ]
    if not isinstance(shown, (list, tuple)):
        return items[0]
    return type(shown)(*items) if hasattr(shown, "_fields") else type(shown)(items)


def in_place(found: Shape, kept: Shape, along: tuple[int, ...], rest: Shape) -> Shape | None:
    """Return a shape that broadcasts lines to a result that has its axes where the array had."""
    if len(found) == len(kept):
        fits = all(i in along or found[i] == extent for i, extent in enumerate(kept))
        return kept if fits else None
    return rest if found == rest else None


def after(found: Shape, before: Shape, rest: Shape, kept: Shape) -> Shape | None:
    """Return a shape that broadcasts what is left of an array to a result with more axes."""
    behind = found[len(before) :]
    if found[: len(before)] != before:
        return None
    for lines in (rest, kept):
        if behind[: len(lines)] == lines and (not before or len(behind) == len(lines)):
            return (1,) * len(before) + lines + (1,) * (len(behind) - len(lines))
    return None


def spread_over(
    run: Run, leaf: Any, thin: Shape, stack: Shape, first: Relation, second: Relation
) -> Any:
    """Return a result whose elements have the sets of the line that they belong to."""
    shape, dtype = np.shape(leaf), dtype_of(leaf)
    value = leaf if run.local else None
    if not is_float(dtype):
        return run.made(shape, dtype, value=value)
    if stack:
        first, second = (
            stretched(moved(r, lambda array: array.reshape(thin)), thin, shape)
            for r in (first, second)
        )
    return run.made(shape, dtype, first, second, value)


# -- numbers ---------------------------------------------------------------------------------------


def is_function_of_numbers(function: Callable[..., Any], known: Facts) -> bool:
    """Say whether a function works element by element on arrays broadcast together."""
    if isinstance(function, np.ufunc):
        return function.signature is None
    return bool(known.elementwise) or known.transfer == "numbers" or (
        is_method_of_distribution(function)
    )


def is_method_of_distribution(function: Callable[..., Any]) -> bool:
    """Say whether a function is a method of a distribution of one number."""
    owner = type(getattr(function, "__self__", None))
    return any(
        cls.__name__ == "rv_generic" and cls.__module__.startswith("scipy.stats")
        for cls in owner.__mro__
    )


def of_numbers(
    run: Run, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any],
    shown: Any
) -> Any:
    """Return the result of a function of numbers; None if its shape is another one."""
    names = tuple(kwargs)
    values = (*args, *kwargs.values())
    if not all(isinstance(v, (Dependent, np.ndarray, np.generic, int, float)) for v in values):
        return None
    shapes = [v.shape if isinstance(v, Dependent) else np.shape(v) for v in values]
    wanted = np.broadcast_shapes(*(shape or () for shape in shapes))
    leaves = list(shown) if isinstance(shown, tuple) else [shown]
    if any(np.shape(leaf) != wanted for leaf in leaves):
        return None
    called = with_names(function, len(args), names) if names else function
    kind = of_letters("s" * len(values) + ("" if len(values) == 1 else "c"))
    if not isinstance(shown, tuple):
        return applied(run, called, values, kind, value=shown if run.local else None)
    return tuple(
        applied(run, output_of(called, k), values, kind, value=leaf if run.local else None)
        for k, leaf in enumerate(leaves)
    )


@functools.lru_cache(maxsize=256)
def with_names(function: Callable[..., Any], count: int, names: tuple[str, ...]) -> Any:
    """Return a function of positional arguments, the last of which get these names."""
    return lambda *values: function(
        *values[:count], **dict(zip(names, values[count:], strict=True)))

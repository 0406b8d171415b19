"""Transfer of functions that combine the elements along axes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ir.operators import BY_SIGN
from adcompiler.sparsity.dependences.index_sets import Array, Shape, count
from adcompiler.sparsity.dependences.values import (
    NOTHING, Axis, DType, Dependent, Numbers, Operand, Relation, UnknownList, Value, all_sets,
    combined, dependents_in, dtype_of, has_dependents, is_float, masked, moved, shape_of, whole,
)
from adcompiler.sparsity.interpreter.joining import join
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import transfer, transfer_of
from adcompiler.sparsity.transfers.elementwise import (
    as_numbers, binary, dense,
)
from adcompiler.sparsity.transfers.indexing import get_item
from adcompiler.sparsity.transfers.movement import rows_of


def normal_axes(axis: Axis, ndim: int) -> tuple[int, ...]:
    """Return the axes that ``axis`` means, counted from 0."""
    if axis is None:
        return tuple(range(ndim))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(a) % ndim if ndim else 0 for a in axes)


def groups(shape: Shape, axis: Axis, keepdims: bool) -> tuple[Shape, Any]:
    """Return the shape of a reduction, and for each element the position it is reduced to."""
    axes = normal_axes(axis, len(shape))
    kept = tuple(1 if i in axes else extent for i, extent in enumerate(shape))
    positions = np.broadcast_to(np.arange(count(kept)).reshape(kept), shape)
    dropped = tuple(extent for i, extent in enumerate(shape) if i not in axes)
    return kept if keepdims else dropped, positions


def reduced(relation: Relation, shape: Shape, result: Shape, positions: Array) -> Relation:
    """Return the unions of the sets that are reduced to one element."""
    if relation == NOTHING:
        return NOTHING
    if not result:
        return Relation(whole(relation), None)
    return combined(
        moved(relation, np.ravel), positions.ravel(), np.arange(count(shape)), result
    )


def reduction(
    run: Run, function: Callable[..., Any], a: Value, axis: Axis, keepdims: Any, kind: str,
    call: tuple[Sequence[Value], Mapping[str, Value]], where: Any = True, keep: Array | None = None,
) -> Any:
    """Return what a reduction depends on.

    ``kind`` is ``linear``, ``flat`` (first derivatives only) or ``curved``; ``keep`` says, at a
    point, which elements matter. Of ``where`` that is not known all elements do.
    """
    (a,) = as_numbers(run, (a,))
    if not isinstance(a, Dependent) or a.shape is None:
        return dense_unless_linear(run, function, call, kind)
    a.shared = True
    value = run.value(function, *call)
    dtype = dtype_of(value) if run.local else reduced_dtype(function, a.dtype)
    result, positions = groups(a.shape, axis, bool(keepdims) and keepdims is not np._NoValue)
    if not is_float(dtype):
        return run.made(result, dtype, value=value)
    first, second = a.first, a.second
    if where is not True and where is not np._NoValue and not has_dependents(where):
        first, second = (masked(r, where, a.shape) for r in (first, second))
    pairs = []
    curved_first = reduced(first, a.shape, result, positions)
    if run.second and kind == "curved" and curved_first != NOTHING:
        pairs = [(curved_first, curved_first)]
    if keep is not None:
        first, second = (masked(r, keep, a.shape) for r in (first, second))
        curved_first = reduced(first, a.shape, result, positions)
    gathered_second = reduced(second, a.shape, result, positions)
    if pairs:
        gathered_second = run.note(result, [gathered_second], pairs)
    elif not result:
        gathered_second = run.thinned(gathered_second)
    return run.made(result, dtype, curved_first, gathered_second, value)


@functools.lru_cache(maxsize=1024)
def reduced_dtype(function: Callable[..., Any], dtype: type) -> Any:
    """Return the dtype of a reduction of an array."""
    with np.errstate(all="ignore"):
        return dtype_of(function(np.ones(2, dtype)))


def dense_unless_linear(
    run: Run, function: Callable[..., Any], call: tuple[Sequence[Value], Mapping[str, Value]],
    kind: str,
) -> Any:
    """Return what a reduction depends on that is not known element by element."""
    args, kwargs = call
    if kind == "curved" or not any(d.shape is None for d in dependents_in([args, kwargs])):
        return dense(run, function, *args, **kwargs)
    first, second = all_sets(dependents_in([args, kwargs]))
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    shape = () if axis is None and not kwargs.get("keepdims") else None
    return Dependent(shape, np.dtype(float), Relation(first, None), Relation(second, None))


@transfer("sum")
def total(
    run: Run, function: Callable[..., Any], a: Operand, axis: Axis | None = None,
    dtype: DType | None = None, out: Array | None = None, keepdims: bool = False,
    initial: Value = None, where: bool = True,
) -> Any:
    """Sums."""
    named = options(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    found = reduction(run, function, a, axis, keepdims, "linear", ((a,), named), where)
    return found if initial is None else binary(run, "+", found, initial)


@transfer("mean")
def mean(
    run: Run, function: Callable[..., Any], a: Operand, axis: Axis | None = None,
    dtype: DType | None = None, out: Array | None = None, keepdims: bool = False, **rest: Any,
) -> Any:
    """Means."""
    named = options(axis=axis, dtype=dtype, keepdims=keepdims, **rest)
    where = rest.get("where", True)
    return reduction(run, function, a, axis, keepdims, "linear", ((a,), named), where)


@transfer("max", "min")
def extreme(
    run: Run, function: Callable[..., Any], a: Dependent, axis: Axis | None = None,
    out: Array | None = None, keepdims: bool = False, initial: Any = None, where: bool = True,
) -> Any:
    """Largest and smallest elements: at a point, those that are equal to the result."""
    named = options(axis=axis, keepdims=keepdims, where=where)
    (a,) = as_numbers(run, (a,))
    keep = None
    given = named if initial is None or initial is np._NoValue else {**named, "initial": initial}
    if run.local and isinstance(a, Dependent):
        best = run.value(function, (a,), {**given, "keepdims": True})
        keep = ~(a.value != best)
    found = reduction(run, function, a, axis, keepdims, "flat", ((a,), given), where, keep)
    if initial is None or initial is np._NoValue:
        return found
    is_max = transfer_of(function) == "max"
    return run.call(np.maximum if is_max else np.minimum, (found, initial), {})


@transfer("ptp")
def peak_to_peak(
    run: Run, function: Callable[..., Any], a: Dependent, axis: Axis | None = None,
    out: Array | None = None, keepdims: bool = False,
) -> Any:
    """``np.ptp``."""
    named = options(axis=axis, keepdims=keepdims)
    return reduction(run, function, a, axis, keepdims, "flat", ((a,), named))


@transfer("median")
def median(
    run: Run, function: Callable[..., Any], a: Dependent, axis: Axis | None = None,
    out: Array | None = None, overwrite_input: bool = False, keepdims: bool = False,
) -> Any:
    """Medians: piecewise linear."""
    named = options(axis=axis, keepdims=keepdims)
    return reduction(run, function, a, axis, keepdims, "flat", ((a,), named))


@transfer("var")
def spread(
    run: Run, function: Callable[..., Any], a: Operand, axis: Axis | None = None,
    dtype: DType | None = None, out: Array | None = None, ddof: Numbers = 0, keepdims: bool = False,
    **rest: Any,
) -> Any:
    """Variances and standard deviations."""
    named = options(axis=axis, dtype=dtype, keepdims=keepdims, ddof=ddof, **rest)
    if rest:
        return dense(run, function, a, **named)
    return reduction(run, function, a, axis, keepdims, "curved", ((a,), named))


@transfer("prod")
def product(
    run: Run, function: Callable[..., Any], a: Any, axis: Axis = None, dtype: DType | None = None,
    out: Array | None = None, keepdims: bool = False, initial: Any = None, where: bool = True,
) -> Any:
    """Products: linear in each factor, so made of products of two."""
    (a,) = as_numbers(run, (a,))
    named = options(axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    if a.shape is None or where is not True or initial is not None or not all(a.shape):
        return dense(run, function, a, **named, **({} if initial is None else {
            "initial": initial}))
    axes = normal_axes(axis, len(a.shape))
    rest = tuple(i for i in range(len(a.shape)) if i not in axes)
    lined = run.call(np.transpose, (a, (*axes, *rest)), {})
    extents = tuple(a.shape[i] for i in rest)
    lined = run.call(np.reshape, (lined, (-1, *extents)), {})
    found = halved(run, BY_SIGN["*"], lined)
    if keepdims:
        kept = tuple(1 if i in axes else e for i, e in enumerate(a.shape))
        found = run.call(np.reshape, (found, kept), {})
    return found


def halved(run: Run, function: Callable[..., Any], rows: Array) -> Any:
    """Return the result of an associative operation on all rows of an array, by halves."""
    size = shape_of(rows)[0]
    while size > 1:
        half = size // 2
        joined = run.call(
            function,
            (get_item(run, rows, slice(0, half)), get_item(run, rows, slice(half, 2 * half))), {},
        )
        if size % 2:
            last = get_item(run, rows, slice(size - 1, size))
            joined = run.call(np.concatenate, ((joined, last),), {})
        rows, size = joined, half + size % 2
    return get_item(run, rows, 0)


def options(**given: Any) -> dict[str, Any]:
    """Return keyword arguments without those that have their default values."""
    plain: dict[str, Any] = {"axis": None, "dtype": None, "keepdims": False, "where": True}
    return {
        name: value for name, value in given.items()
        if value is not np._NoValue and not (name in plain and value is plain[name])
    }


# -- scans and rearrangements by value -------------------------------------------------------------


@transfer("cumsum")
def running_sum(
    run: Run, function: Callable[..., Any], a: Any, axis: int | None = None,
    dtype: DType | None = None, out: Array | None = None, **rest: Any,
) -> Any:
    """Running sums: each depends on the elements up to its own."""
    return scanned(run, function, a, axis, dtype, rest, False)


@transfer("cumprod")
def running_product(
    run: Run, function: Callable[..., Any], a: Any, axis: int | None = None,
    dtype: DType | None = None, out: Array | None = None, **rest: Any,
) -> Any:
    """Running products."""
    return scanned(run, function, a, axis, dtype, rest, True)


def scanned(
    run: Run, function: Callable[..., Any], a: Dependent, axis: int | None, dtype: DType | None,
    rest: Mapping[str, Value], curved: bool,
) -> Any:
    """Return what running sums or products depend on."""
    (a,) = as_numbers(run, (a,))
    named = options(axis=axis, dtype=dtype, **rest)
    if not isinstance(a, Dependent) or a.shape is None or rest:
        return dense(run, function, a, **named)
    a.shared = True
    shape = a.shape if axis is not None else (count(a.shape),)
    value = run.value(function, (a,), named)
    ids = np.arange(count(shape)).reshape(shape)
    lines = np.moveaxis(ids, 0 if axis is None else axis, -1)
    lines = lines.reshape(count(lines.shape[:-1]), lines.shape[-1])
    upto, behind = np.tril_indices(lines.shape[-1])
    targets, positions = lines[:, upto].ravel(), lines[:, behind].ravel()
    first, second = (
        combined(moved(r, np.ravel), targets, positions, shape) for r in (a.first, a.second)
    )
    if curved and run.second and first != NOTHING:
        second = run.note(shape, [second], [(first, first)])
    return run.made(shape, a.dtype, first, second, value)


@transfer("sort", "partition")
def ordered(run: Run, function: Callable[..., Any], a: Dependent, *rest: Any, **kwargs: Any) -> Any:
    """Sorted arrays: each element may be any along the axis, at a point those that are equal."""
    (a,) = as_numbers(run, (a,))
    named = dict(kwargs)
    axis = named.get("axis", rest[-1] if len(rest) > (transfer_of(function) == "partition") else -1)
    if a.shape is None:
        return a
    a.shared = True
    shape = (count(a.shape),) if axis is None else a.shape
    value = run.value(function, (a, *rest), kwargs)
    return mixed(run, a, shape, 0 if axis is None else axis, value)


def mixed(run: Run, a: Dependent, shape: Shape, axis: int, value: Array) -> Any:
    """Return an array each element of which may be any one of ``a`` along an axis."""
    lines = np.moveaxis(np.arange(count(shape)).reshape(shape), axis, -1)
    extent = lines.shape[-1]
    lines = lines.reshape(count(lines.shape[:-1]), extent)
    targets = np.repeat(lines, extent, axis=1).ravel()
    positions = np.tile(lines, (1, extent)).ravel()
    if value is not None:
        alike = ~(np.ravel(value)[targets] != np.ravel(a.value)[positions])
        targets, positions = targets[alike], positions[alike]
    first, second = (
        combined(moved(r, np.ravel), targets, positions, shape) for r in (a.first, a.second)
    )
    return run.made(shape, a.dtype, first, second, value)


@transfer("sorted")
def ordered_list(run: Run, function: Callable[..., Any], items: Any, **kwargs: Any) -> Any:
    """A sorted list of values: any of them may be anywhere."""
    if isinstance(items, UnknownList):
        return items
    rows = rows_of(run, items) if isinstance(items, Dependent) else list(items)
    if run.local:
        key = kwargs.get("key")
        keys = [run.value(key or (lambda v: v), (row,), {}) for row in rows]
        order = sorted(range(len(rows)), key=keys.__getitem__,
                       reverse=bool(kwargs.get("reverse", False)))
        return [rows[i] for i in order]
    any_one = functools.reduce(join, rows) if rows else None
    return [any_one for _ in rows]


@transfer("diff")
def differences(run: Run, function: Callable[..., Any], a: Dependent, n: int = 1, axis: int = -1,
                prepend: Any = np._NoValue, append: Any = np._NoValue) -> Any:
    """``np.diff``, by slices."""
    (a,) = as_numbers(run, (a,))
    parts = [part for part in (prepend, a, append) if part is not np._NoValue]
    if len(parts) > 1:
        shape = list(shape_of(a))
        shape[axis] = 1
        parts = [
            run.call(np.broadcast_to, (part, tuple(shape)), {}) if not shape_of(part) else part
            for part in parts
        ]
        a = run.call(np.concatenate, (parts,), {"axis": axis})
    ndim = len(shape_of(a))
    for _ in range(n):
        later, earlier = ([slice(None)] * ndim for _ in range(2))
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        a = binary(
            run, "-", get_item(run, a, tuple(later)), get_item(run, a, tuple(earlier)))
    return a


@transfer("ediff1d")
def differences_flat(
    run: Run, function: Callable[..., Any], ary: Value, *rest: Any, **kwargs: Any
) -> Any:
    """``np.ediff1d``."""
    if rest or kwargs:
        return dense(run, function, ary, *rest, **kwargs)
    return differences(run, np.diff, run.call(np.ravel, (ary,), {}))


@transfer("gradient")
def gradient(run: Run, function: Callable[..., Any], f: Any, *varargs: Any, axis: Axis = None,
             edge_order: int = 1) -> Any:
    """``np.gradient``: linear, with the neighbours that it reads from an array of ones."""
    (f,) = as_numbers(run, (f,))
    named: dict[str, Any] = options(axis=axis)
    if edge_order != 1:
        named["edge_order"] = edge_order
    if f.shape is None or has_dependents(varargs):
        return dense(run, function, f, *varargs, **named)
    axes = normal_axes(axis, len(f.shape))
    value = run.value(function, (f, *varargs), named)
    found = []
    for k, one in enumerate(axes):
        extent = f.shape[one]
        matrix = np.zeros((extent, extent))
        for j in range(extent):
            near = np.arange(max(j - 1, 0), min(j + 2, extent))
            matrix[j, near] = 1.0
        if edge_order == 2 and extent > 2:
            matrix[0, :3] = matrix[-1, -3:] = 1.0
        inner = np.moveaxis(np.arange(count(f.shape)).reshape(f.shape), one, 0)
        inner = inner.reshape(extent, -1)
        to, of = np.nonzero(matrix)
        targets, positions = inner[to].ravel(), inner[of].ravel()
        f.shared = True
        first, second = (
            combined(moved(r, np.ravel), targets, positions, f.shape) for r in (f.first, f.second)
        )
        shown = value if value is None or not isinstance(value, (list, tuple)) else value[k]
        found.append(run.made(f.shape, f.dtype, first, second, shown))
    single = len(axes) == 1 and ((axis is not None and not isinstance(axis, tuple)) or
                                 len(f.shape) == 1)
    return found[0] if single else tuple(found)


@transfer("norm")
def norm(run: Run, function: Callable[..., Any], x: Dependent, *given: Any, **kwargs: Any) -> Any:
    """Norms: those of order 1 and infinity are piecewise linear."""
    (x,) = as_numbers(run, (x,))
    defaults: tuple[Any, ...] = (None, None, False)
    order, axis, keepdims = (*given, *defaults[len(given) :])
    order, axis = kwargs.get("ord", order), kwargs.get("axis", axis)
    keepdims = kwargs.get("keepdims", keepdims)
    named = options(axis=axis, keepdims=keepdims)
    if order is not None:
        named["ord"] = order
    matrix = axis is None and order is not None and len(x.shape or ()) == 2
    if matrix or x.shape is None or isinstance(axis, tuple):
        return dense(run, function, x, **named)
    flat = order in (1, np.inf, -np.inf)
    return reduction(
        run, function, x, axis, keepdims, "flat" if flat else "curved", ((x,), named)
    )


@transfer("trace", "trace of each")
def trace(run: Run, function: Callable[..., Any], a: Dependent, *rest: Any, **kwargs: Any) -> Any:
    """Traces: sums of diagonals, of the first axes or, of each matrix in a stack, the last."""
    diagonal = np.diagonal if transfer_of(function) == "trace" else np.linalg.diagonal
    return total(run, np.sum, run.call(diagonal, (a, *rest), kwargs), axis=-1)


@transfer("average")
def average(
    run: Run, function: Callable[..., Any], a: Dependent, axis: Axis | None = None,
    weights: Any = None, **kwargs: Any,
) -> Any:
    """Weighted means."""
    if weights is None and not kwargs:
        return mean(run, np.mean, a, axis)
    named = options(axis=axis)
    if kwargs or isinstance(weights, Dependent) or np.shape(weights) != shape_of(a):
        return dense(run, function, a, weights=weights, **named, **kwargs)
    return reduction(
        run, function, a, axis, False, "linear", ((a,), {**named, "weights": weights})
    )

"""Functions applied along arrays: ``np.vectorize``, ``np.apply_along_axis``, ``np.piecewise``.

Each is written as a comprehension over the parts of the array, and the array of its results.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.prelude import along_arrays, iterators
from adcompiler.prelude.iterators import mapped
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, Region, Star, arguments
from adcompiler.ir.regions import COLLECTED
from adcompiler.runtime import same_kind
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.folds.iterator import is_none, may_carry, options, run, sequence
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.storage.memory_order import of_unknown_layout
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

SETTINGS = ("pyfunc", "otypes", "doc", "excluded", "cache", "signature")


@dataclass(frozen=True, slots=True)
class Vectorized:
    """What is known of an ``np.vectorize``: numbers of core axes come from its signature."""

    function: Atom
    dtypes: tuple[Any, ...] | None = None
    excluded: frozenset[Any] = frozenset()
    core: tuple[int, ...] | None = None


def vectorized_value(unit: Unit, func: Const, origin: Origin) -> Vectorized | None:
    """Return what is known of an ``np.vectorize`` made before the derivative."""
    value = func.value
    inner = unit.relied.part(value, "pyfunc", value.pyfunc)
    if not callable(value.pyfunc):
        return None
    otypes = value.otypes
    dtypes = None if otypes is None else tuple(map(np.dtype, otypes))
    return Vectorized(inner, dtypes, frozenset(value.excluded or ()), core_axes(value.signature))


def vectorized_call(unit: Unit, made: Call) -> Vectorized | None:
    """Return what is known of an ``np.vectorize`` made in the code; None if it is not enough."""
    kwargs = {key: value for key, value in made.kwargs if key is not None}
    given = options(SETTINGS, arguments(made), kwargs)
    if given is None or "pyfunc" not in given:
        return None
    known = {key: known_value(unit, atom) for key, atom in given.items() if key != "pyfunc"}
    if any(value is UNKNOWN for value in known.values()):
        return None
    otypes = known.get("otypes")
    return Vectorized(
        given["pyfunc"], None if otypes is None else tuple(map(np.dtype, otypes)),
        frozenset(known.get("excluded") or ()), core_axes(known.get("signature")),
    )


UNKNOWN = object()


def known_value(unit: Unit, atom: Atom) -> Any:
    """Return the value of an atom, also of a display of known values; UNKNOWN for others."""
    if isinstance(atom, Const):
        return atom.value
    elements = unit.elements(atom)
    if elements is None or not all(isinstance(element, Const) for element in elements):
        return UNKNOWN
    return [element.value for element in elements if isinstance(element, Const)]


def core_axes(signature: str | None) -> tuple[int, ...] | None:
    """Return the number of core axes of each argument in a signature such as ``(n),(n)->()``."""
    if signature is None:
        return None
    groups = re.findall(r"\(([^)]*)\)", signature.partition("->")[0])
    return tuple(len([axis for axis in group.split(",") if axis.strip()]) for group in groups)


def call_vectorized(
    s: Operations, made: Vectorized, args: list[Atom], kwargs: Mapping[str, Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write the call of an ``np.vectorize``."""
    result = run_vectorized(s, made, args, kwargs, origin, name)
    return of_unknown_layout(s, "np.vectorize", args, result, origin)


def run_vectorized(
    s: Operations, made: Vectorized, args: list[Atom], kwargs: Mapping[str, Atom], origin: Origin,
    name: str,
) -> Atom:
    """Write what the call of an ``np.vectorize`` does, element by element."""
    if any(isinstance(arg, Star) for arg in args) or (
        made.core is not None and len(made.core) != len(args)
    ):
        return refuse(s, origin, "np.vectorize called with these arguments")
    function = made.function
    for key, atom in kwargs.items():
        if key not in made.excluded and not isinstance(s.unit.type(atom), t.Scalar):
            return refuse(s, origin, f"an array for the keyword argument `{key}` of np.vectorize")
    if kwargs:
        partial = Call(Const(functools.partial), (function,), tuple(kwargs.items()))
        function = s.let(partial, t.UNKNOWN, "function", origin)
    cores = made.core or (0,) * len(args)
    arrays = [
        arg if position in made.excluded else as_array(s, arg, origin)
        for position, arg in enumerate(args)
    ]
    axes = [
        loop_axes(s.unit, array, core) if position not in made.excluded else 0
        for position, (array, core) in enumerate(zip(arrays, cores, strict=True))
    ]
    if None in axes:
        return refuse(s, origin, "np.vectorize of a value whose type is not known")
    loops = [n for n in axes if n]
    if not loops:
        result = s.call(function, arrays, {}, origin, name)
        return assembled_once(s, result, made.dtypes, origin, name)
    shapes = [
        loop_shape(s, array, n, core, origin)
        for array, n, core in zip(arrays, axes, cores, strict=True) if n
    ]
    alone = len(shapes) == 1
    shape = shapes[0] if alone else s.call(
        Const(np.broadcast_shapes), shapes, {}, origin, "shape")
    most = max(loops)
    rows: list[Any] = []
    for array, n, core in zip(arrays, axes, cores, strict=True):
        if not n:
            repeat = plain_call(Const(itertools.repeat), [array], {})
            rows.append(s.let(repeat, t.UNKNOWN, "same", origin))
            continue
        if not alone:
            array = stretched(s, array, shape, n, core, origin)
        rows.append(parts_of(s, array, most, core, made.core is None, origin))
    items = s.call(Const(mapped), [function, *rows], {}, origin, "items")
    return assembled(s, items, shape, most, made.dtypes, origin, name)


def refuse(s: Writer, origin: Origin, problem: str) -> Atom:
    """Record that a function along arrays is called in a way that is not supported."""
    return s.reject(
        origin, f"{problem} is not supported", "write the comprehension, and np.array of it",
        "functions-along-arrays",
    )


def as_array(s: Operations, arg: Atom, origin: Origin) -> Atom:
    """Write a list or tuple as an array."""
    if isinstance(s.unit.type(arg), (t.List, t.Tuple)):
        return s.call(Const(np.array), [arg], {}, origin, "array")
    return arg


def loop_axes(unit: Unit, array: Atom, core: int) -> int | None:
    """Return over how many axes of an argument is looped, None if that is not known."""
    type_ = unit.type(array)
    if isinstance(type_, t.Array):
        return max(type_.ndim - core, 0)
    return None if isinstance(type_, t.Unknown) else 0


def loop_shape(s: Operations, array: Atom, n: int, core: int, origin: Origin) -> Atom:
    """Write the extents of the axes that are looped over."""
    shape = s.attribute(array, "shape", origin, "shape")
    return s.item(shape, Const(slice(None, n)), origin, "shape") if core else shape


def stretched(s: Operations, array: Atom, shape: Atom, n: int, core: int, origin: Origin) -> Atom:
    """Write an argument broadcast to the shape of the loop."""
    if core:
        inner = s.item(s.attribute(array, "shape", origin), Const(slice(n, None)), origin, "core")
        shape = s.call(Const(operator.add), [shape, inner], {}, origin, "shape")
    return s.call(Const(np.broadcast_to), [array, shape], {}, origin, "array")


def parts_of(
    s: Operations, array: Atom, n: int, core: int, numbers: bool, origin: Origin
) -> Atom:
    """Write the parts of an array that a loop over its first ``n`` axes runs over."""
    if core and n > 1:
        inner = s.item(s.attribute(array, "shape", origin), Const(slice(n, None)), origin, "core")
        whole = s.call(
            Const(operator.add), [s.pack("tuple", (Const(-1),), "flat", origin), inner], {},
            origin, "shape",
        )
        return s.call(Const(np.reshape), [array, whole], {}, origin, "rows")
    if n > 1:
        array = s.call(s.attribute(array, "ravel", origin), [], {}, origin, "elements")
    if not numbers:
        return array
    return s.call(s.attribute(array, "tolist", origin), [], {}, origin, "elements")


# -- the array of results --------------------------------------------------------------------------


def assembled_once(
    s: Operations, result: Atom, dtypes: tuple[Any, ...] | None, origin: Origin, name: str
) -> Atom:
    """Write the result of a function that was called once as an array, or a tuple of them."""
    type_ = s.unit.type(result)
    if isinstance(type_, t.Tuple):
        parts = tuple(
            s.call(Const(np.array), [s.item(result, Const(i), origin)], dtype_of(dtypes, i), origin,
                   name)
            for i in range(len(type_.items))
        )
        return s.pack("tuple", parts, name, origin)
    return s.call(Const(np.array), [result], dtype_of(dtypes, 0), origin, name)


def dtype_of(dtypes: tuple[Any, ...] | None, position: int) -> dict[str, Atom]:
    """Return the keyword argument for the dtype of a result, if one is wanted."""
    return {} if dtypes is None else {"dtype": Const(dtypes[position])}


def assembled(
    s: Operations, items: Atom, shape: Atom, n: int, dtypes: tuple[Any, ...] | None, origin: Origin,
    name: str, lists: bool = False,
) -> Atom:
    """Write the array of a list of results, or a tuple of arrays for tuples."""
    type_ = s.unit.type(items)
    item = type_.item if isinstance(type_, t.List) else t.UNKNOWN
    if isinstance(item, t.Tuple):
        columns = [
            run(s, iterators.column, [items, Const(i)], origin, "column")
            for i in range(len(item.items))
        ]
        parts = tuple(
            one_array(s, column, kind, shape, n, dtype_of(dtypes, i), origin, name)
            for i, (column, kind) in enumerate(zip(columns, item.items, strict=True))
        )
        return s.pack("tuple", parts, name, origin)
    return one_array(s, items, item, shape, n, dtype_of(dtypes, 0), origin, name, lists)


def one_array(
    s: Operations, items: Atom, item: t.Type, shape: Atom, n: int, dtype: dict[str, Atom],
    origin: Origin, name: str, lists: bool = False,
) -> Atom:
    """Write the array of a list of numbers or arrays, in the shape of the loop."""
    if lists and isinstance(item, t.List) and isinstance(item.item, t.Scalar):
        result = s.call(Const(np.array), [items], {}, origin, name)
        return reshaped(s, items, result, shape, n, origin, name)
    if isinstance(item, (t.List, t.Unknown)) or (isinstance(item, t.Array) and dtype):
        return refuse(s, origin, "a function along arrays that returns a value of this type")
    if not dtype and not uniform(s, items, item):
        s.out.append(Do(Call(Const(same_kind), (items,)), origin))
    if not isinstance(item, t.Array):
        result = s.call(Const(np.array), [items], dtype, origin, name)
        return result if n == 1 else s.call(Const(np.reshape), [result, shape], {}, origin, name)
    result = s.call(Const(np.stack), [items], {}, origin, name)
    return reshaped(s, items, result, shape, n, origin, name)


def reshaped(
    s: Operations, items: Atom, result: Atom, shape: Atom, n: int, origin: Origin, name: str
) -> Atom:
    """Write the array of all results, one after the other, in the shape of the loop."""
    if n == 1:
        return result
    inner = s.item(s.attribute(result, "shape", origin), Const(slice(1, None)), origin, "inner")
    whole = s.call(Const(operator.add), [shape, inner], {}, origin, "shape")
    return s.call(Const(np.reshape), [result, whole], {}, origin, name)


def uniform(s: Writer, items: Atom, item: t.Type) -> bool:
    """Say whether all results are known to be of one class, as the first is."""
    if isinstance(item, t.Array):
        return True
    for statement in reversed(s.out):
        for edge in statement.edges() if isinstance(statement, Region) else ():
            if edge.target is items and edge.how == COLLECTED:
                return isinstance(edge.source, Const) or edge.source not in s.unit.merged
    return False


# -- other functions of functions ------------------------------------------------------------------


@folds(np.apply_along_axis)
def fold_apply_along_axis(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """Rows along the axis, which is moved to the end meanwhile."""
    if len(args) < 3 or any(isinstance(arg, Star) for arg in args):
        return None
    function, axis, array, *more = args
    array = as_array(s, array, origin)
    type_ = s.unit.type(array)
    if not isinstance(type_, t.Array) or not isinstance(axis, Const) or type(axis.value) is not int:
        return None
    n = type_.ndim - 1
    if n < 0 or not -type_.ndim <= axis.value <= n:
        return None
    if more or kwargs:
        function = s.call(
            Const(along_arrays.with_arguments), [function, *more], kwargs, origin, "function")
    if n == 0:
        result = s.call(function, [array], {}, origin, name)
        return result if isinstance(s.unit.type(result), t.Array) else s.call(
            Const(np.array), [result], {}, origin, name)
    position = axis.value % type_.ndim
    if position != n:
        array = s.call(Const(np.moveaxis), [array, axis, Const(-1)], {}, origin, "rows")
    shape = loop_shape(s, array, n, 1, origin)
    rows = parts_of(s, array, n, 1, False, origin)
    items = s.call(Const(mapped), [function, rows], {}, origin, "items")
    result = assembled(s, items, shape, n, None, origin, name, True)
    found = s.unit.type(result)
    inner = found.ndim - n if isinstance(found, t.Array) else 0
    if not inner or position == n:
        return result
    moved = (tuple(range(n, n + inner)), tuple(range(position, position + inner)))
    return s.call(Const(np.moveaxis), [result, *map(Const, moved)], {}, origin, name)


@folds(np.nditer, np.nested_iters)
def fold_nditer(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    if not any(may_carry(s.unit, arg) for arg in args):
        return None
    return s.reject(
        origin, "np.nditer() of differentiated values is not supported",
        "loop over x.flat, np.ndenumerate(x) or np.ndindex(x.shape)", "functions-along-arrays",
    )


@folds(np.frompyfunc)
def fold_frompyfunc(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    return s.reject(
        origin, "np.frompyfunc() is not supported: it makes arrays of objects",
        "use np.vectorize(f, otypes=[float])", "functions-along-arrays",
    )


@folds(np.fromiter)
def fold_fromiter(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    given = options(("iter", "dtype", "count", "like"), args, kwargs)
    if given is None or "dtype" not in given or not is_none(given.get("like")):
        return None
    items = sequence(s, given["iter"], origin)
    count = given.get("count", Const(-1))
    if not (isinstance(count, Const) and count.value == -1):
        items = run(s, along_arrays.counted, [items, count], origin, "items")
    return s.call(Const(np.array), [items], {"dtype": given["dtype"]}, origin, name)


@folds(np.fromfunction)
def fold_fromfunction(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """The function is called once, on the grids of ``np.indices``."""
    if len(args) != 2 or any(isinstance(arg, Star) for arg in args) or not is_none(
        kwargs.get("like")
    ):
        return None
    elements = s.unit.elements(args[1])
    type_ = s.unit.type(args[1])
    count = len(elements) if elements is not None else (
        len(type_.items) if isinstance(type_, t.Tuple) else None)
    if count is None:
        return None
    dtype = kwargs.get("dtype", Const(float))
    grids = s.call(Const(np.indices), [args[1]], {"dtype": dtype}, origin, "grids")
    parts = [s.item(grids, Const(i), origin, "grid") for i in range(count)]
    rest = {key: value for key, value in kwargs.items() if key not in ("dtype", "like")}
    return s.call(args[0], parts, rest, origin, name)


@folds(np.piecewise)
def fold_piecewise(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    """Each function gets the elements of its piece; their results are put where these were."""
    if len(args) < 3 or any(isinstance(arg, Star) for arg in args):
        return None
    x, conditions, functions, *more = args
    type_ = s.unit.type(x)
    pieces, pieced = s.unit.elements(conditions), s.unit.elements(functions)
    if not isinstance(type_, t.Array) or type_.dtype not in ("float64", "float32") or (
        not pieces or pieced is None or len(pieced) - len(pieces) not in (0, 1)
    ) or not all(isinstance(s.unit.type(c), t.Array) for c in pieces):
        return None
    if type_.ndim == 0:
        return None
    if len(pieced) == len(pieces):
        pieced = (*pieced, Const(0.0))
    pieced = (pieced[-1], *pieced[:-1])
    which: Atom = run(s, along_arrays.no_piece, [x], origin, "piece")
    for number, condition in enumerate(pieces, start=1):
        where = [condition, Const(number), which]
        which = s.call(Const(np.where), where, {}, origin, "piece")
    which = s.call(Const(np.ravel), [which], {}, origin, "piece")
    elements = s.call(s.attribute(x, "ravel", origin), [], {}, origin, "elements")
    values = []
    for number, function in enumerate(pieced):
        mine = s.call(Const(operator.eq), [which, Const(number)], {}, origin, "mine")
        chosen = s.item(elements, mine, origin, "chosen")
        value = function
        if isinstance(s.unit.type(function), (t.FunctionType, t.Static, t.Method)):
            value = s.call(function, [chosen, *more], kwargs, origin, "values")
        values.append(run(s, along_arrays.spread_over, [value, chosen], origin, "values"))
    joined = s.call(
        Const(np.concatenate), [s.pack("list", tuple(values), "values", origin)], {}, origin,
        "values",
    )
    order = run(s, along_arrays.places_of, [which], origin, "order")
    placed = s.item(joined, order, origin, name)
    if type_.ndim == 1:
        return placed
    shape = s.attribute(x, "shape", origin)
    return s.call(Const(np.reshape), [placed, shape], {}, origin, name)

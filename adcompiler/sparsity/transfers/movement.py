"""Transfer of functions that move elements: run on an array of positions, they say where to.

Positions count from 1, over all arguments together, so that 0 is what does not depend on the
inputs: constants, and the zeros with which NumPy fills gaps.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adcompiler.runtime import own as own_copy
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out, in_place_of, reshape_view
from adcompiler.sparsity.dependences.index_sets import Array, cells_of, count
from adcompiler.sparsity.dependences.layouts import (
    is_viewable, lies_in_c_order, note_layout, places_in, refusal,
)
from adcompiler.sparsity.dependences.values import (
    NOTHING, DType, Dependent, Operand, Relation, UnknownList, Value, all_sets,
    dependents_in, dtype_of, end_to_end, gathered, has_dependents, is_float, map_dependents,
    moved, shape_of,
)
from adcompiler.sparsity.interpreter.run import Run
from adcompiler.sparsity.interpreter.table import LAYOUT, Refusal, transfer, transfer_of
from adcompiler.sparsity.interpreter.varying import unknown_like
from adcompiler.sparsity.transfers.elementwise import as_numbers, dense
from adcompiler.sparsity.transfers.indexing import get_item
from adcompiler.sparsity.transfers.stand_ins import of_one_form, stand_in


transfer(LAYOUT)(note_layout)


class Source:
    """The relations of several values, flat and end to end, and the positions of their elements."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.given: list[Dependent] = []
        self.size = 0
        self.dtypes: list[Any] = []
        self.has_constants = False

    def positions(self, value: Value) -> Any:
        """Return an argument with numbers replaced by their positions, or 0."""
        if isinstance(value, Dependent):
            if value.shape is None:
                raise UnknownShapeError
            start = self.size + 1
            value.shared = True
            self.given.append(value)
            self.dtypes.append(value.dtype)
            self.size += count(value.shape)
            return places_in(value) + start
        if isinstance(value, np.ndarray):
            self.has_constants = True
            self.dtypes.append(value.dtype)
            return np.zeros(value.shape, np.int64)
        if isinstance(value, (float, complex, int, np.generic)):
            self.has_constants = True
            self.dtypes.append(dtype_of(value))
            return 0
        if isinstance(value, UnknownList):
            raise UnknownShapeError
        if isinstance(value, (list, tuple)):
            return type(value)(map(self.positions, value))
        return value

    def zeros(self) -> Any:
        """Return which elements are known to be zero, flat; None where constants are among them."""
        if self.has_constants:
            return None
        return np.concatenate([
            np.zeros(count(d.shape or ()), bool) if d.zeros is None else d.zeros.ravel()
            for d in self.given
        ])

    def relations(self) -> tuple[Relation, Relation]:
        """Return the relations of everything that was given, first and second."""
        shapes: Any = [d.shape for d in self.given]
        if not shapes:
            return NOTHING, NOTHING
        if len(self.given) == 1:
            d = self.given[0]
            flat = [moved(r, np.ravel) for r in (d.first, d.second)]
            return flat[0], flat[1]
        firsts = end_to_end([d.first for d in self.given], shapes)
        return firsts, end_to_end([d.second for d in self.given], shapes)


class UnknownShapeError(Exception):
    """A shape depends on the values of the inputs."""


def rearranged(
    run: Run, function: Callable[..., Any], arrays: tuple[Value, ...], rest: tuple[Value, ...],
    kwargs: Mapping[str, Value], dtype: DType | None = None,
) -> Any:
    """Return the result of a function that moves the elements of ``arrays``."""
    source = Source(run)
    value = run.value(function, (*arrays, *rest), kwargs)
    try:
        placed = function(*source.positions(arrays), *rest, **kwargs)
    except UnknownShapeError:
        first, second = all_sets(dependents_in(arrays))
        return Dependent(None, np.dtype(float), Relation(first, None), Relation(second, None))
    firsts, seconds = source.relations()
    if dtype is None:
        dtype = np.result_type(*(np.dtype(d) for d in source.dtypes))
    return taken(run, placed, firsts, seconds, dtype, value, source.zeros())


def taken(
    run: Run, placed: Any, firsts: Relation, seconds: Relation, dtype: DType, value: Any,
    zeros: Array | None = None,
) -> Any:
    """Return the values whose elements come from the positions ``placed``, counted from 1.

    ``zeros`` says which of them are zero; if it is given, the gaps are zero, too.
    """
    if isinstance(placed, (list, tuple)):
        values = value if run.local else [None] * len(placed)
        return type(placed)(
            taken(run, p, firsts, seconds, dtype, v, zeros)
            for p, v in zip(placed, values, strict=True)
        )
    placed = np.asarray(placed).astype(np.int64, copy=False) - 1
    if not is_float(dtype):
        return run.made(placed.shape, dtype, value=value)
    made = run.made(
        placed.shape, dtype, gathered(firsts, placed), gathered(seconds, placed), value
    )
    if zeros is not None and isinstance(made, Dependent):
        known = np.append(zeros, True)[placed]
        made.zeros = known if np.any(known) else None
    return made


@transfer("moves", "roll")
def moving(run: Run, function: Callable[..., Any], a: Any, *rest: Any, **kwargs: Any) -> Any:
    """A function that moves the elements of its first argument."""
    if has_dependents((rest, kwargs)):
        return unknown_movement(run, function, a, rest, kwargs)
    if isinstance(a, (list, tuple)):
        (a,) = as_numbers(run, (a,))
    if in_order_of_memory(rest, kwargs) and not is_viewable(a):
        raise Refusal("an order in memory, which is not known", 'order="C" or mode="local"')
    return rearranged(run, function, (a,), rest, kwargs, dtype_of(a))


def in_order_of_memory(rest: tuple[Value, ...], kwargs: Mapping[str, Value]) -> bool:
    """Say whether a function moves elements in an order that the layout of its array decides."""
    return kwargs.get("order") in ("A", "K") or any(
        isinstance(r, str) and r in ("A", "K") for r in rest)


@transfer(in_place_of)
def replacing(run: Run, function: Callable[..., Any], new: Value, old: Value) -> Any:
    """What an operation in place computes, lying in memory as what was there."""
    if not isinstance(new, Dependent):
        return function(new, new if isinstance(old, Dependent) else old)
    found = copying(run, np.copy, new)
    if isinstance(found, Dependent):
        found.in_c_order = lies_in_c_order(old)
        if new.value is not None and isinstance(old, Dependent):
            found.value = None if old.value is None else function(new.value, old.value)
    return found


@transfer(reshape_view)
def reshaping(
    run: Run, function: Callable[..., Any], a: Dependent, where: bool, *shape: Any, order: str = "C"
) -> Any:
    """A reshape that must be a view."""
    if has_dependents((shape, order)):
        return unknown_movement(run, function, a, shape, {})
    if not is_viewable(a):
        raise refusal()
    if run.local:
        run.value(function, (a, where, *shape), {"order": order})
    if not shape:
        return moving(run, np.ravel, a, order)
    return moving(run, np.reshape, a, *shape[:1] if len(shape) == 1 else (shape,), order)


@transfer("moves all")
def moving_all(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function that moves the elements of all its positional arguments."""
    return rearranged(run, function, args, (), kwargs)


@transfer("joins", "append")
def joining(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """A function that joins the arrays in its first argument, or those in the first two."""
    is_append = transfer_of(function) == "append"
    many = 2 if is_append else 1
    arrays = args[:many]
    if isinstance(args[0], UnknownList):
        first, second = all_sets(dependents_in(args[0]))
        return Dependent(None, np.dtype(float), Relation(first, None), Relation(second, None))
    if not is_append and isinstance(args[0], Dependent):
        arrays = (rows_of(run, args[0]),)
    return rearranged(run, function, arrays, args[many:], kwargs)


def rows_of(run: Run, array: Dependent) -> list[Any]:
    """Return the items of an array along its first axis."""
    if not array.shape:
        raise Refusal("the number of rows of an array depends on the values of the inputs",
                      'mode="local"')
    if len(array.shape) == 1 and array.value is None and array.shape[0] > 4:
        return scalars_of(array)
    return [get_item(run, array, i) for i in range(array.shape[0])]


def scalars_of(array: Dependent) -> list[Any]:
    """Return the numbers of an array of one dimension."""
    assert array.shape is not None
    firsts = cells_of(array.first.own, array.first.common, array.shape).array.tolist()
    seconds = cells_of(array.second.own, array.second.common, array.shape).array.tolist()
    return [
        Dependent((), array.dtype, Relation(f, None), Relation(s, None))
        for f, s in zip(firsts, seconds, strict=True)
    ]


@transfer("array", "copy", own_copy, copy_as_laid_out, copy.copy, copy.deepcopy)
def copying(run: Run, function: Callable[..., Any], a: Any, *rest: Any, **kwargs: Any) -> Any:
    """A function that makes an array of what it gets."""
    dtype = kwargs.get("dtype", rest[0] if rest and takes_dtype(function) else None)
    if not isinstance(a, Dependent):
        if function in (own_copy, copy.deepcopy):
            return map_dependents(lambda d: copying(run, np.copy, d), own_copy(a))
        if function is copy.copy:
            return copy.copy(a)
        return stacked(run, a, dtype, kwargs.get("ndmin", 0))
    a.shared = True
    dtype = a.dtype if dtype is None else np.dtype(dtype)
    if not is_float(dtype):
        return run.made(a.shape, dtype, value=run.value(function, (a, *rest), kwargs))
    found = run.made(a.shape, dtype, a.first, a.second,
                     run.value(function, (a, *rest), kwargs))
    if a.shape == () and takes_dtype(function) and (shape := function(0.0).shape):
        return run.call(np.reshape, (found, shape), {})
    return found


def takes_dtype(function: Callable[..., Any]) -> bool:
    """Say whether a function makes an array of a dtype that may be its second argument."""
    return transfer_of(function) == "array"


def stacked(run: Run, items: list[Dependent], dtype: DType | None = None, ndmin: int = 0) -> Any:
    """Return the array of nested lists of numbers and arrays."""
    value = run.value(np.array, (items,), {"dtype": dtype})
    source = Source(run)
    try:
        placed = np.array(source.positions(items), ndmin=ndmin)
    except UnknownShapeError:
        first, second = all_sets(dependents_in(items))
        return Dependent(None, np.dtype(float), Relation(first, None), Relation(second, None))
    firsts, seconds = source.relations()
    if dtype is None:
        dtype = np.result_type(*{np.dtype(d) for d in source.dtypes})
    return taken(run, placed, firsts, seconds, np.dtype(dtype), value)


@transfer("astype")
def converting(
    run: Run, function: Callable[..., Any], a: Dependent, dtype: DType, *rest: Any, **kwargs: Any
) -> Any:
    """``a.astype(dtype)``: no derivative flows through integers."""
    a.shared = True
    dtype = np.dtype(dtype)
    value = run.value(function, (a, dtype, *rest), kwargs)
    if not is_float(dtype):
        return run.made(a.shape, dtype, value=value)
    return run.made(a.shape, dtype, a.first, a.second, value)


@transfer("full", "full_like")
def filling(
    run: Run, function: Callable[..., Any], *args: Any, dtype: DType | None = None, **kwargs: Any
) -> Any:
    """An array filled with one value, or with values that are stretched."""
    is_like = transfer_of(function) == "full_like"
    names = ("a" if is_like else "shape", "fill_value", "dtype")
    given = {"dtype": dtype, **kwargs, **dict(zip(names, args, strict=False))}
    shape, fill_value, dtype = (given[name] for name in names)
    wanted = shape if not is_like else given.get("shape")
    if has_dependents(wanted):
        return unknown_movement(run, function, fill_value, (), {})
    if wanted is None:
        wanted = shape.shape if isinstance(shape, Dependent) else np.shape(shape)
    if is_like and dtype is None:
        dtype = dtype_of(shape) if isinstance(shape, (Dependent, np.ndarray)) else None
    (fill_value,) = as_numbers(run, (fill_value,))
    if not isinstance(fill_value, Dependent):
        return np.full(wanted, fill_value, dtype)
    found = rearranged(run, np.broadcast_to, (fill_value,), (wanted,), {}, fill_value.dtype)
    return found if dtype is None else converting(run, np.ndarray.astype, found, dtype)


@transfer("zeros_like")
def alike(run: Run, function: Callable[..., Any], a: Dependent, *rest: Any, **kwargs: Any) -> Any:
    """An array of the shape of another one, filled with a constant."""
    if isinstance(a, Dependent) and a.shape is None:
        return Dependent(None, a.dtype)
    if isinstance(a, Dependent) and a.value is not None:
        return function(a.value, *rest, **kwargs)
    if run.layouts and not lies_in_c_order(a):
        return unknown_like(function(np.zeros(shape_of(a), dtype_of(a)), *rest, **kwargs))
    shown = np.broadcast_to(np.zeros((), a.dtype), shape_of(a)) if isinstance(a, Dependent) else (
        map_dependents(stand_in, a)
    )
    return function(shown, *rest, **kwargs)


@transfer("pad")
def padding(
    run: Run, function: Callable[..., Any], array: Array, pad_width: Any, mode: str = "constant",
    **kwargs: Any
) -> Any:
    """``np.pad``: modes that repeat elements move them; others combine many."""
    (array,) = as_numbers(run, (array,))
    values = kwargs.get("constant_values", 0)
    if mode == "constant" and not isinstance(values, (list, tuple, np.ndarray)):
        source = Source(run)
        value = run.value(function, (array, pad_width, mode), kwargs)
        positions, fill = source.positions(array), source.positions(values)
        placed = np.pad(positions, pad_width, constant_values=np.asarray(fill))
        return taken(run, placed, *source.relations(), dtype_of(array), value)
    if mode in ("edge", "wrap", "reflect", "symmetric") and "reflect_type" not in kwargs and (
        not has_dependents((pad_width, kwargs))
    ):
        return rearranged(run, function, (array,), (pad_width, mode), kwargs, dtype_of(array))
    return dense(run, function, array, pad_width, mode, **kwargs)


@transfer("insert")
def inserting(
    run: Run, function: Callable[..., Any], arr: Operand, obj: Any, values: Operand,
    axis: int | None = None,
) -> Any:
    """``np.insert``."""
    if has_dependents(obj):
        return unknown_movement(run, function, arr, (values,), {})
    arr, values = as_numbers(run, (arr, values))
    value = run.value(function, (arr, obj, values, axis), {})
    source = Source(run)
    places, inserted = source.positions(arr), source.positions(values)
    placed = np.insert(places, obj, inserted, axis)
    return taken(run, placed, *source.relations(), dtype_of(arr), value)


@transfer("take", "picks", "compress")
def taking(run: Run, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Functions that pick elements by positions, or by a condition, which may come first."""
    which = 1 if transfer_of(function) == "compress" else 0
    names = ("a", "condition", "arr")
    if len(args) <= which:
        kwargs = dict(kwargs)
        args = (*args, kwargs.pop(next(n for n in names if n in kwargs)))
    (array,) = as_numbers(run, (args[which],))
    others = (*args[:which], *args[which + 1 :])
    if has_dependents((others, kwargs)):
        return unknown_movement(run, function, array, others, kwargs)

    def pick(positions: Array) -> Any:
        return function(*others[:which], positions, *others[which:], **kwargs)

    return rearranged(run, pick, (array,), (), {}, dtype_of(array))


def unknown_movement(
    run: Run, function: Callable[..., Any], array: Value, others: tuple[Value, ...],
    kwargs: Mapping[str, Value],
) -> Dependent:
    """Return what is known of elements picked by positions that depend on the inputs."""
    first, second = all_sets(dependents_in([array, others, kwargs]))
    relations = Relation(first, None), Relation(second, None)
    if transfer_of(function) in ("take", "roll"):
        try:
            shown = of_one_form(function, (array, *others), kwargs)
        except Refusal:
            return Dependent(None, dtype_of(array), *relations)
        return Dependent(np.shape(shown), dtype_of(shown), *relations)
    return Dependent(None, dtype_of(array), *relations)

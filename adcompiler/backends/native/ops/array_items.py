"""Lists of arrays: the elements of all items in one flat buffer, and where each item begins.

Items are held by value. What is read of a list is a part of that buffer, copied before it is
written into; an item that is replaced, or added to, is put behind all others. So a buffer only
grows: where it would be longer than ``MOST``, Python runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    FLOAT, INT, Assign, Binary, Element, Expr, Make, Name, Number, Store, View,
)
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Buffer, Declined, Flattened, Kept, Rows, Slot, Tape, Value,
)
from adcompiler.support.structs import dataclass

ZERO = Number(0)
MOST = 1 << 27
"""How many elements the items of a list may have that there ever were in it."""


@dataclass(frozen=True, slots=True)
class ArrayForm:
    """The form of items that are arrays."""

    dtype: str
    ndim: int


def array_form(layout: Flattened | Buffer) -> ArrayForm:
    """Return the form of an array, or of the items of a list of arrays."""
    if isinstance(layout, Buffer):
        return ArrayForm(layout.dtype, layout.ndim)
    return ArrayForm(layout.data.slots[0].dtype, len(layout.shape))


def made(low: Context, form: ArrayForm, size: Expr) -> Flattened:
    """Return the layout of a new list of so many items, which are not set."""
    w, hint = low.w, low.arrays.hint
    data = Tape(w.fresh(f"{hint}_elements_top"))
    low.tapes.opening.rows.append(Assign(data.top, ZERO))
    low.tapes.slot(data, f"{hint}_elements", form.dtype, WIDE)

    def slot(name: str) -> Slot:
        found = Slot(w.fresh(f"{hint}_{name}"), INT, LENGTH)
        w.write(Make(found.buffer, (size,), INT))
        return found

    return Flattened(data, slot("start"), tuple(slot("length") for _ in range(form.ndim)))


def put_array(low: Context, layout: Flattened, place: Expr, value: Value, adds: bool) -> None:
    """Store an array as an item of a list, or the sum of it and the item there."""
    if not isinstance(value, Buffer) or value.isset is not None or (
        array_form(value) != array_form(layout)
    ):
        raise Declined("a list of arrays of different kinds")
    old = low.tapes.item(layout, place, "item") if adds else None
    if old is not None:
        if old.dtype != FLOAT:
            raise Declined("items of a list are added to that are no floats")
        low.arrays.agree(old, value.shape)

    def element(places: tuple[Expr, ...]) -> Expr:
        one = Element(value.name, places)
        return one if old is None else Binary("+", Element(old.name, places), one)

    put_elements(low, layout, place, value.shape, element)


def put_elements(
    low: Context, layout: Flattened, place: Expr, shape: tuple[Expr, ...],
    element: Callable[[tuple[Expr, ...]], Expr],
) -> None:
    """Store an array of a shape as an item, given the element at each position."""
    w, data = low.w, layout.data
    top, (slot,) = Name(data.top), data.slots
    w.write(Store(layout.start.buffer, (place,), top))
    for one, length in zip(layout.shape, shape, strict=True):
        w.write(Store(one.buffer, (place,), length))
    size = functools.reduce(lambda a, b: Binary("*", a, b), shape)
    end = w.assign("end", Binary("+", top, size))
    w.leave_if(Binary(">", end, Number(MOST)))
    low.tapes.reserve(data, size)
    part = w.fresh("item")
    w.write(View(part, slot.buffer, top, shape))
    with w.over(shape) as places:
        w.write(Store(part, tuple(places), element(tuple(places))))
    w.write(Assign(data.top, end))


def of_zeros(low: Context, layout: Flattened, of: Kept | Rows, item_at: Callable[..., Any],
             length: Expr) -> None:
    """Store arrays of zeros, of the shapes of the items of another list."""
    with low.w.over((length,)) as (at,):
        item = item_at(low, of, at)
        if not isinstance(item, Buffer):
            raise Declined("a list of arrays is as long as one of something else")
        put_elements(low, layout, at, item.shape, lambda places: Number(0.0))


def as_one(
    low: Context, of: Kept | Rows, form: ArrayForm, item_at: Callable[..., Any], length: Expr
) -> Buffer:
    """Return an array of the arrays in a list, which are of one shape."""
    w = low.w
    w.leave_if(Binary("<=", length, ZERO))
    first = item_at(low, of, ZERO)
    new: Buffer = low.arrays.new((length, *first.shape), form.dtype, None)
    with w.over((length,)) as (at,):
        item = item_at(low, of, at)
        low.arrays.agree(item, first.shape)
        with w.over(item.shape) as places:
            w.write(Store(new.name, (at, *places), Element(item.name, places)))
    return new


def end_to_end(
    low: Context, of: Kept | Rows, form: ArrayForm, item_at: Callable[..., Any], length: Expr,
    axis: int
) -> Buffer:
    """Return the arrays in a list joined along an axis."""
    w = low.w
    w.leave_if(Binary("<=", length, ZERO))
    first = item_at(low, of, ZERO)
    total = w.fresh("length")
    w.write(Assign(total, ZERO))
    with w.over((length,)) as (at,):
        item = item_at(low, of, at)
        for i, (mine, wanted) in enumerate(zip(item.shape, first.shape, strict=True)):
            if i != axis:
                w.leave_if(Binary("!=", mine, wanted))
        w.write(Assign(total, Binary("+", Name(total), item.shape[axis])))
    shape = [*first.shape]
    shape[axis] = Name(total)
    new: Buffer = low.arrays.new(tuple(shape), form.dtype, None)
    start = w.fresh("start")
    w.write(Assign(start, ZERO))
    with w.over((length,)) as (at,):
        item = item_at(low, of, at)
        with w.over(item.shape) as places:
            there = list(places)
            there[axis] = Binary("+", Name(start), places[axis])
            w.write(Store(new.name, tuple(there), Element(item.name, places)))
        w.write(Assign(start, Binary("+", Name(start), item.shape[axis])))
    return new

"""Subscripts of arrays: elements, parts, gathers and scatters by arrays of integers and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Assign, Binary, Body, Choose, Element, Expr, Name, Number, Store,
    View, When,
)
from adcompiler.backends.native.lower.tapes import constant
from adcompiler.backends.native.values import (
    POSITION, Buffer, Cut, Declined, Fused, Kept, Known, Num, Rows, Several, Slot,
)
from adcompiler.ir.nodes import Step
from adcompiler.support.structs import dataclass

ZERO, ONE = Number(0), Number(1)
FULL = Cut(None, None)


def cut(low: Context, *ends: Any) -> Cut:
    """Return a slice."""
    before = [Known(None)] * (2 - len(ends))
    lower, upper, step = ends if len(ends) == 3 else (*before, *ends, Known(None))
    found: list[Num | None] = []
    for end in (lower, upper, step):
        if end is None or (isinstance(end, Known) and end.value is None):
            found.append(None)
            continue
        end = low.ready(end)
        if not isinstance(end, Num) or end.dtype != INT:
            raise Declined("a slice of which an end is no integer")
        narrow = low.w.narrowed(end, POSITION)
        found.append(replace(narrow, expr=low.w.named("end", narrow.expr)))
    by = None if found[2] is None or found[2].expr == ONE else found[2].expr
    if by is not None and not (isinstance(by, Number) and by.value != 0):
        low.w.leave_if(Binary("==", by, ZERO))
    return Cut(found[0], found[1], by)


def subscripts(low: Context, of: Buffer, index: Cut | Known | Num | Several) -> list[Any]:
    """Return subscripts, one for each axis that they take: None makes a new axis."""
    parts: list[Any] = []
    for part in index.items if isinstance(index, Several) else (index,):
        if isinstance(part, Known) and isinstance(part.value, slice):
            ends = part.value.start, part.value.stop, part.value.step
            part = cut(low, *map(constant, ends))
        if isinstance(part, (Rows, Kept)):
            part = of_list(low, part)
            if part.dtype == FLOAT:
                raise Declined("a subscript that is neither integers, slices nor arrays")
        if isinstance(part, Known) and part.value in (None, Ellipsis):
            part = part.value
        elif not isinstance(part, (Num, Cut, Buffer)):
            raise Declined("a subscript that is neither integers, slices nor arrays")
        parts.append(low.ready(part) if isinstance(part, Num) else part)
    taken = sum(axes_of(part) for part in parts)
    if taken > of.ndim or parts.count(Ellipsis) > 1:
        raise Declined("an array has fewer axes than subscripts")
    if Ellipsis in parts:
        at = parts.index(Ellipsis)
        parts[at : at + 1] = [FULL] * (of.ndim - taken)
    return parts


def of_list(low: Context, part: Rows | Kept) -> Buffer:
    """Return a list of numbers as an array, which shares its storage."""
    layout, start = (
        (part.tape.layout, part.start) if isinstance(part, Kept) else (part.layout, ZERO))
    if not isinstance(layout, Slot) or layout.isset is not None:
        raise Declined("an array is made of what is no list of numbers")
    name = low.w.fresh("listed")
    low.w.write(View(name, layout.buffer, start, (part.length,)))
    return Buffer(name, layout.dtype, (part.length,))


def axes_of(part: Any) -> int:
    """Return how many axes a subscript takes."""
    if isinstance(part, Buffer) and part.dtype == BOOL:
        return part.ndim
    return int(part not in (None, Ellipsis))


def is_element(of: Buffer, parts: Sequence[Any]) -> bool:
    """Say whether subscripts lead to one element."""
    return len(parts) == of.ndim and all(isinstance(part, Num) for part in parts)


def read(low: Context, of: Buffer, index: Any, hint: str) -> Any:
    """Return ``of[index]``."""
    parts = subscripts(low, of, index)
    if is_element(of, parts):
        return low.w.element(of, parts, hint)
    if not any(isinstance(part, Buffer) for part in parts):
        return low.arrays.part(of, parts, hint)
    chosen = choice(low, of, parts)
    low.arrays.hint = hint
    new = low.arrays.new(chosen.shape, of.dtype, None)
    with low.w.over(chosen.shape) as places:
        low.w.write(Store(new.name, places, Element(chosen.of.name, chosen.source(low, places))))
    return new


def write(
    low: Context, of: Buffer, index: Any, value: Buffer | Fused | Num, adds: bool, apart: bool
) -> None:
    """Write into ``of[index]``, or add to it, as often as an index occurs.

    ``apart`` tells that the value shares no storage with the array for sure.
    """
    parts = subscripts(low, of, index)
    if is_element(of, parts):
        if not isinstance(value, Num):
            raise Declined("an array is put into an element")
        low.w.store(of, low.w.places(of, parts), value, adds)
    elif not any(isinstance(part, Buffer) for part in parts):
        low.arrays.fill(low.arrays.part(of, parts, "part"), value, adds, apart)
    else:
        scatter(low, of, choice(low, of, parts), value, adds, apart)


def viewed(low: Context, of: Buffer, steps: Sequence[Step]) -> Buffer:
    """Return the part of an array that steps lead to, which shares its storage."""
    for step in steps:
        if step.kind == "attr" and step.name == "T":
            of = low.arrays.turned(of, tuple(reversed(range(of.ndim))))
            continue
        parts = subscripts(low, of, low.value(step.args[0])) if step.kind == "item" else [of]
        if any(isinstance(part, Buffer) for part in parts) or is_element(of, parts):
            raise Declined("a write through a view")
        of = low.arrays.part(of, parts, "part")
    return of


@dataclass(frozen=True, slots=True)
class Choice:
    """Elements that arrays of positions choose: from axis ``first`` of ``of`` on.

    ``positions`` are arrays of one shape, ``inner``, or numbers, one for each such axis, all within
    bounds; ``shape`` is that of what is chosen.
    """

    of: Buffer
    first: int
    positions: tuple[Any, ...]
    inner: tuple[Expr, ...]

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The shape of what is chosen."""
        last = self.first + len(self.positions)
        return (*self.of.shape[: self.first], *self.inner, *self.of.shape[last:])

    def source(self, low: Context, places: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Return where in ``of`` the element at a position of what is chosen stands."""
        end = self.first + len(self.inner)
        here = places[self.first : end]
        chosen = [
            low.w.assign("position", Element(one.name, here)) if isinstance(one, Buffer) else one
            for one in self.positions
        ]
        return (*places[: self.first], *chosen, *places[end:])


def choice(low: Context, of: Buffer, parts: list[Any]) -> Choice:
    """Return what subscripts choose of which some are arrays."""
    if None in parts:
        raise Declined("a new axis beside a subscript that is an array")
    at = [i for i, part in enumerate(parts) if isinstance(part, (Buffer, Num))]
    if at != list(range(at[0], at[-1] + 1)):
        raise Declined("a slice between subscripts that are arrays")
    arrays: list[Any] = []
    axis = at[0]
    for part in parts[at[0] : at[-1] + 1]:
        if isinstance(part, Buffer) and part.dtype == BOOL:
            arrays += found(low, part, of.shape[axis : axis + part.ndim])
        elif isinstance(part, Buffer):
            arrays.append(positions(low, part, of.shape[axis]))
        else:
            arrays.append(low.w.position(part, of.shape[axis]))
        axis = at[0] + len(arrays)
    buffers = [one for one in arrays if isinstance(one, Buffer)]
    if len({one.ndim for one in buffers}) > 1:
        raise Declined("subscripts that are arrays of different numbers of axes")
    for one in buffers[1:]:
        low.arrays.agree(one, buffers[0].shape)
    slices = [*parts[: at[0]], *[FULL] * len(arrays), *parts[at[-1] + 1 :]]
    if any(part != FULL for part in slices):
        of = low.arrays.part(of, slices, "part")
    return Choice(of, at[0], tuple(arrays), buffers[0].shape)


def positions(low: Context, index: Buffer, length: Expr) -> Buffer:
    """Return subscripts as positions on an axis, all within its bounds."""
    if index.dtype != INT:
        raise Declined("a subscript is an array of numbers that are no integers")
    w = low.w
    low.arrays.hint = "positions"
    new: Buffer = low.arrays.new(index.shape, INT, None)
    with w.over(index.shape) as places:
        given = Num(w.assign("index", Element(index.name, places)), INT)
        w.write(Store(new.name, places, w.position(given, length)))
    return new


def found(low: Context, mask: Buffer, shape: Sequence[Expr]) -> list[Buffer]:
    """Return where a mask holds: an array of positions for each of its axes."""
    low.arrays.agree(mask, shape)
    w = low.w
    count = w.fresh("count")
    w.write(Assign(count, ZERO))
    with w.over(mask.shape) as places:
        w.write(Assign(count, Binary("+", Name(count), Choose(
            Element(mask.name, places), ONE, ZERO))))
    low.arrays.hint = "positions"
    length = w.assign("length", Name(count))
    arrays = [low.arrays.new((length,), INT, None) for _ in mask.shape]
    w.write(Assign(count, ZERO))
    with w.over(mask.shape) as places:
        then = Body()
        with w.inside(then):
            for array, place in zip(arrays, places, strict=True):
                w.write(Store(array.name, (Name(count),), place))
            w.write(Assign(count, Binary("+", Name(count), ONE)))
        w.write(When(Element(mask.name, places), then, Body()))
    return arrays


def scatter(
    low: Context, of: Buffer, chosen: Choice, value: Buffer | Fused | Num, adds: bool, apart: bool
) -> None:
    """Write a number, or an array, to chosen places; the last one counts where some repeat."""
    w, arrays = low.w, low.arrays
    value = arrays.operand(arrays.settled(value))
    if isinstance(value, Buffer):
        if value.ndim > len(chosen.shape):
            raise Declined("an array is put into one of fewer axes")
        arrays.agree(value, chosen.shape)
        if not apart:
            value = arrays.copy(value)
    with w.over(chosen.shape) as places:
        item = arrays.item(value, places)
        w.store(chosen.of, chosen.source(low, places), item, adds)


def last_written(low: Context, g: Any, index: Cut | Known | Num | Several, of: Any) -> Any:
    """Return cotangents of what was stored: zero where a later store took the place."""
    if not isinstance(g, Buffer) or not isinstance(of, Buffer) or g.dtype != FLOAT:
        raise Declined("a write of what is no array")
    w, arrays = low.w, low.arrays
    parts = subscripts(low, of, index)
    if not any(isinstance(part, Buffer) for part in parts):
        return g
    arrays.hint = "order"
    order = arrays.new(of.shape, INT, Num(Number(-1), INT, 1))
    chosen = choice(low, order, parts)
    if len(chosen.shape) != g.ndim:
        raise Declined("a value is stretched to what is written")
    arrays.agree(g, chosen.shape)
    count = w.fresh("count")
    arrays.hint = "written"
    new = arrays.new(g.shape, FLOAT, None)
    for again in (False, True):
        w.write(Assign(count, ZERO))
        with w.over(chosen.shape) as places:
            source = chosen.source(low, places)
            if again:
                lasts = Binary("==", Element(chosen.of.name, source), Name(count))
                kept = Choose(lasts, Element(g.name, places), Number(0.0))
                w.write(Store(new.name, places, kept))
            else:
                w.write(Store(chosen.of.name, source, Name(count)))
            w.write(Assign(count, Binary("+", Name(count), ONE)))
    return new


def one_index(places: Sequence[Known | Num | Several | None]) -> Any:
    """Return the subscripts of subscripts, ``[i][j]``, as one: ``[i, j]``; None of slices."""
    *outer, last = [
        list(place.items) if isinstance(place, Several) else [place] for place in places
    ]
    if any(not isinstance(part, Num) for parts in outer for part in parts):
        return None
    return Several((*(part for parts in outer for part in parts), *last))

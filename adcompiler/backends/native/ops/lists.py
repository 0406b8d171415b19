"""Lists of numbers, arrays, and tuples of these: a flat buffer for each number of an item.

The buffers keep their names and have room to grow; the length is a value like any other, so that
what is known of it holds. Lists that a loop collected are read where they are, and copied where
they are written into.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any


from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    FLOAT, KINDS, Assign, Binary, Bind, Body, Choose, Expr, Name, Number,
)
from adcompiler.backends.native.lower.tapes import constant, is_placeholder
from adcompiler.backends.native.ops.array_items import ArrayForm, array_form
from adcompiler.backends.native.ops.held import count_of, differ, heap_of, item_at, new, put
from adcompiler.backends.native.ops.held import read as read_held
from adcompiler.backends.native.ops.indexing import cut
from adcompiler.backends.native.values import (
    UNSET, Buffer, Cut, Declined, Flattened, Held, HeldForm, Inner, Kept, Known, Num, Rows,
    Several, Slot, Value, list_of,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE

ZERO, ONE = Number(0), Number(1)


# -- storage --------------------------------------------------------------------------------------


def item_form(type_: t.Type) -> Any:
    """Return the machine types of an item of a list: a name, or a tuple of these."""
    if isinstance(type_, t.Scalar) and type_.kind in KINDS and all(
        dtype in (None, KINDS[kind]) for kind, dtype in type_.classes if kind in KINDS
    ):
        return KINDS[type_.kind]
    if isinstance(type_, t.Array) and type_.dtype in KINDS.values() and type_.ndim:
        return ArrayForm(type_.dtype, type_.ndim)
    if isinstance(type_, t.Tuple) and type_.cls is tuple:
        return tuple(map(item_form, type_.items))
    if isinstance(type_, t.List):  # what is empty so far is mostly to hold floats
        return HeldForm(FLOAT if isinstance(type_.item, t.Bottom) else item_form(type_.item))
    raise Declined(f"a list of {type_}")


def form_of(layout: Any) -> Any:
    """Return the machine types of the items of a list, by its layout or by an item."""
    if isinstance(layout, (Slot, Num)):
        return layout.dtype
    if isinstance(layout, Several):
        return tuple(map(form_of, layout.items))
    if isinstance(layout, (Flattened, Buffer)):
        return array_form(layout)
    if isinstance(layout, Held):
        return HeldForm(layout.heap.form)
    inner = layout.tape.layout if isinstance(layout, (Inner, Kept)) else (
        layout.layout if isinstance(layout, Rows) else None)
    if inner is not None:
        return HeldForm(form_of(inner))
    raise Declined("a list of what is neither numbers nor arrays nor tuples of these")


def form_of_list(type_: t.Type, otherwise: Buffer | Flattened | Num | Several | None) -> Any:
    """Return the machine types of the items of a list of a type; else of those of a layout."""
    if isinstance(type_, t.List) and not isinstance(type_.item, t.Bottom):
        return item_form(type_.item)
    return None if otherwise is None else form_of(otherwise)


def slots(layout: Any) -> Iterator[Slot]:
    """Yield the buffers of a list."""
    if isinstance(layout, Slot):
        yield layout
    elif isinstance(layout, Flattened):
        yield from (layout.start, *layout.shape)
    elif isinstance(layout, Held):
        yield layout.at
    elif layout is not None:
        for inner in layout.items:
            yield from slots(inner)


def numbers_of(low: Context, value: Value) -> Several | None:
    """Return the numbers in a list of which the length is known, or in a tuple; else None."""
    if isinstance(value, Several):
        return value
    if isinstance(value, Rows) and isinstance(value.length, Number) and value.layout and (
        isinstance(form_of(value.layout), str)
    ):
        return Several(tuple(
            item_at(low, value, Number(i)) for i in range(int(value.length.value))))
    return None


def with_numbers(low: Context, value: Value) -> Any:
    """Return a container with the numbers of the lists in it in their place."""
    if not isinstance(value, Several):
        return value
    return Several(tuple(numbers_of(low, item) or item for item in value.items))


def layout_of(of: Any) -> Any:
    """Return the layout of a list; None if it is empty for sure."""
    if not isinstance(of, (Rows, Kept)):
        raise Declined("what is no list is read as one")
    return of.layout if isinstance(of, Rows) else of.tape.layout


def copied(low: Context, value: Value, form: Any = None,
           part: tuple[Expr, int, Expr] | None = None) -> Rows:
    """Return a new list with the items of another one, or with those of a slice."""
    value = list_of(value)
    first, step, count = part or (ZERO, 1, count_of(value))
    if form is None:
        layout = value.layout if isinstance(value, Rows) else value.tape.layout
        form = None if layout is None else form_of(layout)
    made = new(low, form, count)
    if made.layout is None:
        return made
    with low.w.over((made.length,)) as (at,):
        put(low, made.layout, at, item_at(low, value, place_of(low, first, step, at)))
    return made


def as_rows(low: Context, value: Value, form: Any = None) -> Rows:
    """Return a list as one that may be written into, with items of these machine types."""
    if isinstance(value, Kept):
        return copied(low, value, form)
    if not isinstance(value, Rows):
        raise Declined("a variable is a list at times, and something else at others")
    if form is None or (value.layout is not None and form_of(value.layout) == form):
        return value
    return copied(low, value, form) if value.layout is not None else new(low, form, ZERO)


def as_rows_like(low: Context, value: Value, layout: Flattened | Several) -> Rows:
    """Return a list as the next one that a loop carries, where one of a layout is now."""
    rows = as_rows(low, value, form_of(layout))
    if not same_storage(layout, rows.layout):
        raise Declined("a loop carries one list of arrays after the other")
    return rows


# -- where control flow parts ---------------------------------------------------------------------


def bound_to(
    low: Context, hint: str, rows: Rows, layout: Flattened | Several | None = None
) -> Rows:
    """Return a list that iterations change: its length has a name of its own.

    So have its buffers, which share its storage so far, if no layout is given.
    """

    def named(layout: Any) -> Any:
        if isinstance(layout, Several):
            return Several(tuple(map(named, layout.items)))
        if isinstance(layout, Flattened):
            return Flattened(layout.data, named(layout.start), tuple(map(named, layout.shape)))
        if isinstance(layout, Held):
            return Held(layout.heap, named(layout.at))
        name = low.w.fresh(hint)
        low.w.write(Bind(name, layout.buffer))
        return Slot(name, layout.dtype, layout.bound)

    length = low.w.fresh(f"{hint}_count")
    low.w.write(Assign(length, rows.length))
    low.counts.add(length)
    return Rows(named(rows.layout) if layout is None else layout, Name(length))


def merged(low: Context, hint: str, type_: t.Type, left: tuple[Body, Value],
           right: tuple[Body, Value]) -> Rows:
    """Return the list that one of two arms gives."""
    w = low.w
    given = [value for _, value in (left, right) if not is_placeholder(value)]
    if UNSET in (left[1], right[1]):
        raise Declined("a list that may not be assigned to")
    layouts = [one.layout if isinstance(one, Rows) else one.tape.layout
               for one in given if isinstance(one, (Rows, Kept))]
    form = form_of_list(type_, next((one for one in layouts if one is not None), None))
    if form is None:
        raise Declined("lists of which the items are not known")
    rows = []
    for body, value in (left, right):
        with w.inside(body):
            low.arrays.hint = hint
            rows.append(new(low, form, ZERO) if is_placeholder(value) else
                        as_rows(low, value, form))
    length = w.fresh(f"{hint}_count")
    layout = rows[0].layout
    if rows[1].layout != layout:
        if has_arrays(layout):
            raise Declined("one of two lists of arrays, by a test")
        layout = Several(tuple(
            Slot(w.fresh(hint), slot.dtype, slot.bound) for slot in slots(layout)))
        for (body, _), one in zip((left, right), rows, strict=True):
            body.rows += [Bind(slot.buffer, given_slot.buffer) for slot, given_slot in
                          zip(layout.items, slots(one.layout), strict=True)]
        layout = shaped_as(low, form, iter(layout.items))
    for (body, _), one in zip((left, right), rows, strict=True):
        body.rows.append(Assign(length, one.length))
    return Rows(layout, Name(length))


def has_arrays(layout: Any) -> bool:
    """Say whether there are arrays in the items of a list."""
    return isinstance(layout, Flattened) or (
        isinstance(layout, Several) and any(map(has_arrays, layout.items)))


def holds(value: Value, *kinds: type) -> bool:
    """Say whether a value is a list in the layout of which one of these is."""
    layout = layout_of(value) if isinstance(value, (Rows, Kept)) else value
    return isinstance(layout, kinds) or (
        isinstance(layout, Several) and any(holds(one, *kinds) for one in layout.items))


def same_storage(layout: Any, other: Any) -> bool:
    """Say whether the arrays in the items of two lists of one form stand in the same buffers."""
    if isinstance(layout, Several):
        return all(map(same_storage, layout.items, other.items))
    return not isinstance(layout, Flattened) or layout.data is other.data


def shaped_as(low: Context, form: Any, given: Iterator[Slot]) -> Any:
    """Return buffers in the structure of an item."""
    if isinstance(form, tuple):
        return Several(tuple(shaped_as(low, inner, given) for inner in form))
    return Held(heap_of(low, form.item), next(given)) if isinstance(form, HeldForm) else next(given)


# -- what is done with lists ----------------------------------------------------------------------


def packed(low: Context, items: Sequence[Buffer | Num], type_: t.Type) -> Rows:
    """Return a list of values."""
    items = [low.ready(item) for item in items]
    form = form_of_list(type_, items[0] if items else None)
    made = new(low, form, Number(len(items)))
    for i, item in enumerate(items):
        put(low, made.layout, Number(i), item)
    return made


def read(low: Context, rows: Any, index: Any, hint: str) -> Any:
    """Return ``rows[index]``: an item, or a new list of a slice."""
    if isinstance(index, Known) and isinstance(index.value, slice):
        index = as_cut(low, index.value)
    length = count_of(rows)
    if isinstance(index, Cut):
        low.arrays.hint = hint
        return copied(low, rows, None, positions(low, index, length))
    if not isinstance(index, Num):
        raise Declined("a subscript of a list that is no integer")
    if isinstance(rows, Rows) and rows.layout is None:
        raise Declined("a subscript of an empty list")
    return item_at(low, rows, low.w.position(index, length), hint)


def as_cut(low: Context, part: slice) -> Cut:
    """Return a slice that is known when compiling."""
    return cut(low, *map(constant, (part.start, part.stop, part.step)))


def positions(low: Context, part: Cut, length: Expr) -> tuple[Expr, int, Expr]:
    """Return where a slice starts, its step and how many positions it has, within a list."""
    if part.step is not None and not isinstance(part.step, Number):
        raise Declined("a slice of a list in steps that are not known")
    w, step = low.w, 1 if part.step is None else int(part.step.value)
    if part == Cut(None, None):
        return ZERO, 1, length
    least: Expr = ZERO if step > 0 else Number(-1)
    most = length if step > 0 else Binary("-", length, ONE)

    def inside(end: Num | None, otherwise: Expr) -> Expr:
        if end is None:
            return otherwise
        name, given = w.fresh("end"), w.named("end", end.expr)
        w.write(Assign(name, Choose(
            Binary("<", given, ZERO), Binary("+", given, length), given)))
        here = Name(name)
        w.write(Assign(name, Choose(Binary("<", here, least), least, here)))
        w.write(Assign(name, Choose(Binary(">", here, most), most, here)))
        return here

    first = inside(part.lower, least if step > 0 else most)
    last = inside(part.upper, most if step > 0 else least)
    low_end, high_end = (first, last) if step > 0 else (last, first)
    size: Expr = Binary("-", high_end, low_end)
    if abs(step) > 1:
        size = Binary("//", Binary("+", size, Number(abs(step) - 1)), Number(abs(step)))
    size = w.assign("count", size)
    return w.named("first", first), step, w.assign(
        "count", Choose(Binary(">", size, ZERO), size, ZERO))


def place_of(low: Context, first: Expr, step: int, at: Expr) -> Expr:
    """Return a position of a slice."""
    if first == ZERO and step == 1:
        return at
    moved = at if step == 1 else Binary("*", at, Number(step))
    return low.w.assign("at", moved if first == ZERO else Binary("+", first, moved))


def is_in_sight(low: Context, layout: Flattened | Several) -> None:
    """Leave lists to Python that a ``try`` changes, and that its handlers may see then."""
    if low.w.attempts and any(slot.buffer in low.w.attempts[-1] for slot in slots(layout)):
        raise Declined("a list is changed in `try` that was made outside of it")


def write(low: Context, given: Value, index: Value, value: Value, adds: bool) -> Any:
    """Write an item of a list, or add to it; slices are only added to."""
    if isinstance(given, Kept) and given.held is not None:
        if low.w.attempts:
            raise Declined("a list in a list is written into in `try`")
        write_item(low, given.tape.layout, given.start, given.length, index, value, adds)
        return given.held
    rows: Rows = as_rows(low, given)
    if rows.layout is None:
        raise Declined("a write into an empty list")
    if isinstance(given, Kept):
        is_in_sight(low, given.tape.layout)
    write_item(low, rows.layout, ZERO, rows.length, index, value, adds)
    return rows


def write_item(
    low: Context, layout: Any, start: Expr, length: Expr,
    index: Value, value: Value, adds: bool
) -> None:
    """Write an item of a list of a layout, which begins at ``start``, or add to it."""
    if isinstance(index, Several) and len(index.items) == 1:
        (index,) = index.items
    if isinstance(index, Known) and isinstance(index.value, slice):
        index = as_cut(low, index.value)

    def there(at: Expr) -> Expr:
        return at if start == ZERO else low.w.assign("at", Binary("+", start, at))

    if isinstance(index, Several) and isinstance(layout, (Flattened, Held)):
        first, *inner = index.items
        place = there(low.w.position(first, length))
        into = inner[0] if len(inner) == 1 else Several(tuple(inner))
        item = low.tapes.item(layout, place, "item")
        if isinstance(layout, Held):
            write(low, read_held(low, item), into, value, adds)
        else:
            item = low.arrays.copy(item)
            put(low, layout, place, low.stored(item, into, value, adds, NONE))
    elif isinstance(index, Num):
        put(low, layout, there(low.w.position(index, length)), value, adds)
    elif not isinstance(index, Cut) or not adds:
        raise Declined("a slice of a list is written")
    else:
        first, step, size = positions(low, index, length)
        differ(low, size, count_of(value))
        with low.w.over((size,)) as (at,):
            put(low, layout, there(place_of(low, first, step, at)), item_at(low, value, at), True)

"""Items of lists, and lists that stand in lists.

The latter are known by numbers, so that several places may hold the same one.

An element of such a list is written where it is, as all who hold the list see. What makes a new
list of one in Python (a cotangent that something is added to) does so here where more than one
place holds it. Lists that nobody holds any more are not taken away: where all of them would have
more than ``MOST`` items, Python runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Assign, Binary, Body, Element, Expr, Extent, Make, Name, Number, Store, When,
)
from adcompiler.backends.native.ops.array_items import (
    MOST, ArrayForm, made as made_arrays, put_array,
)
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Buffer, Declined, Flattened, Heap, Held, HeldForm, Kept, Known, Num, Rows,
    Several, Slot, Tape, Value, list_of, zero,
)

ZERO, ONE = Number(0), Number(1)


# -- items of lists --------------------------------------------------------------------------------


def new(low: Context, form: Any, size: Expr, zeros: bool = False) -> Rows:
    """Return a new list of so many items, which are not set, or zero."""

    def made(form: Any) -> Any:
        if isinstance(form, tuple):
            return Several(tuple(map(made, form)))
        if isinstance(form, ArrayForm):
            if zeros and size != ZERO:
                raise Declined("a list of arrays of zeros")
            return made_arrays(low, form, size)
        if isinstance(form, HeldForm):
            return Held(heap_of(low, form.item), made(INT))
        slot = Slot(low.w.fresh(low.arrays.hint), form, WIDE)
        low.w.write(Make(slot.buffer, (size,), form, zero(form).expr if zeros else None))
        return slot

    if form is None and size != ZERO:
        raise Declined("a list of which the items are not known")
    return Rows(None if form is None else made(form), size)


def put(low: Context, layout: Any, place: Expr, value: Value, adds: bool = False) -> None:
    """Store an item of a list, or add to it."""
    match layout:
        case Slot(buffer, dtype) if isinstance(value, Num):
            if dtype == FLOAT and value.dtype != BOOL:
                value = low.w.as_float(value)
            if value.dtype != dtype or (adds and dtype != FLOAT):
                raise Declined(f"a {value.dtype} is put into a list of {dtype}")
            low.w.write(Store(buffer, (place,), value.expr, adds))
        case Several(parts) if isinstance(value, Several) and len(parts) == len(value.items):
            for part, item in zip(parts, value.items, strict=True):
                put(low, part, place, item, adds)
        case Held() if isinstance(value, (Held, Kept, Rows)):
            (add_to_held if adds else put_held)(low, layout, place, value)
        case Flattened() if not is_nothing(value):
            put_array(low, layout, place, value, adds)
        case _ if adds and is_nothing(value):
            return
        case _:
            raise Declined("a list of items of different kinds")


def is_nothing(value: Value) -> bool:
    """Say whether a value is None."""
    return isinstance(value, Known) and value.value is None


def count_of(value: Value) -> Expr:
    """Return the number of items of a list."""
    return list_of(value).length


def differ(low: Context, one: Expr, other: Expr) -> None:
    """Leave lists of different lengths to Python."""
    low.w.expect_length(one, other)


def item_at(low: Context, value: Value, place: Expr, hint: str = "item") -> Any:
    """Return an item of a list, now; ``place`` is within its bounds."""
    value = list_of(value)
    if isinstance(value, Kept):
        start = value.start
        at = place if start == ZERO else low.w.assign("at", Binary("+", start, place))
        return low.tapes.item(value.tape.layout, at, hint)
    return low.tapes.item(value.layout, place, hint)


# -- lists in lists --------------------------------------------------------------------------------


def heap_of(low: Context, form: Any) -> Heap:
    """Return where lists of items of a form stand that are in lists."""
    tapes = low.tapes
    if form in tapes.heaps:
        return tapes.heaps[form]

    def tape(hint: str) -> Tape:
        found = Tape(low.w.fresh(f"{hint}_top"))
        tapes.opening.rows.append(Assign(found.top, ZERO))
        return found

    def laid(form: Any) -> Any:
        if isinstance(form, tuple):
            return Several(tuple(map(laid, form)))
        if isinstance(form, HeldForm):
            return Held(heap_of(low, form.item), tapes.slot(data, "number", INT, LENGTH))
        if not isinstance(form, str):
            raise Declined("a list of lists of arrays")
        return tapes.slot(data, "held", form, WIDE)

    objects, data = tape("lists"), tape("held")
    for name, dtype in (("begins", INT), ("counts", INT), ("is_shared", BOOL)):
        tapes.slot(objects, name, dtype, LENGTH)
    data.layout = laid(form)
    tapes.heaps[form] = found = Heap(form, objects, data)
    return found


def read(low: Context, held: Held) -> Kept:
    """Return a list that is held as it is now."""
    begins, counts, _ = held.heap.objects.slots
    here = (low.ready(held.at).expr,)
    return Kept(held.heap.data, low.w.assign("begin", Element(begins.buffer, here)),
                low.w.assign("count", Element(counts.buffer, here)), held)


def shared(low: Context, value: Value) -> Any:
    """Return a value, having noted of the lists in it that more than one place holds them."""
    if isinstance(value, Several):
        for item in value.items:
            shared(low, item)
    elif isinstance(value, Held):
        slot = value.heap.objects.slots[2]
        low.w.write(Store(slot.buffer, (low.ready(value.at).expr,), Number(True)))
    return value


def begin(low: Context, heap: Heap, count: Expr) -> tuple[Held, Expr]:
    """Return a new list of so many items, which are not set, and where they begin."""
    w, tapes, (objects, data) = low.w, low.tapes, (heap.objects, heap.data)
    at, first = w.assign("number", Name(objects.top)), w.assign("begin", Name(data.top))
    tapes.reserve(objects, ONE)
    for slot, expr in zip(objects.slots, (first, count, Number(False)), strict=True):
        w.write(Store(slot.buffer, (at,), expr))
    w.write(Assign(objects.top, Binary("+", at, ONE)))
    room(low, heap, count)
    return Held(heap, Num(at, INT, LENGTH), new=True), first


def room(low: Context, heap: Heap, count: Expr) -> None:
    """Make room for so many more items of lists, and take it."""
    end = low.w.assign("end", Binary("+", Name(heap.data.top), count))
    low.w.leave_if(Binary(">", end, Number(MOST)))
    low.tapes.reserve(heap.data, count)
    low.w.write(Assign(heap.data.top, end))


def made(low: Context, heap: Heap, count: Expr, item: Callable[[Expr], Any]) -> Held:
    """Return a new list of what ``item`` returns at each position."""
    found, first = begin(low, heap, count)
    with low.w.over((count,)) as (at,):
        put(low, heap.data.layout, low.w.assign("at", Binary("+", first, at)), item(at))
    return found


def held(low: Context, heap: Heap, value: Value) -> Held:
    """Return a list as one that stands in others: the same one if it does already."""
    if isinstance(value, Held) and value.heap is heap:
        return value
    value = low.ready(value)
    if isinstance(value, Kept) and value.held is not None and value.held.heap is heap:
        return value.held
    if isinstance(value, Rows) and value.layout is None:
        return begin(low, heap, ZERO)[0]
    return made(low, heap, low.w.named("count", count_of(value)),
                lambda at: item_at(low, value, at))


def put_held(low: Context, layout: Held, place: Expr, value: Value) -> None:
    """Store a list as an item of one."""
    found = held(low, layout.heap, value)
    if not found.new:
        shared(low, found)
    low.w.write(Store(layout.at.buffer, (place,), low.ready(found.at).expr))


def add_to_held(low: Context, layout: Held, place: Expr, value: Value) -> None:
    """Add the items of a list to those of an item, as to one that nobody else holds."""
    w, heap = low.w, layout.heap
    at = w.assign("number", Element(layout.at.buffer, (place,)))
    with w.inside(Body()) as apart:
        old = read(low, Held(heap, Num(at, INT, LENGTH)))
        new = made(low, heap, old.length, lambda at: item_at(low, old, at))
        w.write(Store(layout.at.buffer, (place,), new.at.expr))
    w.write(When(Element(heap.objects.slots[2].buffer, (at,)), apart, Body()))
    into, value = read(low, low.tapes.item(layout, place, "number")), low.ready(value)
    if isinstance(value, Rows) and value.layout is None:
        w.leave_if(Binary("!=", into.length, ZERO))
        return
    differ(low, into.length, count_of(value))
    with w.over((into.length,)) as (i,):
        put(low, heap.data.layout, w.assign("at", Binary("+", into.start, i)),
            item_at(low, value, i), True)


def deep(low: Context, layout: Any, of: Any, zeros: bool = False) -> Any:
    """Return a copy of an item of a list of a layout, which shares nothing with it; or its zero."""
    if isinstance(layout, Several):
        return Several(tuple(deep(low, *pair, zeros)
                             for pair in zip(layout.items, of.items, strict=True)))
    if not isinstance(layout, Held):
        return zero(layout.dtype) if zeros else of
    items, heap = low.ready(of), layout.heap
    if isinstance(items, Rows) and items.layout is None:
        return begin(low, heap, ZERO)[0]
    return made(low, heap, low.w.named("count", count_of(items)), lambda at: deep(
        low, heap.data.layout, item_at(low, items, at), zeros))


def grown(low: Context, of: Kept, value: Buffer) -> Held:
    """Append an item to a list where it is; all items move if others stand behind them."""
    w, here = low.w, of.held
    assert here is not None
    low.tapes.grown += 1
    heap, at = here.heap, low.ready(here.at).expr
    begins, counts, _ = heap.objects.slots
    end = Binary("+", of.start, of.length)
    with w.inside(Body()) as moved:
        first = w.assign("begin", Name(heap.data.top))
        room(low, heap, of.length)
        with w.over((of.length,)) as (i,):
            put(low, heap.data.layout, w.assign("at", Binary("+", first, i)), item_at(low, of, i))
        w.write(Store(begins.buffer, (at,), first))
    w.write(When(Binary("!=", end, Name(heap.data.top)), moved, Body()))
    last = w.assign("last", Name(heap.data.top))
    room(low, heap, ONE)
    put(low, heap.data.layout, last, value)
    w.write(Store(counts.buffer, (at,), Binary("+", of.length, ONE)))
    return here


def shortened(low: Context, of: Kept) -> Held:
    """Take the last item off a list where it is."""
    assert of.held is not None
    low.tapes.grown += 1
    low.w.leave_if(Binary("<=", of.length, ZERO))
    counts = of.held.heap.objects.slots[1]
    low.w.write(Store(counts.buffer, (low.ready(of.held.at).expr,),
                      Binary("-", of.length, ONE)))
    return of.held


def given(low: Context, form: Any, counts: str, items: Rows) -> Held:
    """Return the layout of lists that are arguments: how long each one is, and all their items."""
    w, heap = low.w, heap_of(low, form)
    numbers, offset = w.fresh("numbers"), w.fresh("offset")
    w.write(Make(numbers, (Extent(counts, 0),), INT))
    w.write(Assign(offset, ZERO))
    all_items = Tape("", layout=items.layout)
    with w.over((Extent(counts, 0),)) as (at,):
        count = w.assign("count", Element(counts, (at,)))
        one = held(low, heap, Kept(all_items, Name(offset), count))
        w.write(Store(numbers, (at,), one.at.expr))
        w.write(Assign(offset, Binary("+", Name(offset), count)))
    return Held(heap, Slot(numbers, INT, LENGTH))


def apart(low: Context, layout: Held, length: Expr) -> tuple[str, Rows]:
    """Return the lengths of so many lists that are items of one, and all their items."""
    w = low.w
    total, counts = w.fresh("total"), w.fresh("counts")
    w.write(Assign(total, ZERO))
    w.write(Make(counts, (length,), INT))
    with w.over((length,)) as (at,):
        count = read(low, low.tapes.item(layout, at, "number")).length
        w.write(Store(counts, (at,), count))
        w.write(Assign(total, Binary("+", Name(total), count)))
    low.arrays.hint = "items"
    items: Rows = new(low, layout.heap.form, w.assign("count", Name(total)))
    offset = w.fresh("offset")
    w.write(Assign(offset, ZERO))
    with w.over((length,)) as (at,):
        one = read(low, low.tapes.item(layout, at, "number"))
        with w.over((one.length,)) as (i,):
            put(low, items.layout, w.assign("at", Binary("+", Name(offset), i)),
                item_at(low, one, i))
        w.write(Assign(offset, Binary("+", Name(offset), one.length)))
    return counts, items

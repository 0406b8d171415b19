"""What calls keep for their pullbacks: records in two flat buffers, of floats and of integers.

The calls of a function that calls itself are a tree of which nobody knows the depth. Each one puts
what its pullback reads behind what the calls before have put there, and returns the place: records
hold the places of those of inner calls as numbers. A record begins, among the integers, with where
its floats begin; then all numbers follow that each record of the function has. Elements of arrays
and items of lists stand in places of their own, which the record holds. Nothing is removed.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, SINGLE, Binary, Body, Choose, Element, Expr, Extent, Leave, Make, Name,
    Number, Store, View, When,
)
from adcompiler.backends.native.lower.tapes import parts_of
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Backwards, Buffer, Cut, Declined, Flattened, Fused, Inner, Kept, Known, Num,
    Record, Rows, Several, Slot, Span, Tape, Value,
)
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

ZERO, ONE = Number(0), Number(1)
INTS_TOP, FLOATS_TOP, SHORT = ZERO, ONE, Number(2)
"""What stands in the state of records: how far they are filled, whether there was no more room."""
STATES = 3
SOME = Name("")
"""Stands for a number in the shape of a value that is not at hand."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """The names of the buffers of records: of their state, of floats, of integers."""

    state: str
    floats: str
    ints: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number stands in a record, among the floats or the integers."""

    at: int
    dtype: str
    bound: int
    isset: Place | None = None


@dataclass(frozen=True, slots=True)
class Given:
    """Stands for an array that is an argument: the one at a position among those at hand."""

    at: int


@dataclass(frozen=True, slots=True)
class PlacedArray:
    """Where an array stands: where its elements begin is in the record, with its lengths."""

    start: Place
    shape: tuple[Place, ...]
    dtype: str
    isset: Place | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PlacedList:
    """Where a list stands: its items are records without a beginning, one behind the other."""

    floats: Place
    ints: Place
    length: Place
    item: Layout


@dataclass(eq=False, slots=True)
class Layout:
    """Where the parts of what is kept stand, and how many numbers these are.

    ``given`` are names of arguments that are kept as they are: who calls has them at hand.
    """

    value: Any = None
    floats: int = 0
    ints: int = 0
    given: tuple[str, ...] = ()

    def number(self, dtype: str, bound: int, has_flag: bool = False) -> Place:
        """Return the place of one more number."""
        if dtype not in (FLOAT, INT, BOOL):
            raise Declined(f"a function that calls itself keeps numbers of {dtype}")
        flag = self.number(BOOL, 1) if has_flag else None
        if dtype == FLOAT:
            self.floats += 1
            return Place(self.floats - 1, dtype, bound, flag)
        self.ints += 1
        return Place(self.ints - 1, dtype, bound, flag)

    def placed(self, value: Value) -> Any:
        """Return where the parts of a value go; what is known for all calls goes nowhere."""
        match value:
            case Num(Number(), isset=None) | Known() | None | int() | Number():
                return value
            case Num(_, dtype, bound, isset):
                return self.number(dtype, bound, isset is not None)
            case Record(of, at, arrays):
                return Record(of, self.placed(at), tuple(map(self.placed, arrays)))
            case Several(items):
                return Several(tuple(map(self.placed, items)))
            case Span() | Cut() | Backwards():
                return type(value)(*map(self.placed, parts_of(value)))
            case Buffer(name) if name in self.given:
                return Given(self.given.index(name))
            case Buffer(_, dtype, shape, isset) if dtype != SINGLE:
                flag = None if isset is None else self.number(BOOL, 1)
                return PlacedArray(self.number(INT, WIDE), tuple(
                    self.number(INT, LENGTH) for _ in shape), dtype, flag)
            case Kept() | Rows() if (item := shape_of_item(value)) is not None:
                inner = Layout()
                inner.value = inner.placed(item)
                return PlacedList(self.number(INT, WIDE), self.number(INT, WIDE),
                                  self.number(INT, LENGTH), inner)
        raise Declined("what a function that calls itself keeps for its pullback is neither "
                       "numbers, arrays nor lists of such")


def layout_of(value: Value, given: Sequence[str]) -> Layout:
    """Return how records of values like this one lie; the first integer tells of the floats.

    ``given`` are the names of arguments that whoever calls has at hand when they are read.
    """
    found = Layout(ints=1, given=tuple(given))
    found.value = found.placed(value)
    return found


def shape_of_item(value: Kept | Rows) -> Any:
    """Return what stands for an item of a list; None if nothing is known of it."""
    return template(value.tape.layout if isinstance(value, Kept) else value.layout)


def template(layout: Any) -> Any:
    """Return what stands for a value that is laid out on a tape."""
    match layout:
        case Slot(_, dtype, bound, flag):
            return Num(SOME, dtype, bound, None if flag is None else SOME)
        case Record(of, at, arrays):
            return Record(of, template(at), tuple(map(template, arrays)))
        case Several(items):
            return Several(tuple(map(template, items)))
        case Span() | Cut() | Backwards():
            return type(layout)(*map(template, parts_of(layout)))
        case Flattened(data, _, shape, flag, False):
            return Buffer("", data.slots[0].dtype, (SOME,) * len(shape),
                          None if flag is None else SOME)
        case Inner(tape):
            return Kept(tape, SOME, SOME)
        case Num() | Known() | int() | Number() | None:
            return layout
    raise Declined("what a function that calls itself keeps for its pullback is neither "
                   "numbers, arrays nor lists of such")


@dataclass
class Records:
    """Writes and reads records in the buffers of the function that ``low`` lowers."""

    low: Context
    buffers: Buffers
    given: tuple[Buffer, ...] = ()
    tapes: dict[PlacedList, Tape] = field(default_factory=dict)

    # -- writing -------------------------------------------------------------------------------

    def push(self, layout: Layout, value: Buffer | Fused | Num) -> Expr:
        """Write a record, and return its place."""
        w = self.low.w
        ints, floats = self.take(Number(layout.ints), Number(layout.floats))
        w.write(Store(self.buffers.ints, (ints,), floats))
        self.put(layout.value, value, ints, floats)
        return ints

    def take(self, ints: Expr, floats: Expr) -> tuple[Name, Name]:
        """Return places for so many numbers; where there are none, say so and give up."""
        w, state = self.low.w, self.buffers.state
        ints_at = w.assign("ints_at", Element(state, (INTS_TOP,)))
        floats_at = w.assign("floats_at", Element(state, (FLOATS_TOP,)))
        ints_end = w.assign("ints_end", plus(ints_at, ints))
        floats_end = w.assign("floats_end", plus(floats_at, floats))
        full = Binary("or", Binary(">", ints_end, Extent(self.buffers.ints, 0)),
                      Binary(">", floats_end, Extent(self.buffers.floats, 0)))
        w.write(When(full, Body([Store(state, (SHORT,), ONE), Leave()]), Body()))
        w.write(Store(state, (INTS_TOP,), ints_end))
        w.write(Store(state, (FLOATS_TOP,), floats_end))
        return ints_at, floats_at

    def put(self, places: Any, value: Value, ints: Expr, floats: Expr) -> None:
        """Store the parts of a value."""
        match places, value:
            case Place(), Num(expr, isset=isset):
                self.store(places, expr, ints, floats)
                if places.isset is not None:
                    flag = Number(True) if isset is None else isset
                    self.store(places.isset, flag, ints, floats)
            case Record(_, at, slots), Record(_, here, arrays):
                for slot, item in zip((at, *slots), (here, *arrays), strict=True):
                    self.put(slot, item, ints, floats)
            case Several(slots), Several(items):
                for slot, item in zip(slots, items, strict=True):
                    self.put(slot, item, ints, floats)
            case (Span() | Cut() | Backwards()), _:
                for slot, item in zip(parts_of(places), parts_of(value), strict=True):
                    self.put(slot, item, ints, floats)
            case PlacedArray(), Buffer():
                self.put_array(places, value, ints, floats)
            case PlacedList(), Kept() | Rows():
                self.put_list(places, value, ints, floats)

    def store(self, place: Place, expr: Expr, ints: Expr, floats: Expr) -> None:
        """Store a number."""
        if place.dtype == FLOAT:
            self.low.w.write(Store(self.buffers.floats, (plus(floats, place.at),), expr))
            return
        if place.dtype == BOOL:
            expr = Choose(expr, ONE, ZERO)
        self.low.w.write(Store(self.buffers.ints, (plus(ints, place.at),), expr))

    def put_array(self, places: PlacedArray, value: Buffer, ints: Expr, floats: Expr) -> None:
        """Store where an array goes, and its elements."""
        w = self.low.w
        size = w.named("size", functools.reduce(lambda a, b: Binary("*", a, b), value.shape))
        floating = places.dtype == FLOAT
        taken = self.take(ZERO, size) if floating else self.take(size, ZERO)
        start = taken[floating]
        self.store(places.start, start, ints, floats)
        if places.isset is not None:
            flag = Number(True) if value.isset is None else value.isset
            self.store(places.isset, flag, ints, floats)
        for place, length in zip(places.shape, value.shape, strict=True):
            self.store(place, length, ints, floats)
        part = w.fresh("kept")
        of = self.buffers.floats if floating else self.buffers.ints
        w.write(View(part, of, start, value.shape))
        with w.over(value.shape) as at:
            item: Expr = Element(value.name, at)
            if places.dtype == BOOL:
                item = Choose(item, ONE, ZERO)
            w.write(Store(part, at, item))

    def put_list(self, places: PlacedList, value: Kept | Rows, ints: Expr, floats: Expr) -> None:
        """Store where the items of a list go, and these."""
        w, item = self.low.w, places.item
        length = w.named("length", value.length)
        ints_at, floats_at = self.take(times(length, item.ints), times(length, item.floats))
        for place, expr in ((places.ints, ints_at), (places.floats, floats_at),
                            (places.length, length)):
            self.store(place, expr, ints, floats)
        layout = value.tape.layout if isinstance(value, Kept) else value.layout
        with w.over((length,)) as (at,):
            where = Binary("+", value.start, at) if isinstance(value, Kept) else at
            found = self.low.tapes.item(layout, where, "item")
            self.put(item.value, found, *self.item_at(item, ints_at, floats_at, at))

    def item_at(self, item: Layout, ints: Expr, floats: Expr, at: Expr) -> tuple[Expr, Expr]:
        """Return where the numbers of an item of a list stand."""
        w = self.low.w
        return (w.named("ints_at", Binary("+", ints, times(at, item.ints))),
                w.named("floats_at", Binary("+", floats, times(at, item.floats))))

    # -- reading -------------------------------------------------------------------------------

    def read(self, layout: Layout, record: Record) -> Any:
        """Return what a record holds."""
        w, at = self.low.w, record.at.expr
        self.given = record.arrays
        w.leave_if(Binary("<", at, ONE))
        floats = w.assign("floats_at", Element(self.buffers.ints, (at,)))
        return self.value(layout.value, at, floats, "saved")

    def value(self, places: Any, ints: Expr, floats: Expr, hint: str) -> Any:
        """Return the parts of a value, which are read now; arrays stay where they are."""
        match places:
            case Place(_, dtype, bound, flag):
                isset = None if flag is None else self.load(flag, ints, floats, "is_set")
                return Num(self.load(places, ints, floats, hint), dtype, bound, isset)
            case Record(of, at, arrays):
                return Record(of, self.value(at, ints, floats, "record"), tuple(
                    self.value(one, ints, floats, hint) for one in arrays))
            case Given(at):
                return self.given[at]
            case Several(items):
                return Several(tuple(self.value(one, ints, floats, hint) for one in items))
            case Span() | Cut() | Backwards():
                found = [self.value(one, ints, floats, hint) for one in parts_of(places)]
                if isinstance(found[-1], Num) and not isinstance(places, Backwards):
                    found[-1] = found[-1].expr
                return type(places)(*found)
            case PlacedArray():
                return self.array(places, ints, floats, hint)
            case PlacedList():
                return self.list(places, ints, floats, hint)
        return places

    def load(self, place: Place, ints: Expr, floats: Expr, hint: str) -> Name:
        """Read a number."""
        w: Writer = self.low.w
        if place.dtype == FLOAT:
            return w.assign(hint, Element(self.buffers.floats, (plus(floats, place.at),)))
        found: Expr = Element(self.buffers.ints, (plus(ints, place.at),))
        return w.assign(hint, Binary("!=", found, ZERO) if place.dtype == BOOL else found)

    def array(self, places: PlacedArray, ints: Expr, floats: Expr, hint: str) -> Buffer:
        """Return an array that stands in a record."""
        w = self.low.w
        start = self.load(places.start, ints, floats, "start")
        shape = tuple(self.load(one, ints, floats, "length") for one in places.shape)
        isset = None if places.isset is None else self.load(places.isset, ints, floats, "is_set")
        name = w.fresh(hint)
        of = self.buffers.floats if places.dtype == FLOAT else self.buffers.ints
        w.write(View(name, of, start, shape))
        if places.dtype != BOOL:
            return Buffer(name, places.dtype, shape, isset, borrowed=True)
        made = w.fresh(hint)
        w.write(Make(made, shape, BOOL))
        with w.over(shape) as at:
            w.write(Store(made, at, Binary("!=", Element(name, at), ZERO)))
        return Buffer(made, BOOL, shape, isset, borrowed=True)

    def list(self, places: PlacedList, ints: Expr, floats: Expr, hint: str) -> Kept:
        """Return a list that stands in a record: its items on a tape."""
        w, tapes, item = self.low.w, self.low.tapes, places.item
        tape = self.tape(places, hint)
        length = self.load(places.length, ints, floats, "length")
        ints_at = self.load(places.ints, ints, floats, "ints_at")
        floats_at = self.load(places.floats, ints, floats, "floats_at")
        start = w.assign("start", Name(tape.top))
        tapes.reserve(tape, length)
        with w.over((length,)) as (at,):
            here = self.item_at(item, ints_at, floats_at, at)
            tapes.push(tape, self.value(item.value, *here, hint))
        return Kept(tape, start, length)

    def tape(self, places: PlacedList, hint: str) -> Tape:
        """Return the tape for items of a list, the same one for all lists at this place."""
        if places not in self.tapes:
            self.tapes[places] = self.low.tapes.tape(hint, self.shape(places.item.value, hint))
        return self.tapes[places]

    def shape(self, places: Any, hint: str) -> Any:
        """Return what stands for a value that is in a record."""
        match places:
            case Place(_, dtype, bound, flag):
                return Num(SOME, dtype, bound, None if flag is None else SOME)
            case Record(of, at, arrays):
                return Record(of, self.shape(at, hint), tuple(
                    self.shape(one, hint) for one in arrays))
            case Given(at):
                return self.given[at]
            case Several(items):
                return Several(tuple(self.shape(one, hint) for one in items))
            case Span() | Cut() | Backwards():
                return type(places)(*(self.shape(one, hint) for one in parts_of(places)))
            case PlacedArray(_, shape, dtype, flag):
                return Buffer("", dtype, (SOME,) * len(shape), None if flag is None else SOME)
            case PlacedList():
                return Kept(self.tape(places, hint), SOME, SOME)
        return places


def plus(expr: Expr, more: Expr | int) -> Expr:
    """Return a sum."""
    more = Number(more) if isinstance(more, int) else more
    return expr if more == ZERO else Binary("+", expr, more)


def times(expr: Expr, count: int) -> Expr:
    """Return a product."""
    if count in (0, 1):
        return expr if count else ZERO
    return Binary("*", expr, Number(count))


__all__ = ["Buffers", "Layout", "Records", "layout_of"]

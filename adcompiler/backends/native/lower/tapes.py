"""What loops collect, flat: a buffer for each number, filled as far as ``top``."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.backends.native.loops import (
    BOOL, EITHER, FLOAT, INT, NAUGHT, Assign, Binary, Body, Element, Expr, Extent, Make, Name,
    Number, Reserve, Store, View,
)
from adcompiler.backends.native.values import (
    LENGTH, UNSET, WIDE, Backwards, Buffer, Carried, Complex, Cut, Declined, Flattened, Heap, Held,
    Inner, Kept, Keyed, Known, Layout, Num, Record, Rows, Several, Slot, Span, Tape, Value, literal,
)
from adcompiler.backends.native.writer import Writer

ZERO, ONE = Number(0), Number(1)


class Tapes:
    """Makes tapes; ``opening`` are the rows at the start of the function that create them.

    ``heaps`` are those of lists in lists by their forms; ``grown`` counts the places where such a
    list changes its length.
    """

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.opening = Body()
        self.all: list[Tape] = []
        self.heaps: dict[Any, Heap] = {}
        self.grown = 0

    def tape(self, hint: str, value: Buffer | Kept | Num | Several) -> Tape:
        """Return a new tape for values like ``value``, which a loop's body ends with."""
        tape = Tape(self.w.fresh(f"{hint}_top"))
        self.opening.rows.append(Assign(tape.top, ZERO))
        tape.layout = self.layout(tape, hint, value)
        self.all.append(tape)
        return tape

    def layout(self, tape: Tape, hint: str, value: Value) -> Any:
        """Return where the parts of a value go; what is known for all iterations goes nowhere."""
        match value:
            case Num(Number()):
                return value
            case Num(_, dtype, bound, None):
                return self.slot(tape, hint, dtype, bound)
            case Num(_, dtype, bound, _):
                flag = self.slot(tape, f"{hint}_is_set", BOOL, 1)
                return replace(self.slot(tape, hint, dtype, bound), isset=flag)
            case Several(items):
                return Several(tuple(self.layout(tape, hint, item) for item in items))
            case Record(of, at, arrays):
                return Record(of, self.layout(tape, hint, at), tuple(
                    self.layout(tape, hint, one) for one in arrays))
            case Keyed(parts):
                return replace(value, parts={
                    key: self.layout(tape, f"{hint}_{key}", part) for key, part in parts.items()})
            case Declined():
                return value
            case Held(heap, at):
                return Held(heap, self.layout(tape, hint, at))
            case Complex(re, im):
                return Complex(self.layout(tape, f"{hint}_re", re),
                               self.layout(tape, f"{hint}_im", im))
            case Kept(inner, _, _, None):
                return Inner(inner, self.slot(tape, f"{hint}_start", INT, LENGTH),
                             self.slot(tape, f"{hint}_length", INT, LENGTH))
            case Rows(items) if items is not None:
                data = Tape(self.w.fresh(f"{hint}_items_top"))
                self.opening.rows.append(Assign(data.top, ZERO))
                data.layout = self.layout(data, f"{hint}_items", items)
                self.all.append(data)
                return Inner(data, self.slot(tape, f"{hint}_start", INT, LENGTH),
                             self.slot(tape, f"{hint}_length", INT, LENGTH))
            case Slot(_, dtype, bound):
                return self.slot(tape, hint, dtype, bound)
            case Known():
                return value
            case None | int() | Number():
                return value
            case Span() | Cut() | Backwards():
                return type(value)(*(self.layout(tape, hint, part) for part in parts_of(value)))
            case Carried():
                return replace(self.layout(tape, hint, as_buffer(value)), carried=True)
            case Flattened(of, _, shape, None, False):
                return self.layout(tape, hint, Buffer("", of.slots[0].dtype, shape))
            case Buffer(_, dtype, shape, isset):
                data = Tape(self.w.fresh(f"{hint}_elements_top"))
                self.opening.rows.append(Assign(data.top, ZERO))
                self.slot(data, f"{hint}_elements", dtype, WIDE)
                self.all.append(data)
                return Flattened(data, self.slot(tape, f"{hint}_start", INT, LENGTH), tuple(
                    self.slot(tape, f"{hint}_length", INT, LENGTH) for _ in shape
                ), None if isset is None else self.slot(tape, f"{hint}_is_set", BOOL, 1))
        raise Declined("what is no number or array is kept for each iteration of a loop")

    def slot(self, tape: Tape, hint: str, dtype: str, bound: int) -> Slot:
        """Return a new buffer of a tape."""
        slot = Slot(self.w.fresh(hint), dtype, bound)
        tape.slots.append(slot)
        stored = FLOAT if dtype in (EITHER, NAUGHT) else dtype
        self.opening.rows.append(Make(slot.buffer, (ZERO,), stored))
        return slot

    def reserve(self, tape: Tape, count: Expr) -> None:
        """Make room for so many more items."""
        size = Binary("+", Name(tape.top), count)
        for slot in tape.slots:
            self.w.write(Reserve(slot.buffer, size))

    def push(self, tape: Tape, value: Buffer | Kept | Num | Several) -> None:
        """Append a value."""
        self.put(tape, tape.layout, value)
        self.w.write(Assign(tape.top, Binary("+", Name(tape.top), ONE)))

    def put(self, tape: Tape, layout: Any, value: Value) -> None:
        """Store the parts of a value at the top."""
        match layout, value:
            case Slot(buffer), Num(expr):
                self.w.write(Store(buffer, (Name(tape.top),), expr))
                if layout.isset is not None:
                    flag = Number(True) if value.isset is None else value.isset
                    self.w.write(Store(layout.isset.buffer, (Name(tape.top),), flag))
            case Held(_, slot), Held(_, at):
                self.put(tape, slot, at)
            case Complex(), Complex():
                self.put(tape, layout.re, value.re)
                self.put(tape, layout.im, value.im)
            case Several(slots), Several(items):
                for slot, item in zip(slots, items, strict=True):
                    self.put(tape, slot, item)
            case Record(_, place, slots), Record(_, at, arrays):
                for slot, item in zip((place, *slots), (at, *arrays), strict=True):
                    self.put(tape, slot, item)
            case (Span() | Cut() | Backwards()), (Span() | Cut() | Backwards()):
                for slot, item in zip(parts_of(layout), parts_of(value), strict=True):
                    self.put(tape, slot, item)
            case Keyed(places), Keyed(parts):
                for key, slot in places.items():
                    self.put(tape, slot, parts[key])
            case Inner(data, start, length), Rows():
                self.put_items(tape, data, value)
                self.w.write(Store(start.buffer, (Name(tape.top),), Binary(
                    "-", Name(data.top), value.length)))
                self.w.write(Store(length.buffer, (Name(tape.top),), value.length))
            case Flattened(), Buffer() | Carried():
                self.put_elements(tape, layout, as_buffer(value))
            case Inner(_, start, length), Kept():
                self.w.write(Store(start.buffer, (Name(tape.top),), value.start))
                self.w.write(Store(length.buffer, (Name(tape.top),), value.length))

    def put_items(self, tape: Tape, data: Tape, value: Rows) -> None:
        """Append the items of a list to a tape of their own."""
        self.reserve(data, value.length)
        with self.w.over((value.length,)) as (at,):
            self.push(data, self.item(value.layout, at, "item"))

    def put_elements(self, tape: Tape, layout: Flattened, value: Buffer) -> None:
        """Append the elements of an array, and store where they start."""
        w, data = self.w, layout.data
        (slot,) = data.slots
        here = (Name(tape.top),)
        w.write(Store(layout.start.buffer, here, Name(data.top)))
        if layout.isset is not None:
            flag = Number(True) if value.isset is None else value.isset
            w.write(Store(layout.isset.buffer, here, flag))
        elif value.isset is not None:
            raise Declined("an array that may have no value is kept for each iteration of a loop")
        for length_slot, length in zip(layout.shape, value.shape, strict=True):
            w.write(Store(length_slot.buffer, here, length))
        size = functools.reduce(lambda a, b: Binary("*", a, b), value.shape)
        self.reserve(data, size)
        part = w.fresh("top")
        w.write(View(part, slot.buffer, Name(data.top), value.shape))
        with w.over(value.shape) as places:
            w.write(Store(part, places, Element(value.name, places)))
        w.write(Assign(data.top, Binary("+", Name(data.top), size)))

    def item(self, layout: Any, position: Expr, hint: str) -> Any:
        """Return the item that a tape keeps at a position; the parts of it are read now."""
        w = self.w
        match layout:
            case Slot(buffer, dtype, bound, flag):
                isset = None
                if flag is not None:
                    isset = w.assign(flag.buffer, Element(flag.buffer, (position,)))
                return Num(w.assign(hint, Element(buffer, (position,))), dtype, bound, isset)
            case Held(heap, slot):
                return Held(heap, self.item(slot, position, hint))
            case Complex(re, im):
                return Complex(self.item(re, position, f"{hint}_re"),
                               self.item(im, position, f"{hint}_im"))
            case Several(slots):
                return Several(tuple(self.item(slot, position, hint) for slot in slots))
            case Record(of, slot, slots):
                return Record(of, self.item(slot, position, hint), tuple(
                    self.item(one, position, hint) for one in slots))
            case Span() | Cut() | Backwards():
                found = [self.item(slot, position, hint) for slot in parts_of(layout)]
                if isinstance(found[-1], Num):
                    found[-1] = found[-1].expr
                return type(layout)(*found)
            case Keyed(places):
                return replace(layout, parts={
                    key: self.item(slot, position, hint) for key, slot in places.items()})
            case Flattened(data, start, shape, flag, carried):
                first = w.assign("start", Element(start.buffer, (position,)))
                lengths = tuple(
                    w.assign("length", Element(slot.buffer, (position,))) for slot in shape
                )
                slot = data.slots[0]
                name = w.fresh(hint)
                w.write(View(name, slot.buffer, first, lengths))
                isset = None
                if flag is not None:
                    isset = w.assign(flag.buffer, Element(flag.buffer, (position,)))
                if carried:
                    return Carried(name, slot.dtype, len(lengths))
                return Buffer(name, slot.dtype, lengths, isset, borrowed=True)
            case Inner(tape, start, length):
                first = w.assign("start", Element(start.buffer, (position,)))
                count = w.assign("length", Element(length.buffer, (position,)))
                return Kept(tape, first, count)
        return layout


def parts_of(value: Value) -> tuple[Any, ...]:
    """Return what a range, a slice or something reversed consists of: a step as a number too."""
    if isinstance(value, Backwards):
        return (value.of,)
    if not isinstance(value, (Span, Cut)):
        raise Declined("what is no range or slice is kept as one")
    first, last = (value.start, value.stop) if isinstance(value, Span) else (
        value.lower, value.upper)
    step = value.step
    known = step is None or isinstance(step, (int, Number, Slot))
    return first, last, step if known else Num(step, INT)


def as_buffer(value: Buffer | Carried) -> Buffer:
    """Return an array as one with the lengths of its axes."""
    if isinstance(value, Buffer):
        return value
    return Buffer(value.name, value.dtype, tuple(
        Extent(value.name, axis) for axis in range(value.ndim)))


def tapes_in(value: Value | Layout | None) -> set[Tape]:
    """Return the tapes that a value is kept on, those of lists in lists too."""
    match value:
        case Kept(tape, _, _) | Inner(tape, _, _):
            return {tape} | tapes_in(tape.layout)
        case Flattened(data):
            return {data}
        case Backwards(of):
            return tapes_in(of)
        case Several(items):
            return {tape for item in items for tape in tapes_in(item)}
        case Keyed(parts):
            return {tape for item in parts.values() for tape in tapes_in(item)}
    return set()


def is_placeholder(value: Value) -> bool:
    """Say whether a value stands for nothing: None, or a variable not assigned to."""
    return isinstance(value, Known) and (value is UNSET or value.value is None)


def constant(value: object) -> Any:
    """Return a Python value as a value of the loop IR: a literal, a tuple of such, or known."""
    if isinstance(value, tuple) and type(value) is tuple:
        return Several(tuple(map(constant, value)))
    if isinstance(value, complex) and type(value) in (complex, np.complex128):
        return Complex(literal(float(value.real)), literal(float(value.imag)))
    found = literal(value)
    return Known(value) if found is None else found

"""Writes rows of the loop IR: fresh names, checks, and what is known of integers."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from adcompiler.backends.native.helpers import TEXTS
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, SHORT, SINGLE, Apply, Assign, Binary, Bind, Body, Choose, Element, Expr,
    Extent, Flat, For, Leave, Name, Note, Number, Part, Row, Store, Turn, Unary, View, rows_of,
)
from adcompiler.backends.native.values import (
    EXACT, POSITION, WIDE, Buffer, Declined, Num, is_simple,
)
from adcompiler.support.structs import dataclass

RESERVED = frozenset({
    "range", "float", "int", "max", "min", "len", "math", "np", "compiled", *TEXTS,
    "errors", "errors_now", "in_parallel", "prange", "answer_of", "stack_address",
})
ZERO, ONE = Number(0), Number(1)


@dataclass(frozen=True, slots=True)
class Raising:
    """What the function that is being written raises: for a divisor of zero, for its number
    ``outside`` of a domain (comparisons with bounds), and where its result is not finite.
    """

    zero: type[BaseException] | None = None
    outside: tuple[tuple[str, float], ...] = ()
    overflow: bool = False


class Writer:
    """The rows written so far, the names taken, and what names of integers stand for.

    ``given`` are the names of arrays that are arguments, which are bound nowhere else.
    """

    def __init__(self) -> None:
        self.body = Body()
        self.taken: set[str] = set(RESERVED)
        self.given: set[str] = set()
        self.defined: dict[str, Expr] = {}
        self.spans: dict[str, tuple[Expr, Expr]] = {}
        self.storage: dict[str, str] = {}
        self.failed = ""
        self.attempts: list[frozenset[str]] = []
        self.exceptions: list[type[BaseException]] = []
        self.raising = Raising()
        self.noted = ""
        self.alike: dict[Expr, tuple[Expr | None, int]] = {}

    def fresh(self, hint: str) -> str:
        """Return a name like ``hint`` that nothing has yet."""
        base = re.sub(r"\W", "_", hint, flags=re.ASCII).rstrip("_") or "value"
        if base[0].isdigit() or keyword.iskeyword(base):
            base = f"_{base}"
        name, number = base, 1
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    def write(self, row: Row) -> None:
        """Append a row."""
        if isinstance(row, (Bind, Part, Turn, View)):
            of = row.buffer.buffer if isinstance(row.buffer, Flat) else row.buffer
            self.may_share(row.name, of)
        self.body.rows.append(row)

    def may_share(self, *names: str) -> None:
        """Note that buffers may share storage."""
        for name in names[1:]:
            self.storage[self.root(name)] = self.root(names[0])

    def root(self, name: str) -> str:
        """Return the name that stands for all buffers that may share storage with this one."""
        while name in self.storage and self.storage[name] != name:
            name = self.storage[name]
        return name

    def note(self, text: str) -> None:
        """Write a comment, once for what follows."""
        if text != self.noted:
            self.noted = text
            self.write(Note(text))

    @contextmanager
    def inside(self, body: Body) -> Iterator[Body]:
        """Write into ``body`` meanwhile."""
        outer, noted, known = self.body, self.noted, len(self.alike)
        self.body = body
        try:
            yield body
        finally:
            self.body, self.noted = outer, noted
            forget(self.alike, known)

    def assign(self, hint: str, expr: Expr) -> Name:
        """Give an expression a name of its own."""
        name = self.fresh(hint)
        self.defined[name] = expr
        self.write(Assign(name, expr))
        return Name(name)

    def named(self, hint: str, expr: Expr) -> Expr:
        """Give an expression a name unless it costs nothing to write twice."""
        return expr if is_simple(expr) else self.assign(hint, expr)

    def leave_if(self, test: Expr, raises: type[BaseException] | None = None) -> None:
        """Leave the rest to Python where the test holds: now, or behind the loop that may fail.

        ``raises`` is the class of what Python raises then for sure.
        """
        if self.failed:
            self.write(Assign(self.failed, Binary("|", Name(self.failed), test)))
        else:
            self.write(Leave(test, raises))

    @contextmanager
    def failing(self, late: bool) -> Iterator[None]:
        """Leave behind the loop written meanwhile if tests held in it, with ``late``: it goes on.

        A loop without ways out of it is one that compilers make vectors of.
        """
        outer, place = self.failed, len(self.body.rows)
        rows = self.body.rows
        self.failed = self.fresh("failed") if late else ""
        try:
            yield
        finally:
            name, self.failed = self.failed, outer
        if any(isinstance(row, Assign) and row.name == name for one in rows[place:]
               for row in rows_of(Body([one]))):
            rows.insert(place, Assign(name, Number(False)))
            self.leave_if(Name(name))

    def narrowed(self, number: Num, bound: int) -> Num:
        """Return an integer that is at most ``bound`` in size, else Python's integers take over."""
        if number.dtype != INT or number.bound <= bound:
            return number
        expr = self.named("whole", number.expr)
        self.leave_if(Binary("or", Binary("<", expr, Number(-bound)),
                             Binary(">", expr, Number(bound))))
        return Num(expr, INT, bound)

    def as_float(self, number: Num) -> Num:
        """Return a number as float64, exactly; which one rounds to is for `singles` to tell."""
        if number.dtype == FLOAT:
            return number
        if number.dtype in SHORT:
            raise Declined("a float32 where there are loops for float64 only")
        if number.dtype == BOOL:
            raise Declined("a truth value is used as a number")
        number = self.narrowed(number, EXACT)
        if isinstance(number.expr, Number):
            return Num(Number(float(number.expr.value)), FLOAT)
        return Num(Apply("float", (number.expr,)), FLOAT)

    def finite(self, hint: str, expr: Expr) -> Num:
        """Return the value of a function; where it is not finite Python tells what happens."""
        name = self.assign(hint, expr)
        self.leave_if(Unary("not", Apply("isfinite", (name,))))
        return Num(name, FLOAT)

    # -- integers ------------------------------------------------------------------------------

    def least(self, expr: Expr) -> int | None:
        """Return what an integer is at least, if that is known."""
        match expr:
            case Number(int() as value):
                return value
            case Extent():
                return 0
            case Name(name) if name in self.spans:
                return self.least(self.spans[name][0])
            case Name(name) if name in self.defined:
                return self.least(self.defined[name])
            case Binary("+", left, right):
                a, b = self.least(left), self.least(right)
                return None if a is None or b is None else a + b
            case Binary("-", left, Number(int() as value)):
                a = self.least(left)
                return None if a is None else a - value
        return None

    def affine(self, expr: Expr) -> tuple[Expr | None, int]:
        """Return an integer as something and a constant added to it."""
        match expr:
            case Number(int() as value):
                return None, value
            case Name(name) if name in self.defined and isinstance(
                self.defined[name], (Name, Number, Extent, Binary, Choose)
            ):
                return self.affine(self.defined[name])
            case Binary("+", left, Number(int() as value)):
                base, constant = self.affine(left)
                return base, constant + value
            case Binary("+", Number(int() as value), right):
                base, constant = self.affine(right)
                return base, constant + value
            case Binary("-", left, Number(int() as value)):
                base, constant = self.affine(left)
                return base, constant - value
        return expr, 0

    def is_below(self, expr: Expr, limit: Expr) -> bool:
        """Say whether an integer is less than another one for sure."""
        end, most = self.affine(limit)
        base, constant = self.affine(expr)
        for _ in range(16):
            if base == end:
                return constant < most
            if base is None and end is not None:
                least = self.least(end)
                return least is not None and constant < least + most
            if not isinstance(base, Name) or base.name not in self.spans:
                return False
            base, more = self.affine(self.spans[base.name][1])
            constant += more - 1
        return False

    def same_length(self, a: Expr, b: Expr) -> bool:
        """Say whether two lengths are the same for sure."""
        return self.stands_for(a) == self.stands_for(b)

    def expect_length(self, a: Expr, b: Expr) -> None:
        """Leave lengths that differ to Python; from here on, in this body, they are the same."""
        if self.same_length(a, b):
            return
        self.leave_if(Binary("!=", a, b))
        (base, more), (other, less) = self.stands_for(a), self.stands_for(b)
        if base is None:
            (base, more), (other, less) = (other, less), (base, more)
        if base not in (None, other) and not self.failed:
            self.alike[base] = other, less - more

    def stands_for(self, length: Expr) -> tuple[Expr | None, int]:
        """Return what stands for all lengths that are known to be the same as one."""
        base, constant = self.affine(length)
        while base is not None and base in self.alike:
            base, more = self.alike[base]
            constant += more
        return base, constant

    def position(self, index: Num, length: Expr) -> Expr:
        """Return an index as a position on an axis, as Python counts, within its bounds."""
        if index.dtype != INT:
            raise Declined("a subscript is no integer")
        index = self.narrowed(index, POSITION)
        expr = index.expr
        least = self.least(expr)
        if least is None or least < 0:
            if least is not None and isinstance(expr, Number):
                expr = Binary("-", length, Number(-least))
            else:
                given = self.named("index", expr)
                expr = Choose(Binary("<", given, ZERO), Binary("+", given, length), given)
            expr = self.named("index", expr)
            self.leave_if(Binary("or", Binary("<", expr, ZERO), Binary(">=", expr, length)),
                          IndexError)
        elif not self.is_below(expr, length):
            expr = self.named("index", expr)
            self.leave_if(Binary(">=", expr, length), IndexError)
        return expr

    # -- buffers -------------------------------------------------------------------------------

    def element(self, buffer: Buffer, indices: Sequence[Num], hint: str) -> Num:
        """Read an element, now."""
        return Num(self.assign(hint, Element(buffer.name, self.places(buffer, indices))),
                   buffer.dtype)

    def places(self, buffer: Buffer, indices: Sequence[Num]) -> tuple[Expr, ...]:
        """Return indices as positions, one for each axis."""
        return tuple(
            self.position(index, length)
            for index, length in zip(indices, buffer.shape, strict=True)
        )

    def store(self, buffer: Buffer, places: tuple[Expr, ...], value: Num, adds: bool) -> None:
        """Write into an element, as arrays convert what is put into them."""
        if buffer.dtype == FLOAT:
            value = as_double(self, value)
        elif buffer.dtype == SINGLE:
            if adds and value.dtype != SINGLE:
                raise Declined("a number of another precision is added to an array of float32")
            value = single(self, value)
            if adds:  # what later passes read of it is rounded, too
                total = Binary("+", Element(buffer.name, places), value.expr)
                value, adds = Num(Apply("np.float32", (total,)), SINGLE), False
        elif buffer.dtype != value.dtype or (adds and buffer.dtype != FLOAT):
            raise Declined(f"a {value.dtype} is put into an array of {buffer.dtype}")
        self.write(Store(buffer.name, places, value.expr, adds))

    @contextmanager
    def over(self, shape: Sequence[Expr], visits: bool = False) -> Iterator[tuple[Expr, ...]]:
        """Write loops over all positions of ``shape`` around what is written meanwhile.

        With ``visits`` all arrays of which they read or store the element there have that shape.
        """
        places: list[Expr] = []
        outer, known = self.body, len(self.alike)
        for letter, length in zip("ijklmn", shape, strict=False):
            name = self.fresh(f"at_{letter}")
            self.spans[name] = (ZERO, length)
            inner = Body()
            whole = tuple(shape) if visits and not places else ()
            self.write(For(name, ZERO, length, inner, visits=whole))
            self.body = inner
            places.append(Name(name))
        try:
            yield tuple(places)
        finally:
            self.body = outer
            forget(self.alike, known)


def forget(alike: dict[Expr, tuple[Expr | None, int]], known: int) -> None:
    """Forget lengths that were found to be the same since so many were."""
    for one in list(alike)[known:]:
        del alike[one]


def whole(expr: Expr, bound: int = WIDE) -> Num:
    """Return an integer."""
    return Num(expr, INT, bound)


def as_double(w: Writer, number: Num) -> Num:
    """Return a number as float64, exactly, short floats too."""
    if number.dtype not in SHORT:
        return w.as_float(number)
    exact = isinstance(number.expr, Number)
    return Num(number.expr if exact else Apply("float", (number.expr,)), FLOAT)


def single(w: Writer, number: Num) -> Num:
    """Return a number as the nearest short float."""
    if number.dtype == SINGLE:
        return number
    expr = number.expr if number.dtype in SHORT else w.as_float(number).expr
    if isinstance(expr, Number):
        return Num(Number(float(np.float32(expr.value))), SINGLE)
    return Num(Apply("np.float32", (expr,)), SINGLE)

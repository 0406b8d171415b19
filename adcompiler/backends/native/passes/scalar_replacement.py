"""Elements that an iteration writes and the next one goes on with are kept in variables.

``x_bar[i] += a`` and ``x_bar[i + 1] += b`` meet the same element in two iterations: a processor
waits longer for what was just stored than for all of the arithmetic between. A window of
neighbouring elements moves along with the loop: each is read once, when the window comes to it, and
stored once, when it leaves it. Nothing is added in another order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Binary, Body, Element, Expr, Extent, For, Leave, Name, Number, Row,
    Store, When, rows_of,
)
from adcompiler.backends.native.passes.bounds_checks import shifted
from adcompiler.backends.native.reading import bound_by, elements_of, names_in, read_by, written_by
from adcompiler.backends.native.rewriting import with_elements
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

ZERO = Number(0)
WIDEST = 4
"""Elements further apart than this are not kept in variables."""

Key = tuple[tuple[Expr | None, int], ...]
"""Where elements stand on the other axes: something, and a constant added to it."""
Reads = list[tuple[Row, set[str]]]
"""Statements, with the names that each reads."""


@dataclass(frozen=True)
class Arrays:
    """Of a function: ``floats`` are arrays of floats that one statement makes.

    ``changing`` are names that several statements give a value, ``parts`` those and arrays that may
    be parts of others, or lie in another order than C's. ``alone`` have no other name.
    """

    floats: frozenset[str]
    changing: frozenset[str]
    parts: frozenset[str]
    alone: frozenset[str]

    def in_order(self, buffer: str) -> bool:
        """Say whether the elements of an array lie one behind the other, unless it is given so."""
        return buffer not in self.parts


@dataclass(frozen=True)
class Place:
    """An element: how far from the loop's position on an axis, and where on the others."""

    axis: int
    offset: int
    key: Key


@dataclass(frozen=True)
class Window:
    """Neighbouring elements of an array: from ``first`` to ``last``, counted from the position.

    ``place_of`` tells which element of the array subscripts mean.
    """

    buffer: str
    axis: int
    key: Key
    first: int
    last: int
    place_of: Callable[[tuple[Expr, ...]], Place | None]

    def kept(self, w: Writer, loop: For) -> tuple[list[Row], For, list[Row]]:
        """Return a loop that keeps the elements in variables, and what is in front and behind."""
        names = {c: w.fresh(f"{self.buffer}_near") for c in range(self.first, self.last + 1)}
        ahead, left = (self.first, self.last) if loop.down else (self.last, self.first)
        stay = [c for c in names if c != ahead]
        begin, end, less = (loop.stop, loop.start, 1) if loop.down else (loop.start, loop.stop, 0)
        read = {c: shifted(begin, c - less) for c in stay}
        runs = Binary("<", loop.start, loop.stop)
        front: list[Row] = [Assign(names[c], Number(0.0)) for c in stay]
        front.append(When(runs, Body([
            Leave(self.outside(read[min(stay)], read[max(stay)])),
            *(Assign(names[c], self.element(at)) for c, at in read.items()),
        ]), Body()))
        here = Name(loop.name)
        rows = self.renamed(loop.body.rows, names, ahead, Assign(
            names[ahead], self.element(shifted(here, ahead))))
        rows.append(Store(self.buffer, self.at(shifted(here, left)), Name(names[left])))
        step = -1 if loop.down else 1
        rows += [Assign(names[c], Name(names[c + step])) for c in sorted(stay, reverse=loop.down)]
        behind: list[Row] = [When(runs, Body([
            Store(self.buffer, self.at(shifted(end, c - less)), Name(names[c])) for c in stay
        ]), Body())]
        return front, replace(loop, body=Body(rows)), behind

    def at(self, along: Expr) -> tuple[Expr, ...]:
        """Return the subscripts of the element that stands at a position of the axis."""
        rest = [shifted(base, more) for base, more in self.key]
        return (*rest[: self.axis], along, *rest[self.axis :])

    def element(self, along: Expr) -> Element:
        """Return the element that stands at a position of the axis."""
        return Element(self.buffer, self.at(along))

    def outside(self, lowest: Expr, highest: Expr) -> Expr:
        """Return a test of whether elements that stay in the window are outside of the array."""
        below, above = self.at(lowest), self.at(highest)
        test: Expr = Binary("<", below[0], ZERO)
        tests = [Binary("<", index, ZERO) for index in below[1:]]
        tests += [
            Binary(">=", index, Extent(self.buffer, axis)) for axis, index in enumerate(above)
        ]
        for other in tests:
            test = Binary("or", test, other)
        return test

    def renamed(self, rows: list[Row], names: dict[int, str], ahead: int, read: Row) -> list[Row]:
        """Return statements with variables for the elements; ``read`` is put where one comes in."""

        def variable(element: Element) -> Expr:
            place = self.place_of(element.indices) if element.buffer == self.buffer else None
            if place is None or place.key != self.key:
                return element
            met.add(place.offset)
            return Name(names[place.offset])

        found: list[Row] = []
        met: set[int] = set()
        for row in rows:
            before = ahead in met
            match row:
                case Assign(name, value):
                    row = Assign(name, with_elements(value, variable))
                case Leave(test) if test is not None:
                    row = Leave(with_elements(test, variable))
                case Store(buffer, indices, value, adds):
                    value = with_elements(value, variable)
                    target = variable(Element(buffer, indices))
                    if isinstance(target, Name):
                        row = Assign(target.name, Binary("+", target, value) if adds else value)
                    else:
                        row = Store(buffer, tuple(with_elements(one, variable) for one in indices),
                                    value, adds)
            if not before and ahead in met:
                found.append(read)
            found.append(row)
        return found


@dataclass(frozen=True)
class Total:
    """An element that every iteration adds to, and that is not touched otherwise."""

    store: Store

    def kept(self, w: Writer, loop: For) -> tuple[list[Row], For, list[Row]]:
        """Return a loop that keeps the sum in a variable, and what is in front and behind."""
        buffer, indices = self.store.buffer, self.store.indices
        name = w.fresh(f"{buffer}_total")
        # By its array: a window on another one may have put variables into what is added.
        rows: list[Row] = [
            Assign(name, Binary("+", Name(name), row.value))
            if isinstance(row, Store) and row.buffer == buffer else row for row in loop.body.rows]
        runs = Binary("<", loop.start, loop.stop)
        read = Assign(name, Element(buffer, indices))
        front: list[Row] = [
            Assign(name, Number(0.0)), When(runs, Body([read]), Body())]
        behind: list[Row] = [
            When(runs, Body([Store(buffer, indices, Name(name))]), Body())]
        return front, replace(loop, body=Body(rows)), behind


def windows_of(w: Writer, loop: For, arrays: Arrays) -> list[Window | Total]:
    """Return the windows and totals of a loop that holds no other one."""
    rows = [(row, read_by(row)) for row in rows_of(loop.body)]
    stored = {row.buffer: 0 for row, _ in rows if isinstance(row, Store)}
    found: list[Window | Total] = []
    for buffer in stored:
        if buffer in arrays.floats:
            found += windows_on(w, loop, arrays, buffer, rows) or (
                totals_on(loop, arrays, buffer, rows))
    return found


def totals_on(loop: For, arrays: Arrays, buffer: str, read: Reads) -> list[Total]:
    """Return the element of an array that a loop adds to, if it touches no other one."""
    if buffer not in arrays.alone:
        return []
    bound = {loop.name, *(name for row, _ in read if (name := bound_by(row)))}
    if buffer in bound:
        return []
    match [row for row, names in read if buffer in names or buffer in written_by(row)]:
        case [Store(_, indices, _, True) as store] if (
            any(store is row for row in loop.body.rows) and not names_in(*indices) & bound
            and not elements_of(Store(buffer, indices, Number(0.0)))
            and all(one.buffer != buffer for one in elements_of(store))
        ):
            return [Total(store)]
    return []


def windows_on(w: Writer, loop: For, arrays: Arrays, buffer: str, read: Reads) -> list[Window]:
    """Return the windows on an array that a loop writes into; all of it has to be known."""
    root = w.root(buffer)
    touched = {name for _, names in read for name in names} - {buffer}
    if any(w.root(name) == root for name in touched):
        return []
    fixed = {loop.name, *(name for row, _ in read if (name := bound_by(row)))} | arrays.changing
    straight = {id(row) for row in loop.body.rows}

    def place_of(indices: tuple[Expr, ...]) -> Place | None:
        return place(w, indices, loop.name, fixed)

    groups: dict[tuple[int, Key], set[int]] = {}
    written: set[tuple[int, Key]] = set()
    for row, names in read:
        if buffer not in names:
            continue
        if id(row) not in straight or not isinstance(row, (Assign, Store, Leave)):
            return []
        indices = [one.indices for one in elements_of(row) if one.buffer == buffer]
        is_store = isinstance(row, Store) and row.buffer == buffer
        if isinstance(row, Store) and is_store:
            indices.append(row.indices)
        for one in indices:
            found = place_of(one)
            if found is None:
                return []
            groups.setdefault((found.axis, found.key), set()).add(found.offset)
        if is_store and found is not None:
            written.add((found.axis, found.key))
        elif not indices:
            return []
    if len({(axis, tuple(base for base, _ in key)) for axis, key in groups}) != 1:
        return []
    return [
        Window(buffer, axis, key, min(offsets), max(offsets), place_of)
        for (axis, key), offsets in groups.items()
        if (axis, key) in written and 0 < max(offsets) - min(offsets) <= WIDEST
    ]


def place(w: Writer, indices: tuple[Expr, ...], name: str, changing: set[str]) -> Place | None:
    """Return which element subscripts mean; None where that is more than a number away."""
    found: tuple[int, int] | None = None
    rest: list[tuple[Expr | None, int]] = []
    for axis, index in enumerate(indices):
        base, more = w.affine(index)
        if base == Name(name) and found is None:
            found = axis, more
        elif base is None or (
            isinstance(base, (Name, Extent)) and not names_in(base) & changing
        ):
            rest.append((base, more))
        else:
            return None
    return None if found is None else Place(*found, tuple(rest))

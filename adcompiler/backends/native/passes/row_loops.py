"""Loops over the rows of arrays: what they read and write of each, and which rows are theirs alone.

A row of an array is what is at one place of its first axis. Of two loops over the rows of arrays of
one length an iteration of the second one may run right behind that of the first one, if whatever
one of them writes and the other one touches is the row of the iteration.
"""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.backends.native.loops import (
    Apply, Assign, Binary, Body, Choose, Element, Ends, Expr, For, Leave, Name, Note, Number, Part,
    Row, Store, Use, When, children, rows_of,
)
from adcompiler.backends.native.passes.element_loops import Storage, Touched
from adcompiler.backends.native.passes.inner_loops import is_of_floats
from adcompiler.backends.native.reading import bound_by, elements_of, names_in
from adcompiler.support.structs import dataclass

ZERO = Number(0)


@dataclass(frozen=True)
class Flattened:
    """The elements of ``buffer`` in a row; a loop reads those of its own, from ``first`` on."""

    buffer: str
    first: str


@dataclass(frozen=True)
class RowLoop:
    """A loop over rows, with what goes in front of it and behind.

    ``rows`` are the statements in whose place it is, if nothing comes of it: None where there are
    no others. ``reduces`` tells that it sums, or the like, along an axis.
    """

    loop: For
    front: tuple[Row, ...] = ()
    behind: tuple[Row, ...] = ()
    rows: tuple[Row, ...] | None = None
    reduces: bool = False

    @property
    def all(self) -> tuple[Row, ...]:
        """The statements."""
        return (*self.front, self.loop, *self.behind)


def flags_in(rows: Iterable[Row]) -> frozenset[str]:
    """Return the names that only note that a test of floats held.

    Nothing depends on when they are looked at: Python runs from the start.
    """
    found: dict[str, bool] = {}
    for row in rows:
        if (name := bound_by(row)) is not None:
            found[name] = found.get(name, True) and notes_floats(row, name)
    return frozenset(name for name, does in found.items() if does)


def notes_floats(row: Row, name: str) -> bool:
    """Say whether a statement sets a flag, or notes in it that a test of a float held."""
    match row:
        case Assign(_, Number(False)):
            return True
        case Assign(_, Binary("|", Name(of), test)):
            return of == name and is_of_floats(test)
    return False


def is_over_rows(row: Row, flags: frozenset[str]) -> bool:
    """Say whether a statement is a loop over rows that computes numbers and stores them.

    It reads and writes elements at places that do not depend on what it computes, and gives up only
    for what floats are: it may run where it would not have been come to.
    """
    if not isinstance(row, For) or row.start != ZERO or row.down:
        return False
    inside = list(rows_of(row.body))
    assigned = {one.name for one in inside if isinstance(one, Assign)}
    for one in inside:
        match one:
            case Assign() | Store() | When() | Note():
                places = [place for element in elements_of(one) for place in element.indices]
                places += one.indices if isinstance(one, Store) else ()
            case For(_, start, stop):
                places = [start, stop]
            case Leave(test) if test is not None and (
                is_of_floats(test) or (isinstance(test, Name) and test.name in flags)
            ):
                places = [place for element in elements_of(one) for place in element.indices]
            case _:
                return False
        if not all(is_place(place) and not names_in(place) & assigned for place in places):
            return False
    return not names_in(row.stop) & {*assigned, row.name}


def is_place(expr: Expr) -> bool:
    """Say whether an expression is one of positions and lengths alone."""
    return not isinstance(expr, (Element, Apply, Choose)) and all(map(is_place, children(expr)))


class Rows:
    """Which rows loops touch; ``flat`` are the names of arrays whose elements lie in a row."""

    def __init__(self, storage: Storage, flags: frozenset[str], flat: dict[str, Flattened]) -> None:
        self.storage = storage
        self.flags = flags
        self.flat = flat

    def touched(self, *rows: Row) -> Touched:
        """Return what statements read and write, and whether others have to stay behind them."""
        found = Touched(frozenset(), frozenset(), False)
        for row in rows:
            found = found.and_then(self.storage.touched(row))
        return Touched(found.reads, found.writes, not all(
            self.may_be_late(one) for one in rows_of(Body(list(rows)))))

    def may_be_late(self, row: Row) -> bool:
        """Say whether it is all the same when a statement runs that may give up."""
        match row:
            case Leave(test):
                return test is not None and (
                    is_of_floats(test) or (isinstance(test, Name) and test.name in self.flags))
        return not self.storage.touched(row).leaves

    def base(self, name: str) -> str | None:
        """Return the array whose rows an array has, in their order; None if that is not known."""
        while (part := self.storage.parts.get(name)) is not None:
            if part.places[0] != Ends():
                return None
            name = part.buffer
        return None if name in self.storage.of else name

    def accesses(self, loop: For) -> dict[str, set[str | None]]:
        """Return whose rows a loop touches of each storage; None where it is not the row of the
        iteration."""
        found: dict[str, set[str | None]] = {}

        def note(name: str, is_own: bool) -> None:
            found.setdefault(self.storage.root(name), set()).add(
                self.base(name) if is_own else None)

        here = Name(loop.name)
        for row in rows_of(loop.body):
            visited: list[Element | Store] = [*elements_of(row)]
            visited += [row] if isinstance(row, Store) else []
            for one in visited:
                note(one.buffer, one.indices[0] == here)
            if isinstance(row, Use):
                for arg in row.args:
                    if isinstance(arg, str):
                        note(self.flat[arg].buffer, True)
        return found

    def written(self, loop: For) -> set[str]:
        """Return the storage that a loop writes into."""
        return {self.storage.root(row.buffer) for row in rows_of(loop.body)
                if isinstance(row, Store)}

    def may_join(self, one: RowLoop, other: RowLoop) -> bool:
        """Say whether iterations of ``other`` may run right behind those of ``one``.

        Something has to come of it: ``other`` reads what ``one`` wrote.
        """
        mine, theirs = self.accesses(one.loop), self.accesses(other.loop)
        written, rewritten = self.written(one.loop), self.written(other.loop)
        read = {self.storage.root(element.buffer) for row in rows_of(other.loop.body)
                for element in elements_of(row)}
        read |= {self.storage.root(self.flat[arg].buffer) for row in rows_of(other.loop.body)
                 if isinstance(row, Use) for arg in row.args if isinstance(arg, str)}
        if not written & read:
            return False
        for root in (written & theirs.keys()) | (rewritten & mine.keys()):
            places = mine[root] | theirs[root]
            if len(places) > 1 or None in places:
                return False
        first, second = (self.storage.touched(each.loop) for each in (one, other))
        numbers = {name for name in first.writes if name.startswith("@")}
        others = {name for name in second.writes if name.startswith("@")}
        if numbers & (second.reads | second.writes) or others & first.reads:
            return False
        behind = self.storage_of(one.behind)
        return all(self.storage_of(other.front).may_swap(each) for each in (first, behind)) and (
            behind.may_swap(second))

    def storage_of(self, rows: tuple[Row, ...]) -> Touched:
        """Return what statements touch."""
        found = Touched(frozenset(), frozenset(), False)
        for row in rows:
            found = found.and_then(self.storage.touched(row))
        return found


def has_all(part: Part) -> bool:
    """Say whether a part has all elements of its array, in as many axes or more."""
    return all(place in (None, Ends()) for place in part.places)


def places_in(part: Part, indices: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return where an element of a part that has all of its array is in that."""
    more = len(indices) - len(part.places)
    places = (*part.places, *[Ends()] * more)
    return tuple(index for place, index in zip(places, indices, strict=True) if place is not None)


__all__ = ["Flattened", "RowLoop", "Rows", "flags_in", "has_all", "is_over_rows", "places_in"]

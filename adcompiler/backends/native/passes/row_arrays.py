"""Arrays of which a loop over rows touches the row of an iteration alone are a row, or a number.

Whatever an iteration reads of such an array, which nothing filled, it has written before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from adcompiler.backends.native.loops import (
    Assign, Binary, Body, Element, Ends, Expr, Extent, Flat, For, LoopFunction, Make, Name,
    Number, Part, Row, Store, Use, View, When, children, rows_of,
)
from adcompiler.backends.native.passes.row_loops import Flattened, has_all, places_in
from adcompiler.backends.native.reading import bound_by, elements_of, exprs_of, read_by
from adcompiler.backends.native.rewriting import (
    with_blocks, with_elements, with_exprs, with_names, with_rows,
)
from adcompiler.support.structs import dataclass

ZERO, ONE = Number(0), Number(1)


def with_rows_alone(
    function: LoopFunction, loops: set[str], flat: Mapping[str, Flattened]
) -> LoopFunction:
    """Return a function in which arrays that one of some loops has for itself are rows of these.

    ``loops`` are the names of their positions; ``flat`` is of the flat arrays that they read.
    """
    rows = list(rows_of(function.body))
    bound = Counter(name for row in rows if (name := bound_by(row)) is not None)
    readers = Counter(name for row in rows for name in read_by(row))
    readers.update(one.value for one in function.outputs if isinstance(one.value, str))
    arrays = RowArrays(bound, readers, flat)

    def inner(body: Body) -> Body:
        found: list[Row] = []
        for row in body.rows:
            found.append(arrays.alone(row, found) if isinstance(row, For) and row.name in loops
                         else with_blocks(row, inner))
        return Body(found)

    return replace(function, body=inner(function.body))


@dataclass
class Alone:
    """An array that a loop has for itself, with its parts and its flat arrays."""

    made: Make
    parts: dict[str, Part] = field(default_factory=dict)
    flat: dict[str, Flattened] = field(default_factory=dict)

    @property
    def row(self) -> tuple[Expr, ...]:
        """The shape of a row."""
        return self.made.shape[1:]

    @property
    def is_number(self) -> bool:
        """Say whether a row is one number."""
        return not self.flat and all(length == ONE for length in self.row)

    @property
    def names(self) -> set[str]:
        """The names under which its elements are read and stored."""
        return {self.made.name, *self.parts}

    def places(self, one: Element | Store) -> tuple[Expr, ...]:
        """Return where an element is in the array."""
        name, indices = one.buffer, one.indices
        while (part := self.parts.get(name)) is not None:
            name, indices = part.buffer, places_in(part, indices)
        return indices


class RowArrays:
    """Makes rows of arrays.

    ``bound`` tells how many statements give a name, ``readers`` how many read it.
    """

    def __init__(
        self, bound: Counter[str], readers: Counter[str], flat: Mapping[str, Flattened]
    ) -> None:
        self.bound = bound
        self.readers = readers
        self.flat = flat

    def alone(self, loop: For, front: list[Row]) -> For:
        """Return a loop with rows in place of arrays; those in ``front`` of it become such."""
        loop = replace(loop, body=Body(without_single(loop.body.rows)))
        for made in [row for row in front if isinstance(row, Make)]:
            found = self.names(made, front)
            if self.has_alone(loop, found):
                front[:] = [new for row in front for new in in_front(row, found)]
                loop = replace(loop, body=Body(rewritten(loop.body.rows, found)))
        return loop

    def names(self, made: Make, front: Iterable[Row]) -> Alone:
        """Return an array with those of its parts that have all of its rows."""
        found = Alone(made)
        for row in front:
            match row:
                case Part(name, of, places) if of in found.names and (
                    places[0] == Ends() and has_all(row)
                ):
                    found.parts[name] = row
                case View(name, Flat(of)) if name in self.flat and of == made.name:
                    found.flat[name] = self.flat[name]
        return found

    def has_alone(self, loop: For, of: Alone) -> bool:
        """Say whether nothing else reads an array, and an iteration its row only."""
        if of.made.fill is not None or any(
            self.bound[name] != 1 for name in (*of.names, *of.flat)
        ):
            return False
        read: Counter[str] = Counter(part.buffer for part in of.parts.values())
        read[of.made.name] += len(of.flat)
        for row in rows_of(loop.body):
            read.update(read_by(row))
            visited: list[Element | Store] = [*elements_of(row)]
            visited += [row] if isinstance(row, Store) else []
            if any(one.buffer in of.names and of.places(one)[0] != Name(loop.name)
                   for one in visited):
                return False
            if isinstance(row, Use) and not of.names.isdisjoint(map(str, row.args)):
                return False
            if any(extents_in(expr) & of.names for expr in exprs_of(row)):
                return False
        return any(read[name] for name in of.names) and all(
            read[name] == self.readers[name] for name in (*of.names, *of.flat))


def in_front(row: Row, of: Alone) -> list[Row]:
    """Return what stands in front of a loop that has a row of an array in place of it."""
    if row is of.made:
        return [] if of.is_number else [replace(of.made, shape=of.row)]
    match row:
        case Part(name) if name in of.parts:
            return []
        case View(name) if name in of.flat:
            size: Expr = ONE
            for length in of.row:
                size = length if size == ONE else Binary("*", size, length)
            return [replace(row, shape=(size,))]
    return [row]


def rewritten(rows: Iterable[Row], of: Alone) -> list[Row]:
    """Return statements about a row of an array, or about a number, in place of the array."""
    name = of.made.name
    firsts = {one.first for one in of.flat.values()}

    def element(one: Element) -> Expr:
        indices = tuple(map(there, one.indices))
        if one.buffer not in of.names:
            return Element(one.buffer, indices)
        return Name(name) if of.is_number else Element(name, of.places(one)[1:])

    def there(expr: Expr) -> Expr:
        return with_elements(expr, element)

    found: list[Row] = []
    for row in rows:
        match row:
            case For() | When():
                row = with_blocks(row, lambda block: Body(rewritten(block.rows, of)))
                row = replace(row, test=there(row.test)) if isinstance(row, When) else row
            case Assign(first) if first in firsts:
                row = Assign(first, ZERO)
            case Store(buffer, _, value, adds) if buffer in of.names:
                value = there(value)
                if of.is_number:
                    row = Assign(name, Binary("+", Name(name), value) if adds else value)
                else:
                    row = Store(name, of.places(row)[1:], value, adds)
            case _:
                row = with_exprs(row, there)
        found.append(row)
    return found


def without_single(rows: Iterable[Row]) -> list[Row]:
    """Return statements without loops of one iteration."""
    return with_rows(Body(list(rows)), lambda row: [
        at_zero(one, row.name) for one in row.body.rows
    ] if isinstance(row, For) and (row.start, row.stop) == (ZERO, ONE) else [row]).rows


def at_zero(row: Row, name: str) -> Row:
    """Return a statement of a loop at its first position."""
    return with_exprs(row, lambda expr: with_names(expr, {name: ZERO}))


def extents_in(expr: Expr) -> set[str]:
    """Return the arrays of which an expression reads a length."""
    if isinstance(expr, Extent):
        return {expr.buffer}
    return set().union(*map(extents_in, children(expr)))


__all__ = ["with_rows_alone"]

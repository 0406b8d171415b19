"""Stores that a later loop overwrites before anybody reads them.

A sweep undoes what iterations wrote, one write after the other. Of an array that an iteration
fills as a whole only the last of these counts; what the others would put back is not kept at all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Body, Expr, For, LoopFunction, Make, Name, Number, Row, Store, rows_of,
)
from adcompiler.backends.native.passes.unused import roots_of
from adcompiler.backends.native.reading import bound_by, exprs_of, has_break, names_in, read_by
from adcompiler.backends.native.rewriting import with_blocks, with_rows
from adcompiler.backends.native.writer import Writer


def without_overwritten(_: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function without stores into arrays that a loop behind them fills as a whole.

    Nothing between reads these arrays, and they share storage with no others.
    """
    found = Filled(function.body)
    return replace(function, body=found.within(function.body)) if found.shapes else function


class Filled:
    """Finds loops that fill arrays: ``shapes`` are those of arrays with one name, made once."""

    def __init__(self, body: Body) -> None:
        counts = Counter(bound_by(row) for row in rows_of(body))
        roots = roots_of(body)
        shared = {*roots, *roots.values()}
        self.shapes = {
            row.name: row.shape for row in rows_of(body)
            if isinstance(row, Make) and counts[row.name] == 1 and row.name not in shared
            and all(counts[name] <= 1 for name in names_in(*row.shape))
        }

    def within(self, body: Body) -> Body:
        """Return statements without the stores that are overwritten."""
        rows = [with_blocks(row, self.within) for row in body.rows]
        found = {at: names for at, row in enumerate(rows) if (names := self.filled(row))}
        blocks = [Body([row]) for row in rows]
        known = [ends_or_reads(row) for row in rows] if found else []
        for before, names in found.items():
            for name in names:
                drop(blocks, known, before, name)
        return Body([row for block in blocks for row in block.rows])

    def filled(self, row: Row) -> set[str]:
        """Return the arrays that a loop stores every element of, and reads none of."""
        if not isinstance(row, For):
            return set()
        names = {one.buffer for one in rows_of(row.body) if isinstance(one, Store)}
        names &= self.shapes.keys()
        names -= names_read(row) if names else set()
        return {name for name in names if self.fills(row, name, (), self.shapes[name])}

    def fills(
        self, loop: For, name: str, places: tuple[Expr, ...], shape: tuple[Expr, ...]
    ) -> bool:
        """Say whether a loop stores at all positions, ``shape`` the lengths of those left."""
        if not shape or loop.start != Number(0) or loop.stop != shape[0] or has_break(loop.body):
            return False
        places = (*places, Name(loop.name))
        for row in loop.body.rows:
            match row:
                case Store(buffer, indices, _, False) if (
                    buffer == name and indices == places and len(shape) == 1
                ):
                    return True
                case For() if self.fills(row, name, places, shape[1:]):
                    return True
        return False


def drop(blocks: list[Body], known: list[set[str] | None], before: int, name: str) -> None:
    """Leave out stores into an array in front of a place, as far as nobody reads it there.

    ``known`` has the names that each block reads or binds, None for one that ends a loop.
    """
    for at in range(before - 1, -1, -1):
        reads = known[at]
        if reads is None or name in reads:
            return
        blocks[at] = with_rows(blocks[at], lambda row: [] if (
            isinstance(row, Store) and row.buffer == name) else [row])


def ends_or_reads(row: Row) -> set[str] | None:
    """Return the names that a statement reads or binds, None if it may end the loop around it."""
    bound = bound_by(row)
    return None if has_break(Body([row])) else names_read(row) | ({bound} if bound else set())


def names_read(row: Row) -> set[str]:
    """Return the names that a statement, or one inside of it, reads."""
    found: set[str] = set()
    for one in rows_of(Body([row])):
        found |= names_in(*exprs_of(one)) if isinstance(one, Store) else read_by(one)
        if isinstance(one, Store) and one.adds:
            found.add(one.buffer)
    return found


__all__ = ["without_overwritten"]

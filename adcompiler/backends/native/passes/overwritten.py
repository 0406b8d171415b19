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
        blocks = [Body([with_blocks(row, self.within)]) for row in body.rows]
        for at, block in enumerate(blocks):
            for name in {name for row in block.rows for name in self.filled(row)}:
                self.drop(blocks, at, name)
        return Body([row for block in blocks for row in block.rows])

    def filled(self, row: Row) -> set[str]:
        """Return the arrays that a loop stores every element of, and reads none of."""
        if not isinstance(row, For):
            return set()
        return {
            name for one in rows_of(row.body) if isinstance(one, Store)
            and (name := one.buffer) in self.shapes and not is_read(row, name)
            and self.fills(row, name, (), self.shapes[name])
        }

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

    def drop(self, blocks: list[Body], before: int, name: str) -> None:
        """Leave out stores into an array in front of a place, as far as nobody reads it there."""
        for at in range(before - 1, -1, -1):
            block = blocks[at]
            if has_break(block) or any(
                bound_by(row) == name or is_read(row, name) for row in block.rows
            ):
                return
            blocks[at] = with_rows(block, lambda row: [] if (
                isinstance(row, Store) and row.buffer == name) else [row])


def is_read(row: Row, name: str) -> bool:
    """Say whether a statement, or one inside of it, reads an array."""
    return any(
        name in names_in(*exprs_of(one)) or (one.adds and one.buffer == name)
        if isinstance(one, Store) else name in read_by(one)
        for one in rows_of(Body([row])))


__all__ = ["without_overwritten"]

"""Which buffers of a function may share storage, and between which statements they are named."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable

from adcompiler.backends.native.loops import (
    Bind, Body, Expr, LoopFunction, Make, Part, Row, Spread, Turn, View, blocks_in, rows_of,
)
from adcompiler.backends.native.passes.unused import source_of
from adcompiler.backends.native.reading import bound_by, names_in, read_by, written_by
from adcompiler.backends.native.rewriting import with_blocks
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class Group:
    """Buffers that may share storage: the numbers of the statements that name one of them first and
    last, and of those that write into them. One of a number of names may be ``chosen``."""

    first: int
    last: int
    written: list[int]
    chosen: bool = False

    def add(self, other: Group) -> None:
        """Take the buffers of another group."""
        self.first, self.last = min(self.first, other.first), max(self.last, other.last)
        self.written += other.written
        self.chosen = self.chosen or other.chosen


class Sharing:
    """Which buffers of a function may share storage, and where they are named.

    Statements are numbered in the order of ``rows_of``. What is returned, and the arguments, are
    named behind all of them. Arguments may share storage with one another. ``next`` is the number
    of the statement that is rewritten next.
    """

    def __init__(self, w: Writer, function: LoopFunction) -> None:
        self.w = w
        self.counts: Counter[str | None] = Counter()
        self.bound: dict[str, int] = {}
        self.of: dict[str, str] = {}
        self.dtypes = {one.name: one.dtype for one in function.parameters}
        self.roots: dict[str, str] = {}
        self.groups: dict[str, Group] = {}
        self.next = 0
        given = [*self.dtypes]
        at = -1
        for at, row in enumerate(rows_of(function.body)):
            self.number(row, at)
        for name in [*self.bound, *given]:
            self.join(name, w.root(name))
            self.group(name).chosen |= self.counts[name] > 1
        for name in given:
            self.join(name, given[0])
        returned = {name for one in function.outputs for name in (
            [one.value] if isinstance(one.value, str) else names_in(one.value))}
        for name in {*given[:1], *returned}:
            self.group(name).add(Group(-1, at + 1, []))

    def number(self, row: Row, at: int) -> None:
        """Note what a statement names, and what it writes into."""
        name = bound_by(row)
        self.counts[name] += 1
        if name is not None:
            self.bound[name] = at
        for one in {*read_by(row), name} - {None}:
            assert one is not None
            self.group(one).add(Group(at, at, []))
        for one in written_by(row):
            self.group(one).written.append(at)
        match row:
            case Make():
                self.dtypes[row.name] = row.dtype
            case Bind() | Part() | Turn() | View():
                self.of[row.name] = source_of(row)
                self.join(row.name, source_of(row))

    def numbered(self, body: Body, change: Callable[[Body], Body]) -> tuple[list[Row], list[int]]:
        """Return the statements of a block with what ``change`` makes of the blocks in them.

        Beside them are their numbers, from ``next`` on, and that of what is behind all of them.
        """
        rows, starts = [], [self.next]
        for row in body.rows:
            is_whole = isinstance(row, Spread) or not blocks_in(row)
            self.next += length_of(row) if is_whole else 1
            rows.append(row if is_whole else with_blocks(row, change))
            starts.append(self.next)
        return rows, starts

    def root(self, name: str) -> str:
        """Return what stands for all buffers that may share storage with one."""
        path = []
        while (above := self.roots.get(name, name)) != name:
            path.append(name)
            name = above
        for one in path:
            self.roots[one] = name
        return name

    def group(self, name: str) -> Group:
        """Return the buffers that may share storage with one."""
        root = self.root(name)
        if root not in self.groups:
            self.groups[root] = Group(sys.maxsize, -2, [])
        return self.groups[root]

    def join(self, one: str, other: str) -> None:
        """Note that two buffers may share storage."""
        a, b = self.root(one), self.root(other)
        if a != b:
            self.group(b).add(self.group(a))
            del self.groups[a]
            self.roots[a] = b

    def dtype_of(self, name: str) -> str | None:
        """Return the type of the elements of a buffer, None if that is not known."""
        while self.counts[name] == 1 and name in self.of:
            name = self.of[name]
        return self.dtypes.get(name) if self.counts[name] < 2 else None

    def is_fixed(self, length: Expr) -> bool:
        """Say whether an expression is the same number wherever it stands."""
        return all(self.counts[name] < 2 for name in names_in(length))


def length_of(row: Row) -> int:
    """Return how many statements there are in one, with itself."""
    return sum(1 for _ in rows_of(Body([row])))


__all__ = ["Sharing", "length_of"]

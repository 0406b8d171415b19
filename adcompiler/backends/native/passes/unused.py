"""What nobody reads: statements of loops that only make numbers and buffers that are not returned.

Tests that give up stay, so that Python raises what it would.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Bind, Body, Break, Element, Expr, Extent, Flat, For, Forever, Leave, LoopFunction,
    Make, Name, Note, Output, Part, Reserve, Row, Spread, Store, Turn, Use, View, When,
    blocks_in, children, rows_of,
)
from adcompiler.backends.native.reading import bound_by, exprs_of, read_by
from adcompiler.backends.native.rewriting import with_blocks

ALIASES = (Bind, Part, Turn, View)
"""Statements that give storage another name."""


def source_of(row: Bind | Part | Turn | View) -> str:
    """Return the name of the buffer that another name is given."""
    return row.buffer.buffer if isinstance(row.buffer, Flat) else row.buffer


def roots_of(body: Body) -> dict[str, str]:
    """Return one name for all buffers that may share storage, by each of their names."""
    roots: dict[str, str] = {}

    def root(name: str) -> str:
        while name in roots:
            name = roots[name]
        return name

    for row in rows_of(body):
        if isinstance(row, ALIASES) and root(row.name) != root(source_of(row)):
            roots[root(row.name)] = root(source_of(row))
    return {name: root(name) for name in roots}


class Needed:
    """Finds which names are needed: ``numbers`` for what they hold, ``lengths`` as shapes.

    Buffers that may share storage are needed together. ``visible`` are the names of parameters,
    which may be written into. With ``calls`` all helpers are called, which may raise.
    """

    def __init__(
        self, body: Body, visible: Iterable[str], outputs: Iterable[Output], calls: bool = False
    ) -> None:
        self.calls = calls
        self.roots = roots_of(body)
        self.numbers: set[str] = {self.root(name) for name in visible}
        self.names: set[str] = set()
        self.lengths: set[str] = set()
        for one in outputs:
            if isinstance(one.value, str):
                self.buffer(one.value)
            else:
                self.read(one.value)
        rows = [*rows_of(body)][::-1]  # what a row needs mostly stands in front of it
        before = -1
        while before < (size := len(self.numbers) + len(self.names) + len(self.lengths)):
            before = size
            for row in rows:
                if self.stays(row):
                    self.row(row)

    def root(self, name: str) -> str:
        """Return what stands for all buffers that may share storage with one."""
        return self.roots.get(name, name)

    def buffer(self, name: str) -> None:
        """Note that what a buffer holds is needed, under this name."""
        self.numbers.add(self.root(name))
        self.names.add(name)

    def read(self, expr: Expr) -> None:
        """Note what an expression reads."""
        match expr:
            case Name(name):
                self.buffer(name)
            case Element(buffer):
                self.buffer(buffer)
            case Extent(buffer):
                self.lengths.add(buffer)
        for one in children(expr):
            self.read(one)

    def stays(self, row: Row) -> bool:
        """Say whether a statement is needed, as far as is known."""
        match row:
            case Leave() | Break() | When() | For() | Forever() | Spread() | Note():
                return True
            case Store(buffer):
                return self.root(buffer) in self.numbers
            case Reserve(buffer):
                return self.root(buffer) in self.numbers or buffer in self.lengths
            case Assign(name):
                return name in self.names
            case Use() if self.calls:
                return True
        return bound_by(row) in self.names | self.lengths or (
            isinstance(row, Make) and self.root(row.name) in self.numbers)

    def row(self, row: Row) -> None:
        """Note what a statement that stays needs."""
        for expr in exprs_of(row):
            self.read(expr)
        match row:
            case Store(name) | Reserve(name):
                if self.root(name) in self.numbers:
                    self.buffer(name)
            case Make(name):
                if self.root(name) in self.numbers:
                    self.names.add(name)
            case Bind() | Part() | Turn() | View():
                if self.root(row.name) in self.numbers:
                    self.buffer(source_of(row))
                else:
                    self.lengths.add(source_of(row))
            case Use() | Spread():
                for name in read_by(row):
                    self.buffer(name)


def without_unused(body: Body, needed: Needed) -> Body:
    """Return statements without those of which nothing that is needed is computed."""

    def kept(body: Body) -> Body:
        rows: list[Row] = []
        for row in body.rows:
            if not isinstance(row, Spread):
                row = with_blocks(row, kept)
            match row:
                case When() | For():
                    rows += [row] * any(
                        is_something(one) for block in blocks_in(row) for one in block.rows)
                case Store(buffer):
                    rows += [row] * (needed.root(buffer) in needed.numbers)
                case Make(name) if needed.root(name) not in needed.numbers:
                    rows += [replace(row, fill=None)] * (name in needed.lengths)
                case _:
                    rows += [row] * needed.stays(row)
        return Body(rows)

    return kept(body)


def all_needed(function: LoopFunction) -> LoopFunction:
    """Return a function without what nobody needs; helpers are called all the same: they may raise.
    """
    visible = [parameter.name for parameter in function.parameters]
    needed = Needed(function.body, visible, function.outputs, calls=True)
    return replace(function, body=without_unused(function.body, needed))


def is_something(row: Row) -> bool:
    """Say whether a statement is more than a comment."""
    return not isinstance(row, Note)


__all__ = ["Needed", "all_needed", "roots_of", "source_of", "without_unused"]

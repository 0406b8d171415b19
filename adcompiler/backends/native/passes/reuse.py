"""Arrays that an iteration makes and forgets are made once, and again where their shape changes.

Making one costs more than computing a few dozen numbers; a large one is new memory each time.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.backends.native.loops import (
    Binary, Bind, Body, Expr, Extent, Flat, For, Forever, LoopFunction, Make, Name, Number, Part,
    Reserve, Row, Spread, Store, Turn, Use, View, When, rows_of,
)
from adcompiler.backends.native.reading import bound_by
from adcompiler.backends.native.rewriting import with_blocks

ZERO = Number(0)


def with_arrays_reused(function: LoopFunction) -> LoopFunction:
    """Return a function of loops in which an iteration uses the arrays of the one before.

    None of these is handed on to another iteration, or returned.
    """
    rows = list(rows_of(function.body))
    if any(isinstance(row, Spread) for row in rows):
        return function
    bound: dict[str, int] = {}
    for row in rows:
        if (name := bound_by(row)) is not None:
            bound[name] = bound.get(name, 0) + 1
    storage = Storage(rows)
    kept = {storage.root(out.value) for out in function.outputs if isinstance(out.value, str)}
    kept |= {storage.root(row.name) for row in rows if isinstance(row, Bind)}
    kept |= {storage.root(row.buffer) for row in rows if isinstance(row, Reserve)}
    passing = {
        row.name for row in rows if isinstance(row, Make) and bound[row.name] == 1
        and storage.root(row.name) not in kept
    }
    return replace(function, body=reusing(function.body, passing))


class Storage:
    """Which buffers may share storage: a name stands for all that do."""

    def __init__(self, rows: list[Row]) -> None:
        self.of: dict[str, str] = {}
        for row in rows:
            match row:
                case Bind(name, buffer) | Part(name, buffer) | Turn(name, buffer) | (
                    View(name, buffer)):
                    self.join(name, buffer.buffer if isinstance(buffer, Flat) else buffer)
                case Use(name, _, args):
                    for arg in args:
                        if isinstance(arg, (str, Flat)):
                            self.join(name, arg.buffer if isinstance(arg, Flat) else arg)

    def root(self, name: str) -> str:
        """Return the name that stands for what may share storage with a buffer."""
        while self.of.get(name, name) != name:
            name = self.of[name]
        return name

    def join(self, name: str, other: str) -> None:
        """Note that two buffers may share storage."""
        self.of[self.root(name)] = self.root(other)


def reusing(body: Body, passing: set[str], front: list[Row] | None = None) -> Body:
    """Return statements that make the arrays of loops in front of the outermost ones.

    Inside of a loop, ``front`` is what is written in front of it.
    """
    rows: list[Row] = []
    for row in body.rows:
        match row:
            case For() | Forever():
                before: list[Row] = [] if front is None else front
                inner = replace(row, body=reusing(row.body, passing, before))
                rows += [*before, inner] if front is None else [inner]
            case Make(name) if front is not None and name in passing:
                front.append(Make(name, (ZERO,) * len(row.shape), row.dtype))
                rows += made_again(row)
            case _:
                rows.append(with_blocks(row, lambda one: reusing(one, passing, front)))
    return Body(rows)


def made_again(row: Make) -> list[Row]:
    """Return what makes an array where the one that there is has another shape, and fills it."""
    tests: list[Expr] = [
        Binary("!=", Extent(row.name, axis), length) for axis, length in enumerate(row.shape)
    ]
    test = tests[0]
    for other in tests[1:]:
        test = Binary("or", test, other)
    rows: list[Row] = [When(test, Body([replace(row, fill=None)]), Body())]
    if row.fill is None:
        return rows
    names = [f"{row.name}_at_{letter}" for letter, _ in zip("ijklmn", row.shape, strict=False)]
    inner: Row = Store(row.name, tuple(map(Name, names)), row.fill)
    for name, length in reversed(list(zip(names, row.shape, strict=True))):
        inner = For(name, ZERO, length, Body([inner]))
    return [*rows, inner]

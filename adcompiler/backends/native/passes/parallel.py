"""Spreads loops over threads whose iterations are independent.

The iterations of a loop are divided into at most 64 blocks, in order; how many there are depends on
lengths alone, so that results do not hang on the number of threads. A block starts its sums at
nothing; behind the loop those of the blocks are added, in the order of the iterations.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from adcompiler.backends.native.loops import (
    BOOL, FLOAT, Apply, Assign, Binary, BlockFunction, Body, Choose, Element, Expr, Extent, For,
    Forever, Leave, LoopFunction, Make, Name, Note, Number, Reserve, Row, Spread, Store, Unary, Use,
    When, rows_of,
)
from adcompiler.backends.native.passes.independence import (
    ZERO, Dependent, Independent, Proof, plus, times,
)
from adcompiler.backends.native.reading import bound_by, is_worth_it, read_by
from adcompiler.backends.native.rewriting import with_blocks, with_rows
from adcompiler.backends.native.values import LENGTH
from adcompiler.backends.native.writer import Writer

NOTHING = Number(-0.0)
"""What changes no float to which it is added."""


def spread(w: Writer, function: LoopFunction) -> tuple[LoopFunction, list[str]]:
    """Return a function with independent loops spread over threads, and what is said of loops."""
    spreader = Spreader(w, function)
    rows = spreader.rows(function.body)
    return replace(function, body=Body(rows)), spreader.said


class Spreader:
    """Spreads loops of a function; ``said`` tells of each that is worth it what was found."""

    def __init__(self, w: Writer, function: LoopFunction) -> None:
        self.w, self.function = w, function
        self.said: list[str] = []
        self.place = ""

    def rows(self, body: Body) -> list[Row]:
        """Return statements with the loops in them spread."""
        found: list[Row] = []
        for row in body.rows:
            match row:
                case Note(text):
                    self.place = text.split("  ")[0]
                    found.append(row)
                case When() | Forever():
                    found.append(with_blocks(row, lambda block: Body(self.rows(block))))
                case For() if is_worth_it(row):
                    found += self.loop(row)
                case _:
                    found.append(row)
        return found

    def loop(self, loop: For) -> list[Row]:
        """Return the statements that run a loop; one that is not independent may hold such ones."""
        place = self.place
        try:
            shared = Proof(self.w, self.function, loop).prove()
        except Dependent as dependent:
            self.say(f"{place} one by one, as {dependent}")
            return [replace(loop, body=Body(self.rows(loop.body)))]
        self.say(f"{place} in parallel")
        return self.in_blocks(loop, shared, place)

    def say(self, text: str) -> None:
        """Note what is said of a loop, once."""
        if text not in self.said:
            self.said.append(text)

    def in_blocks(self, loop: For, shared: Independent, place: str) -> list[Row]:
        """Return the statements that run a loop in blocks, and put together what these give."""
        w = self.w
        count = size(loop)
        sums = tuple(shared.sums.items())
        function = self.block(loop, shared, sums, place)
        rows = self.made_longer(loop, shared, count)
        numbers: Expr = ZERO
        for buffer in shared.added:
            numbers = plus(numbers, functools.reduce(times, self.shape(buffer)))
        blocks, ended = w.fresh("blocks"), w.fresh("ended")
        rows.append(Use(blocks, "block_count", (count, numbers)))
        rows.append(Make(ended, (Name(blocks),), BOOL, Number(False)))
        terms = [w.fresh(f"{name}_terms") for name, _ in sums]
        rows += [Make(term, (Name(blocks),), dtype)
                 for term, (_, dtype) in zip(terms, sums, strict=True)]
        parts = [w.fresh(f"{name}_parts") for name in shared.added]
        rows += [
            Make(part, (Name(blocks), *self.shape(name)), self.dtype(name), NOTHING
                 if self.dtype(name) == FLOAT else ZERO)
            for part, name in zip(parts, shared.added, strict=True)
        ]
        rows.append(Spread(function, loop.start, loop.stop, blocks, ended, tuple(terms),
                           tuple(zip(shared.added, parts, strict=True))))
        block = w.fresh("block")
        here = (Name(block),)
        joined: list[Row] = [Leave(Unary("not", Element(ended, here)))]
        joined += [
            Assign(name, Binary("|" if dtype == BOOL else "+", Name(name), Element(term, here)))
            for term, (name, dtype) in zip(terms, sums, strict=True)
        ]
        for name, part in zip(shared.added, parts, strict=True):
            joined.append(self.added(name, part, block))
        rows.append(For(block, ZERO, Name(blocks), Body(joined), loop.down))
        rows += [
            Assign(top, Binary("+", Name(top), times(count, step)))
            for top, step in shared.steps.items()
        ]
        return rows

    def shape(self, buffer: str) -> tuple[Expr, ...]:
        """Return the lengths of the axes of an array that the loops made."""
        made = self.made(buffer)
        return tuple(Extent(buffer, axis) for axis in range(len(made.shape)))

    def dtype(self, buffer: str) -> str:
        """Return the machine type of an array that the loops made."""
        return self.made(buffer).dtype

    def made(self, buffer: str) -> Make:
        """Return the statement that makes an array."""
        return next(row for row in rows_of(self.function.body)
                    if isinstance(row, Make) and row.name == buffer)

    def made_longer(self, loop: For, shared: Independent, count: Expr) -> list[Row]:
        """Return the statements that make room for all that the loop keeps."""
        rows: list[Row] = []
        for step in shared.steps.values():
            if not isinstance(step, Number):
                most = Binary("*", Apply("float", (count,)), Apply("float", (step,)))
                rows.append(Leave(Binary(">", most, Number(float(LENGTH)))))
        inside = {row.buffer for row in rows_of(loop.body) if isinstance(row, Reserve)}
        for buffer, top in shared.grows.items():
            if buffer in inside:
                rows.append(Reserve(buffer, Binary(
                    "+", Name(top), times(count, shared.steps[top]))))
        return rows

    def added(self, buffer: str, part: str, block: str) -> Row:
        """Return the loops that add what a block added to its own array to the shared one."""
        places = [self.w.fresh(f"at_{letter}") for letter, _ in
                  zip("ijklmn", self.shape(buffer), strict=False)]
        at = tuple(map(Name, places))
        row: Row = Store(buffer, at, Element(part, (Name(block), *at)), adds=True)
        for place, length in reversed(list(zip(places, self.shape(buffer), strict=True))):
            row = For(place, ZERO, length, Body([row]))
        return row

    def block(
        self, loop: For, shared: Independent, sums: tuple[tuple[str, str], ...], place: str
    ) -> BlockFunction:
        """Return the function of one block of iterations."""
        w = self.w
        first, last = w.fresh("first"), w.fresh("last")
        before: Expr = Binary("-", loop.stop, Name(last)) if loop.down else plus_less(
            Name(first), loop.start)
        opening: list[Row] = [
            Assign(name, {FLOAT: NOTHING, BOOL: Number(False)}.get(dtype, ZERO))
            for name, dtype in sums
        ]
        opening += [
            Assign(top, Binary("+", Name(top), times(before, step)))
            for top, step in shared.steps.items()
        ]
        rows = [*opening, For(
            loop.name, Name(first), Name(last),
            Body(without_room(loop.body, set(shared.grows))), loop.down)]
        inside = list(rows_of(Body(rows)))
        bound = {name for row in inside if (name := bound_by(row))} - set(shared.steps)
        read: dict[str, None] = {}
        for row in inside:
            read.update(dict.fromkeys(sorted(read_by(row) - bound - {first, last})))
        name = w.fresh(f"{self.function.name.removesuffix('_loops')}_block")
        return BlockFunction(name, place, first, last, tuple(read), Body(rows), sums)


def size(loop: For) -> Expr:
    """Return how many iterations a loop has."""
    if loop.start == ZERO:
        return Choose(Binary(">", loop.stop, ZERO), loop.stop, ZERO)
    return Choose(Binary(">", loop.stop, loop.start), Binary("-", loop.stop, loop.start), ZERO)


def plus_less(a: Expr, b: Expr) -> Expr:
    """Return a difference."""
    return a if b == ZERO else Binary("-", a, b)


def without_room(body: Body, buffers: set[str]) -> list[Row]:
    """Return statements without those that make room in some buffers."""
    return with_rows(
        body, lambda row: [] if isinstance(row, Reserve) and row.buffer in buffers else [row]).rows

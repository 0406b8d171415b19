"""Random blocks of the loop IR do the same, bit by bit, with fewer copies of arrays."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler.backends.native.passes.copies import without_copies
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Bind, Body, Element, Ends, Expr, Extent, Flat, For, Leave, LoopFunction,
    Make, Name, Number, Output, Parameter, Part, Row, Store, View, When, rows_of,
)
from adcompiler.backends.native.passes.concatenation_in_place import with_pieces_in_place
from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.writer import Writer
from tests.lanes import one_in

ZERO = Number(0)
GIVEN = (Parameter("x", FLOAT, 1, 0), Parameter("n", "int64", None, 1))


class Maker:
    """Makes statements about arrays of ``n`` and of ``n`` by 3 numbers, and copies of them."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.w = Writer()
        self.w.taken |= {"x", "n", "s", "m"}
        self.rows: list[Row] = []
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        self.fixed: set[str] = {"x"}

    def write(self, row: Row) -> None:
        self.w.body = Body(self.rows)
        self.w.write(row)

    def shape(self) -> tuple[Expr, ...]:
        n = self.r.choice([Name("n"), Name("n"), Name("m")])
        return (n,) if self.r.random() < 0.6 else (n, Number(3))

    def over(self, shape: tuple[Expr, ...], row: Callable[[tuple[Expr, ...]], Row]) -> None:
        """Write loops over all positions."""
        names = [self.w.fresh("at") for _ in shape]
        body = Body([row(tuple(map(Name, names)))])
        for name, length in reversed(list(zip(names, shape, strict=True))):
            body = Body([For(name, ZERO, length, body)])
        self.write(body.rows[0])

    def element(self, places: tuple[Expr, ...], length: Expr = ZERO) -> Expr:
        """Return a number: of a random array, at a place that it has for sure."""
        name = self.r.choice(list(self.shapes))
        has = self.shapes[name][0] in (length, Name("n"))
        first = places[0] if has and self.r.random() < 0.7 else ZERO
        rest = places[1:] if len(places) == len(self.shapes[name]) else (Number(1),)
        return Element(name, (first, *rest)[: len(self.shapes[name])])

    def new(self) -> str:
        name, shape = self.w.fresh("new"), self.shape()
        self.write(Make(name, shape, FLOAT))
        self.over(shape, lambda places: Store(name, places, Binary(
            "+", Binary("*", Number(0.5), self.element(places, shape[0])), Name("s"))))
        self.shapes[name] = shape
        return name

    def copy(self) -> str:
        """Write a copy of an array, or of a part of the argument, as another one is made of it."""
        of, name = self.r.choice(list(self.shapes)), self.w.fresh("copy")
        shape = self.shapes[of]
        if self.r.random() < 0.5 and of != "x":
            shape = tuple(Extent(of, axis) for axis in range(len(shape)))
        self.write(Make(name, shape, FLOAT))
        self.over(shape, lambda places: Store(name, places, Element(of, places)))
        self.shapes[name] = self.shapes[of]
        if len(shape) == 2 and self.r.random() < 0.6:  # in one row
            flat = self.w.fresh("flat")
            size = Binary("*", *self.r.sample([*self.shapes[of]], 2))
            self.write(View(flat, Flat(name), ZERO, (size,)))
            self.shapes[flat] = (size,)
            return flat
        return name

    def joined(self) -> None:
        """Write a join of arrays."""
        name = self.w.fresh("joined")
        for _ in range(self.r.randrange(3)):
            self.new()
        flat = self.r.random() < 0.6
        rank = 1 if flat else 2
        parts = [one for one, shape in self.shapes.items() if len(shape) == rank and one != "x"]
        if not parts:
            return
        parts = [self.r.choice(parts[-3:]) for _ in range(self.r.randrange(1, 4))]
        total: Expr = self.shapes[parts[0]][0]
        for part in parts[1:]:
            total = Binary("+", total, self.shapes[part][0])
        if self.r.random() < 0.5:
            length = self.w.fresh("length")
            self.write(Assign(length, total))
            total = Name(length)
        if self.r.random() < 0.2:
            self.write(Leave(Binary("<", Name("n"), ZERO)))
        shape = (total, *self.shapes[parts[0]][1:])
        self.write(Make(name, shape, FLOAT, Number(7.0) if self.r.random() < 0.2 else None))
        start: Expr | None = None
        for part in parts:
            begin = start
            self.over(self.shapes[part], lambda places, part=part, begin=begin: Store(  # type: ignore[misc]
                name, (places[0] if begin is None else Binary("+", begin, places[0]), *places[1:]),
                Element(part, places)))
            length = self.shapes[part][0]
            start = length if start is None else Binary("+", start, length)
            if self.r.random() < 0.1:
                self.store()
        self.shapes[name] = shape

    def store(self) -> None:
        """Write a number into an array, or the argument's share of nothing."""
        names = [one for one in self.shapes if one not in self.fixed]
        if names:
            name = self.r.choice(names)
            at = (Number(self.r.randrange(2)), Number(2))[: len(self.shapes[name])]
            self.write(Store(name, at, Name("s"), self.r.random() < 0.5))

    def statement(self) -> None:
        match self.r.randrange(12):
            case 0 | 1 | 2:
                self.new()
            case 3 | 4 | 5 | 6:
                self.copy()
            case 7 | 8:
                self.joined()
            case 9:
                self.store()
            case 10:
                self.write(Assign("s", Binary("*", Number(0.25), self.element((ZERO, ZERO)))))
            case _:
                outer, self.rows = self.rows, []
                known = dict(self.shapes)
                for _ in range(self.r.randrange(1, 4)):
                    self.statement()
                self.shapes = known
                inner, self.rows = self.rows, outer
                step = self.w.fresh("step")
                self.write(self.r.choice([
                    For(step, ZERO, Number(2), Body(inner)),
                    When(Binary(">", Name("s"), Number(0.1)), Body(inner), Body())]))

    def function(self) -> LoopFunction:
        """Return a function of random statements that returns some of its arrays."""
        part = self.w.fresh("part")
        self.write(Assign("s", Number(0.5)))
        self.write(Assign("m", Binary("-", Name("n"), Number(2))))
        lower = self.r.choice([None, Number(1)])
        self.write(Part(part, "x", (Ends(lower),)))
        self.fixed.add(part)
        self.shapes |= {"x": (Name("n"),), part: (Name("n"),)}
        for _ in range(self.r.randrange(4, 14)):
            self.statement()
        if self.r.random() < 0.3:
            other = self.w.fresh("other")
            of = self.r.choice(list(self.shapes))
            self.write(Bind(other, of))
            self.shapes[other] = self.shapes[of]
        names = [one for one in self.shapes if one not in self.fixed] or [self.new()]
        chosen = [one for one in names if one == names[-1] or self.r.random() < 0.3]
        outputs = (*(Output(one, FLOAT, len(self.shapes[one])) for one in chosen),
                   Output(Name("s"), FLOAT))
        return LoopFunction("block", GIVEN, Body(self.rows), outputs, tuple(range(len(outputs))))


def run(function: LoopFunction, x: Any, n: int) -> list[bytes]:
    """Return what a function of loops gives, as bytes; and see that ``x`` stays."""
    names: dict[str, Any] = {"np": np, "compiled": lambda found: found}
    exec(printed(function, "Run a block."), names)
    before = x.copy()
    found = names["block"](x, n)
    assert np.array_equal(x, before)
    assert found[0] is True
    return [np.ascontiguousarray(one).tobytes() for one in found[1:]]


def makes_of(body: Body) -> int:
    return sum(isinstance(row, Make) for row in rows_of(body))


@pytest.mark.parametrize("seeds", one_in(4, [range(i, i + 50) for i in range(0, 400, 50)]), ids=str)
def test_fewer_copies_change_nothing(seeds: range) -> None:
    fewer = joined = 0
    for seed in seeds:
        maker = Maker(seed)
        before = maker.function()
        copied = without_copies(maker.w, before)
        placed = with_pieces_in_place(maker.w, copied)
        fewer += makes_of(copied.body) < makes_of(before.body)
        joined += placed is not copied
        row = np.random.default_rng(seed).normal(size=24)
        for x, n in itertools.product((row, row[::2], row[::-1]), (4, 5, 8)):
            assert run(before, x, n) == run(placed, x, n), seed
    assert fewer > len(seeds) // 2 and joined > len(seeds) // 8

"""Random blocks of the loop IR do the same, bit by bit, with their loops merged."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

from adcompiler.backends.native.passes.loop_fusion import with_merged_loops
from adcompiler.backends.native.loops import (
    FLOAT, Apply, Assign, Binary, Bind, Body, Break, Element, Ends, Expr, Extent, For, Forever,
    Leave, LoopFunction, Make, Name, Number, Output, Parameter, Part, Row, Store, Unary, Use, When,
    rows_of,
)
from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.rewriting import with_exprs, with_names
from adcompiler.backends.native.writer import Writer
from tests.lanes import one_in

ZERO = Number(0)
WHOLE = ("a", "b", "c")
NUMBERS = itertools.count()


class Maker:
    """Makes statements about three arrays of a length, parts of them, and new arrays."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.w = Writer()
        self.w.taken |= {"x", "k", "s", "long", "short", *WHOLE}
        self.rows: list[Row] = []
        self.short: list[str] = []
        self.long: list[str] = [*WHOLE]

    def write(self, row: Row) -> None:
        self.w.body = Body(self.rows)
        self.w.write(row)

    def part(self) -> str:
        """Write a part of an array that is three elements shorter."""
        name, low = self.w.fresh("part"), self.r.randrange(4)
        ends = Ends(Number(low) if low else None, Number(low - 3) if low < 3 else None)
        self.write(Part(name, self.r.choice(self.long), (ends,)))
        self.write(Leave(Binary("!=", Extent(name, 0), Name("short"))))
        self.short.append(name)
        return name

    def new(self, length: str) -> str:
        name = self.w.fresh("new")
        fill = self.r.choice([None, None, Number(0.0), Name("s")])
        self.write(Make(name, (Name(length),), FLOAT, fill))
        if fill is None:
            self.nest(length, name, False)
        (self.short if length == "short" else self.long).append(name)
        return name

    def value(self, at: str, length: str, depth: int = 0) -> Expr:
        """Return an expression of elements of arrays at a position."""
        r = self.r
        if depth > 1 or r.random() < 0.4:
            arrays = self.short if length == "short" and self.short else self.long
            element = Element(r.choice(arrays), (Name(at),))
            if length == "short" and r.random() < 0.2:
                element = Element(r.choice(self.long), (Binary("+", Name(at), Number(2)),))
            return r.choice([element, element, element, Name("s"), Name("k"), Number(0.5)])
        if r.random() < 0.1:
            return Apply("sin", (self.value(at, length, depth + 1),))
        if r.random() < 0.2:
            return Unary("-", self.value(at, length, depth + 1))
        return Binary(r.choice("++-*"), *(self.value(at, length, depth + 1) for _ in range(2)))

    def nest(self, length: str, target: str = "", adds: bool | None = None) -> None:
        """Write a loop that stores or adds, and another thing at times."""
        r, at = self.r, self.w.fresh("at")
        rows: list[Row] = []
        if not target and r.random() < 0.15:
            rows.append(Assign("s", Binary("*", Number(0.3), self.value(at, length))))
        for _ in range(1 if target else r.choice([1, 1, 2])):
            arrays = self.short if length == "short" and self.short else self.long
            to = target or r.choice(arrays)
            value = self.value(at, length)
            if r.random() < 0.5:
                named = self.w.fresh("item")
                rows.append(Assign(named, value))
                value = Name(named)
            into = r.random() < 0.6 if adds is None else adds
            rows.append(Store(to, (Name(at),), Binary("*", Number(0.4), value), into))
        self.write(For(at, ZERO, Name(length), Body(rows)))

    def statement(self) -> None:
        r = self.r
        length = r.choice(["short", "short", "short", "long"])
        match r.randrange(12):
            case 0 | 1:
                self.part()
            case 2:
                self.new(length)
            case 3:
                self.write(Assign("s", Binary("*", Name("s"), Number(0.75))))
            case 4:
                total = self.w.fresh("total")
                self.write(Use(total, "total_sum", (r.choice(self.long),)))
                self.write(Assign("s", Binary("*", Number(0.01), Name(total))))
            case 5:
                self.write(Leave(Binary("==", Name("s"), Number(math.inf))))
            case 6:
                self.write(Store(r.choice(self.long), (Number(r.randrange(3)),), Name("s")))
            case 7 if r.random() < 0.3:
                before, self.rows = self.rows, []
                self.nest(length)
                then, self.rows = self.rows, before
                self.write(When(Binary(">", Name("s"), Number(0.2)), Body(then), Body()))
            case _:
                self.nest(length)

    def function(self) -> LoopFunction:
        """Return a function that runs random statements some times, and trades arrays."""
        for _ in range(2):
            self.part()
        for _ in range(self.r.randrange(4, 16)):
            self.statement()
        if self.r.random() < 0.5:
            kept = self.w.fresh("kept")
            for name, of in ((kept, "a"), ("a", "b"), ("b", kept)):
                self.write(Bind(name, of))
        body = self.rows
        self.rows = []
        self.write(Assign("long", Extent("x", 0)))
        self.write(Assign("short", Binary("-", Extent("x", 0), Number(3))))
        self.write(Assign("s", Name("k")))
        for name in WHOLE:
            at = self.w.fresh("at")
            self.write(Make(name, (Extent("x", 0),), FLOAT))
            self.write(For(at, ZERO, Extent("x", 0), Body([
                Store(name, (Name(at),), Binary("*", Number(0.5), Element("x", (Name(at),))))])))
        self.write(For("step", ZERO, Number(3), Body(body)))
        outputs = (*(Output(name, FLOAT, 1) for name in WHOLE), Output(Name("s"), FLOAT))
        given = (Parameter("x", FLOAT, 1, 0), Parameter("k", FLOAT, None, 1))
        return LoopFunction("block", given, Body(self.rows), outputs, tuple(range(4)))


def run(function: LoopFunction, x: Any) -> Any:
    """Return what a function of loops gives."""
    names: dict[str, Any] = {"np": np, "math": math, "compiled": lambda found: found}
    exec(printed(function, "Run a block."), names)
    with np.errstate(all="ignore"):
        return names["block"](x, 0.7)


def bits(values: Any) -> list[bytes]:
    return [np.asarray(value).tobytes() for value in values]


@pytest.mark.parametrize("start", one_in(5, range(0, 300, 30)))
def test_bits_stay(start: int) -> None:
    fewer = 0
    for seed in range(start, start + 30):
        maker = Maker(seed)
        function = maker.function()
        other = with_merged_loops(maker.w, function)
        fewer += printed(other, "").count("for ") != printed(function, "").count("for ")
        for n in (3, 4, 5, 9):
            x = np.random.default_rng(n).normal(size=n)
            assert bits(run(other, x)) == bits(run(function, x)), seed
    assert fewer > 5  # of 30


def loop(to: str, value: Expr, adds: bool = False, more: int = 0) -> For:
    """Return a loop over the position ``i``, which has a name of its own there."""
    name, to_element = f"i_{next(NUMBERS)}", at(to, more)
    row = with_exprs(
        Store(to, to_element.indices, value, adds), lambda one: with_names(one, {"i": Name(name)}))
    return For(name, ZERO, Name("short"), Body([row]))


def at(buffer: str, more: int = 0) -> Element:
    return Element(buffer, (Binary("+", Name("i"), Number(more)) if more else Name("i"),))


def part(name: str, of: str, low: int) -> Part:
    return Part(name, of, (Ends(Number(low), Number(low - 3) if low < 3 else None),))


def doubled(*between: Row, fill: Expr | None = None, source: Expr | None = None) -> list[Row]:
    """Return statements that add an array to two parts of ``a`` that could be computed again."""
    first: list[Row] = [loop("e", source or at("x"))] if fill is None else []
    return [
        part("low", "a", 0), part("high", "a", 2), Make("e", (Name("short"),), FLOAT, fill), *first,
        Make("d", (Name("short"),), FLOAT), loop("d", Binary("*", Name("s"), at("e"))), *between,
        loop("low", at("d"), True), loop("high", at("d"), True),
    ]


BLOCKS: dict[str, list[Row]] = {
    "as it is": doubled(),
    "a part of the source is written": doubled(
        Part("end", "e", (Ends(Number(1), None),)), Store("end", (ZERO,), Number(9.0))),
    "the source is written behind a fill": doubled(
        loop("e", Number(4.0)), fill=Number(1.0)),
    "a number is another one": doubled(Assign("s", Number(8.0))),
    "elements of other positions": [
        loop("a", at("x")), loop("c", Binary("+", at("a"), at("a", 2)))],
    "an element of another position is written": [
        loop("a", at("b", 1)), loop("b", at("a"), more=2)],
    "a number of the last position": [
        part("low", "a", 0), part("high", "a", 2), *(
            For(f"j_{to}", ZERO, Name("short"), Body([
                Assign("s", Element("x", (Name(f"j_{to}"),))),
                Store(to, (Name(f"j_{to}"),), Name("s"), True)])) for to in ("low", "high"))],
    "the number of the last position is read": [
        For("j_a", ZERO, Name("short"), Body([
            Assign("s", Element("x", (Name("j_a"),))), Store("a", (Name("j_a"),), Name("s"))])),
        loop("c", Binary("*", at("a"), Name("s")))],
    "a number from before is read": [
        loop("a", Binary("*", at("x"), Name("s"))),
        For("j_c", ZERO, Name("short"), Body([
            Assign("s", Element("x", (Name("j_c"),))),
            Store("c", (Name("j_c"),), Binary("+", Name("s"), Element("a", (Name("j_c"),))))]))],
    "a loop that is broken off": [
        Forever(Body([loop("a", at("x")), Break(Number(True)), loop("c", at("a"), True)]))],
    "what is between reads": [
        loop("a", at("b")), Assign("s", Element("c", (ZERO,))), loop("c", at("a")),
        Assign("s", Binary("+", Name("s"), Element("c", (ZERO,))))],
}


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_do_the_same(name: str) -> None:
    maker = Maker(0)
    maker.part = lambda: ""  # type: ignore[method-assign]
    maker.statement = lambda: None  # type: ignore[method-assign]
    maker.r = random.Random(1)
    function = maker.function()
    maker.w.taken |= {"low", "high", "e", "d", "end"}
    rows = [*function.body.rows[:-1], *BLOCKS[name]]
    for row in rows:
        if isinstance(row, Part):
            maker.w.may_share(row.name, row.buffer)
    function = LoopFunction(function.name, function.parameters, Body(rows), function.outputs,
                            function.form)
    merged = with_merged_loops(maker.w, function)
    for n in (5, 6, 11):
        x = np.random.default_rng(n).normal(size=n)
        assert bits(run(merged, x)) == bits(run(function, x))


def test_what_costs_little_is_computed_again() -> None:
    for name, is_kept in (("as it is", False), ("a number is another one", True)):
        maker = Maker(0)
        opening: list[Row] = [
            Assign("short", Number(5)), Assign("s", Number(2.0)), Make("a", (Number(8),), FLOAT)]
        function = LoopFunction("block", (Parameter("x", FLOAT, 1, 0),), Body(
            [*opening, *BLOCKS[name]]), (Output("a", FLOAT, 1),), 0)
        for row in rows_of(function.body):
            if isinstance(row, Part):
                maker.w.may_share(row.name, row.buffer)
        made = [row.name for row in rows_of(with_merged_loops(maker.w, function).body)
                if isinstance(row, Make)]
        assert ("d" in made) is is_kept, name

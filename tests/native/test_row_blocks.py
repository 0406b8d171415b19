"""Random blocks of the loop IR do the same, bit by bit, with their loops over rows merged."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from adcompiler.backends.native.passes.inner_loops import with_tight_loops
from adcompiler.backends.native.passes.loop_fusion import with_merged_loops
from adcompiler.backends.native.loops import (
    FLOAT, Apply, Assign, Binary, Body, Element, Ends, Expr, Extent, Flat, For, Leave, LoopFunction,
    Make, Name, Number, Output, Parameter, Part, Row, Store, Unary, Use, View, When, rows_of,
)
from adcompiler.backends.native.emit.printer import printed
from adcompiler.backends.native.passes.row_fusion import with_rows_together
from adcompiler.backends.native.writer import Writer
from tests.lanes import one_in
from tests.native.test_fused_blocks import bits

ZERO, ONE = Number(0), Number(1)
LENGTHS = (Extent("x", 0), Extent("x", 1), Extent("x", 2))
SHAPES = [LENGTHS[:1], LENGTHS[:2], LENGTHS[:2], LENGTHS, (LENGTHS[0], ONE), LENGTHS[1:2],
          LENGTHS[1:], (LENGTHS[0], LENGTHS[2])]


class Maker:
    """Makes statements about arrays of some shapes, of which the first axis is often one of rows.
    """

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.w = Writer()
        self.w.taken |= {"x", "s"}
        self.rows: list[Row] = []
        self.arrays: dict[str, tuple[Expr, ...]] = {"x": LENGTHS}
        self.made: list[str] = []
        self.unset = ""
        self.astray = self.r.choice([0.0, 0.0, 0.05, 0.2])

    def write(self, row: Row) -> None:
        self.w.body = Body(self.rows)
        self.w.write(row)

    def element(self, here: dict[Expr, str]) -> Expr:
        """Return an element at the position where loops are, or at times at another one."""
        r = self.r
        fitting = [name for name, shape in self.arrays.items()
                   if all(length in here or length == ONE for length in shape)
                   and name != self.unset]
        if not fitting:
            return Number(0.25)
        name = r.choice(fitting[-4:] if r.random() < 0.7 else fitting)
        places: list[Expr] = []
        for length in self.arrays[name]:
            at: Expr = ZERO if length == ONE or length not in here else Name(here[length])
            if at != ZERO and r.random() < self.astray:
                at = Binary("-", Binary("-", length, ONE), at)
            places.append(at)
        return Element(name, tuple(places))

    def value(self, here: dict[Expr, str], depth: int = 0) -> Expr:
        r = self.r
        if depth > 1 or r.random() < 0.35:
            return r.choice([self.element(here), self.element(here), Name("s"), Number(0.5)])
        if r.random() < 0.2:
            return Unary("-", self.value(here, depth + 1))
        if r.random() < 0.1:
            return Apply("sqrt", (Apply("fabs", (self.value(here, depth + 1),)),))
        return Binary(r.choice("+-*"), self.value(here, depth + 1), self.value(here, depth + 1))

    def loops(self, shape: tuple[Expr, ...], target: str, adds: bool, visits: bool) -> None:
        """Write loops that store into an array, with a flag or a test at times."""
        r = self.r
        names = [self.w.fresh(f"at_{letter}") for letter, _ in zip("ijk", shape, strict=False)]
        here = dict(zip(shape, names, strict=True))
        item = self.w.fresh("item")
        rows: list[Row] = [Assign(item, Binary("*", Number(0.4), self.value(here)))]
        flag = self.w.fresh("failed") if r.random() < 0.3 else ""
        odd = Binary("==", Name(item), Number(123.0))
        if flag:
            self.write(Assign(flag, Number(False)))
            rows.append(Assign(flag, Binary("|", Name(flag), odd)))
        elif r.random() < 0.1:
            rows.append(Leave(Unary("not", Apply("isfinite", (Name(item),)))))
        if r.random() < 0.05:
            rows.append(Assign("s", Binary("*", Number(0.5), Name(item))))
        places = tuple(ZERO if length == ONE else Name(here[length])
                       for length in self.arrays[target])
        rows.append(Store(target, places, Name(item), adds))
        for name, length in reversed(list(zip(names, shape, strict=True))):
            whole = shape if visits and name == names[0] else ()
            rows = [For(name, ZERO, length, Body(rows), visits=whole)]
        self.write(rows[0])
        if flag:
            self.write(Leave(Name(flag)))

    def new(self) -> None:
        shape = self.r.choice(SHAPES)
        name = self.w.fresh("new")
        fill = self.r.choice([None, None, None, Number(0.0)])
        self.write(Make(name, shape, FLOAT, fill))
        self.arrays[name] = shape
        self.made.append(name)
        self.unset = name if fill is None else ""
        self.loops(shape, name, fill is not None, False)
        self.unset = ""

    def reduction(self) -> None:
        """Write a sum, or an extreme, along neighbouring axes of an array."""
        r = self.r
        names = [name for name, shape in self.arrays.items() if len(shape) > 1]
        name = r.choice(names[-3:])
        shape = self.arrays[name]
        first = r.randrange(len(shape))
        after = r.randrange(first + 1, len(shape) + 1)
        helper = "sums_along"
        if after == len(shape) and r.random() < 0.3:
            helper = r.choice(["max_along", "min_along"])
        sizes = [self.size(part) for part in (shape[:first], shape[first:after], shape[after:])]
        ones = [ONE] * (after - first) if r.random() < 0.5 else []
        result = (*shape[:first], *ones, *shape[after:])
        if not result:
            return
        flat = self.w.fresh("flat")
        if helper != "sums_along":
            self.write(Leave(Binary("<=", sizes[1], ZERO)))
        self.write(Use(flat, helper, (Flat(name), *sizes)))
        found = flat
        if len(result) > 1:
            found = self.w.fresh("sums")
            self.write(View(found, flat, ZERO, result))
        self.arrays[found] = result

    def size(self, shape: tuple[Expr, ...]) -> Expr:
        size: Expr = ONE
        for length in shape:
            size = length if size == ONE else Binary("*", size, length)
        return size if size == ONE else self.w.assign("size", size)

    def part(self) -> None:
        """Write another name for an array, with an axis more, or for its axes in part."""
        r = self.r
        of = r.choice([name for name, shape in self.arrays.items() if len(shape) < 3][-4:] or ["x"])
        shape = list(self.arrays[of])
        places: list[Any] = [Ends() for _ in shape]
        at = r.randrange(len(shape) + 1)
        if r.random() < 0.8:
            places.insert(at, None)
            shape.insert(at, ONE)
        else:
            places[0] = Ends(None, None, Number(-1))
        name = self.w.fresh("part")
        self.write(Part(name, of, tuple(places)))
        self.arrays[name] = tuple(shape)

    def statement(self) -> None:
        r = self.r
        match r.randrange(16):
            case 0 | 1 | 2:
                self.new()
            case 3 | 4 | 5 | 10:
                self.reduction()
            case 6:
                self.part()
            case 7:
                total = self.w.fresh("total")
                self.write(Use(total, "total_sum", (Flat(r.choice(list(self.arrays))),)))
                self.write(Assign("s", Binary("*", Number(0.01), Name(total))))
            case 8 if self.made:
                name = r.choice(self.made)
                inside = [Store(name, (ZERO,) * len(self.arrays[name]), Name("s"), True)]
                one: Row = inside[0]
                for length in self.arrays[name]:
                    one = When(Binary(">", length, ZERO), Body([one]), Body())
                self.write(one)
            case 9:
                self.write(Assign("s", Binary("*", Name("s"), Number(0.75))))
            case _ if self.made:
                name = r.choice(self.made[-3:])
                shape = self.arrays[name]
                extra = [length for length in LENGTHS if length not in shape]
                if r.random() < 0.3 and extra and ONE not in shape:
                    self.loops((*shape, extra[0]), name, True, False)
                elif ONE not in shape:
                    self.loops(shape, name, r.random() < 0.5, r.random() < 0.2)

    def function(self) -> LoopFunction:
        self.write(Assign("s", Number(0.7)))
        for _ in range(self.r.randrange(6, 22)):
            self.statement()
        count = len(self.arrays)
        kept = self.r.sample(list(self.arrays), min(count, self.r.randrange(1, 4)))
        for name in list(self.arrays):  # what each array holds at the end, at times
            if self.r.random() < 0.05:
                kept.append(name)
        outputs = tuple(Output(name, FLOAT, len(self.arrays[name])) for name in dict.fromkeys(kept))
        outputs = (*outputs, Output(Name("s"), FLOAT))
        return LoopFunction("block", (Parameter("x", FLOAT, 3, 0),), Body(self.rows), outputs,
                            tuple(range(len(outputs))))


def run(function: LoopFunction, x: Any) -> list[bytes]:
    names: dict[str, Any] = {"np": np, "math": __import__("math"), "compiled": lambda found: found}
    exec(printed(function, "Run a block."), names)
    with np.errstate(all="ignore"):
        return bits(names["block"](x))


def axes_of(function: LoopFunction) -> dict[str, int]:
    """Return how many axes each array has that is made."""
    return {row.name: len(row.shape) for row in rows_of(function.body) if isinstance(row, Make)}


SIZES = [(3, 4, 2), (2, 9, 3), (1, 1, 1), (3, 1, 1), (4, 1, 2), (40, 1, 1), (2, 1, 9), (0, 2, 2),
         (2, 0, 3), (2, 3, 0), (9, 17, 1)]


@pytest.mark.parametrize("start", one_in(5, range(0, 400, 40)))
def test_bits_stay(start: int) -> None:
    merged = rows_only = 0
    for seed in range(start, start + 40):
        maker = Maker(seed)
        function = maker.function()
        together = with_rows_together(maker.w, function)
        merged += together is not function
        axes = axes_of(together)
        rows_only += any(axes.get(name, 0) < ndim for name, ndim in axes_of(function).items())
        others = [together]
        for one in (function, together):
            others.append(with_tight_loops(maker.w, with_merged_loops(maker.w, one)))
        for shape in maker.r.sample(SIZES, 3):
            x = np.random.default_rng(seed).normal(size=shape)
            wanted = run(function, x)
            for at, other in enumerate(others):
                assert run(other, x) == wanted, (seed, shape, at)
    assert merged > 8  # of 40
    assert rows_only > 1

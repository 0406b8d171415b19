"""Stores that a loop behind them overwrites are left out, and nothing is kept for them."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Bind, Body, Break, Element, Extent, For, Leave, LoopFunction, Make, Name, Number,
    Store, Use, When,
)
from adcompiler.backends.native.passes.overwritten import without_overwritten
from adcompiler.backends.native.writer import Writer
from tests.native.test_backends_agree import outcome, same
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")

ZERO, ONE, N, AT = Number(0), Number(1.0), Extent("x", 0), Name("i")
MADE = Make("z", (N,), FLOAT)


def filling(place: str, value: Any = ONE, stop: Any = N, buffer: str = "z") -> For:
    return For(place, ZERO, stop, Body([Store(buffer, (Name(place),), value)]))


def left(*rows: Any) -> list[Any]:
    function = LoopFunction("f", (), Body(list(rows)), (), None)
    return without_overwritten(Writer(), function).body.rows


def stores(rows: list[Any]) -> list[Any]:
    return [row for row in rows if isinstance(row, For) and row.body.rows]


def test_of_two_loops_that_fill_an_array_the_second_counts() -> None:
    first, second = filling("i"), filling("j", Number(2.0))
    assert stores(left(MADE, first, second)) == [second]
    some = For("i", ZERO, Number(2), Body([
        When(Name("b"), Body([Store("z", (AT,), ONE)]), Body([Assign("y", ONE)]))]))
    kept = left(MADE, some, second)
    assert kept[1].body.rows == [When(Name("b"), Body([]), Body([Assign("y", ONE)]))]


@pytest.mark.parametrize("between", [
    Assign("y", Element("z", (ZERO,))), Leave(Element("z", (ZERO,))), Use("u", "total", ("z",)),
    Store("z", (ZERO,), ONE, True), Store("w", (ZERO,), Element("z", (ZERO,))), Bind("y", "z"),
    Break(Name("b")), When(Element("z", (ZERO,)), Body([]), Body([])),
    For("k", ZERO, N, Body([Assign("y", Element("z", (Name("k"),)))])),
], ids=lambda row: type(row).__name__)
def test_what_is_read_before_stays(between: Any) -> None:
    rows = [MADE, filling("i"), between, filling("j", Number(2.0))]
    assert left(*rows) == rows


@pytest.mark.parametrize("second", [
    filling("j", stop=Number(3)), For("j", Number(1), N, Body([Store("z", (Name("j"),), ONE)])),
    For("j", ZERO, N, Body([Store("z", (Name("j"),), ONE, True)])),
    For("j", ZERO, N, Body([Store("z", (ZERO,), ONE)])),
    For("j", ZERO, N, Body([When(Name("b"), Body([Store("z", (Name("j"),), ONE)]), Body([]))])),
    For("j", ZERO, N, Body([Break(Name("b")), Store("z", (Name("j"),), ONE)])),
    filling("j", Element("z", (ZERO,))), filling("j", buffer="w"),
], ids=str)
def test_loops_that_do_not_fill_it_overwrite_nothing(second: For) -> None:
    rows = [MADE, Make("w", (N,), FLOAT), filling("i"), second]
    assert left(*rows) == rows


def test_arrays_that_are_made_twice_or_change_their_length_are_let_alone() -> None:
    rows = [MADE, filling("i"), MADE, filling("j")]
    assert left(*rows) == rows
    rows = [Assign("n", Number(2)), Make("z", (Name("n"),), FLOAT), filling("i", stop=Name("n")),
            Assign("n", Number(1)), filling("j", stop=Name("n"))]
    assert left(*rows) == rows


def test_tables_are_filled_by_loops_in_loops() -> None:
    table = Make("z", (N, Number(3)), FLOAT)

    def fill(i: str, j: str, *indices: str) -> For:
        return For(i, ZERO, N, Body([For(j, ZERO, Number(3), Body([
            Store("z", tuple(map(Name, indices)), ONE)]))]))

    second = fill("k", "l", "k", "l")
    assert left(table, fill("i", "j", "i", "j"), second)[1].body.rows[0].body.rows == []
    turned = [table, fill("i", "j", "i", "j"), fill("k", "l", "l", "k")]
    assert left(*turned) == turned


def projections(x: Any, factors: Any) -> Any:
    n, size = x.shape
    projected = np.zeros(size)
    total = 0.0
    for i in range(n):
        for a in range(size):
            projected[a] = factors[a] * x[i, a]
        for a in range(size):
            for b in range(a + 1, size):
                projected[b] += x[i, a] * projected[b] * factors[a]
        for a in range(size):
            total += projected[a] * projected[a] * x[i, a]
    return total


def sums_only(x: Any, factors: Any) -> Any:
    n, size = x.shape
    projected = np.zeros(size)
    total = 0.0
    for i in range(n):
        for a in range(size):
            projected[a] = factors[a] * x[i, a]
        for a in range(size):
            for b in range(a + 1, size):
                projected[b] += x[i, a] * factors[a]
        for a in range(size):
            total += projected[a] * projected[a] * x[i, a]
    return total


def part_of_it(x: Any, factors: Any) -> Any:
    """The first element is what the row before has left there."""
    n, size = x.shape
    projected = np.ones(size)
    total = 0.0
    for i in range(n):
        for a in range(1, size):
            projected[a] = factors[a] * x[i, a]
        for a in range(size):
            projected[a] += x[i, a] * 0.5
        for a in range(size):
            total += projected[a] * projected[a] * x[i, a]
    return total


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (4, 3), (7, 5)])
@pytest.mark.parametrize("program", [projections, sums_only, part_of_it])
def test_gradients_are_those_of_python(program: Any, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    args = rng.normal(size=shape), rng.normal(size=shape[1])
    expected = outcome(grad(program, (0, 1)), *args)
    assert same(outcome(grad(program, (0, 1), backend="native"), *args), expected)


@pytest.mark.parametrize(("program", "is_kept"), [(sums_only, False), (projections, True)])
def test_sums_keep_nothing_of_what_they_overwrite(program: Any, is_kept: bool) -> None:
    lines = loops_of(program, np.ones((4, 3)), np.ones(3), argnums=(0, 1)).splitlines()
    (head,) = (i for i, line in enumerate(lines) if line.lstrip().startswith("for b in"))
    depth = len(lines[head]) - len(lines[head].lstrip())
    inner = itertools.takewhile(
        lambda line: len(line) - len(line.lstrip()) > depth, lines[head + 1 :])
    assert any("tape[" in line for line in inner) is is_kept

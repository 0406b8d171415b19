"""The table of passes over loops: each runs in its place, for the functions that it is for."""

from __future__ import annotations

from typing import Any

import pytest

from adcompiler.backends.native.passes import table as passes
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, BlockFunction, Body, For, Forever, Leave, LoopFunction, Name, Number,
    Output, Parameter, Row, Spread, Use, When, blocks_in, rows_of,
)
from adcompiler.backends.native.rewriting import with_blocks, with_exprs, with_rows
from adcompiler.backends.native.writer import Writer

ONE, TWO = Number(1.0), Number(2.0)
KINDS = (passes.WHOLE, passes.RECURSIVE, passes.SEED_BY_SEED, passes.ALL_SEEDS)


def nested(rows: list[Row]) -> Body:
    """Return a block in which statements stand in each kind of block."""
    function = BlockFunction("block", "here", "first", "last", ("x",), Body(rows), ())
    return Body([
        When(Name("t"), Body(rows), Body(rows)), For("i", Number(0), Number(3), Body(rows)),
        Forever(Body(rows)), Spread(function, Number(0), Number(3), "blocks", "ended", (), ()),
    ])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("of_each", [True, False])
def test_passes_run_in_the_order_of_the_table(
    kind: str, of_each: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def noting(name: str) -> Any:
        def run(w: Writer, function: LoopFunction) -> LoopFunction:
            ran.append(name)
            return function
        return run

    table = [(name, noting(name), kinds) for name, _, kinds in passes.PASSES]
    monkeypatch.setattr(passes, "PASSES", table)
    monkeypatch.setattr(passes, "OF_EACH", tuple(
        run for name, run, _ in table if name in ("rows_together", "turned_products")))
    function = LoopFunction("f", (), Body(), (), None)
    assert passes.improved(Writer(), function, kind, of_each) is function
    assert ran == [name for name, _, kinds in table if kind in kinds and (
        of_each or name not in ("rows_together", "turned_products"))]


def test_a_function_without_loops_stays_what_it_is() -> None:
    body = Body([Assign("y", Binary("*", Name("x"), TWO))])
    function = LoopFunction(
        "f", (Parameter("x", FLOAT, None, 0),), body, (Output(Name("y"), FLOAT),), 0)
    for kind in KINDS:
        assert passes.improved(Writer(), function, kind) == function


def test_the_rewriter_goes_into_every_block() -> None:
    body = nested([Assign("y", ONE)])
    assert [len(blocks_in(row)) for row in body.rows] == [2, 1, 1, 1]
    doubled = with_rows(body, lambda row: [row, row] if isinstance(row, Assign) else [row])
    assert sum(isinstance(row, Assign) for row in rows_of(doubled)) == 10
    assert with_rows(body, lambda row: [row]) == body
    without = with_rows(body, lambda row: [] if isinstance(row, Assign) else [row])
    assert without == nested([])
    assert with_blocks(body.rows[0], lambda block: Body()) == When(Name("t"), Body(), Body())


def test_inner_statements_are_rewritten_first() -> None:
    met: list[type] = []

    def note(row: Row) -> list[Row]:
        met.append(type(row))
        return [row]

    with_rows(Body([For("i", Number(0), Number(3), Body([Assign("y", ONE)])), Leave()]), note)
    assert met == [Assign, For, Leave]


def test_expressions_are_replaced_everywhere_in_a_statement() -> None:
    def new(expr: Any) -> Any:
        return TWO if expr == ONE else expr

    row = For("i", ONE, ONE, Body([
        When(ONE, Body([Assign("y", ONE)]), Body([Leave(ONE, ValueError)])),
        Use("z", "helper", (ONE, "x"), writes=("x",)),
    ]))
    assert with_exprs(row, new) == For("i", TWO, TWO, Body([
        When(TWO, Body([Assign("y", TWO)]), Body([Leave(TWO, ValueError)])),
        Use("z", "helper", (TWO, "x"), writes=("x",)),
    ]))

"""The IR of every stage gives what Python gives, for programs of the corpus and random ones.

A quarter of the corpus is run, which ``ADCOMPILER_STAGES_PART`` chooses;
``ADCOMPILER_ALL_STAGES=1`` runs all of it, in all modes.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing
from adcompiler.compile.pipeline import stages
from adcompiler.errors import ADError
from adcompiler.ir import types as t
from tests.evaluation.evaluate import Evaluator, Watch
from adcompiler.ir.nodes import (
    Block, Call, Const, Function, Let, Origin, Param, Update, Var,
)
from adcompiler.ir.visit import with_blocks
from adcompiler.optimise import passes
from adcompiler.runtime.unfit import Unfit
from adcompiler.typed.unit import Unit
from tests.corpus.program import Program, is_scalar
from tests.corpus.test_corpus import PROGRAMS
from tests.evaluation.stages import Compilation, Differs, compare
from adcompiler.typed.result_shapes import BY_MEANING
from tests.evaluation.watches import Contradiction, Facts, Shapes, Types, Values, watching
from tests.lanes import one_in
from tests.properties import checking
from tests.properties.fuzz import program_of

ALL = bool(os.environ.get("ADCOMPILER_ALL_STAGES"))
PART = int(os.environ.get("ADCOMPILER_STAGES_PART", "2")) % 4
MODES = ("vjp", "forward", "value_and_grad", "batched vjp", "batched forward")


def chosen() -> Iterator[tuple[Program, str]]:
    for number, program in enumerate(PROGRAMS):
        if ALL:
            yield from ((program, mode) for mode in MODES)
        elif number % 4 == PART:
            yield program, MODES[number // 4 % len(MODES)]


def check(program: Program, mode: str) -> None:
    case = next(program.cases())
    batched, mode = mode.startswith("batched"), mode.removeprefix("batched ")
    if mode == "value_and_grad" and not is_scalar(case.value):
        mode = "vjp"
    seed = case.weights
    if mode == "forward":
        seed = case.direction(program.positions, np.random.default_rng(3))
    if batched:
        seed = stacked([seed, scaled(seed)])
    argnums = program.argnums if mode == "value_and_grad" else program.positions
    compare(program.function, case.args, argnums, mode, seed, watching, batched)


def stacked(values: list[Any]) -> Any:
    """Return one structure with a leading axis, one row for each of several."""
    first = values[0]
    if isinstance(first, (list, tuple)):
        return type(first)([stacked(list(row)) for row in zip(*values, strict=True)])
    if isinstance(first, dict):
        return {key: stacked([value[key] for value in values]) for key in first}
    return np.array(values)


def scaled(value: Any) -> Any:
    """Return another seed of the same form."""
    return checking.like(value, lambda x: 0.5 - x)


@pytest.mark.parametrize(("program", "mode"), one_in(5, chosen()), ids=str)
def test_every_stage_of_a_program_gives_the_same(program: Program, mode: str) -> None:
    check(program, mode)


@pytest.mark.parametrize("first", one_in(4, range(0, 400 if ALL else 40, 10)))
def test_every_stage_of_random_programs_gives_the_same(first: int) -> None:
    checked = sum(is_checked(seed) for seed in range(first, first + 10))
    assert checked >= 3  # some are refused, and a few raise or read what np.empty gives


def is_checked(seed: int) -> bool:
    """Check a random program; return whether it could be."""
    program = program_of(seed)
    try:
        with checking.quiet():
            function = checking.made(program)
            value, left = checking.primal(function, program.args)
            with checking.filled():
                again = checking.primal(function, program.args)
            if not checking.agree(again, (value, left), 0.0):
                return False
            mode = MODES[seed % (3 if program.scalar else 2)]
            given = checking.cotangent(program, value)
            if mode == "forward":
                given = scaled(program.args[: len(program.argnums)])
            single = checking.tolerance_of(program) > 1e-6
            compare(function, program.args, program.argnums, mode, given,
                    partial(watching, single=single), tolerance=1e-3 if single else 1e-8)
    except (checking.Skip, ADError, Unfit):
        return False
    return True


# -- what is wrong is noticed, and the stage named ------------------------------------------------


def shifted(x: float) -> float:
    return x * 3.0 + x * x


def with_sums_as_differences(block: Block) -> Block:
    def changed(statement: Any) -> Any:
        match statement:
            case Let(target, Call(Const(value), args), origin) if value is operator.add:
                return Let(target, Call(Const(operator.sub), args), origin)
        return with_blocks(statement, with_sums_as_differences)

    return Block(tuple(map(changed, block.statements)), block.yields, block.diverges)


def test_the_stage_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    compare(shifted, (1.5,), 0, "value_and_grad")
    wrong = (*passes.PASSES, ("wrong", lambda block, *_: with_sums_as_differences(block)))
    monkeypatch.setattr(passes, "PASSES", wrong)
    with pytest.raises(Differs, match="optimise: value"):
        compare(shifted, (1.5,), 0, "value_and_grad")


def test_an_emitter_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    emitted = Compilation.emitted
    monkeypatch.setattr(Compilation, "emitted", lambda self, made: doubled(emitted(self, made)))
    with pytest.raises(Differs, match="source: value"):
        compare(shifted, (1.5,), 0, "vjp", 1.0)


def doubled(call: Callable[..., Any]) -> Callable[..., Any]:
    def calling(*args: Any) -> Any:
        value, pullback = call(*args)
        return 2.0 * value, pullback

    return calling


def scaled_write(x: Any) -> Any:
    y = x * 2.0
    z = y[1:]
    y[0] = 3.0 * x[1]
    return np.sum(y) + np.sum(z)


def watch(check: Callable[[Unit], Watch], change: Callable[[Unit], None]) -> None:
    """Evaluate a program with one watch, after a change of what is recorded of it."""

    def changing(stage: str, unit: Unit) -> Watch:
        if stage != "types":
            return Watch()
        change(unit)
        return check(unit)

    compare(scaled_write, (np.array([1.0, 2.0]),), 0, "value_and_grad", None, changing)


def test_a_type_that_is_wrong_is_noticed() -> None:
    def change(unit: Unit) -> None:
        for var in unit.types:
            if var.name == "z":
                unit.types[var] = t.Array("float64", 2)

    watch(Types, lambda unit: None)
    with pytest.raises(Contradiction, match=r"z: float64.* has the value"):
        watch(Types, change)


def test_a_value_read_after_it_was_overwritten_is_noticed() -> None:
    compilation = Compilation.of(scaled_write, (np.array([1.0, 2.0]),), 0, "grad")
    _, (_, unit, (main, *_)), *_ = stages(compilation.request)
    write = next(s for s in main.body.statements if is_update(s))
    late = Let(Var("late"), Call(Const(np.sum), (write.rhs.obj,)), write.origin)
    body = Block((*main.body.statements, late), main.body.yields)
    Evaluator(watch=Values(unit)).run(main, np.array([1.0, 2.0]))
    with pytest.raises(Contradiction, match=r"y was .* and is read as .* by a call of sum"):
        Evaluator(watch=Values(unit)).run(replace(main, body=body), np.array([1.0, 2.0]))


def is_update(statement: Any) -> bool:
    return isinstance(statement, Let) and isinstance(statement.rhs, Update)


def test_storage_that_is_shared_against_the_facts_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    watch(Facts, lambda unit: None)
    monkeypatch.setattr(Sharing, "of", lambda *_: iter(()))
    with pytest.raises(Contradiction, match="a subscript shares storage with y"):
        watch(Facts, lambda unit: None)


def test_a_call_that_writes_against_the_facts_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def writes(x: Any) -> float:
        x[0] = 5.0
        return 1.0

    x, y, here = Var("x"), Var("y"), Origin("here.py", 1, 0, "")
    made = Function("made", (Param(x, 1),), Block((Let(y, Call(Const(writes), (x,)), here),), (y,)),
                    here)
    unit = Unit(root=writes)
    Evaluator(watch=Facts(unit)).run(made, np.zeros(2))
    monkeypatch.setattr(Purity, "is_pure", lambda *_: True)
    with pytest.raises(Contradiction, match="writes is pure, but has changed x"):
        Evaluator(watch=Facts(unit)).run(made, np.zeros(2))


def test_a_result_of_another_shape_than_elementwise_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.evaluation.watches.is_elementwise", lambda function: True)
    with pytest.raises(Contradiction, match="is elementwise, but gives"):
        compare(lambda x: np.outer(x, x).sum(), (np.ones(2),), 0, "vjp", 1.0,
                lambda stage, unit: Facts(unit))


def test_an_extent_other_than_the_one_that_is_known_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(BY_MEANING, "concatenate", lambda of, args, kwargs: (
        of.shape(of.elements(args[0])[0])))
    with pytest.raises(Contradiction, match=r"x\.shape\[0\] is 2, the shape \(4,\)"):
        compare(lambda x: np.concatenate((x, x)).sum(), (np.ones(2),), 0, "vjp", 1.0,
                lambda stage, unit: Shapes(unit))

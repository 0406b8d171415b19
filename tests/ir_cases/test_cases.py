"""Cases of IR before and after a pass, or with what an analysis says of it: ``*.txt``.

A case is headed ``== pass: title``; a line ``where x = ..., y = ...`` gives the values with which
it is run. Behind ``-->`` stands what comes out. The evaluator runs the function before and after a
pass on the values, and compares a derivative with differences.

To write anew what comes out, and read the difference: ``python -m tests.ir_cases.test_cases``.
"""

from __future__ import annotations

import copy
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adcompiler.analyses.activity import active_variables, varied_variables
from adcompiler.analyses.shift_invariance import cancelled_shifts
from adcompiler.analyses.liveness import live_variables
from adcompiler.analyses.single_use import reused_variables
from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing
from adcompiler.analyses.versions import Versions, exposed_values
from tests.evaluation.evaluate import Evaluator, Watch
from adcompiler.ir.nodes import Block, Function, Let, Var
from adcompiler.ir.verifier import verify
from adcompiler.ir.visit import walk
from adcompiler.optimise.passes import PASSES, optimise
from adcompiler.products.joint import gradient
from adcompiler.products.pushforward import pushforward
from adcompiler.products.specialised import Typed
from adcompiler.typed.unit import Unit
from tests.ir_cases.reader import Names, read

HERE = Path(__file__).parent
HEAD = re.compile(r"^== ([\w ]+): (.+)$", re.M)
STEP = 1e-6


@dataclass(frozen=True)
class Case:
    """One case, with the text that it stands in."""

    file: str
    what: str
    title: str
    values: tuple[Any, ...]
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what}: {self.title}"


def cases(path: Path) -> list[Case]:
    """Return the cases of a file."""
    text = path.read_text(encoding="utf-8")
    heads = list(HEAD.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    found = []
    for head, end in zip(heads, ends, strict=True):
        before, _, after = text[head.end() : end].strip("\n").partition("\n-->\n")
        where, _, before = before.partition("\n")
        given: dict[str, Any] = eval(f"dict({where.removeprefix('where')})", {"np": np})
        found.append(Case(
            path.name, head[1], head[2], tuple(given.values()), before, after.strip("\n")))
    return found


CASES = [case for path in sorted(HERE.glob("*.txt")) for case in cases(path)]


def run(function: Function, values: tuple[Any, ...], watch: Watch | None = None) -> Any:
    """Return what a function gives for copies of the values."""
    with np.errstate(all="ignore"):
        return Evaluator(watch=watch).run(function, *copy.deepcopy(values))


def same(found: Any, wanted: Any, tolerance: float = 1e-12) -> None:
    """Compare results, or what is in them."""
    if isinstance(wanted, (list, tuple)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            same(a, b, tolerance)
    else:
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


# -- passes ----------------------------------------------------------------------------------------

REWRITES = dict(PASSES)


def after_pass(case: Case, function: Function, unit: Unit) -> str:
    """Return a function after a pass, which gives what it gave before."""
    purity = Purity(unit.type, unit.definition)
    unit.settings = replace(unit.settings, reads_again=case.what == "saved_less")
    if case.what == "optimise":
        body = optimise(function.body, unit)
    else:
        body = REWRITES[case.what](function.body, unit, purity)
    made = replace(function, body=body)
    verify(made, unit.type)
    same(run(made, case.values), run(function, case.values))
    return Names().function(made)


# -- derivatives -----------------------------------------------------------------------------------


def typed(function: Function, unit: Unit) -> Typed:
    """Return a function of which the derivative in all floats and arrays of them is wanted."""
    params = [param.var for param in function.params]
    inputs = [var for var in params if getattr(unit.type(var), "kind", "") == "float"]
    (value,) = function.body.yields
    return Typed(function, params, function.body.statements, value, function.origin, inputs)


def moved(values: tuple[Any, ...], along: tuple[Any, ...], step: float) -> tuple[Any, ...]:
    """Return values moved along tangents."""
    return tuple(v if t is None else v + step * t for v, t in zip(values, along, strict=True))


def slope(function: Function, values: tuple[Any, ...], along: tuple[Any, ...]) -> Any:
    """Return the derivative along tangents, by differences."""
    ends = [run(function, moved(values, along, step)) for step in (STEP, -STEP)]
    return (ends[0] - ends[1]) / (2.0 * STEP)


def tangents(values: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """Return tangents of the values that are floats, or arrays of them."""
    rng = np.random.default_rng(seed)
    return tuple(
        rng.normal(size=np.shape(v)) if isinstance(v, np.ndarray) else
        float(rng.normal()) if isinstance(v, float) else None for v in values
    )


def after_gradient(case: Case, function: Function, unit: Unit) -> str:
    """Return the joint function of value and gradient."""
    wanted = typed(function, unit)
    product = gradient(unit, wanted, True, False, len(wanted.inputs) == 1)
    made = product.functions[0]
    if case.what.startswith("optimised"):
        made = replace(made, body=optimise(made.body, unit))
    verify(made, unit.type)
    value, *rest = run(made, case.values)
    bars = rest[0] if len(rest) == 1 and isinstance(rest[0], tuple) else tuple(rest)
    same(value, run(function, case.values))
    for seed in range(3):
        along = tangents(case.values, seed)
        there = [t for t in along if t is not None]
        expected = sum(np.sum(bar * t) for bar, t in zip(bars, there, strict=True))
        same(expected, slope(function, case.values, along), 1e-7)
    return Names().function(made)


def after_pushforward(case: Case, function: Function, unit: Unit) -> str:
    """Return the function of arguments and tangents."""
    product = pushforward(unit, typed(function, unit))
    made = product.functions[0]
    verify(made, unit.type)
    for seed in range(3):
        along = tangents(case.values, seed)
        there = tuple(t for t in along if t is not None)
        value, dot = run(made, (*case.values, *there))
        same(value, run(function, case.values))
        same(dot, slope(function, case.values, along), 1e-7)
    return Names().function(made)


# -- analyses --------------------------------------------------------------------------------------


class Values(Watch):
    """Notes the values of variables."""

    def __init__(self) -> None:
        self.values: dict[Var, list[Any]] = {}

    def bound(self, var: Var, values: Any) -> None:
        self.values.setdefault(var, []).append(copy.deepcopy(values[var]))


def observed(function: Function, values: tuple[Any, ...]) -> dict[Var, list[Any]]:
    """Return all values of the variables of a function."""
    watch = Values()
    run(function, values, watch)
    return watch.values


def names(variables: Any, function: Function) -> str:
    """Return the names of variables, as they are printed, in order."""
    printer = Names()
    printer.function(function)
    order = list(printer.names)
    return " ".join(printer.var(v) for v in sorted(
        (v for v in variables if isinstance(v, Var)), key=order.index)) or "nothing"


def varied(case: Case, function: Function, unit: Unit) -> str:
    """Return what varies with the inputs; what does not has one value, wherever these are."""
    inputs = typed(function, unit).inputs
    found = varied_variables(function.body, inputs, unit.type)
    here = observed(function, case.values)
    there = observed(function, moved(case.values, tangents(case.values, 0), 1e-3))
    for var in here.keys() & there.keys() - found - set(inputs):
        if getattr(unit.type(var), "kind", "") == "float":
            same(here[var], there[var])
    return names(found, function)


def active(case: Case, function: Function, unit: Unit) -> str:
    """Return what varies with the inputs and decides the result."""
    inputs, outputs = typed(function, unit).inputs, function.body.yields
    found = active_variables(function.body, inputs, outputs, unit.type)
    assert found <= varied_variables(function.body, inputs, unit.type)
    return names(found, function)


def impure(case: Case, function: Function, unit: Unit) -> str:
    """Return what may not be dropped; what may be changes no argument."""
    purity = Purity(unit.type, unit.definition)
    lets = [s for s in walk(function.body) if isinstance(s, Let)]
    return names((s.target for s in lets if not purity.is_pure(s.rhs)), function)


def sharing(case: Case, function: Function, unit: Unit) -> str:
    """Return which values may share storage; what does share it is among them."""
    answers = Sharing(unit.type, unit.definition)
    rows, of = [], {}
    for statement in walk(function.body):
        if isinstance(statement, Let):
            of[statement.target] = list(answers.of(statement.target, statement.rhs))
            for atom, how in of[statement.target]:
                word = how if isinstance(how, str) else "a part of"
                target, of_atom = (names([v], function) for v in (statement.target, atom))
                rows.append(f"{target} {word} {of_atom}")
    watch = Watch()
    shown: dict[Var, Any] = {}
    watch.bound = lambda var, values: shown.update({var: values[var]})  # type: ignore[method-assign]
    run(function, case.values, watch)
    for var, operands in of.items():
        for other, value in shown.items():
            if isinstance(value, np.ndarray) and isinstance(shown.get(var), np.ndarray) and (
                other is not var and other in reads(function, var)
            ):
                shares = np.shares_memory(value, shown[var])
                assert not shares or other in [atom for atom, _ in operands]
    return "\n".join(rows) or "nothing"


def reads(function: Function, var: Var) -> list[Any]:
    """Return what the definition of a variable reads."""
    from adcompiler.ir.nodes import operands

    return [
        atom for s in walk(function.body) if isinstance(s, Let) and s.target is var
        for atom in operands(s.rhs)
    ]


def versions(case: Case, function: Function, unit: Unit) -> str:
    """Return the values whose storage goes on to hold another one."""
    return names(Versions(function.body).destroyed, function)


def exposed(case: Case, function: Function, unit: Unit) -> str:
    """Return what does not stay as it is."""
    return names(exposed_values(function.body, Sharing(unit.type, unit.definition)), function)


def shifts(case: Case, function: Function, unit: Unit) -> str:
    """Return the maxima that the result does not depend on: with others it is the same."""
    (output,) = function.body.yields
    return names(cancelled_shifts(function.body, output, unit.type), function)


WHAT: dict[str, Callable[[Case, Function, Unit], str]] = {
    "gradient": after_gradient, "optimised gradient": after_gradient,
    "pushforward": after_pushforward, "varied": varied, "active": active, "impure": impure,
    "sharing": sharing, "versions": versions, "exposed": exposed, "cancelled shifts": shifts,
    "live": lambda case, function, unit: names(live_variables(function), function),
    "reused": lambda case, function, unit: names(reused_variables(function), function),
}


def outcome(case: Case) -> str:
    """Return what comes out of a case."""
    function, unit = read(case.before, case.values)
    verify(function, unit.type)
    return WHAT.get(case.what, after_pass)(case, function, unit)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_comes_out(case: Case) -> None:
    assert outcome(case) == case.after


def test_there_are_cases_of_passes_analyses_and_derivatives() -> None:
    kinds = [case.what for case in CASES]
    assert len(kinds) >= 40
    assert set(kinds) >= set(WHAT)
    assert {name for name, _ in PASSES} - set(kinds) <= AGAIN


AGAIN = {"algebra_again", "dead_code_between", "dead_code_again", "algebra_on_common"}
"""Passes that run more than once."""


def test_a_pass_that_changes_the_value_is_found() -> None:
    case = Case("", "wrong", "", (0.5,), "def f(x):\n    y = <math.sin>(x)\n    yield y", "")
    REWRITES["wrong"] = lambda block, unit, purity: Block((), (block.statements[0].rhs.args[0],))  # type: ignore[union-attr]
    try:
        with pytest.raises(AssertionError, match="Not equal to tolerance"):
            outcome(case)
    finally:
        del REWRITES["wrong"]


def rewrite(path: Path) -> None:
    """Write a file's cases anew."""
    text = path.read_text(encoding="utf-8")
    preface = text[: text.index("== ")]
    rows = []
    for case in cases(path):
        block = text[text.index(f"== {case}") :].split("\n-->\n")[0].split("\n== ")[0].rstrip()
        try:
            rows.append(f"{block}\n-->\n{outcome(case)}\n")
        except Exception as error:
            raise RuntimeError(f"{path.name}: {case}") from error
    path.write_text(preface + "\n".join(rows), encoding="utf-8")


if __name__ == "__main__":
    for each in [HERE / name for name in sys.argv[1:]] or sorted(HERE.glob("*.txt")):
        rewrite(each)

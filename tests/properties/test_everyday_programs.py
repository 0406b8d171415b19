"""Random programs of everyday code, and the further checks: each notices what it is there for."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from tests.lanes import one_in
from tests.properties import more_checks
from tests.properties.everyday import ODD_NAMES, renamed
from tests.properties.features import EVERYDAY
from tests.properties.fuzz import Tally, outcome, program_of, run
from tests.properties.more_checks import (
    CHECKS, imported_module, pattern, several_seeds, written_gradient,
)
from tests.properties.values import Program

SOURCE = """
import numpy as np

def f(x, v):
    y = v * x
    y[0] = 2.0
    return np.sum(y * y)
"""
PROGRAM = Program(SOURCE, (0.5, np.array([1.0, 2.0, 3.0])))
GRADIENT = (13.0, np.array([0.0, 1.0, 1.5]))


@pytest.mark.parametrize("first", one_in(6, range(0, 24, 4)))
def test_everyday_programs(first: int) -> None:
    found = {seed: outcome(program_of(seed, "everyday")) for seed in range(first, first + 4)}
    assert not {seed: why for seed, (verdict, why) in found.items() if verdict == "failed"}
    assert sum(verdict == "clean" for verdict, _ in found.values()) >= 1


def test_everyday_programs_run() -> None:
    tally = Tally()
    for tally in run(150, 0, kinds="everyday", plain=True):  # noqa: B007
        pass
    assert tally.counts["clean"] >= 110, str(tally)
    assert tally.features.keys() >= EVERYDAY.keys(), EVERYDAY.keys() - tally.features.keys()


def test_parameters_are_called_oddly() -> None:
    sources = [renamed(SOURCE, Random(i)) for i in range(100)]
    firsts = {name for name in ODD_NAMES if any(f"def f({name}, " in s for s in sources)}
    assert len(firsts) >= 20
    assert all(Program(s, PROGRAM.args).function()(*PROGRAM.args) == 7.25 for s in sources)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_checks_pass_what_is_right(check: Any) -> None:
    check(PROGRAM.function(), PROGRAM, 1.0, GRADIENT, 1e-12)


@pytest.mark.parametrize(("check", "why"), [
    (pattern, "the pattern lacks"), (imported_module, "the module gives"),
    (written_gradient, "a later gradient changed"),
])
def test_the_checks_notice_another_gradient(check: Any, why: str) -> None:
    wrong = (13.0, np.array([0.5, 1.0, 1.5]))
    with pytest.raises(AssertionError, match=why):
        check(PROGRAM.function(), PROGRAM, 1.0, wrong, 1e-12)


def test_seeds_that_are_taken_for_one_another_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def first_for_all(function: Any, *args: Any, argnums: Any) -> Any:
        return None, lambda seeds: (
            np.full(len(seeds), 13.0), np.tile(GRADIENT[1], (len(seeds), 1)))

    monkeypatch.setattr(more_checks, "batched_vjp", first_for_all)
    with pytest.raises(AssertionError, match="seeds at once"):
        several_seeds(PROGRAM.function(), PROGRAM, 1.0, GRADIENT, 1e-12)


def test_a_gradient_that_is_the_callers_argument_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(more_checks, "value_and_grad", lambda function, argnums: (
        lambda x, v: (7.25, (13.0, v))))
    with pytest.raises(AssertionError, match="an argument changed with the gradient"):
        written_gradient(PROGRAM.function(), PROGRAM, 1.0, GRADIENT, 1e-12)

"""Mutants of corpus programs and library functions; ``mutants.py`` says how to run more of them."""

from __future__ import annotations

import ast
import os
import time
from random import Random

import numpy as np
import pytest
from tests.lanes import one_in
from tests.properties import mutants
from tests.properties.mutants import Mutant, Ran, compared, outcome, run
from tests.properties.mutations import EDITS, mutated

from adcompiler.errors import InternalError, UnsupportedError

COUNT = int(os.environ.get("ADCOMPILER_MUTANTS", 24))


@pytest.mark.parametrize("seed", one_in(2, range(70000, 70000 + COUNT)))
def test_a_mutant_does_what_python_does(seed: int) -> None:
    mutant = Mutant.of(seed)
    verdict, reason = outcome(mutant)
    assert verdict != "failed", f"{mutant}: {reason}"


PROGRAM = """
def f(x, n):
    total = 0.0
    for i in range(n):
        if i > 1:
            total = total + x * i
    return total
"""


def test_every_kind_of_change_is_made() -> None:
    (tree,) = ast.parse(PROGRAM).body
    assert isinstance(tree, ast.FunctionDef)
    for edit in EDITS:
        copies = [ast.parse(PROGRAM).body[0] for _ in range(20)]
        texts = [edit(copy, Random(i)) for i, copy in enumerate(copies)]  # type: ignore[arg-type]
        changed = [ast.unparse(copy) != ast.unparse(tree) for copy in copies]
        assert any(changed), edit.__name__
        assert all(text is not None for text, c in zip(texts, changed, strict=True) if c)
    assert len({ast.unparse(next(mutated(tree, Random(i)))[0]) for i in range(50)}) > 20


def test_a_seed_has_one_mutant() -> None:
    assert str(Mutant.of(17)) == str(Mutant.of(17))
    assert ast.unparse(Mutant.of(17).tree) == ast.unparse(Mutant.of(17).tree)


def fails(seed: int) -> tuple[str, str]:
    """Do what a mutant may do to its process."""
    if seed == 0:
        os._exit(134)
    if seed == 1:
        time.sleep(60.0)
    if seed == 2:
        np.ones(mutants.MEMORY // 4)
    return "clean", ""


def test_what_hangs_dies_or_takes_all_memory_is_reported() -> None:
    found = {seed: (verdict, reason) for seed, verdict, reason in run(range(4), 1, fails, 5.0)}
    assert found[0] == ("failed", "the process ended with 134")
    assert found[1] == ("failed", "hung for 5 s")
    assert found[2][0] == "failed"
    assert "MemoryError" in found[2][1]
    assert found[3] == ("clean", "")


def test_exceptions_are_compared() -> None:
    value, other = Ran(1.0, None, ()), Ran(None, ValueError("a"), ())
    assert compared(value, value, ()) is None
    assert compared(other, other, ()) == ("clean", "raises")
    assert compared(other, value, ()) == ("failed", "no exception (None), Python: ValueError (a)")
    assert compared(value, Ran(None, NameError("max_1"), ()), ())[0] == "failed"  # type: ignore[index]
    assert compared(value, Ran(None, UnsupportedError([]), ()), ()) == (
        "refused", "UnsupportedError")
    assert compared(value, Ran(None, InternalError("x"), ()), ()) == ("failed", "InternalError: x")

"""Programs of the corpus and random ones: loops give what Python gives, or are declined."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad
from adcompiler.errors import UnsupportedError
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in
from tests.native.test_arrays_agree import close
from tests.native.test_backends_agree import same, watched
from tests.properties.programs import random_program

LEAST = 8
"""So many programs of the corpus are compiled to loops of the same bits, at least."""


def agrees(function: Any, args: tuple[Any, ...], argnums: Any) -> bool:
    """Check that both backends agree, and return whether loops ran and gave the same bits.

    Products, norms, and sums of arrays that are turned add their terms in another order.
    """
    native = value_and_grad(function, argnums=argnums, backend="native")
    try:
        native.compiled_for(*copy.deepcopy(args))
    except UnsupportedError as error:
        assert {finding.anchor for finding in error.findings} == {"native"}
        return False
    came = watched(native, *copy.deepcopy(args))
    expected = value_and_grad(function, argnums=argnums)(*copy.deepcopy(args))
    got = native(*copy.deepcopy(args))
    assert close(got, expected)
    assert all(isinstance(one, (bool, np.bool_)) for one in came), came
    return came[0] and same(got[1], expected[1])


@pytest.mark.parametrize("part", one_in(8, range(8)))
def test_programs_of_the_corpus(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    ran = 0
    for program in PROGRAMS[part::8]:
        args = program.samples(np.random.default_rng(0))
        value = program.function(*copy.deepcopy(args))
        if isinstance(value, (float, int, np.floating)):
            ran += agrees(program.function, args, program.argnums)
    assert ran >= LEAST


@pytest.mark.parametrize("first", [0, 1000])
def test_random_programs(first: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    for seed in range(first, first + 8):
        program = random_program(seed, size=3)
        if program.scalar:
            agrees(program.function(), program.args, program.argnums)

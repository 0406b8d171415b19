"""Random programs: value and gradients against plain Python and finite differences.

``ADCOMPILER_FUZZ=N`` runs N further programs, with new seeds (``make fuzz``).
"""

import os
import time
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.properties.checking import SLOW, Skip, check
from tests.properties.minimise import minimise
from tests.properties.programs import Program, Writer, random_program

CI = settings(
    max_examples=60, derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)


def check_or_skip(program: Program) -> bool:
    """Check a program; return whether it could be."""
    try:
        took = check(program)
    except Skip:
        return False
    assert took < SLOW, f"compiling took {took:.1f} s\n{program}"
    return True


@CI
@given(st.randoms(use_true_random=False))
def test_small_random_programs(rng: Random) -> None:
    check_or_skip(Writer(rng, size=2).program())


@pytest.mark.parametrize("first", range(0, 160, 20))
def test_random_programs(first: int) -> None:
    checked = sum(check_or_skip(random_program(seed)) for seed in range(first, first + 20))
    assert checked >= 10  # few programs raise or are not smooth


@pytest.mark.skipif("ADCOMPILER_FUZZ" not in os.environ, reason="set ADCOMPILER_FUZZ=N")
def test_fuzz() -> None:
    start = int(os.environ.get("ADCOMPILER_FUZZ_SEED", time.time_ns() // 10**6))
    for seed in range(start, start + int(os.environ["ADCOMPILER_FUZZ"])):
        program = random_program(seed, 6)
        kind = failure(program)
        if kind is not None:
            small = minimise(program, lambda p, kind=kind: failure(p) == kind, 2)
            pytest.fail(f"seed {seed}: {kind}\n{small}")


def failure(program: Program) -> str | None:
    """Return what kind of failure a program shows: an exception and where it was raised."""
    try:
        check_or_skip(program)
    except SyntaxError:
        return None
    except Exception as error:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        where = trace.tb_frame.f_code.co_name if trace is not None else ""
        return f"{type(error).__name__} in {where}"
    return None

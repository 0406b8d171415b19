"""Random programs: value, effects and gradients against plain Python and finite differences.

``ADCOMPILER_PROGRAMS=N`` takes N seeds of each kind instead of 60, always the same ones, and three
quarters as many small programs;
``ADCOMPILER_FUZZ=N`` runs N further programs, with new seeds (``make fuzz``); ``fuzz.py`` says how
to run them by hand.
"""

import ast
import os
import time
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.lanes import one_in
from tests.properties.checking import SLOW, Refused, Skip, check
from tests.properties.features import WRITES
from tests.properties.fuzz import Tally, outcome, program_of, run, smallest
from tests.properties.minimise import minimise
from tests.properties.programs import WRITING, Program, Writer, random_program

# The share of programs with writes that may be refused: all of them until writes are supported.
MOST_REFUSED = 1.0

PROGRAMS = int(os.environ.get("ADCOMPILER_PROGRAMS", "60"))

EXAMPLES = one_in(2, [max(PROGRAMS // 8, 1), max(PROGRAMS * 3 // 4, 1)])
"""How many small programs there are in the first lane, and in the second one."""

CI = settings(
    derandomize=True, deadline=None, database=None,
    suppress_health_check=list(HealthCheck),
)


def check_or_skip(program: Program) -> bool:
    """Check a program; return whether it could be."""
    try:
        took = check(program, texts=not program.features & WRITES or len(program.source) % 4 == 0)
    except Skip:
        return False
    assert took < SLOW, f"compiling took {took:.1f} s\n{program}"
    return True


def check_or_refuse(program: Program) -> str:
    """Check a program with writes; return "clean", "discarded" or "refused"."""
    try:
        return "clean" if check_or_skip(program) else "discarded"
    except Refused:
        return "refused"


@pytest.mark.parametrize("examples", EXAMPLES)
def test_small_random_programs(examples: int) -> None:
    @settings(CI, max_examples=examples)
    @given(st.randoms(use_true_random=False))
    def run(rng: Random) -> None:
        check_or_skip(Writer(rng, size=2).program())

    run()


@pytest.mark.parametrize("examples", EXAMPLES)
def test_small_programs_with_writes(examples: int) -> None:
    @settings(CI, max_examples=examples)
    @given(st.randoms(use_true_random=False))
    def run(rng: Random) -> None:
        check_or_refuse(Writer(rng, size=2, weights=WRITING).program())

    run()


@pytest.mark.parametrize("first", one_in(6, range(0, PROGRAMS, 10)))
def test_random_programs(first: int) -> None:
    checked = sum(check_or_skip(random_program(seed)) for seed in range(first, first + 10))
    assert checked >= 5  # few programs raise or are not smooth


@pytest.mark.parametrize("first", one_in(6, range(0, PROGRAMS, 10)))
def test_random_programs_with_writes(first: int) -> None:
    programs = [random_program(seed, 9, WRITING) for seed in range(first, first + 10)]
    verdicts = [check_or_refuse(program) for program in programs]
    assert verdicts.count("discarded") <= 3
    assert verdicts.count("refused") <= MOST_REFUSED * 10


def test_programs_run_and_are_smooth() -> None:
    tally = Tally()
    for tally in run(200, 0, kinds="writing", plain=True):  # noqa: B007
        pass
    assert tally.counts["clean"] >= 185, str(tally)
    written = WRITES - {"output_argument"}  # one of the programs of every day
    assert tally.features.keys() >= written, written - tally.features.keys()


@pytest.mark.parametrize("seed", range(20))
def test_a_seed_has_one_program(seed: int) -> None:
    assert repr(program_of(seed)) == repr(program_of(seed))


def test_minimising_keeps_what_fails() -> None:
    program = next(
        p for p in (random_program(seed, 9, WRITING) for seed in range(1000))
        if p.source.count("np.fill_diagonal(") == 1 and outcome(p, plain=True)[0] == "clean"
    )

    def fails(smaller: Program) -> bool:
        return "np.fill_diagonal(" in smaller.source and outcome(smaller, plain=True)[0] == "clean"

    small = minimise(program, fails, rounds=3, seconds=20.0)
    before, after = (sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(p.source)))
                     for p in (program, small))
    assert fails(small)
    assert after < before
    assert after <= 8, small.source  # two imports, SCALE, f, a statement or two, the result


@pytest.mark.skipif("ADCOMPILER_FUZZ" not in os.environ, reason="set ADCOMPILER_FUZZ=N")
def test_fuzz() -> None:
    count = int(os.environ["ADCOMPILER_FUZZ"])
    start = int(os.environ.get("ADCOMPILER_FUZZ_SEED", time.time_ns() // 10**6))
    workers = int(os.environ.get("ADCOMPILER_FUZZ_WORKERS", 1))
    most_refused = float(os.environ.get("ADCOMPILER_FUZZ_REFUSED", MOST_REFUSED))
    tally = Tally()
    for tally in run(count, start, workers):
        if tally.failures:
            break
    print(tally)
    for text in smallest(tally, kinds=1):
        pytest.fail(text)
    assert tally.refused_share <= most_refused, str(tally)

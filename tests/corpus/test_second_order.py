"""Second derivatives of the programs of the corpus, against finite differences of the first.

The gradient of the weighted results is pulled back along a random direction; where the compiler
refuses that, the derivative along the direction is. In the default run every fortieth program is
checked; ``ADCOMPILER_ALL_SECOND_ORDER=1`` checks all.
"""

import copy
import os
import zlib

import numpy as np
import pytest

from adcompiler import ADError, vjp
from adcompiler.api import Derivative
from adcompiler.cache.store import load_module
from adcompiler.dispatch import Options
from adcompiler.higher_order import directional
from tests.corpus.program import flat
from tests.corpus.test_corpus import PROGRAMS
from tests.language.check import inner, move

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_SECOND_ORDER") else 40
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 0]
TOLERANCE = 1e-5
REFUSED = set("""
    adam_training bag_of_expenses banded_alignment expected_rank_value gradient_norm_by_tape
    learned_values longest_weighted_path matmul_lists matrix_chain_cost
    mean_difference_of_sorted memoized_bessel_ratio nelder_mead_steps rattle_rod
    recursive_fft_power three_steps_on_a_dict tree_sum
""".split())
"""Programs of which the compiler refuses both: what shares storage there is not known to it."""
RAISES = {"quicksort_energy": ValueError}
"""Programs of which the second derivative raises when it runs: it adds lists of unknown type."""


def gradient(case):
    """Return the gradient of a program's weighted results, as a function with readable source."""
    names = ", ".join(f"x{i}" for i in range(len(case.args)))
    text = (
        f"def gradient({names}):\n"
        f"    return vjp(program, {names}, argnums={case.program.positions})[1](weights)\n"
    )
    namespace = load_module(None, text, f"gradient_of_{case.program}").__dict__
    namespace.update(program=case.program.function, weights=case.weights, vjp=vjp)
    return namespace["gradient"]


def product(case, direction):
    """Return the Hessian of the weighted results times a direction in the arguments."""
    positions = case.program.positions
    try:
        return vjp(gradient(case), *copy.deepcopy(case.args), argnums=positions)[1](direction)
    except ADError:
        function = directional(case.program.function, positions)
        options = Options("vjp", tuple(f"args.{i}" for i in positions))
        _, pullback = Derivative(function, options)(copy.deepcopy(case.args), direction)
        return pullback(case.weights)


@pytest.mark.parametrize("program", CHOSEN, ids=str)
def test_second_derivatives(program):
    case = next(program.cases())
    rng = np.random.default_rng(3)
    direction, other = (case.direction(program.positions, rng) for _ in range(2))
    if str(program) in REFUSED or str(program) in RAISES:
        with pytest.raises(RAISES.get(str(program), ADError)):
            product(case, direction)
        return
    found = product(case, direction)

    def along(t):
        moved = list(copy.deepcopy(case.args))
        for i, d in zip(program.positions, other, strict=True):
            moved[i] = move(moved[i], d, t)
        bars = vjp(program.function, *moved, argnums=program.positions)[1](case.weights)
        return inner(direction, bars)

    nodes, h = ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0)), program.step
    wanted = sum(c * (along(k * h) - along(-k * h)) for k, c in nodes) / (60.0 * h)
    got = sum(inner(d, bar) for d, bar in zip(other, found, strict=True))
    slopes = vjp(program.function, *copy.deepcopy(case.args), argnums=program.positions)[1](
        case.weights)
    size = np.linalg.norm(flat(found)) + abs(wanted) + 1e-6 * np.linalg.norm(flat(slopes))
    assert abs(got - wanted) <= TOLERANCE * size + 1e-9, f"{got!r}, differences {wanted!r}"

"""Second derivatives of the programs of the corpus, by combinations of forward and reverse mode.

Products of the Hessian of the weighted results with a direction: pulled back through the gradient,
pushed through it, and as the gradient of the derivative along the direction. They agree, they are
those of a symmetric matrix, and they are what finite differences of the gradient give. In the
default run every fortieth program is checked; ``ADCOMPILER_ALL_SECOND_ORDER=1`` checks all.
"""

import copy
import os
import zlib

import numpy as np
import pytest

from adcompiler import ADError, vjp
from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.hessians import directional
from adcompiler.cache.modules import load_module
from adcompiler.dispatch import Options
from tests.corpus.program import flat
from tests.corpus.test_corpus import PROGRAMS
from tests.lanes import one_in
from tests.language.check import inner, move

SHARE = 1 if os.environ.get("ADCOMPILER_ALL_SECOND_ORDER") else 40
CHOSEN = [p for p in PROGRAMS if zlib.crc32(str(p).encode()) % SHARE == 0]
TOLERANCE = 1e-5  # of finite differences
EXACT = 1e-9  # of the combinations among each other
REFUSED = set("""
    expected_rank_value gradient_norm_by_tape mean_difference_of_sorted memoized_bessel_ratio
    rattle_rod
""".split())
"""Programs of which the compiler refuses all: what shares storage there is not known to it."""
RAISES = {"quicksort_energy": ValueError}
"""Programs of which a second derivative raises when it runs: it adds lists of unknown type."""


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


def combinations(case):
    """Return the ways to compute products of the Hessian with a direction, by name."""
    positions = case.program.positions
    first = gradient(case)
    pulled = EmittedDerivative(first, Options("vjp", positions))
    pushed = EmittedDerivative(first, Options("forward", positions))
    along = directional(case.program.function, positions)
    slope = EmittedDerivative(along, Options("vjp", tuple(f"args.{i}" for i in positions)))

    def args():
        return copy.deepcopy(case.args)

    return {
        "adj_adj": lambda d: pulled(*args())[1](d),
        "fwd_adj": lambda d: pushed(*args())(*d)[1],
        "adj_fwd": lambda d: slope(args(), d)[1](case.weights),
    }


def accepted(case, direction):
    """Return the products by those combinations that are not refused, and the combinations."""
    found, ways = {}, {}
    for name, way in combinations(case).items():
        try:
            found[name] = way(copy.deepcopy(direction))
        except ADError:
            continue
        ways[name] = way
    return found, ways


@pytest.mark.parametrize("program", one_in(4, CHOSEN), ids=str)
def test_second_derivatives(program):
    case = next(program.cases())
    rng = np.random.default_rng(3)
    direction, other = (case.direction(program.positions, rng) for _ in range(2))
    if str(program) in RAISES:
        with pytest.raises(RAISES[str(program)]):
            accepted(case, direction)
        return
    found, ways = accepted(case, direction)
    assert bool(found) == (str(program) not in REFUSED), found.keys()
    slopes = vjp(program.function, *copy.deepcopy(case.args), argnums=program.positions)[1](
        case.weights)
    rounding = 1e-6 * np.linalg.norm(flat(slopes))
    for name, product in found.items():
        agrees_with_differences(case, product, direction, other, rounding)
        for first in found.values():
            distance = np.linalg.norm(flat(product) - flat(first))
            assert distance <= EXACT * (np.linalg.norm(flat(first)) + rounding), name
        there = contracted(other, product)
        back = contracted(direction, ways[name](copy.deepcopy(other)))
        size = np.linalg.norm(flat(other)) * (np.linalg.norm(flat(product)) + rounding)
        assert abs(there - back) <= EXACT * size, f"{name}: {there!r}, {back!r}"


def contracted(direction, bars):
    """Return the derivative along a direction that cotangents of the arguments give."""
    return sum(inner(d, bar) for d, bar in zip(direction, bars, strict=True))


def agrees_with_differences(case, found, direction, other, rounding):
    """Assert that finite differences of the gradient along ``other`` give the product found."""
    program = case.program

    def along(t):
        moved = list(copy.deepcopy(case.args))
        for i, d in zip(program.positions, other, strict=True):
            moved[i] = move(moved[i], d, t)
        bars = vjp(program.function, *moved, argnums=program.positions)[1](case.weights)
        return contracted(direction, bars)

    nodes, h = ((1.0, 45.0), (2.0, -9.0), (3.0, 1.0)), program.step
    wanted = sum(c * (along(k * h) - along(-k * h)) for k, c in nodes) / (60.0 * h)
    got = contracted(other, found)
    size = np.linalg.norm(flat(found)) + abs(wanted) + rounding
    assert abs(got - wanted) <= TOLERANCE * size + 1e-9, f"{got!r}, differences {wanted!r}"

"""Functions compiled as they are: the same values, exceptions and derivatives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, source
from adcompiler.errors import UnsupportedError
from tests.corpus.test_corpus import PROGRAMS as CORPUS
from tests.native.list_programs import PROGRAMS as OF_LISTS
from tests.native.programs import PROGRAMS, rosenbrock
from tests.native.test_arrays_agree import close
from tests.native.test_backends_agree import outcome, same

ALL = PROGRAMS | OF_LISTS


def sqrt_of(a):
    total = 0.0
    for i in range(3):
        total += math.sqrt(a - i) / a
    return total

pytestmark = pytest.mark.usefixtures("plain_loops")


@pytest.mark.parametrize("program", ALL, ids=lambda program: program.__name__)
def test_values_are_the_same(program: Any) -> None:
    args = ALL[program]
    native = compiled(program)
    assert close(native(*args), program(*args))
    assert "_loops" in native.source_for(*args)


def test_exceptions_are_the_same() -> None:
    for a in (0.0, -1.0):
        assert same(outcome(compiled(sqrt_of), a), outcome(sqrt_of, a))
    for x in (np.ones(0), np.array([np.inf, 0.0])):
        assert close(outcome(compiled(rosenbrock), x), outcome(rosenbrock, x))


def test_its_gradient_is_that_of_the_function() -> None:
    x = np.linspace(0.5, 2.0, 4)
    made = compiled(rosenbrock, backend="python")
    assert np.array_equal(grad(made)(x), grad(rosenbrock)(x))

    def twice(x):
        return 2.0 * made(x)

    assert np.array_equal(grad(twice)(x), 2.0 * grad(rosenbrock)(x))


def test_as_a_decorator() -> None:
    @compiled(backend="python")
    def area(r, k=3.0):
        """Return an area."""
        return k * r * r

    assert (area(2.0), area(2.0, k=1.0)) == (12.0, 4.0)
    assert area.__doc__ == "Return an area."
    assert "def area_primal(r, k)" in source(area.primal, 2.0, 3.0, mode="primal")


def test_a_function_that_writes_into_its_argument_is_refused() -> None:
    def clears(x):
        x[0] = 0.0
        return x[1]

    with pytest.raises(UnsupportedError, match="writes into its arguments"):
        compiled(clears)(np.ones(2))


def test_programs_of_the_corpus() -> None:
    ran = 0
    for program in CORPUS[::12]:
        args = program.samples(np.random.default_rng(0))
        native = compiled(program.function)
        try:
            got = native(*args)
        except UnsupportedError:
            continue
        again = program.samples(np.random.default_rng(0))
        assert close(got, program.function(*again)), program.function.__name__
        ran += 1
    assert ran >= 12

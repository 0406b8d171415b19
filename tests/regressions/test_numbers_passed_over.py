"""``min`` and ``max`` of Python take the first of two where one is NaN; so do their derivatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hessian, jvp


def least(x, y):
    return min(x * x, y)


def greatest(x, y):
    return max(x * x, y)


def least_in_a_loop(x, y):
    total = 0.0
    for i in range(len(x) - 1):
        m = min(x[i], x[i + 1])
        if m == m:
            total += m * (i + y)
    return total


@pytest.mark.parametrize("function", [least, greatest])
def test_the_first_of_two_has_the_derivative(function: Callable[..., Any]) -> None:
    assert function(1.5, math.nan) == 2.25
    assert grad(function)(1.5, math.nan) == 3.0
    assert jvp(function, (1.5, math.nan), (1.0, 0.0)) == (2.25, 3.0)
    assert hessian(function)(1.5, math.nan) == 2.0
    assert grad(function, argnums=1)(1.5, math.nan) == 0.0


@pytest.mark.parametrize("backend", ["python", "native"])
def test_loops(backend: str) -> None:
    pytest.importorskip("llvmlite")
    x = np.array([1.0, math.nan, 0.5, 2.0, math.nan])
    derivative = grad(least_in_a_loop, backend=backend)
    assert np.array_equal(derivative(x, 1.0), [1.0, 0.0, 3.0, 4.0, 0.0])


def test_systems_that_are_not_square_raise_what_numpy_raises() -> None:
    def solved(a, b):
        return np.sum(np.linalg.solve(a, b))

    for call in (solved, grad(solved)):
        with pytest.raises(np.linalg.LinAlgError, match="must be square"):
            call(np.ones((4, 3)), np.ones(3))

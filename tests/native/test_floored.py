"""Floor quotients and remainders of floats, and powers of integers, give Python's own bits."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from adcompiler import UnsupportedError, compiled, value_and_grad

pytest.importorskip("llvmlite")

EDGES = [
    0.0, -0.0, 1.0, -1.0, 0.1, -0.1, 0.3, 3.0, -3.0, 7.5, -7.5, 1e300, -1e300, 5e-324, math.inf,
    -math.inf, math.nan, 1e16, 0.5, 2.0, 1e-5,
]


def quotient(x, y):
    z = 0.0
    for _ in range(1):
        z = x // y
    return z


def remainder(x, y):
    z = 0.0
    for _ in range(1):
        z = x % y
    return z


def outcome(function, x, y):
    """Return the text of a result, which tells -0.0 from 0.0, or the class of the error."""
    try:
        return repr(float(function(x, y)))
    except ZeroDivisionError as error:
        return type(error).__name__


@pytest.mark.parametrize("function", [quotient, remainder])
def test_floats_are_divided_as_python_divides_them(function):
    native = compiled(function, backend="native")
    rng = np.random.default_rng(0)
    drawn = (rng.normal(size=(500, 2)) * 10.0 ** rng.integers(-5, 6, (500, 2))).tolist()
    for x, y in [*itertools.product(EDGES, EDGES), *drawn]:
        assert outcome(native, x, y) == outcome(function, x, y), (x, y)


def alternating(x):
    total = 0.0
    for i in range(6):
        total += (-1) ** i * x**i / (i**3 + i**4 + 1)
    return total


def folded(x):
    y = x % 0.3
    total = 0.0
    for i in range(len(x)):
        total += y[i] * (x[i] // 0.25) + (i % 2.5) * x[i] % 1.5
    return total


@pytest.mark.parametrize(("function", "x"), [
    (alternating, 0.7), (folded, np.array([0.7, -1.3, 2.2])), (folded, np.array([])),
])
def test_values_and_gradients_agree_with_those_of_python(function, x):
    value, gradient = value_and_grad(function, backend="native")(x)
    wanted, slopes = value_and_grad(function, backend="python")(x)
    assert value == wanted
    np.testing.assert_allclose(gradient, slopes, rtol=1e-14)


def test_gradients_are_those_of_the_formula():
    x = 0.7
    slope = sum((-1) ** i * i * x ** (i - 1) / (i**3 + i**4 + 1) for i in range(1, 6))
    assert value_and_grad(alternating, backend="native")(x)[1] == pytest.approx(slope, rel=1e-14)
    gradient = value_and_grad(folded, backend="native")(np.array([0.7, -1.3, 2.2]))[1]
    np.testing.assert_allclose(gradient, [2.0, -6.0 + 1.0, 8.0 + 2.0], rtol=1e-14)


def powers_below(x, n):
    total = x
    for i in range(n):
        total += x * (-1) ** (i - 2)
    return total


def test_a_negative_exponent_is_left_to_python():
    assert compiled(powers_below, backend="native")(1.5, 4) == powers_below(1.5, 4)


def test_other_powers_of_integers_are_refused():
    def f(x, n):
        total = 0.0
        for i in range(n):
            total += x * n**i
        return total

    with pytest.raises(UnsupportedError, match="a power of integers"):
        value_and_grad(f, backend="native")(1.5, 3)

"""Logistic functions have the slope of their own value, in each spelling and mode."""

from __future__ import annotations

import math

import numpy as np
import pytest

from adcompiler import grad, jvp, value_and_grad, vjp
from adcompiler.testing import check_grads

X = np.linspace(-3.0, 3.0, 7)


def plain(x): return np.sum(1.0 / (1.0 + np.exp(-x)))
def of_ints(x): return np.sum(1 / (np.exp(-x) + 1))
def falling(x): return np.sum(np.divide(1.0, np.add(1.0, np.exp(x))) ** 2)
def of_numbers(x): return 1.0 / (1.0 + math.exp(-3.0 * x))


def power_read_too(x):
    power = np.exp(-x)
    return np.sum(1.0 / (1.0 + power) + power * x)


def overwritten(x):
    t = -x
    p = 1.0 / (1.0 + np.exp(t))
    t[:] = 0.0
    return np.sum(p * t + p)


def in_a_loop(x):
    for _ in range(3):
        x = 1.0 / (1.0 + np.exp(-(x * x)))
    return np.sum(x)


@pytest.mark.parametrize("function", [
    plain, of_ints, falling, power_read_too, overwritten, in_a_loop,
])
def test_gradients(function) -> None:
    check_grads(function, (X,), order=2)


def test_gradients_of_numbers() -> None:
    check_grads(of_numbers, (0.3,), order=2)
    p = of_numbers(0.3)
    assert grad(of_numbers)(0.3) == pytest.approx(3.0 * p * (1.0 - p), rel=1e-14)
    second = 9.0 * p * (1.0 - p) * (1.0 - 2.0 * p)
    assert grad(grad(of_numbers))(0.3) == pytest.approx(second, rel=1e-13)


def test_what_is_far_out() -> None:
    """Where the exponential is infinite, the slope is 0, as it is at the other end."""
    x = np.array([-800.0, -40.0, 0.0, 800.0])
    with np.errstate(over="ignore"):
        slopes = grad(plain)(x)
        value, tangent = jvp(plain, (x,), (np.ones(4),))
    np.testing.assert_allclose(slopes, [0.0, math.exp(-40.0), 0.25, 0.0], rtol=1e-14)
    assert value == pytest.approx(1.5)
    assert tangent == pytest.approx(0.25)


def test_nothing_but_the_value_is_kept() -> None:
    """The sweep reads the value alone, and a tape of it has one entry for an iteration."""
    found = value_and_grad(in_a_loop)
    found(X)
    lines = [line for line in found.source.splitlines() if "tape" in line or "exp" in line]
    assert [line.strip() for line in lines if not line.lstrip().startswith("#")] == [
        "tape = []", "x_1 = 1.0 / (1.0 + np.exp(-(x * x)))", "tape.append((x_1, x))",
        "for x_1, x_2 in reversed(tape):",
    ]
    _, pull = vjp(plain, X)
    np.testing.assert_allclose(pull(1.0)[0], grad(plain)(X), rtol=1e-15)


def test_complex_numbers_are_left_alone() -> None:
    def parts(x):
        return np.sum(np.abs(1.0 / (1.0 + np.exp(-(x + 0.5j * x)))) ** 2)

    check_grads(parts, (X,), order=1)

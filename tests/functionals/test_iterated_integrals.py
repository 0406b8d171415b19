"""Integrals in several variables: derivatives in parameters and in limits."""

import math

import numpy as np
import pytest
from scipy import integrate

from adcompiler import grad, value_and_grad
from adcompiler.errors import UncoveredError
from tests.lanes import one_in

P = np.array([0.8, 1.2])


def rectangle(p):
    return integrate.dblquad(lambda s, t: p[0] * s * t + math.cos(p[1] * s), 0.0, 1.0, 0.0, p[0])[0]


def wedge(p):
    return integrate.dblquad(
        lambda s, t, a: a * s * t + np.cos(p[1] * s), 0.0, p[1], lambda t: 0.1 * t,
        lambda t: p[0] * t, args=(p[0],))[0]


def box(p):
    return integrate.tplquad(
        lambda z, y, x: p[0] * x * y + z**2 * p[1], 0.0, 1.0, 0.0, lambda x: p[0] * x, 0.0,
        lambda x, y: x + p[1] * y)[0]


def numbered(p):
    return integrate.nquad(
        lambda s, t: p[0] * s * t + np.cos(p[1] * s), [(0.0, 1.0), (0.0, p[0])])[0]


def cube(p):
    return integrate.nquad(
        lambda s, t, u, a: a * s * t * u + s**p[1], [[0.5, 1.0], [0.0, p[0]], [0.0, 1.0]],
        args=(p[0],))[0]


def line(p):
    return integrate.nquad(lambda s: p[0] * s**2, [(0.0, p[1])])[0]


@pytest.mark.parametrize("f", one_in(3, [rectangle, wedge, box, numbered, cube, line]))
def test_gradients(f):
    value, gradient = value_and_grad(f)(P)
    assert value == pytest.approx(f(P), rel=1e-14)
    h = 1e-4
    wanted = [(f(P + h * e) - f(P - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(gradient, wanted, rtol=1e-6)


def test_the_estimate_of_the_error():
    def with_error(p):
        value, error = integrate.dblquad(lambda s, t: p * s * t, 0.0, 1.0, 0.0, lambda t: t)
        return value + 1e9 * error

    value, slope = value_and_grad(with_error)(2.0)
    assert value == pytest.approx(with_error(2.0), rel=1e-9)
    assert slope == pytest.approx(0.125)


def test_what_is_not_covered():
    unit = (0.0, 1.0)
    with pytest.raises(UncoveredError, match="three variables"):
        grad(lambda p: sum(integrate.nquad(
            lambda a, b, c, d: p * a, [unit, unit, unit, unit])))(1.0)
    with pytest.raises(UncoveredError, match="opts="):
        grad(lambda p: sum(integrate.nquad(lambda a: p * a, [unit], opts={"limit": 9})))(1.0)
    with pytest.raises(UncoveredError, match="limits that are numbers"):
        grad(lambda p: sum(integrate.nquad(lambda a: p * a, [lambda: unit])))(1.0)

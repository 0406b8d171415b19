"""Minima between bounds: the active set stays as it is, and what is free has a slope of zero."""

import numpy as np
import pytest
from scipy import optimize

from adcompiler import grad, jacobian, jvp

START = np.array([0.5, 0.5])
TABLE = np.array([[0.0, 1.0], [0.0, 1.0]])


def nearest(p, bounds, method=None):
    def objective(x):
        return (x[0] - p) ** 2 + (x[1] - 2 * p) ** 2 + 0.5 * x[0] * x[1]

    return optimize.minimize(objective, START, bounds=bounds, method=method, tol=1e-12).x


def slopes(p):
    """Return the exact derivative of the minimum with x[0] >= 0 and x[1] <= 1."""
    free = np.linalg.solve([[2.0, 0.5], [0.5, 2.0]], [2.0, 4.0])
    x = p * free
    if x[0] < 0:
        return np.array([0.0, 2.0])
    return np.array([1.0, 0.0]) if x[1] > 1 else free


@pytest.mark.parametrize("method", [None, "SLSQP"])
def test_what_is_at_a_bound_stays_there(method):
    bounds = ((0.0, None), (None, 1.0))
    for p in (0.3, 1.5, -0.7):  # between them, at the upper and at the lower one
        reverse = jacobian(lambda p: nearest(p, bounds, method))(p)
        forward = jvp(lambda p: nearest(p, bounds, method), (p,), (1.0,))[1]
        assert np.allclose(reverse, slopes(p), rtol=1e-9, atol=1e-12)
        assert np.allclose(forward, slopes(p), rtol=1e-9, atol=1e-12)


def test_bounds_are_parameters_too():
    def clipped(q):
        return nearest(1.5, [(0.0, q), (None, None)])

    # x[0] = q, and 2 (x[1] - 3) + 0.5 q = 0
    assert np.allclose(jacobian(clipped)(0.5), [1.0, -0.25], rtol=1e-10)
    table_bar = jacobian(lambda table: nearest(1.5, table))(TABLE)
    assert np.allclose(table_bar, [[[0, 1], [0, 0]], [[0, 0], [0, 1]]], atol=1e-10)
    value = grad(lambda p: optimize.minimize(
        lambda x: (x[0] - p) ** 2, [0.5], bounds=optimize_bounds).fun)
    assert np.isclose(value(3.0), 4.0)


optimize_bounds = optimize.Bounds(np.zeros(1), np.ones(1))


def test_a_minimum_that_only_touches_a_bound_has_no_derivative():
    def touching(p):
        return optimize.minimize(lambda x: (x[0] - p) ** 2, [0.5], bounds=[(0, 1)], tol=1e-12).x[0]

    assert (grad(touching)(0.5), grad(touching)(2.0)) == (1.0, 0.0)
    for p in (0.0, 1.0):
        with pytest.raises(ValueError, match=r"at a bound of x\[0\]"):
            grad(touching)(p)

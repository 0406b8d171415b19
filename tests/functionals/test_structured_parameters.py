"""Integrals, roots and trajectories in the fields of instances and named tuples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy import integrate, optimize

from adcompiler import grad


@dataclass
class Rate:
    a: float
    b: np.ndarray


class Pair(NamedTuple):
    a: float
    b: float


def test_an_integral():
    def of_instance(p):
        return integrate.quad(lambda t, p: np.exp(-p.a * t) * p.b[1], 0.0, 1.0, args=(p,))[0]

    def of_pair(p):
        return integrate.quad(lambda t, p: np.exp(-p.a * t) * p.b, 0.0, 1.0, args=(p,))[0]

    by_a = 2.0 * (math.exp(-1.3) * 2.3 - 1.0) / 1.3**2
    by_b = (1.0 - math.exp(-1.3)) / 1.3
    found = grad(of_instance)(Rate(1.3, np.array([1.0, 2.0])))
    assert found.a == pytest.approx(by_a, rel=1e-9)
    np.testing.assert_allclose(found.b, [0.0, by_b], rtol=1e-9)
    assert grad(of_pair)(Pair(1.3, 2.0)) == pytest.approx((by_a, by_b), rel=1e-9)


def test_a_root():
    def root(p):
        return optimize.brentq(lambda x, p: x * x - p.a, 0.0, 5.0, args=(p,), xtol=1e-14)

    assert grad(root)(Pair(2.0, 1.0)) == pytest.approx((0.5 / math.sqrt(2.0), 0.0), rel=1e-12)


@pytest.mark.parametrize("solve", ["odeint", "solve_ivp"])
def test_a_trajectory(solve):
    def slope(t, y, p):
        return -p.a * y * p.b[1]

    def end(p):
        if solve == "odeint":
            return integrate.odeint(
                slope, np.ones(1), np.array([0.0, 1.0]), args=(p,), tfirst=True)[1, 0]
        return integrate.solve_ivp(
            slope, (0.0, 1.0), np.ones(1), args=(p,), rtol=1e-9, atol=1e-11).y[0, -1]

    found = grad(end)(Rate(1.3, np.array([1.0, 2.0])))
    assert found.a == pytest.approx(-2.0 * math.exp(-2.6), rel=1e-6)
    np.testing.assert_allclose(found.b, [0.0, -1.3 * math.exp(-2.6)], rtol=1e-6)

"""Derivatives of order two to four at points where a rule divides by zero, or nearly does.

A formula of the form ``0 / 0`` with the limit put in its place is right to first order only: its
own derivative would be that of a constant. Each order is compared with central differences of the
order before, which do not look at the point itself.
"""

import math

import numpy as np
import pytest
import scipy.special as sc

from adcompiler import grad
from tests.lanes import one_in

H = 1e-3


def along_huber(r):
    return sc.huber(1.5, r)


def along_pseudo_huber(delta):
    return sc.pseudo_huber(delta, 0.0) + sc.pseudo_huber(delta, 1.0)


def along_spherical(x):
    return sc.spherical_jn(0, x) + sc.spherical_in(0, x)


def along_bessel(x):
    return sc.jv(1, x) + sc.iv(2, x)


def first_integral(x):
    return sc.it2j0y0(x)[0]


def second_integral(x):
    return sc.it2i0k0(x)[0]


def called(function):
    """Return a function of source text that calls one that has none."""
    return lambda x: function(x)


@pytest.mark.parametrize(("function", "x"), one_in(3, [
    *((called(f), 0.0) for f in (
        np.i0, np.sinc, sc.ber, sc.bei, sc.i0, sc.j1, sc.exprel, sc.dawsn,
    )),
    (along_huber, 0.0), (along_pseudo_huber, 1.0), (along_bessel, 0.0), (along_spherical, 1e-2),
    (first_integral, 0.004), (second_integral, 0.004), (first_integral, 1.0),
]))
def test_orders_two_to_four(function, x):
    derivative = grad(function)
    for _ in range(2, 5):
        before, derivative = derivative, grad(derivative)
        near = before(x + H) - before(x - H)
        wanted = (8.0 * near - before(x + 2 * H) + before(x - 2 * H)) / (12.0 * H)
        assert derivative(x) == pytest.approx(wanted, rel=1e-6, abs=1e-7)


def test_the_series_of_i0_and_ber():
    """``i0(x) = 1 + x**2 / 4 + x**4 / 64 + ...``, ``ber(x) = 1 - x**4 / 64 + ...``."""
    fourth = grad(grad(grad(grad(lambda x: np.i0(x)))))
    assert fourth(0.0) == pytest.approx(0.375, rel=1e-14)
    fourth = grad(grad(grad(grad(lambda x: sc.ber(x)))))
    assert fourth(0.0) == pytest.approx(-0.375, rel=1e-14)
    assert grad(grad(along_huber))(0.0) == 1.0
    assert grad(grad(first_integral))(1e-8) == pytest.approx(0.25, rel=1e-14)
    assert grad(grad(second_integral))(1e-8) == pytest.approx(0.25, rel=1e-14)


@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_norms_and_angles_of_tiny_and_huge_numbers(size):
    x, y = 3.0 * size, 4.0 * size
    both = (0, 1)
    for hypot in (lambda x, y: math.hypot(x, y), lambda x, y: np.hypot(x, y)):
        np.testing.assert_allclose(grad(hypot, argnums=both)(x, y), (0.6, 0.8), rtol=1e-14)
    for angle in (lambda y, x: math.atan2(y, x), lambda y, x: np.arctan2(y, x)):
        np.testing.assert_allclose(
            grad(angle, argnums=both)(x, y), (0.16 / size, -0.12 / size), rtol=1e-14)
    dp, dq = grad(lambda p, q: math.dist(p, q), argnums=both)((x, 0.0), (0.0, y))
    np.testing.assert_allclose((*dp, *dq), (0.6, -0.8, -0.6, 0.8), rtol=1e-14)

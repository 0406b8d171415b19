"""Integrals in forward mode, and what is refused there."""

import numpy as np
import pytest
from scipy import integrate

from adcompiler import ADError, grad, jvp
from tests.lanes import one_in

A, B = 0.7, 1.2

PROGRAMS = {
    "in the integrand and a limit": lambda a, b: integrate.quad(
        lambda x: np.exp(-a * x * x) * np.cos(b * x), 0.0, 1.0 + a)[0],
    "between infinite limits": lambda a, b: integrate.quad(
        lambda x, c: np.exp(-a * x * x) * np.cos(c * x), -np.inf, np.inf, args=(b,))[0],
    "from a limit on": lambda a, b: integrate.quad(lambda x: np.exp(-a * x) * b, b, np.inf)[0],
    "up to a limit": lambda a, b: integrate.quad(lambda x: np.exp(a * x) * b, -np.inf, b)[0],
    "backwards": lambda a, b: integrate.quad(lambda x: np.exp(a * x) * b, b, a)[0],
    "singular at both ends": lambda a, b: integrate.quad(
        lambda x: b * x**a * np.sqrt(1.0 - x), 0.0, 1.0)[0],
    "with a kink": lambda a, b: integrate.quad(
        lambda x: b * abs(x - a) ** 3, 0.0, 2.0, points=[A])[0],
    "that is zero": lambda a, b: integrate.quad(
        lambda x: (a - A) * np.sqrt(x) * np.exp(b * x), 0.0, 1.0)[0],
}


def slope(f, args, place, step=1e-4):
    def at(t):
        return f(*(a + t * step if i == place else a for i, a in enumerate(args)))

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step)


@pytest.mark.parametrize("name", one_in(2, PROGRAMS))
def test_tangents(name):
    f, args, v = PROGRAMS[name], (A, B), (0.6, -1.3)
    slopes = grad(f, argnums=(0, 1))
    wanted = [slope(f, args, i) for i in range(2)]
    np.testing.assert_allclose(slopes(*args), wanted, rtol=1e-6, atol=1e-7)
    y, tangent = jvp(f, args, v)
    assert y == f(*args)
    np.testing.assert_allclose(tangent, np.dot(v, wanted), rtol=1e-6, atol=1e-7)


def test_places_that_do_not_resolve_the_derivative_are_refused():
    def f(a):  # the integrand is zero, and says nothing of the places that its slope needs
        return integrate.quad(lambda x: a * np.sin(3000.0 * x) ** 2, 0.0, 1.0)[0]

    with pytest.raises(ValueError, match="not resolved by the places"):
        jvp(f, (0.0,), (1.0,))


def test_an_integrand_that_is_infinite_at_a_limit_that_moves_is_refused():
    def f(low):
        return integrate.quad(lambda x: 1.0 / np.sqrt(x), low, 1.0)[0]

    with pytest.raises(ValueError, match="not resolved by the places"):
        jvp(f, (0.0,), (1.0,))


def test_second_derivatives_are_refused():
    def f(a):
        return integrate.quad(lambda x: np.exp(a * x), 0.0, 1.0)[0]

    with pytest.raises(ADError, match="second derivative of this solution"):
        grad(grad(f))(0.3)

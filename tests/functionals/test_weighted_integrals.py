"""Integrals with a sine or cosine as weight."""

import math

import numpy as np
import pytest
from scipy import integrate

from adcompiler import ADError, grad, jacfwd, value_and_grad


def integral(weight):
    def f(p):
        return integrate.quad(
            lambda t, rate: math.exp(-rate * t) * p[4], p[2], p[3], args=(p[0],), weight=weight,
            wvar=p[1])[0]

    return f


def exact(p, weight):
    """Return the integral and its gradient, by those of exp((-rate + i w) t) and of t times it."""
    rate, w, a, b, size = p
    k = complex(-rate, w)
    part = (lambda z: z.real) if weight == "cos" else (lambda z: z.imag)

    def ends(f):
        return f(b) - f(a)

    once = ends(lambda t: np.exp(k * t) / k)
    times = ends(lambda t: np.exp(k * t) * (t / k - 1 / k**2))
    return size * part(once), np.array([
        -size * part(times), size * part(1j * times), -size * part(np.exp(k * a)),
        size * part(np.exp(k * b)), part(once)])


@pytest.mark.parametrize("weight", ["cos", "sin"])
@pytest.mark.parametrize("frequency", [0.5, 30.0, 1500.0])
def test_rates_frequencies_and_limits(weight, frequency):
    p = np.array([1.2, frequency, 0.1, 2.3, 0.7])
    value, found = value_and_grad(integral(weight), fallback="refuse")(p)
    total, expected = exact(p, weight)
    assert value == integral(weight)(p)
    assert value == pytest.approx(total, abs=1e-10)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    if frequency < 100.0:
        np.testing.assert_allclose(jacfwd(integral(weight))(p), expected, rtol=1e-8, atol=1e-9)


def test_limits_the_other_way():
    p = np.array([1.2, 3.0, 2.3, 0.1, 0.7])
    np.testing.assert_allclose(grad(integral("sin"))(p), exact(p, "sin")[1], rtol=1e-8)


def test_other_weights_and_infinite_limits_are_refused():
    for f in (
        lambda p: integrate.quad(lambda t: math.exp(-p * t), 0, 1, weight="alg", wvar=(0.1, 0.2)),
        lambda p: integrate.quad(lambda t: math.exp(-p * t), 0, np.inf, weight="cos", wvar=2.0),
    ):
        with pytest.raises(ADError, match="'cos' and 'sin', between finite limits"):
            grad(lambda p, f=f: f(p)[0])(1.0)

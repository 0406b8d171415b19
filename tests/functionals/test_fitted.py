"""Parameters that are fitted to data: ``curve_fit``, and ``least_squares`` between bounds."""

from functools import partial

import numpy as np
import pytest
from scipy import optimize

from adcompiler import grad, hessian, jacobian, jvp

T = np.linspace(0.0, 1.0, 8)
DATA = 2.0 * np.exp(-1.3 * T) + 0.01 * np.cos(7.0 * T)
CLOSE = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15}


def decay(t, a, b):
    return a * np.exp(-b * t)


def slopes(t, a, b):
    return np.stack((np.exp(-b * t), -t * a * np.exp(-b * t)), 1)


def line(t, a, b):
    return a + b * t


def by_formula(data, sigma):
    """Return parameters and covariance of a line, as NumPy solves the normal equations."""
    A = np.stack((np.ones(8), T), 1) / sigma[:, None]
    inverse = np.linalg.inv(A.T @ A)
    p = inverse @ A.T @ (data / sigma)
    r = A @ p - data / sigma
    return p, inverse, inverse * np.sum(r * r) / 6


def test_a_line_has_the_derivatives_of_the_normal_equations():
    def fitted(data, sigma, absolute):
        p, covariance = optimize.curve_fit(
            line, T, data, [1.0, 1.0], sigma, absolute, jac=lambda t, a, b: np.stack(
                (np.ones(8), t), 1), **CLOSE)
        return p[0] * p[1] + 100.0 * np.sqrt(covariance[1, 1]) + covariance[0, 1]

    def exact(data, sigma, absolute):
        p, inverse, scaled = by_formula(data, sigma)
        covariance = inverse if absolute else scaled
        return p[0] * p[1] + 100.0 * np.sqrt(covariance[1, 1]) + covariance[0, 1]

    v = np.cos(np.arange(8.0))
    for absolute in (False, True):
        args = DATA, 1.0 + T, absolute
        found, wanted = (grad(f, argnums=(0, 1))(*args) for f in (fitted, exact))
        assert np.allclose(found, wanted, rtol=1e-6, atol=1e-9)
        tangent = jvp(partial(fitted, sigma=1.0 + T, absolute=absolute), (DATA,), (v,))[1]
        assert np.isclose(tangent, wanted[0] @ v, rtol=1e-6)
    found, wanted = (hessian(lambda d, f=f: f(d, 1.0 + T, True))(DATA) for f in (fitted, exact))
    assert np.allclose(found, wanted, rtol=1e-5, atol=1e-7)


def product(data, **options):
    p, _ = optimize.curve_fit(decay, T, data, jac=slopes, **options, **CLOSE)
    return p[0] * p[1]


PROGRAMS = {
    "start is ones": lambda data: product(data),
    "start": lambda data: product(data, p0=(1, 2), method="trf"),
    "bounds": lambda data: product(data, bounds=(0, [5.0, 9.0])),
    "at a bound": lambda data: product(data, p0=[1.0, 1.0], bounds=([0, 0], [5, 1.1])),
    "covariance of data": lambda data: product(data, sigma=np.eye(8) + 0.2),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_model_that_is_not_linear(name):
    f, h = PROGRAMS[name], 1e-4
    wanted = [(f(DATA + h * e) - f(DATA - h * e)) / (2 * h) for e in np.eye(8)]
    found = grad(f)(DATA)
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-5)
    v = np.arange(8.0)
    assert np.isclose(jvp(f, (DATA,), (v,))[1], found @ v, rtol=1e-10)


def test_places_and_what_the_model_reads():
    def f(t, k):
        return optimize.curve_fit(lambda t, *p: p[0] * np.exp(-p[1] * t) + k, t, DATA, [1.0, 1.0],
                                  **CLOSE)[0][1]

    h = 1e-3
    t_bar, k_bar = grad(f, argnums=(0, 1))(T, 0.1)
    assert np.isclose(k_bar, (f(T, 0.1 + h) - f(T, 0.1 - h)) / (2 * h), rtol=1e-4)
    wanted = [(f(T + h * e, 0.1) - f(T - h * e, 0.1)) / (2 * h) for e in np.eye(8)]
    assert np.allclose(t_bar, wanted, rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Covariance")
def test_a_covariance_that_is_not_determined_is_infinite():
    def f(data):
        p, covariance = optimize.curve_fit(line, T[:2], data)
        return np.append(p[1], covariance[0])

    assert np.all(np.isinf(f(DATA[:2])[1:]))
    table = jacobian(f)(DATA[:2])
    assert np.allclose(table, [[-7.0, 7.0], [0.0, 0.0], [0.0, 0.0]], atol=1e-6)
    assert np.all(np.isinf(jvp(f, (DATA[:2],), (np.ones(2),))[0][1:]))


def test_least_squares_between_bounds():
    def f(p, top):
        return optimize.least_squares(
            lambda x: [x[0] - p, x[1] - 2.0 * p, x[0] * x[1] - 1.0], [0.0, 0.0],
            bounds=([-1.0, -1.0], [1.0, top]), **CLOSE).x

    # x[1] = top: x[0] = (p + top) / (1 + top^2)
    table = jacobian(f, argnums=(0, 1))(0.3, 0.4)
    assert np.allclose(table[0], [1 / 1.16, 0.0], atol=1e-9)
    assert np.allclose(table[1], [1 / 1.16 - 0.8 * 0.7 / 1.16**2, 1.0], rtol=1e-4)
    second = hessian(lambda top: f(0.3, top)[0])(0.4)
    exact = hessian(lambda top: (0.3 + top) / (1.0 + top * top))(0.4)
    assert np.isclose(second, exact, rtol=1e-3)

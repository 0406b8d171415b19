"""Second derivatives at kinks: of squares of norms they are right, of norms they are refused."""

import math

import numpy as np
import pytest
import scipy.linalg

from adcompiler import (
    ADError, grad, hessian, hvp, jvp, sparse_hessian, taylor, value_and_grad,
)
from tests.language.modes import MODES


def power(d):
    return np.linalg.norm(d) ** 2


def product(d):
    r = np.linalg.norm(d)
    return r * r


def two_calls(d):
    return np.linalg.norm(d, 2) * np.linalg.norm(d, 2)


def square(d):
    return np.square(np.linalg.norm(d, axis=0, keepdims=True))[0]


def converted(d):
    return float(np.linalg.norm(d)) ** 2.0


def in_helper(d):
    def length(d):
        return np.linalg.norm(d)

    return length(d) ** 2


def hypotenuse(d):
    return np.hypot(d[0], d[1]) ** 2


def of_numbers(d):
    return math.hypot(d[0], d[1]) ** 2


def of_three_numbers(d):
    return math.hypot(d[0], d[1], 0.0 * d[0]) ** 2


def sizes(d):
    return np.sum(np.abs(d) ** 2)


def sizes_of_numbers(d):
    return abs(d[0]) ** 2 + np.power(math.fabs(d[1]), 2)


def complex_size(d):
    return abs(d[0] + 1j * d[1]) ** 2


def bell(d):
    return -np.exp(-(np.linalg.norm(d) ** 2))


def scaled(d):
    r = np.linalg.norm(np.outer([1.0, 0.0], d), axis=1)
    return np.sum((-2.0 * r[:, None] / np.array([2.0, 2.0])) ** 2) / 2


def in_loop(d):
    total = 0.0
    for i in range(2):
        for j in range(2):
            total = total + math.hypot(d[i] - d[j] * (i != j), 0.0) ** 2 * (i == j)
    return total


SQUARES = (
    power, product, two_calls, square, converted, in_helper, hypotenuse, of_numbers,
    of_three_numbers, sizes, sizes_of_numbers, complex_size, bell, scaled, in_loop,
)


@pytest.mark.parametrize("mode", MODES)
def test_hessians_of_squares(mode):
    for f in SQUARES:
        found = hessian(f, mode=mode)(np.zeros(2))
        np.testing.assert_allclose(found, 2 * np.eye(2), err_msg=f.__name__)


def test_other_derivatives_of_squares():
    zero, x, v = np.zeros(2), np.array([0.3, -0.4]), np.array([1.0, 2.0])
    for f in SQUARES:
        slope = 2 * x * (np.exp(-0.25) if f is bell else 1.0)
        value, found = value_and_grad(f)(x)
        assert value == f(x)
        np.testing.assert_allclose(found, slope, rtol=1e-12, err_msg=f.__name__)
        np.testing.assert_allclose(jvp(f, (x,), (v,))[1], slope @ v, rtol=1e-12)
        np.testing.assert_allclose(hvp(f, zero, v), 2 * v, err_msg=f.__name__)
        np.testing.assert_allclose(sparse_hessian(f)(zero).toarray(), 2 * np.eye(2))
    for f in (power, hypotenuse, of_numbers, sizes):
        np.testing.assert_allclose(taylor(f, (zero,), (np.array([v, 0 * v]),))[1], [0.0, 5.0])


def scales_that_vary(x):
    return (np.linalg.norm(x[:2]) / (x[2] + 1.5)) ** 2 + (np.hypot(x[0], x[1]) * x[2]) ** 2


def written_into(x):
    """The array is another one by the time that the norm is squared."""
    y = x * 1.0
    r = np.linalg.norm(y)
    y[0] = 7.0
    return r**2 + np.sum(y)


def test_squares_away_from_the_kink():
    for x in (np.array([0.0, 0.0, 0.4]), np.array([0.3, -0.2, 0.5])):
        a = 2 / (x[2] + 1.5) ** 2 + 2 * x[2] ** 2
        b = (-4 / (x[2] + 1.5) ** 3 + 4 * x[2]) * x[:2]
        c = (6 / (x[2] + 1.5) ** 4 + 2) * np.sum(x[:2] ** 2)
        wanted = np.block([[a * np.eye(2), b[:, None]], [b, c]])
        np.testing.assert_allclose(hessian(scales_that_vary)(x), wanted, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(grad(written_into)(x), 2 * x + [0.0, 1.0, 1.0], rtol=1e-12)


def norm(d):
    return np.linalg.norm(d)


def hypot(d):
    return np.hypot(d[0], d[1]) * 3.0


def hypot_of_numbers(d):
    return math.hypot(d[0], d[1])


def size_of_complex(d):
    return np.abs(d[0] + 1j * d[1])


def reduced(d):
    return np.hypot.reduce(d)


@pytest.mark.parametrize("mode", MODES)
def test_norms_have_no_second_derivative_at_zero(mode):
    for f in (norm, hypot, hypot_of_numbers, size_of_complex, reduced):
        assert np.array_equal(grad(f)(np.zeros(2)), np.zeros(2))
        with pytest.raises(ADError, match=r"(?s)test_second_order_at_kinks.py:\d+.*at 0"):
            hessian(f, mode=mode)(np.zeros(2))
        np.testing.assert_allclose(
            hessian(f, mode=mode)(np.array([0.3, 0.4])),
            np.array([[1.28, -0.96], [-0.96, 0.72]]) * (3.0 if f is hypot else 1.0), rtol=1e-12)


SIZES = (
    lambda d: np.linalg.norm(d, 3), lambda d: np.linalg.norm(d, 1.5),
    lambda d: np.linalg.norm(np.outer([1.0, 2.0], d)), lambda d: np.linalg.norm(d * 1j, 1),
    lambda d: scipy.linalg.norm(d), lambda d: scipy.linalg.norm(d, 4),
    lambda d: math.dist(d, [0.0, 0.0]), lambda d: math.hypot(d[0], d[1], d[0]),
    lambda d: np.std(d), lambda d: np.nanstd(d, ddof=1),
    lambda d: np.sum(np.hypot.accumulate(d)),
)


def test_other_operators_refuse_too():
    for f in (norm, hypot, hypot_of_numbers, size_of_complex, reduced, *SIZES):
        for second in (lambda f: hvp(f, np.zeros(2), np.ones(2)),
                       lambda f: sparse_hessian(f)(np.zeros(2)),
                       lambda f: grad(lambda x: np.sum(grad(f)(x)))(np.zeros(2))):
            with pytest.raises(ADError, match="at 0"):
                second(f)


def distances(x):
    points = x.reshape(3, 2)
    return np.sum(np.triu(np.linalg.norm(points[:, None] - points[None], axis=-1), 1))


def energies(x):
    total = 0.0
    for i in range(3):
        for j in range(3):
            r = np.linalg.norm(x[2 * i : 2 * i + 2] - x[2 * j : 2 * j + 2])
            if i != j:
                total = total + 1 / r
    return total


@pytest.mark.parametrize("mode", MODES)
def test_norms_that_nothing_depends_on_may_be_zero(mode):
    x = np.array([0.0, 0.0, 1.0, 2.0, -1.0, 0.5])
    for f in (distances, energies):
        moved = [(grad(f)(x + 1e-5 * e) - grad(f)(x - 1e-5 * e)) / 2e-5 for e in np.eye(6)]
        np.testing.assert_allclose(hessian(f, mode=mode)(x), moved, atol=1e-8)


def slopes(f, x, h=1e-6):
    """Return the Hessian by differences of the gradient."""
    return np.array([(grad(f)(x + h * e) - grad(f)(x - h * e)) / (2 * h) for e in np.eye(len(x))])


def test_elements_of_norms_may_be_zero():
    x = np.array([0.0, 0.7, -1.2])
    for norm_of in (np.linalg.norm, scipy.linalg.norm):
        for order in (2, 2.0, 3, 3.0, 4):
            f = lambda x, order=order, norm_of=norm_of: norm_of(x, order)  # noqa: E731
            np.testing.assert_allclose(hessian(f)(x), slopes(f, x), atol=1e-5)
        for order in (1, np.inf, -np.inf):  # as the sums and extremes of sizes that they are
            f = lambda x, order=order, norm_of=norm_of: norm_of(x, order)  # noqa: E731
            assert not np.any(hessian(f)(x)) and not np.any(hessian(f)(np.zeros(3)))
    f = lambda x: np.sum(scipy.linalg.fiedler(x))  # noqa: E731
    assert not np.any(hessian(f)(np.array([1.0, 1.0, 2.0])))


def test_norms_have_no_series_at_zero():
    zero, moving = np.zeros(2), np.array([[0.6, 0.8], [0.1, 0.0], [0.0, 0.0]])
    for f in (norm, hypot, hypot_of_numbers, size_of_complex, lambda d: np.cos(np.linalg.norm(d)),
              lambda d: np.sum(np.cos(np.linalg.norm(np.stack([d, d]), axis=1)))):
        with pytest.raises(ADError, match=r"(?s)test_second_order_at_kinks.py:\d+.*at 0"):
            taylor(f, (zero,), (moving,))
        taylor(f, (zero,), (moving[:1],))
        found = taylor(f, (zero,), (0.0 * moving,))[1]
        assert not np.any(found)
        t = np.array([1e-2, 2e-2])
        _, found = taylor(f, (np.array([0.3, 0.4]),), (moving,))
        at = [f(np.array([0.3, 0.4]) + sum(moving[k] * h ** (k + 1) for k in range(3))) for h in t]
        series = [f(np.array([0.3, 0.4])) + sum(found[k] * h ** (k + 1) for k in range(3))
                  for h in t]
        np.testing.assert_allclose(at, series, atol=1e-6)


def test_the_default_mode_does_not_look_for_one_that_overlooks_the_kink():
    for f in (lambda x: np.linalg.norm(x**2), lambda x: np.linalg.norm(np.outer(x, x))):
        for _ in range(2):
            with pytest.raises(ADError, match="at 0"):
                hessian(f)(np.zeros(2))
            with pytest.raises(ADError, match="at 0"):
                hvp(f, np.zeros(2), np.ones(2))

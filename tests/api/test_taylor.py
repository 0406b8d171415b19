"""Truncated Taylor series against closed forms, exact rational series, and nested forward mode."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.integrate
import scipy.special

from adcompiler import ADError, jet, taylor
from adcompiler.api.taylor import nested

ORDER = 24


def coefficients(function, x, order=ORDER):
    """Return the Taylor coefficients of a function of a number, order 0 among them."""
    line = np.zeros(order)
    line[0] = 1.0
    value, found = taylor(function, (x,), (line,))
    return np.concatenate([np.ravel(value), np.ravel(found)])


def factorials(order=ORDER):
    return np.array([float(math.factorial(k)) for k in range(order + 1)])


def bernoulli_tangents(order=ORDER):
    """Return the Taylor coefficients of the tangent at 0, from Bernoulli numbers."""
    numbers = [Fraction(1)]
    for n in range(1, order + 2):
        numbers.append(-sum(math.comb(n + 1, k) * numbers[k] for k in range(n)) / (n + 1))
    found = [Fraction(0)] * (order + 1)
    for n in range(1, order // 2 + 1):
        if 2 * n - 1 <= order:
            sign = (-1) ** (n - 1)
            found[2 * n - 1] = (
                sign * 4**n * (4**n - 1) * numbers[2 * n] / math.factorial(2 * n)
            )
    return np.array(list(map(float, found)))


def binomial(power, x):
    """Return the coefficients of ``x**power`` at ``x``."""
    found = [x**power]
    for k in range(ORDER):
        found.append(found[-1] * (power - k) / (k + 1) / x)
    return np.array(found)


def hermite_erf(x):
    """Return the coefficients of erf: its derivatives are Hermite polynomials times a Gaussian."""
    found = [math.erf(x)]
    for k in range(1, ORDER + 1):
        hermite = np.polynomial.hermite.hermval(x, [0.0] * (k - 1) + [1.0])
        slope = 2.0 / math.sqrt(math.pi) * (-1) ** (k - 1) * hermite * math.exp(-x * x)
        found.append(slope / math.factorial(k))
    return np.array(found)


def sines(x, shift=0.0):
    turns = x + shift + np.arange(ORDER + 1) * math.pi / 2
    return np.sin(turns) / factorials()


def arctangents(x):
    """Return the coefficients of the arc tangent: imaginary parts of those of a logarithm."""
    z = x + 1j
    ks = np.arange(1, ORDER + 1)
    return np.array([math.atan(x), *(-((-1.0) ** (ks - 1)) / ks * (1.0 / z**ks).imag)])


KS = np.arange(1, ORDER + 1)
CLOSED = [
    (math.exp, 0.7, math.exp(0.7) / factorials()),
    (np.exp, 0.7, math.exp(0.7) / factorials()),
    (math.sin, 0.7, sines(0.7)),
    (np.cos, 0.7, sines(0.7, math.pi / 2)),
    (lambda x: 1.0 / (1.0 - x), 0.0, np.ones(ORDER + 1)),
    (lambda x: 1.0 / (1.0 - x) ** 2, 0.0, np.arange(1.0, ORDER + 2)),
    (math.log1p, 0.0, np.array([0.0, *(-((-1.0) ** KS) / KS)])),
    (np.log, 2.0, np.array([math.log(2.0), *(-((-0.5) ** KS) / KS)])),
    (math.tan, 0.0, bernoulli_tangents()),
    (np.tanh, 0.0, bernoulli_tangents() * np.array([1.0, 1.0, 1.0, -1.0] * 7)[: ORDER + 1]),
    (math.sqrt, 1.7, binomial(0.5, 1.7)),
    (np.cbrt, 1.7, binomial(1.0 / 3.0, 1.7)),
    (lambda x: x**2.5, 1.7, binomial(2.5, 1.7)),
    (lambda x: x**-3, -1.7, binomial(-3, -1.7)),
    (lambda x: np.array([x]) ** -1.5, 1.7, binomial(-1.5, 1.7)),
    (lambda x: x**7, 1.7, binomial(7, 1.7)),
    (lambda x: np.reciprocal(x), 1.7, binomial(-1, 1.7)),
    (lambda x: 2.5**x, 0.3, 2.5**0.3 * math.log(2.5) ** np.arange(ORDER + 1) / factorials()),
    (math.erf, 0.4, hermite_erf(0.4)),
    (scipy.special.erf, 0.4, hermite_erf(0.4)),
    (math.atan, 0.4, arctangents(0.4)),
    (np.arctan, 0.4, arctangents(0.4)),
    (math.cosh, 0.7, (math.exp(0.7) + (-1.0) ** np.arange(ORDER + 1) * math.exp(-0.7))
     / 2 / factorials()),
    (math.expm1, 0.0, np.array([0.0, *(1.0 / factorials()[1:])])),
    (lambda x: np.exp2(x), 0.0, math.log(2.0) ** np.arange(ORDER + 1) / factorials()),
]


@pytest.mark.parametrize("case", range(len(CLOSED)))
def test_closed_forms(case):
    function, x, wanted = CLOSED[case]
    size = np.max(np.abs(wanted))
    assert np.allclose(coefficients(function, x), wanted, rtol=3e-10, atol=1e-15 * size)


def test_a_root_found_by_iteration_has_the_coefficients_of_the_tree_function():
    def lambert(x):
        w = 0.1
        for _ in range(60):
            w = w - (w * math.exp(w) - x) / (math.exp(w) * (1.0 + w))
        return w

    wanted = [(-k) ** (k - 1) / math.factorial(k) for k in range(1, 13)]
    assert np.allclose(coefficients(lambert, 0.0, 12)[1:], wanted, rtol=1e-9)
    back = coefficients(lambda x: lambert(x) * math.exp(lambert(x)), 0.3, 12)
    assert np.allclose(back, [0.3, 1.0, *[0.0] * 11], atol=1e-9)


def test_inverse_functions_undo_each_other():
    def there_and_back(x):
        return math.log(math.exp(math.sin(math.asin(math.tanh(math.atanh(x))))))

    assert np.allclose(coefficients(there_and_back, 0.3, 16), [0.3, 1.0, *[0.0] * 15], atol=1e-7)
    assert np.allclose(
        coefficients(lambda x: np.arccosh(np.cosh(x)) - np.arcsinh(np.sinh(x)), 0.6, 12), 0.0,
        atol=1e-8,
    )


def horner(x, weights):
    total = 0 * x
    for weight in weights:
        total = total * x + weight
    return total


def test_polynomials_against_exact_series():
    weights = [3.0, -2.0, 0.0, 5.0, -7.0, 1.0, 4.0]

    def rational(x):
        a = np.zeros(3)
        a[0] = x
        a[1] = a[0] * x - 2.0
        a[2] = a[1] ** 3 / 4.0
        a[1:] = a[1:] * a[:-1]
        return horner(a[2] + a[1], weights)

    def exact(x):
        a1, a0 = x * x - 2, x
        a2 = a1 * a1 * a1 * Fraction(1, 4)
        a1, a2 = a1 * a0, a2 * a1
        return horner(a2 + a1, [Fraction(w) for w in weights])

    found = coefficients(rational, 0.5, 40)
    series = exact(Exact([Fraction(1, 2), Fraction(1)]))
    wanted = [float(c) for c in series.c]
    assert np.allclose(found, wanted, rtol=1e-12, atol=1e-9)
    assert wanted[40] != 0.0


class Exact:
    """A power series of 41 rational coefficients, by the definition of sum and product."""

    def __init__(self, c):
        self.c = [*c, *[Fraction(0)] * (41 - len(c))]

    def __add__(self, other):
        other = other if isinstance(other, Exact) else Exact([Fraction(other)])
        return Exact([a + b for a, b in zip(self.c, other.c, strict=True)])

    def __sub__(self, other):
        return self + -1 * Fraction(other)

    def __mul__(self, other):
        other = other if isinstance(other, Exact) else Exact([Fraction(other)])
        return Exact([
            sum((self.c[j] * other.c[k - j] for j in range(k + 1)), Fraction(0))
            for k in range(41)
        ])

    __rmul__ = __mul__


# --- special functions, by identities ------------------------------------------------------------


def harmonic(x):
    """Return the coefficients of ``x**-2.5``, as a difference of Hurwitz's zeta functions."""
    return scipy.special.zeta(2.5, x) - scipy.special.zeta(2.5, x + 1.0)


ZETAS = [0.0, -0.5772156649015329, *(
    (-1) ** k * scipy.special.zeta(float(k), 1.0) / k for k in range(2, ORDER + 1))]
IDENTITIES = [
    (math.lgamma, 1.0, np.array(ZETAS)),
    (scipy.special.gammaln, 1.0, np.array(ZETAS)),
    (lambda x: math.gamma(x) * math.gamma(1.0 - x) * math.sin(math.pi * x), 0.4, math.pi),
    (lambda x: scipy.special.gamma(x + 1.0) / scipy.special.gamma(x) - x, 1.3, 0.0),
    (lambda x: scipy.special.psi(x + 1.0) - scipy.special.psi(x) - 1.0 / x, 1.3, 0.0),
    (lambda x: scipy.special.polygamma(2, x + 1.0) - scipy.special.polygamma(2, x), 1.3,
     2.0 * binomial(-3, 1.3)),
    (harmonic, 1.3, binomial(-2.5, 1.3)),
    (lambda x: np.sinc(x) * (np.pi * x) - np.sin(np.pi * x), 0.7, 0.0),
    (lambda x: scipy.special.hyp1f1(0.5, 0.5, x) - np.exp(x), 0.7, 0.0),
    (lambda x: scipy.special.hyp2f1(1.0, 0.5, 0.5, x), 0.3, 0.7 ** -np.arange(1.0, ORDER + 2)),
    (lambda x: scipy.special.hyp0f1(1.5, -0.25 * x * x) * x - np.sin(x), 0.7, 0.0),
    (lambda x: scipy.special.hyperu(0.5, 1.5, x) - x**-0.5, 1.3, 0.0),
    (lambda x: scipy.special.expit(2.0 * x) - 0.5 * np.tanh(x), 0.3, 0.5),
    (lambda x: scipy.special.xlogy(x, x) - x * np.log(x), 1.3, 0.0),
    (lambda x: scipy.special.xlog1py(2.0, x) + scipy.special.xlog1py(x, 0.0), 0.3,
     2.0 * np.array([math.log(1.3), *(-((-1.0 / 1.3) ** KS) / KS)])),
    (lambda x: scipy.special.jv(0.5, x) - np.sqrt(2.0 / (np.pi * x)) * np.sin(x), 2.3, 0.0),
    (lambda x: scipy.special.yv(0.5, x) + np.sqrt(2.0 / (np.pi * x)) * np.cos(x), 2.3, 0.0),
    (lambda x: scipy.special.iv(0.5, x) - np.sqrt(2.0 / (np.pi * x)) * np.sinh(x), 2.3, 0.0),
    (lambda x: scipy.special.kv(0.5, x) - np.sqrt(np.pi / (2.0 * x)) * np.exp(-x), 2.3, 0.0),
]


@pytest.mark.parametrize("case", range(len(IDENTITIES)))
def test_special_functions(case):
    function, x, wanted = IDENTITIES[case]
    if np.ndim(wanted) == 0:
        wanted = np.array([wanted, *[0.0] * ORDER])
    found = coefficients(function, x, 10)
    assert np.allclose(found, wanted[:11], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("first, second, sign", [
    ("j0", "j1", -1.0), ("y0", "y1", -1.0), ("i0", "i1", 1.0), ("k0", "k1", -1.0),
])
def test_functions_of_bessel_of_whole_order(first, second, sign):
    slope = coefficients(getattr(scipy.special, second), 1.7, 9)
    found = coefficients(getattr(scipy.special, first), 1.7, 10)
    assert np.allclose(found[1:] * np.arange(1, 11), sign * slope, rtol=1e-11)
    if first == "i0":
        assert np.allclose(coefficients(np.i0, 1.7, 10), found)


# --- singular points ------------------------------------------------------------------------------


def test_whole_powers_are_exact_at_zero():
    for n in range(6):
        wanted = np.zeros(9)
        wanted[n] = 1.0
        for function in (lambda x, n=n: x**n, lambda x, n=n: np.power(x, float(n)),
                         lambda x, n=n: math.pow(x, n)):
            assert np.array_equal(coefficients(function, 0.0, 8), wanted)
    assert np.array_equal(coefficients(np.square, 0.0, 3), [0.0, 0.0, 1.0, 0.0])
    powers = taylor(lambda x: x ** np.array([0.0, 1.0, 2.0, 3.0]), (np.zeros(4),), (
        np.array([[1.0] * 4, [0.0] * 4, [0.0] * 4]),))[1]
    assert np.array_equal(powers, [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])


def test_roots_at_zero_have_no_finite_coefficients():
    for function in (math.sqrt, lambda x: x**0.5, np.sqrt, math.cbrt):
        found = coefficients(function, 0.0, 4)
        assert found[0] == 0.0
        assert found[1] == math.inf
        assert not np.isfinite(found[2:]).any()
    found = coefficients(lambda x: x**2.5, 0.0, 5)
    assert np.array_equal(found[:4], [0.0, 0.0, 0.0, math.inf])
    assert np.isnan(found[4:]).all()
    assert np.isnan(coefficients(lambda x: np.float64(-1.5) ** x, 2.0, 2)[1:]).all()


def test_powers_of_zero_are_constant():
    assert np.array_equal(coefficients(lambda x: 0.0**x, 1.5, 3), [0.0, 0.0, 0.0, 0.0])
    assert np.array_equal(coefficients(lambda x: x**0, 1.5, 2), [1.0, 0.0, 0.0])


def test_kinks_follow_the_rules():
    assert np.array_equal(coefficients(abs, 0.0, 2), [0.0, 0.0, 0.0])
    assert np.array_equal(coefficients(lambda x: np.hypot(x, 0.0), 0.0, 1), [0.0, 0.0])
    with pytest.raises(ADError, match="no Taylor series at 0"):
        coefficients(lambda x: np.hypot(x, 0.0), 0.0, 2)
    for function in (
        lambda x: np.maximum(x, x * x), lambda x: max(x, x * x),
        lambda x: np.clip(x * x, 0.0, 1.0), lambda x: np.sort(np.array([x, x * x]))[0],
    ):
        got, wanted = jet(function, 3)(1.0), [nested(function, k)(1.0) for k in range(4)]
        assert np.allclose(got, wanted)

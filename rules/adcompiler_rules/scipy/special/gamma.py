"""Rules of the gamma, beta and zeta functions of ``scipy.special``, and of binomial coefficients.

Formulas by their number in the NIST Digital Library of Mathematical Functions (DLMF). ``sc.psi`` is
the logarithmic derivative of the gamma function.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Domain, call, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler_rules.kernels.random_draws import beta_slope, gamma_slope
from adcompiler_rules.scipy.special.common import of_order

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 4.0)
UNIT = (0.02, 0.98)

# B(2k) / (2k)! for k = 1, ..., 9, of the Euler-Maclaurin formula (DLMF 25.11.7).
EULER_MACLAURIN = (
    0.08333333333333333, -0.001388888888888889, 3.306878306878307e-05, -8.267195767195768e-07,
    2.08767569878681e-08, -5.284190138687493e-10, 1.3382536530684679e-11, -3.3896802963225827e-13,
    8.586062056277845e-15,
)
TERMS = 14


# --- the gamma function ---------------------------------------------------------------------------


def trigamma(z: Any) -> Any:
    """Return the derivative of ``psi``.

    Of complex arguments by recurrence, asymptotic series (DLMF 5.15.5, 5.15.8) and, left of the
    imaginary axis, reflection (5.15.6).
    """
    if not np.iscomplexobj(z):
        return sc.zeta(2.0, z)
    left = np.real(z) < 0.0
    w = np.where(left, 1.0 - z, z)
    total = 0.0 * w
    for _ in range(16):
        total = total + 1.0 / (w * w)
        w = w + 1.0
    t = 1.0 / (w * w)
    series = t * (1 / 6 + t * (-1 / 30 + t * (1 / 42 + t * (-1 / 30 + t * (5 / 66)))))
    total = total + 1.0 / w + 0.5 * t + series / w
    # sin(pi x) at a distance of poles; its square overflows to infinity far from the real axis
    sine = np.sin(np.pi * np.where(left, z, 0.5))
    return np.where(left, (np.pi / sine) ** 2 - total, total)


def psi_difference(a: Any, b: Any) -> Any:
    """Return ``psi(a) - psi(b)``, also where both are at poles, which cancel (DLMF 5.5.4)."""
    reflected = (a <= 0.0) & (b <= 0.0) & (np.floor(a) == a) & (np.floor(b) == b)
    first = np.where(reflected, 1.0 - a, a)
    return sc.psi(first) - sc.psi(np.where(reflected, 1.0 - b, b))


def rgamma_slope(x: Any, y: Any) -> Any:
    """Return the derivative of ``y = 1 / gamma(x)``; at the poles of gamma ``(-1)**n * n!``.

    There it is that of ``sin(pi x) gamma(1 - x) / pi`` (DLMF 5.5.3), which can be differentiated.
    """
    at_pole = (y == 0.0) & (np.real(x) <= 0.0)
    there = np.where(at_pole, np.real(x), 0.0)
    inside = np.where(at_pole, 1.0, x)
    factor = sc.gamma(1.0 - there)
    slope = np.cos(np.pi * there) * factor - there * np.sinc(there) * factor * sc.psi(1.0 - there)
    return np.where(at_pole, slope, -y * sc.psi(inside))


def poch_slope(x: Any, m: Any, y: Any) -> Any:
    """Return the derivative of ``y = gamma(x + m) / gamma(x)`` by ``x``, also where it is zero."""
    zero = (y == 0.0) & (x <= 0.0)
    there, inside = np.where(zero, x, 0.0), np.where(zero, 1.0, x)
    top = np.where(zero, x + m, 1.0)
    slope = sc.gamma(top) * rgamma_slope(there, sc.rgamma(there)) + y * sc.psi(top)
    return np.where(zero, slope, y * psi_difference(inside + m, inside))


scalar_rule(sc.gamma,    lambda x, y: y * sc.psi(x),                       domain=POSITIVE)
scalar_rule(sc.gammaln,  lambda x: sc.psi(x),                              domain=POSITIVE)
scalar_rule(sc.loggamma, lambda x: sc.psi(x),                              domain=POSITIVE)
scalar_rule(sc.rgamma,   lambda x, y: rgamma_slope(x, y),                  domain=ANY)
scalar_rule(sc.gammasgn, 0.0,                                              domain=POSITIVE)
scalar_rule(sc.psi,      lambda x: trigamma(x),                            domain=Domain(
    intervals=(POSITIVE,), calls=lambda rng: [
        call(-1.3), call(np.array([-0.4, -2.6])), call(np.array([-1.3 + 0.4j, -0.2 - 0.1j])),
    ],
))
scalar_rule(sc.polygamma, None, lambda n, x: sc.polygamma(n + 1, x),       domain=of_order(
    (0, 1, 3), POSITIVE))

# The rising factorial gamma(x + m) / gamma(x), DLMF 5.2.5.
scalar_rule(sc.poch,
            lambda x, m, y: poch_slope(x, m, y),
            lambda x, m, y: y * sc.psi(x + m),                             domain=(POSITIVE, ANY))
scalar_rule(sc.beta,
            lambda a, b, y: y * (sc.psi(a) - sc.psi(a + b)),               # DLMF 5.12.1
            lambda a, b, y: y * (sc.psi(b) - sc.psi(a + b)),               domain=(POSITIVE,) * 2)
scalar_rule(sc.betaln,
            lambda a, b: sc.psi(a) - sc.psi(a + b),
            lambda a, b: sc.psi(b) - sc.psi(a + b),                        domain=(POSITIVE,) * 2)


@rrule(sc.multigammaln, wrt=("a",), domain=lambda rng: [
    call(3.5, 3), call(rng.uniform(2.0, 5.0, 3), 2), call(rng.uniform(2.0, 5.0, (2, 3)), 4),
    call(np.float64(0.7), 1),
])
def multigammaln_rule(a, d):
    """Differentiate the logarithm of the multivariate gamma function, DLMF 35.3.4."""
    def multigammaln_pullback(dy):
        slope = 0.0
        for j in range(d):
            slope = slope + sc.psi(a - 0.5 * j)
        return project(slope * dy, a)

    return sc.multigammaln(a, d), multigammaln_pullback


factorial_rule = rrule(sc.factorial, wrt=("n",), domain=lambda rng: [
    call(3.5), call(rng.uniform(0.5, 4.0, 3)), call(np.array([[0.5], [-1.5]])), call(np.float64(4)),
    call(5, exact=True), call(np.array([1, 3])),
], kink="0 where n is negative")


def factorial_cotangent(dy: Any, n: Any, y: Any) -> Any:
    """Return the cotangent of ``n`` for ``y = gamma(n + 1)``."""
    return project(np.conj(y * sc.psi(np.where(y == 0.0, 1.0, n + 1.0))) * dy, n)


if "extend" in inspect.signature(sc.factorial).parameters:  # SciPy 1.15
    @factorial_rule
    def extended_factorial(n, exact=False, extend="zero"):
        y = sc.factorial(n, exact=exact, extend=extend)

        def factorial_pullback(dy):
            return factorial_cotangent(dy, n, y)

        return y, factorial_pullback
else:
    @factorial_rule
    def factorial(n, exact=False):
        y = sc.factorial(n, exact=exact)

        def factorial_pullback(dy):
            return factorial_cotangent(dy, n, y)

        return y, factorial_pullback


# --- binomial coefficients ------------------------------------------------------------------------


def binom_slope_n(n: Any, k: Any, y: Any) -> Any:
    """Return the derivative in ``n`` of ``gamma(n + 1) / (gamma(k + 1) gamma(n - k + 1))``."""
    d = n - k + 1.0
    at_pole = (y == 0.0) & (d <= 0.0) & (n > -1.0)
    zero, top = np.where(at_pole, d, 0.0), np.where(at_pole, n, 0.0) + 1.0
    slope = sc.psi(top) * sc.rgamma(zero) + rgamma_slope(zero, sc.rgamma(zero))
    inside = np.where(at_pole, 0.0, n)
    return np.where(
        at_pole,
        sc.gamma(top) * sc.rgamma(k + 1.0) * slope,
        y * psi_difference(inside + 1.0, np.where(at_pole, 1.0, d)),
    )


def binom_slope_k(n: Any, k: Any, y: Any) -> Any:
    """Return the derivative of the binomial coefficient in ``k``, where ``n`` is not negative.

    One of the two gamma functions of the denominator may be at a pole.
    """
    a, b = k + 1.0, n - k + 1.0
    at_pole = (y == 0.0) & (n > -1.0) & ((a <= 0.0) | (b <= 0.0))
    top = sc.gamma(np.where(at_pole, n, 0.0) + 1.0)
    first, second = np.where(at_pole, a, 1.0), np.where(at_pole, b, 1.0)
    product = (rgamma_slope(first, sc.rgamma(first)) * sc.rgamma(second)
               - sc.rgamma(first) * rgamma_slope(second, sc.rgamma(second)))
    inside = sc.psi(np.where(at_pole, 1.0, b)) - sc.psi(np.where(at_pole, 1.0, a))
    return np.where(at_pole, top * product, y * inside)


scalar_rule(sc.binom,
            lambda n, k, y: binom_slope_n(n, k, y),
            lambda n, k, y: binom_slope_k(n, k, y),
            domain=Domain(intervals=((1.2, 6.0), (0.2, 5.5)), calls=lambda rng: [
                call(1.0, 2.0), call(np.array([2.0, 0.0, 5.0]), 3.0), call(3.0, np.array([4, 5])),
                call(np.array([-1.5, -2.4]), 2.0),
            ]))


@rrule(sc.comb, wrt=("N", "k"), domain=lambda rng: [
    call(5.5, 2.3), call(rng.uniform(4.0, 6.0, 3), rng.uniform(0.5, 3.0, (2, 3))),
    call(np.array([4.5, 3.5]), 2), call(4.5, 2, repetition=True), call(5, 2, exact=True),
    call(np.array([2.5, 1.5]), np.array([2.0, 1.7])),
], kink="0 outside of 0 <= k <= N")
def comb_rule(N, k, *, exact=False, repetition=False):
    y = sc.comb(N, k, exact=exact, repetition=repetition)

    def comb_pullback(dy):
        n = N + k - 1.0 if repetition else 1.0 * N
        inside = y != 0.0
        safe_n, safe_k = np.where(inside, n, 1.0), np.where(inside, k, 0.0)
        dn = np.where(inside, binom_slope_n(safe_n, safe_k, y), 0.0) * dy
        dk = np.where(inside, binom_slope_k(safe_n, safe_k, y), 0.0) * dy
        return project(dn, N), project(dk + dn if repetition else dk, k)

    return y, comb_pullback


@rrule(sc.perm, wrt=("N", "k"), domain=lambda rng: [
    call(5.5, 2.3), call(rng.uniform(4.0, 6.0, 3), rng.uniform(0.5, 3.0, (2, 3))),
    call(np.array([4.5, 3.5]), 2), call(5, 2, exact=True), call(4.5, np.array([1, 2])),
], kink="0 outside of 0 <= k <= N")
def perm_rule(N, k, exact=False):
    """Differentiate ``gamma(N + 1) / gamma(N - k + 1)``."""
    y = sc.perm(N, k, exact=exact)

    def perm_pullback(dy):
        inside = y != 0.0
        below = sc.psi(np.where(inside, N - k + 1.0, 1.0))
        dn = y * (sc.psi(np.where(inside, N + 1.0, 1.0)) - below)
        return project(dn * dy, N), project(y * below * dy, k)

    return y, perm_pullback


# --- incomplete gamma and beta functions ----------------------------------------------------------
# The derivatives in a and b are integrals, which are summed (kernels.random_draws).


def gamma_density(a: Any, x: Any) -> Any:
    """Return ``x**(a-1) * exp(-x) / gamma(a)``, DLMF 8.8.13."""
    return np.exp(sc.xlogy(a - 1.0, x) - x - sc.gammaln(a))


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return ``x**(a-1) * (1-x)**(b-1) / beta(a, b)``, from DLMF 8.17.1."""
    return np.exp(sc.xlogy(a - 1.0, x) + sc.xlog1py(b - 1.0, -x) - sc.betaln(a, b))


def gamma_grown(a: Any, x: Any) -> Any:
    """Return the derivative of ``gammainc(a, x)`` in ``a``."""
    edge = (x == 0.0) | (x == np.inf)
    inside = np.where(edge, 1.0, x)
    return np.where(edge, 0.0, -gamma_slope(inside, a) * gamma_density(a, inside))


def beta_grown(a: Any, b: Any, x: Any) -> Any:
    """Return the derivative of ``betainc(a, b, x)`` in ``a``."""
    edge = (x == 0.0) | (x == 1.0)
    inside = np.where(edge, 0.5, x)
    return np.where(edge, 0.0, -beta_slope(inside, a, b) * beta_density(a, b, inside))


scalar_rule(sc.gammainc,     lambda a, x: gamma_grown(a, x),
                             lambda a, x: gamma_density(a, x),
            domain=(POSITIVE, POSITIVE))
scalar_rule(sc.gammaincc,    lambda a, x: -gamma_grown(a, x),
                             lambda a, x: -gamma_density(a, x),
            domain=(POSITIVE, POSITIVE))
scalar_rule(sc.gammaincinv,  lambda a, p, x: gamma_slope(x, a),
                             lambda a, p, x: 1.0 / gamma_density(a, x),
            domain=(POSITIVE, UNIT))
scalar_rule(sc.gammainccinv, lambda a, p, x: gamma_slope(x, a),
                             lambda a, p, x: -1.0 / gamma_density(a, x),
            domain=(POSITIVE, UNIT))
scalar_rule(sc.betainc,      lambda a, b, x: beta_grown(a, b, x),
                             lambda a, b, x: -beta_grown(b, a, 1.0 - x),
                             lambda a, b, x: beta_density(a, b, x),
            domain=(POSITIVE, POSITIVE, UNIT))
scalar_rule(sc.betaincinv,   lambda a, b, p, x: beta_slope(x, a, b),
                             lambda a, b, p, x: -beta_slope(1.0 - x, b, a),
                             lambda a, b, p, x: 1.0 / beta_density(a, b, x),
            domain=(POSITIVE, POSITIVE, UNIT))
if hasattr(sc, "betaincc"):  # SciPy 1.11
    scalar_rule(sc.betaincc,     lambda a, b, x: -beta_grown(a, b, x),
                                 lambda a, b, x: beta_grown(b, a, 1.0 - x),
                                 lambda a, b, x: -beta_density(a, b, x),
                domain=(POSITIVE, POSITIVE, UNIT))
    scalar_rule(sc.betainccinv,  lambda a, b, p, x: beta_slope(x, a, b),
                                 lambda a, b, p, x: -beta_slope(1.0 - x, b, a),
                                 lambda a, b, p, x: -1.0 / beta_density(a, b, x),
                domain=(POSITIVE, POSITIVE, UNIT))

# --- the zeta function ----------------------------------------------------------------------------


def hurwitz_slope(x: Any, q: Any) -> Any:
    """Return the derivative in ``x`` of the Hurwitz zeta function, for ``x >= 0``, ``q > 0``.

    By differentiating the Euler-Maclaurin formula, DLMF 25.11.5.
    """
    w = q + 0.0 * x
    total = 0.0
    for _ in range(TERMS):
        total = total - np.log(w) * np.power(w, -x)
        w = w + 1.0
    log = np.log(w)
    power = np.power(w, -x)
    below = x - 1.0
    total = total - power * (w * (log + 1.0 / below) / below + 0.5 * log)
    rising, rising_slope = x, 1.0
    power = power / w
    for k, factor in enumerate(EULER_MACLAURIN):
        total = total + factor * power * (rising_slope - rising * log)
        for step in (2 * k + 1, 2 * k + 2):
            rising_slope = rising_slope * (x + step) + rising
            rising = rising * (x + step)
        power = power / (w * w)
    return total


def riemann_slope(x: Any) -> Any:
    """Return the derivative of the zeta function of real ``x``, by DLMF 25.4.1 where negative."""
    negative = x < 0.0
    s = np.where(negative, 1.0 - x, x)
    right = hurwitz_slope(s, 1.0)
    t = np.where(negative, s, 2.0)
    angle = 1.5707963267948966 * (1.0 - t)
    left = 2.0 * np.power(6.283185307179586, -t) * sc.gamma(t) * (
        sc.zeta(t) * (np.sin(angle) * (1.8378770664093454 - sc.psi(t))
                      + 1.5707963267948966 * np.cos(angle))
        - np.sin(angle) * right
    )
    return np.where(negative, left, right)


@rrule(sc.zeta, wrt=("x", "q"), domain=lambda rng: [
    call(2.5), call(0.3), call(np.array([-3.7, -0.5, 1.5, 30.0])), call(rng.uniform(1.2, 9.0, 3)),
    call(2.5, 0.7), call(rng.uniform(1.2, 9.0, (2, 3)), rng.uniform(0.2, 3.0, 3)),
    call(3.2, rng.uniform(0.2, 3.0, 3)), call(2.0, np.float64(9.0)),
    call(rng.uniform(1.2, 9.0, 2), q=1.5),
])
def zeta_rule(x, q=None):
    if np.iscomplexobj(x):
        raise NotImplementedError("the derivative of zeta has a rule for real numbers only")
    y = sc.zeta(x) if q is None else sc.zeta(x, q)

    def zeta_pullback(dy):
        if q is None:
            return project(riemann_slope(x) * dy, x), None
        dq = -x * sc.zeta(x + 1.0, q)  # DLMF 25.11.17
        return project(hurwitz_slope(x, q) * dy, x), project(dq * dy, q)

    return y, zeta_pullback


scalar_rule(sc.zetac, lambda x: riemann_slope(x),                          domain=(1.2, 9.0))

"""Rules of distribution functions and their inverses, by argument and where closed by parameter.

The derivative of a distribution function is the density; of an inverse ``x(p)``, with the
distribution function ``F(x, a) = p``, it is ``1 / F_x``, and ``-F_a / F_x`` in a parameter ``a``.
Numbers of successes and trials are whole: no derivative. Sources: Johnson, Kotz, Balakrishnan,
Continuous Univariate Distributions, and DLMF, the NIST Digital Library of Mathematical Functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Call, call, scalar_rule
from adcompiler_rules.kernels.random_draws import gamma_slope
from adcompiler_rules.scipy.special.gamma import beta_density, gamma_density, gamma_grown

ANY = (-2.0, 2.0)
POSITIVE = (0.4, 4.0)
UNIT = (0.05, 0.95)

# --- binomial, negative binomial and Poisson ------------------------------------------------------


def counts(rng: np.random.Generator) -> list[Call]:
    """Return samples of a probability for numbers of successes and trials."""
    p = rng.uniform(0.1, 0.9, (2, 3))
    k = np.array([1, 2, 3])
    return [
        call(1, 4, 0.3), call(2.0, 5, p), call(k, 6, p), call(0.0, np.array([2, 3, 4]), p),
        call(np.float64(1.0), 3, np.float64(0.4)), call(k, 5, 0.6), call(1.0, 2, np.empty(0)),
    ]


def rates(rng: np.random.Generator) -> list[Call]:
    """Return samples of the mean of a Poisson distribution for numbers of events."""
    m = rng.uniform(0.2, 3.0, (2, 3))
    return [
        call(1, 0.7), call(2.0, m), call(np.array([0.0, 1.0, 3.0]), m), call(0.0, np.float64(0.5)),
        call(np.array([1.0, 2.0]), 1.5), call(1.0, np.empty(0)),
    ]


def levels(rng: np.random.Generator) -> list[Call]:
    """Return samples of a probability for numbers of events."""
    p = rng.uniform(0.1, 0.9, (2, 3))
    return [call(1, 0.7), call(2, p), call(np.array([0, 1, 3]), p), call(0, np.float64(0.5)),
            call(np.array([1, 2]), 0.6)]


def binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """Return minus the derivative in ``p`` of the probability of at most ``k`` successes."""
    return beta_density(np.floor(k) + 1.0, n - np.floor(k), p)


def failures_slope(k: Any, n: Any, p: Any) -> Any:
    """Return the derivative in ``p`` of the probability of at most ``k`` failures."""
    return beta_density(1.0 * n, np.floor(k) + 1.0, p)


def poisson_slope(k: Any, m: Any) -> Any:
    """Return minus the derivative in ``m`` of the probability of at most ``k`` events."""
    return gamma_density(np.floor(k) + 1.0, m)


scalar_rule(sc.bdtr,   None, None, lambda k, n, p: -binomial_slope(k, n, p), domain=counts)
scalar_rule(sc.bdtrc,  None, None, lambda k, n, p: binomial_slope(k, n, p), domain=counts)
scalar_rule(sc.bdtri,  None, None, lambda k, n, y, p: -1.0 / binomial_slope(k, n, p), domain=counts)
scalar_rule(sc.nbdtr,  None, None, lambda k, n, p: failures_slope(k, n, p), domain=counts)
scalar_rule(sc.nbdtrc, None, None, lambda k, n, p: -failures_slope(k, n, p), domain=counts)
scalar_rule(sc.nbdtri, None, None, lambda k, n, y, p: 1.0 / failures_slope(k, n, p), domain=counts)
scalar_rule(sc.pdtr,   None, lambda k, m: -poisson_slope(k, m),                        domain=rates)
scalar_rule(sc.pdtrc,  None, lambda k, m: poisson_slope(k, m),                         domain=rates)
scalar_rule(sc.pdtri,  None, lambda k, y, m: -1.0 / poisson_slope(k, m), domain=levels)

# --- gamma and chi-squared ------------------------------------------------------------------------

scalar_rule(sc.gdtr,   lambda a, b, x: x * gamma_density(b, a * x), None,
                       lambda a, b, x: a * gamma_density(b, a * x),      domain=(POSITIVE,) * 3)
scalar_rule(sc.gdtrc,  lambda a, b, x: -x * gamma_density(b, a * x), None,
                       lambda a, b, x: -a * gamma_density(b, a * x),     domain=(POSITIVE,) * 3)
scalar_rule(sc.gdtrix, lambda a, b, p, x: -x / a, None,
                       lambda a, b, p, x: 1.0 / (a * gamma_density(b, a * x)),
            domain=(POSITIVE, POSITIVE, UNIT))
scalar_rule(sc.gdtria, lambda p, b, x, a: 1.0 / (x * gamma_density(b, a * x)), None,
                       lambda p, b, x, a: -a / x,
            domain=(UNIT, POSITIVE, POSITIVE))
scalar_rule(sc.chdtr,  lambda v, x: 0.5 * gamma_grown(0.5 * v, 0.5 * x),
                       lambda v, x: 0.5 * gamma_density(0.5 * v, 0.5 * x),
            domain=(POSITIVE, POSITIVE))
scalar_rule(sc.chdtrc, lambda v, x: -0.5 * gamma_grown(0.5 * v, 0.5 * x),
                       lambda v, x: -0.5 * gamma_density(0.5 * v, 0.5 * x),
            domain=(POSITIVE, POSITIVE))
scalar_rule(sc.chdtri, lambda v, p, x: gamma_slope(0.5 * x, 0.5 * v),
                       lambda v, p, x: -2.0 / gamma_density(0.5 * v, 0.5 * x),
            domain=(POSITIVE, UNIT))


def noncentral_density(x: Any, df: Any, nc: Any) -> Any:
    """Return the density of the noncentral chi-squared distribution.

    With the scaled Bessel function of the first kind; near ``nc * x == 0`` with its series, 0F1.
    """
    order = 0.5 * df - 1.0
    product = x * nc
    small = product < 1.0
    safe = np.where(small, 1.0, product)
    root = np.sqrt(safe)
    ratio = np.where(small, 1.0, x) / np.where(small, 1.0, nc)
    gap = np.where(small, 0.0, np.sqrt(x) - np.sqrt(nc))
    near = np.exp(sc.xlogy(order, 0.5 * x) - 0.5 * (x + nc) - sc.gammaln(0.5 * df))
    near = near * sc.hyp0f1(0.5 * df, 0.25 * np.where(small, product, 0.0))
    far = np.exp(0.5 * sc.xlogy(order, ratio) - 0.5 * gap * gap) * sc.ive(order, root)
    return 0.5 * np.where(small, near, far)


scalar_rule(sc.chndtr,
            lambda x, df, nc: noncentral_density(x, df, nc), None,
            lambda x, df, nc: -noncentral_density(x, df + 2.0, nc),
            domain=((0.4, 8.0), POSITIVE, POSITIVE))
scalar_rule(sc.chndtrix,
            lambda p, df, nc, x: 1.0 / noncentral_density(x, df, nc), None,
            lambda p, df, nc, x: (
                noncentral_density(x, df + 2.0, nc) / noncentral_density(x, df, nc)),
            domain=(UNIT, POSITIVE, POSITIVE))
scalar_rule(sc.chndtrinc,
            lambda x, df, p, nc: np.where(  # at its end, 0, it stays
                nc > 1e-290,
                noncentral_density(x, df, nc) / noncentral_density(x, df + 2.0, nc), 0.0), None,
            lambda x, df, p, nc: np.where(
                nc > 1e-290, -1.0 / noncentral_density(x, df + 2.0, nc), 0.0),
            domain=((5.0, 8.0), (1.0, 2.0), (0.3, 0.6)))

# --- F, Student's t, normal, Tukey's lambda -------------------------------------------------------


def f_density(dfn: Any, dfd: Any, x: Any) -> Any:
    """Return the density of the F distribution: of ``w = dfn x / (dfd + dfn x)`` times dw/dx."""
    total = dfd + dfn * x
    scale = dfn * dfd / (total * total)
    return beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / total) * scale


def t_density(df: Any, t: Any) -> Any:
    """Return the density of Student's t distribution."""
    constant = np.exp(-sc.betaln(0.5 * np.ones_like(df), 0.5 * df)) / np.sqrt(df)
    return constant * np.exp(-0.5 * sc.xlog1py(df + 1.0, t * t / df))


def power_slope(p: Any, shape: Any) -> Any:
    """Return the derivative of ``(p**shape - 1) / shape`` in ``shape``, which is not near 0."""
    power = np.exp(sc.xlogy(shape, p))
    return (sc.xlogy(power, p) - (power - 1.0) / shape) / shape


def tukey_density(p: Any, shape: Any) -> Any:
    """Return the density of Tukey's lambda distribution where its cumulative one is ``p``."""
    inside = (p > 0.0) & (p < 1.0)
    q = np.where(inside, p, 0.5)
    powers = np.exp(sc.xlogy(shape - 1.0, q)) + np.exp(sc.xlog1py(shape - 1.0, -q))
    return np.where(inside, 1.0 / powers, 0.0)


def tukey_slope(p: Any, shape: Any) -> Any:
    """Return the derivative in ``shape`` of ``(p**shape - (1 - p)**shape) / shape``."""
    small = np.abs(shape) < 1e-4
    away = np.where(small, 1.0, shape)
    first, second = sc.xlogy(np.ones_like(p), p), sc.xlog1py(np.ones_like(p), -p)
    near = 0.5 * (first - second) * (first + second)
    cubic = (first * first * first - second * second * second) / 3.0
    return np.where(small, near + cubic * shape, power_slope(p, away) - power_slope(1.0 - p, away))


scalar_rule(sc.fdtr,    None, None, lambda dfn, dfd, x: f_density(dfn, dfd, x),
            domain=(POSITIVE,) * 3)
scalar_rule(sc.fdtrc,   None, None, lambda dfn, dfd, x: -f_density(dfn, dfd, x),
            domain=(POSITIVE,) * 3)
scalar_rule(sc.fdtri,   None, None, lambda dfn, dfd, p, x: 1.0 / f_density(dfn, dfd, x),
            domain=((1.0, 5.0), (1.0, 5.0), UNIT))
scalar_rule(sc.stdtr,   None, lambda df, t: t_density(df, t), domain=(POSITIVE, ANY))
scalar_rule(sc.stdtrit, None, lambda df, p, t: 1.0 / t_density(df, t), domain=(POSITIVE, UNIT))
scalar_rule(sc.tklmbda,
            lambda x, shape, p: tukey_density(p, shape),
            lambda x, shape, p: -tukey_slope(np.where((p > 0.0) & (p < 1.0), p, 0.5), shape)
            * tukey_density(p, shape),
            domain=((-0.6, 0.6), (0.2, 1.4)))

# The mean and the standard deviation of a normal distribution with P(X <= x) = p.
scalar_rule(sc.nrdtrimn,
            lambda p, std, x: -std * 2.5066282746310002 * np.exp(0.5 * sc.ndtri(p) * sc.ndtri(p)),
            lambda p, std, x: -sc.ndtri(p),
            1.0, domain=(UNIT, POSITIVE, ANY))
scalar_rule(sc.nrdtrisd,
            lambda mean, p, x: -1.0 / sc.ndtri(p),
            lambda mean, p, x, std: -std / sc.ndtri(p) * 2.5066282746310002 * np.exp(
                0.5 * sc.ndtri(p) * sc.ndtri(p)),
            lambda mean, p, x: 1.0 / sc.ndtri(p),
            domain=((-2.0, -1.0), (0.6, 0.95), (0.5, 2.0)))

# --- Kolmogorov -----------------------------------------------------------------------------------


def kolmogorov_slope(x: Any) -> Any:
    """Return the derivative of the survival function of Kolmogorov's distribution.

    Of ``2 sum (-1)**(k-1) exp(-2 k**2 x**2)`` or, for small ``x``, of 1 minus its transform by
    Poisson's formula ``sqrt(2 pi) / x sum exp(-(2 k - 1)**2 pi**2 / (8 x**2))``.
    """
    small = x < 0.8
    far, near = np.where(small, 1.0, x), np.where(small, np.maximum(x, 0.02), 1.0)
    outer: Any = 0.0
    inner: Any = 0.0
    t = 1.0 / (near * near)
    for k in range(1, 7):
        outer = outer + (1 - 2 * (k % 2)) * k * k * np.exp(-2.0 * k * k * far * far)
        a = 1.2337005501361697 * (2 * k - 1) ** 2
        inner = inner + np.exp(-a * t) * (t - 2.0 * a * t * t)
    return np.where(small, 2.5066282746310002 * inner, 8.0 * far * outer)


scalar_rule(sc.kolmogorov, lambda x: kolmogorov_slope(x),                      domain=(0.35, 2.0))
scalar_rule(sc.kolmogi,    lambda p, x: 1.0 / kolmogorov_slope(x),             domain=UNIT)

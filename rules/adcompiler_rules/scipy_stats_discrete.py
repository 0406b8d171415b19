"""Rules of discrete distributions, by their probabilities and rates, and of multivariate ones.

Counts and locations are whole: no derivative. Formulas: Johnson, Kemp, Kotz, Univariate Discrete
Distributions, 2005; Petersen, Pedersen, The Matrix Cookbook, 2012, section 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc
from scipy import stats

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime import project
from adcompiler_rules.scipy_special_common import refuse_complex
from adcompiler_rules.scipy_stats_continuous import Slopes

# --- slopes of the methods ------------------------------------------------------------------------
# Of the logarithm of the probability of k, and of the probability of at most k as a multiple of it.


def of_logpmf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logpmf``."""
    def slopes(k, y, shapes, loc):
        possible = y > -np.inf
        count = np.where(possible, k - loc, 1.0)
        return [np.where(possible, slope, 0.0) for slope in mass(count, *shapes)]

    return slopes


def of_pmf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``pmf``."""
    def slopes(k, y, shapes, loc):
        count = np.where(y > 0.0, k - loc, 1.0)
        return [y * slope for slope in mass(count, *shapes)]

    return slopes


def of_cdf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``cdf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        return [law.pmf(count, *shapes) * slope for slope in below(count, *shapes)]

    return slopes


def of_sf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``sf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        return [-law.pmf(count, *shapes) * slope for slope in below(count, *shapes)]

    return slopes


def of_logcdf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logcdf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        ratio = np.exp(law.logpmf(count, *shapes) - np.where(y > -np.inf, y, 0.0))
        return [ratio * slope for slope in below(count, *shapes)]

    return slopes


def of_logsf(mass: Slopes, below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logsf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        ratio = np.exp(law.logpmf(count, *shapes) - np.where(y > -np.inf, y, 0.0))
        return [-ratio * slope for slope in below(count, *shapes)]

    return slopes


METHODS = (("logpmf", of_logpmf), ("pmf", of_pmf), ("cdf", of_cdf), ("sf", of_sf),
           ("logcdf", of_logcdf), ("logsf", of_logsf))

# --- rules of functions of k, parameters by name, and loc -----------------------------------------


def with_mu(method: Any, slopes: Slopes, domain: Any) -> None:
    @rrule(method, wrt=("mu",), domain=domain)
    def rule(k, mu, loc=0):
        refuse_complex(mu)
        y = method(k, mu, loc)

        def distribution_pullback(dy):
            return project(slopes(k, y, (mu,), loc)[0] * dy, mu)

        return y, distribution_pullback


def with_p(method: Any, slopes: Slopes, domain: Any) -> None:
    @rrule(method, wrt=("p",), domain=domain)
    def rule(k, p, loc=0):
        refuse_complex(p)
        y = method(k, p, loc)

        def distribution_pullback(dy):
            return project(slopes(k, y, (p,), loc)[0] * dy, p)

        return y, distribution_pullback


def with_n_p(method: Any, slopes: Slopes, domain: Any) -> None:
    @rrule(method, wrt=("p",), domain=domain)
    def rule(k, n, p, loc=0):
        refuse_complex(n, p)
        y = method(k, n, p, loc)

        def distribution_pullback(dy):
            return project(slopes(k, y, (n, p), loc)[0] * dy, p)

        return y, distribution_pullback


def with_real_n(method: Any, slopes: Slopes, domain: Any) -> None:
    @rrule(method, wrt=("n", "p"), domain=domain)
    def rule(k, n, p, loc=0):
        refuse_complex(n, p)
        y = method(k, n, p, loc)

        def distribution_pullback(dy):
            by_p, by_n = slopes(k, y, (n, p), loc)
            return project(by_n * dy, n), project(by_p * dy, p)

        return y, distribution_pullback


# --- the distributions ----------------------------------------------------------------------------


def poisson(k, mu):
    return (k / mu - 1.0,)


def poisson_below(k, mu):
    return (-np.ones_like(k * mu),)


def binomial(k, n, p):
    return (k / p - (n - k) / (1.0 - p),)


def binomial_below(k, n, p):
    return (-(n - k) / (1.0 - p),)


def bernoulli(k, p):
    return binomial(k, 1.0, p)


def bernoulli_below(k, p):
    return binomial_below(k, 1.0, p)


def negative_binomial(k, n, p):
    return n / p - k / (1.0 - p), sc.psi(k + n) - sc.psi(n) + np.log(p)


def negative_binomial_below(k, n, p):
    return ((n + k) / p,)


def geometric(k, p):
    return (1.0 / p - (k - 1.0) / (1.0 - p),)


def geometric_below(k, p):
    return (k / p,)


def rates(rng: np.random.Generator) -> list[Call]:
    """Return samples of a mean."""
    return [call(2, 1.3), call(np.array([1, 3, 2]), 0.7, 1),
            call(np.array([0, 1, 3]), rng.uniform(0.5, 3.0, (2, 3)))]


def chances(rng: np.random.Generator) -> list[Call]:
    """Return samples of a probability."""
    return [call(1, 0.3), call(np.array([2, 3, 5]), rng.uniform(0.2, 0.8, (2, 3)), 1)]


def one_trial(rng: np.random.Generator) -> list[Call]:
    """Return samples of the probability of success in one trial."""
    return [call(0, 0.3), call(np.array([1, 1, 1]), rng.uniform(0.2, 0.8, (2, 3)), 1)]


def trials(rng: np.random.Generator) -> list[Call]:
    """Return samples of numbers of trials and a probability."""
    return [call(2, 5, 0.3), call(np.array([1, 2, 3]), 4, rng.uniform(0.2, 0.8, (2, 3)), 1)]


def register() -> None:
    """Register the rules of the methods of all distributions."""
    for law, rule, mass, below, domain in (
        (stats.poisson, with_mu, poisson, poisson_below, rates),
        (stats.binom, with_n_p, binomial, binomial_below, trials),
        (stats.bernoulli, with_p, bernoulli, bernoulli_below, one_trial),
        (stats.geom, with_p, geometric, geometric_below, chances),
        (stats.nbinom, with_n_p, negative_binomial, negative_binomial_below, trials),
    ):
        for name, of_method in METHODS:
            slopes = of_method(mass, below, law)
            is_mass = law is stats.nbinom and name in ("pmf", "logpmf")
            (with_real_n if is_mass else rule)(getattr(law, name), slopes, domain)


register()

# --- multivariate distributions -------------------------------------------------------------------


def normal_slopes(x: Any, mean: Any, cov: Any, dy: Any) -> Any:
    """Return the cotangents of ``x``, ``mean`` and ``cov`` of the normal log-density.

    SciPy reads the lower triangle of a matrix ``cov``, which gets all of its cotangent; a vector is
    the diagonal of one, and a number stands in all of the diagonal.
    """
    deviation = x - mean
    d = np.shape(mean)[0]
    whole = np.ndim(cov) == 2
    matrix = np.tril(cov) + np.tril(cov, -1).T if whole else cov * np.eye(d)
    solved = np.linalg.solve(matrix, np.expand_dims(deviation, -1))[..., 0]
    weighted = np.expand_dims(dy, -1) * solved
    rows, others = np.reshape(weighted, (-1, d)), np.reshape(solved, (-1, d))
    both = rows.T @ others - np.sum(dy) * np.linalg.inv(matrix)
    if whole:
        dcov = np.tril(both, -1) + 0.5 * both * np.eye(d)
    elif np.ndim(cov) == 1:
        dcov = 0.5 * np.diagonal(both)
    else:
        dcov = 0.5 * np.trace(both)
    return project(-weighted, x), project(weighted, mean), project(dcov, cov)


def gaussians(rng: np.random.Generator) -> list[Call]:
    """Return samples of points, means and covariances."""
    a = rng.normal(size=(3, 3))
    cov = a @ a.T + np.eye(3)
    return [
        call(rng.normal(size=3), rng.normal(size=3), cov),
        call(rng.normal(size=(4, 3)), rng.normal(size=3), cov),
        call(rng.normal(size=(2, 4, 3)), np.zeros(3), cov),
        call(rng.normal(size=(4, 3)), rng.normal(size=3), rng.uniform(0.5, 2.0, 3)),
        call(rng.normal(size=(2, 3)), rng.normal(size=3), 1.3),
        call(rng.normal(size=1), rng.normal(size=1), np.array([0.7])),
    ]


@rrule(stats.multivariate_normal.logpdf, wrt=("x", "mean", "cov"), domain=gaussians)
def multivariate_normal_logpdf_rule(x, mean, cov, allow_singular=False):
    if np.ndim(mean) != 1 or np.ndim(x) == 0 or allow_singular:
        raise NotImplementedError(
            "multivariate_normal has a rule for points, a vector and a regular covariance only")
    refuse_complex(x, mean, cov)
    y = stats.multivariate_normal.logpdf(x, mean, cov)

    def logpdf_pullback(dy):
        return normal_slopes(x, mean, cov, dy)

    return y, logpdf_pullback


@rrule(stats.multivariate_normal.pdf, wrt=("x", "mean", "cov"), domain=gaussians)
def multivariate_normal_pdf_rule(x, mean, cov, allow_singular=False):
    if np.ndim(mean) != 1 or np.ndim(x) == 0 or allow_singular:
        raise NotImplementedError(
            "multivariate_normal has a rule for points, a vector and a regular covariance only")
    refuse_complex(x, mean, cov)
    y = stats.multivariate_normal.pdf(x, mean, cov)

    def pdf_pullback(dy):
        return normal_slopes(x, mean, cov, dy * y)

    return y, pdf_pullback


def dirichlet_slopes(x: Any, alpha: Any, dy: Any) -> Any:
    """Return the cotangents of ``x`` and ``alpha`` of the logarithm of Dirichlet's density.

    The last of the proportions may be left out of ``x``: it is what is left of 1.
    """
    complete = np.shape(x)[0] == np.shape(alpha)[0]
    rest = np.expand_dims(1.0 - np.sum(x, axis=0), 0)
    whole = x if complete else np.concatenate((x, rest))
    digamma = sc.psi(alpha) - sc.psi(np.sum(alpha))
    if np.ndim(x) == 1:
        weights = (alpha - 1.0) / whole * dy
        dalpha = (np.log(whole) - digamma) * dy
    else:
        weights = np.expand_dims(alpha - 1.0, -1) / whole * dy
        dalpha = np.sum(np.log(whole) * dy, axis=1) - digamma * np.sum(dy)
    dx = weights if complete else weights[:-1] - weights[-1:]
    return project(dx, x), project(dalpha, alpha)


def proportions(rng: np.random.Generator) -> list[Call]:
    """Return samples of proportions, the last one left out, and of their parameters."""
    alpha = rng.uniform(1.2, 4.0, 3)
    return [call(np.array([0.2, 0.5]), alpha), call(rng.uniform(0.1, 0.4, (2, 4)), alpha)]


@rrule(stats.dirichlet.logpdf, wrt=("x", "alpha"), domain=proportions)
def dirichlet_logpdf_rule(x, alpha):
    refuse_complex(x, alpha)
    y = stats.dirichlet.logpdf(x, alpha)

    def logpdf_pullback(dy):
        return dirichlet_slopes(x, alpha, dy)

    return y, logpdf_pullback


@rrule(stats.dirichlet.pdf, wrt=("x", "alpha"), domain=proportions)
def dirichlet_pdf_rule(x, alpha):
    refuse_complex(x, alpha)
    y = stats.dirichlet.pdf(x, alpha)

    def pdf_pullback(dy):
        return dirichlet_slopes(x, alpha, dy * y)

    return y, pdf_pullback

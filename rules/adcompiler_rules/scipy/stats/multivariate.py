"""Rules of multivariate distributions.

Formulas: Petersen, Pedersen, The Matrix Cookbook, 2012, section 8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc
from scipy import stats

from adcompiler.rulekit import Call, call, frule, non_differentiable, pulled, pushed, rrule
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import refuse_complex


def normal_slopes(x: Any, mean: Any, cov: Any, dy: Any) -> Any:
    """Return the cotangents of ``x``, ``mean`` and ``cov`` of the normal log-density.

    SciPy reads the lower triangle of a matrix ``cov``, which gets all of its cotangent; a vector is
    the diagonal of one, and a number stands in all of the diagonal.
    """
    deviation = np.asarray(x) - np.asarray(mean)
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


POINTS = "multivariate_normal has a rule for points and a mean that is a vector"


def regular(cov, allowed):
    """Return a covariance; if singular ones are allowed, raise where it is one.

    The density of a singular one is that on a subspace, which moves with the matrix.
    """
    if allowed:
        check_regular(cov)
    return cov


def check_regular(cov: Any) -> None:
    """Raise where a covariance has less than full rank, by the limit that SciPy has."""
    matrix = np.tril(cov) + np.tril(cov, -1).T if np.ndim(cov) == 2 else np.diag(np.ravel(cov))
    sizes = np.abs(np.linalg.eigvalsh(matrix))
    if np.any(sizes <= 1e6 * np.finfo(float).eps * np.max(sizes, initial=0.0)):
        raise np.linalg.LinAlgError(
            "the density of a singular covariance has no derivative: take one of full rank")


non_differentiable(check_regular, pure=False)


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
        call(rng.normal(size=(4, 3)), rng.normal(size=3), cov, True),
    ]


@rrule(stats.multivariate_normal.logpdf, wrt=("x", "mean", "cov"), domain=gaussians)
def multivariate_normal_logpdf_rule(x, mean, cov, allow_singular=False):
    if np.ndim(mean) != 1 or np.ndim(x) == 0:
        raise NotImplementedError(POINTS)
    refuse_complex(x, mean, cov)
    y = stats.multivariate_normal.logpdf(x, mean, cov, allow_singular)

    def logpdf_pullback(dy):
        return normal_slopes(x, mean, regular(cov, allow_singular), dy)

    return y, logpdf_pullback


@rrule(stats.multivariate_normal.pdf, wrt=("x", "mean", "cov"), domain=gaussians)
def multivariate_normal_pdf_rule(x, mean, cov, allow_singular=False):
    if np.ndim(mean) != 1 or np.ndim(x) == 0:
        raise NotImplementedError(POINTS)
    refuse_complex(x, mean, cov)
    y = stats.multivariate_normal.pdf(x, mean, cov, allow_singular)

    def pdf_pullback(dy):
        return normal_slopes(x, mean, regular(cov, allow_singular), dy * y)

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
        weights = (np.asarray(alpha) - 1.0) / whole * dy
        dalpha = (np.log(whole) - digamma) * dy
    else:
        weights = np.expand_dims(np.asarray(alpha) - 1.0, -1) / whole * dy
        dalpha = np.sum(np.log(whole) * dy, axis=1) - digamma * np.sum(dy)
    dx = weights if complete else weights[:-1] - weights[-1:]
    return project(dx, x), project(dalpha, alpha)


def proportions(rng: np.random.Generator) -> list[Call]:
    """Return samples of proportions, the last one left out, and of their parameters."""
    alpha = rng.uniform(1.2, 4.0, 3)
    # exact in single precision too: SciPy compares sums with 1
    return [call(np.array([0.25, 0.5]), alpha), call(rng.integers(6, 26, (2, 4)) / 64.0, alpha)]


@rrule(stats.dirichlet.logpdf, wrt=("x", "alpha"), domain=proportions)
def dirichlet_logpdf_rule(x: np.ndarray, alpha: np.ndarray):
    refuse_complex(x, alpha)
    y = stats.dirichlet.logpdf(x, alpha)

    def logpdf_pullback(dy):
        return dirichlet_slopes(x, alpha, dy)

    return y, logpdf_pullback


@rrule(stats.dirichlet.pdf, wrt=("x", "alpha"), domain=proportions)
def dirichlet_pdf_rule(x: np.ndarray, alpha: np.ndarray):
    refuse_complex(x, alpha)
    y = stats.dirichlet.pdf(x, alpha)

    def pdf_pullback(dy):
        return dirichlet_slopes(x, alpha, dy * y)

    return y, pdf_pullback


# --- by their logarithms, of which the derivative is compiled -------------------------------------


def symmetric(a):
    """Return the matrix of which SciPy reads the lower triangle."""
    return np.tril(a) + np.tril(a, -1).T


def student(x, loc, shape, df):
    """Return the logarithm of the density of Student's distribution of vectors."""
    d = np.shape(loc)[0]
    matrix = symmetric(shape)
    deviation = x - loc
    solved = np.linalg.solve(matrix, np.expand_dims(deviation, -1))[..., 0]
    distance = np.sum(deviation * solved, axis=-1)
    total = sc.gammaln(0.5 * (df + d)) - sc.gammaln(0.5 * df) - 0.5 * d * np.log(np.pi * df)
    return total - 0.5 * np.linalg.slogdet(matrix)[1] - 0.5 * (df + d) * np.log1p(distance / df)


def students(rng: np.random.Generator) -> list[Call]:
    """Return samples of points, places, shapes and degrees of freedom."""
    a = rng.normal(size=(3, 3))
    shape = a @ a.T + np.eye(3)
    return [
        call(rng.normal(size=3), rng.normal(size=3), shape, 4.5),
        call(rng.normal(size=(2, 4, 3)), rng.normal(size=3), shape, 3.5),
    ]


def student_pulled(x, loc, shape, df, dy):
    if np.ndim(loc) != 1 or np.ndim(x) == 0 or np.ndim(shape) != 2 or np.ndim(df) != 0:
        raise NotImplementedError(
            "multivariate_t has a rule for points, a vector, a matrix and a number")
    _, pull = pulled(student, x, loc, shape, 1.0 * df)
    return pull(dy)


@rrule(stats.multivariate_t.logpdf, wrt=("x", "loc", "shape", "df"), domain=students)
def multivariate_t_logpdf_rule(x, loc: np.ndarray, shape, df=1):
    refuse_complex(x, loc, shape, df)

    def logpdf_pullback(dy):
        return student_pulled(x, loc, shape, df, dy)

    return stats.multivariate_t.logpdf(x, loc, shape, df), logpdf_pullback


@rrule(stats.multivariate_t.pdf, wrt=("x", "loc", "shape", "df"), domain=students)
def multivariate_t_pdf_rule(x, loc: np.ndarray, shape, df=1, allow_singular=False):
    refuse_complex(x, loc, shape, df)
    y = stats.multivariate_t.pdf(x, loc, shape, df, allow_singular)

    def pdf_pullback(dy):
        return student_pulled(x, loc, regular(shape, allow_singular), df, dy * y)

    return y, pdf_pullback


def moved(change, x):
    """Return a tangent, of zeros where there is none."""
    return np.zeros_like(1.0 * x) if change is None else change


def student_along(method: Any, of_density: bool) -> None:
    """Register the forward rule of ``logpdf`` or ``pdf`` of ``multivariate_t``."""

    @frule(method)
    def multivariate_t_forward(primals, tangents):
        (x, loc, shape, df), (dx, dloc, dshape, ddf) = primals, tangents
        y = method(x, loc, shape, df)
        given = (x, loc, shape, 1.0 * df)
        _, dy = pushed(
            student, given, (moved(dx, x), moved(dloc, loc), moved(dshape, shape), moved(ddf, df)))
        return y, dy * y if of_density else dy


def wishart_along(method: Any, density: Any, of_density: bool) -> None:
    """Register the forward rule of ``logpdf`` or ``pdf`` of a distribution of matrices."""

    @frule(method)
    def wishart_forward(primals, tangents):
        (x, df, scale), (dx, ddf, dscale) = primals, tangents
        y = method(x, df, scale)
        _, dy = pushed(
            density, (x, 1.0 * df, scale), (moved(dx, x), moved(ddf, df), moved(dscale, scale)))
        return y, dy * y if of_density else dy


student_along(stats.multivariate_t.logpdf, False)
student_along(stats.multivariate_t.pdf, True)


def log_gammas(df, d):
    """Return the logarithm of the multivariate gamma function at ``df / 2``, without its power of
    pi.
    """
    return np.sum(sc.gammaln(0.5 * (df - np.arange(d))))


def log_size(a):
    return np.linalg.slogdet(symmetric(a))[1]


EYE = np.eye(2)
READS_UPPER = bool(stats.invwishart.logpdf(EYE, 3, EYE)
                   != stats.invwishart.logpdf(EYE + [[0.0, 0.5], [0.0, 0.0]], 3, EYE))
"""Whether SciPy inverts the matrix of the upper triangle, and reads all of the scale.

Older versions do, while their determinants are those of the lower triangle.
"""


def inverse_wishart(x, df, scale):
    d = np.shape(x)[0]
    if READS_UPPER:
        share = np.sum(np.linalg.inv(symmetric(np.transpose(x))) * scale)
    else:
        share = np.sum(np.linalg.inv(symmetric(x)) * symmetric(scale))
    power = 0.5 * df * (log_size(scale) - d * np.log(2.0)) - log_gammas(df, d)
    return power - 0.5 * ((df + d + 1.0) * log_size(x) + share)


def matrices(rng: np.random.Generator) -> list[Call]:
    """Return samples of matrices, degrees of freedom and scales."""
    a, b = rng.normal(size=(2, 3, 3))
    return [call(a @ a.T + np.eye(3), 5.5, b @ b.T + np.eye(3))]


def of_matrices(method: Any, density: Any, of_density: bool) -> None:
    """Register the rule of ``logpdf`` or ``pdf`` of a distribution of matrices."""

    @rrule(method, wrt=("x", "df", "scale"), domain=matrices)
    def wishart_rule(x, df, scale: np.ndarray):
        if np.ndim(x) != 2 or np.ndim(scale) != 2:
            raise NotImplementedError("Wishart's distributions have a rule for one matrix")
        refuse_complex(x, df, scale)
        y = method(x, df, scale)

        def wishart_pullback(dy):
            _, pull = pulled(density, x, 1.0 * df, scale)
            return pull(dy * y if of_density else dy)

        return y, wishart_pullback

    wishart_along(method, density, of_density)


of_matrices(stats.invwishart.logpdf, inverse_wishart, False)
of_matrices(stats.invwishart.pdf, inverse_wishart, True)

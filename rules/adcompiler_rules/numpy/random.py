"""Draws of random numbers, in the parameters of their distributions: by reparametrisation.

The numbers are those that the generator makes, in one call. Where it makes them by a smooth formula
of a standard draw, as all but the last families here, derivatives are those of this formula: of the
numbers at one state of the generator. Draws of gamma, beta and Dirichlet distributions are accepted
or not by what the shapes are, and those of a normal distribution of many variables go through the
singular vectors of the covariance; these have the derivative of a smooth reparametrisation of the
distribution, so that the mean of a derivative is the derivative of the mean: by the distribution
function (``kernels.random_draws``), for a Dirichlet distribution part by part (Jankowiak and
Obermeyer, *Pathwise derivatives beyond the reparameterization trick*, ICML 2018), for a normal one
by ``dy = dmean + dcov cov^-1 (y - mean) / 2``.
"""

import numpy as np

from adcompiler.rulekit import non_differentiable, rrule, scalar_rule
from adcompiler.runtime.draws import COPIES
from adcompiler.runtime import unbroadcast
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.kernels.random_draws import (
    beta_slope, beta_slope_across, beta_slope_again, digamma, gamma_slope, gamma_slope_again,
    generator_before, standard_of,
)

CLASSES = (np.random.Generator, np.random.RandomState)


non_differentiable(*COPIES.values(), shares="none")


def methods(*names):
    """Return methods of the classes of generators that draw."""
    return [getattr(cls, name) for name in names for cls in CLASSES]


@rrule(generator_before, wrt=(), templates=("place", "scale"), pure=False, shares="none")
def generator_before_rule(generator, place, scale):
    def generator_before_pullback(dy):
        return ()

    return generator_before(generator, place, scale), generator_before_pullback


@rrule(standard_of, wrt=(), templates=("before", "y", "place", "scale"))
def standard_of_rule(before, name, params, y, place, scale):
    """The standard draw stays the same where parameters move: ``y`` moves with them."""
    def standard_of_pullback(dz):
        return ()

    return standard_of(before, name, params, y, place, scale), standard_of_pullback


# A slope is -(dF/da) / (dF/dy), so that it moves with y as the density does.
scalar_rule(
    gamma_slope, lambda y, shape, slope: (
        digamma(shape) - np.log(y) - slope * ((shape - 1.0) / y - 1.0)),
    lambda y, shape: gamma_slope_again(y, shape), domain=((0.2, 4.0), (0.2, 4.0)))
scalar_rule(
    beta_slope, lambda y, a, b, slope: (
        digamma(a) - digamma(a + b) - np.log(y) - slope * ((a - 1.0) / y - (b - 1.0) / (1.0 - y))),
    lambda y, a, b: beta_slope_again(y, a, b), lambda y, a, b: beta_slope_across(y, a, b),
    domain=((0.1, 0.9), (0.2, 4.0), (0.2, 4.0)))


@rrule(gamma_slope_again, wrt=())
def gamma_slope_again_rule(y, shape):
    def gamma_slope_again_pullback(dy):
        return ()

    return gamma_slope_again(y, shape), gamma_slope_again_pullback


@rrule(beta_slope_again, wrt=())
def beta_slope_again_rule(y, a, b):
    def beta_slope_again_pullback(dy):
        return ()

    return beta_slope_again(y, a, b), beta_slope_again_pullback


@rrule(beta_slope_across, wrt=())
def beta_slope_across_rule(y, a, b):
    def beta_slope_across_pullback(dy):
        return ()

    return beta_slope_across(y, a, b), beta_slope_across_pullback


# -- a place and a scale ---------------------------------------------------------------------------


@rrule(*methods("normal"), wrt=("loc", "scale"), pure=False)
def normal(self, loc=0.0, scale=1.0, size=None):
    before = generator_before(self, loc, scale)
    y = self.normal(loc, scale, size)
    z = like(standard_of(before, "normal", (0.0, 1.0), y, loc, scale), y)

    def normal_pullback(dy):
        return unbroadcast(dy, np.shape(loc)), unbroadcast(dy * z, np.shape(scale))

    return y, normal_pullback


@rrule(*methods("laplace"), wrt=("loc", "scale"), pure=False)
def laplace(self, loc=0.0, scale=1.0, size=None):
    before = generator_before(self, loc, scale)
    y = self.laplace(loc, scale, size)
    z = like(standard_of(before, "laplace", (0.0, 1.0), y, loc, scale), y)

    def laplace_pullback(dy):
        return unbroadcast(dy, np.shape(loc)), unbroadcast(dy * z, np.shape(scale))

    return y, laplace_pullback


@rrule(*methods("logistic"), wrt=("loc", "scale"), pure=False)
def logistic(self, loc=0.0, scale=1.0, size=None):
    before = generator_before(self, loc, scale)
    y = self.logistic(loc, scale, size)
    z = like(standard_of(before, "logistic", (0.0, 1.0), y, loc, scale), y)

    def logistic_pullback(dy):
        return unbroadcast(dy, np.shape(loc)), unbroadcast(dy * z, np.shape(scale))

    return y, logistic_pullback


@rrule(*methods("gumbel"), wrt=("loc", "scale"), pure=False)
def gumbel(self, loc=0.0, scale=1.0, size=None):
    before = generator_before(self, loc, scale)
    y = self.gumbel(loc, scale, size)
    z = like(standard_of(before, "gumbel", (0.0, 1.0), y, loc, scale), y)

    def gumbel_pullback(dy):
        return unbroadcast(dy, np.shape(loc)), unbroadcast(dy * z, np.shape(scale))

    return y, gumbel_pullback


@rrule(*methods("uniform"), wrt=("low", "high"), pure=False)
def uniform(self, low=0.0, high=1.0, size=None):
    before = generator_before(self, low, high - low)
    y = self.uniform(low, high, size)
    z = like(standard_of(before, "uniform", (0.0, 1.0), y, low, high - low), y)

    def uniform_pullback(dy):
        return unbroadcast(dy * (1.0 - z), np.shape(low)), unbroadcast(dy * z, np.shape(high))

    return y, uniform_pullback


@rrule(*methods("lognormal"), wrt=("mean", "sigma"), pure=False)
def lognormal(self, mean=0.0, sigma=1.0, size=None):
    before = generator_before(self, np.abs(mean) + 1.0, sigma)
    y = self.lognormal(mean, sigma, size)
    z = like(standard_of(before, "normal", (0.0, 1.0), np.log(y), mean, sigma), y)

    def lognormal_pullback(dy):
        moved = dy * y
        return unbroadcast(moved, np.shape(mean)), unbroadcast(moved * z, np.shape(sigma))

    return y, lognormal_pullback


@rrule(*methods("exponential"), wrt=("scale",), pure=False)
def exponential(self, scale=1.0, size=None):
    before = generator_before(self, 0.0, scale)
    y = self.exponential(scale, size)
    z = like(standard_of(before, "exponential", (1.0,), y, 0.0, scale), y)

    def exponential_pullback(dy):
        return unbroadcast(dy * z, np.shape(scale))

    return y, exponential_pullback


@rrule(*methods("rayleigh"), wrt=("scale",), pure=False)
def rayleigh(self, scale=1.0, size=None):
    before = generator_before(self, 0.0, scale)
    y = self.rayleigh(scale, size)
    z = like(standard_of(before, "rayleigh", (1.0,), y, 0.0, scale), y)

    def rayleigh_pullback(dy):
        return unbroadcast(dy * z, np.shape(scale))

    return y, rayleigh_pullback


# -- a power of a standard draw --------------------------------------------------------------------


@rrule(*methods("weibull"), wrt=("a",), pure=False)
def weibull(self, a, size=None):
    y = self.weibull(a, size)

    def weibull_pullback(dy):
        return unbroadcast(-dy * y * np.log(y) / a, np.shape(a))

    return y, weibull_pullback


@rrule(*methods("power"), wrt=("a",), pure=False)
def power(self, a, size=None):
    y = self.power(a, size)

    def power_pullback(dy):
        return unbroadcast(-dy * y * np.log(y) / a, np.shape(a))

    return y, power_pullback


@rrule(*methods("pareto"), wrt=("a",), pure=False)
def pareto(self, a, size=None):
    y = self.pareto(a, size)

    def pareto_pullback(dy):
        return unbroadcast(-dy * (1.0 + y) * np.log1p(y) / a, np.shape(a))

    return y, pareto_pullback


# -- by the distribution function ------------------------------------------------------------------


@rrule(*methods("standard_gamma"), wrt=("shape",), pure=False)
def standard_gamma(self, shape, size=None):
    y = self.standard_gamma(shape, size)

    def standard_gamma_pullback(dy):
        return unbroadcast(dy * gamma_slope(y, shape), np.shape(shape))

    return y, standard_gamma_pullback


@rrule(*methods("gamma"), wrt=("shape", "scale"), pure=False)
def gamma(self, shape, scale=1.0, size=None):
    y = self.gamma(shape, scale, size)

    def gamma_pullback(dy):
        z = y / scale
        return lambda: unbroadcast(dy * scale * gamma_slope(z, shape), np.shape(shape)), (
            unbroadcast(dy * z, np.shape(scale)))

    return y, gamma_pullback


@rrule(*methods("chisquare"), wrt=("df",), pure=False)
def chisquare(self, df, size=None):
    y = self.chisquare(df, size)

    def chisquare_pullback(dy):
        return unbroadcast(dy * gamma_slope(0.5 * y, 0.5 * df), np.shape(df))

    return y, chisquare_pullback


@rrule(*methods("beta"), wrt=("a", "b"), pure=False)
def beta(self, a, b, size=None):
    y = self.beta(a, b, size)

    def beta_pullback(dy):
        return (
            lambda: unbroadcast(dy * beta_slope(y, a, b), np.shape(a)),
            lambda: unbroadcast(-dy * beta_slope(1.0 - y, b, a), np.shape(b)),
        )

    return y, beta_pullback


@rrule(*methods("dirichlet"), wrt=("alpha",), pure=False)
def dirichlet(self, alpha, size=None):
    """The part ``y[i]`` has a beta distribution, and moves; the others keep their proportions."""
    y = self.dirichlet(alpha, size)

    def dirichlet_pullback(dy):
        slope = beta_slope(y, alpha, np.sum(alpha) - alpha)
        rest = np.sum(dy * y, axis=-1, keepdims=True) - dy * y
        left = np.where(y < 1.0, 1.0 - y, 1.0)
        return unbroadcast(slope * (dy - rest / left), np.shape(alpha))

    return y, dirichlet_pullback


# -- many variables --------------------------------------------------------------------------------


@rrule(np.random.Generator.multivariate_normal, wrt=("mean", "cov"), pure=False)
def multivariate_normal(
    self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"
):
    y = self.multivariate_normal(mean, cov, size, check_valid, tol, method=method)

    def multivariate_normal_pullback(dy):
        apart = np.reshape(y - mean, (-1, np.size(mean)))
        g = np.reshape(dy, apart.shape)
        return np.sum(g, axis=0), lambda: (
            along_factor(g, apart, cov) if method == "cholesky"
            else along_covariance(g, apart, cov))

    return y, multivariate_normal_pullback


@rrule(np.random.RandomState.multivariate_normal, wrt=("mean", "cov"), pure=False)
def multivariate_normal_of_state(self, mean, cov, size=None, check_valid="warn", tol=1e-8):
    y = self.multivariate_normal(mean, cov, size, check_valid, tol)

    def multivariate_normal_pullback(dy):
        apart = np.reshape(y - mean, (-1, np.size(mean)))
        g = np.reshape(dy, apart.shape)
        return np.sum(g, axis=0), lambda: along_covariance(g, apart, cov)

    return y, multivariate_normal_pullback


def along_covariance(g, apart, cov):
    """Return the cotangent of a covariance for draws that lie ``apart`` from the mean, in rows."""
    half = 0.25 * g.T @ np.linalg.solve(cov, apart.T).T
    return half + half.T


def along_factor(g, apart, cov):
    """As ``along_covariance``, for draws that are the Cholesky factor times standard ones.

    Murray, *Differentiation of the Cholesky decomposition*, arXiv:1602.07527, 2016.
    """
    inverse = np.linalg.inv(np.linalg.cholesky(cov))
    product = np.linalg.cholesky(cov).T @ g.T @ (inverse @ apart.T).T
    inner = np.tril(product) - 0.5 * np.diag(np.diag(product))
    half = 0.5 * inverse.T @ inner @ inverse
    return half + half.T

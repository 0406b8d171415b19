"""Distributions of ``scipy.stats``: their parameters by keyword, frozen, outside of the support."""

import numpy as np
import pytest
import scipy.stats
from scipy import stats

from adcompiler import MissingRuleError, grad, jvp
from adcompiler.rulekit import REGISTRY
from tests.rules.agreement import agrees

X = np.array([0.3, 1.2, 0.7])
STEP = 1e-6


def difference(f, *args, at):
    def moved(step):
        return f(*(a + step if i == at else a for i, a in enumerate(args)))

    return (moved(STEP) - moved(-STEP)) / (2.0 * STEP)


def assert_derivatives(f, *args):
    slopes = grad(f, argnums=tuple(range(len(args))))(*args)
    wanted = [difference(f, *args, at=i) for i in range(len(args))]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-7, atol=1e-9)


PROGRAMS = {
    "by keyword": lambda m, s: np.sum(scipy.stats.norm.logpdf(X, scale=s, loc=m)),
    "frozen by position": lambda m, s: np.sum(stats.norm(m, s).logpdf(X)),
    "frozen by keyword": lambda m, s: np.sum(stats.norm(loc=m, scale=s).logcdf(X)),
    "frozen shape": lambda m, s: np.sum(stats.gamma(m, scale=s).logpdf(X)),
    "shape by keyword": lambda m, s: np.sum(stats.t.logpdf(X, df=m, loc=0.1, scale=s)),
    "two shapes": lambda m, s: np.sum(stats.beta.logpdf(X / 2.0, b=m, a=s)),
    "Poisson": lambda m, s: np.sum(stats.poisson(m).logpmf(np.array([0, 2, 5]))) * s,
    "many variables": lambda m, s: stats.multivariate_normal(
        m * np.ones(3), s * np.eye(3) + 0.2).logpdf(X),
    "Dirichlet": lambda m, s: stats.dirichlet.logpdf(
        np.array([0.2, 0.5, 0.3]), np.array([1.5, 2.0, 3.0]) * m * s),
    "quantile of a quantile": lambda m, s: stats.expon.ppf(stats.norm.cdf(m, scale=s)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_parameters_are_differentiated(name):
    assert_derivatives(PROGRAMS[name], 1.3, 0.8)


def test_frozen_distribution_is_used_twice():
    def f(m, s):
        law = stats.norm(m, s)
        total = 0.0
        for x in X:
            total = total + law.logpdf(x) * law.cdf(0.5)
        return total

    assert_derivatives(f, 0.4, 1.1)


def test_forward_mode_and_second_derivatives():
    def f(m):
        return np.sum(stats.norm.logcdf(X, m, 1.2)) + stats.gamma.logpdf(1.5, m)

    y, slope = jvp(f, (1.3,), (2.0,))
    assert y == f(1.3)
    assert slope == pytest.approx(2.0 * difference(f, 1.3, at=0), rel=1e-7)
    assert grad(grad(f))(1.3) == pytest.approx(difference(grad(f), 1.3, at=0), rel=1e-6)


@pytest.mark.parametrize("method", ["logpdf", "pdf", "cdf", "sf", "logcdf", "logsf"])
@pytest.mark.parametrize("name", ["expon", "gamma", "lognorm", "weibull_min", "uniform", "pareto"])
def test_slope_is_zero_outside_of_the_support(name, method):
    law = getattr(stats, name)
    function, shapes = getattr(law, method), () if law.shapes is None else (2.0,)
    dx, dscale = grad(lambda x, scale: function(x, *shapes, 0.0, scale), argnums=(0, 1))(-0.7, 1.5)
    assert (dx, dscale) == (0.0, 0.0)


def test_far_tails():
    assert grad(lambda x: stats.norm.logcdf(x))(-40.0) == pytest.approx(40.0249688472, rel=1e-10)
    assert grad(lambda x: stats.norm.logsf(x))(40.0) == pytest.approx(-40.0249688472, rel=1e-10)


def test_broadcast_parameters_get_their_own_shape():
    loc, scale = np.array([0.1, 0.2, 0.3]), np.array([[0.5], [2.0]])
    dloc, dscale = grad(
        lambda loc, scale: np.sum(stats.logistic.logpdf(X, loc, scale)), argnums=(0, 1)
    )(loc, scale)
    assert (dloc.shape, dscale.shape) == ((3,), (2, 1))
    z = (X - loc) / scale
    np.testing.assert_allclose(dloc, np.sum(np.tanh(z / 2.0) / scale, axis=0), rtol=1e-12)


@pytest.mark.parametrize(("program", "match"), [
    (lambda c: stats.loggamma.cdf(0.5, c), "no derivative with respect to its argument `c`"),
    (lambda p: stats.binom.logpmf(2, p, 0.4), "no derivative with respect to its argument `n`"),
    (lambda m: stats.norm(m).entropy(), "norm\\(\\) has no rule"),
])
def test_what_has_no_derivative_is_refused(program, match):
    with pytest.raises(MissingRuleError, match=match):
        grad(program)(3.0)


def test_complex_numbers_are_refused():
    with pytest.raises(MissingRuleError, match="real numbers only") as caught:
        grad(lambda x: np.real(stats.gmean(np.array([1j * x, 1.0]))))(0.3)
    assert "stats.gmean(np.array([1j * x, 1.0]))" in str(caught.value)
    with pytest.raises(MissingRuleError, match="real numbers only"):
        grad(lambda x: np.real(stats.norm.pdf(x + 1j)))(0.3)


METHODS = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")


NAMES = """
    beta cauchy chi2 expon f gamma gumbel_l gumbel_r halfcauchy halfnorm invgamma laplace logistic
    lognorm norm pareto rayleigh t uniform weibull_min
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_methods_of_common_distributions_have_rules(name):
    assert all(REGISTRY.has_rules(getattr(getattr(stats, name), method)) for method in METHODS)


@pytest.mark.parametrize("method", ["logpdf", "pdf"])
def test_covariances_that_are_vectors_and_numbers(method):
    points, mean = np.random.default_rng(3).normal(size=(2, 4, 3)), np.zeros(3)
    scales = np.array([0.7, 1.3, 2.1])
    if method == "pdf":
        agrees(lambda c: np.sum(stats.multivariate_normal.pdf(points, mean, c) ** 2), scales)
        agrees(lambda c: np.sum(stats.multivariate_normal.pdf(points, mean, c * c)), 0.8)
    else:
        agrees(lambda c: np.sum(stats.multivariate_normal.logpdf(points, mean, c) ** 2), scales)
        agrees(lambda c: np.sum(stats.multivariate_normal.logpdf(points, mean, c * c)), 0.8)
    agrees(lambda c: np.sum(stats.multivariate_normal.logpdf(points, mean + c, 1.7)), scales)

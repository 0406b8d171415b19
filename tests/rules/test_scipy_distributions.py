"""All distributions of ``scipy.stats``: every method in every parameter, against differences."""

import zlib

import numpy as np
import pytest
from scipy import stats

from adcompiler import MissingRuleError, grad, jvp
from adcompiler.errors import UncoveredError
from adcompiler.rulekit import REGISTRY
from adcompiler_rules.scipy.stats import continuous, densities_a_to_g, densities_h_to_z
from adcompiler_rules.scipy.stats.discrete import COUNTS
from tests.lanes import one_in
from tests.together import each

LAWS = [
    law for module in (continuous, densities_a_to_g, densities_h_to_z)
    for law in module.LAWS if hasattr(stats, law.name)
]
OF_VALUES = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
OF_LEVELS = ("ppf", "isf")
NOT_COVERED = {
    "the sample size is whole, and the density has no rule": "ksone kstwo",
    "trapezoid by another name, before 1.14": "trapz",
    "the density is an integral that takes seconds": "levy_stable studentized_range",
}
NO_DENSITY = "irwinhall kstwobign landau"
"""Distributions of which only the distribution function and its inverse are differentiated."""
NO_NUMBERS = {
    "all parameters are whole": "hypergeom nhypergeom randint",
    "the slope in its order of the zeta function is not known": "zipf zipfian",
    "takes an array of probabilities": "poisson_binom",
    "the normalising integral has no known slope": "nchypergeom_wallenius",
}


def every(kind):
    return {name for name, found in vars(stats).items() if isinstance(found, kind)}


def words(table):
    return {name for names in table.values() for name in names.split()}


def test_distributions_are_covered_or_listed():
    listed = {law.name for law in LAWS} | words(NOT_COVERED)
    assert every(stats.rv_continuous) - listed == set()
    listed = {row[0] for row in COUNTS} | words(NO_NUMBERS)
    assert every(stats.rv_discrete) - listed == set()


@each("law", LAWS, ids=lambda law: law.name)
def test_methods_of_continuous_distributions_have_rules(law):
    found = getattr(stats, law.name)
    methods = OF_VALUES[2:] if law.name in NO_DENSITY.split() else OF_VALUES
    assert all(REGISTRY.has_rules(getattr(found, name)) for name in (*methods, *OF_LEVELS))


def of_density(law):
    logpdf, pdf = law.logpdf, law.pdf

    def f(x, q, loc, scale, *shapes):
        return 0.3 * logpdf(x, *shapes, loc, scale) + 0.7 * pdf(x, *shapes, loc=loc, scale=scale)

    return f


def of_distribution(law):
    cdf, sf, logcdf, logsf, ppf, isf = (
        law.cdf, law.sf, law.logcdf, law.logsf, law.ppf, law.isf
    )

    def f(x, q, loc, scale, *shapes):
        values = 0.4 * cdf(x, *shapes, loc, scale) - 0.5 * sf(x, *shapes, loc, scale)
        logs = 0.1 * logcdf(x, *shapes, loc, scale) + 0.2 * logsf(x, *shapes, loc, scale)
        return values + logs + 0.3 * ppf(q, *shapes, loc, scale) * isf(q, *shapes, loc, scale)

    return f


def point(law):
    rng = np.random.default_rng(zlib.crc32(law.name.encode()))
    z, shapes = rng.uniform(*law.at), [float(rng.uniform(*s)) for s in law.shapes]
    return (0.3 + 1.4 * float(z), float(rng.uniform(0.2, 0.8)), 0.3, 1.4, *shapes)


def known(law, of_the_density):
    """Return the positions of the arguments of a program that it is differentiated in."""
    closed = law.below or law.quantile or law.moved
    still = law.still if closed else law.names
    unknown = law.rigid if of_the_density else still
    shapes = [4 + i for i, name in enumerate(law.names) if name not in unknown]
    return (0, 2, 3, *shapes) if of_the_density else (0, 1, 2, 3, *shapes)


def slope(f, args, place, step=1e-5):
    """Return a central difference of the fourth order."""
    def at(t):
        return f(*(a + t * step if i == place else a for i, a in enumerate(args)))

    return (8.0 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12.0 * step)


ROUGH = ("genhyperbolic", "geninvgauss", "norminvgauss", "gausshyper")
"""Distributions of which SciPy finds the distribution function or its inverse to fewer digits."""


def agrees(law, f, argnums, second):
    args, rng = point(law), np.random.default_rng(3)
    weights, rough = rng.normal(size=len(args)), law.name in ROUGH
    near = {"rtol": 2e-4, "atol": 2e-5} if rough else {"rtol": 1e-6, "atol": 1e-8}
    step = 1e-3 if rough else 1e-4
    slopes = grad(f, argnums=argnums)
    found = slopes(*args)
    np.testing.assert_allclose(found, [slope(f, args, i, step) for i in argnums], **near)
    direction = tuple(weights[list(argnums)])
    _, tangent = jvp(f, args, direction, argnums=argnums)
    np.testing.assert_allclose(tangent, np.dot(direction, found), rtol=1e-9)
    if second:
        def along(*args):
            return sum([weights[i] * by for i, by in zip(argnums, slopes(*args), strict=True)])

        again = grad(along, argnums=argnums)(*args)
        wanted = [slope(along, args, i, step) for i in argnums]
        np.testing.assert_allclose(again, wanted, **near)


@pytest.mark.parametrize("law", one_in(24, LAWS, whole=True), ids=lambda law: law.name)
def test_densities_agree_with_differences(law):
    if law.density or law.slopes:
        agrees(law, of_density(getattr(stats, law.name)), known(law, True), True)


@pytest.mark.parametrize("law", one_in(24, LAWS, whole=True), ids=lambda law: law.name)
def test_distribution_functions_agree_with_differences(law):
    shapes = {law.names[place - 4] for place in known(law, False)[4:]}
    second = bool(law.density or law.slopes) and shapes.isdisjoint(law.rigid)
    agrees(law, of_distribution(getattr(stats, law.name)), known(law, False), second)


PARTS = {
    "loggamma.cdf": (0.4, 2.0), "betaprime.ppf": (0.3, 2.0, 1.5), "chi.logsf": (0.4, 3.0),
    "genhyperbolic.logpdf": (0.4, 1.5, 2.0, 0.3), "ncx2.pdf": (0.4, 1.5, 2.0),
    "gausshyper.logpdf": (0.4, 1.5, 2.0, 1.2, 0.3), "vonmises.cdf": (0.3, 1.5),
}


@pytest.mark.parametrize("name", PARTS)
def test_shapes_without_known_slopes_are_refused_by_name(name):
    law, method = (getattr(stats, part) if i == 0 else part for i, part in enumerate(
        name.split(".")))
    method = getattr(law, method)
    first = law.shapes.split(", ")[0]
    with pytest.raises(MissingRuleError, match=f"respect to its argument `{first}`"):
        grad(lambda *args: method(*args), argnums=(1,))(*PARTS[name])


LIMITS = {
    "genextreme": (0.4, 0.0), "genpareto": (0.4, 0.0), "genhalflogistic": (0.4, 0.05),
    "kappa4": (0.4, 0.0, 0.0), "pearson3": (0.4, 0.0), "pearson3 near it": (0.4, 1e-3),
    "pearson3 far from it": (0.4, -1.7),
}


@pytest.mark.parametrize("name", LIMITS)
def test_shapes_at_the_limit_of_their_formulas(name):
    logpdf = getattr(stats, name.split()[0]).logpdf
    args = LIMITS[name]
    argnums = tuple(range(len(args)))
    found = grad(lambda *args: logpdf(*args), argnums=argnums)(*args)
    wanted = [slope(logpdf, args, i, 1e-2) for i in argnums]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


PLACES = [
    ("genpareto", -0.5, (0.3,)), ("levy_l", 0.5, ()), ("truncnorm", 3.0, (-1.0, 2.0)),
    ("loguniform", 5.0, (1.0, 3.0)), ("arcsine", 1.5, ()), ("triang", -0.5, (0.3,)),
    ("genextreme", 9.0, (0.5,)), ("johnsonsb", 1.5, (0.3, 1.2)),
]


@pytest.mark.parametrize(("name", "x", "shapes", "method"), one_in(3, [
    (*place, method) for place in PLACES for method in ("logpdf", "pdf", "cdf", "sf")]))
def test_slopes_are_zero_outside_of_the_support(name, x, shapes, method):
    function = getattr(getattr(stats, name), method)
    args = (x, *shapes)
    found = grad(lambda *args: function(*args), argnums=tuple(range(len(args))))(*args)
    assert found == (0.0,) * len(args)


def test_slopes_of_values_that_are_nan_are_nan():
    assert np.isnan(grad(lambda s: stats.gompertz.logpdf(0.3, 1.2, 0.0, s))(-1.0))
    assert np.isnan(grad(lambda x: stats.gompertz.logpdf(x, 1.2))(np.nan))


NORMAL, GOMPERTZ = stats.norm(0.3, 2.0), stats.gompertz(1.2, scale=0.7)
POISSON = stats.poisson(mu=2.0)
PRIORS = {"a": stats.norm(0.0, 1.0), "b": stats.expon(scale=2.0)}


class Noise:
    def __init__(self, law):
        self.law = law

    def loss(self, w):
        return -self.law.logpdf(w) * self.law.cdf(w)


FROZEN = {
    "of the module": lambda x: NORMAL.logpdf(x) * GOMPERTZ.cdf(x) + GOMPERTZ.ppf(0.5 * x),
    "made inside": lambda x: stats.gompertz(x, loc=-x).logsf(0.7) * stats.weibull_min(x).pdf(0.3),
    "discrete": lambda x: x * POISSON.pmf(2) + stats.planck(x).logpmf(3),
    "in a dict": lambda x: PRIORS["a"].logpdf(x) + PRIORS["b"].logsf(x),
    "of an instance": Noise(stats.gompertz(1.5)).loss,
}


@pytest.mark.parametrize("name", FROZEN)
def test_frozen_distributions(name):
    f = FROZEN[name]
    np.testing.assert_allclose(grad(f)(0.4), slope(f, (0.4,), 0), rtol=1e-8)
    np.testing.assert_allclose(jvp(f, (0.4,), (2.0,))[1], 2.0 * slope(f, (0.4,), 0), rtol=1e-8)


def test_frozen_distribution_as_an_argument():
    slope_of = grad(lambda x, law: law.logpdf(x), argnums=0)
    assert slope_of(0.7, stats.norm(0.3, 2.0)) == pytest.approx(-0.1)
    assert slope_of(0.7, stats.norm(0.3, 1.0)) == pytest.approx(-0.4)
    assert slope_of(0.7, stats.expon(scale=2.0)) == pytest.approx(-0.5)


class Steeper(type(stats.norm)):
    """A distribution of a user's own, with the class of one of SciPy's as its base."""

    def _pdf(self, x):
        return np.exp(-x)


def test_distributions_of_users_do_not_follow_rules_of_others():
    own = Steeper(a=0.0, name="steeper")
    with pytest.raises(MissingRuleError):
        grad(lambda x: own.pdf(x))(0.3)
    cut = type(stats.norm)(a=0.0, name="cut")
    with pytest.raises(UncoveredError, match="the support"):
        grad(lambda x: cut.pdf(x))(0.3)

"""Rules of discrete distributions, by their probabilities and rates.

Counts and locations are whole: no derivative. Formulas: Johnson, Kemp, Kotz, Univariate Discrete
Distributions, 2005.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import scipy.special as sc
from scipy import stats

from adcompiler.rulekit import Call, call, rrule, twins
from adcompiler.rulekit.assemble import function_from, lines
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import refuse_complex
from adcompiler_rules.scipy.stats.methods import Interval, Slopes, as_arrays, shapes_of, slopes_of

# --- slopes of the methods ------------------------------------------------------------------------
# Of the logarithm of the probability of k, and of the probability of at most k as a multiple of it.


def of_logpmf(mass: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logpmf``."""
    def slopes(k, y, shapes, loc):
        possible = y > -np.inf
        count = np.where(possible, k - loc, 1.0)
        return [np.where(possible, slope, 0.0) for slope in mass(count, *shapes)]

    return slopes


def of_pmf(mass: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``pmf``."""
    def slopes(k, y, shapes, loc):
        count = np.where(y > 0.0, k - loc, 1.0)
        return [y * slope for slope in mass(count, *shapes)]

    return slopes


def of_cdf(below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``cdf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        return [law.pmf(count, *shapes) * slope for slope in below(count, *shapes)]

    return slopes


def of_sf(below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``sf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        return [-law.pmf(count, *shapes) * slope for slope in below(count, *shapes)]

    return slopes


def of_logcdf(below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logcdf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        ratio = np.exp(law.logpmf(count, *shapes) - np.where(y > -np.inf, y, 0.0))
        return [ratio * slope for slope in below(count, *shapes)]

    return slopes


def of_logsf(below: Slopes, law: Any) -> Slopes:
    """Return the slopes of ``logsf``."""
    def slopes(k, y, shapes, loc):
        count = np.floor(k - loc)
        ratio = np.exp(law.logpmf(count, *shapes) - np.where(y > -np.inf, y, 0.0))
        return [-ratio * slope for slope in below(count, *shapes)]

    return slopes


METHODS = (("logpmf", of_logpmf), ("pmf", of_pmf), ("cdf", of_cdf), ("sf", of_sf),
           ("logcdf", of_logcdf), ("logsf", of_logsf))

# --- rules of functions of k, parameters by name, and loc -----------------------------------------


def define(method: Any, slopes: Slopes, names: tuple[str, ...], known: tuple[str, ...],
           domain: Any) -> None:
    """Register the rule of a method with parameters, of which some have known slopes."""
    definition = maker_of_rule(names, known)(method, slopes, refuse_complex, project, np.asarray)
    rrule(method, wrt=known, domain=domain)(definition)


@cache
def maker_of_rule(names: tuple[str, ...], known: tuple[str, ...]) -> Any:
    """Return what makes the definition of a rule."""
    listed = ", ".join(("k", *names))
    tupled = "".join(f"{name}_, " for name in names)
    given = [f"project_(by_[{i}] * dy_, {name})" for i, name in enumerate(known)]
    return function_from(lines(
        "def made(method_, slopes_, refuse_, project_, asarray_):",
        f"    def distribution_rule({listed}, loc=0):",
        *(f"        refuse_({name})" for name in names),
        f"        y_ = method_({listed}, loc)",
        *as_arrays("k", *names, "loc"),
        "",
        "        def distribution_pullback(dy_):",
        f"            by_ = slopes_(k_, y_, ({tupled}), loc_)",
        f"            return {', '.join(given)}",
        "",
        "        return y_, distribution_pullback",
        "",
        "    return distribution_rule",
        "",
    ), "made", {})


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
    return sc.psi(k + n) - sc.psi(n) + np.log(p), n / p - k / (1.0 - p)


def negative_binomial_below(k, n, p):
    return ((n + k) / p,)


def geometric(k, p):
    return (1.0 / p - (k - 1.0) / (1.0 - p),)


def geometric_below(k, p):
    return (k / p,)


def beta_binomial(k, n, a, b):
    return sc.betaln(k + a, n - k + b) - sc.betaln(a, b) - np.log(n + 1.0) - (
        sc.betaln(n - k + 1.0, k + 1.0))


def beta_negative_binomial(k, n, a, b):
    return sc.betaln(a + n, b + k) - sc.betaln(a, b) - np.log(n + k) - sc.betaln(n, k + 1.0)


def boltzmann(k, rate, N):
    return np.log(-np.expm1(-rate)) - rate * k - np.log(-np.expm1(-rate * N))


def boltzmann_below(k, rate, N):
    return np.expm1(-rate * (k + 1.0)) / np.expm1(-rate * N)


def discrete_laplace(k, a):
    return np.log(np.tanh(0.5 * a)) - a * np.abs(k)


def discrete_laplace_below(k, a):
    whole = np.exp(a) + 1.0
    left = np.exp(a * (np.where(k < 0, k, -1.0) + 1.0)) / whole
    return np.where(k < 0, left, 1.0 - np.exp(-a * np.where(k < 0, 0.0, k)) / whole)


def logarithmic(k, p):
    return k * np.log(p) - np.log(k) - np.log(-np.log1p(-p))


def planck(k, rate):
    return np.log(-np.expm1(-rate)) - rate * k


def planck_below(k, rate):
    return -np.expm1(-rate * (k + 1.0))


def skellam(k, mu1, mu2):
    gap = np.sqrt(mu1) - np.sqrt(mu2)
    return 0.5 * k * np.log(mu1 / mu2) - gap * gap + (
        np.log(sc.ive(np.abs(k), 2.0 * np.sqrt(mu1 * mu2))))


def skellam_below(k, mu1, mu2):
    """One more of the first makes ``k`` too many, one more of the second ``k + 1`` few enough."""
    return -np.ones_like(k * mu1), np.exp(skellam(k + 1.0, mu1, mu2) - skellam(k, mu1, mu2))


def yule_simon(k, alpha):
    return np.log(alpha) + sc.betaln(k, alpha + 1.0)


def yule_simon_below(k, alpha):
    count = np.maximum(k, 1.0)
    return 1.0 - count * np.exp(sc.betaln(count, alpha + 1.0))


def fisher_urn(k, M, n, N, odds):
    """The probability is ``odds**k`` times what does not depend on the odds, over a total."""
    return ((k - stats.nchypergeom_fisher.mean(M, n, N, odds)) / odds,)


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


def fractions(*shapes: Interval, n: tuple[int, ...] = ()) -> Any:
    """Return samples of counts, of whole parameters ``n`` before the others, and of those."""
    def calls(rng: np.random.Generator) -> list[Call]:
        return [call(2, *n, *(float(rng.uniform(*s)) for s in shapes)),
                call(np.array([1, 2, 3]), *n, *(rng.uniform(*s, (2, 3)) for s in shapes))]

    return calls


def cut(rng: np.random.Generator) -> list[Call]:
    """Return samples of a rate and a largest number."""
    return [call(2, 1.3, 5), call(np.array([1, 2, 3]), rng.uniform(0.5, 2.0, (2, 3)), 6)]


def urns(rng: np.random.Generator) -> list[Call]:
    """Return samples of numbers in an urn, and of odds."""
    return [call(2, 20, 7, 5, 1.7), call(np.array([1, 2, 3]), 20, 7, 5, rng.uniform(0.5, 2.0, 3))]


def both(mass: Any, names: tuple[str, ...], known: tuple[str, ...], below: Any = None) -> Any:
    """Return the slopes of the logarithm of a probability, and of what is below as multiples."""
    slopes = slopes_of(mass, ("k_", *names), known)
    if below is None:
        return slopes, None
    closed = slopes_of(below, ("k_", *names), known)

    def multiples(k, *shapes):
        return [by * np.exp(-mass(k, *shapes)) for by in closed(k, *shapes)]

    return slopes, multiples


RATIO, SHAPE = (0.2, 0.8), (0.5, 2.5)

COUNTS: tuple[tuple[str, Any, Any, tuple[str, ...], tuple[str, ...], Any], ...] = (
    ("poisson", poisson, poisson_below, ("mu",), ("mu",), rates),
    ("binom", binomial, binomial_below, ("p",), ("p",), trials),
    ("bernoulli", bernoulli, bernoulli_below, ("p",), ("p",), one_trial),
    ("geom", geometric, geometric_below, ("p",), ("p",), chances),
    ("nbinom", negative_binomial, negative_binomial_below, ("n", "p"), ("p",), trials),
    ("betabinom", *both(beta_binomial, ("n", "a", "b"), ("a", "b")), ("a", "b"), (),
     fractions(SHAPE, SHAPE, n=(5,))),
    ("betanbinom", *both(beta_negative_binomial, ("n", "a", "b"), ("a", "b")), ("a", "b"), (),
     fractions(SHAPE, SHAPE, n=(5,))),
    ("boltzmann", *both(boltzmann, ("lambda_", "N"), ("lambda_",), boltzmann_below),
     ("lambda_",), ("lambda_",), cut),
    ("dlaplace", *both(discrete_laplace, ("a",), ("a",), discrete_laplace_below),
     ("a",), ("a",), fractions(SHAPE)),
    ("logser", *both(logarithmic, ("p",), ("p",)), ("p",), (), fractions(RATIO)),
    ("nchypergeom_fisher", fisher_urn, None, ("odds",), (), urns),
    ("planck", *both(planck, ("lambda_",), ("lambda_",), planck_below),
     ("lambda_",), ("lambda_",), fractions(SHAPE)),
    ("skellam", *both(skellam, ("mu1", "mu2"), ("mu1", "mu2"))[:1], skellam_below,
     ("mu1", "mu2"), ("mu1", "mu2"), fractions(SHAPE, SHAPE)),
    ("yulesimon", *both(yule_simon, ("alpha",), ("alpha",), yule_simon_below),
     ("alpha",), ("alpha",), fractions(SHAPE)),
)
"""Names, slopes of the logarithm of the probability and of what is below, and parameters of each.

Of ``zipf`` and ``zipfian`` the slope is that of the zeta function in its order: SciPy has none.
"""

STATE = ("a", "b", "badvalue", "inc", "moment_tol", "shapes")


def register() -> None:
    """Register the rules of the methods of all distributions that this SciPy has."""
    for name, mass, below, known, moving, domain in COUNTS:
        law = getattr(stats, name, None)
        if law is None:
            continue
        twins(law, STATE)
        names = shapes_of(law)
        for method, of_method in METHODS:
            of_mass = method in ("pmf", "logpmf")
            wanted = known if of_mass else moving
            if wanted:
                slopes = of_method(mass if of_mass else below, law)
                define(getattr(law, method), slopes, names, wanted, domain)


register()

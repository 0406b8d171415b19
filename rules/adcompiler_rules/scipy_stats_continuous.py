"""Rules of continuous distributions: densities, distribution functions and their inverses.

Of each distribution is written, for the standard form ``z = (x - loc) / scale``, the slope of the
logarithm of its density in ``z`` and in its shape parameters, and that of its distribution function
in the latter where it is closed. All methods follow from these. Outside of the support the slopes
are 0. Formulas: Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions, 1994.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special as sc
from scipy import stats

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime import project
from adcompiler_rules.scipy_special_common import refuse_complex

Slopes = Callable[..., Any]
Interval = tuple[float, float]

# --- slopes of the methods in x, loc, scale and the tuple of shapes -------------------------------


def of_logpdf(density: Slopes) -> Slopes:
    """Return the slopes of ``logpdf``, from those of the logarithm of a density in z and shapes."""
    def slopes(x, y, shapes, loc, scale):
        inside = y > -np.inf
        z = np.where(inside, (x - loc) / scale, 0.5)
        at_z, *at_shapes = density(z, *shapes)
        part = np.where(inside, at_z / scale, 0.0)
        at_scale = -np.where(inside, 1.0 / scale, 0.0) - z * part
        return part, -part, at_scale, [inside * slope for slope in at_shapes]

    return slopes


def of_pdf(density: Slopes) -> Slopes:
    """Return the slopes of ``pdf``."""
    def slopes(x, y, shapes, loc, scale):
        z = np.where(y > 0.0, (x - loc) / scale, 0.5)
        at_z, *at_shapes = density(z, *shapes)
        part = y * at_z / scale
        return part, -part, -y / scale - z * part, [y * slope for slope in at_shapes]

    return slopes


def of_cdf(law: Any, by_shape: Slopes, sign: float) -> Slopes:
    """Return the slopes of ``cdf``, or with the sign -1 of ``sf``."""
    def slopes(x, y, shapes, loc, scale):
        part = sign * law.pdf(x, *shapes, loc, scale)
        z = (x - loc) / scale
        return part, -part, -z * part, by_shape(part * scale, z, *shapes)

    return slopes


def of_logcdf(law: Any, by_shape: Slopes, sign: float) -> Slopes:
    """Return the slopes of ``logcdf``, or with the sign -1 of ``logsf``."""
    def slopes(x, y, shapes, loc, scale):
        density = law.logpdf(x, *shapes, loc, scale)
        inside = density > -np.inf
        part = sign * np.exp(np.where(inside, density - np.where(inside, y, 0.0), -np.inf))
        z = (x - loc) / scale
        return part, -part, -z * part, by_shape(part * scale, z, *shapes)

    return slopes


def of_ppf(law: Any, by_shape: Slopes, sign: float) -> Slopes:
    """Return the slopes of ``ppf``, or with the sign -1 of ``isf``."""
    def slopes(x, y, shapes, loc, scale):
        z = (y - loc) / scale
        part = sign / law.pdf(y, *shapes, loc, scale)
        return part, 1.0, z, by_shape(-scale, z, *shapes)

    return slopes


# --- rules of functions of x, shape parameters by name, loc and scale -----------------------------
# Where the slope in the shapes is not known, they are not among the parameters differentiated.


def without_shape(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale"), domain=domain)
    def rule(x, loc=0, scale=1):
        refuse_complex(x, loc, scale)
        y = method(x, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, _ = slopes(x, y, (), loc, scale)
            return project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)

        return y, distribution_pullback


def with_a(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "a") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, a, loc=0, scale=1):
        refuse_complex(x, a, loc, scale)
        y = method(x, a, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (a,), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            return (*rest, project(by_shapes[0] * dy, a)) if known else rest

        return y, distribution_pullback


def with_s(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "s") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, s, loc=0, scale=1):
        refuse_complex(x, s, loc, scale)
        y = method(x, s, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (s,), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            return (*rest, project(by_shapes[0] * dy, s)) if known else rest

        return y, distribution_pullback


def with_c(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "c") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, c, loc=0, scale=1):
        refuse_complex(x, c, loc, scale)
        y = method(x, c, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (c,), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            return (*rest, project(by_shapes[0] * dy, c)) if known else rest

        return y, distribution_pullback


def with_df(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "df") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, df, loc=0, scale=1):
        refuse_complex(x, df, loc, scale)
        y = method(x, df, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (df,), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            return (*rest, project(by_shapes[0] * dy, df)) if known else rest

        return y, distribution_pullback


def with_b(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "b") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, b, loc=0, scale=1):
        refuse_complex(x, b, loc, scale)
        y = method(x, b, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (b,), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            return (*rest, project(by_shapes[0] * dy, b)) if known else rest

        return y, distribution_pullback


def with_a_b(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "a", "b") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, a, b, loc=0, scale=1):
        refuse_complex(x, a, b, loc, scale)
        y = method(x, a, b, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (a, b), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            if known:
                return (*rest, project(by_shapes[0] * dy, a), project(by_shapes[1] * dy, b))
            return rest

        return y, distribution_pullback


def with_dfn_dfd(method: Any, slopes: Slopes, known: bool, domain: Any) -> None:
    @rrule(method, wrt=("x", "loc", "scale", "dfn", "dfd") if known else ("x", "loc", "scale"),
           domain=domain)
    def rule(x, dfn, dfd, loc=0, scale=1):
        refuse_complex(x, dfn, dfd, loc, scale)
        y = method(x, dfn, dfd, loc, scale)

        def distribution_pullback(dy):
            dx, dloc, dscale, by_shapes = slopes(x, y, (dfn, dfd), loc, scale)
            rest = project(dx * dy, x), project(dloc * dy, loc), project(dscale * dy, scale)
            if known:
                return (*rest, project(by_shapes[0] * dy, dfn), project(by_shapes[1] * dy, dfd))
            return rest

        return y, distribution_pullback


# --- logarithms of densities: slopes in z and in the shapes ---------------------------------------


def normal(z):
    return (-z,)


def exponential(z):
    return (-np.ones_like(z),)


def uniform(z):
    return (np.zeros_like(z),)


def laplace(z):
    return (-np.sign(z),)


def logistic(z):
    return (-np.tanh(0.5 * z),)


def cauchy(z):
    return (-2.0 * z / (1.0 + z * z),)


def gumbel_right(z):
    return (np.expm1(-z),)


def gumbel_left(z):
    return (-np.expm1(z),)


def rayleigh(z):
    return (1.0 / z - z,)


def lognormal(z, s):
    w = np.log(z) / s
    return -(1.0 + w / s) / z, (w * w - 1.0) / s


def gamma(z, a):
    return (a - 1.0) / z - 1.0, np.log(z) - sc.psi(a)


def inverse_gamma(z, a):
    return 1.0 / (z * z) - (a + 1.0) / z, -np.log(z) - sc.psi(a)


def chi_squared(z, df):
    return (0.5 * df - 1.0) / z - 0.5, 0.5 * (np.log(0.5 * z) - sc.psi(0.5 * df))


def student(z, df):
    share = z * z / (df + z * z)
    by_df = sc.psi(0.5 * df + 0.5) - sc.psi(0.5 * df) - np.log1p(z * z / df)
    return -(df + 1.0) * z / (df + z * z), 0.5 * (by_df + ((df + 1.0) * share - 1.0) / df)


def weibull(z, c):
    power = np.power(z, c)
    return (c - 1.0 - c * power) / z, 1.0 / c + np.log(z) * (1.0 - power)


def pareto(z, b):
    return -(b + 1.0) / z, 1.0 / b - np.log(z)


def beta(z, a, b):
    both = sc.psi(a + b)
    return ((a - 1.0) / z - (b - 1.0) / (1.0 - z), np.log(z) - sc.psi(a) + both,
            np.log1p(-z) - sc.psi(b) + both)


def fisher(z, dfn, dfd):
    total = dfd + dfn * z
    rest = 1.0 - np.log(total) + sc.psi(0.5 * (dfn + dfd))
    return (
        (0.5 * dfn - 1.0) / z - 0.5 * (dfn + dfd) * dfn / total,
        0.5 * (np.log(dfn) + np.log(z) - (dfn + dfd) * z / total - sc.psi(0.5 * dfn) + rest),
        0.5 * (np.log(dfd) - (dfn + dfd) / total - sc.psi(0.5 * dfd) + rest),
    )


# --- distribution functions: slopes in the shapes, for the density f at z -------------------------


def no_shape(f, z, *shapes):
    return ()


def lognormal_shape(f, z, s):
    positive = np.where(z > 0.0, z, 1.0)
    return (-f * positive * np.log(positive) / s,)


def power_shape(f, z, c):
    """Return the slope in ``c`` of a function of ``z**c``: that in ``z`` times ``z log(z) / c``."""
    positive = np.where(z > 0.0, z, 1.0)
    return (f * positive * np.log(positive) / c,)


# --- the distributions ----------------------------------------------------------------------------


def samples(*shapes: Interval, low: float, high: float) -> Any:
    """Return samples of ``z`` in an interval, and of shapes in theirs, moved and scaled."""
    def calls(rng: np.random.Generator) -> list[Call]:
        def draw(interval: Interval, *shape: int) -> Any:
            return rng.uniform(*interval, shape)

        loc, scale = rng.normal(size=3), rng.uniform(0.5, 2.0, (2, 1))
        return [
            call(float(draw((low, high))), *(float(draw(s)) for s in shapes)),
            call(loc + scale * draw((low, high), 2, 3), *(draw(s, 3) for s in shapes), loc, scale),
        ]

    return calls


REAL, POSITIVE, UNIT = (-2.0, 2.0), (0.2, 2.5), (0.1, 0.9)
SHAPE = (1.3, 3.5)
NONE: tuple[Interval, ...] = ()

LAWS: tuple[tuple[Any, Any, Slopes, Slopes, Interval, tuple[Interval, ...]], ...] = (
    (stats.norm, without_shape, normal, no_shape, REAL, NONE),
    (stats.expon, without_shape, exponential, no_shape, POSITIVE, NONE),
    (stats.uniform, without_shape, uniform, no_shape, UNIT, NONE),
    (stats.laplace, without_shape, laplace, no_shape, REAL, NONE),
    (stats.logistic, without_shape, logistic, no_shape, REAL, NONE),
    (stats.cauchy, without_shape, cauchy, no_shape, REAL, NONE),
    (stats.halfcauchy, without_shape, cauchy, no_shape, POSITIVE, NONE),
    (stats.halfnorm, without_shape, normal, no_shape, POSITIVE, NONE),
    (stats.gumbel_r, without_shape, gumbel_right, no_shape, REAL, NONE),
    (stats.gumbel_l, without_shape, gumbel_left, no_shape, REAL, NONE),
    (stats.rayleigh, without_shape, rayleigh, no_shape, POSITIVE, NONE),
    (stats.lognorm, with_s, lognormal, lognormal_shape, POSITIVE, ((0.5, 1.5),)),
    (stats.gamma, with_a, gamma, no_shape, POSITIVE, (SHAPE,)),
    (stats.invgamma, with_a, inverse_gamma, no_shape, POSITIVE, (SHAPE,)),
    (stats.chi2, with_df, chi_squared, no_shape, POSITIVE, (SHAPE,)),
    (stats.t, with_df, student, no_shape, REAL, (SHAPE,)),
    (stats.weibull_min, with_c, weibull, power_shape, POSITIVE, (SHAPE,)),
    (stats.pareto, with_b, pareto, power_shape, (1.2, 3.0), (SHAPE,)),
    (stats.beta, with_a_b, beta, no_shape, UNIT, (SHAPE, SHAPE)),
    (stats.f, with_dfn_dfd, fisher, no_shape, POSITIVE, (SHAPE, SHAPE)),
)


def register() -> None:
    """Register the rules of the methods of all distributions."""
    for law, rule, density, by_shape, (low, high), shapes in LAWS:
        inside = samples(*shapes, low=low, high=high)
        levels = quantiles(*shapes)
        closed = by_shape is not no_shape
        rule(law.logpdf, of_logpdf(density), True, inside)
        rule(law.pdf, of_pdf(density), True, inside)
        rule(law.cdf, of_cdf(law, by_shape, 1.0), closed, inside)
        rule(law.sf, of_cdf(law, by_shape, -1.0), closed, inside)
        rule(law.logcdf, of_logcdf(law, by_shape, 1.0), closed, inside)
        rule(law.logsf, of_logcdf(law, by_shape, -1.0), closed, inside)
        rule(law.ppf, of_ppf(law, by_shape, 1.0), closed, levels)
        rule(law.isf, of_ppf(law, by_shape, -1.0), closed, levels)


def quantiles(*shapes: Interval) -> Any:
    """Return samples of probabilities, and of shapes, locations and scales."""
    def calls(rng: np.random.Generator) -> list[Call]:
        return [
            call(0.7, *(float(rng.uniform(*s)) for s in shapes)),
            call(rng.uniform(0.1, 0.9, (2, 3)), *(rng.uniform(*s, 3) for s in shapes),
                 rng.normal(size=3), rng.uniform(0.5, 2.0, (2, 1))),
        ]

    return calls


register()

"""Densities and distribution functions of continuous distributions, from H to Z.

Formulas: the pages of ``scipy.stats``; Johnson, Kotz, Balakrishnan, Continuous Univariate
Distributions, 1994 and 1995.
"""

import numpy as np
import scipy.special as sc

from adcompiler_rules.scipy.stats.forms import (
    HALF_LOG_2PI, log1p_ratio, log1p_rest, log_mass, log_phi,
)
from adcompiler_rules.scipy.stats.densities_a_to_g import POSITIVE, REAL, SHAPE, UNIT
from adcompiler_rules.scipy.stats.densities_a_to_g import generalised_normal
from adcompiler_rules.scipy.stats.methods import Law, register


def half_logistic(z):
    return -z - 2.0 * np.log1p(np.exp(-z))


def hyperbolic_secant(z):
    return -np.logaddexp(z, -z)


def inverse_gauss(z, mu):
    return -HALF_LOG_2PI - 1.5 * np.log(z) - (z / mu - 1.0) ** 2 / (2.0 * z)


def inverse_gauss_below(z, mu):
    root = np.sqrt(z)
    return sc.ndtr((z / mu - 1.0) / root) + np.exp(
        2.0 / mu + sc.log_ndtr(-(z / mu + 1.0) / root))


def inverse_weibull(z, c):
    return np.log(c) - (c + 1.0) * np.log(z) - z ** -c


def inverse_weibull_below(z, c):
    return np.exp(-(z ** -c))


def skewed_student(z, a, b):
    root = np.sqrt(a + b + z * z)
    total = (a + b - 1.0) * np.log(2.0) + sc.betaln(a, b) + 0.5 * np.log(a + b)
    return (a + 0.5) * np.log1p(z / root) + (b + 0.5) * np.log1p(-z / root) - total


def johnson_bounded(z, a, b):
    return np.log(b) - np.log(z) - np.log1p(-z) + log_phi(a + b * (np.log(z) - np.log1p(-z)))


def johnson_bounded_below(z, a, b):
    return sc.ndtr(a + b * (np.log(z) - np.log1p(-z)))


def johnson_unbounded(z, a, b):
    return np.log(b) - 0.5 * np.log1p(z * z) + log_phi(a + b * np.arcsinh(z))


def johnson_unbounded_below(z, a, b):
    return sc.ndtr(a + b * np.arcsinh(z))


def kappa3(z, a):
    return np.log(a) - (1.0 + 1.0 / a) * np.log(a + z**a)


def kappa3_below(z, a):
    return z * (a + z**a) ** (-1.0 / a)


def kappa4(z, h, k):
    root = -log1p_ratio(-k, z)
    return (1.0 - k) * root - (1.0 - h) * log1p_ratio(-h, np.exp(root))


def kappa4_below(z, h, k):
    return np.exp(-log1p_ratio(-h, np.exp(-log1p_ratio(-k, z))))


def asymmetric_laplace(z, kappa):
    return -np.where(z < 0.0, -z / kappa, z * kappa) - np.log(kappa + 1.0 / kappa)


def asymmetric_laplace_below(z, kappa):
    square = kappa * kappa
    left = square / (1.0 + square) * np.exp(np.where(z < 0.0, z, 0.0) / kappa)
    return np.where(z < 0.0, left, 1.0 - np.exp(-z * kappa) / (1.0 + square))


def levy(z):
    return -1.5 * np.log(z) - 0.5 / z


def levy_left(z):
    return levy(-z)


def log_gamma(z, c):
    return c * z - np.exp(z) - sc.gammaln(c)


def log_laplace(z, c):
    return np.log(0.5 * c) - np.log(z) - c * np.abs(np.log(z))


def log_laplace_below(z, c):
    low = 0.5 * np.where(z < 1.0, z, 1.0) ** c
    return np.where(z < 1.0, low, 1.0 - 0.5 * np.where(z < 1.0, 1.0, z) ** -c)


def lomax(z, c):
    return np.log(c) - (c + 1.0) * np.log1p(z)


def lomax_below(z, c):
    return -np.expm1(-c * np.log1p(z))


def maxwell(z):
    return 2.0 * np.log(z) - 0.5 * z * z


def mielke(z, k, s):
    return np.log(k) + (k - 1.0) * np.log(z) - (1.0 + k / s) * np.log1p(z**s)


def mielke_below(z, k, s):
    return np.exp(k * np.log(z) - k / s * np.log1p(z**s))


def moyal(z):
    return -0.5 * (z + np.exp(-z))


def nakagami(z, nu):
    return np.log(2.0) + nu * np.log(nu) - sc.gammaln(nu) + (2.0 * nu - 1.0) * np.log(z) - (
        nu * z * z)


def noncentral_chi_squared(z, df, nc):
    order, root = 0.5 * df - 1.0, np.sqrt(z * nc)
    gap = np.sqrt(z) - np.sqrt(nc)
    return 0.5 * order * np.log(z / nc) - 0.5 * gap * gap + np.log(sc.ive(order, root))


def noncentral_chi_squared_below(z, df, nc):
    return sc.chndtr(z, df, nc)


def noncentral_fisher(z, dfn, dfd, nc):
    """Return the logarithm up to what depends on ``dfn`` and ``dfd`` alone."""
    share = dfn * z / (dfd + dfn * z)
    series = sc.hyp1f1(0.5 * (dfn + dfd), 0.5 * dfn, 0.5 * nc * share)
    return (0.5 * dfn - 1.0) * np.log(z) - 0.5 * (dfn + dfd) * np.log(dfd + dfn * z) - (
        0.5 * nc) + np.log(series)


def noncentral_student(z, df, nc):
    """Return the logarithm up to what depends on ``df`` alone."""
    whole = df + z * z
    argument = 0.5 * nc * nc * z * z / whole
    odd = np.sqrt(2.0) * nc * z * sc.hyp1f1(0.5 * df + 1.0, 1.5, argument) * np.exp(
        -sc.gammaln(0.5 * df + 0.5)) / whole
    even = sc.hyp1f1(0.5 * df + 0.5, 0.5, argument) * np.exp(
        -sc.gammaln(0.5 * df + 1.0)) / np.sqrt(whole)
    return -0.5 * nc * nc - 0.5 * df * np.log(whole) + np.log(odd + even)


def normal_inverse_gauss(z, a, b):
    root = np.sqrt(1.0 + z * z)
    return np.log(a) + np.sqrt(a * a - b * b) + b * z - a * root + np.log(
        sc.k1e(a * root)) - np.log(root)


def pearson(z, skew):
    """Return the logarithm by the gamma distribution, without what cancels for small skews.

    The last term is the logarithm of the gamma function by Stirling's series, without its start.
    """
    t = 0.5 * skew * z
    s = 0.25 * skew * skew
    small = s < 1e-2
    r = np.where(small, s, 0.0)
    series = r * (1 / 12 - r * r * (1 / 360 - r * r * (1 / 1260 - r * r / 1680)))
    order = 1.0 / np.where(small, 1.0, s)
    exact = sc.gammaln(order) - (order - 0.5) * np.log(order) + order - HALF_LOG_2PI
    return z * z * log1p_rest(t) - np.log1p(t) - np.where(small, series, exact)


def power(z, a):
    return np.log(a) + (a - 1.0) * np.log(z)


def power_below(z, a):
    return z**a


def power_lognormal(z, c, s):
    w = np.log(z) / s
    return np.log(c) - np.log(s) - np.log(z) + log_phi(w) + (c - 1.0) * sc.log_ndtr(-w)


def power_lognormal_below(z, c, s):
    return -np.expm1(c * sc.log_ndtr(-np.log(z) / s))


def power_normal(z, c):
    return np.log(c) + log_phi(z) + (c - 1.0) * sc.log_ndtr(-z)


def power_normal_below(z, c):
    return -np.expm1(c * sc.log_ndtr(-z))


def r_distribution(z, c):
    return (0.5 * c - 1.0) * np.log1p(-z * z) - sc.betaln(0.5, 0.5 * c)


def reciprocal(z, a, b):
    return -np.log(z) - np.log(np.log(b) - np.log(a))


def reciprocal_below(z, a, b):
    return (np.log(z) - np.log(a)) / (np.log(b) - np.log(a))


def reciprocal_inverse_gauss(z, mu):
    return -0.5 * np.log(z) - (1.0 / mu - z) ** 2 / (2.0 * z)


def reciprocal_inverse_gauss_below(z, mu):
    root = np.sqrt(z)
    return sc.ndtr((z - 1.0 / mu) / root) - np.exp(
        2.0 / mu + sc.log_ndtr(-(z + 1.0 / mu) / root))


def breit_wigner(z, rho):
    root = np.sqrt(1.0 + 1.0 / (rho * rho))
    gap = (z - rho) * (z + rho) / rho
    return np.log(root) - 0.5 * np.log1p(root) - np.log1p(gap * gap)


def rice(z, b):
    return np.log(z) - 0.5 * (z - b) ** 2 + np.log(sc.i0e(z * b))


def rice_below(z, b):
    return sc.chndtr(z * z, 2.0, b * b)


def semicircular(z):
    return 0.5 * np.log1p(-z * z)


def skew_cauchy(z, a):
    w = z / np.where(z < 0.0, 1.0 - a, 1.0 + a)
    return -np.log1p(w * w)


def skew_cauchy_below(z, a):
    side = np.where(z < 0.0, 1.0 - a, 1.0 + a)
    return 0.5 * (1.0 - a) + side / np.pi * np.arctan(z / side)


def skew_normal(z, a):
    return log_phi(z) + sc.log_ndtr(a * z)


def skew_normal_below(z, a):
    return sc.ndtr(z) - 2.0 * sc.owens_t(z, a)


def trapezium(z, c, d):
    rising = z / np.where(c > 0.0, c, 1.0)
    falling = (1.0 - z) / np.where(d < 1.0, 1.0 - d, 1.0)
    flat = np.where(z < c, np.where(z < c, rising, 1.0), 1.0)
    side = np.where(z > d, np.where(z > d, falling, 1.0), flat)
    return np.log(side) - np.log(1.0 + d - c)


def trapezium_below(z, c, d):
    rising = 0.5 * z * z / np.where(c > 0.0, c, 1.0)
    falling = 0.5 * (1.0 - z) ** 2 / np.where(d < 1.0, 1.0 - d, 1.0)
    total = 1.0 + d - c
    inner = np.where(z < c, rising, z - 0.5 * c)
    return np.where(z > d, 1.0 - 2.0 * falling / total, 2.0 * inner / total)


def triangular(z, c):
    low = z / np.where(c > 0.0, c, 1.0)
    high = (1.0 - z) / np.where(c < 1.0, 1.0 - c, 1.0)
    return np.log(np.where(z < c, low, high))


def triangular_below(z, c):
    low = z * z / np.where(c > 0.0, c, 1.0)
    return np.where(z < c, low, 1.0 - (1.0 - z) ** 2 / np.where(c < 1.0, 1.0 - c, 1.0))


def cut_exponential(z, b):
    return -z - np.log(-np.expm1(-b))


def cut_exponential_below(z, b):
    return np.expm1(-z) / np.expm1(-b)


def cut_normal(z, a, b):
    return log_phi(z) - log_mass(a, b)


def cut_normal_below(z, a, b):
    return np.exp(log_mass(a, z) - log_mass(a, b))


def cut_pareto(z, b, c):
    return np.log(b) - (b + 1.0) * np.log(z) - np.log1p(-(c ** -b))


def cut_pareto_below(z, b, c):
    return np.expm1(-b * np.log(z)) / np.expm1(-b * np.log(c))


def weibull_tail(x, c):
    """Return ``exp(-x**c)``, also for an infinite ``x``."""
    finite = np.isfinite(x)
    return np.where(finite, np.exp(-np.where(finite, x, 1.0) ** c), 0.0)


def cut_weibull(z, c, a, b):
    return np.log(c) + (c - 1.0) * np.log(z) - z**c - np.log(
        weibull_tail(a, c) - weibull_tail(b, c))


def cut_weibull_below(z, c, a, b):
    start = weibull_tail(a, c)
    return (start - np.exp(-(z**c))) / (start - weibull_tail(b, c))


def tukey(z, lam):
    share = sc.tklmbda(z, lam)
    return -np.log(share ** (lam - 1.0) + (1.0 - share) ** (lam - 1.0))


def tukey_quantile(q, lam):
    return sc.boxcox(q, lam) - sc.boxcox1p(-q, lam)


def von_mises(z, kappa):
    return kappa * (np.cos(z) - 1.0) - np.log(sc.i0e(kappa))


def wald(z):
    return -1.5 * np.log(z) - (z - 1.0) ** 2 / (2.0 * z)


def weibull_left(z, c):
    return np.log(c) + (c - 1.0) * np.log(-z) - (-z) ** c


def weibull_left_below(z, c):
    return np.exp(-((-z) ** c))


def wrapped_cauchy(z, c):
    return np.log1p(-c * c) - np.log(1.0 + c * c - 2.0 * c * np.cos(z))


def wrapped_cauchy_below(z, c):
    half = (1.0 + c) / (1.0 - c) * np.tan(0.5 * np.where(z < np.pi, z, 2.0 * np.pi - z))
    return np.where(z < np.pi, np.arctan(half) / np.pi, 1.0 - np.arctan(half) / np.pi)


LAWS = (
    Law("halfgennorm", POSITIVE, (SHAPE,), generalised_normal),
    Law("halflogistic", POSITIVE, (), half_logistic),
    Law("hypsecant", REAL, (), hyperbolic_secant),
    Law("invgauss", POSITIVE, (SHAPE,), inverse_gauss, inverse_gauss_below),
    Law("invweibull", POSITIVE, (SHAPE,), inverse_weibull, inverse_weibull_below),
    Law("irwinhall", (0.5, 2.5), ((3.0, 3.0),), numbers=True),
    Law("jf_skew_t", REAL, (SHAPE, SHAPE), skewed_student),
    Law("johnsonsb", UNIT, (REAL, SHAPE), johnson_bounded, johnson_bounded_below),
    Law("johnsonsu", REAL, (REAL, SHAPE), johnson_unbounded, johnson_unbounded_below),
    Law("kappa3", POSITIVE, (SHAPE,), kappa3, kappa3_below),
    Law("kappa4", (-0.5, 1.0), ((-0.5, 0.5), (-0.5, 0.5)), kappa4, kappa4_below, centre=0.0,
        numbers=True),
    Law("kstwobign", (0.6, 1.5), ()),
    Law("landau", REAL, ()),
    Law("laplace_asymmetric", REAL, (SHAPE,), asymmetric_laplace, asymmetric_laplace_below),
    Law("levy", POSITIVE, (), levy),
    Law("levy_l", (-2.5, -0.2), (), levy_left, centre=-0.5),
    Law("loggamma", REAL, (SHAPE,), log_gamma),
    Law("loglaplace", POSITIVE, (SHAPE,), log_laplace, log_laplace_below),
    Law("loguniform", (1.5, 2.5), ((0.5, 1.2), (3.0, 4.0)), reciprocal, reciprocal_below,
        numbers=True),
    Law("lomax", POSITIVE, (SHAPE,), lomax, lomax_below),
    Law("maxwell", POSITIVE, (), maxwell),
    Law("mielke", POSITIVE, (SHAPE, SHAPE), mielke, mielke_below),
    Law("moyal", REAL, (), moyal),
    Law("nakagami", POSITIVE, (SHAPE,), nakagami),
    Law("ncf", POSITIVE, (SHAPE, SHAPE, SHAPE), noncentral_fisher, rigid=("dfn", "dfd")),
    Law("nct", REAL, (SHAPE, SHAPE), noncentral_student, rigid=("df",)),
    Law("ncx2", POSITIVE, (SHAPE, SHAPE), noncentral_chi_squared, noncentral_chi_squared_below,
        rigid=("df",), still=("df",)),
    Law("norminvgauss", REAL, ((1.6, 2.5), (-1.0, 1.0)), normal_inverse_gauss),
    Law("pearson3", (-0.5, 1.0), ((0.1, 1.5),), pearson, centre=0.0),
    Law("powerlaw", UNIT, (SHAPE,), power, power_below),
    Law("powerlognorm", POSITIVE, (SHAPE, SHAPE), power_lognormal, power_lognormal_below),
    Law("powernorm", REAL, (SHAPE,), power_normal, power_normal_below),
    Law("rdist", UNIT, (SHAPE,), r_distribution),
    Law("reciprocal", (1.5, 2.5), ((0.5, 1.2), (3.0, 4.0)), reciprocal, reciprocal_below,
        numbers=True),
    Law("recipinvgauss", POSITIVE, (SHAPE,), reciprocal_inverse_gauss,
        reciprocal_inverse_gauss_below),
    Law("rel_breitwigner", POSITIVE, (SHAPE,), breit_wigner),
    Law("rice", POSITIVE, (SHAPE,), rice, rice_below),
    Law("semicircular", (-0.9, 0.9), (), semicircular),
    Law("skewcauchy", REAL, ((-0.8, 0.8),), skew_cauchy, skew_cauchy_below),
    Law("skewnorm", REAL, (REAL,), skew_normal, skew_normal_below),
    Law("trapezoid", UNIT, ((0.2, 0.4), (0.6, 0.8)), trapezium, trapezium_below),
    Law("triang", UNIT, ((0.2, 0.8),), triangular, triangular_below),
    Law("truncexpon", UNIT, (SHAPE,), cut_exponential, cut_exponential_below),
    Law("truncnorm", (-0.5, 1.0), ((-2.0, -0.7), (1.2, 2.0)), cut_normal, cut_normal_below),
    Law("truncpareto", (1.2, 2.5), (SHAPE, (3.0, 4.0)), cut_pareto, cut_pareto_below, centre=1.5),
    Law("truncweibull_min", (0.6, 1.5), (SHAPE, (0.2, 0.5), (1.6, 2.5)), cut_weibull,
        cut_weibull_below),
    Law("tukeylambda", (-0.3, 0.3), ((0.4, 1.6),), tukey, quantile=tukey_quantile,
        rigid=("lam",), centre=0.0),
    Law("vonmises", REAL, (SHAPE,), von_mises),
    Law("vonmises_line", REAL, (SHAPE,), von_mises),
    Law("wald", POSITIVE, (), wald),
    Law("weibull_max", (-2.5, -0.2), (SHAPE,), weibull_left, weibull_left_below, centre=-0.5),
    Law("wrapcauchy", (0.3, 6.0), (UNIT,), wrapped_cauchy, wrapped_cauchy_below),
)

for law in LAWS:
    register(law)

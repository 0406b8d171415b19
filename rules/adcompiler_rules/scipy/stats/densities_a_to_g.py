"""Densities and distribution functions of continuous distributions, from A to G.

Formulas: the pages of ``scipy.stats``; Johnson, Kotz, Balakrishnan, Continuous Univariate
Distributions, 1994 and 1995.
"""

import numpy as np
import scipy.special as sc

from adcompiler_rules.scipy.stats.forms import HALF_LOG_2PI, log1p_ratio, log_cosh, log_phi
from adcompiler_rules.scipy.stats.methods import Law, register

REAL, POSITIVE, UNIT, SHAPE = (-2.0, 2.0), (0.2, 2.5), (0.1, 0.9), (1.3, 3.5)


def alpha(z, a):
    return -2.0 * np.log(z) + log_phi(a - 1.0 / z) - sc.log_ndtr(a)


def alpha_below(z, a):
    return sc.ndtr(a - 1.0 / z) / sc.ndtr(a)


def anglit(z):
    return np.log(np.cos(2.0 * z))


def arcsine(z):
    return -0.5 * (np.log(z) + np.log1p(-z))


def argus(z, chi):
    square = chi * chi
    total = np.log(sc.gammainc(1.5, 0.5 * square))
    return 3.0 * np.log(chi) - total + np.log(z) + 0.5 * (np.log1p(-z * z) - square * (1.0 - z * z))


def argus_below(z, chi):
    half = 0.5 * chi * chi
    return 1.0 - sc.gammainc(1.5, half * (1.0 - z * z)) / sc.gammainc(1.5, half)


def beta_prime(z, a, b):
    return (a - 1.0) * np.log(z) - (a + b) * np.log1p(z) - sc.betaln(a, b)


def bradford(z, c):
    return np.log(c) - np.log1p(c * z) - np.log(np.log1p(c))


def bradford_below(z, c):
    return np.log1p(c * z) / np.log1p(c)


def burr(z, c, d):
    return np.log(c) + np.log(d) - (c + 1.0) * np.log(z) - (d + 1.0) * np.log1p(z ** -c)


def burr_below(z, c, d):
    return (1.0 + z ** -c) ** -d


def burr12(z, c, d):
    return np.log(c) + np.log(d) + (c - 1.0) * np.log(z) - (d + 1.0) * np.log1p(z**c)


def burr12_below(z, c, d):
    return -np.expm1(-d * np.log1p(z**c))


def chi(z, df):
    return (1.0 - 0.5 * df) * np.log(2.0) - sc.gammaln(0.5 * df) + (df - 1.0) * np.log(z) - (
        0.5 * z * z)


def cosine(z):
    return np.log1p(np.cos(z))


def crystal_ball_total(beta, m):
    tail = m / (beta * (m - 1.0)) * np.exp(-0.5 * beta * beta)
    return tail + np.sqrt(2.0 * np.pi) * sc.ndtr(beta)


def crystal_ball_power(z, beta, m):
    """Return the logarithm of how much the tail has decreased at ``z``, relative to its start."""
    tail = np.where(z < -beta, z, -beta)
    return np.log1p(-(tail + beta) * beta / m)


def crystal_ball(z, beta, m):
    power = crystal_ball_power(z, beta, m)
    tail = -0.5 * beta * beta - m * power
    shape = np.where(z < -beta, tail, -0.5 * z * z)
    return shape - np.log(crystal_ball_total(beta, m))


def crystal_ball_below(z, beta, m):
    start = m / (beta * (m - 1.0)) * np.exp(-0.5 * beta * beta)
    tail = start * np.exp((1.0 - m) * crystal_ball_power(z, beta, m))
    rest = start + np.sqrt(2.0 * np.pi) * (sc.ndtr(z) - sc.ndtr(-beta))
    return np.where(z < -beta, tail, rest) / crystal_ball_total(beta, m)


def double_gamma(z, a):
    return (a - 1.0) * np.log(np.abs(z)) - np.abs(z) - sc.gammaln(a)


def double_weibull(z, c):
    return np.log(c) + (c - 1.0) * np.log(np.abs(z)) - np.abs(z) ** c


def double_weibull_below(z, c):
    tail = 0.5 * np.exp(-np.abs(z) ** c)
    return np.where(z > 0.0, 1.0 - tail, tail)


def mills(t):
    """Return the ratio of the upper tail of the normal distribution and its density."""
    return np.sqrt(0.5 * np.pi) * sc.erfcx(np.sqrt(0.5) * t)


def double_pareto_lognormal(z, u, s, a, b):
    t = (np.log(z) - u) / s
    both = np.log(mills(a * s - t) + mills(b * s + t))
    return np.log(a) + np.log(b) - np.log(a + b) - np.log(z) + log_phi(t) + both


def double_pareto_lognormal_below(z, u, s, a, b):
    t = (np.log(z) - u) / s
    parts = b * mills(a * s - t) - a * mills(b * s + t)
    return sc.ndtr(t) - np.exp(log_phi(t)) * parts / (a + b)


def exponnorm(z, K):
    rate = 1.0 / K
    return np.log(rate) + rate * (0.5 * rate - z) + sc.log_ndtr(z - rate)


def exponnorm_below(z, K):
    rate = 1.0 / K
    return sc.ndtr(z) - np.exp(rate * (0.5 * rate - z) + sc.log_ndtr(z - rate))


def exponential_weibull(z, a, c):
    power = z**c
    return np.log(a) + np.log(c) + (a - 1.0) * np.log(-np.expm1(-power)) - power + (
        (c - 1.0) * np.log(z))


def exponential_weibull_below(z, a, c):
    return (-np.expm1(-(z**c))) ** a


def exponential_power(z, b):
    power = z**b
    return np.log(b) + (b - 1.0) * np.log(z) + power - np.expm1(power)


def exponential_power_below(z, b):
    return -np.expm1(-np.expm1(z**b))


def fatigue_life(z, c):
    return np.log1p(z) - np.log(2.0 * c) - 1.5 * np.log(z) - HALF_LOG_2PI - (
        (z - 1.0) ** 2 / (2.0 * z * c * c))


def fatigue_life_below(z, c):
    return sc.ndtr((z - 1.0) / (c * np.sqrt(z)))


def fisk(z, c):
    return np.log(c) + (c - 1.0) * np.log(z) - 2.0 * np.log1p(z**c)


def fisk_below(z, c):
    return 1.0 / (1.0 + z**-c)


def folded_cauchy(z, c):
    return np.log(1.0 / (1.0 + (z - c) ** 2) + 1.0 / (1.0 + (z + c) ** 2))


def folded_cauchy_below(z, c):
    return (np.arctan(z - c) + np.arctan(z + c)) / np.pi


def folded_normal(z, c):
    return log_cosh(c * z) - 0.5 * (z * z + c * c)


def folded_normal_below(z, c):
    return sc.ndtr(z - c) + sc.ndtr(z + c)


def gauss_hypergeometric(x, a, b, c, z):
    """Return the logarithm up to what depends on ``a``, ``b`` and ``c`` alone."""
    return (a - 1.0) * np.log(x) + (b - 1.0) * np.log1p(-x) - c * np.log1p(z * x) - (
        np.log(sc.hyp2f1(c, a, a + b, -z)))


def generalised_exponential(z, a, b, c):
    rise = -np.expm1(-c * z)
    return np.log(a + b * rise) - (a + b) * z + b * rise / c


def generalised_exponential_below(z, a, b, c):
    return -np.expm1(-(a + b) * z - b * np.expm1(-c * z) / c)


def extreme_value(z, c):
    root = -log1p_ratio(-c, z)
    return (1.0 - c) * root - np.exp(root)


def extreme_value_below(z, c):
    return np.exp(-np.exp(-log1p_ratio(-c, z)))


def generalised_gamma(z, a, c):
    return np.log(np.abs(c)) + (a * c - 1.0) * np.log(z) - z**c - sc.gammaln(a)


def generalised_gamma_below(z, a, c):
    return np.where(c > 0.0, sc.gammainc(a, z**c), sc.gammaincc(a, z**c))


def half_logistic_power(z, c):
    root = -log1p_ratio(-c, z)
    return (1.0 - c) * root - 2.0 * np.log1p(np.exp(root))


def half_logistic_power_below(z, c):
    return np.tanh(0.5 * log1p_ratio(-c, z))


def generalised_hyperbolic(z, p, a, b):
    gamma, root = np.sqrt((a - b) * (a + b)), np.sqrt(1.0 + z * z)
    total = np.log(sc.kve(p, gamma)) - gamma - p * np.log(gamma) + (p - 0.5) * np.log(a)
    return np.log(sc.kve(p - 0.5, a * root)) - a * root + b * z + (
        (p - 0.5) * np.log(root)) - total


def generalised_inverse_gauss(z, p, b):
    return (p - 1.0) * np.log(z) - 0.5 * b * (z + 1.0 / z) - np.log(sc.kve(p, b)) + b


def generalised_logistic(z, c):
    return np.log(c) - z - (c + 1.0) * np.logaddexp(0.0, -z)


def generalised_logistic_below(z, c):
    return np.exp(-c * np.logaddexp(0.0, -z))


def generalised_normal(z, beta):
    return np.log(beta) - sc.gammaln(1.0 / beta) - np.abs(z) ** beta


def generalised_pareto(z, c):
    return -(1.0 + c) * log1p_ratio(c, z)


def generalised_pareto_below(z, c):
    return -np.expm1(-log1p_ratio(c, z))


def gibrat(z):
    return -np.log(z) - 0.5 * np.log(z) ** 2


def gompertz(z, c):
    return np.log(c) + z - c * np.expm1(z)


def gompertz_below(z, c):
    return -np.expm1(-c * np.expm1(z))


LAWS = (
    Law("alpha", POSITIVE, (SHAPE,), alpha, alpha_below),
    Law("anglit", (-0.7, 0.7), (), anglit),
    Law("arcsine", UNIT, (), arcsine),
    Law("argus", UNIT, (SHAPE,), argus, argus_below),
    Law("betaprime", POSITIVE, (SHAPE, SHAPE), beta_prime),
    Law("bradford", UNIT, (POSITIVE,), bradford, bradford_below),
    Law("burr", POSITIVE, (SHAPE, SHAPE), burr, burr_below),
    Law("burr12", POSITIVE, (SHAPE, SHAPE), burr12, burr12_below),
    Law("chi", POSITIVE, (SHAPE,), chi),
    Law("cosine", REAL, (), cosine),
    Law("crystalball", (-3.0, 1.0), ((0.5, 1.5), SHAPE), crystal_ball, crystal_ball_below),
    Law("dgamma", REAL, (SHAPE,), double_gamma),
    Law("dpareto_lognorm", POSITIVE, (REAL, SHAPE, SHAPE, SHAPE), double_pareto_lognormal,
        double_pareto_lognormal_below),
    Law("dweibull", REAL, (SHAPE,), double_weibull, double_weibull_below),
    Law("exponnorm", REAL, (SHAPE,), exponnorm, exponnorm_below),
    Law("exponpow", (0.2, 1.2), (SHAPE,), exponential_power, exponential_power_below),
    Law("exponweib", (0.2, 1.2), (SHAPE, SHAPE), exponential_weibull, exponential_weibull_below),
    Law("fatiguelife", POSITIVE, (SHAPE,), fatigue_life, fatigue_life_below),
    Law("fisk", POSITIVE, (SHAPE,), fisk, fisk_below),
    Law("foldcauchy", POSITIVE, (SHAPE,), folded_cauchy, folded_cauchy_below),
    Law("foldnorm", POSITIVE, (SHAPE,), folded_normal, folded_normal_below),
    Law("gausshyper", UNIT, (SHAPE, SHAPE, SHAPE, UNIT), gauss_hypergeometric,
        rigid=("a", "b", "c")),
    Law("genexpon", POSITIVE, (SHAPE, SHAPE, SHAPE), generalised_exponential,
        generalised_exponential_below),
    Law("genextreme", (-1.5, 1.5), ((-0.5, 0.5),), extreme_value, extreme_value_below, centre=0.0),
    Law("gengamma", POSITIVE, (SHAPE, SHAPE), generalised_gamma, generalised_gamma_below,
        still=("a",)),
    Law("genhalflogistic", (0.1, 1.0), ((0.2, 0.9),), half_logistic_power,
        half_logistic_power_below, centre=0.0),
    Law("genhyperbolic", REAL, (SHAPE, (1.6, 2.5), (-1.0, 1.0)), generalised_hyperbolic,
        rigid=("p",)),
    Law("geninvgauss", POSITIVE, (SHAPE, SHAPE), generalised_inverse_gauss, rigid=("p",)),
    Law("genlogistic", REAL, (SHAPE,), generalised_logistic, generalised_logistic_below),
    Law("gennorm", REAL, (SHAPE,), generalised_normal),
    Law("genpareto", (0.1, 1.5), ((-0.5, 1.5),), generalised_pareto, generalised_pareto_below,
        centre=0.0),
    Law("gibrat", POSITIVE, (), gibrat),
    Law("gompertz", (0.2, 1.2), (SHAPE,), gompertz, gompertz_below),
)

for law in LAWS:
    register(law)

"""Densities of the most common continuous distributions: the slopes of their logarithms.

They are written by hand, so that code with them is short. Formulas: Johnson, Kotz, Balakrishnan,
Continuous Univariate Distributions, 1994.
"""

import numpy as np
import scipy.special as sc

from adcompiler_rules.kernels.random_draws import beta_slope, gamma_slope
from adcompiler_rules.scipy.stats.methods import Law, register

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


# --- distribution functions: slopes in shapes over the density ------------------------------------


def lognormal_moved(z, s):
    positive = np.where(z > 0.0, z, 1.0)
    return (-positive * np.log(positive) / s,)


def power_moved(z, c):
    """Return the slope in ``c`` of a function of ``z**c``: that in ``z`` times ``z log(z) / c``."""
    positive = np.where(z > 0.0, z, 1.0)
    return (positive * np.log(positive) / c,)


def gamma_moved(z, a):
    return (-gamma_slope(np.where(z > 0.0, z, 1.0), a),)


def chi_squared_moved(z, df):
    return (-gamma_slope(np.where(z > 0.0, 0.5 * z, 1.0), 0.5 * df),)


def inverse_gamma_moved(z, a):
    positive = np.where(z > 0.0, z, 1.0)
    return (positive * positive * gamma_slope(1.0 / positive, a),)


def beta_moved(z, a, b):
    inside = np.where((z > 0.0) & (z < 1.0), z, 0.5)
    return -beta_slope(inside, a, b), beta_slope(1.0 - inside, b, a)


def student_moved(z, df):
    """Of ``w = df / (df + z^2)``, which has a beta distribution (DLMF 8.17.1)."""
    off = np.where(z == 0.0, 1.0, z)
    total = df + off * off
    slope = beta_slope(df / total, 0.5 * df, 0.5)
    return (np.where(z == 0.0, 0.0, (0.5 * slope * total * total / off - off) / (
        2.0 * df)),)


def fisher_moved(z, dfn, dfd):
    """Of ``w = dfn z / (dfd + dfn z)``, which has a beta distribution."""
    positive = np.where(z > 0.0, z, 1.0)
    total = dfd + dfn * positive
    share = 0.5 * total * total / (dfn * dfd)
    a, b = 0.5 * dfn, 0.5 * dfd
    return (
        positive / dfn - share * beta_slope(dfn * positive / total, a, b),
        share * beta_slope(dfd / total, b, a) - positive / dfd,
    )


# --- the distributions ----------------------------------------------------------------------------

REAL, POSITIVE, UNIT = (-2.0, 2.0), (0.2, 2.5), (0.1, 0.9)
SHAPE = (1.3, 3.5)

LAWS = (
    Law("norm", REAL, slopes=normal),
    Law("expon", POSITIVE, slopes=exponential),
    Law("uniform", UNIT, slopes=uniform),
    Law("laplace", REAL, slopes=laplace),
    Law("logistic", REAL, slopes=logistic),
    Law("cauchy", REAL, slopes=cauchy),
    Law("halfcauchy", POSITIVE, slopes=cauchy),
    Law("halfnorm", POSITIVE, slopes=normal),
    Law("gumbel_r", REAL, slopes=gumbel_right),
    Law("gumbel_l", REAL, slopes=gumbel_left),
    Law("rayleigh", POSITIVE, slopes=rayleigh),
    Law("lognorm", POSITIVE, ((0.5, 1.5),), slopes=lognormal, moved=lognormal_moved),
    Law("gamma", POSITIVE, (SHAPE,), slopes=gamma, moved=gamma_moved),
    Law("erlang", POSITIVE, (SHAPE,), slopes=gamma, moved=gamma_moved),
    Law("invgamma", POSITIVE, (SHAPE,), slopes=inverse_gamma, moved=inverse_gamma_moved),
    Law("chi2", POSITIVE, (SHAPE,), slopes=chi_squared, moved=chi_squared_moved),
    Law("t", REAL, (SHAPE,), slopes=student, moved=student_moved),
    Law("weibull_min", POSITIVE, (SHAPE,), slopes=weibull, moved=power_moved),
    Law("pareto", (1.2, 3.0), (SHAPE,), slopes=pareto, moved=power_moved, centre=1.5),
    Law("beta", UNIT, (SHAPE, SHAPE), slopes=beta, moved=beta_moved),
    Law("f", POSITIVE, (SHAPE, SHAPE), slopes=fisher, moved=fisher_moved),
)

for law in LAWS:
    register(law, short=law.name == "erlang")

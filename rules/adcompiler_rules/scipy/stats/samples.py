"""Statistics of samples compiled as Python that is written here: tests, spreads, densities.

SciPy's own source goes through layers that handle missing values and other kinds of arrays. The
values are the same up to rounding. What treats missing values otherwise than by passing them on is
refused. Of the distances between samples, the order of the numbers does not change nearby.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime.substitutes import STAND_FOR


class Outcome(NamedTuple):
    """What a test gives."""

    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    """What ``linregress`` gives."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def propagates(nan_policy: str, sample: Any = (), axis: Any = None) -> None:
    """Refuse another policy for missing numbers, and a number with an axis, a sample of one."""
    if nan_policy != "propagate":
        raise UncoveredError("statistics have a derivative for nan_policy='propagate'")
    if axis is not None and np.ndim(sample) == 0:
        raise UncoveredError("statistics along an axis have a derivative for arrays")


def count_of(a: Any, axis: Any) -> int:
    """Return how many numbers are reduced into one."""
    return np.size(a) if axis is None else np.shape(a)[axis]


# --- tests ----------------------------------------------------------------------------------------


def tail(t: Any, df: Any, alternative: str) -> Any:
    """Return the probability of what is beyond ``t`` in the distribution of Student."""
    if alternative == "two-sided":
        return 2.0 * special.stdtr(df, -np.abs(t))
    if alternative == "less":
        return special.stdtr(df, t)
    if alternative == "greater":
        return special.stdtr(df, -t)
    raise ValueError("alternative is none of two-sided, less and greater")


def pearsonr(
    x: Any, y: Any, *, alternative: str = "two-sided", method: Any = None, axis: Any = 0
) -> Any:
    """``pearsonr`` of two rows of numbers."""
    if np.ndim(x) != 1 or np.ndim(y) != 1 or method is not None or alternative != "two-sided":
        raise UncoveredError("pearsonr() has a derivative for two rows, by its two-sided test")
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    n = len(x)
    if n < 3:
        raise UncoveredError("pearsonr() has a derivative for three numbers and more")
    x, y = x - np.mean(x), y - np.mean(y)
    r = np.clip(np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y)), -1.0, 1.0)
    half = n / 2.0 - 1.0
    return Outcome(r, 2.0 * special.betainc(half, half, 0.5 * (1.0 - np.abs(r))))


def linregress(
    x: Any, y: Any, alternative: str = "two-sided", *, axis: Any = 0,
    nan_policy: str = "propagate", keepdims: bool = False,
) -> Any:
    """``linregress`` of two rows of numbers."""
    propagates(nan_policy)
    if np.ndim(x) != 1 or np.ndim(y) != 1 or keepdims or len(x) < 3:
        raise UncoveredError("linregress() has a derivative for two rows of three numbers and more")
    x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
    u, v = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(u * u), np.mean(u * v), np.mean(v * v)
    r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    df = len(x) - 2
    t = r * np.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    slope = xy / xx
    return Line(slope, np.mean(y) - slope * np.mean(x), r, tail(t, df, alternative),
                np.sqrt((1.0 - r * r) * yy / xx / df))


def ttest_1samp(
    a: Any, popmean: Any, axis: Any = 0, nan_policy: str = "propagate",
    alternative: str = "two-sided", *, keepdims: bool = False,
) -> Any:
    """``ttest_1samp``."""
    propagates(nan_policy)
    a = np.asarray(a) * 1.0
    n = count_of(a, axis)
    spread = np.sqrt(np.var(a, axis=axis, ddof=1, keepdims=keepdims) / n)
    t = (np.mean(a, axis=axis, keepdims=keepdims) - popmean) / spread
    return Outcome(t, tail(t, n - 1, alternative))


def ttest_rel(
    a: Any, b: Any, axis: Any = 0, nan_policy: str = "propagate", alternative: str = "two-sided",
    *, keepdims: bool = False,
) -> Any:
    """``ttest_rel``."""
    if np.shape(a) != np.shape(b):
        raise ValueError("unequal length arrays")
    difference = np.asarray(a) - np.asarray(b)
    return ttest_1samp(difference, 0.0, axis, nan_policy, alternative, keepdims=keepdims)


def ttest_ind(
    a: Any, b: Any, axis: Any = 0, equal_var: bool = True, nan_policy: str = "propagate",
    alternative: str = "two-sided", *, trim: Any = 0, method: Any = None, keepdims: bool = False,
) -> Any:
    """``ttest_ind`` of samples of the same spread."""
    propagates(nan_policy)
    if not equal_var or trim != 0 or method is not None:
        raise UncoveredError("ttest_ind() has a derivative without equal_var=, trim= and method=")
    a, b = np.asarray(a) * 1.0, np.asarray(b) * 1.0
    n, m = count_of(a, axis), count_of(b, axis)
    first = np.var(a, axis=axis, ddof=1, keepdims=keepdims)
    second = np.var(b, axis=axis, ddof=1, keepdims=keepdims)
    df = n + m - 2
    spread = np.sqrt(((n - 1) * first + (m - 1) * second) / df * (1.0 / n + 1.0 / m))
    t = (np.mean(a, axis=axis, keepdims=keepdims)
         - np.mean(b, axis=axis, keepdims=keepdims)) / spread
    return Outcome(t, tail(t, df, alternative))


def chisquare(
    f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int = 0, *, sum_check: bool = True,
    nan_policy: str = "propagate", keepdims: bool = False,
) -> Any:
    """``chisquare``."""
    propagates(nan_policy)
    observed = np.asarray(f_obs) * 1.0
    if f_exp is None:
        expected = np.mean(observed, axis=axis, keepdims=True)
    else:
        expected = np.asarray(f_exp) * 1.0
        first, second = np.sum(observed, axis=axis), np.sum(expected, axis=axis)
        if sum_check and np.any(np.abs(first - second) > 1.5e-8 * np.minimum(first, second)):
            raise ValueError("the sum of the observed frequencies is not that of the expected ones")
    found = np.sum((observed - expected) ** 2 / expected, axis=axis, keepdims=keepdims)
    return Outcome(found, special.chdtrc(np.shape(observed)[axis] - 1 - ddof, found))


# --- spreads --------------------------------------------------------------------------------------


def zmap(
    scores: Any, compare: Any, axis: Any = 0, ddof: int = 0, nan_policy: str = "propagate"
) -> Any:
    """``zmap``."""
    propagates(nan_policy)
    mean = np.mean(compare, axis=axis, keepdims=True)
    return (scores - mean) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


def variation(
    a: Any, axis: Any = 0, nan_policy: str = "propagate", ddof: int = 0, *, keepdims: bool = False
) -> Any:
    """``variation``."""
    propagates(nan_policy, a, axis)
    if ddof >= count_of(a, axis):
        raise UncoveredError("variation() has a derivative for a ddof= below the size")
    spread = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / np.mean(a, axis=axis, keepdims=keepdims)


def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, nan_policy: str = "propagate",
    interpolation: Any = "linear", keepdims: bool = False,
) -> Any:
    """``iqr``."""
    propagates(nan_policy, x, axis)
    low = np.percentile(x, rng[0], axis=axis, method=interpolation, keepdims=keepdims)
    high = np.percentile(x, rng[1], axis=axis, method=interpolation, keepdims=keepdims)
    return (high - low) / normal_scale(scale, 1.3489795003921634)


def normal_scale(scale: Any, normal: float) -> Any:
    """Return a scale, which may be that of the normal distribution."""
    if isinstance(scale, str):
        if scale != "normal":
            raise ValueError("this scale is not known")
        return normal
    return scale


def median_abs_deviation(
    x: Any, axis: Any = 0, center: Any = None, scale: Any = 1.0, nan_policy: str = "propagate", *,
    keepdims: bool = False,
) -> Any:
    """``median_abs_deviation`` from the median."""
    propagates(nan_policy, x, axis)
    if center is not None and center is not np.median:
        raise UncoveredError("median_abs_deviation() has a derivative for deviations from medians")
    apart = np.abs(x - np.median(x, axis=axis, keepdims=True))
    return np.median(apart, axis=axis, keepdims=keepdims) / normal_scale(scale, 0.6744897501960817)


def within(a: Any, limits: Any, inclusive: Any) -> Any:
    """Return which numbers are within limits."""
    kept = np.ones(np.shape(a), dtype=bool)
    if limits is None:
        return kept
    if limits[0] is not None:
        kept = kept & ((a >= limits[0]) if inclusive[0] else (a > limits[0]))
    if limits[1] is not None:
        kept = kept & ((a <= limits[1]) if inclusive[1] else (a < limits[1]))
    return kept


def tmean(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = None, *,
    nan_policy: str = "propagate", keepdims: bool = False,
) -> Any:
    """``tmean``."""
    propagates(nan_policy, a, axis)
    a = np.asarray(a) * 1.0
    kept = within(a, limits, inclusive)
    total = np.sum(np.where(kept, a, 0.0), axis=axis, keepdims=keepdims)
    return total / np.sum(kept, axis=axis, keepdims=keepdims, dtype=a.dtype)


def tvar(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: int = 1, *,
    nan_policy: str = "propagate", keepdims: bool = False,
) -> Any:
    """``tvar``."""
    propagates(nan_policy, a, axis)
    a = np.asarray(a) * 1.0
    kept = within(a, limits, inclusive)
    count = np.sum(kept, axis=axis, keepdims=True, dtype=a.dtype)
    mean = np.sum(np.where(kept, a, 0.0), axis=axis, keepdims=True) / count
    squares = np.where(kept, (a - mean) ** 2, 0.0)
    return np.sum(squares, axis=axis, keepdims=keepdims) / (
        np.sum(kept, axis=axis, keepdims=keepdims, dtype=a.dtype) - ddof)


def tstd(
    a: Any, limits: Any = None, inclusive: Any = (True, True), axis: Any = 0, ddof: int = 1, *,
    nan_policy: str = "propagate", keepdims: bool = False,
) -> Any:
    """``tstd``."""
    return np.sqrt(
        tvar(a, limits, inclusive, axis, ddof, nan_policy=nan_policy, keepdims=keepdims))


def trim_mean(
    a: Any, proportiontocut: float, axis: Any = 0, *, nan_policy: str = "propagate",
    keepdims: bool = False,
) -> Any:
    """``trim_mean``."""
    propagates(nan_policy, a, axis)
    rows = np.ravel(a) if axis is None else np.moveaxis(np.asarray(a), axis, -1)
    if axis is None and keepdims:
        raise UncoveredError("trim_mean() has a derivative without keepdims= over all axes")
    n = np.shape(rows)[-1]
    cut = int(proportiontocut * n)
    if 2 * cut >= n:
        raise ValueError("Proportion too big.")
    found = np.mean(np.sort(rows)[..., cut : n - cut], axis=-1)
    return np.expand_dims(found, axis) if keepdims else found


def gstd(
    a: Any, axis: Any = 0, ddof: int = 1, *, keepdims: bool = False, nan_policy: str = "propagate"
) -> Any:
    """``gstd``."""
    propagates(nan_policy, a, axis)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


def resultant(samples: Any, low: Any, high: Any, axis: Any, keepdims: bool) -> Any:
    """Return the sums of the cosines and sines of angles that have another period."""
    angles = np.asarray(samples) * (2.0 * np.pi / (high - low))
    return (np.sum(np.cos(angles), axis=axis, keepdims=keepdims),
            np.sum(np.sin(angles), axis=axis, keepdims=keepdims))


def circmean(
    samples: Any, high: Any = 2.0 * np.pi, low: Any = 0, axis: Any = None,
    nan_policy: str = "propagate", *, keepdims: bool = False,
) -> Any:
    """``circmean``."""
    propagates(nan_policy)
    across, up = resultant(samples, low, high, axis, keepdims)
    period = high - low
    return (np.arctan2(up, across) * (period / (2.0 * np.pi)) - low) % period + low


def circvar(
    samples: Any, high: Any = 2.0 * np.pi, low: Any = 0, axis: Any = None,
    nan_policy: str = "propagate", *, keepdims: bool = False,
) -> Any:
    """``circvar``."""
    propagates(nan_policy)
    across, up = resultant(samples, low, high, axis, keepdims)
    return 1.0 - np.minimum(1.0, np.hypot(up, across) / count_of(samples, axis))


def circstd(
    samples: Any, high: Any = 2.0 * np.pi, low: Any = 0, axis: Any = None,
    nan_policy: str = "propagate", *, normalize: bool = False, keepdims: bool = False,
) -> Any:
    """``circstd``."""
    length = 1.0 - circvar(samples, high, low, axis, nan_policy, keepdims=keepdims)
    found = np.sqrt(-2.0 * np.log(length))
    return found if normalize else found * ((high - low) / (2.0 * np.pi))


# --- distances ------------------------------------------------------------------------------------


def wasserstein_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """``wasserstein_distance`` of samples without weights."""
    apart, steps = apart_along(u_values, v_values, u_weights, v_weights)
    return np.sum(np.abs(apart) * steps)


def energy_distance(
    u_values: Any, v_values: Any, u_weights: Any = None, v_weights: Any = None
) -> Any:
    """``energy_distance`` of samples without weights."""
    apart, steps = apart_along(u_values, v_values, u_weights, v_weights)
    return math.sqrt(2.0) * np.sqrt(np.sum(apart * apart * steps))


def apart_along(u: Any, v: Any, u_weights: Any, v_weights: Any) -> Any:
    """Return how far two distribution functions are apart, and for how long."""
    if u_weights is not None or v_weights is not None:
        raise UncoveredError("distances of samples have a derivative without weights")
    u, v = np.asarray(u) * 1.0, np.asarray(v) * 1.0
    every = np.sort(np.concatenate((u, v)))
    below = np.searchsorted(np.sort(u), every[:-1], "right") / len(u)
    beside = np.searchsorted(np.sort(v), every[:-1], "right") / len(v)
    return below - beside, np.diff(every)


# --- densities ------------------------------------------------------------------------------------


class Kernels:
    """``gaussian_kde``."""

    def __init__(self, dataset: Any, bw_method: Any = None, weights: Any = None) -> None:
        self.dataset = np.atleast_2d(np.asarray(dataset)) * 1.0
        self.d, self.n = np.shape(self.dataset)
        if weights is None:
            self.weights = np.full(self.n, 1.0 / self.n)
        else:
            weights = np.asarray(weights) * 1.0
            self.weights = weights / np.sum(weights)
        squares = np.sum(self.weights**2)
        self.neff = 1.0 / squares
        self.factor = bandwidth(bw_method, self.neff, self.d)
        apart = self.dataset - np.expand_dims(self.dataset @ self.weights, -1)
        spread = (apart * self.weights) @ np.transpose(apart) / (1.0 - squares)
        self.covariance = spread * self.factor**2

    def logpdf(self, x: Any) -> Any:
        """Return the logarithm of the density."""
        return log_density(self.dataset, self.weights, self.covariance, x)

    def evaluate(self, points: Any) -> Any:
        """Return the density."""
        return np.exp(self.logpdf(points))

    def pdf(self, x: Any) -> Any:
        """Return the density."""
        return np.exp(self.logpdf(x))

    def __call__(self, points: Any) -> Any:
        return np.exp(self.logpdf(points))

    def integrate_box_1d(self, low: Any, high: Any) -> Any:
        """Return the probability of an interval."""
        deviation = np.sqrt(self.covariance[0, 0])
        above = special.ndtr((high - self.dataset[0]) / deviation)
        return np.sum(self.weights * (above - special.ndtr((low - self.dataset[0]) / deviation)))


def bandwidth(method: Any, neff: Any, d: int) -> Any:
    """Return how wide kernels are, compared with the data."""
    if method is None or (isinstance(method, str) and method == "scott"):
        return neff ** (-1.0 / (d + 4))
    if isinstance(method, str):
        if method != "silverman":
            raise ValueError("`bw_method` should be 'scott', 'silverman' or a number")
        return (neff * (d + 2.0) / 4.0) ** (-1.0 / (d + 4))
    if callable(method):
        raise UncoveredError("gaussian_kde has a derivative for bw_method= that is no function")
    return method


def log_density(data: Any, weights: Any, covariance: Any, points: Any) -> Any:
    """Return the logarithm of a sum of normal densities at points, which are columns."""
    points = np.atleast_2d(np.asarray(points)) * 1.0
    d = np.shape(data)[0]
    if np.shape(points)[0] != d:
        if np.shape(points)[0] != 1 or np.shape(points)[1] != d:
            raise ValueError("points have another dimension than the dataset")
        points = np.transpose(points)
    factor = np.linalg.cholesky(covariance)
    apart = np.expand_dims(points, 1) - np.expand_dims(data, 2)
    white = np.linalg.solve(factor, np.reshape(apart, (d, -1)))
    energy = 0.5 * np.sum(white * white, axis=0)
    energy = np.reshape(energy, np.shape(apart)[1:])
    size = np.sum(np.log(np.diag(factor))) + 0.5 * d * math.log(2.0 * math.pi)
    return special.logsumexp(-energy, axis=0, b=np.expand_dims(weights, -1)) - size


def log_density_of(self: Any, x: Any) -> Any:
    """``gaussian_kde.logpdf`` of what was made before."""
    return log_density(self.dataset, self.weights, self.covariance, x)


def density_of(self: Any, points: Any) -> Any:
    """``gaussian_kde.evaluate`` of what was made before."""
    return np.exp(log_density(self.dataset, self.weights, self.covariance, points))


facts(stats.gaussian_kde.logpdf, written_as=log_density_of)
facts(stats.gaussian_kde.evaluate, stats.gaussian_kde.pdf, written_as=density_of)
facts(stats.gaussian_kde, written_as=Kernels)
STAND_FOR[Kernels] = stats.gaussian_kde
for _written in (
    pearsonr, linregress, ttest_1samp, ttest_rel, ttest_ind, chisquare, zmap, variation, iqr,
    median_abs_deviation, tmean, tvar, tstd, trim_mean, gstd, circmean, circvar, circstd,
    wasserstein_distance, energy_distance,
):
    facts(getattr(stats, _written.__name__), written_as=_written)

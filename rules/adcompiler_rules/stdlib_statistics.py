"""Rules of ``statistics``: means, spreads and the median of lists, tuples and arrays of numbers."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime.adjoints.sequences import like, spread
from adcompiler_rules.kernels.sequences import at_ranks, deviations


def _samples(kind: Any) -> Any:
    return lambda rng: [
        call(kind(rng.normal(size=5).tolist())), call(kind([1.5, 0.5])),
        call(kind([2.0, 1.0, 4.0])),
    ]


def _positive(rng: np.random.Generator) -> list[Call]:
    return [call((0.5 + rng.random(size=5)).tolist()), call((1.5, 0.5)), call([2.0])]


def _means(rng: np.random.Generator) -> list[Call]:
    return [*_samples(list)(rng), *_samples(tuple)(rng), *_samples(np.array)(rng), call([1.5])]


@rrule(statistics.mean, linear=(0,), domain=_means)
def mean(data: Any) -> Any:
    """Every item receives ``dy / n``."""

    def mean_pullback(dy: Any) -> Any:
        return spread(dy / len(data), data)

    return statistics.mean(data), mean_pullback


def _weighted(rng: np.random.Generator) -> list[Call]:
    return [*_means(rng), call([1.5, 2.0, -0.5], [1.0, 0.5, 2.0]),
            call((1.5, 2.0), weights=(3.0, 1.0))]


@rrule(statistics.fmean, wrt=("data", "weights"), linear=(0,), domain=_weighted)
def fmean(data: Any, weights: Any = None) -> Any:
    """``sum(w x) / sum(w)``."""
    y = statistics.fmean(data) if weights is None else statistics.fmean(data, weights)

    def fmean_pullback(dy: Any) -> Any:
        return (
            (spread(dy / len(data), data), None)
            if weights is None
            else (
                like([dy * np.conj(w / sum(weights)) for w in weights], data),
                like([dy * np.conj((x - y) / sum(weights)) for x in data], weights),
            )
        )

    return y, fmean_pullback


def _spreads(rng: np.random.Generator) -> list[Call]:
    return [*_samples(list)(rng), *_samples(tuple)(rng), *_samples(np.array)(rng)]


@rrule(statistics.variance, domain=_spreads)
def variance(data: Any) -> Any:
    """``dx = 2 dy (x - mean) / (n - 1)``."""

    def variance_pullback(dy: Any) -> Any:
        return deviations(2.0 * dy / (len(data) - 1), data)

    return statistics.variance(data), variance_pullback


@rrule(statistics.pvariance, domain=_means)
def pvariance(data: Any) -> Any:
    """``dx = 2 dy (x - mean) / n``."""

    def pvariance_pullback(dy: Any) -> Any:
        return deviations(2.0 * dy / len(data), data)

    return statistics.pvariance(data), pvariance_pullback


@rrule(statistics.stdev, domain=_spreads, kink="nan where all items are equal")
def stdev(data: Any) -> Any:
    """``dx = dy (x - mean) / ((n - 1) y)``."""
    y = statistics.stdev(data)

    def stdev_pullback(dy: Any) -> Any:
        return deviations(dy / ((len(data) - 1) * y) if y > 0.0 else math.nan, data)

    return y, stdev_pullback


@rrule(statistics.pstdev, domain=_spreads, kink="nan where all items are equal")
def pstdev(data: Any) -> Any:
    """``dx = dy (x - mean) / (n y)``."""
    y = statistics.pstdev(data)

    def pstdev_pullback(dy: Any) -> Any:
        return deviations(dy / (len(data) * y) if y > 0.0 else math.nan, data)

    return y, pstdev_pullback


@rrule(statistics.median, domain=_means, kink="ties keep their order")
def median(data: Any) -> Any:
    """The item in the middle receives ``dy``; of an even number the two there half each."""
    n = len(data)

    def median_pullback(dy: Any) -> Any:
        return (
            at_ranks(dy, data, (n // 2,)) if n % 2 else
            at_ranks(dy / 2.0, data, (n // 2 - 1, n // 2))
        )

    return statistics.median(data), median_pullback


@rrule(statistics.median_low, domain=_means, kink="ties keep their order")
def median_low(data: Any) -> Any:
    """The item in the middle, or the lesser of two, receives ``dy``."""

    def median_low_pullback(dy: Any) -> Any:
        return at_ranks(dy, data, ((len(data) - 1) // 2,))

    return statistics.median_low(data), median_low_pullback


@rrule(statistics.median_high, domain=_means, kink="ties keep their order")
def median_high(data: Any) -> Any:
    """The item in the middle, or the greater of two, receives ``dy``."""

    def median_high_pullback(dy: Any) -> Any:
        return at_ranks(dy, data, (len(data) // 2,))

    return statistics.median_high(data), median_high_pullback


@rrule(statistics.geometric_mean, domain=_positive)
def geometric_mean(data: Any) -> Any:
    """``dx = dy y / (n x)``."""
    y = statistics.geometric_mean(data)

    def geometric_mean_pullback(dy: Any) -> Any:
        return like([dy * y / (len(data) * x) for x in data], data)

    return y, geometric_mean_pullback


@rrule(statistics.harmonic_mean, domain=_positive)
def harmonic_mean(data: Any) -> Any:
    """``dx = dy y**2 / (n x**2)``."""
    y = statistics.harmonic_mean(data)

    def harmonic_mean_pullback(dy: Any) -> Any:
        return like([dy * y * y / (len(data) * x * x) for x in data], data)

    return y, harmonic_mean_pullback

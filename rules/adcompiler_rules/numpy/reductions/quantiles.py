"""Rules of medians, quantiles and percentiles, in the numbers and in ``q``."""

from __future__ import annotations

import inspect

import numpy as np

from adcompiler.rulekit import Call, call, facts, non_differentiable, rrule
from adcompiler_rules.kernels.reductions import (
    quantile_adjoint,
    quantile_slope,
    quantile_slope_adjoint,
    quantile_tangent,
    weighted_places,
)
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.numpy.reductions.statistics import (
    MISSING, separated, with_missing, with_one_number,
)

METHODS = (
    "linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased",
    "normal_unbiased", "interpolated_inverted_cdf", "inverted_cdf", "averaged_inverted_cdf",
    "closest_observation",
)
WEIGHTS = "weights" in inspect.signature(np.quantile).parameters  # NumPy 2


def median_samples(rng: np.random.Generator) -> list[Call]:
    """Return calls with odd and even numbers of elements and every kind of axis."""
    x = separated(rng, 2, 3, 4)
    return [
        call(x), call(x, axis=0), call(x, axis=1), call(x, axis=-1, keepdims=True),
        call(x, axis=(0, 1)), call(x, axis=(2, 0), keepdims=True), call(x, keepdims=True),
        call(x[0, 0]), call(x[0, :, 0]), call(x[0, :, 0], 0), call(1.5), call([0.5, 2.5, 1.0]),
        call(x[:, ::2].T, 1), call(np.array([0.7])),
    ]


@rrule(np.median, wrt=("a",), domain=median_samples,
       kink="elements that tie: one of them takes the derivative")
def median_rule(a, axis=None, *, keepdims=False):
    y = np.median(a, axis=axis, keepdims=keepdims)

    def median_pullback(dy):
        return like(quantile_adjoint(dy, a, 0.5, axis, keepdims, "linear", False), a)

    return y, median_pullback


def quantile_samples(rng: np.random.Generator) -> list[Call]:
    """Return calls with every method, every kind of axis, and one or several quantiles."""
    x = separated(rng, 2, 3, 4)
    q = np.array([0.1, 0.41, 0.95])
    return [
        call(x, 0.3), call(x, q), call(x, q, axis=1), call(x, 0.02, axis=-1), call(x, 0.97, 0),
        call(x, q.reshape(3, 1), axis=(0, 2), keepdims=True), call(x, 0.7, keepdims=True),
        call(x[0, 0], 0.33, 0), call([0.5, 2.5, 1.0], 0.2), call(np.array([0.7]), 0.3),
        call(x, [0.2, 0.55], axis=1), *[call(x[0, 0], 0.37, method=method) for method in METHODS],
        *[call(x, q, axis=-1, method=method) for method in METHODS],
        *(weighted(x, q) if WEIGHTS else ()),
    ]


def weighted(x: np.ndarray, q: np.ndarray) -> list[Call]:
    """Return calls with weights, along one axis or for every number."""
    ones, some = np.ones(np.shape(x)), np.array([1.0, 3.0, 0.0, 2.0])
    return [
        call(x, q, axis=-1, weights=some, method="inverted_cdf"),
        call(x, 0.37, axis=2, weights=some * ones, method="inverted_cdf", keepdims=True),
        call(x, q, weights=some * ones, method="inverted_cdf"),
        call(x, 0.6, axis=(2, 0), weights=ones[:, 0, :].T, method="inverted_cdf"),
    ]


def percentile_samples(rng: np.random.Generator) -> list[Call]:
    """Return the calls of ``quantile_samples`` in percent."""
    return [call(c.args[0], np.multiply(c.args[1], 100.0), *c.args[2:], **c.kwargs)
            for c in quantile_samples(rng)]


TIED = "elements that tie: one of them takes the derivative; in q, at a rank, that from one side"


def in_q(dy, v, a, q, axis, keepdims, method, skip_nan):
    """Return the cotangent of ``q``: the sum of ``dy`` times slopes over what belongs to each."""
    rates = quantile_slope(v, a, q, axis, keepdims, method, skip_nan) * dy
    return np.sum(rates, tuple(range(np.ndim(q), np.ndim(rates))))


@rrule(np.quantile, wrt=("a", "q"), domain=quantile_samples, kink=TIED)
def quantile_rule(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        y = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims)
        places = None
    else:
        y = np.quantile(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights)
        places = weighted_places(y, a, axis, weights)

    def quantile_pullback(dy):
        def a_cotangent():
            if places is not None:
                return like(take_adjoint(dy, np.shape(a), places, None), a)
            return like(quantile_adjoint(dy, a, q, axis, keepdims, method, False), a)

        def q_cotangent():
            if places is not None:
                return like(np.zeros(np.shape(q)), q)
            return like(in_q(dy, a, a, q, axis, keepdims, method, False), q)

        return a_cotangent, q_cotangent

    return y, quantile_pullback


@rrule(np.percentile, wrt=("a", "q"), domain=percentile_samples, kink=TIED)
def percentile_rule(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        y = np.percentile(a, q, axis=axis, method=method, keepdims=keepdims)
        places = None
    else:
        y = np.percentile(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights)
        places = weighted_places(y, a, axis, weights)

    def percentile_pullback(dy):
        def a_cotangent():
            if places is not None:
                return like(take_adjoint(dy, np.shape(a), places, None), a)
            fraction = np.true_divide(q, 100.0)
            return like(quantile_adjoint(dy, a, fraction, axis, keepdims, method, False), a)

        def q_cotangent():
            if places is not None:
                return like(np.zeros(np.shape(q)), q)
            fraction = np.true_divide(q, 100.0)
            return like(in_q(dy, a, a, fraction, axis, keepdims, method, False) / 100.0, q)

        return a_cotangent, q_cotangent

    return y, percentile_pullback


@rrule(np.nanmedian, wrt=("a",), domain=with_one_number, kink=MISSING)
def nanmedian_rule(a, axis=None, *, keepdims=False):
    y = np.nanmedian(a, axis=axis, keepdims=keepdims)

    def nanmedian_pullback(dy):
        return like(quantile_adjoint(dy, a, 0.5, axis, keepdims, "linear", True), a)

    return y, nanmedian_pullback


def missing_quantile_samples(rng: np.random.Generator) -> list[Call]:
    """Return quantiles of arrays with NaN, by every method."""
    calls = with_missing(rng)
    return [
        *[call(c.args[0], 0.317, *c.args[1:], **c.kwargs) for c in calls],
        *[call(c.args[0], [0.113, 0.787], *c.args[1:], **c.kwargs) for c in calls],
        *[call(calls[0].args[0], 0.37, axis=-1, method=method) for method in METHODS],
    ]


@rrule(np.nanquantile, wrt=("a", "q"), domain=missing_quantile_samples, kink=MISSING)
def nanquantile_rule(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        y = np.nanquantile(a, q, axis=axis, method=method, keepdims=keepdims)
        places = None
    else:
        y = np.nanquantile(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights)
        places = weighted_places(y, a, axis, weights)

    def nanquantile_pullback(dy):
        def a_cotangent():
            if places is not None:
                return like(take_adjoint(dy, np.shape(a), places, None), a)
            return like(quantile_adjoint(dy, a, q, axis, keepdims, method, True), a)

        def q_cotangent():
            if places is not None:
                return like(np.zeros(np.shape(q)), q)
            return like(in_q(dy, a, a, q, axis, keepdims, method, True), q)

        return a_cotangent, q_cotangent

    return y, nanquantile_pullback


@rrule(np.nanpercentile, wrt=("a", "q"), domain=lambda rng: [
    call(c.args[0], np.multiply(c.args[1], 100.0), *c.args[2:], **c.kwargs)
    for c in missing_quantile_samples(rng)
], kink=MISSING)
def nanpercentile_rule(a, q, axis=None, *, method="linear", keepdims=False, weights=None):
    if weights is None:
        y = np.nanpercentile(a, q, axis=axis, method=method, keepdims=keepdims)
        places = None
    else:
        y = np.nanpercentile(a, q, axis=axis, method=method, keepdims=keepdims, weights=weights)
        places = weighted_places(y, a, axis, weights)

    def nanpercentile_pullback(dy):
        def a_cotangent():
            if places is not None:
                return like(take_adjoint(dy, np.shape(a), places, None), a)
            fraction = np.true_divide(q, 100.0)
            return like(quantile_adjoint(dy, a, fraction, axis, keepdims, method, True), a)

        def q_cotangent():
            if places is not None:
                return like(np.zeros(np.shape(q)), q)
            fraction = np.true_divide(q, 100.0)
            return like(in_q(dy, a, a, fraction, axis, keepdims, method, True) / 100.0, q)

        return a_cotangent, q_cotangent

    return y, nanpercentile_pullback


def helper_samples(rng: np.random.Generator) -> list[Call]:
    """Return arguments of ``quantile_tangent``."""
    x, v = separated(rng, 2, 3, 4), rng.normal(size=(2, 3, 4))
    missing = np.where(x > 1.0, np.nan, x)
    return [
        call(v, x, 0.3, None, False, "linear", False), call(v, x, 0.3, 1, True, "hazen", False),
        call(v, missing, np.array([0.213, 0.487]), (0, 2), True, "linear", True),
    ]


facts(quantile_adjoint, quantile_slope, quantile_slope_adjoint, weighted_places, shares="none")
facts(weighted_places, typed_as=lambda y, *_: np.zeros((1,) * np.ndim(y), int)[()])
non_differentiable(weighted_places)


@rrule(quantile_adjoint, wrt=("dy", "q"), templates=("a",), linear=(0,), domain=lambda rng: [
    call(np.asarray(quantile_tangent(*c.args))[()], *c.args[1:]) for c in helper_samples(rng)
], kink="the derivative in a is 0")
def quantile_adjoint_rule(dy, a, q, axis, keepdims, method, skip_nan):
    da = quantile_adjoint(dy, a, q, axis, keepdims, method, skip_nan)

    def quantile_adjoint_pullback(v):
        def dy_cotangent():
            return like(quantile_tangent(v, a, q, axis, keepdims, method, skip_nan), dy)

        def q_cotangent():
            return like(in_q(dy, v, a, q, axis, keepdims, method, skip_nan), q)

        return dy_cotangent, q_cotangent

    return da, quantile_adjoint_pullback


@rrule(quantile_tangent, wrt=("v", "q"), templates=("a",), linear=(0,), domain=helper_samples,
       kink="the derivative in a is 0")
def quantile_tangent_rule(v, a, q, axis, keepdims, method, skip_nan):
    y = quantile_tangent(v, a, q, axis, keepdims, method, skip_nan)

    def quantile_tangent_pullback(dy):
        def v_cotangent():
            return like(quantile_adjoint(dy, a, q, axis, keepdims, method, skip_nan), v)

        def q_cotangent():
            return like(in_q(dy, v, a, q, axis, keepdims, method, skip_nan), q)

        return v_cotangent, q_cotangent

    return y, quantile_tangent_pullback


@rrule(quantile_slope, wrt=("v",), templates=("a", "q"), linear=(0,), domain=helper_samples,
       kink="the derivative in a and q is 0")
def quantile_slope_rule(v, a, q, axis, keepdims, method, skip_nan):
    y = quantile_slope(v, a, q, axis, keepdims, method, skip_nan)

    def quantile_slope_pullback(dy):
        return like(quantile_slope_adjoint(dy, a, q, axis, keepdims, method, skip_nan), v)

    return y, quantile_slope_pullback


@rrule(quantile_slope_adjoint, wrt=("dy",), templates=("a", "q"), linear=(0,),
       domain=lambda rng: [
    call(np.asarray(quantile_tangent(*c.args))[()], *c.args[1:]) for c in helper_samples(rng)
], kink="the derivative in a and q is 0")
def quantile_slope_adjoint_rule(dy, a, q, axis, keepdims, method, skip_nan):
    da = quantile_slope_adjoint(dy, a, q, axis, keepdims, method, skip_nan)

    def quantile_slope_adjoint_pullback(v):
        return like(quantile_slope(v, a, q, axis, keepdims, method, skip_nan), dy)

    return da, quantile_slope_adjoint_pullback

"""Rules of summaries of samples: means, moments, standardised values, entropy.

They are differentiated by the sample, along one axis or over all of it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from adcompiler.rulekit import Call, call, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import refuse_complex


def over_axes(rng: np.random.Generator) -> list[Call]:
    """Return samples of positive numbers, along every kind of axis."""
    a = rng.uniform(0.5, 2.0, (4, 5))
    return [call(a[0]), call(a), call(a, 1), call(a, axis=None), call(a.T[::2], axis=-1),
            call(a, axis=0, keepdims=True), call(1.5)]


def expanded(value: Any, axis: Any, keepdims: bool) -> Any:
    """Return a reduced value in a shape that meets the unreduced one."""
    return value if keepdims or axis is None else np.expand_dims(value, axis)


def axis_of(a: Any, axis: Any) -> Any:
    """Return the axis of a sample; none of a number, which SciPy takes for a sample of one."""
    return None if np.ndim(a) == 0 else axis


def extent(a: Any, axis: Any) -> Any:
    """Return how many numbers are reduced into one."""
    if isinstance(axis, tuple):
        return math.prod([np.shape(a)[i] for i in axis])
    return np.size(a) if axis is None else np.shape(a)[axis]


# --- means ----------------------------------------------------------------------------------------


@rrule(stats.gmean, wrt=("a",), domain=over_axes)
def gmean_rule(a, axis=0, *, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.gmean(a, axis=axis, keepdims=keepdims)

    def gmean_pullback(dy):
        return project(expanded(y * dy, axis, keepdims) / (extent(a, axis) * a), a)

    return y, gmean_pullback


@rrule(stats.hmean, wrt=("a",), domain=over_axes)
def hmean_rule(a, axis=0, *, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.hmean(a, axis=axis, keepdims=keepdims)

    def hmean_pullback(dy):
        return project(expanded(y * y * dy, axis, keepdims) / (extent(a, axis) * a * a), a)

    return y, hmean_pullback


@rrule(stats.pmean, wrt=("a",), domain=lambda rng: [
    Call((c.args[0], 2.5), {"axis": c.args[1] if len(c.args) > 1 else 0} | c.kwargs)
    for c in over_axes(rng)
])
def pmean_rule(a, p, *, axis=0, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.pmean(a, p, axis=axis, keepdims=keepdims)

    def pmean_pullback(dy):
        ratio = a / expanded(y, axis, keepdims)
        return project(expanded(dy, axis, keepdims) * ratio ** (p - 1.0) / extent(a, axis), a)

    return y, pmean_pullback


@rrule(stats.sem, wrt=("a",), domain=lambda rng: [*over_axes(rng)[:-1], call(
    rng.normal(size=(4, 5)), 1, 0)], kink="nan where all are equal")
def sem_rule(a, axis=0, ddof=1, *, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.sem(a, axis=axis, ddof=ddof, keepdims=keepdims)

    def sem_pullback(dy):
        n = extent(a, axis)
        slope = expanded(dy / y, axis, keepdims) / (n * (n - ddof))
        return project(slope * (a - np.mean(a, axis=axis, keepdims=True)), a)

    return y, sem_pullback


# --- moments --------------------------------------------------------------------------------------


def moment_slope(deviation: Any, order: Any, axis: Any) -> Any:
    """Return the derivative of a central moment in each number, times how many there are."""
    power = deviation ** (order - 1 if order else 0)
    return order * (power - np.mean(power, axis=axis, keepdims=True))


@rrule(stats.moment, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=5), 3), call(rng.normal(size=(4, 5)), 2, 1), call(rng.normal(size=4), 1),
    call(rng.normal(size=(4, 5)), 4, None), call(rng.normal(size=(4, 5)), 3, 0, center=0.3),
    call(rng.normal(size=(2, 3, 4)), 3, (0, 2)),
])
def moment_rule(a, order=1, axis=0, *, center=None, keepdims=False):
    refuse_complex(a)
    if np.ndim(order) > 0:
        raise UncoveredError("moment() has a derivative for one order")
    axis = axis_of(a, axis)
    y = stats.moment(a, order, axis, center=center, keepdims=keepdims)

    def moment_pullback(dy):
        if center is None:
            slope = moment_slope(a - np.mean(a, axis=axis, keepdims=True), order, axis)
        else:
            slope = order * (a - center) ** (order - 1 if order else 0)
        return project(expanded(dy, axis, keepdims) * slope / extent(a, axis), a)

    return y, moment_pullback


@rrule(stats.skew, wrt=("a",), domain=lambda rng: [
    *over_axes(rng)[:-1], call(rng.normal(size=(4, 5)), 1, False)], kink="nan where all are equal")
def skew_rule(a, axis=0, bias=True, *, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.skew(a, axis=axis, bias=bias, keepdims=keepdims)

    def skew_pullback(dy):
        n = extent(a, axis)
        factor = 1.0 if bias else math.sqrt((n - 1.0) * n) / (n - 2.0)
        d = a - np.mean(a, axis=axis, keepdims=True)
        second = np.mean(d * d, axis=axis, keepdims=True)
        third = np.mean(d * d * d, axis=axis, keepdims=True)
        slope = moment_slope(d, 3, axis) - 1.5 * third / second * moment_slope(d, 2, axis)
        return project(expanded(dy, axis, keepdims) * slope * factor / (n * second**1.5), a)

    return y, skew_pullback


@rrule(stats.kurtosis, wrt=("a",), domain=lambda rng: [
    *over_axes(rng)[:-1], call(rng.normal(size=(4, 5)), 1, False, False),
], kink="nan where all are equal")
def kurtosis_rule(a, axis=0, fisher=True, bias=True, *, keepdims=False):
    refuse_complex(a)
    axis = axis_of(a, axis)
    y = stats.kurtosis(a, axis=axis, fisher=fisher, bias=bias, keepdims=keepdims)

    def kurtosis_pullback(dy):
        n = extent(a, axis)
        factor = 1.0 if bias else (n * n - 1.0) / ((n - 2.0) * (n - 3.0))
        d = a - np.mean(a, axis=axis, keepdims=True)
        second = np.mean(d * d, axis=axis, keepdims=True)
        fourth = np.mean((d * d) * (d * d), axis=axis, keepdims=True)
        slope = moment_slope(d, 4, axis) - 2.0 * fourth / second * moment_slope(d, 2, axis)
        return project(expanded(dy, axis, keepdims) * slope * factor / (n * second * second), a)

    return y, kurtosis_pullback


@rrule(stats.zscore, wrt=("scores",), domain=lambda rng: [
    call(rng.normal(size=5)), call(rng.normal(size=(4, 5)), 1), call(rng.normal(size=(4, 5)), None),
    call(rng.normal(size=(4, 5)), 0, 1),
], kink="nan where all are equal")
def zscore_rule(scores, axis=0, ddof=0):
    refuse_complex(scores)
    axis = axis_of(scores, axis)
    y = stats.zscore(scores, axis=axis, ddof=ddof)

    def zscore_pullback(dy):
        size = np.std(scores, axis=axis, ddof=ddof, keepdims=True)
        along = np.sum(dy * y, axis=axis, keepdims=True) / (extent(scores, axis) - ddof)
        return project((dy - np.mean(dy, axis=axis, keepdims=True) - y * along) / size, scores)

    return y, zscore_pullback


@rrule(stats.entropy, wrt=("pk", "qk"), domain=lambda rng: [
    call(rng.uniform(0.5, 2.0, 4)), call(rng.uniform(0.5, 2.0, (4, 3))),
    call(rng.uniform(0.5, 2.0, (4, 3)), None, 2.0, 1),
    call(rng.uniform(0.5, 2.0, (4, 3)), rng.uniform(0.5, 2.0, (4, 3))),
    call(rng.uniform(0.5, 2.0, 4), rng.uniform(0.5, 2.0, 4), base=10.0),
])
def entropy_rule(pk, qk=None, base=None, axis=0):
    refuse_complex(pk, qk)
    y = stats.entropy(pk, qk, base, axis)

    def entropy_pullback(dy):
        unit = 1.0 if base is None else np.log(base)
        slope = np.expand_dims(dy, axis) / unit
        whole = np.sum(pk, axis=axis, keepdims=True)
        value = np.expand_dims(y, axis) * unit
        if qk is None:
            return project(slope * (-np.log(pk / whole) - value) / whole, pk), None
        other = np.sum(qk, axis=axis, keepdims=True)
        ratio = pk * other / (qk * whole)
        return (project(slope * (np.log(ratio) - value) / whole, pk),
                project(slope * (1.0 - ratio) / other, qk))

    return y, entropy_pullback

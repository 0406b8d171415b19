"""Rules of NumPy's reductions: sums, products, means, variances, extremes, with axes.

A cotangent of a reduction is spread over the axes that were reduced: those are put back as axes
of size one, unless ``keepdims`` kept them. ``out=`` and positional arguments after it have no rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import Call, alias, call, facts, frule, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler_rules.kernels.reductions import (
    aligned_shape,
    product_of_others,
    product_of_others_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like

TIES = "elements that tie share the derivative evenly"


def over_axes(rng: np.random.Generator) -> list[Call]:
    """Return calls with every kind of axis, of arrays of every kind, numbers and lists."""
    x = rng.normal(size=(2, 3, 4))
    return [
        call(x), call(x, axis=0), call(x, axis=-1), call(x, axis=1, keepdims=True),
        call(x, keepdims=True), call(x, axis=(0, 2)), call(x, axis=(-1, 0), keepdims=True),
        call(x, ()), call(x[0]), call(x[0, 0]), call(x[0, 0], 0), call(x[0, 0], -1, keepdims=True),
        call(x[:, ::2].T, 1), call(x[:, :1], 1), call(x[:1, :, :1]), call(1.5),
        call(np.float64(0.5)),
        call(np.asarray(2.5)), call([0.5, 1.5, -0.3]), call((0.5, 2.5), 0),
        call([[0.5, 1.0]], axis=0),
        call(np.array([1.5])), call(x[0] + 1j * x[1]), call(x[0] + 1j * x[1], axis=1),
    ]


def over_masks(rng: np.random.Generator) -> list[Call]:
    """Return calls with masks of the array's and of a smaller shape."""
    x = rng.normal(size=(3, 4))
    mask = np.array([True, False, True, True])
    full = np.array([[True] * 4, [False, True, False, True], [True, True, False, False]])
    return [call(x, where=mask), call(x, axis=1, where=mask), call(x, axis=0, where=full),
            call(x, axis=1, keepdims=True, where=full), call(x[0], where=mask)]


def over_empty(rng: np.random.Generator) -> list[Call]:
    """Return calls over empty axes, and over others of empty arrays."""
    return [call(np.empty(0)), call(np.empty((0, 3)), axis=0), call(np.empty((3, 0)), axis=0),
            call(np.empty((3, 0)), axis=1, keepdims=True)]


# --- sums -----------------------------------------------------------------------------------------


@rrule(np.sum, wrt=("a", "initial"), linear=(0, 4), domain=lambda rng: [
    *over_axes(rng), *over_masks(rng), *over_empty(rng), call(np.ones(3), initial=2.5),
    call(rng.normal(size=(2, 3)), axis=1, initial=-0.5), call(rng.normal(size=3), dtype=np.float64),
    call(rng.normal(size=(2, 3)), 1, np.float64),
])
def sum_rule(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    y = np.sum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def sum_pullback(dy):
        if np.ndim(a) == 0 and np.ndim(dy) == 0:
            da = dy
        elif axis is None or np.ndim(a) <= 1:
            da = np.full_like(a, dy)
        elif keepdims:
            da = np.broadcast_to(dy, np.shape(a))
        else:
            da = np.broadcast_to(np.expand_dims(dy, axis), np.shape(a))
        if where is not True:
            da = np.where(where, da, 0.0)
        return like(da, a), project(np.sum(dy), initial)

    return y, sum_pullback


@rrule(np.mean, wrt=("a",), linear=(0,), domain=lambda rng: [
    *over_axes(rng), *over_masks(rng), call(np.empty((3, 0)), axis=0),
    call(rng.normal(size=3), dtype=np.float64),
])
def mean_rule(a, axis=None, dtype=None, *, keepdims=False, where=True):
    y = np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)

    def mean_pullback(dy):
        if where is not True:
            mask = np.broadcast_to(where, np.shape(a))
            count = np.count_nonzero(mask, axis=axis, keepdims=True)
            slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
            da = np.where(mask, like(slope / count, slope), 0.0)
        elif np.ndim(a) == 0 and np.ndim(dy) == 0:
            da = dy
        elif axis is None:
            da = np.full_like(a, dy / np.size(a))
        elif np.ndim(a) <= 1:
            da = np.full_like(a, dy * (np.size(dy) / np.size(a)))
        else:
            share = dy * (np.size(dy) / max(np.size(a), 1))
            share = share if keepdims else np.expand_dims(share, axis)
            da = np.broadcast_to(share, np.shape(a))
        return like(da, a)

    return y, mean_pullback


@rrule(np.average, wrt=("a", "weights"), domain=lambda rng: [
    *[c for c in over_axes(rng) if c.args[1:] != ((),)],
    call(rng.normal(size=(2, 3)), weights=rng.uniform(0.5, 1.5, (2, 3))),
    call(rng.normal(size=(2, 3)), 1, rng.uniform(0.5, 1.5, 3)),
    call(rng.normal(size=(2, 3)), -2, rng.uniform(0.5, 1.5, 2), keepdims=True),
    call(rng.normal(size=(2, 3)), axis=0, weights=rng.uniform(0.5, 1.5, (2, 3))),
    call(rng.normal(size=3), weights=[0.5, 1.5, 2.5]), call([0.5, 1.5], None, (1, 3)),
    call(rng.normal(size=(2, 3)), 1, rng.uniform(0.5, 1.5, 3), True),
    call(rng.normal(size=(2, 3)), weights=rng.uniform(0.5, 1.5, (2, 3)), returned=True),
    call(rng.normal(size=(2, 3)), 0, returned=True, keepdims=True),
])
def average_rule(a, axis=None, weights=None, returned=False, *, keepdims=False):
    out = np.average(a, axis=axis, weights=weights, returned=returned, keepdims=keepdims)
    y = out[0] if returned else out

    def average_pullback(dout):
        dy = dout[0] if returned else dout
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        if weights is None:
            da = np.broadcast_to(slope * (np.size(dy) / max(np.size(a), 1)), np.shape(a))
            dweights = None
        else:
            shape = aligned_shape(np.shape(weights), np.shape(a), axis)
            w = np.reshape(weights, shape)
            total = np.sum(w if axis is None else np.broadcast_to(w, np.shape(a)),
                           axis=axis, keepdims=axis is not None)
            slope = slope / np.conj(total)
            centre = y if keepdims or axis is None else np.expand_dims(y, axis)
            da = slope * np.conj(w)
            dw = slope * np.conj(a - centre)
            if returned:
                dtotal = dout[1] if keepdims or axis is None else np.expand_dims(dout[1], axis)
                dw = dw + np.broadcast_to(dtotal, np.shape(a))
            dweights = project(np.reshape(project(dw, w), np.shape(weights)), weights)
        return like(da, a), dweights

    return out, average_pullback


# --- variance and standard deviation --------------------------------------------------------------


def with_ddof(rng: np.random.Generator) -> list[Call]:
    """Return calls over axes of at least two elements, with degrees of freedom taken off."""
    x = rng.normal(size=(2, 3, 4))
    return [
        call(x), call(x, axis=0), call(x, axis=-1, ddof=1), call(x, axis=1, keepdims=True),
        call(x, keepdims=True), call(x, axis=(0, 2), ddof=2), call(x[0, 0]),
        call(x[0, 0], 0, ddof=1),
        call(x[:, ::2].T, 1), call([0.5, 1.5, -0.3]), call(x[0] + 1j * x[1]),
        call(x[0] + 1j * x[1], axis=1, ddof=1), call(np.full(3, 1.5)),
        call(np.empty((3, 0)), axis=0),
        *over_masks(rng),
    ]


def with_means(rng: np.random.Generator) -> list[Call]:
    """Return calls with the mean given, or with ``correction`` for ``ddof``: NumPy 2 has them."""
    x = rng.normal(size=(3, 4))
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return []
    return [
        call(x, correction=1), call(x, axis=0, mean=np.mean(x, axis=0, keepdims=True) + 0.25),
        call(x, 1, mean=rng.normal(size=(3, 1)), ddof=1, keepdims=True),
        call(x[0], mean=np.array([0.5])), call(x[0] + 1j * x[1], mean=np.array([0.5 + 0.25j])),
        call(x, mean=np.array([[0.5]]), where=np.array([True, False, True, True])),
    ]


def variance_slope(a: Any, slope: Any, ddof: Any, axis: Any, where: Any, mean: Any) -> Any:
    """Return what goes to ``a`` from a slope of its centred squares, divided by their number."""
    if where is not True:
        mask = np.broadcast_to(where, np.shape(a))
        count = np.count_nonzero(mask, axis=axis, keepdims=True)
        if mean is np._NoValue:
            mean = np.mean(a, axis=axis, keepdims=True, where=where)
        centred = np.where(mask, a - mean, 0.0)
    elif axis is None:
        count = np.size(a)
        centred = a - (np.mean(a) if mean is np._NoValue else mean)
    else:
        count = np.size(a) / np.size(slope) if np.size(slope) else ddof + 1  # of no elements: any
        centred = a - (np.mean(a, axis=axis, keepdims=True) if mean is np._NoValue else mean)
    return like(slope / (count - ddof), slope) * centred


@rrule(np.var, wrt=("a", "mean"), domain=lambda rng: [
    *with_ddof(rng), *with_means(rng), call(1.5), call(np.array([[0.5]])),
])
def var_rule(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=np._NoValue,
    correction=np._NoValue
):
    lost = ddof if correction is np._NoValue else correction
    if mean is np._NoValue:
        y = np.var(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where)
    else:
        y = np.var(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where, mean=mean)

    def var_pullback(dy):
        slope = 2.0 * (dy if keepdims or axis is None else np.expand_dims(dy, axis))
        da = variance_slope(a, slope, lost, axis, where, mean)
        dmean = None if mean is np._NoValue else project(-da, mean)
        return like(da, a), dmean

    return y, var_pullback


@rrule(np.std, wrt=("a", "mean"), domain=lambda rng: [*with_ddof(rng), *with_means(rng)],
       kink="std'(x) = 0 where all elements are equal")
def std_rule(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=np._NoValue,
    correction=np._NoValue
):
    lost = ddof if correction is np._NoValue else correction
    if mean is np._NoValue:
        y = np.std(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where)
    else:
        y = np.std(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where, mean=mean)

    def std_pullback(dy):
        dy = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        size = y if keepdims or axis is None else np.expand_dims(y, axis)
        slope = dy / (size + (size == 0.0))
        da = first_derivative(variance_slope(a, slope, lost, axis, where, mean), dy, size)
        dmean = None if mean is np._NoValue else project(-da, mean)
        return like(da, a), dmean

    return y, std_pullback


# --- extremes -------------------------------------------------------------------------------------


def with_ties(rng: np.random.Generator) -> list[Call]:
    """Return calls with every kind of axis, and arrays whose extremes tie."""
    x = np.array([[1.5, -0.5, 1.5, 0.25], [0.5, 1.25, -0.5, 0.75]])
    return [*over_axes(rng), call(x), call(x, axis=0), call(x, axis=1, keepdims=True)]


def with_initial(rng: np.random.Generator) -> list[Call]:
    """Return the calls with ties, and others with masks and starting values."""
    x = rng.normal(size=(3, 4))
    return [
        *with_ties(rng), call(x, axis=1, initial=0.1), call(x, initial=7.5), call(x, initial=-7.5),
        call(x, where=x > 0.0, initial=0.3), call(x, axis=0, where=x < 0.0, initial=-0.2),
    ]


@rrule(*dict.fromkeys((np.max, np.amax)), wrt=("a",), domain=with_initial, kink=TIES)
def max_rule(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    y = np.max(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def max_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        top = y if keepdims or axis is None else np.expand_dims(y, axis)
        tied = a == top if where is True else (a == top) & where
        count = np.maximum(np.count_nonzero(tied, axis=axis, keepdims=axis is not None), 1)
        return like(np.where(tied, like(slope / count, top), 0.0), a)

    return y, max_pullback


@rrule(*dict.fromkeys((np.min, np.amin)), wrt=("a",), domain=with_initial, kink=TIES)
def min_rule(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    y = np.min(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def min_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        bottom = y if keepdims or axis is None else np.expand_dims(y, axis)
        tied = a == bottom if where is True else (a == bottom) & where
        count = np.maximum(np.count_nonzero(tied, axis=axis, keepdims=axis is not None), 1)
        return like(np.where(tied, like(slope / count, bottom), 0.0), a)

    return y, min_pullback


@rrule(np.ptp, wrt=("a",), domain=with_ties, kink=TIES)
def ptp_rule(a, axis=None, *, keepdims=False):
    y = np.ptp(a, axis=axis, keepdims=keepdims)

    def ptp_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        top = np.max(a, axis=axis, keepdims=True)
        bottom = np.min(a, axis=axis, keepdims=True)
        highs = np.count_nonzero(a == top, axis=axis, keepdims=True)
        lows = np.count_nonzero(a == bottom, axis=axis, keepdims=True)
        above = np.where(a == top, like(slope / highs, top), 0.0)
        below = np.where(a == bottom, like(slope / lows, bottom), 0.0)
        return like(above - below, a)

    return y, ptp_pullback


# --- products -------------------------------------------------------------------------------------


def with_zeros(rng: np.random.Generator) -> list[Call]:
    """Return calls with every kind of axis, and with none, one and two zeros per product."""
    x = np.array([[1.5, 0.0, -0.5], [0.3, 2.5, 0.7], [0.0, 0.0, 1.5]])
    return [*over_axes(rng), call(x), call(x, axis=0), call(x, axis=1), call(x[0]), call(x[2], 0)]


@rrule(np.prod, wrt=("a", "initial"), domain=lambda rng: [
    *with_zeros(rng), *over_masks(rng), *over_empty(rng),
    call(rng.normal(size=3), initial=2.5), call(np.array([1.5, 0.0]), initial=0.5),
    call(rng.normal(size=(2, 3)), axis=1, initial=2.5, where=np.array([True, False, True])),
    call(rng.normal(size=3) + 1j, initial=0.5), call(rng.normal(size=3), dtype=np.float64),
])
def prod_rule(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True):
    y = np.prod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def prod_pullback(dy):
        factors = np.asarray(a, dtype)
        factors = factors if where is True else np.where(where, factors, 1.0)
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        whole = y if keepdims or axis is None else np.expand_dims(y, axis)
        others = whole / factors if np.all(y) else initial * product_of_others(factors, axis)
        da = slope * np.conj(others)
        if where is not True:
            da = np.where(where, da, 0.0)
        dinitial = np.sum(dy * np.conj(np.prod(factors, axis=axis, keepdims=keepdims)))
        return like(da, a), project(dinitial, initial)

    return y, prod_pullback


facts(product_of_others, shares="none")


@rrule(product_of_others, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=4), None), call(np.array([1.5, 0.0, 0.5, 0.0]), 0),
    call(rng.normal(size=(2, 3, 2)), (0, 2)), call(rng.normal(size=3) + 1j, None),
])
def product_of_others_rule(a, axis):
    y = product_of_others(a, axis)

    def product_of_others_pullback(dy):
        return like(product_of_others_adjoint(dy, a, axis), a)

    return y, product_of_others_pullback


@frule(product_of_others)
def product_of_others_forward(primals, tangents):
    """The matrix of derivatives is symmetric."""
    (a, axis), (da, _) = primals, tangents
    along = np.conj(product_of_others_adjoint(np.conj(da), a, axis))
    return product_of_others(a, axis), along


# --- declarations and methods ---------------------------------------------------------------------

non_differentiable(aligned_shape)

for name in ("sum", "mean", "var", "std", "max", "min", "prod"):
    alias(getattr(np.ndarray, name), getattr(np, name))
if hasattr(np.ndarray, "ptp"):  # NumPy 1
    alias(np.ndarray.ptp, np.ptp)

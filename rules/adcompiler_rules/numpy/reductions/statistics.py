"""Rules of NumPy's reductions that skip NaN, and of covariances."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import Call, call, rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler_rules.kernels.reductions import (
    cumprod_adjoint,
    product_of_others,
)
from adcompiler.runtime.adjoints.shaping import like

MISSING = "NaN has derivative 0"


def separated(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return numbers in random order, no two of which are close."""
    n = int(np.prod(shape))
    return rng.permutation(np.linspace(-2.0, 2.0, n)).reshape(shape)


def with_missing(rng: np.random.Generator) -> list[Call]:
    """Return calls with every kind of axis, of arrays with NaN in some places and with none."""
    x = separated(rng, 2, 3, 4)
    x[0, 1, 2] = x[1, 2, 0] = x[1, 2, 1] = np.nan
    whole = separated(rng, 3, 4)
    return [
        call(x), call(x, axis=0), call(x, axis=-1), call(x, axis=1, keepdims=True),
        call(x, keepdims=True), call(x, axis=(0, 2)), call(x[0, 1]), call(x[0, 1], 0),
        call(x[:, ::2].T, 1), call(whole), call(whole, 1), call([0.5, np.nan, 1.5, 2.5]),
    ]


def with_one_number(rng: np.random.Generator) -> list[Call]:
    """Return the calls with NaN, and one of a number."""
    return [*with_missing(rng), call(1.5), call(np.float64(0.5))]


# --- reductions that skip NaN ---------------------------------------------------------------------


@rrule(np.nansum, wrt=("a", "initial"), domain=lambda rng: [
    *with_one_number(rng), call(np.array([1.5, np.nan]), initial=2.5),
    call(np.array([1.5, np.nan, 0.5]), where=np.array([True, True, False])),
    call(np.array([np.nan, np.nan])), call(np.array([1 + 2j, np.nan])), call(np.empty(0)),
], kink=MISSING)
def nansum_rule(a, axis=None, dtype=None, *, keepdims=False, initial=0, where=True):
    y = np.nansum(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def nansum_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        counted = ~np.isnan(a) if where is True else ~np.isnan(a) & where
        return like(np.where(counted, slope, 0.0), a), project(np.sum(dy), initial)

    return y, nansum_pullback


@rrule(np.nanmean, wrt=("a",), domain=lambda rng: [
    *with_one_number(rng), call(np.array([1.5, np.nan, 0.5]), where=np.array([True, True, False])),
], kink=MISSING)
def nanmean_rule(a, axis=None, dtype=None, *, keepdims=False, where=True):
    y = np.nanmean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=where)

    def nanmean_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        counted = ~np.isnan(a) if where is True else ~np.isnan(a) & where
        count = np.count_nonzero(counted, axis=axis, keepdims=True)
        return like(np.where(counted, like(slope / np.maximum(count, 1), slope), 0.0), a)

    return y, nanmean_pullback


def mean_of(a: Any, counted: Any, count: Any, axis: Any, mean: Any) -> Any:
    """Return the mean of the elements that count, unless it is given."""
    if mean is not np._NoValue:
        return mean
    total = np.sum(np.where(counted, a, 0.0), axis=axis, keepdims=True)
    return like(total / np.maximum(count, 1), total)


def with_means(rng: np.random.Generator) -> list[Call]:
    """Return calls with the mean given, or with ``correction`` for ``ddof``: NumPy 2 has them."""
    x = np.array([[1.5, np.nan, 0.5, 2.5], [0.5, 1.0, 2.0, 3.5]])
    if np.lib.NumpyVersion(np.__version__) < "2.0.0":
        return []
    return [call(x, correction=1), call(x, 1, mean=rng.normal(size=(2, 1)), keepdims=True)]


@rrule(np.nanvar, wrt=("a", "mean"), domain=lambda rng: [
    *with_means(rng),
    *with_one_number(rng),
    call(np.array([[1.5, np.nan, 0.5, 2.5], [0.5, 1.0, 2.0, 3.5]]), 1, ddof=1),
    call(np.array([1.5, np.nan, 0.5, 0.7]), where=np.array([True, True, False, True])),
], kink=MISSING)
def nanvar_rule(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=np._NoValue,
    correction=np._NoValue
):
    lost = ddof if correction is np._NoValue else correction
    if mean is np._NoValue:
        y = np.nanvar(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where)
    else:
        y = np.nanvar(
            a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where, mean=mean)

    def nanvar_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        counted = ~np.isnan(a) if where is True else ~np.isnan(a) & where
        count = np.count_nonzero(counted, axis=axis, keepdims=True)
        centred = np.where(counted, a - mean_of(a, counted, count, axis, mean), 0.0)
        da = like(2.0 * slope / np.maximum(count - lost, 1), slope) * centred
        return like(da, a), None if mean is np._NoValue else project(-da, mean)

    return y, nanvar_pullback


@rrule(np.nanstd, wrt=("a", "mean"), domain=lambda rng: [
    *with_means(rng),
    *with_missing(rng)[1:],
    call(np.array([[1.5, np.nan, 0.5, 2.5], [0.5, 1.0, 2.0, 3.5]]), 1, ddof=1),
    call(np.array([1.5, 1.5, np.nan])),
], kink=MISSING + "; nanstd'(x) = 0 where all elements are equal")
def nanstd_rule(
    a, axis=None, dtype=None, *, ddof=0, keepdims=False, where=True, mean=np._NoValue,
    correction=np._NoValue
):
    lost = ddof if correction is np._NoValue else correction
    if mean is np._NoValue:
        y = np.nanstd(a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where)
    else:
        y = np.nanstd(
            a, axis=axis, dtype=dtype, ddof=lost, keepdims=keepdims, where=where, mean=mean)

    def nanstd_pullback(dy):
        dy = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        size = y if keepdims or axis is None else np.expand_dims(y, axis)
        slope = dy / np.where(size == 0.0, 1.0, size)
        counted = ~np.isnan(a) if where is True else ~np.isnan(a) & where
        count = np.count_nonzero(counted, axis=axis, keepdims=True)
        centred = np.where(counted, a - mean_of(a, counted, count, axis, mean), 0.0)
        da = like(slope / np.maximum(count - lost, 1), slope) * centred
        da = first_derivative(da, dy, size)
        return like(da, a), None if mean is np._NoValue else project(-da, mean)

    return y, nanstd_pullback


@rrule(np.nanmax, wrt=("a",), domain=lambda rng: [
    *with_one_number(rng), call(np.array([[1.5, np.nan, 1.5], [0.5, 0.7, np.nan]]), 1),
    call(np.array([1.5, np.nan, 0.7]), initial=3.0),
    call(np.array([1.5, np.nan, 0.7]), initial=1.0),
    call(np.array([1.5, 2.5, 0.7]), where=np.array([True, False, True]), initial=-1.0),
], kink=MISSING + "; elements that tie share the derivative evenly")
def nanmax_rule(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    y = np.nanmax(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def nanmax_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        tied = a == (y if keepdims or axis is None else np.expand_dims(y, axis))
        tied = tied if where is True else tied & where
        count = np.count_nonzero(tied, axis=axis, keepdims=True)
        return like(np.where(tied, like(slope / np.maximum(count, 1), slope), 0.0), a)

    return y, nanmax_pullback


@rrule(np.nanmin, wrt=("a",), domain=lambda rng: [
    *with_one_number(rng), call(np.array([[0.5, np.nan, 0.5], [0.5, 0.7, np.nan]]), 1),
    call(np.array([1.5, np.nan, 0.7]), initial=0.5),
    call(np.array([1.5, np.nan, 0.7]), initial=1.0),
    call(np.array([1.5, 0.5, 0.7]), where=np.array([True, False, True]), initial=3.0),
], kink=MISSING + "; elements that tie share the derivative evenly")
def nanmin_rule(a, axis=None, *, keepdims=False, initial=np._NoValue, where=True):
    y = np.nanmin(a, axis=axis, keepdims=keepdims, initial=initial, where=where)

    def nanmin_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        tied = a == (y if keepdims or axis is None else np.expand_dims(y, axis))
        tied = tied if where is True else tied & where
        count = np.count_nonzero(tied, axis=axis, keepdims=True)
        return like(np.where(tied, like(slope / np.maximum(count, 1), slope), 0.0), a)

    return y, nanmin_pullback


@rrule(np.nanprod, wrt=("a", "initial"), domain=lambda rng: [
    *with_one_number(rng), call(np.array([1.5, np.nan, 0.0, 2.5])),
    call(np.array([[1.5, np.nan, 0.0, 0.0], [0.5, np.nan, 1.5, 2.5]]), axis=1, keepdims=True),
    call(np.array([1.5, np.nan]), initial=2.5), call(np.array([1 + 2j, np.nan, 0.5])),
    call(np.array([1.5, np.nan, 0.5]), where=np.array([True, True, False])),
], kink=MISSING)
def nanprod_rule(a, axis=None, dtype=None, *, keepdims=False, initial=1, where=True):
    y = np.nanprod(a, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)

    def nanprod_pullback(dy):
        counted = ~np.isnan(a) if where is True else ~np.isnan(a) & where
        factors = np.where(counted, a, 1.0)
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        whole = y if keepdims or axis is None else np.expand_dims(y, axis)
        others = whole / factors if np.all(y) else initial * product_of_others(factors, axis)
        dinitial = np.sum(dy * np.conj(np.prod(factors, axis=axis, keepdims=keepdims)))
        return like(counted * (slope * np.conj(others)), a), project(dinitial, initial)

    return y, nanprod_pullback


def missing_scans(rng: np.random.Generator) -> list[Call]:
    """Return scans of arrays with NaN along every kind of axis."""
    x = separated(rng, 2, 3, 4)
    x[0, 1, 2] = x[1, 2, 0] = x[1, 2, 1] = np.nan
    return [call(x), call(x, 0), call(x, axis=-1), call(x[0, 1]), call(x[0, 1], 0),
            call([0.5, np.nan, 1.5]), call(np.array([0.5, np.nan, 0.0, 1.5, 2.5])), call(1.5)]


@rrule(np.nancumsum, wrt=("a",), domain=missing_scans, kink=MISSING)
def nancumsum_rule(a, axis=None, dtype=None):
    y = np.nancumsum(a, axis=axis, dtype=dtype)

    def nancumsum_pullback(dy):
        along = 0 if axis is None else axis
        da = np.flip(np.cumsum(np.flip(dy, along), along), along)
        return like(~np.isnan(a) * np.reshape(da, np.shape(a)), a)

    return y, nancumsum_pullback


@rrule(np.nancumprod, wrt=("a",), domain=missing_scans, kink=MISSING)
def nancumprod_rule(a, axis=None, dtype=None):
    y = np.nancumprod(a, axis=axis, dtype=dtype)

    def nancumprod_pullback(dy):
        along = 0 if axis is None else axis
        clean = np.where(np.isnan(a), 1.0, a)
        factors = np.reshape(clean, -1) if axis is None else clean
        if np.all(y):
            slope = np.flip(dy * np.conj(y), along)
            da = np.flip(np.cumsum(slope, along), along) / np.conj(factors)
        else:
            da = cumprod_adjoint(dy, factors, along)
        return like(~np.isnan(a) * np.reshape(da, np.shape(a)), a)

    return y, nancumprod_pullback


# --- covariance -----------------------------------------------------------------------------------


def covariance_samples(rng: np.random.Generator) -> list[Call]:
    """Return covariances of rows and of columns, of two sets of variables, and weighted ones."""
    x, weights = rng.normal(size=(3, 5)), rng.uniform(0.5, 1.5, 5)
    counts = np.array([1, 3, 0, 2, 1])
    return [
        call(x), call(x.T, rowvar=False), call(x, bias=True), call(x, ddof=2), call(x[0]),
        call(x[:2] + 1j * x[1:]), call(x, x[:1] ** 2), call(x[0], x[1]),
        call(x.T, x.T[:, :2], False), call(x, aweights=weights), call(x, fweights=counts),
        call(x, None, True, True, None, counts),
        call(x, x[0], ddof=0, aweights=weights), call(x, fweights=counts, aweights=weights, ddof=1),
        call(x + 1j * x[::-1], aweights=weights), call([[0.5, 1.5, 0.7], [2.5, 0.3, 1.1]]),
        call(x.T, None, False, aweights=weights), call(x, dtype=np.float64),
    ]


def rows_of(m: Any, rowvar: Any) -> Any:
    """Return variables as the rows of a matrix."""
    if np.ndim(m) == 1:
        return np.expand_dims(m, 0)
    return np.asarray(m) if rowvar else np.transpose(m)


def as_given(rows: Any, m: Any, rowvar: Any) -> Any:
    """Return the cotangent of rows as that of ``m``, which they were made of."""
    if np.ndim(m) == 1:
        return like(np.reshape(rows, np.shape(m)), m)
    return like(rows if rowvar else np.transpose(rows), m)


@rrule(np.cov, wrt=("m", "y", "aweights"), domain=covariance_samples)
def cov_rule(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
):
    """Differentiate ``x @ diag(w) @ x^H / scale``, x the centred observations, one in each column.

    With ``w = fweights * aweights`` the scale is ``sum(w) - ddof * sum(w * aweights) / sum(w)``.
    The weighted rows of the gradient sum to zero as those of x do: centring needs no adjoint.
    """
    out = np.cov(m, y, rowvar, bias, ddof, fweights, aweights, dtype=dtype)

    def cov_pullback(dout):
        first = rows_of(m, rowvar)
        count = np.shape(first)[0]
        x = first if y is None else np.concatenate((first, rows_of(y, rowvar)))
        x = x if dtype is None else x.astype(dtype)
        lost = (0 if bias else 1) if ddof is None else ddof
        slope = np.reshape(dout, (np.shape(x)[0], np.shape(x)[0]))
        both = slope + np.conj(slope).T
        daweights = None
        if fweights is None and aweights is None:
            x = x - np.mean(x, axis=1, keepdims=True)
            dx = like(both @ x / (np.shape(x)[1] - lost), x)
        else:
            repeats = 1.0 if fweights is None else np.asarray(fweights)
            given = np.ones(np.shape(x)[1]) if aweights is None else np.asarray(aweights)
            w = repeats * given
            total = np.sum(w)
            squares = np.sum(w * given) if aweights is not None else total
            scale = total - lost * squares / total
            x = x - np.expand_dims(x @ w / total, 1)
            dx = like(both @ (x * (w / scale)), x)
            if aweights is not None:
                dscale = -np.sum(np.real(np.conj(dout) * out)) / scale
                dw = np.real(np.sum(np.conj(x) * (np.conj(slope).T @ x), 0)) / scale
                dw = dw + dscale * (1.0 + lost * squares / (total * total))
                daweights = like(repeats * (dw - 2.0 * dscale * lost * given / total), aweights)
        if y is None:
            return as_given(dx, m, rowvar), None, daweights
        return as_given(dx[:count], m, rowvar), as_given(dx[count:], y, rowvar), daweights

    return out, cov_pullback

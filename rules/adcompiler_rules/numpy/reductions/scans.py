"""Rules of NumPy's scans: cumulative sums and products along an axis."""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import Call, alias, call, facts, frule, rrule
from adcompiler.runtime import project
from adcompiler_rules.kernels.reductions import cumprod_adjoint, cumprod_curvature, cumprod_tangent
from adcompiler.runtime.adjoints.shaping import like


def along_axes(rng: np.random.Generator) -> list[Call]:
    """Return scans of arrays of every kind along every kind of axis."""
    x = rng.normal(size=(2, 3, 4))
    return [
        call(x), call(x, 0), call(x, axis=-1), call(x, 1), call(x[0, 0]), call(x[0, 0], axis=0),
        call(x[:, ::2].T, 1), call(1.5), call([0.5, 1.5, 2.5]), call(np.empty(0)),
        call(np.empty((0, 3)), axis=1), call(x[0] + 1j * x[1], axis=1), call(np.array([1.5])),
    ]


@rrule(np.cumsum, wrt=("a",), linear=(0,), domain=lambda rng: [
    *along_axes(rng), call(rng.normal(size=3), dtype=np.float64),
])
def cumsum_rule(a, axis=None, dtype=None):
    y = np.cumsum(a, axis=axis, dtype=dtype)

    def cumsum_pullback(dy):
        if axis is None or np.ndim(a) <= 1:
            da = np.reshape(np.cumsum(dy[::-1])[::-1], np.shape(a))
        else:
            da = np.flip(np.cumsum(np.flip(dy, axis), axis), axis)
        return like(da, a)

    return y, cumsum_pullback


@rrule(np.cumprod, wrt=("a",), domain=lambda rng: [
    *along_axes(rng), call(np.array([1.5, 0.0, 2.5, 0.5])), call(np.array([0.0, 1.5, 0.0, 2.5])),
    call(np.array([[0.0, 1.5, 2.0], [0.5, 1.5, 0.0], [0.5, 0.0, 2.0]]), axis=0),
    call(np.array([[1.5, 0.0], [2.5, 0.5]])), call(np.array([1j, 0.0, 2.5 + 1j])),
])
def cumprod_rule(a, axis=None, dtype=None):
    y = np.cumprod(a, axis=axis, dtype=dtype)

    def cumprod_pullback(dy):
        along = 0 if axis is None else axis
        factors = np.reshape(a, -1) if axis is None else a
        if np.all(y):
            slope = np.flip(dy * np.conj(y), along)
            da = np.flip(np.cumsum(slope, along), along) / np.conj(factors)
        else:
            da = cumprod_adjoint(dy, factors, along)
        return like(np.reshape(da, np.shape(a)), a)

    return y, cumprod_pullback


def array_api_scans(rng: np.random.Generator) -> list[Call]:
    """Return scans as the array API has them: the axis must be given for more than one."""
    x = rng.normal(size=(2, 3))
    return [call(x[0]), call(x, axis=0), call(x, axis=-1, include_initial=True),
            call(x[0], include_initial=True), call(np.array([0.0, 1.5, 0.5]), axis=0)]


if hasattr(np, "cumulative_sum"):  # NumPy 2.1
    @rrule(np.cumulative_sum, linear=(0,), domain=array_api_scans)
    def cumulative_sum_rule(x, *, axis=None, dtype=None, include_initial=False):
        y = np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)

        def cumulative_sum_pullback(dy):
            along = 0 if axis is None else axis
            if include_initial:
                tail = np.take(dy, np.arange(1, np.shape(dy)[along]), axis=along)
            else:
                tail = dy
            return like(np.flip(np.cumsum(np.flip(tail, along), along), along), x)

        return y, cumulative_sum_pullback

    @rrule(np.cumulative_prod, domain=array_api_scans)
    def cumulative_prod_rule(x, *, axis=None, dtype=None, include_initial=False):
        y = np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)

        def cumulative_prod_pullback(dy):
            along = 0 if axis is None else axis
            if include_initial:
                tail = np.take(dy, np.arange(1, np.shape(dy)[along]), axis=along)
            else:
                tail = dy
            if np.all(y):
                products = np.cumprod(x, along)
                slope = np.flip(tail * np.conj(products), along)
                dx = np.flip(np.cumsum(slope, along), along) / np.conj(x)
            else:
                dx = cumprod_adjoint(tail, x, along)
            return like(dx, x)

        return y, cumulative_prod_pullback


facts(cumprod_adjoint, shares="none")


@rrule(cumprod_adjoint, wrt=("dy", "a"), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), np.array([1.5, 0.0, 0.5, 0.0]), 0),
    call(rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), 1),
    call(rng.normal(size=3) + 1j, rng.normal(size=3) + 2j, 0),
])
def cumprod_adjoint_rule(dy, a, axis):
    da = cumprod_adjoint(dy, a, axis)

    def cumprod_adjoint_pullback(v):
        return project(cumprod_tangent(v, a, axis), dy), cumprod_curvature(v, a, dy, axis)

    return da, cumprod_adjoint_pullback


@frule(cumprod_adjoint)
def cumprod_adjoint_forward(primals, tangents):
    """Second derivatives commute: what the pullback says of ``v`` holds of a tangent of ``a``."""
    (dy, a, axis), (d_dy, da, _) = primals, tangents
    y = cumprod_adjoint(dy, a, axis)
    if d_dy is None:
        along = cumprod_curvature(da, a, dy, axis)
    elif da is None:
        along = cumprod_adjoint(d_dy, a, axis)
    else:
        along = cumprod_adjoint(d_dy, a, axis) + cumprod_curvature(da, a, dy, axis)
    return y, along


alias(np.ndarray.cumsum, np.cumsum)
alias(np.ndarray.cumprod, np.cumprod)

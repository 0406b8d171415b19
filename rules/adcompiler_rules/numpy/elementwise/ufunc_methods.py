"""Rules of methods of ufuncs: ``reduce``, ``accumulate``, ``reduceat`` and ``at``.

The methods that are other functions (``np.add.reduce`` is ``np.sum``) follow their rules, and
``outer`` is the ufunc of arrays with more axes: the compiler writes them so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.rulekit import Call, call, facts, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler_rules.kernels.reductions import product_of_others
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.kernels.ufunc_methods import (
    carried_back,
    carried_on,
    divided_at,
    hits,
    largest_at,
    multiplied_at,
    places_at,
    segment_counts,
    segments,
    share,
    smallest_at,
    times_before,
)

facts(  # indices have to fit the array, which those of stand-ins do not
    multiplied_at, divided_at, largest_at, smallest_at, typed_as=lambda a, *_: np.array(a))
facts(places_at, times_before, typed_as=lambda *_: np.zeros(1, int))
facts(hits, typed_as=lambda shape, *_: np.zeros((1,) * len(shape), int))

TIES = "elements that tie share the derivative evenly"

# --- reduce ---------------------------------------------------------------------------------------


def reductions(rng: np.random.Generator) -> list[Call]:
    """Return reductions along one axis."""
    x = rng.uniform(0.5, 2.5, (2, 3, 4))
    return [
        call(x), call(x, 1), call(x, axis=-1, keepdims=True), call(x[0, 0]), call(x[:, ::2].T, 1),
        call([0.5, 1.5, 0.7]), call(x[0, :1], 0), call(x[0, 0], keepdims=True),
    ]


def reorderable(rng: np.random.Generator) -> list[Call]:
    """Return reductions along one, several and all axes."""
    x = rng.uniform(0.5, 2.5, (2, 3, 4))
    return [*reductions(rng), call(x, None), call(x, (0, 2)), call(x, axis=None, keepdims=True),
            call(x, (-1, 0), keepdims=True), call(np.array([1.5, 0.5, 1.5]))]


def logarithm_of_sum(ufunc: Any, power: Any) -> None:
    """Register the rule of ``reduce`` of a ufunc that adds under the logarithm."""

    @rrule(ufunc.reduce, wrt=("array",), domain=reorderable, kink="0 where all are -inf")
    def rule(array, axis=0, dtype=None, *, keepdims=False):
        y = ufunc.reduce(array, axis, dtype, keepdims=keepdims)

        def pullback(dy):
            slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
            top = y if keepdims or axis is None else np.expand_dims(y, axis)
            da = slope * power(array - np.where(top == -np.inf, 0.0, top))
            return like(da, array)

        return y, pullback


def extreme_of_numbers(ufunc: Any) -> None:
    """Register the rule of ``reduce`` of an extreme that passes over NaN."""

    @rrule(ufunc.reduce, wrt=("array",), domain=reorderable, kink=TIES)
    def rule(array, axis=0, dtype=None, *, keepdims=False):
        y = ufunc.reduce(array, axis, dtype, keepdims=keepdims)

        def pullback(dy):
            slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
            top = y if keepdims or axis is None else np.expand_dims(y, axis)
            tied = array == top
            count = np.maximum(np.count_nonzero(tied, axis=axis, keepdims=True), 1)
            return like(np.where(tied, like(slope / count, top), 0.0), array)

        return y, pullback


logarithm_of_sum(np.logaddexp, np.exp)
logarithm_of_sum(np.logaddexp2, np.exp2)
extreme_of_numbers(np.fmax)
extreme_of_numbers(np.fmin)


@rrule(np.hypot.reduce, wrt=("array",), domain=reorderable, kink="0 at the origin")
def hypot_reduce_rule(array, axis=0, dtype=None, *, keepdims=False):
    y = np.hypot.reduce(array, axis, dtype, keepdims=keepdims)

    def hypot_reduce_pullback(dy):
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        size = y if keepdims or axis is None else np.expand_dims(y, axis)
        da = np.multiply(slope / (size + (size == 0.0)), array)
        return like(first_derivative(da, slope, size), array)

    return y, hypot_reduce_pullback


# --- accumulate -----------------------------------------------------------------------------------


def scans(rng: np.random.Generator) -> list[Call]:
    """Return scans along every kind of axis, ties among them."""
    x = rng.uniform(0.5, 2.5, (2, 3, 4))
    return [
        call(x), call(x, 1), call(x, axis=-1), call(x[0, 0]), call(x[:, ::2].T, 1),
        call([0.5, 1.5, 0.7]), call(x[0, :1], 0), call(np.empty((0, 3))),
        call(np.array([1.5, 0.5, 2.5, 1.75])),
    ]


def with_ties(rng: np.random.Generator) -> list[Call]:
    """Return the scans, and one in which a new element ties with the largest before."""
    return [*scans(rng), call(np.array([1.5, 1.5, 0.5])), call(np.array([1.5, 2.0, 2.0, 2.5]))]


def scan(ufunc: Any, kept: Any, new: Any, domain: Any, kink: str = "") -> None:
    """Register the rule of ``accumulate`` of a ufunc: ``y[i] = ufunc(y[i - 1], a[i])``.

    ``kept`` and ``new`` are the partial derivatives, of the two arguments and the result.
    """

    @rrule(ufunc.accumulate, wrt=("array",), domain=domain, kink=kink)
    def rule(array: np.ndarray, axis=0, dtype=None):
        y = ufunc.accumulate(array, axis, dtype)

        def pullback(dy):
            x, z = np.moveaxis(array, axis, 0), np.moveaxis(y, axis, 0)
            before, now, after = z[:-1], x[1:], z[1:]
            g = carried_back(np.moveaxis(dy, axis, 0), kept(before, now, after))
            da = np.concatenate((g[:1], np.conj(new(before, now, after)) * g[1:]))
            return like(np.moveaxis(da, 0, axis), array)

        return y, pullback


def below(x: Any) -> Any:
    """Return ``x``, or 0 where it is minus infinity: what that is subtracted from stays so."""
    return np.where(x == -np.inf, 0.0, x)


for extreme in (np.maximum, np.minimum, np.fmax, np.fmin):
    scan(extreme, lambda x, y, out: share(x, y, out), lambda x, y, out: share(y, x, out),
         with_ties, "a new element that ties with the extreme before takes half")
scan(np.logaddexp, lambda x, y, out: np.exp(x - below(out)),
     lambda x, y, out: np.exp(y - below(out)), scans, "0 where both are -inf")
scan(np.logaddexp2, lambda x, y, out: np.exp2(x - below(out)),
     lambda x, y, out: np.exp2(y - below(out)), scans, "0 where both are -inf")
scan(np.hypot, lambda x, y, out: first_derivative(x / (out + (out == 0.0)), 1.0, out),
     lambda x, y, out: first_derivative(y / (out + (out == 0.0)), 1.0, out), scans,
     "0 at the origin")
scan(np.subtract, lambda x, y, out: np.ones_like(out), lambda x, y, out: -np.ones_like(out), scans)
scan(np.divide, lambda x, y, out: 1.0 / y, lambda x, y, out: -out / y, scans)


@rrule(carried_back, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), rng.normal(size=3)),
    call(rng.normal(size=(3, 2)), rng.normal(size=(2, 2))),
    call(rng.normal(size=3) + 1j, rng.normal(size=2) - 0.5j),
])
def carried_back_rule(dy, kept):
    g = carried_back(dy, kept)

    def carried_back_pullback(v):
        h = carried_on(v, kept)
        return like(h, dy), like(np.conj(h[:-1]) * g[1:], kept)

    return g, carried_back_pullback


@rrule(carried_on, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), rng.normal(size=3)),
    call(rng.normal(size=3) + 1j, rng.normal(size=2) - 0.5j),
])
def carried_on_rule(v, kept):
    h = carried_on(v, kept)

    def carried_on_pullback(dh):
        g = carried_back(dh, kept)
        return like(g, v), like(np.conj(h[:-1]) * g[1:], kept)

    return h, carried_on_pullback


# --- reduceat -------------------------------------------------------------------------------------


def cuts(rng: np.random.Generator) -> list[Call]:
    """Return reductions of segments: of one element, of several, and that overlap."""
    x = rng.uniform(0.5, 2.5, (3, 5))
    return [
        call(x[0], [0, 2, 3]), call(x[0], np.array([0, 4, 1, 1, 3])), call(x, [1, 2]),
        call(x, [0, 3, 1], 1), call(x, np.array([2]), axis=-1), call([0.5, 1.5, 2.5], [0, 1]),
        call(np.array([1.5, 0.5, 1.5, 2.5]), [0, 3]),
    ]


@rrule(np.add.reduceat, wrt=("array",), linear=(0,), domain=cuts)
def add_reduceat_rule(array: np.ndarray, indices: Sequence[Any], axis=0, dtype=None):
    shape = np.shape(array)

    def add_reduceat_pullback(dy):
        positions, which, _ = segments(indices, shape[axis])
        return like(take_adjoint(np.take(dy, which, axis), shape, positions, axis), array)

    return np.add.reduceat(array, indices, axis, dtype), add_reduceat_pullback


def others_in_segments(factors, begin, axis):
    """Return, for each factor, the product of the others in its segment, where some may be 0."""
    moved = np.moveaxis(factors, axis, 0)
    end = np.append(begin[1:], len(moved))
    parts = [product_of_others(moved[i:j], 0) for i, j in zip(begin, end, strict=True)]
    return np.moveaxis(np.concatenate(parts), 0, axis)


@rrule(np.multiply.reduceat, wrt=("array",), domain=lambda rng: [
    *cuts(rng), call(np.array([1.5, 0.0, 2.5, 0.0, 0.0, 1.5]), [0, 3]),
])
def multiply_reduceat_rule(array: np.ndarray, indices: Sequence[Any], axis=0, dtype=None):
    shape = np.shape(array)
    y = np.multiply.reduceat(array, indices, axis, dtype)

    def multiply_reduceat_pullback(dy):
        positions, which, begin = segments(indices, shape[axis])
        factors = np.take(array, positions, axis)
        others = (np.take(y, which, axis) / factors if np.all(factors)
                  else others_in_segments(factors, begin, axis))
        slope = np.take(dy, which, axis) * np.conj(others)
        return like(take_adjoint(slope, shape, positions, axis), array)

    return y, multiply_reduceat_pullback


def extremes_of_segments(ufunc: Any) -> None:
    """Register the rule of ``reduceat`` of an extreme."""

    @rrule(ufunc.reduceat, wrt=("array",), domain=cuts, kink=TIES)
    def rule(array: np.ndarray, indices: Sequence[Any], axis=0, dtype=None):
        shape = np.shape(array)
        y = ufunc.reduceat(array, indices, axis, dtype)

        def pullback(dy):
            positions, which, begin = segments(indices, shape[axis])
            tied = np.take(array, positions, axis) == np.take(y, which, axis)
            count = np.take(segment_counts(tied, begin, axis), which, axis)
            slope = np.take(dy, which, axis)
            slope = np.where(tied, like(slope / count, slope), 0.0)
            return like(take_adjoint(slope, shape, positions, axis), array)

        return y, pullback


extremes_of_segments(np.maximum)
extremes_of_segments(np.minimum)

# --- at -------------------------------------------------------------------------------------------


def places(rng: np.random.Generator) -> list[Call]:
    """Return arrays with indices that occur several times, and what is combined with them."""
    a = rng.uniform(0.5, 2.5, (3, 4))
    return [
        call(a[0], [0, 2, 0, -1], rng.uniform(0.5, 2.5, 4)), call(a[0], np.array([1, 1]), 1.5),
        call(a, [0, 2, 2], rng.uniform(0.5, 2.5, (3, 4))),
        call(a, (np.array([0, 1, 0]), np.array([3, 1, 3])), rng.uniform(0.5, 2.5, 3)),
        call(a, slice(1, None), rng.uniform(0.5, 2.5, 4)), call(a, [[0, 1], [1, 1]], a[:1]),
        call(a[0], a[0] > 1.0, 0.5),
    ]


def others_at(a, indices, b):
    """Return, for each factor, the product of what it is multiplied by, where some may be 0."""
    factors = np.broadcast_to(b, np.shape(a[indices]))
    numbers = np.arange(factors.size).reshape(factors.shape)
    others = [
        np.ravel(multiplied_at(a, indices, np.where(numbers == k, 1.0, factors))[indices])[k]
        for k in range(factors.size)
    ]
    return np.array(others).reshape(factors.shape)


@rrule(multiplied_at, wrt=("a", "b"), domain=lambda rng: [
    *places(rng), call(np.array([1.5, 0.0]), [0, 0, 0, 1], np.array([0.5, 0.0, 2.5, 0.0])),
    call(np.array([1.5, 0.5]), [0, 0, 1, 1], np.array([0.0, 0.0, 2.5, 0.0])),
])
def multiplied_at_rule(a, indices, b):
    """Differentiate in ``b`` by the products of the other factors, zeros among them counted."""
    y = multiplied_at(a, indices, b)

    def multiplied_at_pullback(dy):
        da = multiplied_at(dy, indices, np.conj(b))
        others = y[indices] / b if np.all(b) else others_at(a, indices, b)
        return project(da, a), project(dy[indices] * np.conj(others), b)

    return y, multiplied_at_pullback


@rrule(divided_at, wrt=("a", "b"), domain=places)
def divided_at_rule(a, indices, b):
    y = divided_at(a, indices, b)

    def divided_at_pullback(dy):
        da = divided_at(dy, indices, np.conj(b))
        return project(da, a), project(-dy[indices] * np.conj(y[indices] / b), b)

    return y, divided_at_pullback


def spaced(rng: np.random.Generator, b: Any) -> Any:
    """Return numbers like ``b`` that lie apart, so that differences meet no tie of two of them."""
    return (0.58 + 0.17 * rng.permutation(np.size(b))).reshape(np.shape(b))


def extreme_at(function: Any) -> None:
    """Register the rule of what ``at`` makes of an extreme."""

    @rrule(function, wrt=("a", "b"), domain=lambda rng: [
        *(call(c.args[0], c.args[1], spaced(rng, c.args[2])) for c in places(rng)),
        call(np.array([0.5, 2.0]), [0, 1, 1], np.array([0.75, 2.0, 1.5])),
    ], kink=TIES)
    def rule(a, indices, b):
        y = function(a, indices, b)

        def pullback(dy):
            chosen = np.asarray(b, y.dtype) == y[indices]
            count = (a == y) + hits(np.shape(a), indices, chosen)
            slope = like(dy / np.maximum(count, 1), dy)
            da = np.where(a == y, slope, 0.0)
            return project(da, a), project(np.where(chosen, slope[indices], 0.0), b)

        return y, pullback


extreme_at(largest_at)
extreme_at(smallest_at)

non_differentiable(hits, places_at, segment_counts, segments, share, times_before)
non_differentiable(*(
    getattr(ufunc, method)
    for ufunc in (np.logical_and, np.logical_or, np.logical_xor, np.bitwise_and, np.bitwise_or,
                  np.bitwise_xor, np.gcd, np.lcm, np.equal, np.not_equal, np.less, np.greater,
                  np.less_equal, np.greater_equal)
    for method in ("reduce", "accumulate", "reduceat")
))

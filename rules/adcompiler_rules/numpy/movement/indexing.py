"""Rules for NumPy functions that select or sort elements. Plain ``x[i]`` is the compiler's own."""

from collections.abc import Sequence
from typing import Any
import numpy as np

from adcompiler.rulekit import alias, call, non_differentiable, rrule
from adcompiler_rules.kernels.gathering import (
    first_positions, permute_adjoint, take_adjoint, take_along_axis_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.kernels.shaping import like_each

# --- selection ------------------------------------------------------------------------------------


@rrule(np.take, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=5), [0, 2, 2]),
    call(rng.normal(size=5), 3),
    call(rng.normal(size=(2, 3)), [[0, -1], [5, 0]]),
    call(rng.normal(size=(2, 3)), [[0, -1], [1, 0]], axis=1),
    call(rng.normal(size=(2, 3, 4)), -1, axis=-2),
    call(rng.normal(size=(2, 3)), np.array([7, -5, 4]), axis=1, mode="wrap"),
    call(rng.normal(size=(2, 3)), np.array([7, -5, 1]), axis=1, mode="clip"),
    call(rng.normal(size=(2, 3)), np.zeros(0, int), axis=0),
    call(rng.normal(size=(4, 6))[::2, ::3], [1, 1], axis=0),
    call(0.5, 0),
    call([0.5, 1.5], [1, 1]),
])
def take(a, indices, axis=None, *, mode="raise"):
    a_shape = np.shape(a)

    def take_pullback(dy):
        return like(take_adjoint(dy, a_shape, indices, axis, mode), a)

    return np.take(a, indices, axis=axis, mode=mode), take_pullback


@rrule(np.take_along_axis, wrt=("arr",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.array([[0, 0], [2, -1]]), 1),
    call(rng.normal(size=(2, 3)), np.array([[1, 0, 1]]), axis=0),
    call(rng.normal(size=(2, 3)), np.array([[2, 0]]), axis=-1),
    call(rng.normal(size=(1, 3)), np.array([[2, 0], [2, 1]]), axis=1),
    call(rng.normal(size=(2, 3)), np.array([5, 0, 0]), axis=None),
])
def take_along_axis(arr: np.ndarray, indices: np.ndarray, axis=-1):
    arr_shape = np.shape(arr)

    def take_along_axis_pullback(dy):
        return take_along_axis_adjoint(dy, arr_shape, indices, axis)

    return np.take_along_axis(arr, indices, axis=axis), take_along_axis_pullback


@rrule(np.compress, wrt=("a",), linear=(1,), domain=lambda rng: [
    call([True, False, True], rng.normal(size=4)),
    call([0, 1], rng.normal(size=(2, 3))),
    call(np.array([False, True, True]), rng.normal(size=(2, 3)), axis=-1),
    call([False, False], rng.normal(size=(2, 3)), axis=0),
    call([True], [0.5, 1.5]),
])
def compress(condition: Sequence[Any], a, axis=None):
    a_shape = np.shape(a)

    def compress_pullback(dy):
        return like(take_adjoint(dy, a_shape, np.flatnonzero(condition), axis), a)

    return np.compress(condition, a, axis=axis), compress_pullback


@rrule(np.ndarray.compress, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=4), [True, False, True]),
    call(rng.normal(size=(2, 3)), np.array([False, True, True]), axis=1),
])
def compress_method(x: np.ndarray, condition: np.ndarray, axis=None):
    x_shape = x.shape

    def compress_pullback(dy):
        return take_adjoint(dy, x_shape, np.flatnonzero(condition), axis)

    return x.compress(condition, axis=axis), compress_pullback


@rrule(np.extract, wrt=("arr",), linear=(1,), domain=lambda rng: [
    call(np.array([[True, False, True], [False, False, True]]), rng.normal(size=(2, 3))),
    call([1, 0, 1], rng.normal(size=3)),
    call([False, False], [0.5, 1.5]),
])
def extract(condition, arr):
    arr_shape = np.shape(arr)

    def extract_pullback(dy):
        return like(take_adjoint(dy, arr_shape, np.flatnonzero(condition), None), arr)

    return np.extract(condition, arr), extract_pullback


# --- order ----------------------------------------------------------------------------------------


def _spread(rng, *shape):
    """Return numbers in random order, no two of them close."""
    return rng.permutation(np.linspace(-2.0, 3.0, int(np.prod(shape)))).reshape(shape)


@rrule(np.sort, wrt=("a",), primal_note="sorts the positions, then takes the elements in order",
       kink="of equal elements, each gets the cotangent of the place that it was sorted to",
       domain=lambda rng: [
    call(_spread(rng, 5)),
    call(_spread(rng, 3, 4)),
    call(_spread(rng, 3, 4), axis=0, kind="stable"),
    call(_spread(rng, 2, 3, 4), -2),
    call(_spread(rng, 3, 4), axis=None),
    call(np.zeros((0, 3)), axis=0),
    call([2.5, 0.5, 1.5]),
])
def sort(a, axis=-1, kind=None):
    a_shape = np.shape(a)
    permutation = np.argsort(a, axis=axis, kind=kind)
    if axis is None:
        y = np.take(a, permutation)
    else:
        y = np.take_along_axis(np.asarray(a), permutation, axis)

    def sort_pullback(dy):
        return like(permute_adjoint(dy, permutation, axis, a_shape), a)

    return y, sort_pullback


@rrule(np.partition, wrt=("a",),
       kink="of equal elements, the first in one order matches the first in the other",
       domain=lambda rng: [
    call(_spread(rng, 7), 3),
    call(_spread(rng, 3, 4), [0, 2]),
    call(_spread(rng, 3, 4), 1, axis=0),
    call(_spread(rng, 3, 4), -3, axis=None),
    call([2.5, 0.5, 1.5], 1),
])
def partition(a: np.ndarray, kth, axis=-1, kind="introselect"):
    """The i-th smallest elements of ``a`` and of ``y`` are the same element."""
    a_shape = np.shape(a)
    y = np.partition(a, kth, axis=axis, kind=kind)

    def partition_pullback(dy):
        permutation = np.argsort(a, axis=axis)
        ordered = np.take_along_axis(dy, np.argsort(y, axis=axis), axis)
        return like(permute_adjoint(ordered, permutation, axis, a_shape), a)

    return y, partition_pullback


@rrule(np.unique, wrt=("ar",),
       kink="of equal elements, the first one gets the whole cotangent",
       domain=lambda rng: [
    call(_spread(rng, 5)),
    call(_spread(rng, 3, 4)),
    call(_spread(rng, 3, 4), axis=0),
    call(_spread(rng, 3, 4), axis=-1),
    call(_spread(rng, 5), return_index=True, return_counts=True),
    call([2.5, 0.5, 1.5]),
])
def unique(
    ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True
):
    ar_shape = np.shape(ar)
    several = return_index or return_inverse or return_counts

    def unique_pullback(dy):
        dvalues = dy[0] if several else dy
        first = first_positions(ar, axis, equal_nan)
        return like(take_adjoint(dvalues, ar_shape, first, axis), ar)

    return np.unique(
        ar, return_index=return_index, return_inverse=return_inverse,
        return_counts=return_counts, axis=axis, equal_nan=equal_nan,
    ), unique_pullback


# --- counting with weights ------------------------------------------------------------------------


@rrule(np.bincount, wrt=("weights",), linear=(1,), domain=lambda rng: [
    call(np.array([0, 2, 2, 5]), rng.normal(size=4)),
    call([1, 1, 0], weights=rng.normal(size=3), minlength=7),
    call([1, 1, 0], [0.5, 1.5, 2.5]),
    call(np.array([0, 2])),
])
def bincount(x: np.ndarray, weights=None, minlength=0):
    def bincount_pullback(dy):
        return None if weights is None else like(np.take(dy, x), weights)

    return np.bincount(x, weights=weights, minlength=minlength), bincount_pullback


@rrule(np.ix_, wrt=("args",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=2), rng.normal(size=3)), call(rng.normal(size=4)),
    call(rng.normal(size=2), [0, 2], np.array([True, False, True])),
    call(rng.normal(size=0), rng.normal(size=2)),
])
def ix_rule(*args):
    def ix_pullback(dy):  # of masks, the result has the positions
        return like_each([
            np.ravel(one) if np.size(one) == np.size(x) else np.zeros(np.shape(x))
            for one, x in zip(dy, args, strict=True)
        ], args)

    return np.ix_(*args), ix_pullback


# --- methods, and functions whose results are positions or counts ---------------------------------

alias(np.ndarray.take, np.take)

non_differentiable(
    np.argsort, np.argpartition, np.lexsort, np.searchsorted, np.digitize, np.nonzero,
    np.flatnonzero, np.argwhere, np.count_nonzero, np.indices, np.tril_indices,
    np.triu_indices, np.tril_indices_from, np.triu_indices_from, np.diag_indices,
    np.diag_indices_from, np.mask_indices, np.unravel_index, np.ravel_multi_index,
    np.isin, np.ndarray.argsort, np.ndarray.argpartition,
    np.ndarray.searchsorted, np.ndarray.nonzero,
)

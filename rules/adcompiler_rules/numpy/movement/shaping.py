"""Rules for NumPy functions that change the shape of an array or the order of its axes."""

import numpy as np

from adcompiler.rulekit import alias, call, non_differentiable, rrule
from adcompiler.runtime import project
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler.runtime.adjoints.shaping import (
    copy_as_laid_out, in_place_of, like, read_order, reshape_view,
)
from adcompiler_rules.kernels.shaping import (
    inverse_permutation, like_each, ravel_positions, rolled_to,
)

# --- shape ----------------------------------------------------------------------------------------


@rrule(np.reshape, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), (2, 6)),
    call(rng.normal(size=(3, 4)), -1),
    call(rng.normal(size=(3, 4)).T, (2, -1), order="F"),
    call(rng.normal(size=(3, 4)), (6, 2), order="A"),
    call(rng.normal(size=(0, 4)), (2, 0)),
    call(rng.normal(size=(4, 6))[::2, ::3], (4,)),
    call(rng.normal(size=4) + 1j, (2, 2)),
    call(0.5, (1, 1)),
    call(np.float64(0.5), 1),
    call([[0.5, 1.5], [2.5, 3.5]], 4),
])
def reshape(a, shape, order="C"):
    a_shape = np.shape(a)
    memory = order if order != "A" else read_order(a, order)

    def reshape_pullback(dy):
        return like(np.reshape(dy, a_shape, order=memory), a)

    return np.reshape(a, shape, order=order), reshape_pullback


@rrule(np.ndarray.reshape, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), 2, 6),
    call(rng.normal(size=(3, 4)), (2, -1)),
    call(rng.normal(size=(3, 4)), -1),
    call(rng.normal(size=(3, 4)).T, 6, 2, order="F"),
    call(rng.normal(size=(3, 4)), 6, 2, order="A"),
])
def reshape_method(x: np.ndarray, *shape, order="C"):
    x_shape = x.shape
    memory = order if order != "A" else read_order(x, order)

    def reshape_pullback(dy):
        return np.reshape(dy, x_shape, order=memory)

    return x.reshape(*shape, order=order), reshape_pullback


@rrule(copy_as_laid_out, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4))), call(rng.normal(size=(3, 4))[::-1, ::2]),
    call(rng.normal(size=(0, 4))),
])
def copy_as_laid_out_rule(x):
    def copy_as_laid_out_pullback(dy):
        return dy

    return copy_as_laid_out(x), copy_as_laid_out_pullback


@rrule(in_place_of, wrt=("new",), templates=("old",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros((2, 3))),
    call(rng.normal(size=(2, 3)), np.zeros((3, 2)).T),
    call(rng.normal(size=(2, 3)), np.zeros((2, 6))[:, ::2]),
])
def in_place_of_rule(new, old):
    def in_place_of_pullback(dy):
        return dy

    return in_place_of(new, old), in_place_of_pullback


@rrule(reshape_view, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4)), "line 1", 2, 6),
    call(rng.normal(size=(3, 4)).T, "line 1", (6, 2), order="F"),
    call(rng.normal(size=(3, 4)), "line 1", -1),
    call(rng.normal(size=(3, 4)), "line 1"),
    call(rng.normal(size=(3, 4)).T, "line 1", order="A"),
])
def reshape_view_rule(x, where, *shape, order="C"):
    x_shape = x.shape
    memory = order if order == "C" or order == "F" else read_order(x, "A")

    def reshape_view_pullback(dy):
        return np.reshape(dy, x_shape, order=memory)

    return reshape_view(x, where, *shape, order=order), reshape_view_pullback


@rrule(np.ravel, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4))),
    call(rng.normal(size=(3, 4)), order="F"),
    call(rng.normal(size=(3, 4)), order="A"),
    call(rng.normal(size=(3, 4)), "K"),
    call(rng.normal(size=(0, 4))),
    call(0.5),
    call([[0.5, 1.5], [2.5, 3.5]], order="K"),
])
def ravel(a, order="C"):
    a_shape = np.shape(a)

    def ravel_pullback(dy):
        if order == "C" or order == "F":
            da = np.reshape(dy, a_shape, order=order)
        else:
            da = take_adjoint(dy, a_shape, ravel_positions(a, order), None)
        return like(da, a)

    return np.ravel(a, order=order), ravel_pullback


@rrule(np.ndarray.flatten, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 4))),
    call(rng.normal(size=(3, 4)), "F"),
    call(rng.normal(size=(3, 4)), order="K"),
    call(rng.normal(size=(3, 4)), order="A"),
])
def flatten(x: np.ndarray, order="C"):
    x_shape = x.shape

    def flatten_pullback(dy):
        if order == "C" or order == "F":
            dx = np.reshape(dy, x_shape, order=order)
        else:
            dx = take_adjoint(dy, x_shape, ravel_positions(x, order), None)
        return dx

    return x.flatten(order=order), flatten_pullback


@rrule(np.squeeze, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(1, 3, 1))),
    call(rng.normal(size=(1, 3, 1)), axis=-1),
    call(rng.normal(size=(1, 3, 1)), (0, 2)),
    call(rng.normal(size=(1, 1))),
    call(rng.normal(size=(1, 0))),
    call([[0.5, 1.5]]),
])
def squeeze(a, axis=None):
    a_shape = np.shape(a)

    def squeeze_pullback(dy):
        return like(np.reshape(dy, a_shape), a)

    return np.squeeze(a, axis=axis), squeeze_pullback


@rrule(np.expand_dims, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), 0),
    call(rng.normal(size=(2, 3)), axis=-2),
    call(rng.normal(size=(2, 3)), (0, -1)),
    call(0.5, 0),
    call([0.5, 1.5], 1),
])
def expand_dims(a, axis):
    a_shape = np.shape(a)

    def expand_dims_pullback(dy):
        return like(np.reshape(dy, a_shape), a)

    return np.expand_dims(a, axis), expand_dims_pullback


def _promoted(rng):
    return [
        call(rng.normal(size=3)),
        call(rng.normal(size=(2, 3))),
        call(rng.normal(size=(2, 1, 3, 2))),
        call(0.5),
        call([0.5, 1.5]),
        call(rng.normal(size=3), 0.5, rng.normal(size=(1, 0))),
    ]


@rrule(np.atleast_1d, wrt=("arys",), linear=(0,), domain=_promoted)
def atleast_1d(*arys):
    def atleast_1d_pullback(dy):
        return like_each(dy if len(arys) > 1 else (dy,), arys)

    return np.atleast_1d(*arys), atleast_1d_pullback


@rrule(np.atleast_2d, wrt=("arys",), linear=(0,), domain=_promoted)
def atleast_2d(*arys):
    def atleast_2d_pullback(dy):
        return like_each(dy if len(arys) > 1 else (dy,), arys)

    return np.atleast_2d(*arys), atleast_2d_pullback


@rrule(np.atleast_3d, wrt=("arys",), linear=(0,), domain=_promoted)
def atleast_3d(*arys):
    def atleast_3d_pullback(dy):
        return like_each(dy if len(arys) > 1 else (dy,), arys)

    return np.atleast_3d(*arys), atleast_3d_pullback


# --- order of axes --------------------------------------------------------------------------------


@rrule(np.transpose, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4))),
    call(rng.normal(size=(2, 3, 4)), (1, 2, 0)),
    call(rng.normal(size=(2, 3, 4)), axes=[-1, 0, -2]),
    call(rng.normal(size=(4, 6))[::2, ::3]),
    call(rng.normal(size=(0, 2))),
    call(rng.normal(size=3), (0,)),
    call([[0.5, 1.5, 2.5]]),
    call(0.5),
])
def transpose(a, axes=None):
    def transpose_pullback(dy):
        back = None if axes is None else inverse_permutation(axes)
        return like(np.transpose(dy, back), a)

    return np.transpose(a, axes=axes), transpose_pullback


@rrule(np.ndarray.transpose, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4))),
    call(rng.normal(size=(2, 3, 4)), None),
    call(rng.normal(size=(2, 3, 4)), 1, 2, 0),
    call(rng.normal(size=(2, 3, 4)), (-1, 0, -2)),
    call(rng.normal(size=3), 0),
])
def transpose_method(x: np.ndarray, *axes):
    def transpose_pullback(dy):
        if len(axes) == 0 or axes[0] is None:
            dx = dy.transpose()
        elif len(axes) == 1 and np.ndim(axes[0]) == 1:
            dx = dy.transpose(inverse_permutation(axes[0]))
        else:
            dx = dy.transpose(inverse_permutation(axes))
        return dx

    return x.transpose(*axes), transpose_pullback


@rrule(np.ndarray.T, linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3))),
    call(rng.normal(size=(2, 3, 4))),
    call(rng.normal(size=3)),
])
def transpose_attribute(x: np.ndarray):
    def transpose_pullback(dy):
        return dy.T

    return x.T, transpose_pullback


@rrule(np.swapaxes, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4)), 0, 2),
    call(rng.normal(size=(2, 3, 4)), -1, -2),
    call(rng.normal(size=(2, 0)), 1, 1),
    call([[0.5, 1.5, 2.5]], 0, 1),
])
def swapaxes(a: np.ndarray, axis1, axis2):
    def swapaxes_pullback(dy):
        return like(np.swapaxes(dy, axis1, axis2), a)

    return np.swapaxes(a, axis1, axis2), swapaxes_pullback


@rrule(np.moveaxis, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4)), 0, -1),
    call(rng.normal(size=(2, 3, 4)), (0, 1), (-1, 0)),
    call(rng.normal(size=(2, 3, 4)), source=[2], destination=[0]),
    call([[0.5, 1.5, 2.5]], 0, 1),
])
def moveaxis(a: np.ndarray, source, destination):
    def moveaxis_pullback(dy):
        return like(np.moveaxis(dy, destination, source), a)

    return np.moveaxis(a, source, destination), moveaxis_pullback


@rrule(np.rollaxis, wrt=("a",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4)), 2),
    call(rng.normal(size=(2, 3, 4)), 0, 3),
    call(rng.normal(size=(2, 3, 4)), -2, start=-1),
    call(rng.normal(size=(2, 3, 4)), 1, 1),
])
def rollaxis(a: np.ndarray, axis, start=0):
    position = rolled_to(axis, start, np.ndim(a))

    def rollaxis_pullback(dy):
        return like(np.moveaxis(dy, position, axis), a)

    return np.rollaxis(a, axis, start=start), rollaxis_pullback


def _matrices(rng):
    return [
        call(rng.normal(size=(2, 3))),
        call(rng.normal(size=(4, 2, 3))[::2]),
        call(rng.normal(size=(2, 0))),
    ]


if hasattr(np, "matrix_transpose"):  # NumPy 2

    @rrule(np.matrix_transpose, linear=(0,), domain=lambda rng: [
        *_matrices(rng), call([[0.5, 1.5, 2.5]]),
    ])
    def matrix_transpose(x: np.ndarray):
        def matrix_transpose_pullback(dy):
            return like(np.swapaxes(dy, -1, -2), x)

        return np.matrix_transpose(x), matrix_transpose_pullback

    @rrule(np.ndarray.mT, linear=(0,), domain=_matrices)
    def matrix_transpose_attribute(x: np.ndarray):
        def matrix_transpose_pullback(dy):
            return dy.mT

        return x.mT, matrix_transpose_pullback


# --- broadcasting ---------------------------------------------------------------------------------


@rrule(np.broadcast_to, wrt=("array",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), (2, 3)),
    call(rng.normal(size=(2, 1)), (4, 2, 3)),
    call(rng.normal(size=(1, 3)), (0, 3)),
    call(rng.normal(size=(2, 3)), (2, 3)),
    call(rng.normal(size=3), 3),
    call(np.array(0.5), (2, 2)),
    call(0.5, (2, 2)),
    call(np.float64(0.5), ()),
])
def broadcast_to(array, shape):
    def broadcast_to_pullback(dy):
        return project(dy, array)

    return np.broadcast_to(array, shape), broadcast_to_pullback


@rrule(np.broadcast_arrays, wrt=("args",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=(2, 1))),
    call(rng.normal(size=(2, 3)), 0.5, np.array([1.5])),
    call(rng.normal(size=(2, 3))),
])
def broadcast_arrays(*args):
    def broadcast_arrays_pullback(dy):
        return project(dy, args)

    return np.broadcast_arrays(*args), broadcast_arrays_pullback


# --- methods, and facts about shapes --------------------------------------------------------------

alias(np.ndarray.ravel, np.ravel)
if hasattr(np.linalg, "matrix_transpose"):
    alias(np.linalg.matrix_transpose, np.matrix_transpose)
alias(np.ndarray.squeeze, np.squeeze)
alias(np.ndarray.swapaxes, np.swapaxes)

non_differentiable(
    np.shape, np.ndim, np.size, np.broadcast_shapes, np.isfortran, np.may_share_memory,
    np.shares_memory, np.iterable, np.result_type, np.promote_types, np.can_cast,
    np.ndarray.shape, np.ndarray.ndim, np.ndarray.size, np.ndarray.dtype, np.ndarray.itemsize,
    np.ndarray.nbytes, np.ndarray.strides, np.ndarray.flags, np.ndarray.__len__,
)

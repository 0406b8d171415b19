"""Rules of adjoints of functions that move elements: what derivatives of derivatives need.

An adjoint is linear in the cotangent ``g``, and its own adjoint is the function it came from. Those
of products are in ``linalg.product_adjoints``.
"""

import numpy as np

from adcompiler.rulekit import call, complexes, facts, non_differentiable, rrule
from adcompiler_rules.kernels.gathering import (
    along_axis, first_of, first_positions, inserted_positions, item_adjoint, kept_positions,
    part_without_zeros, permute_adjoint, take_adjoint, take_along_axis_adjoint,
)
from adcompiler.runtime.adjoints.joining import (
    column_stack_adjoint, concatenate_adjoint, dstack_adjoint, hstack_adjoint, stack_adjoint,
    vstack_adjoint,
)
from adcompiler_rules.kernels.shaping import (
    block_adjoint, inverse_permutation, like_each, meshgrid_adjoint, ravel_positions,
    repeat_adjoint, resize_adjoint, rolled_to, split_adjoint, tile_adjoint, tolist_adjoint,
)
from adcompiler.runtime.adjoints.shaping import (
    diagonal_adjoint, end_lengths, like, pad_widths, read_order,
)
from adcompiler_rules.kernels.padding import pad_adjoint, pad_linear, pad_values_adjoint


# --- form and shape -------------------------------------------------------------------------------


@rrule(like, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros((2, 3))),
    call(complexes(rng, 3), np.zeros(3)),
    call(rng.normal(size=2), [0.0, 1.0]),
    call(rng.normal(size=(2, 2)), [np.zeros(2), [0.0, 1.0]]),
    call(0.5, 1.5),
])
def like_rule(g, x):
    def like_pullback(dy):
        return like(dy, g)

    return like(g, x), like_pullback


@rrule(like_each, wrt=("gs",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call((rng.normal(size=(1, 3)), rng.normal(size=(1, 1))), (np.zeros(3), np.zeros(()))),
])
def like_each_rule(gs, arrays):
    def like_each_pullback(dy):
        return like_each(dy, gs)

    return like_each(gs, arrays), like_each_pullback


@rrule(repeat_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=12), (2, 3), 2, None),
    call(rng.normal(size=(2, 4)), (2, 3), [1, 0, 3], -1),
])
def repeat_adjoint_rule(g, shape, repeats, axis):
    def repeat_adjoint_pullback(dy):
        return np.repeat(dy, repeats, axis)

    return repeat_adjoint(g, shape, repeats, axis), repeat_adjoint_pullback


@rrule(tile_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 6)), (3,), (2, 2)),
])
def tile_adjoint_rule(g, shape, reps):
    def tile_adjoint_pullback(dy):
        return np.tile(dy, reps)

    return tile_adjoint(g, shape, reps), tile_adjoint_pullback


@rrule(resize_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 2)), (2, 3)),
])
def resize_adjoint_rule(g, shape):
    g_shape = np.shape(g)

    def resize_adjoint_pullback(dy):
        return np.resize(dy, g_shape)

    return resize_adjoint(g, shape), resize_adjoint_pullback


@rrule(meshgrid_adjoint, wrt=("gs",), templates=("xi",), linear=(0,), domain=lambda rng: [
    call((rng.normal(size=(3, 2)), rng.normal(size=(3, 2))), (np.zeros(2), np.zeros(3)), "xy",
         False),
    call((rng.normal(size=(2, 1)), rng.normal(size=(1, 3))), (np.zeros(2), np.zeros(3)), "ij",
         True),
])
def meshgrid_adjoint_rule(gs, xi, indexing, sparse):
    def meshgrid_adjoint_pullback(dy):
        return like_each(np.meshgrid(*dy, indexing=indexing, sparse=sparse), gs)

    return meshgrid_adjoint(gs, xi, indexing, sparse), meshgrid_adjoint_pullback


@rrule(diagonal_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 2)), (2, 3, 3), 1, 1, 2),
])
def diagonal_adjoint_rule(g, shape, offset=0, axis1=0, axis2=1):
    def diagonal_adjoint_pullback(dy):
        return np.diagonal(dy, offset, axis1, axis2)

    return diagonal_adjoint(g, shape, offset, axis1, axis2), diagonal_adjoint_pullback


@rrule(pad_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 6)), (2, 3), ((1, 1), (2, 1)), "constant"),
    call(rng.normal(size=(4, 6)), (2, 3), ((1, 1), (2, 1)), "linear_ramp"),
    call(rng.normal(size=6), (3,), (2, 1), "reflect", "odd"),
    call(rng.normal(size=6), (3,), (2, 1), "mean", "even", 2),
])
def pad_adjoint_rule(g, shape, pad_width, mode="constant", reflect_type="even", stat_length=None):
    def pad_adjoint_pullback(dy):
        return pad_linear(dy, pad_width, mode, reflect_type, stat_length)

    return (
        pad_adjoint(g, shape, pad_width, mode, reflect_type, stat_length), pad_adjoint_pullback
    )


@rrule(pad_linear, wrt=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), 1, "edge"),
    call(rng.normal(size=3), (2, 1), "reflect", "odd"),
])
def pad_linear_rule(x, pad_width, mode="constant", reflect_type="even", stat_length=None):
    x_shape = np.shape(x)

    def pad_linear_pullback(dy):
        return pad_adjoint(dy, x_shape, pad_width, mode, reflect_type, stat_length)

    return pad_linear(x, pad_width, mode, reflect_type, stat_length), pad_linear_pullback


@rrule(pad_values_adjoint, wrt=("g",), templates=("values",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(4, 6)), (2, 3), ((1, 1), (2, 1)), "constant", 0.5),
    call(rng.normal(size=6), (3,), (2, 1), "linear_ramp", (0.5, 1.5)),
])
def pad_values_adjoint_rule(g, shape, pad_width, mode, values):
    def pad_values_adjoint_pullback(dy):
        zero = np.zeros(shape, g.dtype)
        if mode == "constant":
            dg = np.pad(zero, pad_width, mode, constant_values=dy)
        else:
            dg = np.pad(zero, pad_width, mode, end_values=dy)
        return dg

    return pad_values_adjoint(g, shape, pad_width, mode, values), pad_values_adjoint_pullback


# --- selection ------------------------------------------------------------------------------------


@rrule(take_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 4)), (2, 3), [0, 2, 2, -1], 1),
    call(rng.normal(size=(2, 2)), (2, 3), [[0, 5], [5, 1]], None),
    call(rng.normal(size=2), (2, 3), 1, 1),
    call(rng.normal(size=2), (3,), [7, -4], 0, "wrap"),
])
def take_adjoint_rule(g, shape, indices, axis, mode="raise"):
    def take_adjoint_pullback(dy):
        return np.take(dy, indices, axis, mode=mode)

    return take_adjoint(g, shape, indices, axis, mode), take_adjoint_pullback


@rrule(take_along_axis_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 2)), (2, 3), np.array([[0, 0], [2, -1]]), 1),
    call(rng.normal(size=3), (2, 3), np.array([0, 5, 5]), None),
])
def take_along_axis_adjoint_rule(g, shape, indices, axis):
    def take_along_axis_adjoint_pullback(dy):
        return np.take_along_axis(dy, indices, axis)

    return take_along_axis_adjoint(g, shape, indices, axis), take_along_axis_adjoint_pullback


@rrule(permute_adjoint, wrt=("g",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.array([[2, 0, 1], [0, 1, 2]]), 1, (2, 3)),
    call(rng.normal(size=4), np.array([3, 1, 0, 2]), None, (2, 2)),
])
def permute_adjoint_rule(g, permutation, axis, shape):
    def permute_adjoint_pullback(dy):
        return np.take_along_axis(dy, permutation, axis)

    return permute_adjoint(g, permutation, axis, shape), permute_adjoint_pullback


@rrule(item_adjoint, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(0.5, np.zeros((2, 3)), (1, 2)), call(0.5, np.zeros((2, 3)), (4,)),
])
def item_adjoint_rule(g, x, index):
    def item_adjoint_pullback(dy):
        return dy.item(*index)

    return item_adjoint(g, x, index), item_adjoint_pullback


# --- joining and splitting ------------------------------------------------------------------------


@rrule(concatenate_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), [np.zeros((2, 1)), np.zeros((2, 2))], 1),
    call(rng.normal(size=3), (np.zeros((1, 2)), 0.5), None),
])
def concatenate_adjoint_rule(g, arrays, axis=0):
    def concatenate_adjoint_pullback(dy):
        return like(np.concatenate(dy, axis), g)

    return concatenate_adjoint(g, arrays, axis), concatenate_adjoint_pullback


@rrule(stack_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 2)), [np.zeros(3), np.zeros(3)], -1),
    call(rng.normal(size=2), [0.5, 1.5]),
])
def stack_adjoint_rule(g, arrays, axis=0):
    def stack_adjoint_pullback(dy):
        return like(np.stack(dy, axis), g)

    return stack_adjoint(g, arrays, axis), stack_adjoint_pullback


@rrule(vstack_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 2)), [np.zeros(2), np.zeros((2, 2))]),
])
def vstack_adjoint_rule(g, arrays):
    def vstack_adjoint_pullback(dy):
        return like(np.vstack(dy), g)

    return vstack_adjoint(g, arrays), vstack_adjoint_pullback


@rrule(hstack_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=3), [np.zeros(2), 0.5]),
    call(rng.normal(size=(2, 3)), (np.zeros((2, 1)), np.zeros((2, 2)))),
])
def hstack_adjoint_rule(g, arrays):
    def hstack_adjoint_pullback(dy):
        return like(np.hstack(dy), g)

    return hstack_adjoint(g, arrays), hstack_adjoint_pullback


@rrule(dstack_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 2)), [np.zeros((2, 3)), np.zeros((2, 3, 1))]),
])
def dstack_adjoint_rule(g, arrays):
    def dstack_adjoint_pullback(dy):
        return like(np.dstack(dy), g)

    return dstack_adjoint(g, arrays), dstack_adjoint_pullback


@rrule(column_stack_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), [np.zeros(2), np.zeros((2, 2))]),
])
def column_stack_adjoint_rule(g, arrays):
    def column_stack_adjoint_pullback(dy):
        return like(np.column_stack(dy), g)

    return column_stack_adjoint(g, arrays), column_stack_adjoint_pullback


@rrule(block_adjoint, wrt=("g",), templates=("arrays",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(3, 3)), [[np.zeros((2, 2)), np.zeros((2, 1))], [np.zeros(2), 0.5]]),
])
def block_adjoint_rule(g, arrays):
    def block_adjoint_pullback(dy):
        return like(np.block(dy), g)

    return block_adjoint(g, arrays), block_adjoint_pullback


@rrule(split_adjoint, wrt=("gs",), linear=(0,), domain=lambda rng: [
    call([rng.normal(size=(1, 2)), rng.normal(size=(2, 2))], (3, 2), [1], 0),
    call([rng.normal(size=3), rng.normal(size=0), rng.normal(size=4)], (5,), [3, 1], 0),
])
def split_adjoint_rule(gs, shape, indices_or_sections, axis):
    def split_adjoint_pullback(dy):
        return np.array_split(dy, indices_or_sections, axis)

    return split_adjoint(gs, shape, indices_or_sections, axis), split_adjoint_pullback


@rrule(tolist_adjoint, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call([[0.5, 1.5], [2.5, 3.5]], np.zeros((2, 2))),
])
def tolist_adjoint_rule(g, x):
    def tolist_adjoint_pullback(dy):
        return dy.tolist()

    return tolist_adjoint(g, x), tolist_adjoint_pullback


non_differentiable(
    along_axis, end_lengths, first_of, first_positions, inserted_positions, inverse_permutation,
    kept_positions, pad_widths, part_without_zeros, read_order, rolled_to,
)
non_differentiable(ravel_positions, reads_layout=True)


def of_shape_second(g, shape, *rest, **more):
    """Return the cotangent, or the cotangents joined, of an array of ``shape``."""
    return np.empty((1,) * len(shape), np.asarray(g[0] if isinstance(g, list) else g).dtype)


facts(
    take_adjoint, take_along_axis_adjoint, repeat_adjoint, tile_adjoint, resize_adjoint,
    pad_adjoint, shares="none", typed_as=of_shape_second)
facts(diagonal_adjoint, split_adjoint, typed_as=of_shape_second)
facts(permute_adjoint, shares="none", typed_as=lambda g, permutation, axis, shape: np.empty(
    (1,) * len(shape), g.dtype))
facts(item_adjoint, shares="none")

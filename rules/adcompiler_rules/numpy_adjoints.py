"""Rules of the adjoints in ``adcompiler.runtime``: what derivatives of derivatives need.

An adjoint is linear in the cotangent ``g``, and its own adjoint is the function it came from. The
adjoint of a product is a product of ``g`` and the other operand.
"""

import numpy as np

from adcompiler.rulekit import call, frule, non_differentiable, rrule
from adcompiler.runtime.gathering import (
    along_axis,
    first_of,
    first_positions,
    inserted_positions,
    item_adjoint,
    kept_positions,
    part_without_zeros,
    permute_adjoint,
    take_adjoint,
    take_along_axis_adjoint,
)
from adcompiler.runtime.joining import (
    block_adjoint,
    column_stack_adjoint,
    concatenate_adjoint,
    dstack_adjoint,
    hstack_adjoint,
    split_adjoint,
    stack_adjoint,
    tolist_adjoint,
    vstack_adjoint,
)
from adcompiler.runtime.linear_algebra import cofactors
from adcompiler.runtime.padding import (
    end_lengths,
    pad_adjoint,
    pad_linear,
    pad_values_adjoint,
    pad_widths,
)
from adcompiler.runtime.products import (
    cross_adjoint_left,
    cross_adjoint_right,
    einsum_adjoint,
    einsum_adjoints,
    einsum_lists_adjoints,
    kron_adjoint_left,
    kron_adjoint_right,
    multi_dot_adjoint,
    tensordot_adjoint_left,
    tensordot_adjoint_right,
)
from adcompiler.runtime.products_again import (
    einsum_adjoint_along,
    einsum_adjoints_adjoint,
    einsum_along,
    einsum_along_adjoint,
    einsum_lists_adjoints_adjoint,
    einsum_lists_along,
    multi_dot_adjoint_adjoint,
    multi_dot_along,
    replaced,
)
from adcompiler.runtime.shaping import (
    diagonal_adjoint,
    inverse_permutation,
    like,
    like_each,
    meshgrid_adjoint,
    ravel_positions,
    read_order,
    repeat_adjoint,
    resize_adjoint,
    rolled_to,
    tile_adjoint,
)
from adcompiler.runtime.structure import add, zeros_like


def _complex(rng, *shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


# --- form and shape -------------------------------------------------------------------------------


@rrule(like, wrt=("g",), templates=("x",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros((2, 3))),
    call(_complex(rng, 3), np.zeros(3)),
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


# --- products -------------------------------------------------------------------------------------


@rrule(tensordot_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2),
       domain=lambda rng: [
    call(rng.normal(size=(2, 4)), np.zeros((2, 3)), rng.normal(size=(3, 4)), 1),
    call(_complex(rng, 3, 5), np.zeros((2, 3, 4)), _complex(rng, 4, 5, 2), ([0, 2], [2, 0])),
])
def tensordot_adjoint_left_rule(g, a, b, axes=2):
    def tensordot_adjoint_left_pullback(dy):
        dg = np.tensordot(dy, b, axes)
        db = tensordot_adjoint_right(g, dy, b, axes)
        return like(dg, g), like(db, b)

    return tensordot_adjoint_left(g, a, b, axes), tensordot_adjoint_left_pullback


@rrule(tensordot_adjoint_right, wrt=("g", "a"), templates=("b",), bilinear=(0, 1),
       domain=lambda rng: [
    call(rng.normal(size=(2, 4)), rng.normal(size=(2, 3)), np.zeros((3, 4)), 1),
    call(_complex(rng, 3, 5), _complex(rng, 2, 3, 4), np.zeros((4, 5, 2)), ([0, 2], [2, 0])),
])
def tensordot_adjoint_right_rule(g, a, b, axes=2):
    def tensordot_adjoint_right_pullback(dy):
        dg = np.tensordot(a, dy, axes)
        da = tensordot_adjoint_left(g, a, dy, axes)
        return like(dg, g), like(da, a)

    return tensordot_adjoint_right(g, a, b, axes), tensordot_adjoint_right_pullback


@rrule(kron_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2), domain=lambda rng: [
    call(rng.normal(size=(6, 4)), np.zeros((2, 2)), rng.normal(size=(3, 2))),
    call(_complex(rng, 6), np.zeros(2), _complex(rng, 3)),
])
def kron_adjoint_left_rule(g, a, b):
    def kron_adjoint_left_pullback(dy):
        return like(np.kron(dy, b), g), like(kron_adjoint_right(g, dy, b), b)

    return kron_adjoint_left(g, a, b), kron_adjoint_left_pullback


@rrule(kron_adjoint_right, wrt=("g", "a"), templates=("b",), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(6, 4)), rng.normal(size=(2, 2)), np.zeros((3, 2))),
    call(_complex(rng, 6), _complex(rng, 2), np.zeros(3)),
])
def kron_adjoint_right_rule(g, a, b):
    def kron_adjoint_right_pullback(dy):
        return like(np.kron(a, dy), g), like(kron_adjoint_left(g, a, dy), a)

    return kron_adjoint_right(g, a, b), kron_adjoint_right_pullback


@rrule(cross_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros(3), rng.normal(size=(2, 3)), (-1, -1, -1)),
    call(_complex(rng, 3, 2), np.zeros((3, 2)), _complex(rng, 2, 3), (0, 1, 0)),
])
def cross_adjoint_left_rule(g, a, b, axes):
    def cross_adjoint_left_pullback(dy):
        dg = np.cross(dy, b, axes[0], axes[1], axes[2])
        db = cross_adjoint_right(g, dy, b, axes)
        return like(dg, g), like(db, b)

    return cross_adjoint_left(g, a, b, axes), cross_adjoint_left_pullback


@rrule(cross_adjoint_right, wrt=("g", "a"), templates=("b",), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), rng.normal(size=(2, 3)), np.zeros(3), (-1, -1, -1)),
])
def cross_adjoint_right_rule(g, a, b, axes):
    def cross_adjoint_right_pullback(dy):
        dg = np.cross(a, dy, axes[0], axes[1], axes[2])
        da = cross_adjoint_left(g, a, dy, axes)
        return like(dg, g), like(da, a)

    return cross_adjoint_right(g, a, b, axes), cross_adjoint_right_pullback


@rrule(einsum_adjoint, wrt=("g", "operands"), domain=lambda rng: [
    call(rng.normal(size=2), "ij,j->i", (np.zeros((2, 3)), rng.normal(size=3)), 0),
    call(_complex(rng, 2, 2), "ij,jk,kl->il",
         (_complex(rng, 2, 3), np.zeros((3, 2)), _complex(rng, 2, 2)), 1),
])
def einsum_adjoint_rule(g, subscripts, operands, position, optimize=False):
    def einsum_adjoint_pullback(dy):
        others = replaced(operands, position, dy)
        dg = np.einsum(subscripts, *others, optimize=optimize)
        d_operands = einsum_adjoints(g, subscripts, others, optimize)
        zero = np.zeros_like(operands[position])
        return like(dg, g), like(replaced(d_operands, position, zero), operands)

    return einsum_adjoint(g, subscripts, operands, position, optimize), einsum_adjoint_pullback


@frule(einsum_adjoint)
def einsum_adjoint_forward(primals, tangents):
    """The adjoint is linear in ``g`` and, by conjugates, in each operand but that at ``position``.
    """
    y = einsum_adjoint(*primals)
    dg, operands, d_operands = tangents[0], primals[2], tangents[2]
    along = None
    if dg is not None:
        along = einsum_adjoint(dg, *primals[1:])
    if d_operands is not None and len(operands) > 1:
        others = einsum_adjoint_along(d_operands, *primals)
        along = others if along is None else along + others
    if along is None:
        along = np.zeros_like(y)
    return y, along


@frule(einsum_adjoints)
def einsum_adjoints_forward(primals, tangents):
    """The derivative along the operands is what the adjoint gives: second derivatives commute."""
    y = einsum_adjoints(*primals)
    dg, d_operands = tangents[0], tangents[2]
    along = None
    if dg is not None:
        along = einsum_adjoints(dg, *primals[1:])
    if d_operands is not None:
        others = einsum_adjoints_adjoint(d_operands, *primals)
        along = others if along is None else add(along, others)
    if along is None:
        along = zeros_like(y)
    return y, along


@rrule(einsum_along, wrt=("dy", "operands"), domain=lambda rng: [
    call((rng.normal(size=(2, 3)), rng.normal(size=(3, 2)), rng.normal(size=2)), "ij,jk,k->i",
         (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)), rng.normal(size=2))),
    call((_complex(rng, 2), _complex(rng, 2, 3)), "i,ij->j",
         (_complex(rng, 2), _complex(rng, 2, 3))),
])
def einsum_along_rule(dy, subscripts, operands, optimize=False):
    """Each product is linear in what replaces an operand, and in the others."""
    y = einsum_along(dy, subscripts, operands, optimize)

    def einsum_along_pullback(v):
        d_dy = einsum_along_adjoint(v, dy, subscripts, operands, optimize)
        return d_dy, einsum_adjoints_adjoint(dy, v, subscripts, operands, optimize)

    return y, einsum_along_pullback


@rrule(replaced, wrt=("items", "item"), linear=(0, 2), domain=lambda rng: [
    call((rng.normal(size=2), rng.normal(size=3)), 1, rng.normal(size=3)),
    call([0.5, 1.5, 2.5], 0, 3.5),
])
def replaced_rule(items, position, item):
    def replaced_pullback(dy):
        return replaced(dy, position, zeros_like(items[position])), dy[position]

    return replaced(items, position, item), replaced_pullback


@rrule(einsum_adjoints, wrt=("g", "operands"), domain=lambda rng: [
    call(rng.normal(size=2), "ij,jk,k->i",
         (rng.normal(size=(2, 3)), rng.normal(size=(3, 2)), rng.normal(size=2))),
])
def einsum_adjoints_rule(g, subscripts, operands, optimize=False):
    def einsum_adjoints_pullback(dy):
        dg = einsum_along(dy, subscripts, operands, optimize)
        return like(dg, g), einsum_adjoints_adjoint(dy, g, subscripts, operands, optimize)

    return einsum_adjoints(g, subscripts, operands, optimize), einsum_adjoints_pullback


@rrule(einsum_lists_adjoints, wrt=("g", "arguments"), domain=lambda rng: [
    call(rng.normal(size=2), (rng.normal(size=(2, 3)), [0, 1], rng.normal(size=3), [1], [0])),
])
def einsum_lists_adjoints_rule(g, arguments, optimize=False):
    def einsum_lists_adjoints_pullback(dy):
        dg = einsum_lists_along(dy, arguments, optimize)
        return like(dg, g), einsum_lists_adjoints_adjoint(dy, g, arguments, optimize)

    return einsum_lists_adjoints(g, arguments, optimize), einsum_lists_adjoints_pullback


@rrule(multi_dot_adjoint, domain=lambda rng: [
    call(rng.normal(size=(2, 2)),
         [rng.normal(size=(2, 3)), rng.normal(size=(3, 3)), rng.normal(size=(3, 2))]),
    call(_complex(rng, 2), (_complex(rng, 3), _complex(rng, 3, 2))),
])
def multi_dot_adjoint_rule(g, arrays):
    def multi_dot_adjoint_pullback(dy):
        dg = multi_dot_along(dy, arrays)
        return like(dg, g), multi_dot_adjoint_adjoint(dy, g, arrays)

    return multi_dot_adjoint(g, arrays), multi_dot_adjoint_pullback


@rrule(cofactors, domain=lambda rng: [
    call(rng.normal(size=(2, 3, 3))), call(_complex(rng, 2, 2)),
])
def cofactors_rule(a):
    """From ``cofactors(a) = det(a) * inv(a)^T``, so for regular matrices only."""
    y = cofactors(a)

    def cofactors_pullback(dy):
        inverse = np.conj(np.linalg.inv(a))
        det = np.expand_dims(np.conj(np.linalg.det(a)), (-2, -1))
        transposed = np.swapaxes(inverse, -1, -2)
        along = np.sum(transposed * dy, axis=(-2, -1), keepdims=True) * transposed
        across = transposed @ np.swapaxes(dy, -1, -2) @ transposed
        return like(det * (along - across), a)

    return y, cofactors_pullback


non_differentiable(
    along_axis, end_lengths, first_of, first_positions, inserted_positions, inverse_permutation,
    kept_positions, pad_widths, part_without_zeros, ravel_positions, read_order, rolled_to,
)

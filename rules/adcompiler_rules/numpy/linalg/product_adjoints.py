"""Rules of the adjoints of products, and of what their second derivatives call.

The adjoint of a product is a product of ``g`` and the other operand.
"""

import numpy as np

from adcompiler.rulekit import call, complexes, facts, frule, non_differentiable, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.linear_algebra import cofactors
from adcompiler_rules.kernels.products import (
    cross_adjoint_left, cross_adjoint_right, einsum_adjoint, einsum_adjoints,
    einsum_lists_adjoints, kron_adjoint_left, kron_adjoint_right, multi_dot_adjoint,
    tensordot_adjoint_left, tensordot_adjoint_right,
)
from adcompiler_rules.kernels.second_order_products import (
    einsum_adjoint_along, einsum_adjoints_adjoint, einsum_along, einsum_along_adjoint,
    einsum_lists_adjoints_adjoint, einsum_lists_along, multi_dot_adjoint_adjoint,
    multi_dot_along, replaced,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.structure import add, zeros_like


@rrule(tensordot_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2),
       domain=lambda rng: [
    call(rng.normal(size=(2, 4)), np.zeros((2, 3)), rng.normal(size=(3, 4)), 1),
    call(complexes(rng, 3, 5), np.zeros((2, 3, 4)), complexes(rng, 4, 5, 2), ([0, 2], [2, 0])),
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
    call(complexes(rng, 3, 5), complexes(rng, 2, 3, 4), np.zeros((4, 5, 2)), ([0, 2], [2, 0])),
])
def tensordot_adjoint_right_rule(g, a, b, axes=2):
    def tensordot_adjoint_right_pullback(dy):
        dg = np.tensordot(a, dy, axes)
        da = tensordot_adjoint_left(g, a, dy, axes)
        return like(dg, g), like(da, a)

    return tensordot_adjoint_right(g, a, b, axes), tensordot_adjoint_right_pullback


@rrule(kron_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2), domain=lambda rng: [
    call(rng.normal(size=(6, 4)), np.zeros((2, 2)), rng.normal(size=(3, 2))),
    call(complexes(rng, 6), np.zeros(2), complexes(rng, 3)),
])
def kron_adjoint_left_rule(g, a, b):
    def kron_adjoint_left_pullback(dy):
        return like(np.kron(dy, b), g), like(kron_adjoint_right(g, dy, b), b)

    return kron_adjoint_left(g, a, b), kron_adjoint_left_pullback


@rrule(kron_adjoint_right, wrt=("g", "a"), templates=("b",), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(6, 4)), rng.normal(size=(2, 2)), np.zeros((3, 2))),
    call(complexes(rng, 6), complexes(rng, 2), np.zeros(3)),
])
def kron_adjoint_right_rule(g, a, b):
    def kron_adjoint_right_pullback(dy):
        return like(np.kron(a, dy), g), like(kron_adjoint_left(g, a, dy), a)

    return kron_adjoint_right(g, a, b), kron_adjoint_right_pullback


@rrule(cross_adjoint_left, wrt=("g", "b"), templates=("a",), bilinear=(0, 2), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), np.zeros(3), rng.normal(size=(2, 3)), (-1, -1, -1)),
    call(complexes(rng, 3, 2), np.zeros((3, 2)), complexes(rng, 2, 3), (0, 1, 0)),
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
    call(complexes(rng, 2, 2), "ij,jk,kl->il",
         (complexes(rng, 2, 3), np.zeros((3, 2)), complexes(rng, 2, 2)), 1),
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
    call((complexes(rng, 2), complexes(rng, 2, 3)), "i,ij->j",
         (complexes(rng, 2), complexes(rng, 2, 3))),
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
    call(complexes(rng, 2), (complexes(rng, 3), complexes(rng, 3, 2))),
])
def multi_dot_adjoint_rule(g, arrays):
    def multi_dot_adjoint_pullback(dy):
        dg = multi_dot_along(dy, arrays)
        return like(dg, g), multi_dot_adjoint_adjoint(dy, g, arrays)

    return multi_dot_adjoint(g, arrays), multi_dot_adjoint_pullback


def regular(a):
    """Return matrices; raise where one is singular."""
    check_regular(a)
    return a


def check_regular(a):
    """Raise where the second derivative of a determinant is not known."""
    if not np.all(np.linalg.det(a)):
        raise UncoveredError("det() has no second derivative at singular matrices")


non_differentiable(check_regular, pure=False)


facts(
    cofactors, cross_adjoint_left, cross_adjoint_right, kron_adjoint_left, kron_adjoint_right,
    shares="none")


@rrule(cofactors, domain=lambda rng: [
    call(rng.normal(size=(2, 3, 3))), call(complexes(rng, 2, 2)),
])
def cofactors_rule(a):
    """From ``cofactors(a) = det(a) * inv(a)^T``, so for regular matrices only."""
    y = cofactors(a)

    def cofactors_pullback(dy):
        inverse = np.conj(np.linalg.inv(regular(a)))
        det = np.expand_dims(np.conj(np.linalg.det(a)), (-2, -1))
        transposed = np.swapaxes(inverse, -1, -2)
        along = np.sum(transposed * dy, axis=(-2, -1), keepdims=True) * transposed
        across = transposed @ np.swapaxes(dy, -1, -2) @ transposed
        return like(det * (along - across), a)

    return y, cofactors_pullback

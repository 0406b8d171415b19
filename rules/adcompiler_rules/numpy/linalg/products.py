"""Rules for products of vectors, matrices and arrays, and for polynomials.

``@`` and the ufuncs ``matmul``, ``vecdot``, ``matvec`` and ``vecmat`` have theirs with the ufuncs.
"""

from collections.abc import Sequence
from typing import Any
import numpy as np

from adcompiler.rulekit import alias, call, complexes, facts, frule, rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.products import crossed, in_space
from adcompiler_rules.kernels.products import (
    cross_adjoint_left, cross_adjoint_right, einsum_adjoint, einsum_adjoints,
    einsum_lists_adjoints, kron_adjoint_left, kron_adjoint_right, multi_dot_adjoint,
    tensordot_adjoint_left, tensordot_adjoint_right,
)
from adcompiler.runtime.adjoints.shaping import like


# --- dot, inner, outer ----------------------------------------------------------------------------


@rrule(np.dot, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), rng.normal(size=3)),
    call(rng.normal(size=2), rng.normal(size=(2, 3))),
    call(rng.normal(size=(2, 3)), rng.normal(size=(3, 4))),
    call(rng.normal(size=(3, 2)).T, rng.normal(size=(4, 6))[::2, ::3].T[:, ::-1].repeat(2, 0)[:3]),
    call(rng.normal(size=(2, 1, 3)), rng.normal(size=(2, 3, 4))),
    call(rng.normal(size=3), rng.normal(size=(2, 3, 4))),
    call(rng.normal(size=(2, 2, 3)), rng.normal(size=3)),
    call(rng.normal(size=(2, 2, 3)), rng.normal(size=(3, 4))),
    call(rng.normal(size=(2, 0)), rng.normal(size=(0, 3))),
    call(complexes(rng, 2, 3), complexes(rng, 3)),
    call(complexes(rng, 2, 3), rng.normal(size=(3, 2))),
    call(rng.normal(size=3), complexes(rng, 3, 2)),
    call(complexes(rng, 3), rng.normal(size=3)),
    call(0.5, rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), np.array(0.5)),
    call(0.5, 1.5),
    call([0.5, 1.5], [[2.5], [3.5]]),
])
def dot(a, b):
    def dot_pullback(dy):
        if np.ndim(a) == 0 or np.ndim(b) == 0:
            da = project(dy * np.conj(b), a)
            db = project(np.conj(a) * dy, b)
        elif np.ndim(a) == 1 and np.ndim(b) == 1:
            da = like(dy * np.conj(b), a)
            db = like(np.conj(a) * dy, b)
        elif np.ndim(a) == 2 and np.ndim(b) == 1:
            da = like(np.outer(dy, np.conj(b)), a)
            db = like(dy @ np.conj(a), b)
        elif np.ndim(a) == 1 and np.ndim(b) == 2:
            da = like(np.conj(b) @ dy, a)
            db = like(np.outer(np.conj(a), dy), b)
        elif np.ndim(a) == 2 and np.ndim(b) == 2:
            da = like(dy @ np.transpose(np.conj(b)), a)
            db = like(np.transpose(np.conj(a)) @ dy, b)
        else:
            axis = -1 if np.ndim(b) == 1 else -2
            da = like(tensordot_adjoint_left(dy, a, b, (-1, axis)), a)
            db = like(tensordot_adjoint_right(dy, a, b, (-1, axis)), b)
        return da, db

    return np.dot(a, b), dot_pullback


@rrule(np.inner, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), rng.normal(size=(4, 3))),
    call(rng.normal(size=(2, 1, 3)), rng.normal(size=(4, 3))),
    call(complexes(rng, 3), rng.normal(size=3)),
    call(complexes(rng, 2, 3), complexes(rng, 3)),
    call(0.5, rng.normal(size=3)),
    call([0.5, 1.5], [2.5, 3.5]),
])
def inner(a, b):
    def inner_pullback(dy):
        if np.ndim(a) == 0 or np.ndim(b) == 0:
            da = project(dy * np.conj(b), a)
            db = project(np.conj(a) * dy, b)
        elif np.ndim(a) == 1 and np.ndim(b) == 1:
            da = like(dy * np.conj(b), a)
            db = like(np.conj(a) * dy, b)
        else:
            da = like(tensordot_adjoint_left(dy, a, b, (-1, -1)), a)
            db = like(tensordot_adjoint_right(dy, a, b, (-1, -1)), b)
        return da, db

    return np.inner(a, b), inner_pullback


@rrule(np.outer, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=2), rng.normal(size=3)),
    call(rng.normal(size=(2, 2)), rng.normal(size=(3, 1))),
    call(complexes(rng, 2), rng.normal(size=3)),
    call(rng.normal(size=0), rng.normal(size=3)),
    call(0.5, rng.normal(size=3)),
    call([0.5, 1.5], [2.5, 3.5]),
])
def outer(a, b):
    a_shape, b_shape = np.shape(a), np.shape(b)

    def outer_pullback(dy):
        da = np.reshape(dy @ np.conj(np.ravel(b)), a_shape)
        db = np.reshape(np.conj(np.ravel(a)) @ dy, b_shape)
        return like(da, a), like(db, b)

    return np.outer(a, b), outer_pullback


@rrule(np.vdot, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), rng.normal(size=(3, 2))),
    call(complexes(rng, 3), complexes(rng, 3)),
    call(rng.normal(size=3), complexes(rng, 3)),
    call(complexes(rng, 2, 2), rng.normal(size=(2, 2))),
    call(0.5, 1.5),
    call([0.5, 1.5], [2.5, 3.5]),
])
def vdot(a, b):
    a_shape, b_shape = np.shape(a), np.shape(b)

    def vdot_pullback(dy):
        da = np.reshape(np.conj(dy) * np.ravel(b), a_shape)
        db = np.reshape(dy * np.ravel(a), b_shape)
        return like(da, a), like(db, b)

    return np.vdot(a, b), vdot_pullback


@rrule(np.tensordot, wrt=("a", "b"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 4, 2))),
    call(rng.normal(size=(2, 3)), rng.normal(size=4), axes=0),
    call(rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), 1),
    call(rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5, 2)), ([0, 2], [2, 0])),
    call(rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 5, 2)), axes=((-1, 0), (0, -1))),
    call(rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 3, 5)), axes=((2, 1), (0, 1))),
    call(rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), (1, 0)),
    call(complexes(rng, 2, 3), complexes(rng, 3, 2), axes=1),
    call(rng.normal(size=(2, 3)), complexes(rng, 2, 3), axes=2),
    call([[0.5, 1.5]], [[2.5], [3.5]], 1),
])
def tensordot(a, b, axes=2):
    def tensordot_pullback(dy):
        da = tensordot_adjoint_left(dy, a, b, axes)
        db = tensordot_adjoint_right(dy, a, b, axes)
        return like(da, a), like(db, b)

    return np.tensordot(a, b, axes=axes), tensordot_pullback


@rrule(np.kron, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=2), rng.normal(size=3)),
    call(rng.normal(size=(2, 3)), rng.normal(size=(3, 2))),
    call(rng.normal(size=2), rng.normal(size=(3, 2))),
    call(rng.normal(size=(2, 1, 2)), rng.normal(size=2)),
    call(complexes(rng, 2, 2), rng.normal(size=(1, 3))),
    call(rng.normal(size=2), 0.5),
    call([0.5, 1.5], [2.5, 3.5]),
])
def kron(a, b):
    def kron_pullback(dy):
        return like(kron_adjoint_left(dy, a, b), a), like(kron_adjoint_right(dy, a, b), b)

    return np.kron(a, b), kron_pullback


@rrule(np.cross, wrt=("a", "b"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(4, 3)), rng.normal(size=3)),
    call(rng.normal(size=(4, 3)), rng.normal(size=(2, 1, 3))),
    call(rng.normal(size=(3, 2)), rng.normal(size=(2, 3)), axisa=0, axisb=1, axisc=0),
    call(rng.normal(size=(3, 2)), rng.normal(size=(3, 2)), axis=0),
    call(complexes(rng, 3), rng.normal(size=3)),
    call([0.5, 1.5, 2.5], [3.5, 4.5, 5.5]),
])
def cross(a: np.ndarray, b: np.ndarray, axisa=-1, axisb=-1, axisc=-1, axis=None):
    axes = (axisa, axisb, axisc) if axis is None else (axis, axis, axis)

    def cross_pullback(dy):
        da = cross_adjoint_left(dy, a, b, axes)
        db = cross_adjoint_right(dy, a, b, axes)
        return like(da, a), like(db, b)

    return np.cross(a, b, axisa=axisa, axisb=axisb, axisc=axisc, axis=axis), cross_pullback


def cross_in_space(a, b):
    """``np.cross`` of arrays of vectors of three components, as most are."""
    in_space(a, b)
    return crossed(a, b)


facts(np.cross, supposed_as=cross_in_space)
facts(crossed, pure=True, typed_as=np.multiply, axes="vectors", transfer="cross", tried=True)


@rrule(crossed, wrt=("a", "b"), bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call(rng.normal(size=(4, 3)), rng.normal(size=3)),
    call(rng.normal(size=(4, 3)), rng.normal(size=(2, 1, 3))),
    call(complexes(rng, 3), rng.normal(size=3)),
])
def crossed_rule(a, b):
    def crossed_pullback(dy):
        return project(crossed(np.conj(b), dy), a), project(crossed(dy, np.conj(a)), b)

    return crossed(a, b), crossed_pullback


# --- einsum ---------------------------------------------------------------------------------------


@rrule(np.einsum, wrt=("operands",), domain=lambda rng: [
    call("ij,j->i", rng.normal(size=(2, 3)), rng.normal(size=3)),
    call("ij,jk", rng.normal(size=(2, 3)), rng.normal(size=(3, 4))),
    call("ba", rng.normal(size=(2, 3))),
    call("ii", rng.normal(size=(3, 3))),
    call("ii->i", rng.normal(size=(3, 3))),
    call("iij,j->i", rng.normal(size=(2, 2, 3)), rng.normal(size=3)),
    call("ij->", rng.normal(size=(2, 3))),
    call("ij,kl->i", rng.normal(size=(2, 3)), rng.normal(size=(2, 4))),
    call("i,i,i->", rng.normal(size=3), rng.normal(size=3), rng.normal(size=3)),
    call("ij, jk, kl -> il", rng.normal(size=(2, 3)), rng.normal(size=(3, 4)),
         rng.normal(size=(4, 2)), optimize=True),
    call("ij,jk,kl->il", rng.normal(size=(2, 3)), rng.normal(size=(3, 4)),
         rng.normal(size=(4, 2)), optimize=["einsum_path", (0, 1), (0, 1)]),
    call("...ij,...j->...i", rng.normal(size=(4, 2, 3)), rng.normal(size=3)),
    call("...i,...i", rng.normal(size=(4, 3)), rng.normal(size=(2, 1, 3))),
    call("i...->...", rng.normal(size=(2, 3, 4))),
    call("...,...->...", rng.normal(size=(2, 1)), rng.normal(size=3)),
    call("ij,ij->ij", rng.normal(size=(1, 3)), rng.normal(size=(2, 3))),
    call("ij,ij->j", rng.normal(size=(1, 3)), rng.normal(size=(2, 3))),
    call("ij,ij->i", complexes(rng, 2, 3), rng.normal(size=(2, 3))),
    call("ij,jk->ik", complexes(rng, 2, 3), complexes(rng, 3, 2)),
    call("ij,j->i", rng.normal(size=(2, 0)), rng.normal(size=0)),
    call("i,->i", rng.normal(size=3), 0.5),
    call("i,j", [0.5, 1.5], rng.normal(size=2)),
    call(rng.normal(size=(2, 3)), [0, 1], rng.normal(size=3), [1]),
    call(rng.normal(size=(2, 3)), [0, 1], rng.normal(size=(4, 3)), [2, 1], [2, 0]),
    call(rng.normal(size=(4, 2, 3)), [..., 0, 1], rng.normal(size=3), [1], [..., 0]),
    call(rng.normal(size=(3, 3)), [30, 30]),
    call(rng.normal(size=(2, 3)), [27, 2]),
])
def einsum(*operands, optimize=False):
    """Each cotangent is the einsum of ``dy`` and the other operands; none for the subscripts."""

    def einsum_pullback(dy):
        if not isinstance(operands[0], str):
            d_operands = einsum_lists_adjoints(dy, operands, optimize)
        elif len(operands) == 2:
            dx = einsum_adjoint(dy, operands[0], operands[1:], 0, optimize)
            d_operands = (None, like(dx, operands[1]))
        elif len(operands) == 3:
            da = einsum_adjoint(dy, operands[0], operands[1:], 0, optimize)
            db = einsum_adjoint(dy, operands[0], operands[1:], 1, optimize)
            d_operands = (None, like(da, operands[1]), like(db, operands[2]))
        else:
            d_operands = (None,) + einsum_adjoints(dy, operands[0], operands[1:], optimize)
        return d_operands

    return np.einsum(*operands, optimize=optimize), einsum_pullback


# --- chains and powers of matrices ----------------------------------------------------------------


@rrule(np.linalg.multi_dot, domain=lambda rng: [
    call([rng.normal(size=(2, 3)), rng.normal(size=(3, 4)), rng.normal(size=(4, 1))]),
    call((rng.normal(size=3), rng.normal(size=(3, 4)), rng.normal(size=(4, 2)))),
    call([rng.normal(size=3), rng.normal(size=(3, 4)), rng.normal(size=4)]),
    call([rng.normal(size=(2, 3)), rng.normal(size=3)]),
    call([
        complexes(rng, 2, 3), complexes(rng, 3, 3), rng.normal(size=(3, 2)), complexes(rng, 2, 1),
    ]),
])
def multi_dot(arrays: Sequence[Any]):
    def multi_dot_pullback(dy):
        return multi_dot_adjoint(dy, arrays)

    return np.linalg.multi_dot(arrays), multi_dot_pullback


@rrule(np.linalg.matrix_power, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=(3, 3)), 0),
    call(rng.normal(size=(3, 3)), 1),
    call(rng.normal(size=(3, 3)), 5),
    call(rng.normal(size=(2, 3, 3)), 3),
    call(rng.normal(size=(3, 3)) + 3.0 * np.eye(3), -2),
    call(complexes(rng, 2, 2), 3),
    call([[0.5, 1.5], [2.5, 3.5]], 2),
])
def matrix_power(a: np.ndarray, n):
    """The derivative of a power at ``a^H``, towards ``dy``: ``sum_k (a^H)^k dy (a^H)^(n - 1 - k)``.

    It is the upper right block of ``[[a^H, dy], [0, a^H]]^n``, for negative ``n`` as well
    (N. J. Higham, Functions of Matrices, 2008, eq. 3.16), at the cost of O(log n) products.
    """
    size = np.shape(a)[-1]

    def matrix_power_pullback(dy):
        aH = np.conj(np.swapaxes(a, -1, -2))
        blocks = np.block([[aH, dy], [np.zeros_like(aH), aH]])
        return like(np.linalg.matrix_power(blocks, n)[..., :size, size:], a)

    return np.linalg.matrix_power(a, n), matrix_power_pullback


@frule(np.linalg.matrix_power)
def matrix_power_forward(primals, tangents):
    """The same block of ``[[a, da], [0, a]]^n``."""
    (x, n), (dx, _) = primals, tangents
    a, da = np.asarray(x), np.asarray(dx)
    size = a.shape[-1]
    whole = np.linalg.matrix_power(np.block([[a, da], [np.zeros_like(a), a]]), n)
    return np.linalg.matrix_power(a, n), whole[..., :size, size:]


# --- polynomials ----------------------------------------------------------------------------------


@rrule(np.polyval, domain=lambda rng: [
    call(rng.normal(size=4), rng.normal(size=3)),
    call(rng.normal(size=4), rng.normal(size=(2, 3))),
    call(rng.normal(size=1), rng.normal(size=3)),
    call(rng.normal(size=3), 0.5),
    call(complexes(rng, 3), rng.normal(size=2)),
    call(rng.normal(size=3), complexes(rng, 2)),
    call([1.5, 0.5, 2.5], 0.5),
])
def polyval(p: np.ndarray, x):
    degree = np.size(p) - 1

    def polyval_pullback(dy):
        dp = np.ravel(dy) @ np.conj(np.vander(np.ravel(x), degree + 1))
        exponents = np.arange(degree, 0, -1, dtype=np.asarray(p).dtype)
        slope = np.polyval(np.asarray(p)[:-1] * exponents, x)
        dx = dy * np.conj(slope)
        return like(dp, p), like(dx, x)

    return np.polyval(p, x), polyval_pullback


@rrule(np.vander, wrt=("x",), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=3), 4),
    call(rng.normal(size=3), N=2, increasing=True),
    call(rng.normal(size=3), 1),
    call(complexes(rng, 2), 4),
    call([0.5, 1.5]),
])
def vander(x: np.ndarray, N=None, increasing=False):
    y = np.vander(x, N=N, increasing=increasing)

    def vander_pullback(dy):
        powers = np.conj(y if increasing else y[:, ::-1])
        dpowers = dy if increasing else dy[:, ::-1]
        exponents = np.arange(1, powers.shape[1], dtype=np.real(powers).dtype)
        return like(np.sum(dpowers[:, 1:] * powers[:, :-1] * exponents, axis=1), x)

    return y, vander_pullback


alias(np.ndarray.dot, np.dot)
if hasattr(np.linalg, "tensordot"):  # NumPy 2
    alias(np.linalg.outer, np.outer)
    alias(np.linalg.tensordot, np.tensordot)
    alias(np.linalg.cross, np.cross)
    alias(np.linalg.matmul, np.matmul)
    alias(np.linalg.vecdot, np.vecdot)

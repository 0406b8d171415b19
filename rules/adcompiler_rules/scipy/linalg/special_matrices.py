"""Rules for matrices that ``scipy.linalg`` makes of vectors, for its norms and products."""

from collections.abc import Sequence
from typing import Any
import numpy as np
import scipy.linalg

from adcompiler.rulekit import call, frule, non_differentiable, rrule
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler_rules.kernels.reductions import matrix_norm_adjoint
from adcompiler_rules.kernels.scipy_solvers import toeplitz_adjoint
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.numpy.linalg.norms import slope_in_elements
from adcompiler_rules.scipy.samples import complex_normal

non_differentiable(
    scipy.linalg.bandwidth, scipy.linalg.dft, scipy.linalg.find_best_blas_type,
    scipy.linalg.get_blas_funcs, scipy.linalg.get_lapack_funcs, scipy.linalg.hadamard,
    scipy.linalg.helmert, scipy.linalg.hilbert, scipy.linalg.invhilbert, scipy.linalg.invpascal,
    scipy.linalg.ishermitian, scipy.linalg.issymmetric, scipy.linalg.pascal,
)


@rrule(scipy.linalg.toeplitz, wrt=("c", "r"), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=3), rng.normal(size=4)),
    call(complex_normal(rng, 3)),
    call(complex_normal(rng, 3), r=complex_normal(rng, 2)),
    call([0.5, 1.5], [2.5, 3.5, 4.5]),
])
def toeplitz(c, r=None):
    """Without ``r`` the first row is the conjugate of the first column."""
    if np.ndim(c) != 1 or (r is not None and np.ndim(r) != 1):
        raise NotImplementedError("scipy.linalg.toeplitz has a rule for vectors")
    y = scipy.linalg.toeplitz(c, r)

    def toeplitz_pullback(dy):
        dc, dr = toeplitz_adjoint(dy)
        if r is None:
            return like(dc + np.conj(dr), c), None
        return like(dc, c), like(dr, r)

    return y, toeplitz_pullback


@rrule(scipy.linalg.hankel, wrt=("c", "r"), domain=lambda rng: [
    call(rng.normal(size=3)),
    call(rng.normal(size=3), rng.normal(size=4)),
    call(complex_normal(rng, 3), complex_normal(rng, 2)),
])
def hankel(c: np.ndarray, r=None):
    """The last row is ``r``, apart from its first element; without it, zeros."""
    if np.ndim(c) != 1 or (r is not None and np.ndim(r) != 1):
        raise NotImplementedError("scipy.linalg.hankel has a rule for vectors")
    y = scipy.linalg.hankel(c, r)

    def hankel_pullback(dy):
        rows, columns = np.shape(y)
        positions = np.expand_dims(np.arange(rows), 1) + np.arange(columns)
        flat = take_adjoint(dy, (rows + columns - 1,), positions, 0)
        if r is None:
            return like(flat[:rows], c), None
        return like(flat[:rows], c), like(np.concatenate((np.zeros_like(flat[:1]), flat[rows:])), r)

    return y, hankel_pullback


@rrule(scipy.linalg.circulant, domain=lambda rng: [
    call(rng.normal(size=4)), call(complex_normal(rng, 3)), call([0.5, 1.5]),
])
def circulant(c):
    if np.ndim(c) != 1:
        raise NotImplementedError("scipy.linalg.circulant has a rule for vectors")
    y = scipy.linalg.circulant(c)

    def circulant_pullback(dy):
        positions = scipy.linalg.circulant(np.arange(np.shape(c)[0]))
        return like(take_adjoint(dy, np.shape(c), positions, 0), c)

    return y, circulant_pullback


@rrule(scipy.linalg.companion, domain=lambda rng: [
    call(rng.normal(size=4) + [3.0, 0.0, 0.0, 0.0]), call(complex_normal(rng, 3)),
])
def companion(a: np.ndarray):
    """The first row is ``-a[1:] / a[0]``; all else is constant."""
    if np.ndim(a) != 1:
        raise NotImplementedError("scipy.linalg.companion has a rule for vectors")
    y = scipy.linalg.companion(a)

    def companion_pullback(dy):
        first = np.conj(a[0])
        da = -dy[0] / first
        leading = np.sum(dy[0] * np.conj(-y[0])) / first
        return like(np.concatenate((np.reshape(leading, 1), da)), a)

    return y, companion_pullback


@rrule(scipy.linalg.leslie, domain=lambda rng: [call(rng.normal(size=3), rng.normal(size=2))])
def leslie(f: np.ndarray, s: np.ndarray):
    """The first row is ``f``, the diagonal below the main one ``s``."""
    if np.ndim(f) != 1 or np.ndim(s) != 1:
        raise NotImplementedError("scipy.linalg.leslie has a rule for vectors")
    y = scipy.linalg.leslie(f, s)

    def leslie_pullback(dy):
        return like(dy[0], f), like(np.diagonal(dy, -1), s)

    return y, leslie_pullback


@rrule(scipy.linalg.fiedler, kink="0 between equal elements",
       domain=lambda rng: [call(rng.normal(size=4))])
def fiedler(a):
    """``y[i, j] = abs(a[i] - a[j])``."""
    if np.ndim(a) != 1:
        raise NotImplementedError("scipy.linalg.fiedler has a rule for vectors")
    y = scipy.linalg.fiedler(a)

    def fiedler_pullback(dy):
        differences = np.expand_dims(a, 1) - a
        directions = np.sign(differences)
        return like(np.sum((dy + np.transpose(dy)) * directions, 1), a)

    return y, fiedler_pullback


@rrule(scipy.linalg.convolution_matrix, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=3), 5), call(rng.normal(size=3), 4, "same"),
    call(rng.normal(size=3), 5, mode="valid"), call(complex_normal(rng, 2), 3),
])
def convolution_matrix(a: np.ndarray, n, mode="full"):
    """Each element of the matrix is one of ``a``, or zero."""
    if np.ndim(a) != 1:
        raise NotImplementedError("scipy.linalg.convolution_matrix has a rule for vectors")
    y = scipy.linalg.convolution_matrix(a, n, mode)

    def convolution_matrix_pullback(dy):
        size = np.shape(a)[0]
        places = scipy.linalg.convolution_matrix(np.arange(1, size + 1), n, mode)
        return like(take_adjoint(dy, (size + 1,), places, 0)[1:], a)

    return y, convolution_matrix_pullback


@rrule(scipy.linalg.block_diag, domain=lambda rng: [
    call(rng.normal(size=(2, 2)), rng.normal(size=(1, 3)), complex_normal(rng, 2, 1)),
    call(rng.normal(size=(2, 2)), rng.normal(size=3)),
    call(rng.normal(size=(2, 3))),
])
def block_diag(*arrs):
    for x in arrs:
        if np.ndim(x) > 2:
            raise NotImplementedError("scipy.linalg.block_diag has a rule for single matrices")
    y = scipy.linalg.block_diag(*arrs)

    def block_diag_pullback(dy):
        return blocks_of(dy, arrs)

    return y, block_diag_pullback


@frule(scipy.linalg.block_diag)
def block_diag_forward(primals, tangents):
    moved = [np.zeros(np.shape(x)) if d is None else d
             for x, d in zip(primals, tangents, strict=True)]
    return scipy.linalg.block_diag(*primals), scipy.linalg.block_diag(*moved)


def blocks_of(dy, arrs):
    """Return the blocks of the cotangent of a block diagonal matrix, in the form of ``arrs``."""
    blocks, row, column = [], 0, 0
    for x in arrs:
        rows, columns = np.shape(np.atleast_2d(x))
        block = dy[row : row + rows, column : column + columns]
        blocks.append(like(np.reshape(block, np.shape(x)), x))
        row, column = row + rows, column + columns
    return tuple(blocks)


@rrule(scipy.linalg.khatri_rao, bilinear=(0, 1), domain=lambda rng: [
    call(rng.normal(size=(2, 3)), rng.normal(size=(4, 3))),
    call(complex_normal(rng, 2, 2), rng.normal(size=(3, 2))),
])
def khatri_rao(a: np.ndarray, b: np.ndarray):
    """Column by column the Kronecker product."""
    if np.ndim(a) != 2 or np.ndim(b) != 2:
        raise NotImplementedError("scipy.linalg.khatri_rao has a rule for single matrices")
    y = scipy.linalg.khatri_rao(a, b)

    def khatri_rao_pullback(dy):
        g = np.reshape(dy, (np.shape(a)[0], np.shape(b)[0], np.shape(a)[1]))
        da = np.sum(g * np.conj(np.expand_dims(b, 0)), 1)
        return like(da, a), like(np.sum(g * np.conj(np.expand_dims(a, 1)), 0), b)

    return y, khatri_rao_pullback


@rrule(scipy.linalg.matmul_toeplitz, wrt=("c_or_cr", "x"), domain=lambda rng: [
    call(rng.normal(size=3), rng.normal(size=3)),
    call((rng.normal(size=3), rng.normal(size=4)), rng.normal(size=(4, 2))),
    call((complex_normal(rng, 3), complex_normal(rng, 2)), complex_normal(rng, 2)),
])
def matmul_toeplitz(c_or_cr: Sequence[Any], x: np.ndarray, check_finite=False, workers=None):
    """The adjoint matrix has the first column and row exchanged, and conjugated."""
    two = isinstance(c_or_cr, tuple)
    c = c_or_cr[0] if two else c_or_cr
    r = c_or_cr[1] if two else np.conj(c_or_cr)
    if np.ndim(c) != 1:
        raise NotImplementedError("scipy.linalg.matmul_toeplitz has a rule for single matrices")
    y = scipy.linalg.matmul_toeplitz(c_or_cr, x, check_finite=check_finite, workers=workers)

    def matmul_toeplitz_pullback(dy):
        row = np.concatenate((np.conj(c[:1]), np.conj(r[1:])))
        dx = scipy.linalg.matmul_toeplitz((row, np.conj(c)), dy)
        if np.ndim(x) == 1:
            dc, dr = toeplitz_adjoint(np.outer(dy, np.conj(x)))
        else:
            dc, dr = toeplitz_adjoint(dy @ np.conj(np.transpose(x)))
        if two:
            return (like(dc, c), like(dr, r)), like(dx, x)
        return like(dc + np.conj(dr), c), like(dx, x)

    return y, matmul_toeplitz_pullback


@rrule(scipy.linalg.diagsvd, wrt=("s",), linear=(0,), domain=lambda rng: [
    call(rng.normal(size=2), 2, 3), call(rng.normal(size=2), 3, 2),
])
def diagsvd(s: np.ndarray, M, N):
    y = scipy.linalg.diagsvd(s, M, N)

    def diagsvd_pullback(dy):
        return like(np.diagonal(dy), s)

    return y, diagsvd_pullback


@rrule(scipy.linalg.norm, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=4)), call(complex_normal(rng, 3)), call(rng.normal(size=(2, 3))),
    call(np.zeros(3)), call([0.5, 1.5]), call(rng.normal(size=(2, 3)), axis=1),
    call(rng.normal(size=(2, 3)), 2, 0, True), call(rng.normal(size=(2, 3)), keepdims=True),
    *[call(rng.normal(size=4), order) for order in (1, 2, 3, 0.5, np.inf, -np.inf)],
    *[call(rng.normal(size=(3, 2)), order)
      for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)],
    call(np.asfortranarray(rng.normal(size=(3, 2))), 1),
    call(rng.normal(size=(2, 3, 4)), "fro", (0, 2)),
], kink="0 at the origin, and in the elements that are 0; elements that tie share the derivative "
        "evenly")
def norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    """As ``numpy.linalg.norm``."""
    y = scipy.linalg.norm(a, ord, axis, keepdims, check_finite)

    def norm_pullback(dy):
        elements = np.asarray(a)
        vector = isinstance(axis, int) or (axis is None and np.ndim(a) == 1)
        slope = dy if keepdims or axis is None else np.expand_dims(dy, axis)
        size = y if keepdims or axis is None else np.expand_dims(y, axis)
        if ord is None or ord == "fro" or (vector and ord == 2):
            da = first_derivative(elements * (slope / (size + (size == 0.0))), slope, size)
        elif vector:
            da = slope_in_elements(elements, size, slope, ord, axis)
        else:
            da = matrix_norm_adjoint(dy, a, ord, (0, 1) if axis is None else axis, keepdims)
        return like(da, a)

    return y, norm_pullback

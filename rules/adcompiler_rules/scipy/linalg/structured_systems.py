"""Rules for SciPy's solvers of banded, Toeplitz and circulant systems, given by what they hold.

As for any linear system ``db = inv(a)^H dy`` and ``da = -db y^H``: of the latter those elements
that are given, with the sums of what stands for several.
"""

from collections.abc import Sequence
from typing import Any
import numpy as np
import scipy.linalg
from scipy.linalg import solve_banded

from adcompiler.rulekit import call, rrule
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler_rules.kernels.scipy_solvers import (
    banded_factor_product, banded_outer, banded_transpose, cholesky_banded_adjoint,
    toeplitz_adjoint,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal
from adcompiler_rules.scipy.linalg.solvers import outer_adjoint


@rrule(solve_banded, wrt=("ab", "b"), domain=lambda rng: [
    call((1, 1), rng.normal(size=(3, 5)) + np.array([[0.0], [4.0], [0.0]]), rng.normal(size=5)),
    call((2, 1), rng.normal(size=(4, 5)) + np.array([[0.0], [5.0], [0.0], [0.0]]),
         rng.normal(size=(5, 2))),
    call((0, 1), rng.normal(size=(2, 4)) + np.array([[0.0], [4.0]]), rng.normal(size=4)),
    call((1, 1), complex_normal(rng, 3, 4) + np.array([[0.0], [5.0], [0.0]]),
         complex_normal(rng, 4)),
])
def solve_banded_rule(
    l_and_u: Sequence[Any], ab: np.ndarray, b: np.ndarray, overwrite_ab=False, overwrite_b=False,
    check_finite=True
):
    """The adjoint system has the diagonals of the transpose."""
    lower, upper = l_and_u
    if np.ndim(ab) != 2:
        raise NotImplementedError("scipy.linalg.solve_banded has a rule for single matrices")
    y = solve_banded((lower, upper), ab, b, check_finite=check_finite)

    def solve_banded_pullback(dy):
        transposed = np.conj(banded_transpose(np.asarray(ab), lower, upper))
        db = solve_banded((upper, lower), transposed, dy)
        return like(-banded_outer(db, np.conj(y), lower, upper), ab), like(db, b)

    return y, solve_banded_pullback


@rrule(scipy.linalg.solveh_banded, wrt=("ab", "b"), domain=lambda rng: [
    call(0.5 * rng.normal(size=(2, 4)) + np.array([[0.0], [4.0]]), rng.normal(size=4)),
    call(0.5 * rng.normal(size=(3, 5)) + np.array([[6.0], [0.0], [0.0]]), rng.normal(size=(5, 2)),
         lower=True),
    call(0.5 * complex_normal(rng, 2, 4) * [[1.0], [0.0]] + np.array([[0.0], [4.0]]),
         complex_normal(rng, 4)),
])
def solveh_banded(
    ab: np.ndarray, b: np.ndarray, overwrite_ab=False, overwrite_b=False, lower=False,
    check_finite=True
):
    """An element off the diagonal stands for two: the cotangents of both come together."""
    if np.ndim(ab) != 2:
        raise NotImplementedError("scipy.linalg.solveh_banded has a rule for single matrices")
    y = scipy.linalg.solveh_banded(ab, b, lower=lower, check_finite=check_finite)

    def solveh_banded_pullback(dy):
        db = scipy.linalg.solveh_banded(ab, dy, lower=lower)
        width = np.shape(ab)[0] - 1
        return like(-hermitian_bands(db, y, width, lower), ab), like(db, b)

    return y, solveh_banded_pullback


def hermitian_bands(x, y, width, lower):
    """Return the stored diagonals of the cotangent ``x y^H`` of a Hermitian banded matrix."""
    if lower:
        first, second = banded_outer(x, np.conj(y), width, 0), banded_outer(y, np.conj(x), width, 0)
        diagonal = np.expand_dims(np.arange(width + 1) == 0, 1)
    else:
        first, second = banded_outer(x, np.conj(y), 0, width), banded_outer(y, np.conj(x), 0, width)
        diagonal = np.expand_dims(np.arange(width + 1) == width, 1)
    return np.where(diagonal, np.real(first), first + second)


@rrule(scipy.linalg.cholesky_banded, wrt=("ab",), domain=lambda rng: [
    call(0.5 * rng.normal(size=(2, 4)) + np.array([[0.0], [4.0]])),
    call(0.5 * rng.normal(size=(3, 5)) + np.array([[6.0], [0.0], [0.0]]), lower=True),
])
def cholesky_banded(ab, overwrite_ab=False, lower=False, check_finite=True):
    """Column by column, from the last to the first, as the factorisation is reversed."""
    if np.ndim(ab) != 2:
        raise NotImplementedError("scipy.linalg.cholesky_banded has a rule for single matrices")
    y = scipy.linalg.cholesky_banded(ab, lower=lower, check_finite=check_finite)

    def cholesky_banded_pullback(dy):
        return like(cholesky_banded_adjoint(y, dy, lower), ab)

    return y, cholesky_banded_pullback


@rrule(scipy.linalg.cho_solve_banded, wrt=("cb_and_lower", "b"), domain=lambda rng: [
    call((scipy.linalg.cholesky_banded(
        0.5 * rng.normal(size=(2, 4)) + np.array([[0.0], [4.0]])), False), rng.normal(size=4)),
    call((scipy.linalg.cholesky_banded(
        0.5 * rng.normal(size=(3, 5)) + np.array([[6.0], [0.0], [0.0]]), lower=True), True),
        rng.normal(size=(5, 2))),
])
def cho_solve_banded(
    cb_and_lower: Sequence[Any], b: np.ndarray, overwrite_b=False, check_finite=True
):
    """``y = inv(c c^H) b`` of a lower factor: ``dc = -(db y^H + y db^H) c``, in its band."""
    cb, lower = cb_and_lower
    if np.ndim(cb) != 2:
        raise NotImplementedError("scipy.linalg.cho_solve_banded has a rule for single matrices")
    y = scipy.linalg.cho_solve_banded((cb, lower), b, check_finite=check_finite)

    def cho_solve_banded_pullback(dy):
        db = scipy.linalg.cho_solve_banded((cb, lower), dy)
        width = np.shape(cb)[0] - 1
        yc, dbc = banded_factor_product(cb, y, lower), banded_factor_product(cb, db, lower)
        if lower:
            dcb = banded_outer(db, np.conj(yc), width, 0) + banded_outer(y, np.conj(dbc), width, 0)
        else:
            dcb = banded_outer(yc, np.conj(db), 0, width) + banded_outer(dbc, np.conj(y), 0, width)
        return (like(-dcb, cb), None), like(db, b)

    return y, cho_solve_banded_pullback


@rrule(scipy.linalg.solve_toeplitz, wrt=("c_or_cr", "b"), domain=lambda rng: [
    call(rng.normal(size=3) + [5.0, 0.0, 0.0], rng.normal(size=3)),
    call((rng.normal(size=3) + [5.0, 0.0, 0.0], rng.normal(size=3)), rng.normal(size=(3, 2))),
    call((complex_normal(rng, 3) + [5.0, 0.0, 0.0], complex_normal(rng, 3)),
         complex_normal(rng, 3)),
])
def solve_toeplitz(c_or_cr: Sequence[Any], b: np.ndarray, check_finite=True):
    """The adjoint system has the first column and row exchanged, and conjugated."""
    two = isinstance(c_or_cr, tuple)
    c = c_or_cr[0] if two else c_or_cr
    r = c_or_cr[1] if two else np.conj(c_or_cr)
    if np.ndim(c) != 1:
        raise NotImplementedError("scipy.linalg.solve_toeplitz has a rule for single matrices")
    y = scipy.linalg.solve_toeplitz(c_or_cr, b, check_finite=check_finite)

    def solve_toeplitz_pullback(dy):
        row = np.concatenate((np.conj(c[:1]), np.conj(r[1:])))
        # older versions take no array that may not be written into, as broadcast ones; this is new
        db = scipy.linalg.solve_toeplitz((row, np.conj(c)), np.concatenate((dy,)))
        dc, dr = toeplitz_adjoint(outer_adjoint(db, y))
        if two:
            return (like(dc, c), like(dr, r)), like(db, b)
        return like(dc + np.conj(dr), c), like(db, b)

    return y, solve_toeplitz_pullback


@rrule(scipy.linalg.solve_circulant, wrt=("c", "b"), domain=lambda rng: [
    call(rng.normal(size=3) + [5.0, 0.0, 0.0], rng.normal(size=3)),
    call(rng.normal(size=3) + [5.0, 0.0, 0.0], rng.normal(size=(3, 2))),
    call(complex_normal(rng, 3) + [5.0, 0.0, 0.0], complex_normal(rng, 3)),
])
def solve_circulant(
    c: np.ndarray, b: np.ndarray, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0
):
    """The adjoint system is circulant with the conjugates of ``c`` in opposite order."""
    if np.ndim(c) != 1 or singular != "raise" or baxis != 0 or outaxis != 0:
        raise NotImplementedError(
            "scipy.linalg.solve_circulant has a rule for one matrix that is not singular, and "
            "right-hand sides along the first axis"
        )
    y = scipy.linalg.solve_circulant(c, b, tol=tol)

    def solve_circulant_pullback(dy):
        opposite = np.conj(np.roll(np.flip(c), 1))
        db = scipy.linalg.solve_circulant(opposite, dy, tol=tol)
        positions = scipy.linalg.circulant(np.arange(np.shape(c)[0]))
        dc = take_adjoint(outer_adjoint(db, y), np.shape(c), positions, 0)
        return like(dc, c), like(db, b)

    return y, solve_circulant_pullback

"""Rules for SciPy's solvers of linear systems, and for the factorisations that they take.

``y = inv(a) b`` has ``db = inv(a)^H dy`` and ``da = -db y^H`` (M. B. Giles, Collected matrix
derivative results, 2008, section 2.3.1): one factorisation serves both systems. Where a function
reads a triangle, the cotangent is zero elsewhere.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import cho_factor, cho_solve, lu_factor, lu_solve, solve_triangular

from adcompiler.rulekit import call, rrule
from adcompiler.runtime import unbroadcast
from adcompiler_rules.kernels.scipy_solvers import (
    mirrored, mirrored_adjoint, permutation_of,
)
from adcompiler.runtime.adjoints.shaping import like

from adcompiler_rules.scipy.samples import BATCHES, complex_normal, positive, regular

ONE_FACTORISATION = "factorises once, whatever structure the matrix has"


def factorises_empty() -> bool:
    """Say whether SciPy factorises matrices of no elements; older versions raise an error."""
    try:
        lu_factor(np.zeros((0, 0)))
    except ValueError:
        return False
    return True


def outer_adjoint(db, y):
    """Return ``-db y^H`` for vectors or matrices."""
    if np.ndim(y) == 1:
        return -np.outer(db, np.conj(y))
    return -db @ np.conj(np.swapaxes(y, -1, -2))


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


# --- solve ----------------------------------------------------------------------------------------


@rrule(scipy.linalg.solve, wrt=("a", "b"), primal_note=ONE_FACTORISATION, domain=lambda rng: [
    call(regular(rng, 3, 3), rng.normal(size=3)),
    call(regular(rng, 3, 3), rng.normal(size=(3, 2))),
    call(regular(rng, 3, 3), rng.normal(size=3), transposed=True),
    call(regular(rng, 3, 3), rng.normal(size=(3, 2)), transposed=True),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), complex_normal(rng, 3)),
    call(regular(rng, 3, 3), complex_normal(rng, 3, 2)),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), rng.normal(size=3)),
    call(regular(rng, 3, 3), rng.normal(size=3), assume_a="sym"),
    call(regular(rng, 3, 3), rng.normal(size=(3, 2)), assume_a="sym", lower=True),
    call(regular(rng, 3, 3) + 0.1j * rng.normal(size=(3, 3)), rng.normal(size=3), assume_a="sym"),
    call(regular(rng, 3, 3) + 0.1j * rng.normal(size=(3, 3)), rng.normal(size=3), assume_a="her"),
    call(positive(rng, 3, 3), rng.normal(size=3), assume_a="pos"),
    call(positive(rng, 3, 3), rng.normal(size=(3, 2)), True, assume_a="pos"),
    call([[2.5, 0.5], [0.5, 1.5]], [0.5, 1.5]),
    *([call(np.zeros((0, 0)), np.zeros(0))] if factorises_empty() else []),
    *([call(regular(rng, 2, 3, 3), rng.normal(size=(2, 3, 1))),
       call(regular(rng, 3, 3), rng.normal(size=(2, 3, 2))),
       call(regular(rng, 2, 3, 3), rng.normal(size=3)),
       call(regular(rng, 3, 3), rng.normal(size=3), assume_a="tridiagonal"),
       call(regular(rng, 3, 3), rng.normal(size=3), assume_a="diagonal"),
       call(regular(rng, 3, 3), rng.normal(size=3), assume_a="lower triangular"),
       call(regular(rng, 3, 3), rng.normal(size=3), assume_a="upper triangular"),
       ] if BATCHES else []),
])
def solve(
    a, b: np.ndarray, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True,
    assume_a=None,
    transposed=False,
):
    """A matrix of which one part is read is factorised as the whole matrix that it stands for."""
    if not is_known(assume_a):
        raise NotImplementedError(f"scipy.linalg.solve has no rule for assume_a={assume_a!r}")
    if np.ndim(a) < 2 or np.ndim(b) == 0:
        raise NotImplementedError("scipy.linalg.solve has a rule for matrices")
    if transposed and np.iscomplexobj(a):
        raise NotImplementedError("scipy.linalg.solve does not transpose complex matrices")
    stacks = np.ndim(a) > 2 or np.ndim(b) > 2
    if stacks and (transposed or not is_whole(assume_a)):
        raise NotImplementedError(
            "scipy.linalg.solve of stacks has a rule for general matrices, not transposed, only"
        )
    precision = np.result_type(np.asarray(a), np.asarray(b))
    factors: Any = None
    if stacks:
        y = scipy.linalg.solve(a, b)
    elif is_positive(assume_a):
        factors = cho_factor(np.asarray(a, precision), lower=lower, check_finite=check_finite)
        y = cho_solve(factors, b, check_finite=check_finite)
    else:
        factors = lu_factor(
            part_read(np.asarray(a, precision), assume_a, lower), check_finite=check_finite
        )
        if not np.all(np.diagonal(factors[0])):
            raise np.linalg.LinAlgError("Matrix is singular.")
        y = lu_solve(factors, b, trans=1 if transposed else 0, check_finite=check_finite)

    def solve_pullback(dy):
        if stacks:
            if np.ndim(b) == 1:
                columns = scipy.linalg.solve(adjoint(a), np.expand_dims(dy, -1))
                db = np.squeeze(columns, -1)
                da = -columns * np.conj(np.expand_dims(y, -2))
            else:
                db = scipy.linalg.solve(adjoint(a), dy)
                da = -db @ adjoint(y)
            da, db = unbroadcast(da, np.shape(a)), unbroadcast(db, np.shape(b))
        elif is_positive(assume_a):
            db = cho_solve(factors, dy)
            da = mirrored_adjoint(outer_adjoint(db, y), lower, True)
        elif transposed:
            db = lu_solve(factors, dy)
            da = part_read_adjoint(outer_adjoint(y, db), assume_a, lower)
        else:
            db = lu_solve(factors, dy, trans=2 if np.iscomplexobj(factors[0]) else 1)
            da = part_read_adjoint(outer_adjoint(db, y), assume_a, lower)
        return like(da, a), like(db, b)

    return y, solve_pullback


def is_whole(structure):
    """Say whether every element of a matrix is read."""
    return structure in (None, "gen", "general", "banded")


def is_positive(structure):
    return structure in ("pos", "positive definite")


def is_symmetric(structure):
    return structure in ("sym", "symmetric")


def is_hermitian(structure):
    return structure in ("her", "hermitian")


def is_known(structure):
    """Say whether ``solve`` has a rule for matrices of this structure."""
    return is_whole(structure) or is_positive(structure) or is_symmetric(structure) or (
        is_hermitian(structure)
    ) or structure in ("diagonal", "tridiagonal", "upper triangular", "lower triangular")


def part_read(a, structure, lower):
    """Return the matrix that ``a`` stands for where a part of its elements is read."""
    if is_symmetric(structure) or is_hermitian(structure):
        return mirrored(a, lower, is_hermitian(structure))
    if structure == "diagonal" or structure == "tridiagonal":
        width = 0 if structure == "diagonal" else 1
        return np.triu(np.tril(a, width), -width)
    if structure == "upper triangular":
        return np.triu(a)
    if structure == "lower triangular":
        return np.tril(a)
    return a


def part_read_adjoint(g, structure, lower):
    """Return the cotangent of ``a`` for ``part_read``: zero for what is not read."""
    if is_symmetric(structure) or is_hermitian(structure):
        return mirrored_adjoint(g, lower, is_hermitian(structure))
    return part_read(g, structure, lower)


# --- factorisations for later use -----------------------------------------------------------------


@rrule(lu_factor, wrt=("a",), kink="rows are taken to be interchanged as they are",
       domain=lambda rng: [
    call(regular(rng, 3, 3)),
    call(rng.normal(size=(4, 4))),
    call(regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2))),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def lu_factor_rule(a, overwrite_a=False, check_finite=True):
    """``P a = L U``: ``da = P^T L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H``."""
    if np.ndim(a) != 2:
        raise NotImplementedError("scipy.linalg.lu_factor has a rule for single matrices")
    if np.shape(a)[0] != np.shape(a)[1]:
        raise NotImplementedError("scipy.linalg.lu_factor has a rule for square matrices")
    y = lu_factor(a, check_finite=check_finite)
    factors = y[0]

    def lu_factor_pullback(dy):
        rows = lu_adjoint(factors, dy[0])
        return like(rows[np.argsort(permutation_of(y[1], len(rows)))], a)

    return y, lu_factor_pullback


def lu_adjoint(factors, dy):
    """Return the cotangent of ``L U`` for its packed factors.

    ``L^-H (tril(L^H dL, -1) + triu(dU U^H)) U^-H``, of the two parts in which ``inv(L) d(L U)
    inv(U)`` gives the changes of ``L`` and ``U``.
    """
    lower, dl = np.tril(factors, -1), np.tril(dy, -1)
    du = np.triu(dy) @ adjoint(np.triu(factors))
    inside = np.tril(adjoint(lower) @ dl + dl, -1) + np.triu(du)
    left = solve_triangular(factors, inside, trans=2, lower=True, unit_diagonal=True)
    return adjoint(solve_triangular(factors, adjoint(left)))


@rrule(lu_solve, wrt=("lu_and_piv", "b"), domain=lambda rng: [
    call(lu_factor(rng.normal(size=(4, 4))), rng.normal(size=4)),
    call(lu_factor(rng.normal(size=(3, 3))), rng.normal(size=(3, 2)), trans=1),
    call(lu_factor(complex_normal(rng, 3, 3)), complex_normal(rng, 3)),
    call(lu_factor(complex_normal(rng, 3, 3)), complex_normal(rng, 3), 1),
    call(lu_factor(complex_normal(rng, 3, 3)), complex_normal(rng, 3, 2), trans=2),
])
def lu_solve_rule(
    lu_and_piv: Sequence[Any], b: np.ndarray, trans=0, overwrite_b=False, check_finite=True
):
    """Through ``U y = z`` and ``L z = P b``, or the transposed systems."""
    lu, piv = lu_and_piv
    if np.ndim(lu) != 2:
        raise NotImplementedError("scipy.linalg.lu_solve has a rule for single matrices")
    y = lu_solve((lu, piv), b, trans=trans, check_finite=check_finite)

    def lu_solve_pullback(dy):
        if trans == 0:
            db = lu_solve((lu, piv), dy, trans=2)
            z = np.triu(lu) @ y
            dz = solve_triangular(lu, dy, trans=2)
            permuted = solve_triangular(lu, dz, trans=2, lower=True, unit_diagonal=True)
            dlu = np.triu(outer_adjoint(dz, y)) + np.tril(outer_adjoint(permuted, z), -1)
        else:
            order = permutation_of(piv, len(lu))
            v, dv = y[order], dy[order]
            if trans == 1:  # inv(a)^T b is conj(inv(a)^H conj(b))
                v, dv = np.conj(v), np.conj(dv)
            w = adjoint(np.tril(lu, -1)) @ v + v
            dw = solve_triangular(lu, dv, lower=True, unit_diagonal=True)
            db = solve_triangular(lu, dw)
            dlu = np.triu(outer_adjoint(w, db)) + np.tril(outer_adjoint(v, dw), -1)
            if trans == 1:
                db = np.conj(db)
        return (like(dlu, lu), None), like(db, b)

    return y, lu_solve_pullback


@rrule(scipy.linalg.lu, wrt=("a",), kink="rows are taken to be interchanged as they are",
       domain=lambda rng: [
    call(rng.normal(size=(4, 4))),
    call(complex_normal(rng, 3, 3)),
    call(rng.normal(size=(4, 4)), permute_l=True),
])
def lu(a: np.ndarray, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    """The cotangent of ``L U``, its rows in the order of ``a``."""
    if np.ndim(a) != 2 or p_indices:
        raise NotImplementedError(
            "scipy.linalg.lu has a rule for single matrices, without p_indices"
        )
    if np.shape(a)[0] != np.shape(a)[1]:
        raise NotImplementedError("scipy.linalg.lu has a rule for square matrices")
    parts = scipy.linalg.lu(a, check_finite=check_finite)
    p, lower, upper = parts

    def lu_pullback(dy):
        pT = np.transpose(p)
        dl = pT @ dy[0] if permute_l else dy[1]
        du = dy[1] if permute_l else dy[2]
        packed = np.tril(lower, -1) + upper
        return like(p @ lu_adjoint(packed, np.tril(dl, -1) + np.triu(du)), a)

    return scipy.linalg.lu(a, permute_l=True) if permute_l else parts, lu_pullback


KEEPS_OTHER_TRIANGLE = bool(cho_factor(np.array([[1.0, 0.5], [0.5, 1.0]]))[0][1, 0])
"""Whether the triangle that the factor leaves free is that of the matrix: to SciPy 1.17."""


@rrule(cho_factor, wrt=("a",), domain=lambda rng: [
    call(positive(rng, 3, 3)),
    call(positive(rng, 3, 3), lower=True),
    call(positive(rng, 3, 3) + 0.2j * rng.normal(size=(3, 3)), True),
])
def cho_factor_rule(a, lower=False, overwrite_a=False, check_finite=True):
    """As ``scipy.linalg.cholesky``; the other triangle of the result is that of ``a``, or zero."""
    if np.ndim(a) != 2:
        raise NotImplementedError("scipy.linalg.cho_factor has a rule for single matrices")
    if np.ndim(lower) > 0:
        raise NotImplementedError("scipy.linalg.cho_factor takes one truth value for lower=")
    y = cho_factor(a, lower=lower, check_finite=check_finite)

    def cho_factor_pullback(dy):
        if lower:
            da = cholesky_adjoint(np.tril(y[0]), np.tril(dy[0]))
        else:
            da = adjoint(cholesky_adjoint(adjoint(np.triu(y[0])), adjoint(np.triu(dy[0]))))
        if KEEPS_OTHER_TRIANGLE:
            da = da + (np.triu(dy[0], 1) if lower else np.tril(dy[0], -1))
        return like(da, a)

    return y, cho_factor_pullback


def cholesky_adjoint(y, dy):
    """Return the cotangent, lower triangular, of the matrix with the Cholesky factor ``y``.

    ``s = y^-H phi(y^H dy) y^-1``, phi taking the lower triangle and half of the diagonal, is the
    cotangent where both triangles move (I. Murray, arXiv:1602.07527, 2016, eq. 10).
    """
    eye = np.eye(len(y), dtype=np.real(y).dtype)
    product = adjoint(y) @ dy
    phi = np.tril(product, -1) + 0.5 * np.real(product) * eye
    right = solve_triangular(y, adjoint(phi), trans=2, lower=True)
    s = solve_triangular(y, adjoint(right), trans=2, lower=True)
    return np.tril(s + adjoint(s), -1) + np.real(s) * eye


@rrule(scipy.linalg.cholesky, wrt=("a",), domain=lambda rng: [
    call(positive(rng, 3, 3)),
    call(positive(rng, 3, 3), lower=True),
    call(positive(rng, 3, 3).astype(complex), True),
    call(positive(rng, 3, 3) + 0.2j * rng.normal(size=(3, 3))),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def cholesky(a, lower=False, overwrite_a=False, check_finite=True):
    """The cotangent is triangular: one triangle is read, and the real part of its diagonal."""
    if np.ndim(a) != 2:
        raise NotImplementedError("scipy.linalg.cholesky has a rule for single matrices")
    if np.ndim(lower) > 0:
        raise NotImplementedError("scipy.linalg.cholesky takes one truth value for lower=")
    y = scipy.linalg.cholesky(a, lower=lower, check_finite=check_finite)

    def cholesky_pullback(dy):
        if lower:
            return like(cholesky_adjoint(y, np.tril(dy)), a)
        return like(adjoint(cholesky_adjoint(adjoint(y), adjoint(np.triu(dy)))), a)

    return y, cholesky_pullback


@rrule(cho_solve, wrt=("c_and_lower", "b"), domain=lambda rng: [
    call(cho_factor(positive(rng, 3, 3)), rng.normal(size=3)),
    call(cho_factor(positive(rng, 3, 3), lower=True), rng.normal(size=(3, 2))),
    call(cho_factor(positive(rng, 3, 3) + 0.2j * rng.normal(size=(3, 3))), complex_normal(rng, 3)),
])
def cho_solve_rule(c_and_lower: Sequence[Any], b: np.ndarray, overwrite_b=False, check_finite=True):
    """``y = inv(c c^H) b``: ``dc = -(db y^H + y db^H) c``, in its triangle."""
    c, lower = c_and_lower
    if np.ndim(c) != 2:
        raise NotImplementedError("scipy.linalg.cho_solve has a rule for single matrices")
    y = cho_solve((c, lower), b, check_finite=check_finite)

    def cho_solve_pullback(dy):
        db = cho_solve((c, lower), dy)
        both = outer_adjoint(db, y)
        both = both + adjoint(both)
        dc = np.tril(both @ np.tril(c)) if lower else np.triu(np.triu(c) @ both)
        return (like(dc, c), None), like(db, b)

    return y, cho_solve_pullback


# --- triangular systems ---------------------------------------------------------------------------


@rrule(solve_triangular, wrt=("a", "b"), domain=lambda rng: [
    call(regular(rng, 3, 3), rng.normal(size=3)),
    call(regular(rng, 3, 3), rng.normal(size=(3, 2)), lower=True),
    call(regular(rng, 3, 3), rng.normal(size=3), trans=1, lower=True),
    call(regular(rng, 3, 3), rng.normal(size=3), "T", True, True),
    call(regular(rng, 3, 3), rng.normal(size=3), "N", unit_diagonal=True),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), complex_normal(rng, 3)),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), complex_normal(rng, 3, 2), trans=1),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), complex_normal(rng, 3), "C"),
    call([[2.5, 0.5], [0.5, 1.5]], [0.5, 1.5]),
])
def solve_triangular_rule(
    a: np.ndarray, b: np.ndarray, trans=0, lower=False, unit_diagonal=False, overwrite_b=False,
    check_finite=True
):
    """The cotangent of ``a`` is triangular, without a diagonal if that is taken to be one."""
    if np.ndim(a) != 2 or np.ndim(b) > 2:
        raise NotImplementedError("scipy.linalg.solve_triangular has a rule for single matrices")
    y = solve_triangular(
        a, b, trans=trans, lower=lower, unit_diagonal=unit_diagonal, check_finite=check_finite
    )

    def solve_triangular_pullback(dy):
        if trans in (0, "N"):
            db = solve_triangular(a, dy, trans=2, lower=lower, unit_diagonal=unit_diagonal)
            da = outer_adjoint(db, y)
        elif trans in (1, "T"):  # inv(a)^T b is conj(inv(a)^H conj(b))
            dconj = solve_triangular(a, np.conj(dy), lower=lower, unit_diagonal=unit_diagonal)
            db, da = np.conj(dconj), outer_adjoint(np.conj(y), dconj)
        else:
            db = solve_triangular(a, dy, lower=lower, unit_diagonal=unit_diagonal)
            da = outer_adjoint(y, db)
        without = 1 if unit_diagonal else 0
        return like(np.tril(da, -without) if lower else np.triu(da, without), a), like(db, b)

    return y, solve_triangular_pullback

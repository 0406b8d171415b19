"""BLAS and LAPACK by name: functions in Python that do the same are compiled in their place.

Those of double precision, with the options that do not move or write: offsets and strides are not
among the parameters, and a call of BLAS that may overwrite its arguments is refused. Where LAPACK
gives a positive ``info``, that a matrix is singular or not positive definite, an error is raised.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg import blas, lapack

from adcompiler.rulekit import non_differentiable, replacement
from adcompiler.rulekit.problems import UncoveredError


OVERWRITES = "a call of BLAS that may overwrite its arguments has no rule"


def matrix(a):
    return np.asarray(a, dtype=float)


def turned(a, trans):
    return np.transpose(matrix(a)) if trans else matrix(a)


def in_place(x: Any) -> None:
    """Raise where BLAS would not write into ``x`` but into a copy of it."""
    if not isinstance(x, np.ndarray) or x.dtype != float or not x.flags.c_contiguous:
        raise NotImplementedError(
            "BLAS writes into a contiguous array of float64 only: give it one, x.copy()")


non_differentiable(in_place, pure=False)

# --- BLAS -----------------------------------------------------------------------------------------


@replacement(blas.dgemm)
def dgemm(alpha, a, b, beta=0.0, c=None, trans_a=0, trans_b=0, overwrite_c=0):
    if overwrite_c:
        raise UncoveredError(OVERWRITES)
    product = alpha * (turned(a, trans_a) @ turned(b, trans_b))
    return product if c is None else product + beta * matrix(c)


@replacement(blas.dgemv)
def dgemv(alpha, a, x, beta=0.0, y=None, *, trans=0, overwrite_y=0):
    if overwrite_y:
        raise UncoveredError(OVERWRITES)
    product = alpha * (turned(a, trans) @ np.asarray(x, dtype=float))
    return product if y is None else product + beta * np.asarray(y, dtype=float)


@replacement(blas.ddot)
def ddot(x, y):
    return float(np.dot(np.asarray(x, dtype=float), np.asarray(y, dtype=float)))


@replacement(blas.dnrm2)
def dnrm2(x):
    return float(np.linalg.norm(np.asarray(x, dtype=float)))


@replacement(blas.dasum)
def dasum(x):
    return float(np.sum(np.abs(np.asarray(x, dtype=float))))


@replacement(blas.daxpy)
def daxpy(x, y, n=None, a=1.0):
    if n is not None:
        raise UncoveredError("daxpy of some of the elements has no rule")
    in_place(y)
    y += a * np.asarray(x, dtype=float)
    return y


@replacement(blas.dscal)
def dscal(a, x):
    in_place(x)
    x *= a
    return x


@replacement(blas.dger)
def dger(alpha, x, y, *, a=None, overwrite_x=1, overwrite_y=1, overwrite_a=0):
    if overwrite_a:
        raise UncoveredError(OVERWRITES)
    product = alpha * np.outer(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    return product if a is None else product + matrix(a)


@replacement(blas.dcopy)
def dcopy(x, y):
    in_place(y)
    y[: np.size(x)] = np.asarray(x, dtype=float)
    return y


@replacement(blas.dswap)
def dswap(x, y):
    in_place(x)
    in_place(y)
    held = x.copy()
    x[...] = y
    y[...] = held
    return x, y


@replacement(blas.drot)
def drot(x, y, c, s, *, overwrite_x=0, overwrite_y=0):
    if overwrite_x or overwrite_y:
        raise UncoveredError(OVERWRITES)
    first, second = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    return c * first + s * second, c * second - s * first


non_differentiable(blas.idamax)


def half_of(a, lower, apart=0):
    """Return the triangle of a matrix that is read, without ``apart`` diagonals next to the main.
    """
    return np.tril(a, -apart) if lower else np.triu(a, apart)


def half_updated(product, beta, c, lower):
    """Return one triangle of ``product + beta * c``, with the other one of ``c``."""
    half = half_of(product, lower)
    if c is None:
        return half
    whole = matrix(c)
    return half + beta * half_of(whole, lower) + half_of(whole, not lower, 1)


def symmetric(a, lower):
    """Return the symmetric matrix of which one triangle is read."""
    half = half_of(matrix(a), lower)
    return half + half.T - np.diag(np.diag(half))


@replacement(blas.dsyr)
def dsyr(alpha, x, lower=0, *, a=None, overwrite_a=0):
    if overwrite_a:
        raise UncoveredError(OVERWRITES)
    row = np.asarray(x, dtype=float)
    return half_updated(alpha * np.outer(row, row), 1.0, a, lower)


@replacement(blas.dsyr2)
def dsyr2(alpha, x, y, lower=0, *, a=None, overwrite_a=0):
    if overwrite_a:
        raise UncoveredError(OVERWRITES)
    product = alpha * np.outer(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    return half_updated(product + product.T, 1.0, a, lower)


@replacement(blas.dsyrk)
def dsyrk(alpha, a, beta=0.0, c=None, trans=0, lower=0, overwrite_c=0):
    if overwrite_c:
        raise UncoveredError(OVERWRITES)
    rows = turned(a, trans)
    return half_updated(alpha * (rows @ rows.T), beta, c, lower)


@replacement(blas.dsyr2k)
def dsyr2k(alpha, a, b, beta=0.0, c=None, trans=0, lower=0, overwrite_c=0):
    if overwrite_c:
        raise UncoveredError(OVERWRITES)
    product = alpha * (turned(a, trans) @ turned(b, trans).T)
    return half_updated(product + product.T, beta, c, lower)


@replacement(blas.dsymv)
def dsymv(alpha, a, x, beta=0.0, y=None, *, lower=0, overwrite_y=0):
    if overwrite_y:
        raise UncoveredError(OVERWRITES)
    product = alpha * (symmetric(a, lower) @ np.asarray(x, dtype=float))
    return product if y is None else product + beta * np.asarray(y, dtype=float)


@replacement(blas.dsymm)
def dsymm(alpha, a, b, beta=0.0, c=None, side=0, lower=0, overwrite_c=0):
    if overwrite_c:
        raise UncoveredError(OVERWRITES)
    whole = symmetric(a, lower)
    product = alpha * (matrix(b) @ whole if side else whole @ matrix(b))
    return product if c is None else product + beta * matrix(c)


def triangle(a, lower, diag):
    """Return the triangle of a matrix that is read, with ones in its diagonal if ``diag`` says so.
    """
    half = half_of(matrix(a), lower)
    return half - np.diag(np.diag(half)) + np.eye(np.shape(half)[0]) if diag else half


@replacement(blas.dtrmv)
def dtrmv(a, x, *, lower=0, trans=0, diag=0, overwrite_x=0):
    if overwrite_x:
        raise UncoveredError(OVERWRITES)
    return turned(triangle(a, lower, diag), trans) @ np.asarray(x, dtype=float)


@replacement(blas.dtrmm)
def dtrmm(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
    if overwrite_b:
        raise UncoveredError(OVERWRITES)
    half = turned(triangle(a, lower, diag), trans_a)
    return alpha * (matrix(b) @ half if side else half @ matrix(b))


@replacement(blas.dtrsv)
def dtrsv(a, x, *, lower=0, trans=0, diag=0, overwrite_x=0):
    if overwrite_x:
        raise UncoveredError(OVERWRITES)
    return solved(a, np.asarray(x, dtype=float), lower, trans, diag)


@replacement(blas.dtrsm)
def dtrsm(alpha, a, b, side=0, lower=0, trans_a=0, diag=0, overwrite_b=0):
    if overwrite_b:
        raise UncoveredError(OVERWRITES)
    right = alpha * matrix(b)
    if side:
        return solved(a, right.T, lower, 0 if trans_a else 1, diag).T
    return solved(a, right, lower, trans_a, diag)


def solved(a, b, lower, trans, diag):
    return scipy.linalg.solve_triangular(
        matrix(a), b, trans=1 if trans else 0, lower=bool(lower), unit_diagonal=bool(diag))


# --- LAPACK ---------------------------------------------------------------------------------------


def other(a, lower):
    """Return the triangle of a matrix that LAPACK leaves as it is."""
    return np.triu(matrix(a), 1) if lower else np.tril(matrix(a), -1)


@replacement(lapack.dpotrf)
def dpotrf(a, lower=0, clean=1, overwrite_a=0):
    factor = scipy.linalg.cholesky(matrix(a), lower=bool(lower))
    return (factor if clean else factor + other(a, lower)), 0


@replacement(lapack.dpotrs)
def dpotrs(c, b, lower=0, overwrite_b=0):
    return scipy.linalg.cho_solve((matrix(c), bool(lower)), np.asarray(b, dtype=float)), 0


@replacement(lapack.dposv)
def dposv(a, b, lower=0, overwrite_a=0, overwrite_b=0):
    factor = scipy.linalg.cholesky(matrix(a), lower=bool(lower))
    x = scipy.linalg.cho_solve((factor, bool(lower)), np.asarray(b, dtype=float))
    return factor + other(a, lower), x, 0


@replacement(lapack.dpotri)
def dpotri(c, lower=0, overwrite_c=0):
    half = matrix(c)
    whole = scipy.linalg.cho_solve((half, bool(lower)), np.eye(np.shape(half)[0]))
    return (np.tril(whole) if lower else np.triu(whole)) + other(c, lower), 0


@replacement(lapack.dgetrf)
def dgetrf(a, overwrite_a=0):
    lu, pivots = scipy.linalg.lu_factor(matrix(a))
    return lu, pivots, 0


@replacement(lapack.dgetrs)
def dgetrs(lu, piv, b, trans=0, overwrite_b=0):
    return scipy.linalg.lu_solve((matrix(lu), piv), np.asarray(b, dtype=float), trans=trans), 0


@replacement(lapack.dgetri)
def dgetri(lu, piv, lwork=None, overwrite_lu=0):
    factor = matrix(lu)
    return scipy.linalg.lu_solve((factor, piv), np.eye(np.shape(factor)[0])), 0


@replacement(lapack.dgesv)
def dgesv(a, b, overwrite_a=0, overwrite_b=0):
    lu, pivots = scipy.linalg.lu_factor(matrix(a))
    x = scipy.linalg.lu_solve((lu, pivots), np.asarray(b, dtype=float))
    return lu, pivots, x, 0


@replacement(lapack.dtrtrs)
def dtrtrs(a, b, lower=0, trans=0, unitdiag=0, *, overwrite_b=0):
    return solved(a, np.asarray(b, dtype=float), lower, trans, unitdiag), 0


@replacement(lapack.dtrtri)
def dtrtri(c, lower=0, unitdiag=0, overwrite_c=0):
    half = matrix(c)
    inverse = solved(half, np.eye(np.shape(half)[0]), lower, 0, unitdiag)
    if unitdiag:
        inverse = inverse - np.diag(np.diag(inverse)) + np.diag(np.diag(half))
    return inverse + other(c, lower), 0


# --- looked up by the classes of arrays -----------------------------------------------------------


def of_doubles(arrays):
    """Refuse arrays for which functions of another precision would be chosen."""
    for a in arrays:
        if a.dtype != np.float64:
            raise UncoveredError("functions of BLAS and LAPACK have rules for arrays of float64")


def looked_up(module, names):
    if isinstance(names, str):
        return getattr(module, "d" + names)
    if len(names) == 1:
        return (getattr(module, "d" + names[0]),)
    if len(names) == 2:
        return getattr(module, "d" + names[0]), getattr(module, "d" + names[1])
    if len(names) == 3:
        return (getattr(module, "d" + names[0]), getattr(module, "d" + names[1]),
                getattr(module, "d" + names[2]))
    raise UncoveredError("at most three functions of BLAS or LAPACK are looked up at once")


@replacement(scipy.linalg.get_blas_funcs, blas.get_blas_funcs)
def get_blas_funcs(names, arrays=(), dtype=None):
    if dtype is not None:
        raise UncoveredError("functions of BLAS and LAPACK have rules for arrays of float64")
    of_doubles(arrays)
    return looked_up(blas, names)


@replacement(scipy.linalg.get_lapack_funcs, lapack.get_lapack_funcs)
def get_lapack_funcs(names, arrays=(), dtype=None):
    if dtype is not None:
        raise UncoveredError("functions of BLAS and LAPACK have rules for arrays of float64")
    of_doubles(arrays)
    return looked_up(lapack, names)

"""Rules for NumPy's linear algebra, on stacks of matrices.

The formulas are those of M. B. Giles, Collected matrix derivative results for forward and reverse
mode algorithmic differentiation, 2008 (https://people.maths.ox.ac.uk/gilesm/files/AD2008.pdf),
with ``H``, the conjugate transpose, for his ``T``.
"""

from typing import Any

import numpy as np

from adcompiler.rulekit import call, complexes, rrule
from adcompiler.runtime import unbroadcast
from adcompiler_rules.kernels.linear_algebra import VECTORS_BY_RANK, cofactors
from adcompiler.runtime.adjoints.shaping import like


def _regular(rng, *shape):
    return rng.normal(size=shape) + 3.0 * np.eye(shape[-1])


def _positive(rng, *shape):
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


@rrule(np.linalg.inv, domain=lambda rng: [
    call(_regular(rng, 3, 3)),
    call(_regular(rng, 2, 3, 3)),
    call(_regular(rng, 3, 3).T),
    call(_regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2))),
    call(np.zeros((0, 3, 3))),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def inv(a: np.ndarray):
    """``da = -y^H dy y^H`` (Giles 2008, section 2.2.3)."""
    y = np.linalg.inv(a)

    def inv_pullback(dy):
        yH = np.conj(np.swapaxes(y, -1, -2))
        return like(-yH @ dy @ yH, a)

    return y, inv_pullback


@rrule(np.linalg.det, domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(2, 3, 3))),
    call(complexes(rng, 2, 2)),
    call(np.diag([0.0, 1.5, 2.5])),
    call(np.zeros((0, 3, 3))),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def det(a: np.ndarray):
    """``da = dy * conj(cofactors(a))`` (Giles 2008, section 2.2.4), for singular ``a`` as well."""
    y = np.linalg.det(a)

    def det_pullback(dy):
        return like(np.expand_dims(dy, (-2, -1)) * np.conj(cofactors(a)), a)

    return y, det_pullback


@rrule(np.linalg.slogdet, domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(2, 3, 3))),
    call(complexes(rng, 3, 3)),
    call(complexes(rng, 2, 2, 2)),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def slogdet(a: np.ndarray):
    """``da = dlogdet * inv(a)^H`` (Giles 2008, section 2.2.4).

    With ``t = trace(inv(a) da)`` the logarithm changes by ``real(t)``, and a complex sign turns by
    ``1j * sign * imag(t)``.
    """
    y = np.linalg.slogdet(a)
    sign = y[0]

    def slogdet_pullback(dy):
        rate = dy[1]
        if np.iscomplexobj(a):
            rate = rate + 1j * np.imag(np.conj(sign) * dy[0])
        yH = np.conj(np.swapaxes(np.linalg.inv(a), -1, -2))
        return like(np.expand_dims(rate, (-2, -1)) * yH, a)

    return y, slogdet_pullback


@rrule(np.linalg.solve, primal_note="factorises by SciPy's LAPACK, once", domain=lambda rng: [
    call(_regular(rng, 3, 3), rng.normal(size=3)),
    call(_regular(rng, 3, 3), rng.normal(size=(3, 2))),
    call(_regular(rng, 2, 3, 3), rng.normal(size=(2, 3, 1))),
    call(_regular(rng, 3, 3), rng.normal(size=(2, 3, 2))),
    call(_regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), complexes(rng, 3)),
    call(_regular(rng, 3, 3), complexes(rng, 3, 2)),
    call(_regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3)), rng.normal(size=3)),
    call([[2.5, 0.5], [0.5, 1.5]], [0.5, 1.5]),
    *(call(_regular(rng, 2, 3, 3), rng.normal(size=shape))
      for shape in ([(2, 3)] if VECTORS_BY_RANK else [(3,), (3, 2)])),
])
def solve(a: np.ndarray, b: np.ndarray):
    """``db = inv(a)^H dy`` and ``da = -db y^H`` (Giles 2008, section 2.3.1).

    A single matrix is factorised once for both systems; SciPy is imported where that is compiled.
    """
    from scipy.linalg import lu_factor, lu_solve

    stacks = np.ndim(a) != 2 or np.ndim(b) not in (1, 2)
    factors: Any = None
    if stacks:
        y = np.linalg.solve(a, b)
    else:
        if np.shape(a)[0] != np.shape(a)[1]:
            raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square")
        factors = lu_factor(
            np.asarray(a, np.result_type(np.asarray(a), np.asarray(b))), check_finite=False
        )
        if not np.all(np.diagonal(factors[0])):
            raise np.linalg.LinAlgError("Singular matrix")
        y = lu_solve(factors, b, check_finite=False)
        if np.ndim(b) == 2:
            y = y.copy()  # rows after one another, as NumPy lays it out

    def solve_pullback(dy):
        if not stacks:
            db = lu_solve(
                factors, dy, trans=2 if np.iscomplexobj(factors[0]) else 1, check_finite=False
            )
            da = -np.outer(db, np.conj(y)) if np.ndim(b) == 1 else -db @ np.conj(np.transpose(y))
            return like(da, a), like(db, b)
        aH = np.conj(np.swapaxes(a, -1, -2))
        if np.ndim(b) == 1 or (VECTORS_BY_RANK and np.ndim(b) == np.ndim(a) - 1):
            columns = np.linalg.solve(aH, np.expand_dims(dy, -1))
            db = np.squeeze(columns, -1)
            da = -columns * np.conj(np.expand_dims(y, -2))
        else:
            db = np.linalg.solve(aH, dy)
            da = -db @ np.conj(np.swapaxes(y, -1, -2))
        return like(unbroadcast(da, np.shape(a)), a), like(unbroadcast(db, np.shape(b)), b)

    return y, solve_pullback


@rrule(np.linalg.cholesky, wrt=("a",), domain=lambda rng: [
    call(_positive(rng, 3, 3)),
    call(_positive(rng, 2, 3, 3)),
    call(_positive(rng, 3, 3).astype(complex)),
    call([[2.5, 0.5], [0.5, 1.5]]),
    *([call(_positive(rng, 2, 3, 3), upper=True)] if not VECTORS_BY_RANK else []),
])
def cholesky(a: np.ndarray, *, upper=False):
    """The cotangent is triangular: NumPy reads the lower triangle, the real part of its diagonal.

    ``s = y^-H phi(y^H dy) y^-1``, phi taking the lower triangle and half of the diagonal, is the
    cotangent where both triangles of a Hermitian ``a`` move (I. Murray, Differentiation of the
    Cholesky decomposition, 2016, arXiv:1602.07527, eq. 10). ``upper`` swaps the triangles.
    """
    y = np.linalg.cholesky(a, upper=True) if upper else np.linalg.cholesky(a)

    def cholesky_pullback(dy):
        yH = y if upper else np.conj(np.swapaxes(y, -1, -2))
        eye = np.eye(np.shape(a)[-1], dtype=np.real(y).dtype)
        lower = np.conj(np.swapaxes(np.triu(dy), -1, -2)) if upper else np.tril(dy)
        product = yH @ lower
        phi = np.tril(product, -1) + 0.5 * np.real(product) * eye
        right = np.linalg.solve(yH, np.conj(np.swapaxes(phi, -1, -2)))
        s = np.linalg.solve(yH, np.conj(np.swapaxes(right, -1, -2)))
        both = s + np.conj(np.swapaxes(s, -1, -2))
        triangle = np.triu(both, 1) if upper else np.tril(both, -1)
        return like(triangle + np.real(s) * eye, a)

    return y, cholesky_pullback

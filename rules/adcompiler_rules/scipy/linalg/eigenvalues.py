"""Rules for SciPy's eigenvalue problems. Vectors of equal values do not turn into one another.

Vectors are determined up to a phase: cotangents are right for what does not depend on it.
"""

import numpy as np
import scipy.linalg

from adcompiler.rulekit import call, rrule
from adcompiler_rules.kernels.gathering import take_adjoint
from adcompiler_rules.kernels.linear_algebra import nearest
from adcompiler_rules.kernels.scipy_solvers import mirrored_adjoint
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.scipy.samples import complex_normal, positive
from adcompiler_rules.scipy.linalg.structured_systems import hermitian_bands

DEGENERATE = "vectors of equal values do not turn into one another"
VECTORS_TOO = "computes all eigenvectors"


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def nearly_symmetric(rng, n):
    """Return a matrix that is not symmetric and has real, well separated eigenvalues."""
    return np.diag(3.0 * np.arange(1.0, n + 1.0)) + 0.3 * rng.normal(size=(n, n))


def inverse_gaps(w):
    """Return ``1 / (w[j] - w[i])``, zero where two values are equal."""
    gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    return np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))


def chosen(w, by_index, by_value):
    """Return the positions of the values that a subset asks for."""
    if by_index is not None:
        return np.arange(by_index[0], by_index[1] + 1)
    return np.flatnonzero((w > by_value[0]) & (w <= by_value[1]))


# --- symmetric and Hermitian matrices -------------------------------------------------------------


@rrule(scipy.linalg.eigh, wrt=("a", "b"), primal_note=VECTORS_TOO, kink=DEGENERATE,
       domain=lambda rng: [
    call(nearly_symmetric(rng, 3)),
    call(nearly_symmetric(rng, 3), lower=False),
    call(nearly_symmetric(rng, 3), eigvals_only=True),
    call(nearly_symmetric(rng, 3), positive(rng, 3, 3)),
    call(nearly_symmetric(rng, 3), positive(rng, 3, 3), lower=False),
    call(nearly_symmetric(rng, 3), positive(rng, 3, 3), eigvals_only=True),
    call(nearly_symmetric(rng, 4), subset_by_index=[1, 2]),
    call(nearly_symmetric(rng, 4), subset_by_value=[0.0, 10.0], eigvals_only=True),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def eigh(
    a: np.ndarray, b=None, *, lower=True, eigvals_only=False, overwrite_a=False,
    overwrite_b=False, type=1,
    check_finite=True, subset_by_index=None, subset_by_value=None, driver=None,
):
    """``a v = b v diag(w)`` with ``v^H b v = 1``: ``w`` moves by ``v^H (da - w db) v``.

    ``da = v (diag(dw) + f * k) v^H`` and ``db = -v (diag(dw) w + (f * k) w + diag(k) / 2) v^H``
    with ``k = v^H dv`` and ``f[i, j] = 1 / (w[j] - w[i])``, where both triangles move; one is read.
    """
    if np.ndim(a) != 2 or (b is not None and type != 1):
        raise NotImplementedError("scipy.linalg.eigh has a rule for single matrices and type=1")
    whole = subset_by_index is None and subset_by_value is None
    w, v = scipy.linalg.eigh(
        a, b, lower=lower, check_finite=check_finite, driver=driver if whole else None
    )
    positions = None if whole else chosen(w, subset_by_index, subset_by_value)
    values = w if whole else w[positions]
    vectors = v if whole else v[:, positions]

    def eigh_pullback(dy):
        dw = dy if eigvals_only else dy[0]
        dw = dw if whole else take_adjoint(dw, np.shape(w), positions, 0)
        inside = np.eye(len(w), dtype=w.dtype) * np.expand_dims(dw, -1)
        k = np.zeros_like(v)
        if not eigvals_only:
            dv = dy[1] if whole else take_adjoint(dy[1], np.shape(v), positions, 1)
            k = adjoint(v) @ dv
            inside = inside + inverse_gaps(w) * k
        da = like(mirrored_adjoint(v @ inside @ adjoint(v), lower, True), a)
        if b is None:
            return da, None
        diagonal = 0.5 * np.real(k) * np.eye(len(w), dtype=w.dtype)
        s = v @ (inside * np.expand_dims(w, 0) + diagonal) @ adjoint(v)
        return da, like(-mirrored_adjoint(s, lower, True), b)

    return values if eigvals_only else (values, vectors), eigh_pullback


@rrule(scipy.linalg.eigvalsh, wrt=("a", "b"), primal_note=VECTORS_TOO, kink=DEGENERATE,
       domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(complex_normal(rng, 3, 3), lower=False),
    call(rng.normal(size=(3, 3)), positive(rng, 3, 3)),
    call(rng.normal(size=(4, 4)), subset_by_index=[0, 2]),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def eigvalsh(
    a: np.ndarray, b=None, *, lower=True, overwrite_a=False, overwrite_b=False, type=1,
    check_finite=True,
    subset_by_index=None, subset_by_value=None, driver=None,
):
    if np.ndim(a) != 2 or (b is not None and type != 1):
        raise NotImplementedError("scipy.linalg.eigvalsh has a rule for single matrices and type=1")
    whole = subset_by_index is None and subset_by_value is None
    w, v = scipy.linalg.eigh(a, b, lower=lower, check_finite=check_finite)
    positions = None if whole else chosen(w, subset_by_index, subset_by_value)

    def eigvalsh_pullback(dw):
        dw = dw if whole else take_adjoint(dw, np.shape(w), positions, 0)
        da = like(mirrored_adjoint((v * dw) @ adjoint(v), lower, True), a)
        if b is None:
            return da, None
        return da, like(-mirrored_adjoint((v * (w * dw)) @ adjoint(v), lower, True), b)

    return w if whole else w[positions], eigvalsh_pullback


def tridiagonal_adjoint(s):
    """Return the cotangents of the diagonal and of the one beside it, which stands twice."""
    return np.diagonal(s), np.diagonal(s, 1) + np.diagonal(s, -1)


@rrule(scipy.linalg.eigh_tridiagonal, wrt=("d", "e"), primal_note=VECTORS_TOO, kink=DEGENERATE,
       domain=lambda rng: [
    call(3.0 * np.arange(4.0), 0.4 * rng.normal(size=3)),
    call(3.0 * np.arange(4.0), 0.4 * rng.normal(size=3), eigvals_only=True),
])
def eigh_tridiagonal(
    d: np.ndarray, e: np.ndarray, eigvals_only=False, select="a", select_range=None,
    check_finite=True, tol=0.0,
    lapack_driver="auto",
):
    if np.ndim(d) != 1 or select != "a":
        raise NotImplementedError(
            "scipy.linalg.eigh_tridiagonal has a rule for all values of single matrices"
        )
    w, v = scipy.linalg.eigh_tridiagonal(d, e, tol=tol, lapack_driver=lapack_driver)

    def eigh_tridiagonal_pullback(dy):
        inside = np.eye(len(w), dtype=w.dtype) * np.expand_dims(dy if eigvals_only else dy[0], -1)
        if not eigvals_only:
            inside = inside + inverse_gaps(w) * (np.transpose(v) @ dy[1])
        dd, de = tridiagonal_adjoint(v @ inside @ np.transpose(v))
        return like(dd, d), like(de, e)

    return w if eigvals_only else (w, v), eigh_tridiagonal_pullback


@rrule(scipy.linalg.eigvalsh_tridiagonal, wrt=("d", "e"), primal_note=VECTORS_TOO,
       kink=DEGENERATE, domain=lambda rng: [call(rng.normal(size=4), rng.normal(size=3))])
def eigvalsh_tridiagonal(
    d: np.ndarray, e: np.ndarray, select="a", select_range=None, check_finite=True, tol=0.0,
    lapack_driver="auto"
):
    if np.ndim(d) != 1 or select != "a":
        raise NotImplementedError(
            "scipy.linalg.eigvalsh_tridiagonal has a rule for all values of single matrices"
        )
    w, v = scipy.linalg.eigh_tridiagonal(d, e)

    def eigvalsh_tridiagonal_pullback(dw):
        dd, de = tridiagonal_adjoint((v * dw) @ np.transpose(v))
        return like(dd, d), like(de, e)

    return w, eigvalsh_tridiagonal_pullback


@rrule(scipy.linalg.eig_banded, wrt=("a_band",), primal_note=VECTORS_TOO, kink=DEGENERATE,
       domain=lambda rng: [
    call(rng.normal(size=(2, 4)), eigvals_only=True),
    call(rng.normal(size=(3, 5)), lower=True, eigvals_only=True),
])
def eig_banded(
    a_band: np.ndarray, lower=False, eigvals_only=False, overwrite_a_band=False, select="a",
    select_range=None, max_ev=0, check_finite=True,
):
    if np.ndim(a_band) != 2 or select != "a":
        raise NotImplementedError(
            "scipy.linalg.eig_banded has a rule for all values of single matrices"
        )
    w, v = scipy.linalg.eig_banded(a_band, lower=lower, check_finite=check_finite)

    def eig_banded_pullback(dy):
        if eigvals_only:
            turned = v * dy
        else:
            turned = v * dy[0] + v @ (inverse_gaps(w) * (adjoint(v) @ dy[1]))
        return like(hermitian_bands(turned, v, np.shape(a_band)[0] - 1, lower), a_band)

    return w if eigvals_only else (w, v), eig_banded_pullback


@rrule(scipy.linalg.eigvals_banded, wrt=("a_band",), primal_note=VECTORS_TOO, kink=DEGENERATE,
       domain=lambda rng: [
    call(rng.normal(size=(2, 4))),
    call(complex_normal(rng, 3, 5), lower=True),
])
def eigvals_banded(
    a_band: np.ndarray, lower=False, overwrite_a_band=False, select="a", select_range=None,
    check_finite=True
):
    if np.ndim(a_band) != 2 or select != "a":
        raise NotImplementedError(
            "scipy.linalg.eigvals_banded has a rule for all values of single matrices"
        )
    w, v = scipy.linalg.eig_banded(a_band, lower=lower, check_finite=check_finite)

    def eigvals_banded_pullback(dw):
        return like(hermitian_bands(v * dw, v, np.shape(a_band)[0] - 1, lower), a_band)

    return w, eigvals_banded_pullback


# --- general matrices -----------------------------------------------------------------------------


def eig_adjoint(w, v, dw, k):
    """Return the cotangent of ``v diag(w) inv(v)``, ``k`` being ``v^H dv``.

    Vectors have length one, so those parts of ``k`` that would change the lengths count for
    nothing (C. Boeddeker et al., On the computation of complex-valued gradients, 2017, 4.5).
    """
    free = k - adjoint(v) @ (v * np.real(np.diagonal(k)))
    inside = np.conj(inverse_gaps(w)) * free + np.diag(dw)
    return scipy.linalg.solve(adjoint(v), inside @ adjoint(v))


@rrule(scipy.linalg.eig, wrt=("a",), kink=DEGENERATE, domain=lambda rng: [
    call(nearly_symmetric(rng, 3)),
    call(nearly_symmetric(rng, 3), right=False),
    call([[2.5, 0.5], [0.25, 1.5]]),
])
def eig(
    a: np.ndarray, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False,
    check_finite=True,
    homogeneous_eigvals=False,
):
    if np.ndim(a) != 2 or b is not None or left or homogeneous_eigvals:
        raise NotImplementedError(
            "scipy.linalg.eig has a rule for values and right vectors of single matrices, no other"
        )
    w, v = scipy.linalg.eig(a, check_finite=check_finite)

    def eig_pullback(dy):
        if right:
            return like(eig_adjoint(w, v, dy[0], adjoint(v) @ dy[1]), a)
        return like(eig_adjoint(w, v, dy, np.zeros_like(v)), a)

    return (w, v) if right else w, eig_pullback


@rrule(scipy.linalg.eigvals, wrt=("a",), kink=DEGENERATE,
       domain=lambda rng: [
    call(nearly_symmetric(rng, 3)),
    call(rng.normal(size=(3, 3))),
    call(complex_normal(rng, 3, 3)),
    call([[2.5, 0.5], [0.25, 1.5]]),
])
def eigvals(
    a: np.ndarray, b=None, overwrite_a=False, overwrite_b=False, check_finite=True,
    homogeneous_eigvals=False
):
    """``da = v^-H diag(dw) v^H``; ``eig`` may give the eigenvalues in another order."""
    if np.ndim(a) != 2 or b is not None or homogeneous_eigvals:
        raise NotImplementedError(
            "scipy.linalg.eigvals has a rule for single matrices, without b= and "
            "homogeneous_eigvals="
        )
    w = scipy.linalg.eigvals(a, check_finite=check_finite)

    def eigvals_pullback(dw):
        y = scipy.linalg.eig(a, check_finite=check_finite)
        vH = adjoint(y[1][:, nearest(w, y[0])])
        return like(scipy.linalg.solve(vH, np.expand_dims(dw, 1) * vH), a)

    return w, eigvals_pullback

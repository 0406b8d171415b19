"""Rules for SciPy's inverses, determinants, factorisations and least squares.

``H`` is the conjugate transpose. The formulas are those of the rules for ``numpy.linalg``, of M. B.
Giles, Collected matrix derivative results, 2008, and of what the rules name. Vectors are determined
up to a phase: cotangents are right for what does not depend on it.
"""

import numpy as np
import scipy.linalg

from adcompiler.rulekit import call, rrule
from adcompiler_rules.kernels.linear_algebra import cofactors
from adcompiler_rules.kernels.scipy_solvers import mirrored, mirrored_adjoint
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.numpy.linalg.orthogonal import (
    completion_adjoint, qr_adjoint, qr_adjoint_of_any,
)
from adcompiler_rules.numpy.linalg.pseudo_inverses import (
    full_rank_adjoint, pinv_adjoint, truncation_adjoint,
)
from adcompiler_rules.scipy.samples import BATCHES, complex_normal, regular

RANK = "the rank is taken as constant"


def adjoint(a):
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


# --- inverses and determinants --------------------------------------------------------------------


@rrule(scipy.linalg.inv, wrt=("a",), domain=lambda rng: [
    call(regular(rng, 3, 3)),
    call(regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2))),
    call([[2.5, 0.5], [0.5, 1.5]]),
    *([call(regular(rng, 2, 3, 3))] if BATCHES else []),
])
def inv(a: np.ndarray, overwrite_a=False, check_finite=True):
    """``da = -y^H dy y^H``."""
    y = scipy.linalg.inv(a, check_finite=check_finite)

    def inv_pullback(dy):
        yH = adjoint(y)
        return like(-yH @ dy @ yH, a)

    return y, inv_pullback


@rrule(scipy.linalg.det, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(complex_normal(rng, 2, 2)),
    call(np.diag([0.0, 1.5, 2.5])),
    call([[2.5, 0.5], [0.5, 1.5]]),
    *([call(rng.normal(size=(2, 3, 3)))] if BATCHES else []),
])
def det(a: np.ndarray, overwrite_a=False, check_finite=True):
    """``da = dy * conj(cofactors(a))``, for singular ``a`` as well."""
    y = scipy.linalg.det(a, check_finite=check_finite)

    def det_pullback(dy):
        return like(np.expand_dims(dy, (-2, -1)) * np.conj(cofactors(a)), a)

    return y, det_pullback


@rrule(scipy.linalg.pinv, wrt=("a",), kink=RANK, domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2))),
    call(rng.normal(size=(2, 4))),
    call(complex_normal(rng, 3, 2)),
    call(rng.normal(size=(3, 2)) @ rng.normal(size=(2, 3)) + 1e3 * np.eye(3), rtol=1e-4),
    call([[2.5, 0.5], [0.5, 1.5], [1.5, 0.5]]),
    call(rng.normal(size=(4, 3)), rtol=0.5), call(complex_normal(rng, 3, 4), rtol=0.5),
])
def pinv(a: np.ndarray, *, atol=None, rtol=None, return_rank=False, check_finite=True):
    if return_rank:
        raise NotImplementedError("scipy.linalg.pinv has no rule for return_rank=True")
    y = scipy.linalg.pinv(a, atol=atol, rtol=rtol, check_finite=check_finite)

    def pinv_pullback(dy):
        return like(pinv_adjoint(np.asarray(a), y, dy), a)

    return y, pinv_pullback


@rrule(scipy.linalg.pinvh, wrt=("a",), kink=RANK, domain=lambda rng: [
    call(regular(rng, 3, 3)),
    call(regular(rng, 3, 3), lower=False),
    call(regular(rng, 3, 3) + 1j * rng.normal(size=(3, 3))),
    call(rng.normal(size=(3, 3)), rtol=0.7), call(complex_normal(rng, 3, 3), None, 0.7, False),
])
def pinvh(a: np.ndarray, atol=None, rtol=None, lower=True, return_rank=False, check_finite=True):
    """One triangle is read: the cotangent is zero in the other."""
    if return_rank or np.ndim(a) != 2:
        raise NotImplementedError(
            "scipy.linalg.pinvh has a rule for single matrices, without return_rank=True"
        )
    y = scipy.linalg.pinvh(a, atol, rtol, lower, False, check_finite)

    def pinvh_pullback(dy):
        g = pinv_adjoint(mirrored(np.asarray(a), lower, True), y, dy)
        return like(mirrored_adjoint(g, lower, True), a)

    return y, pinvh_pullback


# --- QR -------------------------------------------------------------------------------------------


@rrule(scipy.linalg.qr, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2)), mode="economic"),
    call(rng.normal(size=(2, 4)), mode="economic"),
    call(rng.normal(size=(2, 3))),
    call(rng.normal(size=(4, 3)), mode="economic", pivoting=True),
    call(rng.normal(size=(3, 3)), mode="r"),
    call(complex_normal(rng, 4, 2), mode="economic"),
    call([[2.5, 0.5], [0.5, 1.5]]),
    call(rng.normal(size=(4, 2))),
    call(rng.normal(size=(4, 2)), mode="r"),
    call(rng.normal(size=(4, 3)), pivoting=True),
    call(complex_normal(rng, 3, 2)),
])
def qr(
    a: np.ndarray, overwrite_a=False, lwork=None, mode="full", pivoting=False, check_finite=True
):
    """The columns that complete those of a tall matrix turn as the reflections do."""
    if np.ndim(a) != 2 or mode == "raw" or (mode == "r" and pivoting):
        raise NotImplementedError(
            "scipy.linalg.qr has a rule for single matrices, not for mode='raw', nor for mode='r' "
            "with pivoting"
        )
    y = scipy.linalg.qr(a, mode="full" if mode == "r" else mode, pivoting=pivoting)
    q, r = y[0], y[1]

    def qr_pullback(dy):
        n = min(np.shape(a)[0], np.shape(a)[1])
        first, upper = q[:, :n], r[:n]
        if mode == "r":
            return like(qr_adjoint_of_any(first, upper, np.zeros_like(first), dy[0][:n]), a)
        dq = dy[0]
        if np.shape(q)[1] > n:
            dq = completion_adjoint(q, dq, n)
        g = qr_adjoint_of_any(first, upper, dq, dy[1][:n])
        return like(g[:, np.argsort(y[2])] if pivoting else g, a)

    return (r,) if mode == "r" else y, qr_pullback


@rrule(scipy.linalg.rq, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(2, 4)), mode="economic"),
    call(complex_normal(rng, 2, 3), mode="economic"),
])
def rq(a: np.ndarray, overwrite_a=False, lwork=None, mode="full", check_finite=True):
    """``a^H`` with its columns in opposite order is ``q^H r^H`` with ``q^H`` and ``r^H`` turned."""
    if np.ndim(a) != 2 or mode == "r":
        raise NotImplementedError(
            "scipy.linalg.rq has a rule for single matrices, not for mode='r'"
        )
    wide = np.shape(a)[0] < np.shape(a)[1]
    if np.shape(a)[0] > np.shape(a)[1] or (wide and mode == "full"):
        raise NotImplementedError(
            "scipy.linalg.rq has a rule for square matrices, and for wide ones with mode='economic'"
        )
    y = scipy.linalg.rq(a, mode=mode)
    r, q = y

    def rq_pullback(dy):
        turned_r, turned_dr = adjoint(np.flip(r)), adjoint(np.flip(np.triu(dy[0])))
        g = qr_adjoint(np.flip(adjoint(q), 1), turned_r, np.flip(adjoint(dy[1]), 1), turned_dr)
        return like(adjoint(np.flip(g, 1)), a)

    return y, rq_pullback


# --- singular values, polar decomposition ---------------------------------------------------------


@rrule(scipy.linalg.svd, wrt=("a",), primal_note="computes the vectors in any case",
       kink="vectors of equal values do not turn into one another", domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2)), full_matrices=False),
    call(rng.normal(size=(2, 4)), False),
    call(rng.normal(size=(4, 2)), compute_uv=False),
    call(complex_normal(rng, 2, 3), compute_uv=False),
    call(rng.normal(size=(3, 3)), lapack_driver="gesvd"),
])
def svd(
    a: np.ndarray, full_matrices=True, compute_uv=True, overwrite_a=False, check_finite=True,
    lapack_driver="gesdd",
):
    """As ``numpy.linalg.svd``; vectors that complete a rectangular matrix are refused."""
    if compute_uv and full_matrices and np.shape(a)[-1] != np.shape(a)[-2]:
        raise NotImplementedError(
            "scipy.linalg.svd with full_matrices=True has no derivative for rectangular matrices; "
            "use full_matrices=False"
        )
    y = scipy.linalg.svd(a, full_matrices=False, lapack_driver=lapack_driver)
    u, s, vH = y

    def svd_pullback(dy):
        if not compute_uv:
            return like((u * np.expand_dims(dy, -2)) @ vH, a)
        v, du, dv = adjoint(vH), dy[0], adjoint(dy[2])
        row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
        gaps = row * row - column * column
        inverse_gaps = np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))
        u_turn, v_turn = adjoint(u) @ du, vH @ dv
        u_part = inverse_gaps * (u_turn - adjoint(u_turn))
        v_part = inverse_gaps * (v_turn - adjoint(v_turn))
        eye = np.eye(np.shape(s)[-1], dtype=s.dtype)
        along = eye * np.expand_dims(dy[1], -1)
        if np.iscomplexobj(a):  # it fixes how the phases of u and v differ, not each of them
            along = along + 0.5j * eye * np.imag(u_turn - v_turn) / row
        g = u @ (u_part * row + column * v_part + along) @ vH
        u_out, v_out = (du - u @ u_turn) / row, (dv - v @ v_turn) / row
        return like(g + u_out @ vH + u @ adjoint(v_out), a)

    return y if compute_uv else s, svd_pullback


@rrule(scipy.linalg.svdvals, wrt=("a",), primal_note="computes the vectors too",
       domain=lambda rng: [
    call(rng.normal(size=(3, 2))), call(rng.normal(size=(2, 3))), call(complex_normal(rng, 2, 2)),
])
def svdvals(a: np.ndarray, overwrite_a=False, check_finite=True):
    u, s, vH = scipy.linalg.svd(a, full_matrices=False, check_finite=check_finite)

    def svdvals_pullback(ds):
        return like((u * np.expand_dims(ds, -2)) @ vH, a)

    return s, svdvals_pullback


def polar_adjoint(u, p, du, dp):
    """Return the cotangent of ``u p``, where ``x p + p x`` is twice the skew part of ``u^H da``.

    ``x = u^H du`` turns, and ``p`` moves by ``u^H da - x p``; what leaves the columns of ``u`` is
    divided by ``p`` (N. J. Higham, Functions of Matrices, 2008, section 8.1).
    """
    turn = adjoint(u) @ du - dp @ p
    z = scipy.linalg.solve_sylvester(p, p, turn)
    outside = du - u @ (adjoint(u) @ du)
    return u @ (z - adjoint(z) + dp) + adjoint(scipy.linalg.solve(p, adjoint(outside)))


@rrule(scipy.linalg.polar, wrt=("a",), kink="singular matrices have no derivative",
       domain=lambda rng: [
    call(regular(rng, 3, 3)),
    call(rng.normal(size=(4, 2))),
    call(rng.normal(size=(2, 4)), side="left"),
    call(regular(rng, 3, 3), "left"),
    call(regular(rng, 2, 2) + 1j * rng.normal(size=(2, 2))),
])
def polar(a: np.ndarray, side="right"):
    if np.ndim(a) != 2:
        raise NotImplementedError("scipy.linalg.polar has a rule for single matrices")
    wide, tall = np.shape(a)[0] < np.shape(a)[1], np.shape(a)[0] > np.shape(a)[1]
    if (side == "right" and wide) or (side == "left" and tall):
        raise NotImplementedError(
            "scipy.linalg.polar has a rule where the Hermitian factor is the smaller one: "
            "side='right' for tall matrices, side='left' for wide ones"
        )
    y = scipy.linalg.polar(a, side=side)
    u, p = y

    def polar_pullback(dy):
        if side == "right":
            return like(polar_adjoint(u, p, dy[0], dy[1]), a)
        return like(adjoint(polar_adjoint(adjoint(u), p, adjoint(dy[0]), adjoint(dy[1]))), a)

    return y, polar_pullback


IMAGINARY = np.array([[1j]])
CONJUGATES = bool(scipy.linalg.orthogonal_procrustes(IMAGINARY, IMAGINARY)[0][0, 0].real > 0.0)
"""Whether the rotation is that of ``A^H B``; in older versions of SciPy it is that of ``A^T B``."""


@rrule(scipy.linalg.orthogonal_procrustes, wrt=("A", "B"),
       primal_note="takes the rotation from a polar decomposition", domain=lambda rng: [
    call(rng.normal(size=(5, 3)), rng.normal(size=(5, 3))),
])
def orthogonal_procrustes(A: np.ndarray, B: np.ndarray, check_finite=True):
    """The rotation is the unitary factor of ``A^H B``, the scale the trace of the other one."""
    turned = np.asarray(A) if CONJUGATES else np.conj(A)
    u, p = scipy.linalg.polar(adjoint(turned) @ np.asarray(B))

    def orthogonal_procrustes_pullback(dy):
        eye = np.eye(len(p), dtype=p.dtype)
        g = polar_adjoint(u, p, dy[0], dy[1] * eye)
        da = np.asarray(B) @ adjoint(g)
        return like(da if CONJUGATES else np.conj(da), A), like(turned @ g, B)

    return (u, np.real(np.trace(p))), orthogonal_procrustes_pullback


# --- least squares --------------------------------------------------------------------------------


@rrule(scipy.linalg.lstsq, wrt=("a", "b"), kink=RANK, domain=lambda rng: [
    call(rng.normal(size=(5, 2)), rng.normal(size=5)),
    call(rng.normal(size=(5, 2)), rng.normal(size=(5, 3))),
    call(rng.normal(size=(2, 4)), rng.normal(size=2)),
    call(rng.normal(size=(3, 3)), rng.normal(size=3), cond=1e-8),
    call(complex_normal(rng, 4, 2), complex_normal(rng, 4)),
    call(rng.normal(size=(4, 2)), rng.normal(size=4), lapack_driver="gelss"),
    call(rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), cond=0.5),
    call(complex_normal(rng, 3, 4), complex_normal(rng, 3), 0.5),
])
def lstsq(
    a: np.ndarray, b: np.ndarray, cond=None, overwrite_a=False, overwrite_b=False,
    check_finite=True, lapack_driver=None
):
    """The solution is ``pinv(a) b``, residuals are ``sum(abs(b - a x)^2)``, then rank and svdvals.

    Where residuals come out empty (rank deficient or not overdetermined), they have no cotangent.
    """
    if lapack_driver == "gelsy" or np.ndim(a) != 2:
        raise NotImplementedError(
            "scipy.linalg.lstsq has a rule for single matrices, not for lapack_driver='gelsy'"
        )
    y = scipy.linalg.lstsq(a, b, cond, False, False, check_finite, lapack_driver)
    vector = np.ndim(b) == 1
    columns = np.expand_dims(b, 1) if vector else np.asarray(b)
    x = np.expand_dims(y[0], 1) if vector else y[0]

    def lstsq_pullback(dy):
        dx = np.expand_dims(dy[0], 1) if vector else dy[0]
        matrix = np.asarray(a)
        rank = y[2]
        u, s, vH = scipy.linalg.svd(matrix, full_matrices=False)
        remainder = columns - matrix @ x
        if rank == np.shape(matrix)[1]:
            da, db = full_rank_adjoint(u, s, vH, remainder, x, dx)
        else:
            pinvH = (u[:, :rank] / s[:rank]) @ vH[:rank]
            inverse = np.conj(np.transpose(pinvH))
            across = columns @ np.conj(np.transpose(dx))  # the cotangent of pinv(a), transposed
            left, right = across @ inverse @ pinvH, pinvH @ inverse @ across
            da = left - matrix @ (inverse @ left) + right - (right @ inverse) @ matrix
            da = da - pinvH @ np.conj(np.transpose(across)) @ pinvH
            if rank < np.size(s):
                da = da + truncation_adjoint(u, s, vH, np.arange(np.size(s)) < rank, across)
            db = pinvH @ dx
        da = da + (u * dy[3]) @ vH
        if np.size(y[1]) > 0:
            left_over = 2.0 * np.real(dy[1]) * remainder
            da = da - left_over @ np.conj(np.transpose(x))
            db = db + left_over
        return like(da, a), like(np.reshape(db, np.shape(b)), b)

    return y, lstsq_pullback

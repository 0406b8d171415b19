"""Rules for NumPy's decompositions of stacks of matrices: eigh, svd, qr, pinv.

``H`` is the conjugate transpose. Vectors are determined up to a phase: cotangents are right for
what does not depend on it, as results of programs do not.
"""

import inspect
from typing import Any

import numpy as np

from adcompiler.rulekit import call, complexes, rrule
from adcompiler.runtime.adjoints.shaping import like
from adcompiler_rules.numpy.linalg.orthogonal import completion_adjoint, qr_adjoint_of_any
from adcompiler_rules.numpy.linalg.pseudo_inverses import (
    full_rank_adjoint, pinv_adjoint, truncation_adjoint,
)

DEGENERATE = "vectors of equal values do not turn into one another"


# --- eigenvalues of symmetric and Hermitian matrices ----------------------------------------------


@rrule(np.linalg.eigh, wrt=("a",), kink=DEGENERATE, domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(3, 3)), "U"),
    call(rng.normal(size=(2, 3, 3)), UPLO="L"),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def eigh(a: np.ndarray, UPLO="L"):
    """``s = v (diag(dw) + f * (v^H dv)) v^H``, ``f[i, j] = 1 / (w[j] - w[i])`` (Giles 2008, 3.1).

    It is the cotangent where both triangles move; NumPy reads one, and its diagonal's real part.
    """
    y = np.linalg.eigh(a, UPLO=UPLO)
    w, v = y[0], y[1]

    def eigh_pullback(dy):
        vH = np.conj(np.swapaxes(v, -1, -2))
        eye = np.eye(np.shape(a)[-1], dtype=w.dtype)
        gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
        inverse_gaps = np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))
        inside = eye * np.expand_dims(dy[0], -1) + inverse_gaps * (vH @ dy[1])
        s = v @ inside @ vH
        both = s + np.conj(np.swapaxes(s, -1, -2))
        triangle = np.tril(both, -1) if UPLO == "L" else np.triu(both, 1)
        return like(triangle + np.real(s) * eye, a)

    return y, eigh_pullback


@rrule(np.linalg.eigvalsh, wrt=("a",), primal_note="computes the eigenvectors too", kink=DEGENERATE,
       domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(2, 3, 3)), "U"),
    call(complexes(rng, 3, 3)),
    call([[2.5, 0.5], [0.5, 1.5]]),
])
def eigvalsh(a: np.ndarray, UPLO="L"):
    w, v = np.linalg.eigh(a, UPLO=UPLO)

    def eigvalsh_pullback(dw):
        s = (v * np.expand_dims(dw, -2)) @ np.conj(np.swapaxes(v, -1, -2))
        both = s + np.conj(np.swapaxes(s, -1, -2))
        triangle = np.tril(both, -1) if UPLO == "L" else np.triu(both, 1)
        return like(triangle + np.real(s) * np.eye(np.shape(a)[-1], dtype=w.dtype), a)

    return w, eigvalsh_pullback


# --- singular values ------------------------------------------------------------------------------


@rrule(np.linalg.svd, wrt=("a",), primal_note="computes the vectors in any case", kink=DEGENERATE,
       domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2)), full_matrices=False),
    call(rng.normal(size=(4, 2))), call(rng.normal(size=(1, 3))),
    call(rng.normal(size=(2, 4)), False),
    call(rng.normal(size=(2, 3, 2)), full_matrices=False),
    call(rng.normal(size=(4, 2)), compute_uv=False),
    call(complexes(rng, 2, 3), compute_uv=False),
    call([[2.5, 0.5], [0.5, 1.5]], compute_uv=False),
    call(rng.normal(size=(3, 3)), hermitian=True),
    call(rng.normal(size=(2, 3, 3)), compute_uv=False, hermitian=True),
])
def svd(a: np.ndarray, full_matrices=True, compute_uv=True, hermitian=False):
    """From ``a = u diag(s) v^H`` (J. Townsend, Differentiating the singular value decomposition).

    Where vectors that complete a rectangular matrix (``full_matrices``) are those of its QR
    factorisation, as LAPACK has them of a long matrix, they turn as the reflections do; others turn
    only as far as they must to stay orthogonal to the first. ``hermitian`` matrices are read in the
    lower triangle.
    """
    y = np.linalg.svd(a, compute_uv and full_matrices, hermitian=hermitian)
    count = min(np.shape(a)[-2], np.shape(a)[-1])
    u, s, vH = y[0][..., :, :count], y[1], y[2][..., :count, :]

    def svd_pullback(dy):
        if not compute_uv:
            da = (u * np.expand_dims(dy, -2)) @ vH
        else:
            uH = np.conj(np.swapaxes(u, -1, -2))
            v = np.conj(np.swapaxes(vH, -1, -2))
            du = dy[0][..., :, :count]
            dv = np.conj(np.swapaxes(dy[2][..., :count, :], -1, -2))
            row, column = np.expand_dims(s, -2), np.expand_dims(s, -1)
            gaps = row * row - column * column
            inverse_gaps = np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))
            u_turn, v_turn = uH @ du, vH @ dv
            u_part = inverse_gaps * (u_turn - np.conj(np.swapaxes(u_turn, -1, -2)))
            v_part = inverse_gaps * (v_turn - np.conj(np.swapaxes(v_turn, -1, -2)))
            eye = np.eye(np.shape(s)[-1], dtype=s.dtype)
            along = eye * np.expand_dims(dy[1], -1)
            if np.iscomplexobj(a):  # it fixes how the phases of u and v differ, not each of them
                along = along + 0.5j * eye * np.imag(u_turn - v_turn) / row
            da = u @ (u_part * row + column * v_part + along) @ vH
            u_out, v_out = (du - u @ u_turn) / row, (dv - v @ v_turn) / row
            if full_matrices:
                u_rest, du_rest = y[0][..., :, count:], dy[0][..., :, count:]
                v_rest = np.conj(np.swapaxes(y[2][..., count:, :], -1, -2))
                dv_rest = np.conj(np.swapaxes(dy[2][..., count:, :], -1, -2))
                aH = np.conj(np.swapaxes(np.asarray(a), -1, -2))
                if completes(a, u_rest):
                    da = da + completing_adjoint(np.asarray(a), du_rest)
                else:
                    u_out = u_out - u_rest @ (np.conj(np.swapaxes(du_rest, -1, -2)) @ u) / row
                if completes(aH, v_rest):
                    da = da + np.conj(np.swapaxes(completing_adjoint(aH, dv_rest), -1, -2))
                else:
                    v_out = v_out - v_rest @ (np.conj(np.swapaxes(dv_rest, -1, -2)) @ v) / row
            da = da + u_out @ vH + u @ np.conj(np.swapaxes(v_out, -1, -2))
        return like(lower_half(da) if hermitian else da, a)

    return y if compute_uv else s, svd_pullback


def completes(a, rest):
    """Say whether vectors are the two or more that complete ``a`` in its QR factorisation."""
    n = np.shape(a)[-1]
    if np.shape(rest)[-1] < 2 or np.shape(a)[-2] <= n:
        return False
    return bool(np.allclose(np.linalg.qr(a, "complete")[0][..., n:], rest))


def completing_adjoint(a, drest):
    """Return the cotangent of ``a`` for one of the vectors that complete it in ``qr``."""
    q, r = np.linalg.qr(a, "complete")
    n = np.shape(a)[-1]
    first = q[..., :n]
    dq = np.concatenate((np.zeros_like(first), drest), -1)
    return qr_adjoint_of_any(
        first, r[..., :n, :], completion_adjoint(q, dq, n), np.zeros_like(r[..., :n, :]))


def lower_half(s: Any) -> Any:
    """Return the cotangent of what is read of a Hermitian matrix: its lower triangle."""
    both = s + np.conj(np.swapaxes(s, -1, -2))
    return np.tril(both, -1) + np.real(s) * np.eye(np.shape(s)[-1], dtype=np.real(s).dtype)


CUTOFF = inspect.signature(np.linalg.pinv).parameters["rcond"].default
"""What NumPy takes for a cutoff that is not given: 1e-15 in 1.26, None since."""


@rrule(np.linalg.pinv, wrt=("a",), kink="the rank is taken as constant", domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2))),
    call(rng.normal(size=(2, 4))),
    call(rng.normal(size=(2, 3, 2))),
    call(complexes(rng, 3, 2)),
    call([[2.5, 0.5], [0.5, 1.5], [1.5, 0.5]]),
    call(rng.normal(size=(4, 3)), 0.5), call(complexes(rng, 3, 4), 0.5),
    call(rng.normal(size=(3, 3)), 1e-10, True), call(rng.normal(size=(2, 3, 3)), hermitian=True),
    *([call(rng.normal(size=(4, 2)), rtol=1e-10)] if hasattr(np.linalg, "svdvals") else []),
])
def pinv(a: np.ndarray, rcond=CUTOFF, hermitian=False, *, rtol=np._NoValue):
    """The Hermitian matrix is the one that the lower triangle stands for."""
    if rtol is np._NoValue:
        y = np.linalg.pinv(a, rcond, hermitian)
    else:
        y = np.linalg.pinv(a, rcond, hermitian, rtol=rtol)

    def pinv_pullback(dy):
        whole = np.asarray(a)
        if hermitian:
            lower = np.tril(whole, -1)
            eye = np.eye(np.shape(whole)[-1], dtype=np.real(whole).dtype)
            whole = lower + np.conj(np.swapaxes(lower, -1, -2)) + np.real(whole) * eye
        da = pinv_adjoint(whole, y, dy)
        return like(lower_half(da) if hermitian else da, a)

    return y, pinv_pullback


# --- QR -------------------------------------------------------------------------------------------


@rrule(np.linalg.qr, wrt=("a",), domain=lambda rng: [
    call(rng.normal(size=(3, 3))),
    call(rng.normal(size=(4, 2))),
    call(rng.normal(size=(2, 4, 3)), mode="reduced"),
    call(rng.normal(size=(3, 3)), "complete"),
    call(rng.normal(size=(4, 2)), "r"),
    call(complexes(rng, 4, 2)),
    call([[2.5, 0.5], [0.5, 1.5]]),
    call(rng.normal(size=(2, 4))),
    call(rng.normal(size=(2, 2, 3)), mode="complete"),
    call(rng.normal(size=(2, 4)), "r"),
    call(rng.normal(size=(4, 2)), "complete"),
    call(rng.normal(size=(2, 4, 3)), mode="complete"),
    call(complexes(rng, 4, 2), "complete"),
    call(complexes(rng, 2, 3)),
])
def qr(a: np.ndarray, mode="reduced"):
    """The columns that complete those of a tall matrix turn as the reflections do."""
    if mode != "reduced" and mode != "complete" and mode != "r":
        raise NotImplementedError(f"np.linalg.qr has no derivative rule for mode={mode!r}")
    y = np.linalg.qr(a, "complete" if mode == "complete" else "reduced")
    q, r = y[0], y[1]

    def qr_pullback(dy):
        n = min(np.shape(a)[-2], np.shape(a)[-1])
        first, upper = q[..., :n], r[..., :n, :]
        if mode == "r":
            return like(qr_adjoint_of_any(first, upper, np.zeros_like(first), dy), a)
        dq = dy[0]
        if np.shape(q)[-1] > n:
            dq = completion_adjoint(q, dq, n)
        return like(qr_adjoint_of_any(first, upper, dq, dy[1][..., :n, :]), a)

    return r if mode == "r" else y, qr_pullback


if hasattr(np.linalg, "svdvals"):  # NumPy 2

    @rrule(np.linalg.svdvals, primal_note="computes the vectors too", domain=lambda rng: [
        call(rng.normal(size=(3, 2))), call(rng.normal(size=(2, 2, 3))), call(complexes(rng, 2, 2)),
    ])
    def svdvals(x: np.ndarray):
        u, s, vH = np.linalg.svd(x, full_matrices=False)

        def svdvals_pullback(ds):
            return like((u * np.expand_dims(ds, -2)) @ vH, x)

        return s, svdvals_pullback


# --- least squares --------------------------------------------------------------------------------


@rrule(np.linalg.lstsq, wrt=("a", "b"), kink="the rank is taken as constant", domain=lambda rng: [
    call(rng.normal(size=(5, 2)), rng.normal(size=5), rcond=None),
    call(rng.normal(size=(5, 2)), rng.normal(size=(5, 3)), None),
    call(rng.normal(size=(2, 4)), rng.normal(size=2), rcond=None),
    call(rng.normal(size=(3, 3)), rng.normal(size=3), rcond=None),
    call(complexes(rng, 4, 2), complexes(rng, 4), rcond=None),
    call([[2.5, 0.5], [0.5, 1.5], [1.5, 0.5]], [0.5, 1.5, 3.5], rcond=None),
    call(rng.normal(size=(4, 3)), rng.normal(size=(4, 2)), rcond=0.5),
    call(complexes(rng, 3, 4), complexes(rng, 3), rcond=0.5),
])
def lstsq(a: np.ndarray, b: np.ndarray, rcond=None):
    """The solution is ``pinv(a) b``, residuals are ``sum(abs(b - a x)^2)``, then rank and svdvals.

    Where residuals come out empty (rank deficient or not overdetermined), they have no cotangent.
    """
    y = np.linalg.lstsq(a, b, rcond=rcond)
    vector = np.ndim(b) == 1
    columns = np.expand_dims(b, 1) if vector else np.asarray(b)
    x = np.expand_dims(y[0], 1) if vector else y[0]

    def lstsq_pullback(dy):
        dx = np.expand_dims(dy[0], 1) if vector else dy[0]
        matrix = np.asarray(a)
        rank = y[2]
        u, s, vH = np.linalg.svd(matrix, full_matrices=False)
        remainder = columns - matrix @ x
        if rank == np.shape(matrix)[1]:
            da, db = full_rank_adjoint(u, s, vH, remainder, x, dx)
        else:
            pinvH = (u[:, :rank] / s[:rank]) @ vH[:rank]
            pinv = np.conj(np.transpose(pinvH))
            across = columns @ np.conj(np.transpose(dx))  # the cotangent of pinv(a), transposed
            left, right = across @ pinv @ pinvH, pinvH @ pinv @ across
            da = left - matrix @ (pinv @ left) + right - (right @ pinv) @ matrix
            da = da - pinvH @ np.conj(np.transpose(across)) @ pinvH
            if rank < np.size(s):
                da = da + truncation_adjoint(u, s, vH, np.arange(np.size(s)) < rank, across)
            db = pinvH @ dx
        da = da + (u * dy[3]) @ vH
        if np.size(y[1]) > 0:
            left_over = 2.0 * dy[1] * remainder
            da = da - left_over @ np.conj(np.transpose(x))
            db = db + left_over
        return like(da, a), like(np.reshape(db, np.shape(b)), b)

    return y, lstsq_pullback

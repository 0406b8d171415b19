"""Cotangents of matrices that are split into an orthogonal and a triangular one."""

import numpy as np


def transposed(a):
    """Return the conjugate transposes of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def qr_adjoint(q, r, dq, dr):
    """``(dq + q m) r^-H``, ``m`` Hermitian with the lower triangle of ``r dr^H - dq^H q``.

    S. F. Walter, L. Lehmann, arXiv:1009.6112, 2010, for matrices that are not wide.
    """
    difference = r @ transposed(np.triu(dr)) - transposed(dq) @ q
    lower = np.tril(difference, -1)
    eye = np.eye(np.shape(r)[-1], dtype=np.real(r).dtype)
    m = lower + transposed(lower) + np.real(difference) * eye
    return transposed(np.linalg.solve(r, transposed(dq + q @ m)))


def qr_adjoint_of_any(q, r, dq, dr):
    """Return the cotangent of ``q r``; the columns behind the square part follow by ``q^H``."""
    n = np.shape(r)[-2]
    if np.shape(r)[-1] == n:
        return qr_adjoint(q, r, dq, dr)
    behind = q @ dr[..., n:]
    turned = dq + q @ (r[..., n:] @ transposed(dr[..., n:]))
    first = qr_adjoint(q, r[..., :n], turned, dr[..., :n])
    return np.concatenate((first, behind), -1)


def completion_adjoint(q, dq, n):
    """Return the cotangent of the ``n`` columns that are completed to a unitary matrix.

    Reflections complete them: ``I - V T V^H`` with ``V`` lower trapezoidal. What they make of the
    first columns, ``q1 = E - V T V1^H``, determines the others, ``q2 = E2 + (E - q1) z`` with
    ``z^H = q21 (I - q11)^-1``, where ``q11`` and ``q21`` are the upper and lower part of ``q1`` and
    ``E``, ``E2`` the columns of the identity (G. Ballard et al., Reconstructing Householder vectors
    from tall-skinny QR, J. Parallel Distrib. Comput. 85, 2015).
    """
    q1, dq1, dq2 = q[..., :n], dq[..., :n], dq[..., n:]
    e = np.eye(np.shape(q)[-1], n, dtype=np.real(q).dtype)
    inverse = np.linalg.inv(e[:n] - q1[..., :n, :])
    below = q1[..., n:, :]
    dy = transposed(transposed(e - q1) @ dq2)
    dbelow = dy @ transposed(inverse)
    dabove = transposed(inverse) @ transposed(below) @ dbelow
    return dq1 - dq2 @ (below @ inverse) + np.concatenate((dabove, dbelow), -2)

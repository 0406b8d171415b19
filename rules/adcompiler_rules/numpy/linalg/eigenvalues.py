"""Rules of eigenvalues and eigenvectors of general matrices, of roots, and of condition numbers.

``H`` is the conjugate transpose. Where eigenvalues or roots coincide, they are not differentiable:
derivatives are ``inf`` or ``nan``, or very large.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import Call, call, complexes, non_differentiable, rrule
from adcompiler_rules.kernels.linear_algebra import nearest, real_elements
from adcompiler_rules.kernels.reductions import matrix_norm_adjoint
from adcompiler.runtime.adjoints.shaping import like

REPEATED = "eigenvalues that coincide have no derivative"


def real_spectrum(rng: np.random.Generator, *stack: int) -> Any:
    """Return matrices with real eigenvalues of different sizes, not symmetric."""
    v = rng.normal(size=(*stack, 3, 3)) + 2.0 * np.eye(3)
    return (v * np.array([0.5, 1.5, -2.5])) @ np.linalg.inv(v)


def matrices(rng: np.random.Generator) -> list[Call]:
    """Return matrices with real and with complex eigenvalues."""
    turn = np.array([[0.5, -1.5, 0.3], [1.2, 0.7, 0.1], [0.2, 0.4, 2.5]])
    return [
        call(real_spectrum(rng)), call(real_spectrum(rng, 2)), call(turn),
        call(complexes(rng, 3, 3)),
        call([[2.5, 0.5], [0.25, 1.5]]), call(np.array([[1.5]])), call(np.zeros((0, 3, 3))),
    ]


# --- eigenvalues ----------------------------------------------------------------------------------


@rrule(np.linalg.eigvals, wrt=("a",), domain=matrices, kink=REPEATED)
def eigvals(a: np.ndarray):
    """``da = v^-H diag(dw) v^H`` (M. B. Giles, *Collected matrix derivative results*, 2008, 3.1).

    The vectors come from ``eig``, which may give the eigenvalues in another order.
    """
    w = np.linalg.eigvals(a)

    def eigvals_pullback(dw):
        y = np.linalg.eig(a)
        order = np.expand_dims(nearest(w, y[0]), -2)
        vH = np.conj(np.swapaxes(np.take_along_axis(y[1], order, -1), -1, -2))
        return like(np.linalg.solve(vH, np.expand_dims(dw, -1) * vH), a)

    return w, eigvals_pullback


@rrule(np.linalg.eig, wrt=("a",), domain=matrices, kink=REPEATED)
def eig(a: np.ndarray):
    """``da = v^-H (diag(dw) + conj(f) * (v^H g)) v^H``, ``f[i, j] = 1 / (w[j] - w[i])``.

    ``g`` is the cotangent of vectors that are not normalised: ``dv`` without what the length takes
    up, along ``v``, and without what turns the largest element from the real axis, where LAPACK
    has it (``xGEEV``).
    """
    y = np.linalg.eig(a)
    w, v = y[0], y[1]

    def eig_pullback(dy):
        vH = np.conj(np.swapaxes(v, -1, -2))
        along = np.sum(np.conj(v) * dy[1], -2, keepdims=True)
        g = dy[1] - v * np.real(along)
        fixed = real_elements(v)
        g = g - np.where(fixed, 1j * np.imag(along) / np.where(fixed, v, 1.0), 0.0)
        gaps = np.expand_dims(w, -2) - np.expand_dims(w, -1)
        inverse_gaps = np.where(gaps == 0, 0.0, 1.0 / np.where(gaps == 0, 1.0, gaps))
        eye = np.eye(np.shape(a)[-1], dtype=np.real(w).dtype)
        inside = eye * np.expand_dims(dy[0], -1) + np.conj(inverse_gaps) * (vH @ g)
        return like(np.linalg.solve(vH, inside @ vH), a)

    return y, eig_pullback


@rrule(np.roots, wrt=("p",), kink="roots that coincide have no derivative", domain=lambda rng: [
    call(np.array([1.0, -6.5, 11.0, -6.0])), call(np.array([2.0, 0.5, 1.5, -0.7, 0.3])),
    call(np.array([1.5, 0.5, 0.0])), call(np.array([0.5, -1.5])), call(complexes(rng, 4)),
    call([1.0, -2.5, 1.5]), call(np.array([1.5])),
])
def roots(p: np.ndarray):
    """A root r of p moves by ``-(sum of dp[k] * r**(n - k)) / p'(r)``."""
    y = np.roots(p)

    def roots_pullback(dy):
        slope = np.polyval(np.polyder(np.asarray(p)), y)
        dp = -np.conj(np.vander(y, np.size(p))).T @ (dy / np.conj(slope))
        return like(dp, p)

    return y, roots_pullback


# --- condition numbers ----------------------------------------------------------------------------


@rrule(np.linalg.cond, wrt=("x",), kink="extremes that tie share the derivative evenly",
       domain=lambda rng: [
    *[call(rng.normal(size=(3, 3)) + 2.0 * np.eye(3), p)
      for p in (None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc")],
    call(rng.normal(size=(4, 2))), call(rng.normal(size=(2, 3, 3))), call(complexes(rng, 3, 3)),
    call(rng.normal(size=(2, 3, 3)) + 2.0 * np.eye(3), 1), call(complexes(rng, 2, 2), p="fro"),
    call([[2.5, 0.5], [0.25, 1.5]]),
])
def cond(x: np.ndarray, p=None):
    """``norm(x) norm(inv(x))``; for the 2-norm the ratio of singular values."""
    y = np.linalg.cond(x, p)

    def cond_pullback(dy):
        if p is None or p == 2 or p == -2:
            u, s, vH = np.linalg.svd(x, full_matrices=False)
            top, bottom = (s[..., -1:], s[..., :1]) if p == -2 else (s[..., :1], s[..., -1:])
            ds_top = np.expand_dims(np.expand_dims(dy, -1) / bottom, -2)
            ds_bottom = -ds_top * np.expand_dims(top / bottom, -2)
            if p == -2:
                ds_top, ds_bottom = ds_bottom, ds_top
            dx = (u[..., :, :1] * ds_top) @ vH[..., :1, :]
            dx = dx + (u[..., :, -1:] * ds_bottom) @ vH[..., -1:, :]
        else:
            inverse = np.linalg.inv(x)
            inverseH = np.conj(np.swapaxes(inverse, -1, -2))
            size = np.linalg.norm(x, p, axis=(-2, -1))
            dy = np.real(dy)  # NumPy 1 gives this number for a complex matrix as a complex one
            inverse_size = np.linalg.norm(inverse, p, axis=(-2, -1))
            if p == "fro":
                dx = np.expand_dims(dy * inverse_size / size, (-2, -1)) * x
                d_inverse = np.expand_dims(dy * size / inverse_size, (-2, -1)) * inverse
            else:
                dx = matrix_norm_adjoint(dy * inverse_size, x, p, (-2, -1), False)
                d_inverse = matrix_norm_adjoint(dy * size, inverse, p, (-2, -1), False)
            dx = dx - inverseH @ d_inverse @ inverseH
        return like(dx, x)

    return y, cond_pullback


non_differentiable(nearest, real_elements)

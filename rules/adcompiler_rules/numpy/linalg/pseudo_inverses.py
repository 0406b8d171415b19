"""Cotangents for pseudo-inverses: their rank is taken as constant.

``H`` is the conjugate transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def pinv_adjoint(a: Any, y: Any, dy: Any) -> Any:
    """Return the cotangent of ``a`` for its pseudo-inverse ``y``, its rank taken as constant.

    That of Golub and Pereyra, The differentiation of pseudo-inverses, 1973, eq. 4.12, is for what a
    cutoff leaves of ``a``. Where it drops singular values that are not 0, these turn the vectors of
    the others.
    """
    yH, dyH = np.conj(np.swapaxes(y, -1, -2)), np.conj(np.swapaxes(dy, -1, -2))
    left, right = dyH @ y @ yH, yH @ y @ dyH
    da = left - a @ (y @ left) + right - (right @ y) @ a - yH @ dy @ yH
    rest = np.linalg.norm(a - a @ y @ a, axis=(-2, -1))
    rounding = 10.0 * (np.shape(a)[-1] + np.shape(a)[-2]) * np.finfo(y.dtype).eps
    if np.any(rest > rounding * np.linalg.norm(a, axis=(-2, -1))):
        u, s, vH = np.linalg.svd(a, full_matrices=False)
        da = da + truncation_adjoint(u, s, vH, singular_values_kept(s, y), dyH)
    return da


def singular_values_kept(s: Any, y: Any) -> Any:
    """Say which singular values a pseudo-inverse ``y`` has kept: its norm is that of the last."""
    size = np.linalg.svd(y, full_matrices=False)[1][..., :1]
    last = np.argmin(np.abs(s * size - 1.0), axis=-1, keepdims=True)
    return (np.arange(np.shape(s)[-1]) <= last) & (size > 0.0)


def full_rank_adjoint(u: Any, s: Any, vH: Any, remainder: Any, x: Any, dx: Any) -> Any:
    """Return the cotangents of ``a`` and ``b`` in least squares, ``a = (u * s) @ vH`` of full rank.

    ``x`` minimises ``|b - a x|``, which leaves ``remainder``, and has the cotangent ``dx``. With
    ``y = (a^H a)^-1 dx`` they are ``remainder y^H - a y x^H`` and ``a y`` (G. H. Golub and
    V. Pereyra, SIAM Journal on Numerical Analysis 10, 1973, (4.12)).
    """
    turned = (vH @ dx) / np.expand_dims(s, 1)
    y = np.conj(np.transpose(vH)) @ (turned / np.expand_dims(s, 1))
    db = u @ turned
    return remainder @ np.conj(np.transpose(y)) - db @ np.conj(np.transpose(x)), db


def truncation_adjoint(u: Any, s: Any, vH: Any, kept: Any, g: Any) -> Any:
    """Return what singular values that a cutoff drops add to the cotangent for a pseudo-inverse.

    ``g`` is the conjugate transpose of the cotangent of the pseudo-inverse. For ``s`` kept and
    ``t`` dropped, the pseudo-inverse moves by the slopes ``(f(s) - f(t)) / (s - t)`` and ``(f(s) +
    f(t)) / (s + t)`` of the odd function ``f`` that is ``1 / s`` and 0 (Noferini, A formula for the
    Frechet derivative of a generalized matrix function, 2017); here is what they are more than
    where ``t`` is 0.
    """
    pairs = np.expand_dims(kept, -1) != np.expand_dims(kept, -2)
    rows, columns = np.expand_dims(s, -1), np.expand_dims(s, -2)
    large = np.where(pairs, np.maximum(rows, columns), 1.0)
    small = np.where(pairs, np.minimum(rows, columns), 0.0)
    ratio = small / large
    crossed = ratio / ((large - small) * (large + small))
    inside = np.conj(np.swapaxes(u, -1, -2)) @ g @ np.conj(np.swapaxes(vH, -1, -2))
    moved = ratio * crossed * inside + crossed * np.conj(np.swapaxes(inside, -1, -2))
    return u @ moved @ vH

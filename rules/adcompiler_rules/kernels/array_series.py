"""Truncated Taylor series of products along axes, of factors and of linear systems."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adcompiler.runtime.series import of_coefficients
from adcompiler_rules.kernels.series import cauchy, kind_of, orders_of, silent


@of_coefficients(1, 3)
def solution_series(a: Any, da: Any, b: Any, db: Any, x: Any) -> np.ndarray:
    """Return the coefficients of the solution of ``a x = b``, of which one varies or both do."""
    found = [np.asarray(x)]
    vectors = found[0].ndim == 1
    for k in range(1, len(db if da is None else da) + 1):
        rest = np.zeros_like(found[0]) if db is None else db[k - 1]
        for j in range(1, 1 if da is None else k + 1):
            rest = rest - da[j - 1] @ found[k - j]
        found.append(
            np.linalg.solve(a, rest[:, None])[:, 0] if vectors else np.linalg.solve(a, rest)
        )
    return np.stack(found[1:])


@of_coefficients(1)
def det_series(a: Any, da: Any, y: Any) -> np.ndarray:
    """Return the coefficients of determinants ``y``: ``y' = y trace(inv(a) a')``.

    Those of a singular matrix, a polynomial, are interpolated at roots of unity.
    """
    singular = np.asarray(y == 0)[..., None, None]
    at = [np.where(singular, np.eye(a.shape[-1]), a), *da]
    rates: list[Any] = []
    found = [np.asarray(y)]
    for k in range(1, len(at)):
        rest = k * at[k]
        for j in range(1, k):
            rest = rest - at[j] @ rates[k - 1 - j]
        rates.append(np.linalg.solve(at[0], rest))
        traces = [np.trace(rate, axis1=-2, axis2=-1) for rate in rates]
        found.append(sum(map(operator.mul, traces, reversed(found))) / k)
    if np.any(singular):
        number = a.shape[-1] * len(da) + 1
        turns = np.exp(2j * np.pi * np.arange(number) / number)
        moved = sum(np.multiply.outer(turns**k, d) for k, d in enumerate((a, *da)))
        there = np.fft.fft(np.linalg.det(moved), axis=0)[: len(found)] / number
        there = there if np.iscomplexobj(y) else there.real
        found = [np.where(singular[..., 0, 0], c, d) for c, d in zip(there, found, strict=True)]
    return np.stack(found[1:]).astype(kind_of(y), copy=False)


@of_coefficients(1)
def cholesky_series(a: Any, da: Any, y: Any) -> np.ndarray:
    """Return the coefficients of the Cholesky factor ``y`` of ``a``, the lower triangle counting.

    From ``sum(y_j y_(k-j)^H) = a_k`` follows ``y_k = y f(y^-1 r y^-H)``, where ``r`` is what the
    other terms leave of ``a_k`` and ``f`` takes the lower triangle, with half of the diagonal.
    """
    found = [np.asarray(y)]
    for d in da:
        lower = np.tril(d, -1)
        rest = np.tril(d) - np.triu(np.tril(d)) + hermitian(lower) + real_diagonal(d)
        for j in range(1, len(found)):
            rest = rest - found[j] @ hermitian(found[len(found) - j])
        inner = np.tril(np.linalg.solve(y, hermitian(np.linalg.solve(y, rest))))
        found.append(y @ (inner - 0.5 * np.triu(inner)))
    return np.stack(found[1:])


def hermitian(a: Any) -> Any:
    """Return the conjugate transposes of matrices."""
    return np.conj(np.swapaxes(a, -1, -2))


def real_diagonal(a: Any) -> Any:
    """Return matrices with the real parts of the diagonal of others."""
    return np.real(np.triu(np.tril(a))).astype(a.dtype)


@of_coefficients(1)
@silent
def prod_series(x: Any, dx: Any, axis: int | None = None) -> np.ndarray:
    """Return the coefficients of the product of the elements of an array, along an axis."""
    a = [np.ravel(c) if axis is None else np.moveaxis(c, axis, 0) for c in orders_of(x, dx)]
    while len(a[0]) > 1:
        half = len(a[0]) // 2
        pairs = cauchy([c[:half] for c in a], [c[half : 2 * half] for c in a])
        odd = len(a[0]) % 2
        a = [np.concatenate([c, d[-1:]]) if odd else c for c, d in zip(pairs, a, strict=True)]
    if len(a[0]) == 0:
        return np.zeros_like(np.prod(np.stack(a[1:]), axis=1))
    return np.stack([c[0] for c in a[1:]])


@of_coefficients(1)
@silent
def cumprod_series(x: Any, dx: Any, axis: int | None = None) -> np.ndarray:
    """Return the coefficients of the cumulative products of an array, along an axis."""
    a = [np.ravel(c) if axis is None else np.moveaxis(c, axis, 0) for c in orders_of(x, dx)]
    found = [np.array(c) for c in a]
    for i in range(1, len(a[0])):
        row = cauchy([c[i - 1] for c in found], [c[i] for c in a])
        for c, value in zip(found, row, strict=True):
            c[i] = value
    return np.stack([c if axis is None else np.moveaxis(c, 0, axis) for c in found[1:]])


@of_coefficients(1, 3)
@silent
def polyval_series(p: Any, dp: Any, x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of the polynomial ``y = polyval(p, x)``, by Horner's scheme."""
    orders = len(dx if dp is None else dp)
    constant = [0.0] * orders
    at = [x, *constant] if dx is None else orders_of(x, dx)
    weights = [p, *[np.zeros(len(p))] * orders] if dp is None else orders_of(p, dp)
    total: list[Any] = [0.0 * at[0], *constant]
    for i in range(len(p)):
        total = [c + w[i] for c, w in zip(cauchy(total, at), weights, strict=True)]
    shape, kind = np.shape(y), kind_of(y)
    return np.stack([np.broadcast_to(c, shape) for c in total[1:]]).astype(kind)

"""Adjoints of SciPy's solvers of linear systems, where one expression is not enough.

Every function is pure. ``H`` is the conjugate transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np

COVERED_WITH = "scipy.linalg"
"""The module whose rules come with those of these functions."""


def mirrored(a: Any, lower: bool, hermitian: bool) -> Any:
    """Return the symmetric or Hermitian matrix of which ``a`` has the data in one triangle."""
    triangle = np.tril(a) if lower else np.triu(a)
    other = np.swapaxes(np.tril(a, -1) if lower else np.triu(a, 1), -1, -2)
    if not hermitian or not np.iscomplexobj(a):
        return triangle + other
    eye = np.eye(triangle.shape[-1], dtype=triangle.dtype)
    return triangle + np.conj(other) - 1j * np.imag(triangle) * eye


def mirrored_adjoint(g: Any, lower: bool, hermitian: bool) -> Any:
    """Return the cotangent of ``a`` for ``mirrored(a, lower, hermitian)``, in its triangle."""
    other = np.swapaxes(g, -1, -2)
    both = g + (np.conj(other) if hermitian else other)
    eye = np.eye(g.shape[-1], dtype=g.real.dtype)
    diagonal = np.real(g) * eye if hermitian else g * eye
    return (np.tril(both, -1) if lower else np.triu(both, 1)) + diagonal


def banded_outer(x: Any, y: Any, lower: int, upper: int) -> Any:
    """Return the diagonals of ``x @ y.T`` from ``upper`` above to ``lower`` below the main one.

    The columns of ``x`` and ``y`` are summed over. Element ``[i, j]`` stands in
    ``[upper + i - j, j]``; places that belong to no element are zero.
    """
    n = len(x)
    x, y = x.reshape(n, -1), y.reshape(n, -1)
    diagonals = np.zeros((lower + upper + 1, n), np.result_type(x, y))
    for row, offset in enumerate(range(-upper, lower + 1)):  # i - j
        first, last = max(0, -offset), min(n, n - offset)
        if first < last:
            columns = slice(first, last)
            rows = slice(first + offset, last + offset)
            diagonals[row, columns] = (x[rows] * y[columns]).sum(-1)
    return diagonals


def banded_product(ab: Any, x: Any, lower: int, upper: int) -> Any:
    """Return the product of the matrix with diagonals ``ab`` and ``x``, in the shape of ``x``."""
    n = ab.shape[1]
    columns = np.asarray(x).reshape(n, -1)
    product = np.zeros(columns.shape, np.result_type(ab, columns))
    for row, offset in enumerate(range(-upper, lower + 1)):
        first, last = max(0, -offset), min(n, n - offset)
        if first < last:
            product[first + offset : last + offset] += (
                ab[row, first:last, np.newaxis] * columns[first:last]
            )
    return product.reshape(np.shape(x))


def banded_transpose(ab: Any, lower: int, upper: int) -> Any:
    """Return the diagonals of the transpose of a matrix with diagonals ``ab``."""
    n = ab.shape[1]
    transposed = np.zeros_like(ab)
    for row, offset in enumerate(range(-upper, lower + 1)):
        first, last = max(0, -offset), min(n, n - offset)
        if first < last:
            transposed[len(ab) - 1 - row, first + offset : last + offset] = ab[row, first:last]
    return transposed


def permutation_of(pivots: Any, rows: int) -> Any:
    """Return the order of rows that LAPACK's interchanges ``pivots`` bring about."""
    order = np.arange(rows)
    for i, j in enumerate(pivots):
        order[i], order[int(j)] = order[int(j)], order[i]
    return order


def banded_factor_product(cb: Any, x: Any, lower: bool) -> Any:
    """Return ``L^H x`` for a factor ``L``, or ``U x`` for ``U``, of which ``cb`` has the diagonals.

    Both are upper triangular: they take ``x[j]`` to the rows up to ``j``.
    """
    n = len(x)
    product = np.zeros(x.shape, np.result_type(cb, x))
    for offset in range(min(len(cb), n)):
        band = np.conj(cb[offset, : n - offset]) if lower else cb[len(cb) - 1 - offset, offset:]
        product[: n - offset] += band.reshape(-1, *(1,) * (x.ndim - 1)) * x[offset:]
    return product


def cholesky_banded_adjoint(y: Any, dy: Any, lower: bool) -> Any:
    """Return the cotangent of the diagonals of which ``y`` has those of the Cholesky factor.

    The outer-product form of the factorisation is run backwards: after column ``j`` is scaled by
    the root of its first element, the product of its rest with itself is subtracted from the
    block behind it (S. P. Smith, Differentiation of the Cholesky algorithm, 1995).
    """
    rows, n = y.shape
    width = rows - 1
    place = np.arange(rows) if lower else width - np.arange(rows)
    if not lower:  # the upper factor is the conjugate transpose of the lower one
        y, dy = np.conj(y), np.conj(dy)
    columns, bar = np.zeros((n, rows), y.dtype), np.zeros((n, rows), dy.dtype)
    for below in range(min(rows, n)):  # element [j + below, j] of the lower factor
        start = 0 if lower else below
        stop = n - below if lower else n
        columns[: n - below, below] = y[place[below], start:stop]
        bar[: n - below, below] = dy[place[below], start:stop]
    for j in range(n - 1, -1, -1):
        last = min(width, n - 1 - j)
        rest = columns[j, 1 : last + 1]
        for below in range(last):  # the block behind: column j + 1 + below
            part = bar[j + 1 + below, : last - below]
            bar[j, 1 + below : last + 1] -= part * rest[below]
            bar[j, 1 + below] -= np.conj(part) @ rest[below:]
        root = np.real(columns[j, 0])
        scaled = np.real(np.conj(bar[j, 1:]) @ columns[j, 1:])
        bar[j, 0] = 0.5 * (np.real(bar[j, 0]) - scaled / root) / root
        bar[j, 1:] /= root
    ab_bar = np.array(dy)  # places that belong to no element are passed through
    for below in range(min(rows, n)):
        start = 0 if lower else below
        stop = n - below if lower else n
        ab_bar[place[below], start:stop] = bar[: n - below, below]
    return ab_bar if lower else np.conj(ab_bar)


def toeplitz_adjoint(g: Any) -> tuple[Any, Any]:
    """Return the cotangents of the first column and row of a Toeplitz matrix.

    The first element of the row is not read: its cotangent is zero.
    """
    rows, columns = g.shape
    dc = np.array([np.trace(g, -i) for i in range(rows)], g.dtype)
    dr = np.array([np.trace(g, i) if i else 0.0 for i in range(columns)], g.dtype)
    return dc, dr

"""Sparse matrices as someone fills them by hand: the structure once, then formulas of entries."""

from __future__ import annotations

import functools

import numpy as np
import scipy.sparse as sp


def chained(x):
    n = x.size
    slope = x[1:] - x[:-1] ** 2
    diagonal = np.zeros(n)
    diagonal[:-1] = 2.0 - 400.0 * slope + 800.0 * x[:-1] ** 2
    diagonal[1:] += 200.0
    data = np.empty(3 * n - 2)
    data[0::3] = diagonal
    data[1::3] = data[2::3] = -400.0 * x[:-1]
    return sp.csr_array((data, *three_diagonals(n)), shape=(n, n))


@functools.cache
def three_diagonals(n):
    """Return columns and row starts of the three diagonals of an n x n matrix."""
    made = sp.diags_array([np.ones(n - 1), np.ones(n), np.ones(n - 1)], offsets=[-1, 0, 1]).tocsr()
    return made.indices, made.indptr


def five_points(u, n):
    data = np.ones(5 * (n - 2) ** 2)
    data[2::5] = -4.0 + np.exp(u.reshape(n, n)[1:-1, 1:-1]).ravel() / n**2
    return sp.csr_array((data, *crosses(n)), shape=(n * n, n * n))


@functools.cache
def crosses(n):
    """Return columns and row starts of five entries in each row that is inside of a grid."""
    inner = np.arange(n * n).reshape(n, n)[1:-1, 1:-1]
    counts = np.zeros((n, n), int)
    counts[1:-1, 1:-1] = 5
    columns = inner.ravel()[:, None] + np.array([-n, -1, 0, 1, n])
    return columns.ravel(), np.concatenate([[0], np.cumsum(counts)])


def elements(u, corners, area):
    at = u[corners]
    gx, gy = at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]
    k = (1.0 + gx * gx + gy * gy) * area
    local = np.empty((3, 3, len(corners)))
    for j, (x, y) in enumerate(((-1.0, -1.0), (1.0, 0.0), (0.0, 1.0))):
        along = 2.0 * area * (gx * x + gy * y)
        local[1, j] = x * k + gx * along
        local[2, j] = y * k + gy * along
        local[0, j] = -(local[1, j] + local[2, j])
    places, columns, starts = assembled(corners.tobytes(), u.size)
    data = np.bincount(places, local.ravel(), columns.size)
    return sp.csr_array((data, columns, starts), shape=(u.size, u.size))


@functools.cache
def assembled(corners, n):
    """Return where each entry of each triangle's matrix goes, and the structure of their sum."""
    corner = np.frombuffer(corners, np.int64).reshape(-1, 3).T
    rows, columns = (np.ravel(corner[list(i)]) for i in zip(*np.ndindex(3, 3), strict=True))
    keys, places = np.unique(rows * n + columns, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(np.bincount(keys // n, minlength=n))])
    return places, keys % n, starts

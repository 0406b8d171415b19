"""Programs with loops that call functions of libraries for which there are no loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

X = np.array([0.3, -0.7, 1.2, 0.9])


def in_order(x):
    order = np.argsort(x)
    total = 0.5
    for i in range(len(order)):
        total = np.sin(total * x[order[i]]) + x[order[i - 1]]
    return total


def systems(x):
    total = 0.0
    for i in range(len(x)):
        a = np.array([[2.0 + x[i], 0.5], [0.1 * x[0], 3]])
        z = np.linalg.solve(a, np.array([x[i], 1.0]))
        total += z[0] * z[1]
    return total


def filtered(x):
    f = np.array([[1, 0.1], [0, 1.0]])
    q, r = np.eye(2) * x[0] ** 2, x[1] ** 2 + 0.5
    h = np.array([[1.0, 0.0]])
    s, p, likelihood = np.array([0.0, x[2]]), np.eye(2) * (1 + x[3] ** 2), 0.0
    for z in [0.1, 0.3, 0.2, 0.5]:
        s, p = f @ s, f @ p @ f.T + q
        y, c = z - h @ s, h @ p @ h.T + r
        gain = p @ h.T @ np.linalg.inv(c)
        s, p = s + gain @ y, (np.eye(2) - gain @ h) @ p
        likelihood += -0.5 * (y @ np.linalg.solve(c, y) + np.log(np.linalg.det(c)))
    return likelihood


def factored(x):
    total = 0.0
    for i in range(3):
        a = np.outer(x, x) * (i + 1) + np.eye(4)
        total += np.linalg.slogdet(a)[1] + np.linalg.norm(a)
        lower = np.linalg.cholesky(a)
        total += lower[3, 0] * lower[1, 1]
    return total


def eigenvalues_behind_a_loop(x):
    a = np.eye(4)
    for i in range(4):
        for j in range(i + 1):
            a[i, j] = a[j, i] = x[i] * x[j] + (i == j)
    values = np.linalg.eigvalsh(a)
    return values[3] * values[0]


def triangular(x):
    a = np.zeros((4, 4))
    for i in range(4):
        for j in range(i + 1):
            a[i, j] = x[i] - x[j] * x[j] + 3 * (i == j)
    return np.sum(scipy.linalg.solve_triangular(a, x, lower=True))


def between_loops(x):
    y = np.empty(len(x))
    for i in range(len(x)):
        y[i] = x[i] * x[i - 1]
    z = np.interp(np.linspace(0.0, 3.0, 7), np.arange(4.0), y)
    total = 0.0
    for v in z:
        total = total * 0.5 + v * v
    return total


def swapped_rows(x):
    a, b = np.outer(x, x) + np.diag(x), x * 1.0
    for k in range(3):
        p = k + np.argmax(np.abs(a[k:, k]))
        a[[k, p]] = a[[p, k]]
        b[[k, p]] = b[[p, k]]
        for i in range(k + 1, 4):
            factor = a[i, k] / a[k, k]
            a[i, k:] -= factor * a[k, k:]
            b[i] -= factor * b[k]
    return np.sum(b * np.diag(a))


def rows_of_lists(x):
    n = len(x)
    m = np.zeros((n, n))
    for i in range(1, n - 1):
        m[i, i - 1 : i + 2] = [x[i] / 6, 2 * x[i] / 3, 1]
    return np.sum(m * m)


def writes_through_parts(x):
    y, z = np.zeros(8), np.zeros((2, 4))
    for i in range(4):
        y[::2][i] = x[i]
        y[1::2][:2][i % 2] += x[i] ** 2
    y[::-1][:2] *= 3
    z.T[1] = x[:2]
    z.T[2:][:, 0] += x[2:]
    for i in range(4):
        z[0][1:][i % 3] *= x[i]
    return np.sum(y * np.roll(y, 1)) + np.sum(z * z)


def by_bits(x):
    total = 0.0
    for i in range(4):
        total += x[i ^ 1] * (i << 2) + x[i & ~1] * (i | 4) + x[i >> 1] * (~i)
    return total


def by_a_tree(x):
    n = len(x)
    tree = [0.0] * (n + 1)
    for at in range(n):
        i = at + 1
        while i <= n:
            tree[i] += x[at] ** 2
            i += i & -i
    total = 0.0
    for at in range(n + 1):
        i = at
        while i > 0:
            total += tree[i] * at
            i -= i & -i
    return total


def masked_by_not(x):
    y, small = x * 1.0, x < 0.5
    for _ in range(2):
        y[~small] = np.exp(y[~small] * 0.1)
        y[small] *= 1.5
    return np.sum(y)


PROGRAMS: dict[Any, tuple[Any, ...]] = dict.fromkeys((
    in_order, systems, filtered, factored, eigenvalues_behind_a_loop, triangular, between_loops,
    swapped_rows, rows_of_lists, writes_through_parts, by_bits, by_a_tree, masked_by_not,
), (X,))

"""Programs over arrays, for the differential test of the backends."""

from __future__ import annotations

import math

import numpy as np


def axis_sums(A):
    rows, columns = np.sum(A, axis=1), A.sum(axis=0, keepdims=True)
    return np.sum(rows * rows) + np.sum(columns * A) + np.sum(A.sum(axis=-1, keepdims=True) * A)


def axis_means(A):
    centred = A - np.mean(A, axis=0, keepdims=True)
    return np.sum(centred**2) + A.mean() + np.sum(np.mean(A, axis=1) ** 2)


def middle_axis(A):
    B = np.exp(A[:, None, :] - 0.5 * A[None, :2, :].sum(axis=0, keepdims=True))
    return np.sum(B.sum(axis=1) ** 2) + np.sum(B.sum(axis=(0, 1)) ** 2)


def axis_extremes(A):
    total = np.sum(A.max(axis=1) ** 2) + np.sum(np.min(A, axis=0) * 3.0)
    return total + np.max(A) * np.min(A) + A[np.argmax(A[:, 0]), 1]


def spread_out(A):
    return np.sum(np.var(A, axis=0)) + np.std(A) + np.sum(np.std(A, axis=1, ddof=1))


def in_steps(x):
    u = x.copy()
    u[::2] *= 2.0
    u[:] = u + x[:]
    u[1::2] = u[1::2] + u[-2::-2]
    return np.sum(u[::-1] * x) + np.sum(u[::3] ** 2) + np.sum(u[-1:0:-2])


def steps_by_name(x, k):
    u = x[::k]
    return np.sum(u * u) + np.sum(x[:1:-k])


def gathers(x, index):
    y = x[index]
    return np.sum(y * y * np.arange(len(index))) + np.sum(x[index[::-1]])


def gathers_of_rows(A, index):
    B = A[index]
    return np.sum(B * B) + np.sum(A[:, index] ** 3) + np.sum(A[index, 1] * A[0, index])


def gathers_of_pairs(A, index):
    return np.sum(A[index, index[::-1]] ** 2) + np.sum(np.sin(A[index, 0]))


def scatters(x, index):
    u = np.zeros(len(x))
    u[index] = x[index] * 2.0
    np.add.at(u, index, x[: len(index)] ** 2)
    return np.sum(u * u * x)


def stores_rows(A, index):
    B = A.copy()
    B[index] = 2.0 * A[index] + A[0]
    B[index, 1] = 0.5
    return np.sum(B**2)


def adds_once(x, index):
    u = x.copy()
    u[index] += x[index] ** 2
    return np.sum(u * u)


def masks(x):
    u = x.copy()
    u[x < 0] *= 0.5
    chosen = x[x > 0.2]
    return np.sum(u**2) + np.sum(chosen**3) + np.sum(np.where(x > 0, x, 0.1 * x))


def masks_of_matrices(A):
    B = A.copy()
    B[A > 0.5] = 0.25
    B[A[:, 0] > 0] *= 2.0
    return np.sum(B**2) + np.sum(A[A < 0])


def squares_of_products(A):
    B = A @ A.T
    return np.sum(B * B) + np.sum(A.T @ A) + np.dot(A[0], A[1])


def two_layers(W, V, x):
    h = np.tanh(W @ x)
    y = V @ np.maximum(h, 0.0)
    p = np.exp(y - np.max(y))
    return np.log(np.sum(p)) - y[0]


def shapes(x):
    A = x[:6].reshape(2, 3)
    B = np.reshape(x[:6], (3, -1)).T
    return np.sum(A * B) + np.sum(A.ravel() * np.arange(6)) + np.sum(np.outer(x, x)[0])


def library(A, x):
    total = np.sum(np.diag(A)) + np.linalg.norm(x) + np.sum(np.tril(A) * np.eye(len(A)))
    total += np.sum(np.diff(x) ** 2) + np.sum(np.cumsum(x) * x) + np.sum(np.clip(x, -0.5, 0.5))
    return total + np.sum(np.sign(x) * x) + np.sum(np.logaddexp(x, 1.0) * np.linspace(0.0, 1.0, 5))


def alternating(x, steps):
    u, v = x.copy(), np.zeros(len(x))
    for _ in range(steps):
        for i in range(1, len(x) - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u, v = v, u
    return np.sum(u * u) + np.sum(u * v)


def over_rows(A):
    total = 0.0
    for row in A:
        for a, b in zip(row, row[::-1], strict=True):
            total += a * b * b
    return total


def strides(x, k):
    total = 0.0
    for i in range(0, len(x), k):
        total += x[i] ** 2
    return total


def unpacked(x, steps):
    total = 0.0
    for k in range(steps):
        a, b, c = x[k : k + 3]
        (p, q), r = (a * b, c), x[0]
        total += p * q - r * math.sin(a)
    return total


def rows_unpacked(A):
    first, second, third, fourth = A
    total = 0.0
    for i in range(len(first)):
        total += first[i] * second[i] - third[i] ** 2 * fourth[0]
    return total


def relax(u, f):
    for i in range(1, len(u) - 1):
        u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])
    return np.sum(u * u)


def chain(x, y):
    a = x * y + 2.0 * x
    b = a * a - y
    return np.sum(b / (1.0 + x * x) * a - 0.5 * b * y)


def overwritten(x, steps):
    u, v = x.copy(), x * 0.0
    for _ in range(steps):
        flux = 0.5 * u * u
        u[1:-1] = u[1:-1] - 0.1 * (flux[2:] - flux[:-2]) + 0.01 * v[1:-1]
        v = u * v + flux
        u[0] = v[-1]
        flux[2:] += u[:-2] * v[2:]
        u, v = v, u + flux
    return np.sum(u * v)


def rolled(A, k):
    around = np.roll(A, 1, 0) + np.roll(A, -k, axis=1) - np.roll(A[0], k) * 2.0
    return np.sum(around * A * A)


def stretched(A, x):
    rows = x * x + 1.0
    scaled = A / rows - rows[:, None] * A
    return np.sum(scaled * scaled) + np.sum(rows)


def cubes(x):
    return np.sum(x**3 * x) + np.sum((x[1:] - x[:-1]) ** 3)


_rng = np.random.default_rng(7)
_A, _x = _rng.normal(size=(4, 4)), _rng.normal(size=7)
_index = np.array([0, 3, 3, -1, 2])
EXACT = {
    axis_sums: (_rng.normal(size=(4, 3)),), axis_means: (_rng.normal(size=(5, 3)),),
    middle_axis: (_rng.normal(size=(3, 4)),), axis_extremes: (_rng.normal(size=(4, 3)),),
    spread_out: (_rng.normal(size=(4, 3)),), in_steps: (_x,), steps_by_name: (_x, 2),
    gathers: (_x, _index), gathers_of_rows: (_A, _index), gathers_of_pairs: (_A, _index),
    scatters: (_x, _index), stores_rows: (_A, _index), adds_once: (_x, _index), masks: (_x,),
    masks_of_matrices: (_A,), alternating: (_x, 3), over_rows: (_A,),
    unpacked: (_x, 4), rows_unpacked: (_A,), strides: (_x, 3), relax: (_x, _rng.normal(size=7)),
    chain: (_x, _rng.normal(size=7)), overwritten: (0.3 * _x, 3), rolled: (_A, 2),
    stretched: (_A, _A[0]),
}
"""Programs of which both backends give the same bits, and arguments."""
ROUNDED = {
    middle_axis: EXACT.pop(middle_axis),  # its exponentials are those of machine loops
    shapes: (_x,), cubes: (_x,),
    squares_of_products: (_rng.normal(size=(3, 4)),), library: (_A, _rng.normal(size=5)),
    two_layers: (_rng.normal(size=(5, 3)), _rng.normal(size=(4, 5)), _rng.normal(size=3)),
}
"""Programs with products, or sums of what is turned: terms are added in another order."""
PROGRAMS = EXACT | ROUNDED

"""Programs over elements, for the differential test of the backends."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.programs.loops import edit_distance, log_determinant, n_body, rosenbrock, soft_dtw


def seidel(a, steps):
    u = a.copy()
    n = u.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
    return np.sum(u * u)


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def until_negative(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] < 0:
            break
        total += math.sqrt(x[i])
        if total > 3.0:
            return total * 2
    return total


def tridiagonal(lower, diagonal, upper, right):
    n = len(diagonal)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        pivot = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / pivot
        d[i] = (right[i] - lower[i] * d[i - 1]) / pivot
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return np.sum(x**2)


def over_values(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y, strict=False)):
        total += a * math.sin(b) * (i + 1)
    return total


def gathered(x, which):
    total = 0.0
    for k in which:
        total += x[k] * x[-1 - k]
    return total


def every_second(x):
    total = 0.0
    for i in range(0, len(x), 2):
        total = total * 0.5 + x[i]
    for i in range(len(x) - 1, 0, -3):
        total += math.tanh(x[i])
    return total


def many_functions(x):
    total = 0.0
    for i in range(len(x)):
        v = x[i]
        total += math.exp(-v) + math.atan2(v, 2.0) + max(v, 0.5) + np.maximum(v, 0.25) + abs(v)
        total += v**3 + 2.0**v + math.floor(v) * v + float(i // 2) * v + (i % 3) * v
        total -= math.log1p(v * v) / (1.0 + v * v) + math.erf(v) + np.sqrt(v * v + 1.0)
    return total


def last_index(x):
    for i in range(len(x)):
        y = x[i] * i
    return y + i


def nested_while(x):
    total = 0.0
    for i in range(len(x)):
        z, k = x[i], 0
        while abs(z) > 0.1 and k < 20:
            z = z * 0.7 - 0.01
            k += 1
        total += z * k
    return total


def swapped(x, steps):
    a, b = x[0], x[1]
    for _ in range(steps):
        a, b = b, a + b * math.sin(a)
    return a * b


def arrays_carried(x, steps):
    u = x * 1.0
    for _ in range(steps):
        v = np.zeros(len(u))
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.1 * (u[i - 1] - 2.0 * u[i] + u[i + 1])
        u = v
    return np.sum(u * u)


def random_walk(x, steps):
    state, total = 12345, 0.0
    for _ in range(steps):
        state = (1103515245 * state + 12345) % 2147483648
        total += x[state % len(x)] * (state / 2147483648.0)
    return total


def lu_by_slices(A):
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= np.sum(A[i, :j] * A[:j, j])
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= np.sum(A[i, :i] * A[:i, j])
    return np.sum(A * A)


def shifted(x, steps):
    u = x.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[1:] = u[:-1]
    return np.sum(u * np.sin(u))


def rows(A):
    total = 0.0
    for i in range(A.shape[0]):
        row = A[i]
        total += row[0] * row[-1] + np.sum(A[i] ** 2)
        B = A[i, 1:] * 2.0
        total += B[0]
    return total


_rng = np.random.default_rng(3)
_dominant = 8.0 * np.eye(7) + _rng.normal(size=(7, 7))
PROGRAMS = {
    rosenbrock: (_rng.normal(size=12),), seidel: (_rng.normal(size=(5, 6)) @ np.eye(6), 2),
    newton: (3.7,), n_body: (_rng.normal(size=(5, 3)), _rng.uniform(1.0, 2.0, 5)),
    soft_dtw: (_rng.normal(size=5), _rng.normal(size=6)), log_determinant: (_dominant,),
    edit_distance: (_rng.normal(size=5), _rng.normal(size=7)),
    until_negative: (_rng.uniform(0.1, 1.0, 9),),
    tridiagonal: (_rng.uniform(size=6), 4.0 + _rng.uniform(size=6), _rng.uniform(size=6),
                  _rng.normal(size=6)),
    over_values: (_rng.normal(size=5), _rng.normal(size=5)),
    gathered: (_rng.normal(size=6), np.array([0, 3, 3, -2])), every_second: (_rng.normal(size=9),),
    many_functions: (_rng.normal(size=6),), last_index: (_rng.normal(size=4),),
    nested_while: (_rng.normal(size=6),), swapped: (_rng.normal(size=2), 7),
    lu_by_slices: (_dominant,),
    shifted: (_rng.normal(size=9), 3), rows: (_rng.normal(size=(4, 3)),),
    arrays_carried: (_rng.normal(size=8), 3), random_walk: (_rng.normal(size=5), 9),
}
"""Each program, and arguments for it."""

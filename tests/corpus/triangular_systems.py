"""Solvers for triangular, banded and Toeplitz systems."""

import numpy as np

from tests.corpus.program import Program


def forward_substitution(L, x):
    for i in range(len(x)):
        for j in range(i):
            x[i] -= L[i, j] * x[j]
        x[i] /= L[i, i]


def back_substitution(U, x):
    for j in range(len(x) - 1, -1, -1):
        x[j] /= U[j, j]
        x[:j] -= U[:j, j] * x[j]


def triangular_solves(T, b):
    """Solve with the lower, then with the upper triangle of T; the helpers write into x."""
    x = b.copy()
    forward_substitution(T, x)
    back_substitution(T, x)
    return x


def triangular_inverse(L):
    """Return the inverse of a lower triangular matrix, in place and column by column."""
    n = L.shape[0]
    X = L.copy()
    for j in range(n):
        X[j, j] = 1.0 / X[j, j]
        for i in range(j + 1, n):
            s = 0.0
            for k in range(j, i):
                s += L[i, k] * X[k, j]
            X[i, j] = -s / L[i, i]
    return np.tril(X)


def thomas(lower, diagonal, upper, right):
    """Solve a tridiagonal system."""
    n = len(diagonal)
    c = np.zeros(n)
    d = np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        denominator = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / denominator
        d[i] = (right[i] - lower[i] * d[i - 1]) / denominator
    x = np.zeros(n)
    x[-1] = d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def thomas_overwriting(lower, diagonal, upper, right):
    """Solve a tridiagonal system in the storage of the diagonal and the right-hand side."""
    n = len(diagonal)
    for i in range(1, n):
        w = lower[i] / diagonal[i - 1]
        diagonal[i] -= w * upper[i - 1]
        right[i] -= w * right[i - 1]
    right[n - 1] /= diagonal[n - 1]
    for i in range(n - 2, -1, -1):
        right[i] = (right[i] - upper[i] * right[i + 1]) / diagonal[i]
    return np.max(right) + np.sum(right**2)


def cyclic_tridiagonal(lower, diagonal, upper, right):
    """Solve a periodic tridiagonal system by Sherman-Morrison and two sweeps."""
    n = len(right)
    gamma = -diagonal[0]
    main = diagonal.copy()
    main[0] -= gamma
    main[-1] -= lower[0] * upper[-1] / gamma
    u = np.zeros(n)
    u[0] = gamma
    u[-1] = upper[-1]
    y = thomas(lower, main, upper, right)
    q = thomas(lower, main, upper, u)
    ratio = lower[0] / gamma
    factor = (y[0] + ratio * y[-1]) / (1.0 + q[0] + ratio * q[-1])
    y -= factor * q
    return y


def pentadiagonal(bands, right):
    """Solve a pentadiagonal system given by its five diagonals, the rows of ``bands``."""
    e, c, d, a, b = bands.copy()
    x = right.copy()
    n = len(x)
    for i in range(n - 1):
        w = c[i + 1] / d[i]
        d[i + 1] -= w * a[i]
        a[i + 1] -= w * b[i]
        x[i + 1] -= w * x[i]
        if i + 2 < n:
            w = e[i + 2] / d[i]
            c[i + 2] -= w * a[i]
            d[i + 2] -= w * b[i]
            x[i + 2] -= w * x[i]
    x[-1] /= d[-1]
    x[-2] = (x[-2] - a[-2] * x[-1]) / d[-2]
    for i in range(n - 3, -1, -1):
        x[i] = (x[i] - a[i] * x[i + 1] - b[i] * x[i + 2]) / d[i]
    return x


def block_tridiagonal(lower, diagonal, upper, right):
    """Solve a block tridiagonal system; the blocks are stacked along the first axis."""
    blocks = diagonal.shape[0]
    D = diagonal.copy()
    x = right.copy()
    for i in range(1, blocks):
        W = np.linalg.solve(D[i - 1].T, lower[i].T).T
        D[i] -= W @ upper[i - 1]
        x[i] -= W @ x[i - 1]
    x[-1] = np.linalg.solve(D[-1], x[-1])
    for i in reversed(range(blocks - 1)):
        x[i] = np.linalg.solve(D[i], x[i] - upper[i] @ x[i + 1])
    return np.sum(x * np.cos(x))


def banded_lu_solve(bands, b, width):
    """Solve with a band matrix; ``bands[width + i - j, j]`` holds the element (i, j)."""
    B = bands.copy()
    x = b.copy()
    n = len(x)
    for k in range(n):
        last = min(n, k + width + 1)
        for i in range(k + 1, last):
            B[width + i - k, k] /= B[width, k]
            factor = B[width + i - k, k]
            for j in range(k + 1, last):
                B[width + i - j, j] -= factor * B[width + k - j, j]
            x[i] -= factor * x[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, min(n, i + width + 1)):
            x[i] -= B[width + i - j, j] * x[j]
        x[i] /= B[width, i]
    return x


def levinson_durbin(autocorrelation, order):
    """Return coefficients and error of linear prediction."""
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = autocorrelation[0]
    for m in range(1, order + 1):
        acc = autocorrelation[m]
        for i in range(1, m):
            acc += a[i] * autocorrelation[m - i]
        k = -acc / error
        previous = a.copy()
        for i in range(1, m):
            a[i] = previous[i] + k * previous[m - i]
        a[m] = k
        error *= 1.0 - k * k
    return a[1:], error


# -- samples ---------------------------------------------------------------------------------------


def dominant(rng, n=5):
    return rng.normal(size=(n, n)) + 2.0 * n * np.eye(n)


def diagonals(rng, n=8):
    return rng.normal(size=n), rng.normal(size=n) + 6.0, rng.normal(size=n), rng.normal(size=n)


def bands(rng, width, n=8):
    rows = rng.normal(size=(2 * width + 1, n))
    rows[width] += 10.0
    return rows


def blocks(rng, count=4, size=3):
    shape = (count, size, size)
    diagonal = rng.normal(size=shape) + 10.0 * np.eye(size)
    return rng.normal(size=shape), diagonal, rng.normal(size=shape), rng.normal(size=(count, size))


def autocorrelation(rng, lags):
    signal = rng.normal(size=40)
    return np.array([signal[: 40 - k] @ signal[k:] for k in range(lags)])


PROGRAMS = (
    Program(triangular_solves, lambda rng: (dominant(rng), rng.normal(size=5)), (0, 1)),
    Program(triangular_inverse, lambda rng: (dominant(rng),)),
    Program(thomas, diagonals, (0, 1, 2, 3)),
    Program(thomas_overwriting, diagonals, (0, 1, 2, 3)),
    Program(cyclic_tridiagonal, diagonals, (0, 1, 2, 3)),
    Program(pentadiagonal, lambda rng: (bands(rng, 2), rng.normal(size=8)), (0, 1)),
    Program(block_tridiagonal, blocks, (0, 1, 2, 3)),
    Program(banded_lu_solve, lambda rng: (bands(rng, 2), rng.normal(size=8), 2), (0, 1)),
    Program(levinson_durbin, lambda rng: (autocorrelation(rng, 6), 5)),
)

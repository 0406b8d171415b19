"""Loops over elements: recurrences, dynamic programming, relaxation, bodies, factorisations."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.program import Program, normal


def rosenbrock(x):
    """Return Rosenbrock's function, term by term."""
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def recurrence(x, a):
    """Return the squared norm of what a recurrence of two terms makes of ``x``, in place."""
    y = x.copy()
    for i in range(2, len(y)):
        y[i] = a[0] * y[i - 1] + a[1] * y[i - 2] + math.sin(x[i])
    return np.sum(y * y)


def seidel(u, f, sweeps):
    """Return the energy after relaxation point by point."""
    u = u.copy()
    rows, columns = u.shape
    for _ in range(sweeps):
        for i in range(1, rows - 1):
            for j in range(1, columns - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] + f[i, j])
    return np.sum(u * u)


def n_body(places, masses):
    """Return the potential energy of bodies in space."""
    energy = 0.0
    for i in range(len(masses)):
        for j in range(i):
            square = 0.0
            for k in range(3):
                square += (places[i, k] - places[j, k]) ** 2
            energy -= masses[i] * masses[j] / math.sqrt(square)
    return energy


def soft_dtw(x, y):
    """Return the smoothed distance of two series under time warping."""
    n, m = len(x), len(y)
    D = np.full((n + 1, m + 1), 1e10)
    D[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = (x[i - 1] - y[j - 1]) ** 2
            a, b, d = D[i - 1, j], D[i, j - 1], D[i - 1, j - 1]
            least = min(a, b, d)
            total = math.exp(least - a) + math.exp(least - b) + math.exp(least - d)
            D[i, j] = cost + least - math.log(total)
    return D[n, m]


def edit_distance(x, y):
    """Return the distance of two series, with gaps."""
    n, m = len(x), len(y)
    D = np.zeros((n + 1, m + 1))
    for i in range(n + 1):
        D[i, 0] = i
    for j in range(m + 1):
        D[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            best = D[i - 1, j - 1] + (x[i - 1] - y[j - 1]) ** 2
            if D[i - 1, j] + 1.0 < best:
                best = D[i - 1, j] + 1.0
            D[i, j] = min(best, D[i, j - 1] + 1.0)
    return D[n, m]


def hidden_markov(start, step, emit, seen):
    """Return the log-likelihood of what a hidden Markov chain showed."""
    p = start * 1.0
    n = len(p)
    total = 0.0
    for o in seen:
        q = np.zeros(n)
        norm = 0.0
        for j in range(n):
            for i in range(n):
                q[j] += p[i] * step[i, j]
            q[j] *= emit[j, o]
            norm += q[j]
        for j in range(n):
            q[j] /= norm
        total += math.log(norm)
        p = q
    return total


def lu(A, weights):
    """Return a weighted sum of the factors of LU, made in place, by products of rows."""
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            A[i, j] -= A[i, :j] @ A[:j, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            A[i, j] -= A[i, :i] @ A[:i, j]
    return np.sum(weights * A)


def log_determinant(A):
    """Return the logarithm of a determinant by LU, element by element."""
    A = A.copy()
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    total = 0.0
    for i in range(n):
        total += math.log(abs(A[i, i]))
    return total


def cholesky(A):
    """Return the sum of the logarithms of the diagonal of Cholesky's factor."""
    n = A.shape[0]
    L = np.zeros((n, n))
    total = 0.0
    for j in range(n):
        s = A[j, j]
        for k in range(j):
            s -= L[j, k] * L[j, k]
        L[j, j] = math.sqrt(s)
        total += math.log(L[j, j])
        for i in range(j + 1, n):
            s = A[i, j]
            for k in range(j):
                s -= L[i, k] * L[j, k]
            L[i, j] = s / L[j, j]
    return total


def levinson(r):
    """Return the last prediction error of Levinson's recursion."""
    n = len(r) - 1
    a = np.zeros(n + 1)
    a[0] = 1.0
    error = r[0]
    for m in range(1, n + 1):
        s = 0.0
        for j in range(m):
            s += a[j] * r[m - j]
        k = -s / error
        b = a.copy()
        for j in range(1, m + 1):
            a[j] = b[j] + k * b[m - j]
        error = error * (1.0 - k * k)
    return error


def tridiagonal(lower, diagonal, upper, right):
    """Return the squared norm of the solution of a tridiagonal system."""
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
    return np.sum(x * x)


def monte_carlo(spot, volatility, draws):
    """Return the price of an Asian option: the mean over paths of their mean's excess."""
    paths, steps = draws.shape
    total = 0.0
    for p in range(paths):
        price, mean = spot, 0.0
        for s in range(steps):
            price *= math.exp(-0.005 * volatility * volatility + 0.1 * volatility * draws[p, s])
            mean += price
        excess = mean / steps - 1.0
        if excess > 0.0:
            total += excess
    return total / paths


def lstm(W, b, inputs, targets):
    """Return the squared error of a long short-term memory cell, element by element.

    ``W`` is (4, n, n + 1): gates of the state and of one input; ``b`` is (4, n).
    """
    n = b.shape[1]
    h, c = np.zeros(n), np.zeros(n)
    loss = 0.0
    for t in range(len(inputs)):
        new = np.zeros(n)
        for i in range(n):
            f, g, o, z = b[0, i], b[1, i], b[2, i], b[3, i]
            for j in range(n):
                f += W[0, i, j] * h[j]
                g += W[1, i, j] * h[j]
                o += W[2, i, j] * h[j]
                z += W[3, i, j] * h[j]
            f += W[0, i, n] * inputs[t]
            g += W[1, i, n] * inputs[t]
            o += W[2, i, n] * inputs[t]
            z += W[3, i, n] * inputs[t]
            c[i] = c[i] / (1.0 + math.exp(-f)) + math.tanh(z) / (1.0 + math.exp(-g))
            new[i] = math.tanh(c[i]) / (1.0 + math.exp(-o))
        h = new
        loss += (h[0] - targets[t]) ** 2
    return loss


def mixture_loop(weights, means, factors, points):
    """Return the log-likelihood of a mixture of Gaussians, element by element.

    A row of ``factors`` has the logarithms of the diagonal of a root of the inverse covariance,
    and then its columns below that.
    """
    count, size = means.shape
    scales = np.exp(factors[:, :size])
    traces = np.sum(factors[:, :size], axis=1)
    projected, logs = np.zeros(size), np.zeros(count)
    total = 0.0
    for i in range(len(points)):
        for j in range(count):
            for a in range(size):
                projected[a] = scales[j, a] * (points[i, a] - means[j, a])
            place = size
            for a in range(size):
                for b in range(a + 1, size):
                    projected[b] += factors[j, place] * (points[i, a] - means[j, a])
                    place += 1
            square = 0.0
            for a in range(size):
                square += projected[a] * projected[a]
            logs[j] = weights[j] + traces[j] - 0.5 * square
        top = np.max(logs)
        total += top + math.log(np.sum(np.exp(logs - top)))
    return total - len(points) * math.log(np.sum(np.exp(weights)))


def dominant(rng, n):
    """Return a matrix that needs no pivots."""
    return rng.normal(size=(n, n)) + 2.0 * n * np.eye(n)


def definite(rng, n):
    """Return a positive definite matrix."""
    a = rng.normal(size=(n, n))
    return (a @ a.T + n * np.eye(n),)


def chain(rng, n):
    """Return a hidden Markov chain of 6 states and 4 signs, and ``n`` signs."""
    parts = rng.uniform(0.1, 1.0, 6), rng.uniform(0.1, 1.0, (6, 6)), rng.uniform(0.1, 1.0, (6, 4))
    return (*(p / p.sum(axis=-1, keepdims=True) for p in parts), rng.integers(0, 4, n))


def bands(rng, n):
    """Return a tridiagonal system."""
    return (rng.uniform(size=n), 4.0 + rng.uniform(size=n), rng.uniform(size=n), rng.normal(size=n))


def memory(rng, n):
    """Return a cell of 8 units, and ``n`` inputs and targets."""
    return (rng.normal(size=(4, 8, 9)) / 3.0, rng.normal(size=(4, 8)), *pair(rng, n, n))


def clusters(rng, n):
    """Return a mixture of 5 Gaussians in 10 dimensions, and ``n`` points."""
    return (rng.normal(size=5), rng.normal(size=(5, 10)), 0.1 * rng.normal(size=(5, 55)),
            rng.normal(size=(n, 10)))


def pair(rng, n, m):
    """Return two normal vectors."""
    return rng.normal(size=n), rng.normal(size=m)


def relaxed(rng, n):
    """Return a grid, what flows into it, and how often it is relaxed."""
    return (*rng.normal(size=(2, n, n)), 5)


def series(rng, n):
    """Return two series of different lengths."""
    return pair(rng, n, n + 10)


def bodies(rng, n):
    """Return places and masses."""
    return rng.normal(size=(n, 3)), rng.uniform(1.0, 2.0, n)


LENGTHS, SIDES, BOTH = (100, 1_000, 10_000), (10, 24, 60), (0, 1)
PROGRAMS = (
    Program(rosenbrock, normal(1.0), LENGTHS),
    Program(recurrence, lambda r, n: (r.normal(size=n), np.array([0.5, 0.3])), LENGTHS, BOTH),
    Program(seidel, relaxed, SIDES, BOTH),
    Program(n_body, bodies, (8, 30, 80), BOTH),
    Program(soft_dtw, series, (10, 40, 100), BOTH),
    Program(edit_distance, series, (10, 40, 100), BOTH),
    Program(hidden_markov, chain, (20, 100, 500), (0, 1, 2)),
    Program(lu, lambda r, n: (dominant(r, n), r.normal(size=(n, n))), SIDES),
    Program(log_determinant, lambda r, n: (dominant(r, n),), SIDES),
    Program(cholesky, definite, SIDES),
    Program(levinson, lambda r, n: (np.append(2.0 * n, r.normal(size=n)),), (10, 40, 120)),
    Program(tridiagonal, bands, (50, 500, 5_000), (0, 1, 2, 3)),
    Program(monte_carlo, lambda r, n: (1.0, 0.2, r.normal(size=(n, 20))), (10, 100, 1_000), BOTH),
    Program(lstm, memory, (5, 20, 80), (0, 1)),
    Program(mixture_loop, clusters, (10, 100, 1_000), (0, 1, 2)),
)

"""Polynomials, interpolation and quadrature by tables that are overwritten."""

import math

import numpy as np

from tests.corpus.program import Program


def newton_interpolation(x, y, at):
    """Return Newton's interpolation at a point; the coefficients replace the values."""
    c = y.copy()
    n = len(x)
    for order in range(1, n):
        for i in range(n - 1, order - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (x[i] - x[i - order])
    value = c[n - 1]
    for i in range(n - 2, -1, -1):
        value = value * (at - x[i]) + c[i]
    return value


def neville(x, y, at):
    """Return the interpolating polynomial at a point, from a table in one array."""
    p = np.array(y)
    n = len(x)
    for width in range(1, n):
        left, right = x[:-width], x[width:]
        upper = p[1 : n - width + 1]
        p[:-width] = ((at - right) * p[:-width] + (left - at) * upper) / (left - right)
    return p[0]


def barycentric_interpolation(x, y, points):
    """Return an interpolation at many points, by weights that are products."""
    n = len(x)
    w = np.ones(n)
    for i in range(n):
        for j in range(n):
            if i != j:
                w[i] /= x[i] - x[j]
    numerator = np.zeros_like(points)
    denominator = np.zeros_like(points)
    for i in range(n):
        term = w[i] / (points - x[i])
        numerator += term * y[i]
        denominator += term
    return numerator / denominator


def taylor_shift(coefficients, shift):
    """Return the coefficients of p(x + shift), by repeated synthetic division in place."""
    n = len(coefficients)
    for k in range(n - 1):
        for i in range(n - 2, k - 1, -1):
            coefficients[i] += shift * coefficients[i + 1]
    return coefficients


def horner_with_derivatives(coefficients, x):
    """Return a polynomial and its first two derivatives at a point."""
    p = np.zeros(3)
    p[0] = coefficients[-1]
    for c in coefficients[-2::-1]:
        for k in range(2, 0, -1):
            p[k] = p[k] * x + p[k - 1]
        p[0] = p[0] * x + c
    p[2] *= 2.0
    return p


def deflated_roots(coefficients, steps):
    """Return the sum of squares of two roots by Newton steps, dividing out the first."""
    a = list(coefficients)
    total = 0.0
    start = 3.5
    for _ in range(2):
        x = start
        for _ in range(steps):
            value, slope = 0.0, 0.0
            for c in a:
                slope = slope * x + value
                value = value * x + c
            x -= value / slope
        total += x * x
        quotient = [a[0]]
        for c in a[1:-1]:
            quotient.append(c + x * quotient[-1])
        a = quotient
        start = 2.0
    return total


def product_of_polynomials(p, q):
    """Return the coefficients of a product."""
    product = np.zeros(len(p) + len(q) - 1)
    for i, a in enumerate(p):
        product[i : i + len(q)] += a * q
    return product


def power_series_exponential(a, order):
    """Return the coefficients of exp(a(x)) by the recurrence that its derivative gives."""
    e = [math.exp(a[0])]
    for n in range(1, order):
        total = 0.0
        for k in range(1, min(n, len(a) - 1) + 1):
            total += k * a[k] * e[n - k]
        e.append(total / n)
    return np.array(e)


def chebyshev_series(coefficients, x):
    """Return a Chebyshev series at many points, with buffers that rotate."""
    b1 = np.zeros_like(x)
    b2 = np.zeros_like(x)
    scratch = np.empty_like(x)
    for k in range(len(coefficients) - 1, 0, -1):
        scratch[:] = 2.0 * x * b1 - b2 + coefficients[k]
        b2, b1, scratch = b1, scratch, b2
    return x * b1 - b2 + coefficients[0]


def legendre_basis(x, weights):
    """Return the norm of a least-squares fit in Legendre polynomials, tabulated by recurrence."""
    degree = len(weights)
    P = np.empty((degree, len(x)))
    P[0] = 1.0
    P[1] = x
    for n in range(1, degree - 1):
        P[n + 1] = ((2 * n + 1) * x * P[n] - n * P[n - 1]) / (n + 1)
    return np.sqrt(np.sum((weights @ P) ** 2))


def romberg_table(a, b, frequency, levels):
    """Integrate exp(-x) cos(frequency x) by extrapolated trapezoids in a triangular table."""

    def f(x):
        return math.exp(-x) * math.cos(frequency * x)

    R = np.zeros((levels, levels))
    h = b - a
    R[0, 0] = 0.5 * h * (f(a) + f(b))
    for i in range(1, levels):
        h *= 0.5
        for k in range(1, 2**i, 2):
            R[i, 0] += f(a + k * h)
        R[i, 0] *= h
        R[i, 0] += 0.5 * R[i - 1, 0]
        for j in range(1, i + 1):
            R[i, j] = R[i, j - 1] + (R[i, j - 1] - R[i - 1, j - 1]) / (4**j - 1)
    return R[levels - 1, levels - 1]


def continued_fraction(a, b):
    """Return the value of a continued fraction by Lentz's recurrence for its convergents."""
    A = [1.0, b[0]]
    B = [0.0, 1.0]
    for k in range(len(a)):
        A.append(b[k + 1] * A[-1] + a[k] * A[-2])
        B.append(b[k + 1] * B[-1] + a[k] * B[-2])
        A.pop(0)
        B.pop(0)
    return A[-1] / B[-1]


def epsilon_algorithm(terms):
    """Return the limit of a series, extrapolated by Wynn's table of which two columns are kept."""
    current = np.cumsum(terms)
    previous = np.zeros(len(current) + 1)
    for _ in range(len(terms) - 1):
        following = np.empty(len(current) - 1)
        for i in range(len(following)):
            following[i] = previous[i + 1] + 1.0 / (current[i + 1] - current[i])
        previous, current = current, following
    return current[-1]


def nodes(rng, n=5):
    return np.arange(n) + rng.uniform(-0.2, 0.2, n)


def partial_terms(rng):
    k = np.arange(5)
    return 0.8**k + (-0.6) ** k + 0.02 * rng.normal(size=5)


PROGRAMS = (
    Program(newton_interpolation, lambda rng: (nodes(rng), rng.normal(size=5), 1.7), (0, 1, 2)),
    Program(neville, lambda rng: (nodes(rng), rng.normal(size=5), 2.4), (0, 1, 2)),
    Program(
        barycentric_interpolation,
        lambda rng: (nodes(rng), rng.normal(size=5), np.array([0.5, 1.4, 2.6, 3.5])),
        (0, 1, 2),
    ),
    Program(taylor_shift, lambda rng: (rng.normal(size=6), 0.4), (0, 1)),
    Program(horner_with_derivatives, lambda rng: (rng.normal(size=6), 0.8), (0, 1)),
    Program(
        deflated_roots,
        lambda rng: (np.array([1.0, -5.0, 6.75, -2.25]) + 0.01 * rng.normal(size=4), 12),
        step=1e-4,
    ),
    Program(product_of_polynomials, lambda rng: (rng.normal(size=4), rng.normal(size=3)), (0, 1)),
    Program(power_series_exponential, lambda rng: (rng.normal(size=4), 7)),
    Program(chebyshev_series, lambda rng: (rng.normal(size=6), rng.uniform(-1.0, 1.0, 4)), (0, 1)),
    Program(legendre_basis, lambda rng: (rng.uniform(-1.0, 1.0, 6), rng.normal(size=5)), (0, 1)),
    Program(romberg_table, lambda rng: (0.1, 1.5 + 0.1 * rng.normal(), 2.0, 5), (0, 1, 2)),
    Program(
        continued_fraction, lambda rng: (rng.uniform(1.0, 2.0, 5), rng.uniform(1.0, 2.0, 6)), (0, 1)
    ),
    Program(epsilon_algorithm, lambda rng: (partial_terms(rng),), step=2e-4),
)

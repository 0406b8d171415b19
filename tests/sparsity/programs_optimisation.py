"""Classical test problems: residuals of least squares problems, and functions to be minimised.

The numbers are those of J. J. More, B. S. Garbow, K. E. Hillstrom, "Testing unconstrained
optimization software", ACM Trans. Math. Softw. 7 (1981).
"""

import math

import numpy as np

from tests.sparsity.programs import band, full, hessian, jacobian

RNG = np.random.default_rng(2)


def point(n):
    return RNG.uniform(0.5, 1.5, n)


# --- residuals ------------------------------------------------------------------------------------


@jacobian(point(2), rows=lambda: [{0, 1}, {0}])
def rosenbrock_residuals(x):  # 1
    return np.array([10.0 * (x[1] - x[0] ** 2), 1.0 - x[0]])


@jacobian(point(2), rows=lambda: full(2, 2))
def freudenstein_roth(x):  # 2
    a = -13.0 + x[0] + ((5.0 - x[1]) * x[1] - 2.0) * x[1]
    b = -29.0 + x[0] + ((x[1] + 1.0) * x[1] - 14.0) * x[1]
    return [a, b]


@jacobian(point(2), rows=lambda: full(2, 2))
def powell_badly_scaled(x):  # 3
    return np.array([1e4 * x[0] * x[1] - 1.0, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001])


@jacobian(point(2), rows=lambda: [{0}, {1}, {0, 1}])
def brown_badly_scaled(x):  # 4
    return [x[0] - 1e6, x[1] - 2e-6, x[0] * x[1] - 2.0]


@jacobian(point(2), rows=lambda: full(3, 2))
def beale(x):  # 5
    return np.array([y - x[0] * (1.0 - x[1] ** (i + 1)) for i, y in enumerate((1.5, 2.25, 2.625))])


@jacobian(point(3), rows=lambda: [{0, 1, 2}, {0, 1}, {2}])
def helical_valley(x):  # 7
    theta = math.atan(x[1] / x[0]) / (2.0 * math.pi)
    if x[0] < 0.0:
        theta += 0.5
    return [10.0 * (x[2] - 10.0 * theta), 10.0 * (math.sqrt(x[0] ** 2 + x[1] ** 2) - 1.0), x[2]]


@jacobian(point(3), rows=lambda: full(5, 3))
def bard(x):  # 8
    u = np.arange(1.0, 6.0)
    return 0.3 - (x[0] + u / (x[1] * (16.0 - u) + x[2] * np.minimum(u, 16.0 - u)))


@jacobian(point(4), rows=lambda: full(3, 4))
def kowalik_osborne(x):  # 15
    u = np.array([4.0, 2.0, 1.0])
    return 0.2 - x[0] * (u**2 + u * x[1]) / (u**2 + u * x[2] + x[3])


@jacobian(point(3), rows=lambda: full(4, 3))
def box(x):  # 12
    t = 0.1 * np.arange(1, 5)
    return np.exp(-t * x[0]) - np.exp(-t * x[1]) - x[2] * (np.exp(-t) - np.exp(-10.0 * t))


@jacobian(point(4), rows=lambda: [{0, 1}, {2, 3}, {1, 2}, {0, 3}])
def powell_singular(x):  # 13
    return np.array([
        x[0] + 10.0 * x[1], math.sqrt(5.0) * (x[2] - x[3]), (x[1] - 2.0 * x[2]) ** 2,
        math.sqrt(10.0) * (x[0] - x[3]) ** 2,
    ])


@jacobian(point(4), rows=lambda: [{0, 1}, {0}, {2, 3}, {2}, {1, 3}, {1, 3}])
def wood(x):  # 14
    return np.array([
        10.0 * (x[1] - x[0] ** 2), 1.0 - x[0], math.sqrt(90.0) * (x[3] - x[2] ** 2), 1.0 - x[2],
        math.sqrt(10.0) * (x[1] + x[3] - 2.0), (x[1] - x[3]) / math.sqrt(10.0),
    ])


@jacobian(point(8), rows=lambda: [
    row for i in range(0, 8, 2) for row in ({i, i + 1}, {i})])
def extended_rosenbrock(x):  # 21
    f = np.zeros(8)
    f[0::2] = 10.0 * (x[1::2] - x[0::2] ** 2)
    f[1::2] = 1.0 - x[0::2]
    return f


@jacobian(point(8), rows=lambda: [
    row for i in (0, 4) for row in ({i, i + 1}, {i + 2, i + 3}, {i + 1, i + 2}, {i, i + 3})])
def extended_powell_singular(x):  # 22
    f = []
    for i in range(0, len(x), 4):
        f.append(x[i] + 10.0 * x[i + 1])
        f.append(math.sqrt(5.0) * (x[i + 2] - x[i + 3]))
        f.append((x[i + 1] - 2.0 * x[i + 2]) ** 2)
        f.append(math.sqrt(10.0) * (x[i] - x[i + 3]) ** 2)
    return f


@jacobian(point(5), rows=lambda: [{0}, {1}, {2}, {3}, {4}, set(range(5))])
def penalty_1(x):  # 23
    return np.append(1e-3 * (x - 1.0), np.sum(x**2) - 0.25)


@jacobian(point(5), rows=lambda: [{0}, {0, 1}, {1, 2}, {2, 3}, {3, 4}, {1}, {2}, {3}, {4},
                                 set(range(5))])
def penalty_2(x):  # 24
    n = len(x)
    y = np.exp(np.arange(1, n + 1) / 10.0) + np.exp(np.arange(n) / 10.0)
    f = np.zeros(2 * n)
    f[0] = x[0] - 0.2
    f[1:n] = np.exp(x[1:] / 10.0) + np.exp(x[:-1] / 10.0) - y[1:]
    f[n : 2 * n - 1] = np.exp(x[1:] / 10.0) - np.exp(-0.1)
    f[-1] = np.sum(np.arange(n, 0, -1) * x**2) - 1.0
    return f


@jacobian(point(5), rows=lambda: [{0}, {1}, {2}, {3}, {4}, set(range(5)), set(range(5))])
def variably_dimensioned(x):  # 25
    s = np.sum(np.arange(1, 6) * (x - 1.0))
    return np.concatenate([x - 1.0, [s, s**2]])


@jacobian(point(4), rows=lambda: full(4, 4))
def trigonometric(x):  # 26
    n = len(x)
    i = np.arange(1, n + 1)
    return n - np.sum(np.cos(x)) + i * (1.0 - np.cos(x)) - np.sin(x)


@jacobian(point(4), rows=lambda: full(4, 4))
def brown_almost_linear(x):  # 27
    f = x + np.sum(x) - (len(x) + 1.0)
    f[-1] = np.prod(x) - 1.0
    return f


@jacobian(point(6), rows=lambda: band(6, 1, 1))
def discrete_boundary_value(x):  # 28
    n = len(x)
    h = 1.0 / (n + 1)
    t = h * np.arange(1, n + 1)
    padded = np.zeros(n + 2)
    padded[1:-1] = x
    return 2.0 * x - padded[:-2] - padded[2:] + h**2 * (x + t + 1.0) ** 3 / 2.0


@jacobian(point(5), rows=lambda: full(5, 5))
def discrete_integral_equation(x):  # 29
    n = len(x)
    h = 1.0 / (n + 1)
    t = h * np.arange(1, n + 1)
    cubes = (x + t + 1.0) ** 3
    f = np.zeros(n)
    for i in range(n):
        below = np.sum(t[: i + 1] * cubes[: i + 1])
        above = np.sum((1.0 - t[i + 1 :]) * cubes[i + 1 :])
        f[i] = x[i] + h * ((1.0 - t[i]) * below + t[i] * above) / 2.0
    return f


@jacobian(point(7), rows=lambda: band(7, 1, 1))
def broyden_tridiagonal(x):  # 30
    n = len(x)
    f = np.zeros(n)
    for i in range(n):
        f[i] = (3.0 - 2.0 * x[i]) * x[i] + 1.0
        if i > 0:
            f[i] -= x[i - 1]
        if i < n - 1:
            f[i] -= 2.0 * x[i + 1]
    return f


@jacobian(point(9), rows=lambda: band(9, 5, 1))
def broyden_banded(x):  # 31
    n = len(x)
    f = []
    for i in range(n):
        near = [j for j in range(max(0, i - 5), min(n, i + 2)) if j != i]
        f.append(x[i] * (2.0 + 5.0 * x[i] ** 2) + 1.0 - sum(x[j] * (1.0 + x[j]) for j in near))
    return np.array(f)


@jacobian(point(4), rows=lambda: full(6, 4))
def linear_full_rank(x):  # 32
    m, n = 6, 4
    return np.concatenate([x, np.zeros(m - n)]) - 2.0 * np.sum(x) / m - 1.0


@jacobian(point(4), rows=lambda: [set(), {1, 2}, {1, 2}, set()])
def linear_with_zero_columns_and_rows(x):  # 34
    i = np.arange(4)[:, None]
    j = np.arange(4)[None, :]
    weights = np.where((i % 3 == 0) | (j % 3 == 0), 0, i * j)
    return weights @ x - 1.0


@jacobian(point(4), rows=lambda: full(3, 4))
def chebyquad(x):  # 35
    first, second = 2.0 * x - 1.0, 2.0 * (2.0 * x - 1.0) ** 2 - 1.0
    third = 2.0 * (2.0 * x - 1.0) * second - first
    return np.array([np.mean(first), np.mean(second) + 1.0 / 3.0, np.mean(third)])


@jacobian(point(6), rows=lambda: [set(range(6)), *({0, i} for i in range(1, 6))])
def arrowhead(x):
    f = x[0] * x
    f[0] = np.dot(x, x)
    return f


# --- functions to be minimised --------------------------------------------------------------------


@hessian(point(7), rows=lambda: band(7, 1, 1))
def chained_rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@hessian(point(7), rows=lambda: band(7, 1, 1))
def chained_rosenbrock_loop(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@hessian(point(8), rows=lambda: [
    {i - i % 4, i - i % 4 + 1, i - i % 4 + 3} if i % 4 == 0
    else {i - 1, i, i + 1} if i % 4 in (1, 2) else {i - 3, i - 1, i} for i in range(8)])
def extended_powell_singular_value(x):
    a, b, c, d = x[0::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4
                  + 10.0 * (a - d) ** 4)


@hessian(point(4), rows=lambda: [{0, 1}, {0, 1, 3}, {2, 3}, {1, 2, 3}])
def wood_value(x):
    f = wood(x)
    return f @ f


@hessian(point(2), rows=lambda: full(2, 2))
def beale_value(x):
    return float(np.sum(beale(x) ** 2))


@hessian(point(6), rows=lambda: band(6, 2, 2))
def boundary_value_squared(x):
    return np.sum(discrete_boundary_value(x) ** 2)


@hessian(point(6), rows=lambda: [{i} for i in range(6)])
def sum_of_powers(x):
    return sum(v ** (k + 2) for k, v in enumerate(x))


@hessian(point(6), rows=lambda: [set() for _ in range(6)])
def linear_form(x):
    return np.dot(np.arange(6.0), x) + 3.0 * x[2] - np.mean(x)


@hessian(point(6), rows=lambda: band(6, 1, 1))
def tridiagonal_form(x):
    a = np.diag(np.full(6, 2.0)) - np.diag(np.ones(5), 1) - np.diag(np.ones(5), -1)
    return 0.5 * x @ a @ x - np.sum(x)


@hessian(point(5), rows=lambda: full(5, 5))
def log_sum_exp(x):
    return np.log(np.sum(np.exp(x)))


@hessian(point(5), rows=lambda: [{j for j in range(5) if j != i} for i in range(5)])
def product_of_all(x):
    return np.prod(x)


@hessian(point(6), rows=lambda: [set(range(6)), *({0, i} for i in range(1, 6))])
def arrow_value(x):
    return x[0] ** 2 + np.sum(x[0] * x[1:] ** 2)


@hessian(point(6), rows=lambda: [{i, i + 3} if i < 3 else {i - 3, i} for i in range(6)])
def paired_ratios(x):
    return np.sum(x[:3] ** 2 / x[3:])


@hessian(point(6), rows=lambda: [{i + 3} if i < 3 else {i - 3, i} for i in range(6)])
def linear_over(x):
    return np.sum(x[:3] / x[3:])


@hessian(point(6), rows=lambda: [{0}, {1}, {2}, set(), set(), set()])
def kinks_are_flat(x):
    return np.sum(np.sin(x[:3])) + np.sum(np.abs(x[3:])) + max(x[4], x[5])


@hessian(point(4), rows=lambda: full(4, 4))
def penalty_value(x):
    return 1e-5 * np.sum((x - 1.0) ** 2) + (np.sum(x**2) - 0.25) ** 2


@hessian(RNG.normal(size=(3, 2)), rows=lambda: [{2 * i, 2 * i + 1} for i in range(3) for _ in "ab"])
def rows_squared(x):
    return np.sum(np.sum(x, axis=1) ** 2)


@hessian(point(5), rows=lambda: [{1, 2}, {0, 2}, {0, 1, 3}, {2, 4}, {3}])
def chained_products(x):
    total = 0.0
    for i in range(3):
        total += x[i] * x[i + 1]
    return total + x[0] * x[2] + x[3] * x[4]

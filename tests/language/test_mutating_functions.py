"""Functions that write into what they are given: helpers, recursion, kernels that return nothing."""

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from tests.language.check import Cases, check

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.arange(12.0).reshape(3, 4) / 7 - 0.6
S = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 2.0]])


def scale(x, factor):
    x *= factor


def set_item(x, i, value):
    x[i] = value
    return x


def prefix_sums(x):
    """Replace each element by the sum up to it; too long to be opened where it is called."""
    n = len(x)
    total = 0.0
    count = 0
    for i in range(n):
        total = total + x[i]
        x[i] = total
        count += 1
    for i in range(n):
        if x[i] > 1e6:
            x[i] = 1e6
            count -= 1
        elif x[i] < -1e6:
            x[i] = -1e6
            count -= 1
    if count != n:
        x[0] = 0.0
        total = 0.0
    return total


def lu(a):
    n = len(a)
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]


def solve(a, b):
    lu(a)
    n = len(b)
    for i in range(n):
        b[i] -= a[i, :i] @ b[:i]
    for i in reversed(range(n)):
        b[i] = (b[i] - a[i, i + 1 :] @ b[i + 1 :]) / a[i, i]


@programs(V)
def helper_without_result(x):
    y = x * x
    scale(y, x[0])
    scale(y[1:], 2.0)
    return np.sum(y * y)


@programs(V)
def helper_called_with_the_argument(x):
    scale(x, 3.0)
    scale(x, x[0])
    return np.sum(x * x)


@programs(V)
def helper_that_gives_its_argument(x):
    y = set_item(set_item(x * x, 0, x[1]), 1, x[2])
    z = set_item(y, 2, y[0] * y[1])
    return np.sum(z * y)


@programs(V)
def helper_compiled_on_its_own(x):
    y = x * x
    total = prefix_sums(y)
    again = prefix_sums(y)
    return np.sum(y * x) * total + again


@programs(M)
def helper_on_rows(m):
    y = m * m
    for row in y:
        prefix_sums(row)
    return np.sum(y * m)


@programs(S)
def determinant(a):
    work = a.copy()
    lu(work)
    product = 1.0
    for i in range(3):
        product *= work[i, i]
    return product


@programs(S, V[:3])
def solution(a, b):
    solve(a, b)
    return np.sum(b * b)


def halves(x, low, high):
    """Replace x[low:high] by combinations of its halves, down to single elements."""
    if high - low < 2:
        return
    middle = (low + high) // 2
    halves(x, low, middle)
    halves(x, middle, high)
    for i in range(low, middle):
        j = middle + i - low
        a, b = x[i], x[j]
        x[i] = a + b
        x[j] = (a - b) * a


@programs(V)
def recursion_that_writes(x):
    y = x * 1.0
    halves(y, 0, 4)
    return np.sum(y * y)


@programs(V)
def recursion_into_the_argument(x):
    halves(x, 0, 4)
    return x[0] * x[3] + x[1]


def collect(x, n, out):
    if n == 0:
        return
    out.append(x * x)
    collect(x * 0.5, n - 1, out)


@programs(1.5)
def recursion_that_appends(x):
    out = []
    collect(x, 4, out)
    return sum(out) * out[-1]


def fill_table(table, x, n):
    if n >= 2 and table[n] == 0.0:
        table[n] = fill_table(table, x, n - 1) * x + fill_table(table, x, n - 2)
    return table[n]


@programs(0.7)
def recursion_with_a_table(x):
    table = np.zeros(8)
    table[0] = 1.0
    table[1] = x
    return fill_table(table, x, 7) * table[3]


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


# -- kernels that return nothing -------------------------------------------------------------------


def smooth(u, f, steps):
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i])


def test_a_loss_around_a_kernel():
    def loss(u, f):
        smooth(u, f, 3)
        return np.sum(u * u)

    check(loss, V, np.array([0.1, 0.2, 0.3, 0.4]))


def test_a_kernel_and_what_it_leaves():
    f = np.array([0.1, 0.2, 0.3, 0.4])
    u, wanted = V.copy(), V.copy()
    smooth(wanted, f, 3)
    value, pullback = vjp(lambda u, f: (smooth(u, f, 3), u)[1], u, f)
    assert np.array_equal(u, wanted)
    assert np.array_equal(value, wanted)
    seed = np.array([1.0, -2.0, 0.5, 3.0])
    u_bar, f_bar = pullback(seed)
    for i in range(4):
        for argument, bar in enumerate((u_bar, f_bar)):
            ends = []
            for step in (1e-6, -1e-6):
                moved = [V.copy(), f.copy()]
                moved[argument][i] += step
                smooth(*moved, 3)
                ends.append(seed @ moved[0])
            assert bar[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)


def test_a_function_without_result_has_no_gradient():
    with pytest.raises(TypeError, match="returns None"):
        grad(scale)(V.copy(), 2.0)


def test_the_same_derivative_of_other_sizes():
    def loss(a, b):
        solve(a, b)
        return np.sum(b)

    derivative = value_and_grad(loss, argnums=(0, 1))
    for n in (1, 2, 5):
        rng = np.random.default_rng(n)
        a, b = rng.normal(size=(n, n)) + 3.0 * np.eye(n), rng.normal(size=n)
        value, (a_bar, b_bar) = derivative(a, b)
        x = np.linalg.solve(a, b)
        weights = np.linalg.solve(a.T, np.ones(n))
        assert value == pytest.approx(np.sum(x))
        assert np.allclose(b_bar, weights)
        assert np.allclose(a_bar, -np.outer(weights, x))

"""Control flow, containers, objects and calls."""

import math
from dataclasses import dataclass

import numpy as np

from tests.sparsity.programs import band, full, hessian, jacobian

RNG = np.random.default_rng(4)
X = RNG.uniform(0.5, 2.0, 6)


@jacobian(X, rows=lambda: [{0, 1, 2}])
def early_return(x):
    for k in range(len(x)):
        if k == 3:
            return x[0] * x[1] + x[2]
    return np.sum(x)


@jacobian(X, rows=lambda: [set(range(6))])
def return_by_value(x):
    total = 0.0
    for v in x:
        total += v
        if total > 3.0:
            return total
    return total * 2.0


@jacobian(X, rows=lambda: [{0}])
def newton(x):
    """The loop ends when it has converged; how often it runs is not known."""
    y = 1.0
    while abs(y * y - x[0]) > 1e-10:
        y = 0.5 * (y + x[0] / y)
    return y


@jacobian(X, rows=lambda: [{0, 1}, {2}])
def bounded_newton(x):
    y, z = x[1], x[2]
    for _ in range(50):
        step = (y**3 - x[0]) / (3.0 * y**2)
        y -= step
        if abs(step) < 1e-12:
            break
    return y, z


@jacobian(X, rows=lambda: full(1, 3), argnums="x")
def rotating(x, n=5):
    a, b, c = x[0], x[1], x[2]
    while a < n:
        a, b, c = b + 1.0, c * 2.0, a + 0.5
    return a


@jacobian(np.ones(3), rows=lambda: [{0}, {1, 2}])
def swapped_by_value(x):
    low, high = x[1], x[2]
    if low > high:
        low, high = high, low
    return x[0], low


@jacobian(X, rows=lambda: [{0}, {0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4, 5}])
def comprehension(x):
    n = len(x)
    return [sum(x[max(i - 2, 0) : i + 1]) if i > 1 else math.prod(x[: i + 1]) for i in range(n)][
        :2] + [x[i] * x[i - 1] + x[i - 2] for i in range(2, n)]


@jacobian(X, rows=lambda: [{5}, {4}, {3}, {2}, {1}, {0}])
def while_backwards(x):
    out = []
    i = len(x) - 1
    while i >= 0:
        out.append(math.exp(x[i]))
        i -= 1
    return out


def total_of(x):
    """The sum of a sequence, by halves."""
    if len(x) == 1:
        return x[0]
    half = len(x) // 2
    return total_of(x[:half]) + total_of(x[half:])


@jacobian(X, rows=lambda: [{0, 1, 2, 3}, {4, 5}])
def recursive_sums(x):
    return np.array([total_of(x[:4]), total_of(x[4:])])


def power_by_squaring(x, n):
    if n == 0:
        return 1.0
    half = power_by_squaring(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


@jacobian(X, rows=lambda: [{0}, {3}])
def recursive_powers(x):
    return power_by_squaring(x[0], 5), power_by_squaring(x[3], 4)


def halved(x, y):
    """The depth depends on the value: what all calls have in common is followed."""
    if x < 1.0:
        return y
    return halved(x * 0.5, y + x)


@jacobian(X, rows=lambda: [{0, 1}])
def recursion_by_value(x):
    return halved(x[0], x[1])


def even(n, x):
    return x if n == 0 else odd(n - 1, x)


def odd(n, x):
    return 0.0 if n == 0 else even(n - 1, 2.0 * x)


@jacobian(X, rows=lambda: [{0}, set()])
def mutual_recursion(x):
    return [even(4, x[0]), even(5, x[1])]


@jacobian(X, rows=lambda: [{0, 1}, {2, 3}, {4, 5}])
def nested_calls(x):
    def pair(i):
        def value(j):
            return x[2 * i + j] ** 2

        return value(0) + value(1)

    return [pair(i) for i in range(3)]


@dataclass
class Account:
    balance: float
    rate: float

    def grow(self):
        self.balance = self.balance * (1.0 + self.rate)
        return self

    def pay(self, amount):
        self.balance += amount
        return self


@jacobian(X, rows=lambda: [{0, 1}, {2, 3, 4}])
def accounts(x):
    first, second = Account(x[0], x[1]), Account(x[2], x[3])
    first.grow().grow()
    second.pay(x[4]).grow()
    return [first.balance, second.balance]


@jacobian(X, rows=lambda: [{0, 2, 4}, {1, 3, 5}])
def dictionary(x):
    totals = {"even": 0.0, "odd": 0.0}
    for i in range(len(x)):
        key = "even" if i % 2 == 0 else "odd"
        totals[key] = totals[key] + x[i]
    return totals


@jacobian(X, rows=lambda: [{0, 1, 2}, {3, 4, 5}])
def list_of_lists(x):
    groups = [[], []]
    for i in range(6):
        groups[i // 3].append(x[i])
    return [sum(group) for group in groups]


@jacobian(X, rows=lambda: [{1}, {0}])
def views_are_followed(x):
    y = np.zeros((2, 2))
    row = y[1]
    row[0] = x[0]
    y.T[0, 0] = x[1]
    return np.array([y[0, 0], y[1, 0]])


@jacobian(X, rows=lambda: [{2}, set(), {0, 1}])
def overwritten(x):
    y = np.zeros(3)
    y[:] = x[0]
    y[0] = x[2]
    y[1] = 4.0
    y[2] += x[1]
    return y


@jacobian(X, rows=lambda: [{0}])
def a_branch_that_raises(x):
    if x[1] > 100.0:
        raise ValueError("too large")
    return x[0]


@jacobian(X, rows=lambda: [{0, 2}])
def failing_division(x):
    try:
        y = x[0] / (x[1] - 1.0 > 0.0)
    except ZeroDivisionError:
        y = x[2]
    return y


@jacobian(X, rows=lambda: [set(), {1}, {1, 2}])
def positions_and_counts_are_constant(x):
    k = int(np.argmax(x))
    return [float(k), x[1] * len(x), x[2] * math.floor(x[0]) + x[1]]


@jacobian(X, rows=lambda: [set(range(6))])
def picked_by_value(x):
    return x[int(np.argmin(x))]


@jacobian(X, rows=lambda: band(6, 5, 0))
def forward_substitution(b):
    n = len(b)
    low = np.tril(np.ones((n, n))) + np.eye(n)
    y = np.zeros(n)
    for i in range(n):
        y[i] = (b[i] - low[i, :i] @ y[:i]) / low[i, i]
    return y


@jacobian(X, rows=lambda: full(6, 6))
def thomas_algorithm(d):
    n = len(d)
    c, e = np.zeros(n), np.zeros(n)
    c[0], e[0] = 1.0 / 4.0, d[0] / 4.0
    for i in range(1, n):
        m = 4.0 - c[i - 1]
        c[i] = 1.0 / m
        e[i] = (d[i] - e[i - 1]) / m
    x = np.zeros(n)
    x[-1] = e[-1]
    for i in range(n - 2, -1, -1):
        x[i] = e[i] - c[i] * x[i + 1]
    return x


@jacobian(X, rows=lambda: band(6, 5, 0))
def prefix_maxima(x):
    best = x[0]
    out = [best]
    for v in x[1:]:
        best = v if v > best else best
        out.append(best)
    return out


@jacobian(X[:3], rows=lambda: [{0, 1, 2}, {0, 1, 2}, {1}])
def robertson(y):
    a = -0.04 * y[0] + 1e4 * y[1] * y[2]
    c = 3e7 * y[1] ** 2
    return [a, -a - c, c]


@jacobian(X[:3], rows=lambda: [{0, 1}, {0, 1, 2}, {0, 1, 2}])
def lorenz(u):
    x, y, z = u
    return np.array([10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z])


@jacobian(X, rows=lambda: [{0, 2, 4}, {1, 3, 5}] * 3)
def attracting_bodies(q):
    pos = q.reshape(3, 2)
    force = np.zeros((3, 2))
    for i in range(3):
        for j in range(3):
            if i != j:
                force[i] += pos[j] - pos[i]
    return force


@jacobian(X, rows=lambda: [{0, 1, 2, 5}, {0, 1, 2}, {0, 1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {0, 4, 5}])
def graph_laplacian(x):
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 2)]
    y = [0.0] * 6
    for a, b in edges:
        y[a] = y[a] + x[a] - x[b]
        y[b] = y[b] + x[b] - x[a]
    return y


@hessian(X, rows=lambda: [{0, 1}, {0, 1}, {2}, set(), set(), set()])
def curvature_in_one_branch(x):
    if x[3] > 0.0:
        return x[0] ** 2 * x[1] + x[1] ** 3 + x[4]
    return x[2] ** 2 + x[5]


@hessian(X, rows=lambda: [{0, 1}, {0, 1}, set(), set(), set(), set()])
def curvature_in_a_loop(x):
    y = x[0]
    while y < 100.0:
        y = y * y + x[1]
    return y + x[2]


@hessian(X, rows=lambda: [*full(3, 3), set(), set(), set()])
def curvature_goes_round(x):
    """What is curved in one variable reaches the next one only in the next iteration."""
    a, b, c = x[0], x[1], x[2]
    while a + b + c < 1000.0:
        a, b, c = b, c, a * a + 2.0 * b
    return a + x[3]


@hessian(X, rows=lambda: [{0}, set(), {2}, set(), set(), set()])
def dead_curvature(x):
    y = x**2
    z = y[1] * y[3]
    z = x[2] ** 3
    return y[0] + z


@hessian(X, rows=lambda: [{0, 1}, {0, 1}, set(), set(), set(), set()])
def curvature_in_recursion(x):
    def down(value):
        return value if value < 1.0 else down(value * value * 0.1 + x[1] * 0.01)

    return down(x[0])

"""What loops do to values: carried, reset, left behind, of another kind, counted by hand."""

import numpy as np
import pytest

from adcompiler import grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0, 0.25])
M = np.array([[0.5, -1.5, 2.0], [0.25, 1.0, -0.75]])


@programs(1.3, 3)
@programs(1.3, 0)
def first_assigned_in_loop(x, n):
    for i in range(n):
        y = x * i
        x = x + y
    return x


@programs(1.3, 3)
def used_after_loop(x, n):
    for i in range(n):
        y = x ** (i + 1)
    return y * i


@programs(V)
def loop_variable_after_loop(x):
    for v in x:
        pass
    return v * v


@programs(V)
def rebinds_loop_variable(x):
    total = 0.0
    for v in x:
        v = v * v
        total += v
    return total


@programs(V)
def rebinds_the_sequence(x):
    total = 0.0
    for v in x:
        x = x * 0.5
        total += v * x[0]
    return total


@programs(1.2)
def carried_pair(x):
    a, b = 1.0, x
    for _ in range(6):
        a, b = b, a + b * x
    return a * b


@programs(1.2)
def fibonacci_array(x):
    h = np.array([1.0, 2.0])
    for _ in range(3):
        h = np.array([h[1], h[0] + x * h[1]])
    return h[0] * h[1]


@programs(V)
def if_in_loop(x):
    total = 1.0
    for v in x:
        if v > 1.0:
            total = total * v
        elif v > 0.0:
            total = total + v * total
        else:
            total = total - v * v
    return total


@programs(1.2)
def condition_depends_on_carried(x):
    y = x
    for i in range(5):
        if y > 2.0:
            y = y - x
        else:
            y = y * x
    return y


@programs(V)
def unused_iterations(x):
    y = x[0]
    for _ in range(3):
        y = x[1] * x[2]
    return y


@programs(V)
def only_the_last_counts(x):
    best = 0.0
    for v in x:
        if v > best:
            best = v
    return best * best


@programs(1.2)
def nested_loops_with_inner_reset(x):
    total = 0.0
    for i in range(3):
        p = 1.0
        for j in range(i + 1):
            p = p * x + j
        total = total + p * i
    return total


@programs(3.0)
def nested_while(x):
    total = 0.0
    while x > 1.0:
        y = x
        while y > 0.5:
            y = y * 0.6
        total += y * x
        x = x * 0.7
    return total


@programs(V, 2)
def index_loop(x, k):
    total = 0.0
    for i in range(len(x)):
        for j in range(0, i):
            total += x[i] * x[j] ** k
    return total


@programs(M)
def matrix_index_loop(m):
    n, k = m.shape
    total = 0.0
    for i in range(n):
        for j in range(k):
            total += m[i, j] * m[i][k - 1 - j]
    return total


@programs(1.2)
def tuple_carried(x):
    state = (x, 1.0)
    for _ in range(3):
        a, b = state
        state = (a * b, b + a)
    return state[0] + state[1]


@programs(1.2)
def list_carried(x):
    ys = [x]
    for i in range(3):
        ys = [*ys, ys[-1] * x + i]
    return sum(ys)


@programs(1.2)
def list_grown_by_addition(x):
    ys = []
    for i in range(3):
        ys = ys + [x**i]
    return sum(ys)


@programs(V)
def accumulates_into_two(x):
    s, p = 0.0, 1.0
    for v in x:
        s += v
        p *= v
    return s * p


@programs(V)
def while_over_index(x):
    i, total = 0, 0.0
    while i < len(x) and x[i] > -1.0:
        total += x[i] ** 2
        i += 1
    return total * x[-1]


@programs(1.2)
def float_counter(x):
    t, y = 0.0, x
    while t < 1.0:
        y += 0.25 * y * x
        t += 0.25
    return y


@programs([[0.5, 1.5], [2.5]])
def ragged_lists(rows):
    total = 0.0
    for row in rows:
        for v in row:
            total += v * row[0]
    return total


@programs([(0.5, V), (1.5, V + 1.0)])
def list_of_pairs(pairs):
    total = 0.0
    for w, x in pairs:
        total += w * np.sum(x * x)
    return total


@programs(V)
def loop_over_expression(x):
    total = 0.0
    for v in x[1:] * x[:-1]:
        total += v * v
    for v in np.sin(x):
        total *= v
    return total


def first_negative(x):
    for v in x:
        if v < 0.0:
            found = v
            break
    return found * found


def test_a_variable_that_no_iteration_bound_is_an_error_when_read():
    assert np.array_equal(grad(first_negative)(V), [0.0, -3.0, 0.0, 0.0])
    with pytest.raises((UnboundLocalError, NameError)):
        grad(first_negative)(np.ones(2))


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)

"""Loops with all iterations at once: the same patterns as with one after the other."""

import math

import numpy as np
import pytest

from adcompiler import hessian_sparsity, jacobian_sparsity
from adcompiler.sparsity.interpreter import machine
from adcompiler.sparsity.interpreter.lanes import lanes
from tests.lanes import one_in
from tests.sparsity.check import dense_jacobian, missing, rows
from tests.sparsity.random_loops import random_loop

N = 9


def stencil(x):
    n = len(x)
    y = np.zeros(n)
    for i in range(n):
        s = -2.0 * x[i]
        if i > 0:
            s += x[i - 1]
        if i < n - 1:
            s += x[i + 1]
        y[i] = s * s
    return y


def matrix_vector(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(len(x)):
            s += (i + j) * x[j] * x[i]
        y[i] = s
    return y


def triangle(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(i):
            y[i] += x[j]
    return y


def pairs(x):
    energy = 0.0
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            if (i + j) % 3 == 0:
                energy += math.sin(x[i] * x[j])
    return energy


def neighbours(x):
    y = np.zeros(len(x))
    n = len(x)
    for i in range(n):
        s = 0.0
        for q in ((i + 1) % n, (i - 1) % n):
            s += x[q]
        y[i] = s - math.exp(x[i])
    return y


def collected(x):
    return np.array([x[i] * x[(3 * i + 1) % len(x)] for i in range(len(x))])


def table(x):
    places = np.zeros(len(x), int)
    for i in range(len(x)):
        places[i] = (5 * i + 2) % len(x)
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[places[i]] * x[i]
    return y


def in_place(x):
    y = x * 1.0
    for i in range(len(y)):
        y[i] = 2.0 * y[i] + x[0]
        y[i] *= x[1]
    return y


def scattered(x):
    y = np.zeros(4)
    for i in range(len(x)):
        y[i % 4] += x[i]
    return y


def relaxed(x):
    y = x * 1.0
    for _ in range(3):
        z = y.copy()
        for i in range(1, len(x) - 1):
            z[i] = 0.5 * (y[i - 1] + y[i + 1])
        y = z
    return y


def chosen(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        if i % 2 == 0:
            v = x[i] * 2.0
            v = v + x[1]
        else:
            v = x[0]
        y[i] = v
    return y


def last_value(x):
    v = 0.0
    for i in range(len(x)):
        v = x[i] * 2.0
    return v + x[0]


def powers(x):
    s = 0.0
    for v in x:
        s = s + v**2
    return s


def chained(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += (1.0 - x[i]) ** 2 + 100.0 * (x[i + 1] - x[i] ** 2) ** 2
    return total


def grid(x):
    n = 3
    y = np.zeros((n, n))
    z = x.reshape(n, n)
    for i in range(n):
        for j in range(n):
            y[i, j] = z[i, j] * z[j, i] + z[-1, j]
    return y


def divided(x):
    s = 0.0
    for i in range(len(x)):
        s += x[i] / (i + 1) if i // 2 != 1 else x[0] * x[i]
    return s


def recurrence(x):
    y = np.zeros(len(x))
    y[0] = x[0]
    for i in range(1, len(x)):
        y[i] = y[i - 1] + x[i]
    return y


def reversed_in_place(x):
    y = x * 1.0
    for i in range(len(y)):
        y[i] = y[len(y) - 1 - i]
    return y


def overwritten(x):
    y = np.zeros(4)
    for i in range(len(x)):
        y[i % 4] = x[i]
    return y


def swept(x):
    y = x * 1.0
    for i in range(1, len(x) - 1):
        y[i] = 0.5 * (y[i - 1] + y[i + 1])
    return y


def added_and_read(x):
    y = np.zeros(len(x) + 1)
    for i in range(len(x)):
        y[i] += x[i]
        y[i + 1] += y[i]
    return y


def horner(x):
    y = 0.0
    for i in range(len(x)):
        y = y * x[0] + x[i]
    return y


def largest(x):
    m = x[0]
    for i in range(1, len(x)):
        m = max(m, x[i])
    return m


def counted(x):
    k = 0
    y = np.zeros(2 * len(x))
    for i in range(len(x)):
        y[k] = x[i]
        k += 2
    return y


def springs(x):
    f = np.zeros(len(x))
    for i in range(len(x) - 1):
        d = (x[i] - x[i + 1]) ** 3
        f[i] -= d
        f[i + 1] += d
    return f


def branches_on_values(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[i] if x[i] > 0 else x[0]
    return y


def known_sum(x):
    h = 0.0
    for i in range(len(x)):
        h += 0.1 * i
    return x * int(h / 3.6)


def zero_division(x):
    s = x[0]
    try:
        for i in range(len(x)):
            s += x[i] * (i // (i - 5))
    except ZeroDivisionError:
        s = s * x[7]
    return s


AT_ONCE = [
    stencil, matrix_vector, triangle, pairs, neighbours, collected, table, in_place, scattered,
    relaxed, chosen, last_value, powers, chained, divided,
]
ONE_BY_ONE = [
    recurrence, reversed_in_place, overwritten, swept, added_and_read, horner, largest, counted,
    branches_on_values, known_sum,
]
OTHERS = [grid, springs, zero_division]


@pytest.fixture
def outcomes(monkeypatch):
    """Whether each loop that was tried could be run at once."""
    found = []
    in_lanes = machine.in_lanes

    def noted(*args):
        result = in_lanes(*args)
        found.append(result is not None)
        return result

    monkeypatch.setattr(machine, "in_lanes", noted)
    return found


def found_one_by_one(find, function, x, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(machine, "FEWEST", 10**9)
        return find(function, x)


@pytest.mark.parametrize("function", AT_ONCE + ONE_BY_ONE + OTHERS)
def test_the_same_pattern(function, outcomes, monkeypatch):
    x = np.ones(N)
    wanted = found_one_by_one(jacobian_sparsity, function, x, monkeypatch)
    assert outcomes == []
    assert rows(jacobian_sparsity(function, x)) == rows(wanted)
    if function in AT_ONCE:
        assert outcomes and all(outcomes)
    if function in ONE_BY_ONE:
        assert not any(outcomes)


@pytest.mark.parametrize("function", [pairs, powers, chained, divided])
def test_the_same_hessian(function, outcomes, monkeypatch):
    x = np.ones(N)
    wanted = found_one_by_one(hessian_sparsity, function, x, monkeypatch)
    assert rows(hessian_sparsity(function, x)) == rows(wanted)
    assert outcomes and all(outcomes)


def test_patterns_by_hand():
    x = np.ones(N)
    assert rows(jacobian_sparsity(stencil, x)) == [
        {j for j in (i - 1, i, i + 1) if 0 <= j < N} for i in range(N)]
    assert rows(jacobian_sparsity(triangle, x)) == [set(range(i)) for i in range(N)]
    assert rows(jacobian_sparsity(scattered, x)) == [
        {j for j in range(N) if j % 4 == i} for i in range(4)]
    assert rows(jacobian_sparsity(last_value, x)) == [{0, N - 1}]
    assert rows(hessian_sparsity(pairs, x)) == [
        {i, *(j for j in range(N) if (i + j) % 3 == 0 and j != i)} for i in range(N)]


def test_loops_cost_little():
    x = np.ones(20_000)
    pattern = hessian_sparsity(chained, x)
    assert pattern.nnz == 3 * x.size - 2


def test_errors_are_those_of_the_loop():
    def outside(x):
        s = 0.0
        for i in range(len(x) + 1):
            s += x[i]
        return s

    with pytest.raises(IndexError):
        jacobian_sparsity(outside, np.ones(N))


@pytest.mark.parametrize("first", one_in(3, range(0, 60, 20)))
def test_random_loops(first, outcomes, monkeypatch):
    x = np.random.default_rng(first).uniform(0.5, 1.5, 6)
    for seed in range(first, first + 20):
        with monkeypatch.context() as patched:
            for module in (machine, lanes):
                patched.setattr(module, "FEWEST", 1)
            found = jacobian_sparsity(random_loop(seed), x)
        function = random_loop(seed)
        wanted = found_one_by_one(jacobian_sparsity, function, x, monkeypatch)
        assert rows(found) == rows(wanted), seed
        assert missing(found, dense_jacobian(function, (x,), (0,))) == [], seed
    assert sum(outcomes) >= 5

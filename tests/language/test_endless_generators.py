"""Loops over generator functions that need not end, or whose items are arrays."""

import itertools
from itertools import islice

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian
from tests.language.check import Cases

programs = Cases()
X = np.array([0.7, 1.3, 0.4])


def halves(x):
    while True:
        yield x
        x = x / 2.0


def newton(x, y=1.0):
    """Yield better and better square roots."""
    while True:
        y = 0.5 * (y + x / y)
        yield y


def runge(f, y, h):
    t = 0.0
    while True:
        yield t, y
        y = y + h * f(t, y)
        t += h


def rows(x):
    for i in range(3):
        yield x * x[i]


def powers(x):
    n = 0
    while True:
        n += 1
        if n > 4:
            return
        yield x**n


@programs(X)
def left_by_break(x):
    total = 0.0
    for half in halves(8.0 * x[0]):
        if half < 0.5:
            break
        total += half * half * x[1]
    return total


@programs(X)
def until_it_settles(x):
    before = x[0]
    for y in newton(x[0], y=x[0]):
        if abs(y - before) < 1e-12:
            break
        before = y
    return y * x[1]


@programs(X)
def counted(x):
    for i, y in enumerate(newton(x[0])):
        if i >= 5:
            break
    return y * x[1]


@programs(X)
def the_first_ones(x):
    total = 0.0
    for i, y in enumerate(islice(newton(x[0], x[1]), 4), 1):
        total += y * i
    for i, y in itertools.islice(enumerate(newton(x[1], x[0])), 3):
        total += y * i
    return total


@programs(X)
def steps_of_a_solver(x):
    for t, y in runge(lambda t, y: -x[0] * y + x[1] * t, x[2], 0.1):
        if t > 0.95:
            break
    return y * y


@programs(X)
def arrays(x):
    total = 0.0
    for row in rows(x):
        total += np.sum(row**2)
    return total


@programs(X)
def one_inside_of_the_other(x):
    def gen(k):
        v = x[0]
        while v < 20.0:
            v = v * k
            yield v

    total = 0.0
    for a in gen(2.0):
        if a > 10.0:
            continue
        for b in gen(3.0):
            if b > 5.0:
                break
            total += a * b * x[1]
    return total


@programs(X)
def that_ends(x):
    total = 0.0
    for v in powers(x[0]):
        total += v
    return total * v


@programs(X)
def returned_from(x):
    for v in halves(4.0 * x[0]):
        if v < 1.0:
            return v * x[1]
    return 0.0


@programs(X)
def of_its_own_names(x):
    y, t = x[1], 0.0
    for x in halves(2.0 * x):
        if x[0] < 0.1:
            break
        t += np.sum(x * y)
    return t + x[2]


@programs(X)
def descent(x):
    def descend(p, rate):
        while True:
            p = p - rate * 2.0 * (p - x[0])
            yield p

    for k, p in enumerate(descend(x[1], 0.1)):
        if k == 10:
            break
    return p**2


@programs(X)
def of_what_the_loop_changes(x):
    def rest(items):
        while len(items) > 0:
            yield items[-1]

    items, total = [v * v for v in x], 1.0
    for v in rest(items):
        total = total * v + len(items)
        items.pop()
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_loops(case):
    programs.check(case)


def test_second_order():
    step = 1e-5
    g = grad(steps_of_a_solver)
    wanted = [(g(X + step * e) - g(X - step * e)) / (2.0 * step) for e in np.eye(3)]
    np.testing.assert_allclose(hessian(steps_of_a_solver)(X), wanted, rtol=1e-6, atol=1e-6)


def continued(x):
    total = 0.0
    for half in halves(x):
        if half > 2.0:
            continue
        total += half
        if half < 0.5:
            break
    return total


def test_what_goes_on_behind_the_yield_is_not_left_out():
    assert continued(8.0) == 3.75
    with pytest.raises(UnsupportedError) as caught:
        grad(continued)(8.0)
    assert {f.anchor for f in caught.value.findings} == {"generators"}


def test_another_function_of_the_name(monkeypatch):
    g = grad(left_by_break)
    before = g(X)

    def thirds(x):
        while True:
            yield x
            x = x / 3.0

    monkeypatch.setitem(globals(), "halves", thirds)
    step = 1e-6
    wanted = [(left_by_break(X + step * e) - left_by_break(X - step * e)) / (2.0 * step)
              for e in np.eye(3)]
    np.testing.assert_allclose(grad(left_by_break)(X), wanted, rtol=1e-6, atol=1e-6)
    monkeypatch.undo()
    np.testing.assert_array_equal(g(X), before)

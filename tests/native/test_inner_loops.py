"""Loops that hold no others: tests in front of them and behind, elements in variables."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, value_and_grad
from tests.native.test_backends_agree import outcome, same, watched
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")


def valley(x):
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        for i in range(1, len(u) - 1):
            v[i] = u[i] + 0.1 * (u[i + 1] - 2.0 * u[i] * u[i] + u[i - 1])
        u = v
    return np.sum(u * u)


def recurrence(x, a):
    y = x.copy()
    for i in range(3, len(y)):
        y[i] = a * y[i - 1] + 0.5 * y[i - 3] * x[i]
    return np.sum(y * y)


def grid(x, steps):
    u = np.zeros((4, len(x)))
    u[1] = x
    for _ in range(steps):
        for i in range(1, 3):
            for j in range(1, len(x) - 1):
                u[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) + u[i, j]
    return np.sum(u * u)


def wide(x, k):
    """Elements that are too far apart, and ones of which the distance is data."""
    y = x.copy()
    for i in range(len(x) - 6):
        y[i + 6] += 0.5 * y[i] * x[i]
    for i in range(len(x) - k):
        y[i + k] += 0.5 * y[i] * x[i]
    return np.sum(y * y)


def at_times(x, k):
    """What is done at times only is done to the array."""
    y = x.copy()
    for i in range(len(x)):
        if i > 0 and x[i] > 0.5:
            y[i] += y[i - 1] * x[i]
    return np.sum(y * y) * k


def beyond(x, k):
    y = x.copy()
    for i in range(len(x)):
        y[i + k] += y[i] * 0.5
    return np.sum(y)


def diverging(x, k):
    total = 0.0
    for i in range(len(x)):
        total += k * (x[i] * 1e200) ** 2
    return total


PROGRAMS: list[tuple[Any, tuple[Any, ...]]] = [
    (valley, ()), (heat, (3,)), (recurrence, (0.75,)), (grid, (2,)), (wide, (2,)), (at_times, (2,)),
    (beyond, (1,)), (diverging, (2,)),
]
named = pytest.mark.parametrize(("program", "rest"), PROGRAMS)


@named
@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 9])
def test_the_same_bits(program: Any, rest: tuple[Any, ...], count: int) -> None:
    x = np.random.default_rng(count).normal(size=count)
    expected = outcome(value_and_grad(program), x, *rest)
    native = value_and_grad(program, backend="native")
    came = watched(native, x, *rest)
    found = outcome(native, x, *rest)
    if isinstance(expected[0], float):
        assert float(found[0]) == float(expected[0]) or expected[0] != expected[0]
        assert same(found[1], expected[1])
        finite = bool(np.isfinite(expected[0]))
        assert came == [finite]
    else:
        assert found == expected
        assert came == [False]


def sweep(program: Any, rest: tuple[Any, ...]) -> str:
    """Return the loops of the sweep."""
    return loops_of(program, np.ones(9), *rest).partition("# reverse of")[2]


@pytest.mark.parametrize("program", [valley, heat, recurrence, grid])
def test_neighbours_are_kept_in_variables(program: Any) -> None:
    rest = dict(PROGRAMS)[program]
    text = sweep(program, rest)
    assert "_near" in text
    stores = re.findall(r"(\w+_bar\w*)\[.*\] \+= ", text)
    assert program is grid or not stores


@pytest.mark.parametrize("program", [wide, at_times])
def test_other_elements_are_not(program: Any) -> None:
    rest = dict(PROGRAMS)[program]
    assert "_near" not in loops_of(program, np.ones(9), *rest)


@pytest.mark.parametrize("program", [valley, heat, recurrence])
def test_the_innermost_loops_have_no_way_out(program: Any) -> None:
    rest = dict(PROGRAMS)[program]
    lines = loops_of(program, np.ones(9), *rest).splitlines()
    heads = [i for i, line in enumerate(lines) if line.lstrip().startswith("for ")]
    checked = 0
    for head in heads:
        depth = len(lines[head]) - len(lines[head].lstrip())
        rows = []
        for line in lines[head + 1 :]:
            if len(line) - len(line.lstrip()) <= depth:
                break
            rows.append(line)
        if not any(row.lstrip().startswith("for ") for row in rows):
            assert not any("return" in row for row in rows)
            checked += 1
    assert checked


def test_a_test_at_times_stays_where_it_is() -> None:
    def guarded(x, k):
        total = 0.0
        for i in range(len(x)):
            if i + k < len(x):
                total += x[i + k] * x[i]
        return total

    fast = compiled(guarded)
    x = np.array([1.0, 2.0, 3.0, 4.0])
    for k in (0, 1, 3, 5):
        came = watched(fast, x, k)
        assert fast(x, k) == guarded(x, k)
        assert came == [True]


def test_integers_are_tested_where_they_are() -> None:
    def whole(x, k):
        total = 0.0
        for i in range(len(x)):
            total += x[int(math.exp(x[i]) * k) % len(x)]
        return total

    x = np.array([0.5, 1.5, 2.5])
    native = value_and_grad(whole, backend="native")
    expected = value_and_grad(whole)(x, 2)
    came = watched(native, x, 2)
    assert same(native(x, 2)[1], expected[1])
    assert came == [True]
    huge = np.array([0.5, 1000.0, 2.5])
    assert outcome(native, huge, 2) == outcome(value_and_grad(whole), huge, 2)


def product(x, table):
    y = np.zeros(len(table))
    for i in range(len(table)):
        for j in range(len(x)):
            y[i] += table[i, j] * x[j]
    return np.sum(y * y * y)


def running(x, table):
    """Every sum is read by the iteration that comes next."""
    y = np.zeros(len(table) + 1)
    for i in range(len(table)):
        for j in range(len(x)):
            y[i] += table[i, j] * x[j] * y[i]
            y[i + 1] += x[j]
    return np.sum(y)


def rows(x, table):
    total = 0.0
    for i in range(len(table)):
        for j in range(len(x)):
            y = np.zeros(2)
            y[1] += table[i, j] * x[j]
            total += y[1] * y[0] + y[1]
    return total


@pytest.mark.parametrize(("program", "has_totals"), [
    (product, True), (running, False), (rows, False)])
def test_an_element_that_a_loop_adds_to_is_kept_in_a_variable(
    program: Any, has_totals: bool
) -> None:
    rng = np.random.default_rng(0)
    for shape in ((3, 4), (1, 1), (2, 0), (0, 3)):
        args = rng.normal(size=shape[1]), rng.normal(size=shape)
        expected = outcome(grad(program, (0, 1)), *args)
        assert same(outcome(grad(program, (0, 1), backend="native"), *args), expected)
    text = loops_of(program, np.ones(4), np.ones((3, 4))).partition("reverse of")[0]
    assert ("_total = " in text) is has_totals


@pytest.mark.parametrize("size", [0, 1, 2, 6])
def test_a_total_adds_what_a_window_keeps_in_variables(size: int) -> None:
    def flow(k, u):
        out = 0.0
        for i in range(len(u) - 1):
            out += k[0] * u[i] * u[i + 1] + k[1] * (u[i + 1] - u[i])
        return out

    def both(k, u):
        v = u * 2.0
        y = np.zeros(2)
        for i in range(len(u) - 1):
            v[i + 1] += v[i] * k[0]
            y[1] += v[i] * v[i + 1]
        return y[1] + np.sum(v)

    rng = np.random.default_rng(size)
    args = rng.normal(size=2), rng.normal(size=size)
    for program in (flow, both):
        expected = outcome(grad(program, (0, 1)), *args)
        assert same(outcome(grad(program, (0, 1), backend="native"), *args), expected)
    text = loops_of(both, *args)
    assert "_total" in text and "_near" in text


def test_an_element_beside_the_array_is_python_s_to_tell() -> None:
    def beside(x, table):
        y = np.zeros(2)
        for i in range(len(table)):
            for j in range(len(x)):
                y[i] += table[i, j] * x[j]
        return np.sum(y)

    args = np.ones(3), np.ones((3, 3))
    expected = outcome(grad(beside), *args)
    assert expected[0] is IndexError
    assert outcome(grad(beside, backend="native"), *args) == expected
    assert same(grad(beside, backend="native")(np.ones(0), np.ones((3, 0))), np.zeros(0))

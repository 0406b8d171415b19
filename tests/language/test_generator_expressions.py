"""Generator expressions, set comprehensions, and ``del`` of names."""

import math

import numpy as np
import pytest
from tests.language.check import Cases

from adcompiler import UnsupportedError, grad, value_and_grad

programs = Cases()


def total_of(items):
    total = 0.0
    for item in items:
        total = total + item * item
    return total


def scaled_total(items, scale):
    return scale * sum(items)


V = np.array([1.5, -2.5, 0.5, 3.5])


@programs(1.3, V)
def consumers(x, v):
    table = dict((str(k), k * x) for k in range(3))
    first = list(a * x for a in v)
    array = np.array(list(a * a for a in v))
    pair = tuple(a for a in v if a > 0.0)
    text = "".join(str(k) for k in range(3))
    return (
        sum(a * a for a in v) + max(a * x for a in v) - min(x - a for a in v) + table["2"]
        + first[1] + np.sum(array) + pair[0] * len(text) + math.fsum(a * x for a in v)
        + sorted(a * x for a in v)[0]
    )


@programs(1.3, V)
def iterated(x, v):
    total = 0.0
    for y in (a * x for a in v if a > 0.0):
        if y > 4.0:
            break
        total = total * y + y
    else:
        total = 2.0 * total
    return total


@programs(1.3, V)
def iterated_with_the_same_names(x, v):
    a = 3.0 * x
    total = 0.0
    for y in (a * x for a in v):
        total = total + y * a
        a = a + 1.0
    return total


@programs(1.3, V)
def two_clauses(x, v):
    total = 0.0
    for y in (a * b for a in v for b in v if b > 0.0):
        total = total + y * x
    return total + sum(a * b * x for a in v for b in v if a > b)


@programs(1.3, V)
def short_circuits(x, v):
    if any(a > 3.0 for a in v) and all(a * x < 10.0 for a in v):
        x = x * x
    if any(a * b > 100.0 for a in v for b in v):
        x = x + 1.0
    if all(a * b < 100.0 for a in v if a > 0.0 for b in v):
        x = 2.0 * x
    return x


@programs(1.3, V)
def next_one(x, v):
    found = next(a * x for a in v if a < 0.0)
    missing = next((a * x for a in v if a > 10.0), x * x)
    return found * missing


@programs(1.3, V)
def given_to_functions(x, v):
    return total_of(a * x for a in v) + scaled_total((a * a for a in v), x)


@programs(1.3, V)
def kept_in_a_variable(x, v):
    squares = (x * a * a for a in v)
    first, *rest = (a * x for a in v)
    return sum(squares) * first + sum(rest) + sum([*(a * a for a in v)])


@programs(1.3, V)
def zipped(x, v):
    total = 0.0
    for n, y in enumerate(a * x for a in v):
        total = total + n * y * y
    for y, z in zip((a * x for a in v), v, strict=False):
        total = total + y * z
    return total


@programs(1.3, 4, argnums=(0,))
def in_loops(x, n):
    total = x
    for i in range(n):
        total = total + sum(x * k for k in range(i))
        if any(k * k > total for k in range(i)):
            total = total * x
    return total


@programs(1.3, 3, argnums=(0,))
def recursive(x, n):
    if n == 0:
        return x
    return sum(x * recursive(x, k) for k in range(n) if k != 1)


@programs(1.3)
def sets(x):
    kinds = {k % 3 for k in range(7)}
    total = 0.0
    for k in sorted(kinds):
        total = total + x**k
    return total * len(kinds) if 2 in kinds else total


@programs(1.3)
def deleted(x):
    y = x * x
    z = 2.0 * y
    del y
    y = z * x
    a, b = y, z
    del (a, z)
    return y * b


@programs(1.3, 3, argnums=(0,))
def deleted_in_a_loop(x, n):
    total = 0.0
    for i in range(n):
        y = x * i
        total = total + y * y
        del y
    return total


@pytest.mark.parametrize("case", programs, ids=str)
def test_program(case):
    programs.check(case)


def test_any_stops_at_the_first():
    def stopped(x):
        if any(1.0 / k > 0.4 for k in (1, 2, 0)):
            return x * x
        return x

    def not_stopped(x):
        if all(1.0 / k < 1.5 for k in (1, 2, 0)):
            return x * x
        return x

    assert value_and_grad(stopped)(3.0) == (9.0, 6.0)
    with pytest.raises(ZeroDivisionError, match="float division by zero"):
        grad(not_stopped)(3.0)


def test_next_of_nothing_raises():
    def nothing(x):
        return next(k * x for k in range(3) if k > 5)

    with pytest.raises(StopIteration):
        grad(nothing)(3.0)


def test_a_name_that_shadows_a_builtin():
    def any(items):  # noqa: A001
        return sum(items)

    def shadowed(x):
        return any(k * x for k in range(4))

    assert value_and_grad(shadowed)(2.0) == (12.0, 6.0)


def test_a_read_after_del_raises_as_in_python():
    def gone(x):
        y = x * x
        del y
        return y  # noqa: F821

    def maybe_gone(x):
        y = x * x
        if x > 2.0:
            del y
        return y

    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(gone)(3.0)
    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(maybe_gone)(3.0)
    assert grad(maybe_gone)(1.0) == 2.0


def twice(items):
    return sum(items) + sum(items)


def looked_at(items):
    return len(items)


def again(x):
    squares = (k * x for k in range(3))
    return sum(squares) + sum(squares)


def in_a_later_loop(x):
    squares = (k * x for k in range(3))
    total = 0.0
    for _ in range(2):
        total = total + sum(squares)
    return total


def passed_on(x):
    return twice(k * x for k in range(3))


def measured(x):
    return x * looked_at(k * x for k in range(3))


def changed_in_between(x):
    factor = x
    products = (factor * k for k in range(3))
    factor = 2.0 * x
    return sum(products) + factor


@pytest.mark.parametrize(
    "function", [again, in_a_later_loop, passed_on, measured, changed_in_between]
)
def test_what_a_list_would_change_is_refused(function):
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(2.0)
    assert {finding.anchor for finding in caught.value.findings} == {"generators"}

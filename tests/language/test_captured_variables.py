"""Captured variables are checked where they are read: they may get a value after the definition."""

import pytest

from adcompiler import grad, hessian, jvp
from tests.language.check import Cases

unbound = Cases()


@unbound(1.5)
def not_read_on_the_first_call(x):
    def inner(asks):
        return k * x if asks else x

    first = inner(False)
    k = 3.0
    return first + inner(True)


@unbound(1.5)
def valve(x):
    def iterate(diameter):
        geometry = 1 + diameter
        return geometry * area * x if diameter > 1 else geometry * x

    small = iterate(0.5)
    area = 2.0
    return small * iterate(2.0)


@unbound(1.5)
def by_data(x):
    if x > 100:
        k = 2.0

    def inner(asks):
        return k * x if asks else x

    return inner(x > 100)


@unbound(1.5)
def by_data_recursive(x):
    if x > 100:
        k = 2.0

    def inner(n):
        if n == 5:
            return k * x
        return x if n == 0 else inner(n - 1) * 2

    return inner(2)


@unbound(1.5)
def known_value_by_data(x):
    if x > 100:
        k = None

    def inner(n):
        if n == 5:
            return k
        return x if n == 0 else inner(n - 1) * 2

    return inner(2)


@unbound(1.5)
def deleted(x):
    k = 2.0

    def inner(asks):
        return k * x if asks else x  # noqa: F821

    first = inner(True)
    del k
    return first * inner(False)


@unbound(1.5)
def functions_that_come_later(x):
    def inner(n):
        return later(n) * x if n > 0 else x

    first = inner(0)

    def later(n):
        return 2.0 * n

    return first + inner(1)


@unbound(1.5)
def in_a_loop(x):
    total = 0.0

    def inner(asks):
        return k * x if asks else x

    for i in range(3):
        total = total + inner(i > 0)
        k = 2.0 + i
    return total


@unbound(1.5)
def caught(x):
    def inner():
        try:
            return k * x
        except NameError:
            return 5 * x

    first = inner()
    k = 2.0
    return first + inner()


@unbound(1.5)
def two_levels(x):
    def inner(a):
        def deep():
            return k * a
        return deep() if a > 1 else a * x

    first = inner(0.5)
    k = x * x
    return first * inner(2.0)


@unbound(1.5)
def target_of_a_later_loop(x):
    def inner(asks):
        return e * x if asks else x

    total = inner(False)
    for e in (1.0, 2.0):
        total = total + inner(True)
    return total


def test_captured_variables_are_checked_where_they_are_read():
    for case in unbound:
        unbound.check(case)
        hessian(case.function)(1.5)


def deletes_too_early(x):
    k = 2.0

    def inner():
        return k * x  # noqa: F821

    first = inner()
    del k
    return first * inner()


def sometimes(x):
    if x < 0:
        k = 2.0

    def inner():
        return k * x * x

    return inner()


def sometimes_local(x):
    if x < 0:
        k = 2.0
    return k * x * x


def sometimes_none(x):
    if x < 0:
        k = None

    def inner(n):
        if n == 1:
            return x if k is None else 2 * x
        return x if n == 0 else inner(n - 1) * 2

    return inner(2)


def test_reading_a_variable_without_value_raises_in_every_mode():
    for function in (deletes_too_early, sometimes, sometimes_local, sometimes_none):
        for derivative in (
            grad(function), grad(grad(function)), hessian(function),
            lambda x, f=function: jvp(f, (x,), (1.0,)),
        ):
            with pytest.raises(NameError, match="'k'"):
                derivative(1.5)
    assert grad(sometimes)(-1.5) == -6.0
    assert grad(grad(sometimes))(-1.5) == grad(grad(sometimes_local))(-1.5) == 4.0
    assert grad(sometimes_none)(-1.5) == 2.0

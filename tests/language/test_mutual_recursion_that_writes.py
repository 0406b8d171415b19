"""Functions that call one another, and write: what the inner one is told of the outer one is final."""

import numpy as np
import pytest

from tests.lanes import one_in
from tests.language.check import check
from tests.language.modes import Programs, agrees_to_first_order

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


def added(n, x, total):
    total[0] += x[n] ** 2
    if n > 0:
        passed_on(n - 1, x, total)


def passed_on(n, x, total):
    added(n, x, total)


@programs
def functions_of_the_module(x):
    total = np.zeros(2)
    added(2, x, total)
    return total[0]


@programs
def one_of_them_writes(x):
    total = [0.0]

    def add(n):
        total[0] += x[n] ** 2
        if n > 0:
            go_on(n - 1)

    def go_on(n):
        add(n)

    add(2)
    return total[0]


@programs
def both_write(x):
    total = [0.0]

    def add(n):
        total[0] += x[n] ** 2
        if n > 0:
            scale(n - 1)

    def scale(n):
        total[0] *= x[0]
        add(n)

    add(2)
    return total[0]


@programs
def three_of_them(x):
    total = [1.0]

    def one(n):
        if n > 0:
            two(n - 1)
        total[0] = total[0] * x[0] + x[n]

    def two(n):
        three(n)
        if n > 50:
            one(n - 1)

    def three(n):
        one(n)

    one(2)
    return total[0]


@programs
def kept_in_a_table(x):
    table = {}

    def value(n):
        if n in table:
            return table[n]

        def computed(n):
            return x[n] if n < 2 else value(n - 1) * x[2] + value(n - 2)

        found = computed(n)
        table[n] = found
        return found

    value(6)
    return table[6] + table[5]


@programs
def of_another_type_inside(x):
    def whole(n):
        return 1 if n == 0 else half(n - 1)

    def half(n):
        return whole(n) * x[n] + 0.5

    return whole(3) * x[0]


@pytest.mark.parametrize("function", one_in(2, programs), ids=lambda f: f.__name__)
def test_first_order(function):
    check(function, X)
    agrees_to_first_order(function, X)

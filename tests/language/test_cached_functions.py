"""Functions made under `lru_cache` and `cache`: they are run once for each of their arguments."""

import functools
import math
from functools import cache, lru_cache

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.lanes import one_in
from tests.language.check import check
from tests.language.modes import Programs, agrees_to_first_order

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


@programs
def recurrence(x):
    @lru_cache(maxsize=None)
    def value(n):
        return x[n] if n < 2 else value(n - 1) * x[2] + value(n - 2)

    return value(40) + value(3)


@programs
def two_arguments(x):
    @cache
    def paths(i, j):
        if i == 0 or j == 0:
            return x[i % 3] * x[j % 3]
        return paths(i - 1, j) + paths(i, j - 1) * x[0]

    return paths(12, 11)


@programs
def default_and_loop(x):
    @functools.lru_cache
    def value(i, j=2):
        total = 0.0
        for k in range(i):
            total += value(k, j) * x[k % 3]
        return total + x[j]

    return value(6) + value(3, 1)


@programs
def binomial_tree(x):
    @lru_cache(maxsize=128)
    def price(step, ups):
        if step == 6:
            return max(x[0] * 1.2**ups - 0.5 * x[1], 0.0)
        ahead = 0.5 * price(step + 1, ups + 1) + 0.5 * price(step + 1, ups)
        return ahead * math.exp(-x[2] * 0.1)

    return price(0, 0)


@programs
def counts_how_often_it_runs(x):
    count = [0]

    @functools.cache
    def value(n):
        count[0] += 1
        return x[0] if n == 0 else value(n - 1) * x[1] + value(n // 2)

    return value(9) * count[0]


@programs
def another_decorator_of_that_name(x):
    def cache(function):
        def doubled(*args):
            return 2.0 * function(*args)

        return doubled

    @cache
    def product(a):
        return a * x[0]

    return product(x[1])


@pytest.mark.parametrize("function", one_in(2, programs), ids=lambda f: f.__name__)
def test_first_order(function):
    check(function, X)
    agrees_to_first_order(function, X)


def test_equal_arguments_have_derivatives_of_their_own():
    def squares(x):
        @cache
        def square(a):
            return a * a

        return square(x[0]) + 3.0 * square(x[1])

    assert np.array_equal(grad(squares)(np.ones(2)), [2.0, 6.0])


def test_how_often_it_runs_is_told():
    def counted(x):
        count = [0]

        @cache
        def doubled(a):
            count[0] += 1
            return 2.0 * a

        return doubled(x) * count[0]

    with pytest.raises(UnsupportedError, match="under a cache is given what carries a derivative"):
        grad(counted)(2.0)

"""Tuples whose length only the run decides, and the greatest of tuples and lists."""

import numpy as np
import pytest

from adcompiler import value_and_grad


def grown(x):
    t = ()
    for i in range(3):
        t = t + (x * x * i,)
    return sum(t)


def grown_in_front(x):
    t = ()
    for i in range(3):
        t = (x * (i + 1),) + t
    return t[0] * t[1] + t[-1]


def sum_of_pairs(x):
    pairs = [(x, x * x), (x, 2 * x)]
    return sum(sum(pairs, ()))


def sum_of_collected_pairs(x):
    pairs = [(x * i, x * x) for i in range(3)]
    return sum(sum(pairs, (x,)))


def greatest_pair(x):
    return max((x, 2.0), (x, 3.0 * x))[1] * x


def least_list(x):
    return min([x], [2 * x], [x / 2])[0]


def pair_or_single(x):
    return max((x,), (x, x * x))[-1]


def crossed(x):
    a = np.array([1.0, 2.0, 3.0])
    h = np.cross(np.array([x, x * x, 1.0]), a)
    h /= np.sqrt(np.sum(h * h))
    return np.sum(h * a[::-1])


PROGRAMS = (grown, grown_in_front, sum_of_pairs, sum_of_collected_pairs, greatest_pair, least_list,
            pair_or_single, crossed)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [0.7, 1.5])
def test_derivative(f, x):
    value, gradient = value_and_grad(f)(x)
    assert value == f(x)
    slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    np.testing.assert_allclose(gradient, slope, rtol=1e-6)

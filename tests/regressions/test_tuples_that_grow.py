"""Tuples whose length only the run decides, and the greatest of tuples and lists."""

import itertools

import numpy as np
import pytest

from adcompiler import ADError, hessian, value_and_grad
from tests.language.check import check


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


def greatest_permutation(x):
    return max(itertools.permutations(x))[1] * x[0]


def least_pair(x):
    return min(list(itertools.permutations(x, 2)))[1] ** 2


def greatest_beginning(x):
    return max(tuple(x[:k]) for k in range(1, len(x)))[0] ** 2


def greater_end(x):
    n = len(x) - 1
    return max(tuple(x[:n]), tuple(x[1:]))[0] * x[1]


def greatest_or_another(x):
    return max(itertools.permutations(x), default=(0.0, 0.0))[1] ** 2


@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0, 0.5], (1.0, 2.0, 3.0, 0.5)])
@pytest.mark.parametrize("f", [
    greatest_permutation, least_pair, greatest_beginning, greater_end, greatest_or_another,
], ids=lambda f: f.__name__)
def test_the_greatest_of_tuples_of_unknown_length(f, x):
    check(f, x)


def test_second_derivatives_of_the_greatest_tuple():
    x = np.array([1.0, 2.0])
    for f, wanted in (
        (greatest_permutation, [[2.0, 0.0], [0.0, 0.0]]), (least_pair, [[0.0, 0.0], [0.0, 2.0]]),
    ):
        np.testing.assert_allclose(hessian(f)(x), wanted, rtol=1e-12)


def in_front_of_one(x):
    items = (x[0],)
    for k in range(3):
        items = (x[1] * k, *items)
    return sum(a * b for a, b in itertools.pairwise(items)) + items[-1]


def behind_one(x):
    items = (x[0],)
    for k in range(3):
        items = (*items, x[1] * k)
    return max(items) + items[-1] * items[0] + len(items)


def at_either_end(x):
    items = ()
    for v in x:
        items = (*items, v * v) if v > 1.5 else (v, *items)
    return sum(k * v for k, v in enumerate(items))


def as_a_list(x):
    n = len(x) - 1
    items = list(x[:n])
    items.append(items[0] * items[1])
    return sum(v * v for v in items)


@pytest.mark.parametrize("x", [[1.0, 2.0, 3.0, 0.5], (1.0, 2.0, 3.0, 0.5)])
@pytest.mark.parametrize("f", [in_front_of_one, behind_one, at_either_end, as_a_list])
def test_items_in_front_of_and_behind_others(f, x):
    check(f, x)


def list_or_dict(x, n):
    items = [x, x * x] if n else {"a": x}
    return sum(v for v in list(items))


def test_what_may_be_a_dict_is_refused_when_it_is_one():
    assert value_and_grad(list_or_dict)(3.0, 1) == (12.0, 7.0)
    with pytest.raises(ADError, match="items of a dict are run over"):
        value_and_grad(list_or_dict)(3.0, 0)

"""Instances of classes with `__next__`."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.lanes import one_in
from tests.language.check import check
from tests.language.modes import Programs, agrees_to_first_order

X = np.array([0.7, 1.1, 0.4])
programs = Programs()


class Squares:
    def __init__(self, x):
        self.x = x
        self.position = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.position >= len(self.x):
            raise StopIteration
        value = self.x[self.position] ** 2
        self.position += 1
        return value


class Endless(Squares):
    def __next__(self):
        self.position += 1
        return self.x[0] ** self.position


@programs
def by_a_loop(x):
    total = 0.0
    for v in Squares(x):
        total = total * 1.5 + v
    return total


@programs
def named_and_read_afterwards(x):
    squares, total = Squares(x), 0.0
    for v in squares:
        total = total * 1.5 + v
    return total * squares.position


@programs
def all_items_at_once(x):
    items = list(Squares(x))
    return items[0] * items[-1] * sum(Squares(x))


@programs
def asked_by_hand(x):
    squares = Squares(x)
    first = next(squares)
    return first * sum(squares)


@programs
def asked_without_end(x):
    powers = Endless(x)
    return next(powers) * next(powers) + next(powers)


@pytest.mark.parametrize("function", one_in(2, programs), ids=lambda f: f.__name__)
def test_first_order(function):
    check(function, X)
    agrees_to_first_order(function, X)


def under_another_name(x):
    squares, total = Squares(x), 0.0
    other = squares
    for v in squares:
        total = total * 1.5 + v * other.position
    return total


def by_a_function(x):
    squares, total = Squares(x), 0.0

    def position():
        return squares.position

    for v in squares:
        total = total * 1.5 + v * position()
    return total


def in_a_list(x):
    squares, total = Squares(x), 0.0
    holder = [squares]
    for v in squares:
        total = total * 1.5 + v * holder[0].position
    return total


def left_early(x):
    total = 0.0
    for v in Endless(x):
        total = total * 1.5 + v
        if total > 1.0:
            break
    return total


def beside_others(x):
    return sum(v * w for v, w in zip(Endless(x), x))  # noqa: B905


def what_it_reads_is_written(x):
    y, total = x * 1.0, 0.0
    for v in Squares(y):
        total += v
        y[2] = total
    return total


@pytest.mark.parametrize("function", [
    under_another_name, by_a_function, in_a_list, left_early, beside_others,
    what_it_reads_is_written,
])
def test_what_is_refused(function):
    with pytest.raises(UnsupportedError, match="iter|has no rule"):
        grad(function)(X)

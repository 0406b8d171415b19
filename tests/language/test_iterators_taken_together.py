"""`zip`, `enumerate`, `islice` and `tee` of an iterator that others ask too, and `next` of generators."""

import itertools
from itertools import islice, tee

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import check
from tests.language.modes import Programs, agrees_in_every_mode

X = np.array([1.5, 2.0, 0.5, 0.75])
programs = Programs()


def squares(x):
    for v in x:
        yield v * v


class Numbers:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        for v in self.x:
            yield v * v


@programs
def in_pairs(x):
    items, total = iter(x), 0.0
    for a, b in zip(items, items):  # noqa: B905
        total = total * a + b * b
    return total


@programs
def pairs_left_early(x):
    items, total = iter(x), 0.0
    for a, b in zip(items, items):  # noqa: B905
        total += a * b * b
        if total > 1.0:
            break
    for v in items:
        total = total * v
    return total


@programs
def the_first_of_zip_loses_an_item(x):
    items, total = iter(x), 0.0
    for v, w in zip(items, [x[0], x[1]]):  # noqa: B905
        total = total * 2.0 + v * w
    return total * next(items, x[0])


@programs
def the_second_of_zip_loses_none(x):
    items = iter(x)
    products = [v * w for w, v in zip([x[0], x[1]], items)]  # noqa: B905
    return sum(products) * next(items)


@programs
def triples(x):
    items = iter([x[0], x[1] * x[1], x[2], x[3], x[0]])
    rows = list(zip(items, items, items))  # noqa: B905
    return rows[0][0] * rows[0][1] * rows[0][2] + sum(items) + len(rows)


@programs
def numbered_until_left(x):
    items, total = iter(x), 0.0
    for k, v in enumerate(items, 1):
        total += k * v * v
        if k == 2:
            break
    return total * next(items) + sum(v * k for k, v in enumerate(items, 3))


@programs
def chunks(x):
    items, total = iter(x), 1.0
    while chunk := list(islice(items, 3)):
        total = total * sum(chunk) + chunk[0]
    return total


@programs
def first_ones_by_a_loop(x):
    items, total = iter(x), 0.0
    for v in islice(items, 3):
        if v > 1.8:
            continue
        total += v * v
    return total * sum(items) + sum(itertools.islice(items, 2))


@programs
def unpacked(x):
    items = iter(x)
    a, b = islice(items, 2)
    c, d = islice(items, 2)
    return a * b**2 * c**3 * d


@programs
def neighbours(x):
    first, second = tee(x)
    next(second, None)
    return sum(v * w * w for v, w in zip(first, second))  # noqa: B905


@programs
def three_of_a_generator(x):
    a, b, c = itertools.tee([v * v for v in x], 3)
    next(b)
    next(c)
    next(c)
    return sum(p * q * r for p, q, r in zip(a, b, c))  # noqa: B905


@programs
def generator_asked_by_hand(x):
    values, total = squares(x), 0.0
    first = next(values)
    for v, w in zip(values, values):  # noqa: B905
        total += v * w * first
    return total * next(values, first)


@programs
def generator_asked_until_its_end(x):
    values, total = squares(x), 0.0
    while (v := next(values, None)) is not None:
        total = total * 0.5 + v
    return total


@programs
def generator_expression_asked_by_hand(x):
    values = (v * x[0] for v in x)
    return next(values) * sum(values)


@programs
def instance_that_generates(x):
    values = iter(Numbers(x))
    return next(values) * next(values)


@programs
def zip_of_the_function_itself(x):
    def zip(a, b):
        return [(x[0], x[1])]

    items = iter(x)
    total = next(items)
    for a, b in zip(items, items):
        total += a * b
    return total * next(items)


@pytest.mark.records
@pytest.mark.parametrize("function", programs)
def test_recordings(function):
    check(function, X)
    agrees_in_every_mode(function, X, (), pattern=False)


def default_of_a_function(x):
    def power(items=iter(x)):  # noqa: B008
        return next(items)

    return power() * power() ** 2


def keyword_default_of_a_lambda(x):
    total = lambda *, squares=map(lambda v: v * v, x): sum(squares)  # noqa: E731
    return total() + 3.0 * total()


@pytest.mark.records
@pytest.mark.parametrize("function", [default_of_a_function, keyword_default_of_a_lambda])
def test_defaults_are_made_once(function):
    agrees_in_every_mode(function, X, (), pattern=False)


def written_under_tee(x):
    items = [x[0], x[1]]
    first, second = tee(items)
    total = next(first)
    items[1] = x[2]
    return total * next(first) * next(second)


def written_under_a_generator(x):
    y = x * 1.0
    values = squares(y)
    total = next(values)
    y[1] = x[2] ** 3
    return total * next(values)


def left_by_an_exception(x):
    items, total = iter(x), 0.0
    try:
        total = sum([math_domain(v) for v in islice(items, 3)])
    except ValueError:
        total = next(items)
    return total


def math_domain(v):
    if v > 1.8:
        raise ValueError("too large")
    return v


def of_either_arm(x):
    table = {0: x[0], 1: x[1]}
    if x[0] > 0.1:
        values = table.values()
    else:
        values = table.values()
    table[0] = x[2] ** 3
    return sum(values)


def of_one_arm(x):
    table, values = {0: x[0], 1: x[1]}, []
    if x[0] > 0.1:
        values = table.values()
    table[0] = x[2] ** 3
    return sum(values)


def of_an_expression(x):
    table = {0: x[0], 1: x[1]}
    values = table.values() if x[0] > 0.1 else table.values()
    table[0] = x[2] ** 3
    return sum(values)


def of_an_attempt(x):
    items = [x[0], x[1]]
    try:
        squares, last = map(lambda v: v * v, items), items[1]
    except LookupError:
        pass
    items[0] = x[2] ** 3
    return sum(squares) + last


def of_attempts_in_a_row(x):
    try:
        kept = {"w": x[0]}
        table = {n: x[n] for n in range(3)}
        values = table.values()
        table[0] = x[2] ** 3
        total = sum(values)
    except LookupError:
        pass
    return total + kept["w"]


@pytest.mark.parametrize("function", [
    written_under_tee, written_under_a_generator, left_by_an_exception, of_either_arm, of_one_arm,
    of_an_expression, of_an_attempt, of_attempts_in_a_row,
])
def test_what_is_refused(function):
    with pytest.raises(UnsupportedError, match="more than one place|before the iterator has come"):
        grad(function)(X)

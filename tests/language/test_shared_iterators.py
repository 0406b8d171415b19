"""Iterators that are asked in several places: what is left of them is what Python finds."""

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import check
from tests.language.modes import Programs, agrees_in_every_mode

X = np.array([1.5, 2.0, 0.5, 0.75])
programs = Programs()


@programs
def first_and_others(x):
    items = iter(x)
    first, total = next(items), 0.0
    for v in items:
        total = total * first + v
    for v in items:
        total = 0.0 * v
    return total


@programs
def asked_one_by_one(x):
    items = iter([x[0] * x[1], x[2]])
    first = next(items)
    return first * next(items) * next(items, x[3])


@programs
def left_and_taken_up_again(x):
    items, total = iter(x), 0.0
    for v in items:
        total += v * v
        if total > 3.0:
            break
    for v in items:
        total = total * v + 1.0
    else:
        total += x[0]
    return total


@programs
def beside_another(x):
    items = iter(x)
    return next(items) + sum(v * w * w for v, w in zip(items, items))  # noqa: B905


@programs
def two_in_each_iteration(x):
    items, total = iter(x), 0.0
    for v in items:
        total += v * next(items)
    return total * total


@programs
def what_is_left(x):
    items = iter([x[0], x[1] * x[1], x[2], x[3]])
    first = next(items)
    rest = list(items)
    return first * rest[0] * sum(rest) * max(rest) + sum(items) + len([v for v in items])


@programs
def taken_apart(x):
    items = iter(x)
    first = next(items)
    second, *others = items
    return first * second * others[1]


@programs
def asked_by_a_function(x):
    def head(items):
        return next(items)

    items = iter(x)
    return head(items) * head(items) ** 2 + head(items)


@programs
def asked_in_branches_and_loops(x):
    items, total = iter(x), 1.0
    for k in range(5):
        if k % 2 == 0:
            total = total * next(items)
    return total + next(items)


@programs
def until_it_is_at_its_end(x):
    items, total = iter(x), 0.0
    while True:
        try:
            v = next(items)
        except StopIteration:
            break
        total = total * 0.5 + v * v
    return total


@programs
def nothing_is_left(x):
    items = iter(x[:1])
    total = next(items)
    for v in items:
        total *= v
    return total * total


@programs
def made_anew(x):
    total = 0.0
    for _ in range(2):
        items = iter(x)
        total = total * 0.5 + next(items) * next(items)
    return total


@pytest.mark.records
@pytest.mark.parametrize("function", programs)
def test_recordings(function):
    check(function, X)
    agrees_in_every_mode(function, X, (), pattern=False)


@pytest.mark.records
def test_rows():
    def product(x):
        rows = iter(x)
        total = next(rows)
        for row in rows:
            total = total * row
        return np.sum(total)

    x = np.array([[1.0, 2.0], [3.0, 4.0], [0.5, 2.0]])
    np.testing.assert_allclose(grad(product)(x), np.prod(x, axis=0) / x)


def left_by_a_function(x):
    def until(running):
        for v in running:
            if v < 1.0:
                return v
        return 0.0

    items = iter(x)
    return until(items) * until(items)


def asked_inside_a_comprehension(x):
    items = iter(x)
    return sum([v * next(items) for v in items])


def any_of(x):
    items = iter(x)
    return next(items) if any(v > 1.0 for v in items) else next(items) * 2.0


def returned(x):
    items = iter(x)
    next(items)
    return items


class Holder:
    def __init__(self):
        self.items = iter([1.0, 2.0, 3.0])


def given(x, items=iter([1.0, 2.0])):  # noqa: B008
    return next(items) * np.sum(x)


def held(x, holder=Holder()):  # noqa: B008
    return sum(next(holder.items) * v for v in x[:2])


@pytest.mark.parametrize("function", [
    given, held, left_by_a_function, asked_inside_a_comprehension, any_of, returned,
])
def test_what_is_refused(function):
    with pytest.raises(UnsupportedError, match="more than one place|made here is returned|not made in this function"):
        grad(function)(X)


def test_an_iterator_at_its_end_does_not_see_what_is_added():
    def added(x):
        items = [x[0], x[1]]
        running = iter(items)
        total = 0.0
        for v in running:
            total += v * v
        items.append(x[2])
        for v in running:
            total = total * v
        return total

    assert added(X) == X[0] ** 2 + X[1] ** 2
    try:
        found = grad(added)(X)
    except UnsupportedError:
        return  # `running` reads what was written into
    np.testing.assert_allclose(found, [3.0, 4.0, 0.0, 0.0])

"""Items of iterators are computed when they are asked for, which matters if that has effects."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, value_and_grad, vjp


def first_of_a_map(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i

    return next(map(put, [1, 2, 3])) * seen[0]


def map_that_nobody_reads(x):
    seen = np.zeros(3)

    def put(i):
        seen[i] = x

    map(put, range(3))
    return np.sum(seen) + x


def some_of_a_map(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i > 1

    return any(map(put, [1, 2, 3])) * seen[0]


def left_filter(x):
    seen = []

    def put(i):
        seen.append(x * i)
        return True

    for _ in filter(put, [1, 2, 3]):
        break
    return sum(seen)


def turn_by_turn(x):
    seen, total = [0.0], 0.0

    def put(i):
        seen[0] += x * i
        return i

    for _ in map(put, [1, 2, 3]):
        total += seen[0]
    return total


def shorter_partner(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i

    return sum(a * b for a, b in zip([5.0], map(put, [1, 2, 3]), strict=False)) + seen[0]


def generator_that_nobody_reads(x):
    seen = [x]

    def put(i):
        seen[0] = x * x
        return i

    items = (put(i) for i in [1, 2])
    return seen[0] if items else x


def asked_later(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i

    items = map(put, [1, 2, 3])
    early = seen[0]
    return early + sum(list(items)) * x


def random_numbers(x):
    rng = np.random.default_rng(0)

    def drawn(scale):
        return scale * rng.normal() * x

    return next(map(drawn, [1.0, 2.0])) * rng.normal()


@pytest.mark.parametrize("f", [
    first_of_a_map, map_that_nobody_reads, some_of_a_map, left_filter, turn_by_turn,
    shorter_partner, generator_that_nobody_reads, asked_later, random_numbers,
])
@pytest.mark.parametrize("of", [grad, value_and_grad, lambda f: lambda x: vjp(f, x)])
def test_items_with_effects_are_refused(f, of):
    with pytest.raises(UnsupportedError, match="items have effects"):
        of(f)(2.0)


def listed_at_once(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i * seen[0]

    return sum(list(map(put, [1, 2, 3]))) + seen[0]


def taken_apart_at_once(x):
    seen = []

    def put(i):
        seen.append(x * i)
        return i

    a, b = map(put, [1, 2])
    return a * seen[0] + b * seen[1]


def given_one_by_one(x):
    seen = [1.0]

    def put(i):
        seen[0] *= x * i
        return seen[0]

    return max(*map(put, [1, 2, 3])) + seen[0]


def writes_into_its_own(x):
    def made(i):
        row = np.zeros(2)
        row[0] = x * i
        return np.sum(row)

    return next(map(made, [3, 2])) + next(made(i) for i in [1, 2])


def first_that_fits(x):
    seen = [0.0]

    def put(i):
        seen[0] += x * i
        return i

    return next(put(i) for i in [1, 2, 3]) + seen[0] + any(put(i) > 1 for i in [2, 3])


@pytest.mark.parametrize("f", [
    listed_at_once, taken_apart_at_once, given_one_by_one, writes_into_its_own, first_that_fits,
])
def test_items_that_are_asked_for_at_once_may_have_effects(f):
    value, slope = value_and_grad(f)(1.3)
    assert value == pytest.approx(f(1.3), rel=1e-12)
    assert slope == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)


def next_of_list(x):
    items = [x, 2.0]
    return next(items)


def next_of_argument(items):
    return next(items)


def test_lists_are_no_iterators():
    with pytest.raises(UnsupportedError, match="not known to be an iterator"):
        grad(next_of_list)(2.0)
    with pytest.raises(UnsupportedError, match="not known to be an iterator"):
        vjp(next_of_argument, [1.0, 2.0])

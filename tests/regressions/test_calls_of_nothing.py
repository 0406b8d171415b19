"""What calls without arguments raise, stores at negative places, sequences that grow by ``+=``."""

from __future__ import annotations

import numpy as np
import pytest

from adcompiler import value_and_grad, vjp


def store_in_no_range(x):
    y = np.zeros(3)
    for i in range():
        y[i] = x
    return np.sum(y)


def store_in_reversed_nothing(x):
    y = np.zeros(3)
    for i in reversed():
        y[i] = x
    return np.sum(y)


def loop_that_changes_nothing(x):
    y = 0.0
    for _ in range(2):
        total = 0.0
        for _ in range():
            continue
            total += x
        y += total
    return y


def store_that_nobody_reads(x):
    y = np.zeros(3)
    for t in range(-1.5, 3):
        for j in range(2):
            y[t] = y[t - j] + x
    return x


def counted_from_a_fraction(x):
    return sum(t * y for t, y in enumerate([x, x], 0.0))


def counted_in_a_loop(x):
    for t, y in enumerate([x, x], 1.0):
        x += t * y
    return x


def like_nothing(x):
    return x + np.sum(np.zeros_like())


@pytest.mark.parametrize("f", [
    store_in_no_range, store_in_reversed_nothing, loop_that_changes_nothing, like_nothing,
    counted_from_a_fraction, counted_in_a_loop, store_that_nobody_reads,
])
def test_calls_without_arguments_raise_as_in_python(f):
    with pytest.raises(TypeError):
        f(2.0)
    with pytest.raises(TypeError):
        value_and_grad(f)(2.0)


def test_stores_at_places_that_meet_from_both_ends():
    def f(x, bounds):
        y = np.zeros(3)
        for i in range(*bounds):
            y[i] = x[i] * x[i]
        return y

    x = np.array([1.0, 2.0, 3.0])
    y, pullback = vjp(f, x, (-3, 3), argnums=0)
    np.testing.assert_array_equal(y, x * x)
    np.testing.assert_array_equal(pullback(np.ones(3)), 2.0 * x)


def test_a_tuple_that_grows_by_plus_and_assign():
    def f(x, y):
        pairs = ()
        for factor in (2.0, 3.0):
            pairs += (x * factor, y)
        return pairs[2] * pairs[1]

    assert value_and_grad(f, argnums=(0, 1))(2.0, 5.0) == (30.0, (15.0, 6.0))


def test_enumerate_from_a_computed_number():
    def f(x, k):
        total = 0.0
        for t, y in enumerate(x, k + 1):
            total += t * y
        return total

    x = np.array([0.5, 2.0, 1.0])
    value, slopes = value_and_grad(f)(x, 1)
    assert value == f(x, 1)
    np.testing.assert_array_equal(slopes, [2.0, 3.0, 4.0])

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


def like_nothing(x):
    return x + np.sum(np.zeros_like())


@pytest.mark.parametrize("f", [
    store_in_no_range, store_in_reversed_nothing, loop_that_changes_nothing, like_nothing,
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

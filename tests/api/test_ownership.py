"""Gradients are arrays of the caller's own: not an argument, not one another, not a saved value."""

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp

V = np.array([0.5, -1.5, 2.0, 1.0])


def weighted(x, y, z):
    return np.sum(x * z) + np.sum(y * z)


def reshaped(x, z):
    return np.sum(x.reshape(2, 2) * z)


@pytest.mark.parametrize("function", [weighted, lambda x, y, z: np.dot(x, z) + np.dot(y, z)])
def test_equal_gradients_are_two_arrays(function):
    arguments = (V, V + 1.0, V + 2.0)
    _, pullback = vjp(function, *arguments, argnums=(0, 1))
    for x_bar, y_bar in (pullback(1.0), grad(function, argnums=(0, 1))(*arguments)):
        assert np.array_equal(x_bar, V + 2.0)
        assert np.array_equal(y_bar, V + 2.0)
        assert not np.shares_memory(x_bar, y_bar)
        assert not any(np.shares_memory(x_bar, a) for a in arguments)


def test_gradient_that_equals_an_argument_is_a_copy():
    z = np.arange(4.0).reshape(2, 2)
    for x_bar in (grad(reshaped)(V, z), value_and_grad(reshaped)(V, z)[1]):
        assert np.array_equal(x_bar, [0.0, 1.0, 2.0, 3.0])
        assert not np.shares_memory(x_bar, z)


def test_writing_into_a_cotangent_leaves_the_pullback_as_it_was():
    _, pullback = vjp(weighted, V, V, V + 2.0)
    expected = [np.copy(part) for part in pullback(1.0)]
    for part in pullback(1.0):
        part[:] = 0.0
    for part, other in zip(pullback(1.0), expected, strict=True):
        assert np.array_equal(part, other)

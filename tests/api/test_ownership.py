"""Gradients are arrays of the caller's own: not an argument, not one another, not a saved value."""

from types import SimpleNamespace

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


KEPT = SimpleNamespace(u=None, d={}, items=[])


class Holder:
    def __init__(self, a):
        self.a = a


def appended(x):
    made = []
    made.append(2 * x)
    return np.sum(x**2), made


def stored(x):
    KEPT.u = 2 * x
    KEPT.d["k"] = 2 * x
    KEPT.items.append([2 * x])
    return np.sum(x**2), None


HOLDING = (
    lambda x: (np.sum(x**2), {"scaled": 2 * x}), lambda x: (np.sum(x**2), [2 * x]),
    lambda x: (np.sum(x**2), Holder(2 * x)), lambda x: (np.sum(x**2), SimpleNamespace(a=2 * x)),
    lambda x: (np.sum(x**2), {"s": [(2 * x, 1.0)]}), lambda x: (np.sum(x**2), {"s": (2 * x)[:2]}),
    lambda x: (np.sum(x**2), 2 * x), appended, stored,
)


def arrays_in(value):
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_in(item)]
    inner = value if isinstance(value, dict) else getattr(value, "__dict__", {})
    return [array for item in inner.values() for array in arrays_in(item)]


def test_gradients_share_nothing_with_other_results_or_what_is_stored():
    for function in HOLDING:
        for take, argument in (
            (lambda x: x, V.copy()), (lambda x: x[0], [V.copy()]), (lambda x: x["k"], {"k": V}),
        ):
            def whole(x, take=take, function=function):
                return function(take(x))

            found, aux = grad(whole, has_aux=True)(argument)
            (_, other_aux), other = value_and_grad(whole, has_aux=True)(argument)
            held = arrays_in((aux, other_aux, KEPT, argument))
            for gradient in arrays_in((found, other)):
                assert np.array_equal(gradient, 2 * V)
                assert not any(np.shares_memory(gradient, array) for array in held), function


def test_equal_arrays_in_containers_stay_two():
    for function in (
        lambda x: [2 * x, 2 * x], lambda x: {"a": 2 * x, "b": 2 * x}, lambda x: (2 * x, [2 * x]),
    ):
        first, second = arrays_in(vjp(function, V)[0])
        assert np.array_equal(first, second)
        assert not np.shares_memory(first, second)

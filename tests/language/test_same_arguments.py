"""Arguments that are one array, where it is written into."""

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from adcompiler.runtime import AliasedError

X = np.array([1.0, 2.0, 3.0])


def crossed(a, b):
    a[0] = b[1] * b[0]
    b[1] *= 2.0
    return np.sum(a * b)


def differences(function):
    """Return the value of a function of one array, and its gradient by central differences."""
    def at(x):
        x = x.copy()
        return function(x, x)

    steps = 1e-6 * np.eye(3)
    return at(X), np.array([(at(X + e) - at(X - e)) / 2e-6 for e in steps])


def test_one_array_twice():
    value, gradient = differences(crossed)
    x = X.copy()
    found, g = value_and_grad(crossed)(x, x)
    assert found == value
    np.testing.assert_allclose(g, gradient, rtol=1e-8)
    np.testing.assert_array_equal(x, X)


def test_its_gradient_is_that_of_the_first_one_asked_for():
    _, gradient = differences(crossed)
    np.testing.assert_allclose(grad(crossed, argnums=1)(X, X), gradient, rtol=1e-8)
    first, second = grad(crossed, argnums=(0, 1))(X, X)
    np.testing.assert_allclose(first, gradient, rtol=1e-8)
    np.testing.assert_array_equal(second, np.zeros(3))


def test_effects_of_vjp_are_those_of_the_call():
    x, y = X.copy(), X.copy()
    value, pullback = vjp(crossed, x, x)
    assert value == crossed(y, y)
    np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(pullback(1.0)[0], differences(crossed)[1], rtol=1e-8)


def test_separate_arrays_after_the_same_one():
    derivative = grad(crossed)
    derivative(X, X)
    np.testing.assert_array_equal(derivative(X, X + 1.0), [0.0, 6.0, 4.0])


def test_arrays_that_overlap_are_refused():
    z = np.arange(4.0)
    with pytest.raises(AliasedError, match="`a` and `b` share memory"):
        grad(crossed)(z[:3], z[1:])
    np.testing.assert_array_equal(grad(crossed)(z[:2], z[2:]), [0.0, 6.0])


def test_a_container_that_holds_an_array_twice_is_refused():
    def changed(pair):
        pair[0][1] = pair[1].sum()
        return pair[0].sum()

    with pytest.raises(AliasedError, match="`pair` holds arrays that share memory"):
        grad(changed)([X, X])
    one, two = grad(changed)([X, X + 1.0])
    np.testing.assert_array_equal(one, [1.0, 0.0, 1.0])
    np.testing.assert_array_equal(two, [1.0, 1.0, 1.0])


def test_nothing_is_checked_where_nothing_is_written():
    np.testing.assert_array_equal(grad(lambda a, b: np.sum(a * b))(X, X), X)

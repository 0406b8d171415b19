"""Derivatives of a library's functions themselves: a call of the rule with the arguments given."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.stats

from adcompiler import ADError, grad, jacobian, jvp, rrule, value_and_grad, vjp

X = np.array([1.0, 2.0, 3.0])
A = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])


def test_keywords_reach_the_function():
    value, pullback = vjp(np.sum, A, axis=0)
    np.testing.assert_array_equal(value, [3.0, 4.0, 5.0])
    np.testing.assert_array_equal(pullback(X)[0], [X, X, X])
    value, along = jvp(np.sum, (A,), (2.0 * A,), axis=0)
    np.testing.assert_array_equal(along, [6.0, 8.0, 10.0])
    value, pullback = vjp(np.linalg.norm, A, axis=0)
    np.testing.assert_allclose(pullback(X)[0], A / value * X)


def test_options_that_a_rule_does_not_have_are_refused_where_they_are_given():
    value, pullback = vjp(scipy.linalg.inv, A)
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(value, inverse)
    np.testing.assert_allclose(pullback(A)[0], -inverse.T @ A @ inverse.T)
    with pytest.raises(ADError, match="no_such"):
        vjp(scipy.linalg.inv, A, no_such=True)


def test_methods_of_distributions():
    found = grad(scipy.stats.norm.pdf, argnums=(0, 1, 2))(0.3, 0.1, 2.0)
    z = 0.1
    density = math.exp(-z * z / 2.0) / math.sqrt(2.0 * math.pi) / 2.0
    np.testing.assert_allclose(
        found, (-density * z / 2.0, density * z / 2.0, density * (z * z - 1.0) / 2.0)
    )
    assert grad(scipy.stats.norm.pdf)(0.3, 0.1, 2.0) == found[0]
    assert value_and_grad(scipy.stats.norm.pdf)(0.0)[0] == scipy.stats.norm.pdf(0.0)


def test_arguments_beyond_the_named_ones():
    da, db = vjp(np.einsum, "ij,jk->ik", A, A, argnums=(1, 2))[1](A)
    np.testing.assert_allclose(da, A @ A.T)
    np.testing.assert_allclose(db, A.T @ A)
    _, along = jvp(np.einsum, ("ij,jk->ik", A, A), (A, A), argnums=(1, 2))
    np.testing.assert_allclose(along, 2.0 * A @ A)
    assert grad(math.hypot, argnums=(0, 1))(3.0, 4.0) == (0.6, 0.8)


def test_arguments_without_a_cotangent_have_none_by_default():
    _, pullback = vjp(np.pad, X, 1)
    dx, width = pullback(np.arange(5.0))
    assert dx.tolist() == [1.0, 2.0, 3.0] and width is None
    dx, width, mode = vjp(np.pad, X, 1, "edge")[1](np.ones(5))
    assert dx.tolist() == [2.0, 1.0, 2.0] and width is None and mode is None
    assert vjp(np.einsum, "i,i->", X, X)[1](1.0)[0] is None
    np.testing.assert_array_equal(jacobian(np.cumsum)(X), np.tril(np.ones((3, 3))))


def test_a_function_of_the_user_with_a_rule_keeps_its_parameters():
    def power(x, n=2, *, scale=1.0):
        return scale * x**n

    @rrule(power, wrt=("x", "scale"))
    def power_rule(x, n=2, *, scale=1.0):
        def power_pullback(dy):
            return dy * 7.0, dy * x**n
        return scale * x**n, power_pullback

    assert grad(power)(3.0) == 7.0
    assert grad(power, argnums="scale")(3.0, scale=2.0) == 9.0
    assert vjp(power, 3.0, 3)[1](1.0) == (7.0, None)

"""Derivatives of a library's functions themselves: a call of the rule with the arguments given."""

import functools
import math
import operator

import numpy as np
import pytest
import scipy.linalg
import scipy.special
import scipy.stats

from adcompiler import (
    ADError, MissingRuleError, grad, hessian, jacobian, jvp, rrule, value_and_grad, vjp,
)

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
    with pytest.raises((ADError, TypeError), match="no_such"):  # of SciPy 1.11, which names them
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


# --- methods, and objects that are functions --------------------------------------------------


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum((self.w * x) ** 2)

    def __call__(self, x):
        return np.sum(self.w * x**3)


def test_bound_methods_of_arrays_and_numbers():
    np.testing.assert_array_equal(grad(X.dot)(2.0 * X), X)
    np.testing.assert_array_equal(jacobian(A.dot)(X), A)
    np.testing.assert_array_equal(jacobian(A.__matmul__)(X), A)
    np.testing.assert_array_equal(jacobian(X.__rsub__)(X), np.eye(3))
    assert grad((2.0).__mul__)(3.0) == 2.0
    _, along = jvp(X.dot, (X,), (X,))
    assert along == 14.0


def test_an_array_whose_method_is_differentiated_may_change():
    weights = np.array([1.0, 2.0])
    slope = grad(weights.dot)
    np.testing.assert_array_equal(slope(np.ones(2)), [1.0, 2.0])
    weights[0] = 5.0
    np.testing.assert_array_equal(slope(np.ones(2)), [5.0, 2.0])


def test_bound_methods_and_instances_of_the_user():
    model = Model(2.0)
    np.testing.assert_array_equal(grad(model.loss)(X), 8.0 * X)
    np.testing.assert_array_equal(grad(model)(X), 6.0 * X**2)
    np.testing.assert_array_equal(grad(Model.loss, argnums=1)(model, X), 8.0 * X)
    np.testing.assert_array_equal(hessian(model.loss)(X), 8.0 * np.eye(3))


@pytest.mark.parametrize("law", [
    scipy.stats.norm(0.1, 2.0), scipy.stats.norm(0.1, scale=2.0), scipy.stats.gamma(2.0),
    scipy.stats.t(df=3.0, loc=0.2), scipy.stats.beta(2.0, 3.0),
], ids=lambda law: law.dist.name)
def test_methods_of_distributions_that_were_frozen_before(law):
    step = 1e-6
    for method in (law.pdf, law.logpdf, law.cdf, law.sf):
        wanted = (method(0.3 + step) - method(0.3 - step)) / (2.0 * step)
        value, found = value_and_grad(method)(0.3)
        assert value == method(0.3) and found == pytest.approx(wanted, rel=1e-7)
    assert grad(lambda x: law.logpdf(x) ** 2)(0.3) == pytest.approx(
        2.0 * law.logpdf(0.3) * grad(law.logpdf)(0.3))


def test_a_distribution_of_another_support_is_refused():
    class_of_norm = type(scipy.stats.norm)
    half = class_of_norm(a=0.0, name="half")(0.1, 2.0)
    assert half.pdf(-1.0) == 0.0
    with pytest.raises(ADError, match="with the support"):
        grad(half.pdf)(-1.0)


def test_functions_made_by_vectorize():
    power = np.vectorize(lambda t, k=2.0: t**k)
    np.testing.assert_array_equal(vjp(power, X)[1](X)[0], 2.0 * X * X)
    np.testing.assert_allclose(vjp(power, X, k=3.0)[1](X)[0], 3.0 * X**3)
    _, (dx, dk) = vjp(power, X, 3.0)[0], vjp(power, X, 3.0)[1](X)
    np.testing.assert_allclose(dx, 3.0 * X**3)
    assert dk == pytest.approx(np.sum(X**4 * np.log(X)))
    np.testing.assert_array_equal(jacobian(np.vectorize(math.sin))(X), np.diag(np.cos(X)))


def test_operators_ufuncs_and_partials():
    assert grad(operator.mul, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    np.testing.assert_array_equal(grad(operator.getitem)(X, 1), [0.0, 1.0, 0.0])
    np.testing.assert_array_equal(jacobian(np.multiply)(X, X), np.diag(X))
    np.testing.assert_array_equal(
        vjp(functools.partial(np.sum, axis=0), A)[1](X)[0], [X, X, X])
    assert grad(functools.partial(np.multiply, 2.0))(3.0) == 2.0
    np.testing.assert_array_equal(grad(functools.partial(X.dot))(X), X)
    cofactor = np.linalg.det(A) * np.linalg.inv(A).T
    np.testing.assert_allclose(grad(np.linalg.det)(A), cofactor)
    assert hessian(np.linalg.det)(A).shape == (3, 3, 3, 3)
    np.testing.assert_allclose(
        np.tensordot(hessian(np.linalg.det)(A), A, 2), 2.0 * cofactor, atol=1e-12)


def test_refusals_name_the_call_of_the_user():
    def called():
        return vjp(scipy.special.mathieu_a, 2, 0.3, argnums=1)

    line = called.__code__.co_firstlineno + 1
    with pytest.raises(MissingRuleError) as caught:
        called()
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{__file__}:{line}:16: mathieu_a() has no rule")
    assert lines[1].strip() == "return vjp(scipy.special.mathieu_a, 2, 0.3, argnums=1)"
    assert lines[2].strip() == "^" * len("vjp(scipy.special.mathieu_a, 2, 0.3, argnums=1)")
    found = grad(scipy.special.mathieu_a, argnums=1)
    with pytest.raises(MissingRuleError) as caught:
        found(2, 0.3)
    assert str(caught.value).splitlines()[1].strip() == "found(2, 0.3)"
    with pytest.raises(ValueError) as raised:  # as the function itself
        grad(math.log)(0.0)
    assert not any("<adcompiler" in note for note in getattr(raised.value, "__notes__", ()))

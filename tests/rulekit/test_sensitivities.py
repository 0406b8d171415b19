"""Rules argument by argument: intercept, preprocess, sensitivity."""

import linecache

import numpy as np
import pytest

from adcompiler import (
    MissingRuleError, RuleError, apply_rrule, grad, intercept, preprocess, sensitivity, source,
    value_and_grad,
)
from adcompiler.testing import check_errs

CALLS = []


def quadratic(A, B):
    return B.T @ A @ B


def declare_quadratic():
    @preprocess(quadratic)
    def quadratic_shared(y, y_bar, A, B):
        return B @ y_bar

    @sensitivity(quadratic, arg=0)
    def quadratic_first(p, y, y_bar, A, B):
        return p @ B.T

    @sensitivity(quadratic, arg=1)
    def quadratic_second(p, y, y_bar, A, B):
        return A @ B @ y_bar.T + A.T @ p


def test_B7_sensitivities_of_a_quadratic_form():
    declare_quadratic()
    rng = np.random.default_rng(0)
    A, B, w = rng.normal(size=(3, 3)), rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    dA, dB = grad(lambda A, B: np.sum(w * quadratic(A, B)), argnums=(0, 1))(A, B)
    np.testing.assert_allclose(dA, B @ w @ B.T, rtol=1e-13)
    np.testing.assert_allclose(dB, A @ B @ w.T + A.T @ B @ w, rtol=1e-13)
    V = (rng.normal(size=(3, 3)), rng.normal(size=(3, 2)))
    assert check_errs(quadratic, w, (A, B), V)
    _, pullback = apply_rrule(quadratic, A, B)
    for got, expected in zip(pullback(w), (dA, dB), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-13)


def test_B5_the_assembled_rule_is_text_to_read():
    declare_quadratic()
    declared = intercept(quadratic, (np.ndarray, np.ndarray))
    assert declared.source == """\
def quadratic_rule(A, B):
    y = quadratic(A, B)

    def quadratic_pullback(y_bar):
        p = preprocess(y, y_bar, A, B)

        def A_sensitivity():
            return sensitivity_0(p, y, y_bar, A, B)

        def B_sensitivity():
            return sensitivity_1(p, y, y_bar, A, B)

        return (A_sensitivity, B_sensitivity)

    return y, quadratic_pullback
"""


def test_the_assembled_rule_has_its_text_when_linecache_was_emptied():
    declare_quadratic()
    linecache.clearcache()  # as debuggers, reloaders and test runners do
    A, B, w = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 2.0]])
    found = grad(lambda A: np.sum(w * quadratic(A, B)))(A)
    np.testing.assert_allclose(found, B @ w @ B.T, rtol=1e-15)


def test_B5_the_emitted_code_calls_the_function_once_and_shares_the_preprocessing():
    declare_quadratic()
    text = source(lambda A, B: np.sum(quadratic(A, B)), np.ones((3, 3)), np.ones((3, 2)),
                  argnums=(0, 1))
    assert text.count("quadratic(A, B)") == 1
    assert text.count("B @ quadratic_bar\n") == 1  # shared by both


def reduced(function, A, *, dims=None):
    return np.sum(function(A), axis=dims)


def test_B2_B3_one_signature_for_each_choice_of_differentiated_arguments():
    assert len(intercept(quadratic, is_node=[True, True]).signatures) == 3
    declared = intercept(reduced, (None, np.ndarray), [False, True], {"dims": None})
    assert declared.signatures == ((False, True),)
    assert "def reduced_rule(function, A, *, dims=None):" in declared.source


def test_B3_B4_keywords_are_captured_and_other_arguments_refuse_derivatives():
    intercept(reduced, (None, np.ndarray), [False, True], {"dims": None})

    @sensitivity(reduced, arg=1)
    def reduced_second(p, y, y_bar, function, A, *, dims=None):
        wide = y_bar if dims is None else np.expand_dims(y_bar, dims)
        return wide * 2.0 * A

    A = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(grad(lambda A: reduced(np.square, A))(A), 2.0 * A)
    w = np.array([1.0, -1.0, 2.0])
    got = grad(lambda A: np.sum(w * reduced(np.square, A, dims=0)))(A)
    assert np.array_equal(got, 2.0 * A * w)
    with pytest.raises(MissingRuleError, match="respect to its argument `function`"):
        grad(lambda A, w: reduced(lambda t: w * t, A), argnums=1)(A, 2.0)
    with pytest.raises(RuleError, match="argument 0 of reduced is not differentiated"):
        @sensitivity(reduced, arg=0)
        def reduced_first(p, y, y_bar, function, A, *, dims=None):
            return None


def test_B2_an_intercepted_function_is_never_looked_into():
    def opaque(x, y):
        return x * y

    intercept(opaque)
    with pytest.raises(MissingRuleError, match="respect to its argument `x`"):
        grad(opaque)(2.0, 3.0)
    sensitivity(opaque, arg=0)(lambda p, y, y_bar, a, b: 100.0 * y_bar)
    assert grad(opaque)(2.0, 3.0) == 100.0
    with pytest.raises(MissingRuleError, match="respect to its argument `y`"):
        grad(opaque, argnums=1)(2.0, 3.0)


def product(x, y):
    return x * y


def count_shared(y, y_bar, a, b):
    CALLS.append("shared")
    return y_bar


def count_first(p, y, y_bar, a, b):
    CALLS.append("first")
    return p * b


def count_second(p, y, y_bar, a, b):
    CALLS.append("second")
    return p * a


def test_B8_B10_only_active_arguments_are_computed_and_shared_work_once():
    preprocess(product)(count_shared)
    sensitivity(product, arg=0)(count_first)
    sensitivity(product, arg=1)(count_second)
    CALLS.clear()
    assert grad(product)(2.0, 3.0) == 3.0
    assert CALLS == ["shared", "first"]
    CALLS.clear()
    assert grad(product, argnums=(0, 1))(2.0, 3.0) == (3.0, 2.0)
    assert CALLS == ["shared", "first", "second"]
    CALLS.clear()
    assert grad(lambda x: product(4.0, x) + product(x, 5.0))(2.0) == 9.0
    assert sorted(CALLS) == ["first", "second", "shared", "shared"]


def scatter(x, i):
    return x[i]


def test_B9_sensitivities_that_add_in_place():
    @sensitivity(scatter, arg=0, inplace=True)
    def scatter_first(x_bar, p, y, y_bar, x, i):
        x_bar[i] += y_bar
        return x_bar

    @value_and_grad
    def f(x):
        return scatter(x, 1) * scatter(x, 2) + 3.0 * scatter(x, 1) + np.sum(x * x)

    value, slope = f(np.array([1.0, 2.0, 3.0]))
    assert value == 6.0 + 6.0 + 14.0
    assert np.array_equal(slope, [2.0, 6.0 + 4.0, 2.0 + 6.0])
    _, pullback = apply_rrule(scatter, np.ones(3), 1)
    for _ in range(2):
        assert np.array_equal(pullback(2.0)[0], [0.0, 2.0, 0.0])
    x, v = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    assert check_errs(lambda x: scatter(x, 1) * np.sin(scatter(x, 0)), 1.5, x, v)


def test_B9_a_sensitivity_that_adds_and_returns_nothing():
    @sensitivity(scatter, arg=0, inplace=True)
    def scatter_first(x_bar, p, y, y_bar, x, i):
        x_bar[i] += y_bar

    assert np.array_equal(grad(scatter)(np.ones(3), 1), [0.0, 1.0, 0.0])
    assert np.array_equal(apply_rrule(scatter, np.ones(3), 1)[1](2.0)[0], [0.0, 2.0, 0.0])


def test_B19_wrong_in_place_form_is_found():
    def doubled(x):
        return 2.0 * x

    sensitivity(doubled, arg=0)(lambda p, y, y_bar, x: 2.0 * y_bar)
    sensitivity(doubled, arg=0, inplace=True)(lambda x_bar, p, y, y_bar, x: x_bar + 3.0 * y_bar)
    x = np.array([1.0, 2.0])
    assert np.array_equal(grad(lambda x: np.sum(doubled(x)))(x), [2.0, 2.0])
    with pytest.raises(AssertionError, match=r"wrong derivative of doubled \(in-place\)"):
        check_errs(doubled, np.ones(2), x, np.array([1.0, 0.5]))


@pytest.mark.parametrize(("arg", "inplace", "definition"), [
    (0, False, lambda p, y, y_bar, x: x),
    (0, True, lambda p, y, y_bar, x, y2: x),
    (2, False, lambda p, y, y_bar, x, y2: x),
])
def test_sensitivities_that_take_other_arguments_are_refused_where_they_stand(
    arg, inplace, definition
):
    with pytest.raises(RuleError, match=r"test_sensitivities\.py:\d+.*argument \d of product"):
        sensitivity(product, arg=arg, inplace=inplace)(definition)


def test_types_and_is_node_have_one_length():
    with pytest.raises(RuleError, match="differ in length"):
        intercept(product, (float,), [True, True])

"""D23: with ADCOMPILER_DEBUG, emitted code checks what rules return."""

import numpy as np
import pytest

from adcompiler import grad, hessian, jacrev, jvp, rrule, scalar_rule, source, vjp


def scaled(x, y):
    return x * y


def rule_returning(make):
    @rrule(scaled)
    def scaled_rule(x, y):
        def scaled_pullback(dz):
            return make(dz, x, y)

        return x * y, scaled_pullback


@pytest.fixture
def debugging(monkeypatch):
    monkeypatch.setenv("ADCOMPILER_DEBUG", "1")


def use(x, y):
    return np.sum(scaled(x, y))


@pytest.mark.parametrize(("make", "error", "problem"), [
    (lambda dz, x, y: (np.sum(dz * y), dz * x), ValueError, r"shape \(\), for an .* of shape"),
    (lambda dz, x, y: (1j * dz, dz * x), ValueError, "complex numbers, for an argument of real"),
    (lambda dz, x, y: (dz.astype("f4"), dz * x), ValueError, "dtype float32, .* dtype float64"),
    (lambda dz, x, y: (dz / (y - y), dz * x), FloatingPointError, "that is not finite"),
])
def test_D23_a_wrong_cotangent_is_found_with_its_rule(debugging, make, error, problem):
    rule_returning(make)
    with np.errstate(all="ignore"), pytest.raises(error, match=problem) as caught:
        grad(lambda x, y: use(x, y))(np.ones(3), np.full(3, 2.0))
    assert "the rule of scaled" in str(caught.value)
    assert "test_debug.py:" in str(caught.value)


def test_D23_right_rules_pass_and_the_check_is_there_only_if_asked_for(debugging, monkeypatch):
    rule_returning(lambda dz, x, y: (dz * y, dz * x))
    derivative = grad(lambda x, y: use(x, y), argnums=(0, 1))
    dx, dy = derivative(np.ones(3), np.full(3, 2.0))
    assert np.array_equal(dx, np.full(3, 2.0))
    assert np.array_equal(dy, np.ones(3))
    assert derivative.source.count("check_cotangent(") >= 2
    _, pullback = vjp(lambda x: np.exp(x) * x, np.ones(2))
    np.testing.assert_allclose(pullback(np.ones(2))[0], 2.0 * np.exp(np.ones(2)))
    for off in ("0", ""):
        monkeypatch.setenv("ADCOMPILER_DEBUG", off)
        quiet = grad(lambda x, y: use(x, y))
        quiet(np.ones(3), np.ones(3))
        assert "check_cotangent" not in quiet.source


def test_D23_partial_derivatives_are_checked_too(debugging):
    scalar_rule(scaled, lambda x, y: y / 0.0, lambda x, y: x)
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="the rule of scaled"):
        grad(use)(np.ones(2), np.ones(2))


def test_D23_programs_that_write_and_branch(debugging):
    @grad
    def f(x):
        y = np.sin(x)
        for i in range(len(x)):
            if x[i] > 0.5:
                y[i] = y[i] * x[i]
        x[0] = 3.0
        return np.sum(y * x)

    x = np.array([0.2, 1.0])
    np.testing.assert_allclose(f(x), [
        3.0 * np.cos(0.2), 2.0 * np.sin(1.0) + np.cos(1.0)])


WRONG_SHAPES = [
    (lambda dz, x, y: (np.sum(dz * y), dz * x), r"shape \(\), for an argument of shape \(3,\)"),
    (lambda dz, x, y: (np.outer(dz * y, y), dz * x), r"shape \(3, 3\), for an argument"),
]


@pytest.mark.parametrize(("make", "problem"), WRONG_SHAPES)
@pytest.mark.parametrize("run", [
    lambda x, y: grad(use)(x, y),
    lambda x, y: grad(lambda x, y: use(x * x, y) + np.sum(x))(x, y),
    lambda x, y: vjp(scaled, x, y)[1](np.ones(3)),
    lambda x, y: jacrev(scaled)(x, y),
], ids=["grad", "used twice", "vjp", "many seeds"])
def test_a_cotangent_of_the_wrong_shape_is_never_accepted(make, problem, run):
    rule_returning(make)
    with pytest.raises(match=problem) as caught:
        run(np.ones(3), np.full(3, 2.0))
    assert "the rule of scaled" in str(caught.value)


def test_right_shapes_cost_one_comparison_and_keep_derivatives_of_many_seeds():
    rule_returning(lambda dz, x, y: (dz * y, dz * x))
    x, y = np.array([1.0, 2.0, 3.0]), np.full(3, 2.0)
    np.testing.assert_array_equal(jacrev(lambda x: scaled(x * x, y)[:2])(x), [
        [4.0, 0.0, 0.0], [0.0, 8.0, 0.0]])
    np.testing.assert_array_equal(hessian(lambda x: use(x * x, y))(x), 4.0 * np.eye(3))
    assert jvp(use, (x, y), (x, y))[1] == 24.0
    assert "check_shape_each(" in source(lambda x: scaled(x, y), x, mode="vjp", batched=True)


def test_an_array_as_the_cotangent_of_a_number():
    rule_returning(lambda dz, x, y: (np.ones(3), dz * x))
    with pytest.raises(match=r"shape \(3,\), for an argument of shape \(\)"):
        grad(lambda x, y: scaled(x, y) * x)(1.0, 2.0)

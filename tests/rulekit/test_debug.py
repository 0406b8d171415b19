"""D23: with ADCOMPILER_DEBUG, emitted code checks what rules return."""

import numpy as np
import pytest

from adcompiler import grad, rrule, scalar_rule, vjp


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

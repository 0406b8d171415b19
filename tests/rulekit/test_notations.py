"""Every notation of a rule gives the same emitted code, and shares what it can."""

import types
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit

from adcompiler import (
    MissingRuleError, PullbackMemory, RuleError, augmented_primal, bilinear, grad,
    linear, pullback_at, rrule, scalar_rule, source,
    value_and_grad, vjp,
)


def code(text):
    """Return emitted functions without comments and docstrings."""
    rows = [row for row in text.splitlines() if not row.strip().startswith(("#", '"""'))]
    return "\n".join(row for row in rows if row.strip())


def function_text(text, name):
    """Return the lines of one emitted function."""
    start = text.index(f"def {name}(")
    end = text.find("\n\n\ndef ", start)
    return text[start:] if end < 0 else text[start:end]


@dataclass
class SinMemory:
    cosine: object

    def __call__(self, dy):
        return dy * self.cosine


class PlainMemory:
    def __init__(self, cosine):
        self.cosine = cosine

    def __call__(self, dy):
        return dy * self.cosine


def closure_rule(sine):
    @rrule(sine)
    def sine_rule(x):
        s, c = np.sin(x), np.cos(x)

        def sine_pullback(dy):
            return dy * c

        return s, sine_pullback


def callable_rule(memory):
    def register(sine):
        @rrule(sine)
        def sine_rule(x):
            s, c = np.sin(x), np.cos(x)
            return s, memory(c)

    return register


def two_function_rule(keep):
    def register(sine):
        @augmented_primal(sine)
        def sine_augmented(x):
            s, c = np.sin(x), np.cos(x)
            return s, keep(c)

        @pullback_at(sine)
        def sine_pullback(memory, dy):
            c = memory["cosine"] if isinstance(memory, dict) else (
                memory[0] if isinstance(memory, tuple) else memory.cosine)
            return dy * c

    return register


def middle_rule(sine):
    @augmented_primal(sine)
    def sine_augmented(x):
        s, c = np.sin(x), np.cos(x)
        return s, types.SimpleNamespace(cosine=c)

    @pullback_at(sine)
    def sine_pullback(x, y, dy, intermediates):
        return dy * intermediates.cosine


NOTATIONS = {
    "middle": middle_rule,
    "closure": closure_rule,
    "dataclass": callable_rule(SinMemory),
    "class": callable_rule(PlainMemory),
    "memory": two_function_rule(lambda c: PullbackMemory(cosine=c)),
    "memory of a function": two_function_rule(lambda c: PullbackMemory(np.sin, cosine=c)),
    "namespace": two_function_rule(lambda c: types.SimpleNamespace(cosine=c)),
    "dict": two_function_rule(lambda c: {"cosine": c}),
    "tuple": two_function_rule(lambda c: (c,)),
}


def emitted_by(notation, mode):
    def sine(x):
        return np.sin(x)

    NOTATIONS[notation](sine)

    def doubled(x):
        return 2.0 * np.sum(sine(x))

    return source(doubled, np.ones(3), mode=mode)


@pytest.mark.parametrize("mode", ["value_and_grad", "vjp"])
@pytest.mark.parametrize("notation", NOTATIONS)
def test_D4_every_notation_gives_the_same_source(notation, mode):
    assert code(emitted_by(notation, mode)) == code(emitted_by("closure", mode))


def test_D1_pullback_of_sin_reads_the_cosine_that_the_primal_computed():
    text = emitted_by("closure", "vjp")
    assert text.count("np.cos(") == 1
    assert "np.cos(x)" in function_text(text, "doubled_augmented")
    assert "np.cos" not in function_text(text, "doubled_pullback")


def logistic(x):
    return expit(x)


def logistic_rule(x):
    """``z = exp(-|x|)`` cannot overflow: the value is 1 / (1 + z) or z / (1 + z)."""
    z = np.exp(-np.abs(x))
    y = np.where(x >= 0.0, 1.0, z) / (1.0 + z)
    slope = z / ((1.0 + z) * (1.0 + z))

    def logistic_pullback(dy):
        return dy * slope

    return y, logistic_pullback


def test_D2_D3_logistic_has_one_exp_and_keeps_one_thing():
    rrule(logistic)(logistic_rule)
    text = source(logistic, np.ones(3), mode="vjp")
    assert text.count("np.exp(") == 1
    derivative = value_and_grad(lambda x: np.sum(logistic(x)))
    assert derivative.explain(np.ones(3)).residuals == ("slope", "x_shape")
    x = np.array([0.0, 2.0, -2.0, 800.0, -800.0])
    value, slope = derivative(x)
    np.testing.assert_allclose(
        slope, [0.25, 0.1049935854035065, 0.1049935854035065, 0.0, 0.0], rtol=1e-14)
    assert value == pytest.approx(np.sum(expit(x)), rel=1e-15)
    (one,) = vjp(logistic, x)[1](np.ones(5))
    assert np.array_equal(one, slope)


def test_D5_pullback_of_inputs_and_outputs_only():
    def sigmoid(x):
        return 1.0 / (1.0 + np.exp(-x))

    @pullback_at(sigmoid)
    def sigmoid_pullback(x, y, dy):
        return dy * y * (1.0 - y)

    assert grad(sigmoid)(0.0) == 0.25
    kept = grad(lambda x: 2.0 * sigmoid(x)).explain(0.0).residuals
    assert kept == ("y",)  # of argument and result, only what is read

    def power(x, n=2):
        return x**n

    @pullback_at(power)
    def power_pullback(x, n, y, dy):
        return dy * n * y / x, None

    assert grad(lambda x: power(x, 3))(2.0) == 12.0


def test_D4_a_pullback_of_arguments_result_and_memory_keeps_what_it_reads():
    def scaled(x, n):
        return np.exp(x) * n

    @augmented_primal(scaled)
    def scaled_augmented(x, n):
        e = np.exp(x)
        return e * n, PullbackMemory(unused=e * 2.0, e=e)

    @pullback_at(scaled)
    def scaled_pullback(x, n, y, dy, memory):
        return dy * (y + 0.0 * memory.e), np.sum(dy * memory.e)

    derivative = grad(lambda x, n: np.sum(scaled(x, n) ** 2), argnums=(0, 1))
    x = np.array([0.5, -1.0])
    dx, dn = derivative(x, 3.0)
    np.testing.assert_allclose(dx, 18.0 * np.exp(2.0 * x), rtol=1e-14)
    assert dn == pytest.approx(6.0 * np.sum(np.exp(2.0 * x)), rel=1e-14)
    assert "unused" not in derivative.source


def test_a_pullback_that_takes_other_arguments_is_refused_where_it_stands():
    def sine(x):
        return np.sin(x)

    with pytest.raises(RuleError, match=r"test_notations.py:\d+.*takes 2 arguments") as caught:
        @pullback_at(sine)
        def sine_pullback(memory, dy):
            return dy * memory

    assert "@augmented_primal(f)" in str(caught.value)
    augmented_primal(sine)(lambda x: (np.sin(x), np.cos(x)))
    with pytest.raises(RuleError, match=r"takes 3 arguments"):
        pullback_at(sine)(lambda x, y, dy: dy)


# --- scalar rules ---------------------------------------------------------------------------------


def product(x, y):
    return x * y


def test_D15_scalar_rule_of_a_call_as_text():
    def added(x, y):
        return x + y

    scalar_rule("added(x, y)", (1, 1))
    assert grad(added, argnums=(0, 1))(2.0, 3.0) == (1.0, 1.0)
    scalar_rule("product(u, v)", "v", "u")
    dx, dy = grad(lambda x, y: np.sum(product(x, y)), argnums=(0, 1))(
        np.array([1.0, 2.0], "f4"), np.float64(3.0))
    assert dx.dtype == np.float32
    assert np.array_equal(dx, [3.0, 3.0])
    assert dy == 3.0


def test_D15_operators_name_their_functions():
    from adcompiler.rulekit.scalar import Namespace, parsed_call
    import operator
    import sys

    here = Namespace(sys._getframe())
    assert parsed_call("x + y", here) == (operator.add, ("x", "y"))
    assert parsed_call("-a", here) == (operator.neg, ("a",))
    assert parsed_call("np.hypot(x, y)", here) == (np.hypot, ("x", "y"))
    for text in ("x + 1", "x + y + z", "np.sin(2 * x)", "x +", "product(x, x)", "x"):
        with pytest.raises(RuleError):
            parsed_call(text, here)


def test_D15_result_and_setup_in_text():
    def length(x, y):
        return np.hypot(x, y)

    scalar_rule(
        "length(x, y)", "x * inverse", "y * inverse", setup="inverse = np.reciprocal(result)"
    )
    derivative = grad(length, argnums=(0, 1))
    assert derivative(3.0, 4.0) == pytest.approx((0.6, 0.8), rel=1e-15)
    assert derivative.source.count("np.reciprocal(") == 1


def test_D15_setup_as_a_function_runs_once():
    def length(x, y):
        return np.hypot(x, y)

    scalar_rule(
        length, lambda x, y, inverse: x * inverse, lambda x, y, z, inverse: y * inverse,
        setup=lambda x, y, z: np.reciprocal(z),
    )
    x, y = np.array([3.0, 5.0]), np.array([4.0, 12.0])
    derivative = grad(lambda x, y: np.sum(length(x, y)), argnums=(0, 1))
    dx, dy = derivative(x, y)
    np.testing.assert_allclose(dx, [0.6, 5.0 / 13.0], rtol=1e-15)
    np.testing.assert_allclose(dy, [0.8, 12.0 / 13.0], rtol=1e-15)
    assert derivative.source.count("np.reciprocal(") == 1


def test_D15_several_outputs():
    def sincos(x):
        return np.sin(x), np.cos(x)

    scalar_rule(sincos, (lambda x, y: y[1],), (lambda x, y: -y[0],))

    @grad
    def use(x):
        s, c = sincos(x)
        return np.sum(3.0 * s + s * c)

    x = np.linspace(-1.0, 1.0, 5)
    np.testing.assert_allclose(use(x), 3.0 * np.cos(x) + np.cos(2.0 * x), rtol=1e-14)
    assert "np.sin" not in use.source
    assert use.source.count("sincos(") == 1
    only = grad(lambda x: sincos(x)[0])(0.3)
    assert only == pytest.approx(np.cos(0.3), rel=1e-15)


def test_D15_outputs_without_a_derivative():
    def split(x, n):
        whole = np.floor(x)
        return x - whole, n * whole

    scalar_rule("split(x, n)", (1, None), (None, None))
    assert grad(lambda x: split(x, 2)[0] * x)(2.25) == 2.5
    with pytest.raises(MissingRuleError, match="with respect to its argument `n`"):
        grad(lambda x: split(2.5, x)[1])(2.25)


def test_D15_several_outputs_of_two_arguments_and_complex_numbers():
    def both(x, y):
        return x * y, x - 2j * y

    scalar_rule("both(x, y)", ("y", "x"), (1, -2j))
    x, y = 1.0 + 2.0j, 3.0 - 1.0j
    _, pullback = vjp(both, x, y)
    p_bar, d_bar = 0.5 + 0.25j, 2.0 - 1.0j
    dx, dy = pullback((p_bar, d_bar))
    assert dx == pytest.approx(np.conj(y) * p_bar + d_bar)
    assert dy == pytest.approx(np.conj(x) * p_bar + 2j * d_bar)


def test_D15_conjugate_of_a_holomorphic_partial():
    def square(z):
        return z * z

    scalar_rule("square(z)", "2 * z")
    (dz,) = vjp(square, 1.0 + 2.0j)[1](1.0 + 0.0j)
    assert dz == 2.0 - 4.0j


@pytest.mark.parametrize(("register", "problem"), [
    (lambda f: scalar_rule(f, lambda x, y: 1.0, lambda: 2.0), "takes 0 arguments, not 2"),
    (lambda f: scalar_rule("f(x, y)", (1, "unknown * x")), "`unknown`, which is not defined"),
    (lambda f: scalar_rule("f(x, y)", 1), "1 partials for 2 arguments"),
    (lambda f: scalar_rule("f(x, y)", (1, 2), (1,)), "1 partials for 2 arguments"),
    (lambda f: scalar_rule("f(x, y)", "x +", 1), "does not parse"),
    (lambda f: scalar_rule("f(x, y)", "x", 1, setup=lambda x, y: 1.0), "setup= that is a function"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_malformed_scalar_rules_are_refused_where_they_are_registered(register, problem):
    with pytest.raises(RuleError, match=r"test_notations\.py:\d+:\d+: the rule of") as caught:
        register(product)
    assert problem in str(caught.value)


# --- linear and bilinear functions ----------------------------------------------------------------


def test_linear_function_with_its_transpose():
    def running(x, axis=0):
        return np.cumsum(x, axis=axis)

    @linear(running)
    def running_transpose(dy, x, axis=0):
        return np.flip(np.cumsum(np.flip(dy, axis), axis), axis)

    x, w = np.arange(6.0).reshape(2, 3), np.random.default_rng(0).normal(size=(2, 3))
    for axis in (0, 1):
        got = grad(lambda x, axis: np.sum(w * running(x, axis=axis)))(x, axis)
        np.testing.assert_allclose(got, np.flip(np.cumsum(np.flip(w, axis), axis), axis))
    assert grad(lambda x: np.sum(w * running(x))).explain(x).residuals == ("w", "x_shape")


def test_function_that_is_its_own_transpose():
    def reverse(x):
        return x[::-1].copy()

    linear(reverse, reverse)
    w = np.array([1.0, 2.0, 3.0])
    assert np.array_equal(grad(lambda x: np.sum(w * reverse(x)))(np.zeros(3)), [3.0, 2.0, 1.0])


def test_bilinear_function_with_its_transposes():
    def contract(A, x):
        return A @ x

    @bilinear(contract)
    def contract_transposes(dy, A, x):
        return np.outer(dy, x), A.T @ dy

    A, x, w = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0])
    dA, dx = grad(lambda A, x: np.sum(w * contract(A, x)), argnums=(0, 1))(A, x)
    assert np.array_equal(dA, np.outer(w, x))
    assert np.array_equal(dx, A.T @ w)
    with pytest.raises(RuleError, match="counts arguments that are not there"):
        bilinear(contract, argnums=(0, 2))(contract_transposes)

"""Every notation of a rule gives the same emitted code, and shares what it can."""

import types
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.special import expit

from adcompiler import (
    MissingRuleError, PullbackMemory, RuleError, apply_rrule, augmented_primal, bilinear, grad,
    linear, non_differentiable, opt_out, project_to, pullback_at, rrule, scalar_rule, source,
    unionise, value_and_grad, vjp,
)
from adcompiler.rulekit import NoTangent, ZeroTangent


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


NOTATIONS = {
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


# --- opting out, no derivative --------------------------------------------------------------------


def test_D17_opted_out_types_are_looked_into():
    def square(x):
        return x * x

    scalar_rule(square, lambda x: 100.0)
    opt_out(square, (np.ndarray,))
    assert grad(square)(3.0) == 100.0
    assert np.array_equal(grad(lambda x: np.sum(square(x)))(np.array([3.0])), [6.0])
    opt_out(square)
    assert grad(square)(3.0) == 6.0
    assert apply_rrule(square, 3.0) is None


def test_B6_unionise_is_transparent():
    @unionise
    def norm(x: np.ndarray, p: float) -> float:
        return np.sum(np.abs(x) ** p) ** (1.0 / p)

    x, p, h = np.array([1.0, -2.0, 2.5]), 3.0, 1e-6
    dx, dp = grad(norm, argnums=(0, 1))(x, p)
    np.testing.assert_allclose(dx, np.sign(x) * np.abs(x) ** 2 / norm(x, p) ** 2, rtol=1e-12)
    assert dp == pytest.approx((norm(x, p + h) - norm(x, p - h)) / (2 * h), rel=1e-8)

    def covered(x):
        return x * x

    scalar_rule(covered, 7.0)
    assert grad(unionise(covered))(3.0) == 6.0


def test_D12_no_tangent_and_zero_tangent_are_none():
    def picked(x, index):
        return x[index]

    @rrule(picked)
    def picked_rule(x, index):
        def picked_pullback(dy):
            dx = np.zeros_like(x)
            dx[index] = dy
            return dx, NoTangent

        return x[index], picked_pullback

    assert np.array_equal(grad(picked)(np.ones(3), 1), [0.0, 1.0, 0.0])
    assert ZeroTangent is None


def test_D12_only_the_cotangents_wanted_are_computed():
    text = source(lambda x, y: x * np.exp(y), 1.0, 2.0)
    assert text.count("*") == 0  # dx = exp(y), and no x * exp(y)


def test_D12_a_cotangent_given_as_a_function_is_called_only_if_wanted(capsys):
    def scaled(x, y):
        return np.exp(x) * np.sinh(y)

    @rrule(scaled)
    def scaled_rule(x, y):
        def scaled_pullback(dz):
            def dx():
                print("dx")
                return dz * scaled(x, y)

            def dy():
                print("dy")
                return dz * np.exp(x) * np.cosh(y)

            return dx, dy

        return scaled(x, y), scaled_pullback

    assert grad(scaled)(2.0, 3.0) == scaled(2.0, 3.0)
    assert capsys.readouterr().out == "dx\n"
    both = grad(scaled, argnums=(0, 1))(2.0, 3.0)
    assert capsys.readouterr().out == "dx\ndy\n"
    assert both == pytest.approx(apply_rrule(scaled, 2.0, 3.0)[1](1.0), rel=1e-15)


def test_D14_project_to_gives_the_form_of_the_argument():
    assert project_to(np.ones(3, "f4"))(np.ones((2, 3))).dtype == np.float32
    assert np.array_equal(project_to(np.ones(3))(np.ones((2, 3)) * 1j + 2.0), [4.0, 4.0, 4.0])
    assert project_to(1.5)(np.array([1.0, 2.0])) == 3.0

    def stretched(x, y):
        return x * y

    @rrule(stretched)
    def stretched_rule(x, y):
        to_x, to_y = project_to(x), project_to(y)

        def stretched_pullback(dz):
            return to_x(dz * np.conj(y)), to_y(dz * np.conj(x))

        return x * y, stretched_pullback

    x, y = np.ones(3, "f4"), np.full((2, 3), 2.0)
    dx, dy = grad(lambda x, y: np.sum(stretched(x, y)), argnums=(0, 1))(x, y)
    assert dx.dtype == np.float32
    assert np.array_equal(dx, [4.0, 4.0, 4.0])
    assert dy.shape == (2, 3)
    real = grad(lambda x: np.sum(np.real(stretched(x, 1j))))(np.ones(3))
    assert real.dtype == np.float64


# --- writes of a rule -----------------------------------------------------------------------------


def test_a_rule_may_write_into_arrays_that_it_makes():
    def running(x):
        return np.cumsum(x)

    @rrule(running)
    def running_rule(x):
        y = np.empty_like(x)
        total = 0.0
        for i in range(len(x)):
            total += x[i]
            y[i] = total

        def running_pullback(dy):
            for i in range(len(dy) - 2, -1, -1):
                dy[i] += dy[i + 1]
            return dy

        return y, running_pullback

    x, w = np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0, 0.5])

    def weighed(x):
        y = running(x)
        return np.sum(y * w) + np.sum(x * w)

    expected = np.cumsum(w[::-1])[::-1] + w
    assert np.array_equal(grad(weighed)(x), expected)
    _, pullback = vjp(running, x)
    for _ in range(2):
        assert np.array_equal(pullback(w)[0], np.cumsum(w[::-1])[::-1])
    assert np.array_equal(w, [2.0, -1.0, 0.5])


def test_a_rule_that_writes_into_what_it_got_changes_nothing():
    def doubled(x):
        return 2.0 * x

    @rrule(doubled)
    def doubled_rule(x):
        kept = np.ones_like(x)
        x[0] = 5.0

        def doubled_pullback(dy):
            dy[0] = 1.0
            kept[1] += 1.0
            return dy * kept

        return 2.0 * x, doubled_pullback

    def use(z):
        y = np.sin(z)
        return np.sum(doubled(y) * y)

    z = np.array([0.5, 1.0, 1.5])
    y, before = np.sin(z), z.copy()
    value = np.concatenate([[10.0], 2.0 * y[1:]])
    slopes = value + np.array([1.0, 2.0, 1.0]) * np.concatenate([[1.0], y[1:]])
    for _ in range(2):
        np.testing.assert_allclose(grad(use)(z), slopes * np.cos(z), rtol=1e-14)
    assert np.array_equal(z, before)
    _, pullback = vjp(doubled, z)
    first, second = pullback(np.full(3, 3.0)), pullback(np.full(3, 3.0))
    assert np.array_equal(first, second)
    assert np.array_equal(first[0], [1.0, 6.0, 3.0])


# --- malformed rules ------------------------------------------------------------------------------


def test_names_that_are_no_parameters_are_refused_at_registration():
    with pytest.raises(RuleError, match=r"names `z` in wrt= or templates=") as caught:
        @rrule(product, wrt=("x", "z"))
        def product_rule(x, y):
            return x * y, None

    assert "test_notations.py" in str(caught.value)
    assert "one of its parameters: x, y" in str(caught.value)


@pytest.mark.parametrize(("returned", "problem"), [
    (lambda dz, x, y: dz * y, "returns 1 cotangent, for 2 arguments: x, y"),
    (lambda dz, x, y: (dz, dz, dz), "returns 3 cotangents, for 2 arguments: x, y"),
    (lambda dz, x, y: None, "returns None, for 2 arguments: x, y"),
])
def test_wrong_number_of_cotangents_is_refused_before_running(returned, problem):
    @rrule(product)
    def product_rule(x, y):
        def product_pullback(dz):
            return returned(dz, x, y)

        return x * y, product_pullback

    with pytest.raises(RuleError, match=problem) as caught:
        grad(lambda x: product(x, x))(2.0)
    assert "def product_rule(x, y):" in str(caught.value)
    assert "`return dx, dy`" in str(caught.value)


def test_a_tuple_of_one_cotangent_is_refused():
    def square(x):
        return x * x

    @rrule(square)
    def square_rule(x):
        def square_pullback(dy):
            return (2.0 * x * dy,)

        return x * x, square_pullback

    with pytest.raises(RuleError, match="returns a tuple of 1 cotangent, for 1 argument: x") as e:
        grad(square)(2.0)
    assert "`return dx`" in str(e.value)


def test_rule_without_a_pullback_is_refused():
    @rrule(product)
    def product_rule(x, y):
        return x * y

    with pytest.raises(RuleError, match=r"does not return \(y, pullback\)"):
        grad(product)(2.0, 3.0)


# --- rules as plain functions ---------------------------------------------------------------------


def test_rules_are_called_as_plain_functions():
    y, pullback = apply_rrule(np.multiply, np.array([1.0, 2.0]), 3.0)
    assert np.array_equal(y, [3.0, 6.0])
    dx, dy = pullback(np.ones(2))
    assert np.array_equal(dx, [3.0, 3.0])
    assert dy == 3.0
    _, pullback = apply_rrule(np.sum, np.ones((2, 3)), 0)
    da, axis = pullback(np.array([1.0, 2.0, 3.0]))
    assert np.array_equal(da, [[1.0, 2.0, 3.0]] * 2)
    assert axis is None
    y, pullback = apply_rrule(np.argmax, np.array([1.0, 3.0]))
    assert (y, pullback(1.0)) == (1, (None,))
    assert apply_rrule(code, "text") is None


def test_plain_call_of_a_rule_with_a_variadic_parameter():
    def total(scale, *terms):
        return scale * sum(terms)

    @rrule(total)
    def total_rule(scale, *terms):
        def total_pullback(dy):
            return dy * sum(terms), tuple(dy * scale for _ in terms)

        return total(scale, *terms), total_pullback

    assert apply_rrule(total, 2.0, 1.0, 3.0)[1](1.0) == (4.0, 2.0, 2.0)
    non_differentiable(total)


def test_a_rule_may_have_its_own_function_in_its_closure():
    def cube(x):
        return x**3

    @rrule(cube)
    def cube_rule(x):
        y = cube(x)

        def cube_pullback(dy):
            return dy * 3.0 * x * x

        return y, cube_pullback

    assert value_and_grad(cube)(2.0) == (8.0, 12.0)

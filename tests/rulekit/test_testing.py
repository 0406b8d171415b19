"""The rule checker finds each kind of mistake, and accepts right rules."""

import math
import operator

import numpy as np
import pytest

from adcompiler.ops.domains import as_domain
from adcompiler.rulekit import Rule, call
from adcompiler.rulekit.testing import check_rule, rule_name, sample_calls
from adcompiler.runtime import project


def table_rule(function, *partials, domain=None):
    return Rule(function=function, partials=partials, elementwise=True, domain=as_domain(domain))


def written_rule(function, definition, wrt=("x",), **fields):
    return Rule(function=function, definition=definition, wrt=wrt, **fields)


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def check_all(rule, rng):
    for sample in sample_calls(rule, rng):
        check_rule(rule, sample, rng)


@pytest.mark.parametrize("rule", [
    table_rule(math.tanh, lambda x, y: 1.0 - y * y, domain=(-2.0, 2.0)),
    table_rule(np.tanh, lambda x, y: 1.0 - y * y, domain=(-2.0, 2.0)),
    table_rule(np.multiply, lambda x, y: y, lambda x, y: x, domain=((-2.0, 2.0), (1.0, 3.0))),
    table_rule(np.floor, 0.0, domain=lambda rng: [call(0.5), call(np.array([0.5, 2.3]))]),
], ids=rule_name)
def test_accepts_right_rules(rule, rng):
    check_all(rule, rng)


def test_finds_wrong_derivative(rng):
    rule = table_rule(np.tanh, lambda x, y: 1.0 - x * y, domain=(-2.0, 2.0))
    with pytest.raises(AssertionError, match=r"rule of numpy\.tanh: wrong derivative in argument"):
        check_all(rule, rng)


def test_finds_derivative_wrong_in_the_seventh_digit(rng):
    rule = table_rule(math.sin, lambda x: math.cos(x) * (1.0 + 5e-7), domain=(0.1, 1.0))
    with pytest.raises(AssertionError, match="wrong derivative"):
        check_all(rule, rng)


def test_finds_missing_conjugate(rng):
    def square(x):
        def square_pullback(dy):
            return 2.0 * x * dy

        return x * x, square_pullback

    rule = written_rule(np.square, square)
    check_rule(rule, call(rng.normal(size=3)), rng)
    with pytest.raises(AssertionError, match="wrong derivative"):
        check_rule(rule, call(rng.normal(size=3) + 1j), rng)


def test_finds_wrong_shape(rng):
    def add(x, y):
        def add_pullback(dz):
            return dz, dz

        return x + y, add_pullback

    rule = written_rule(np.add, add, ("x", "y"))
    check_rule(rule, call(np.ones(3), np.ones(3)), rng, precision=False)
    with pytest.raises(AssertionError, match=r"cotangent of y is a float64 array of shape \(2, 3\)"
                                             r", not a float64 array of shape \(3,\)"):
        check_rule(rule, call(np.ones((2, 3)), np.ones(3)), rng)


def test_finds_wrong_dtype(rng):
    def exp(x):
        def exp_pullback(dy):
            return dy * np.exp(x.astype(np.float64))

        return np.exp(x), exp_pullback

    with pytest.raises(AssertionError, match=r"is a float64 array of shape .* not a float32 array"):
        check_rule(written_rule(np.exp, exp), call(np.ones(3)), rng)


def test_finds_wrong_precision_of_one_operand(rng):
    def add(x, y):
        def add_pullback(dz):
            return dz, dz

        return x + y, add_pullback

    with pytest.raises(AssertionError, match=r"of x is a float64 .*, not a float32 array"):
        check_rule(written_rule(np.add, add, ("x", "y")), call(np.ones(3), np.ones(3)), rng)


def test_finds_complex_cotangent_of_real_argument(rng):
    def multiply(x, y):
        def multiply_pullback(dz):
            return dz * np.conj(y), dz * np.conj(x)

        return x * y, multiply_pullback

    with pytest.raises(AssertionError, match="cotangent of x is a complex128 array"):
        check_rule(written_rule(np.multiply, multiply, ("x", "y")),
                   call(np.ones(3), np.full(3, 1j)), rng)


def test_finds_changed_primal(rng):
    def exp(x):
        y = np.exp(x) * (1.0 + 1e-15)

        def exp_pullback(dy):
            return dy * y

        return y, exp_pullback

    sample = call(np.linspace(0.1, 2.0, 9))
    with pytest.raises(AssertionError, match="primal differs"):
        check_rule(written_rule(np.exp, exp), sample, rng)
    check_rule(written_rule(np.exp, exp, primal_note="scaled"), sample, rng)


def test_finds_changed_argument(rng):
    def square(x):
        def square_pullback(dy):
            g = 2.0 * x * dy
            x[...] = 0.0
            return g

        return x * x, square_pullback

    with pytest.raises(AssertionError, match="called twice gives different x_bar"):
        check_rule(written_rule(np.square, square), call(np.ones(3)), rng)


def test_finds_cotangent_written_in_place(rng):
    def double(x):
        def double_pullback(dy):
            dy *= 2.0
            return dy

        return 2.0 * x, double_pullback

    with pytest.raises(ValueError, match="read-only"):
        check_rule(written_rule(lambda x: 2.0 * x, double), call(np.ones(3)), rng)


def test_finds_pullback_that_remembers(rng):
    calls = []

    def double(x):
        def double_pullback(dy):
            calls.append(dy)
            return len(calls) * dy

        return 2.0 * x, double_pullback

    with pytest.raises(AssertionError, match="called twice"):
        check_rule(written_rule(lambda x: 2.0 * x, double), call(1.5), rng)


def test_finds_wrong_number_of_cotangents(rng):
    def add(x, y):
        def add_pullback(dz):
            return dz

        return x + y, add_pullback

    with pytest.raises(AssertionError, match=r"a tuple of 2 cotangents \(x, y\)"):
        check_rule(written_rule(operator.add, add, ("x", "y")), call(1.0, 2.0), rng)


def test_finds_warning_that_the_function_does_not_give(rng):
    def power(x):
        def power_pullback(dy):
            return dy * x ** 3 * np.divide(2.0, x, where=x > -1.0, out=np.zeros_like(x)) ** 0.5

        return x * x, power_pullback

    with pytest.raises(RuntimeWarning, match="divide by zero"):
        check_rule(written_rule(np.square, power), call(np.zeros(3)), rng)


def test_says_that_a_sample_stands_at_the_edge_of_the_domain(rng):
    rule = table_rule(math.sqrt, lambda x, y: 0.5 / y)
    with pytest.raises(AssertionError, match="cannot be evaluated around this point"):
        check_rule(rule, call(1e-300), rng)


def test_asks_for_a_domain(rng):
    with pytest.raises(AssertionError, match=r"no domain: give an open interval per argument"):
        sample_calls(table_rule(np.clip, 1, 0, 0), rng)


def test_containers_and_several_outputs(rng):
    def outputs(x, pair, *rest):
        def outputs_pullback(dy):
            product, (total, _) = dy
            a, b = pair
            return (
                project(product * a, x),
                [project(product * x, a), project(total, b)],
                tuple(project(total, r) for r in rest),
            )

        a, b = pair
        return (x * a, (np.sum(b) + sum(rest), "label")), outputs_pullback

    rule = written_rule(lambda *args: outputs(*args)[0], outputs, ("x", "pair", "rest"))
    check_rule(rule, call(2.0, [np.ones(3), np.ones((2, 2))], 1.0, 2.5), rng)


def test_keyword_arguments_and_integers(rng):
    def scale(x, factor, count=1):
        def scale_pullback(dy):
            return factor * count * dy, x * count * dy

        return x * factor * count, scale_pullback

    rule = written_rule(lambda x, factor, count=1: x * factor * count, scale, ("x", "factor"))
    check_rule(rule, call(1.5, factor=2.5, count=3), rng)
    check_rule(rule, call(1.5, 2, count=3), rng)


def test_intervals_give_scalars_arrays_and_complex_numbers(rng):
    samples = sample_calls(table_rule(np.add, 1, 1, domain=((0.0, 1.0), (2.0, 3.0))), rng)
    kinds = {tuple(type(x) for x in sample.args) for sample in samples}
    assert {(float, float), (np.ndarray, np.ndarray), (float, np.ndarray),
            (complex, complex)} <= kinds
    assert {np.shape(sample.args[0]) for sample in samples} >= {(), (3,), (2, 3), (2, 1), (0,)}
    assert any(np.ndim(sample.args[0]) and not sample.args[0].flags.c_contiguous
               for sample in samples)
    assert all(np.all((np.real(y) > 2.0) & (np.real(y) < 3.0)) for y in
               (sample.args[1] for sample in samples))


def test_math_takes_python_floats_only(rng):
    samples = sample_calls(table_rule(math.sin, math.cos, domain=(0.0, 1.0)), rng)
    assert {type(sample.args[0]) for sample in samples} == {float}

"""The values that the Nabla documentation and tests give, and checks against differences."""

import math
import operator

import numpy as np
import pytest

from adcompiler import grad, value_and_grad
from adcompiler.testing import (
    check_errs, directional_derivatives, domain1, domain2, in_domain, one_like, randn_like,
    zero_like,
)


def test_B1_gradient_of_all_arguments():
    def f(x, y):
        return x * y + math.sin(x)

    x, y = 0.6791074260357777, 0.8284134829000359
    assert grad(f, argnums=(0, 1))(x, y) == (1.6065471361170487, 0.6791074260357777)
    assert value_and_grad(lambda x: -x, argnums=(0,))(2.0) == (-2.0, (-1.0,))


def test_B11_arguments_that_are_not_used_get_zeros():
    def f(a, b, c, d):
        return a * c

    everything = grad(f, argnums=(0, 1, 2, 3))
    assert everything(1.0, 2.0, 3.0, 4.0) == (3.0, 0.0, 1.0, 0.0)
    assert everything(1.0, [2.0], 3.0, 4.0) == (3.0, [0.0], 1.0, 0.0)
    assert grad(lambda a, b: 12.0, argnums=(0, 1))(1.0, 2.0) == (0.0, 0.0)


def test_B12_comparisons_choose_branches():
    def steps(x):
        return 3.0 * x if x > 5.0 else 1.0

    assert (grad(steps)(5.0), grad(steps)(6.0)) == (0.0, 3.0)

    def close(x, y):
        return 2.0 * y if math.isclose(x, y) else 3.0 * x

    both = grad(close, argnums=(0, 1))
    assert (both(5.0, 5.0), both(6.0, 5.0)) == ((0.0, 2.0), (3.0, 0.0))

    def arrays(x, y):
        return np.sum(2.0 * y) if np.allclose(x, y) else np.sum(3.0 * x)

    dx, dy = grad(arrays, argnums=(0, 1))(np.ones(2), np.ones(2))
    assert np.array_equal(dx, [0.0, 0.0])
    assert np.array_equal(dy, [2.0, 2.0])


def test_B13_what_gives_shapes_and_constants_has_no_derivative():
    def f(x):
        n = len(x) + x.size + x.shape[0] + x.ndim
        return n * np.sum(np.zeros_like(x) + np.ones_like(x)) + len(range(len(x)))

    assert np.array_equal(grad(f)(np.ones(3)), np.zeros(3))


def test_B18_containers_of_zeros_ones_and_random_numbers():
    assert zero_like({"a": 5.0, "b": [3]}) == {"a": 0.0, "b": [0.0]}
    single, array, text, number = one_like((np.float32(2.0), np.full((2, 1), 3.0, "f4"), "s", 1j))
    assert (single, type(single), text, number) == (1.0, np.float32, None, 1 + 0j)
    assert np.array_equal(array, [[1.0], [1.0]])
    assert array.dtype == np.float32
    rng = np.random.default_rng(0)
    first, (second,) = randn_like(rng, (np.zeros((500, 2)), [1j]))
    assert abs(np.mean(first)) < 0.1
    assert abs(np.std(first) - 1.0) < 0.1
    assert second.real * second.imag != 0.0
    assert randn_like(np.random.default_rng(1), 2.0) == randn_like(np.random.default_rng(1), 5)


def test_B19_directional_derivatives_in_three_ways():
    def foo(x, y):
        return 5.0 * x + 6.0 * y

    found = directional_derivatives(foo, 5.0, (10.0, 5.0), (7.5, 6.3))
    assert found.allocating == 376.5
    assert found.in_place == 376.5
    assert found.differences == pytest.approx(376.5, abs=1e-10)
    assert check_errs(foo, 5.0, (10.0, 5.0), (7.5, 6.3)) is True


def test_B19_arrays_containers_and_tolerances():
    rng = np.random.default_rng(3)
    x, v = rng.normal(size=(2, 3)), rng.normal(size=(2, 3))
    assert check_errs(lambda x: np.cumsum(np.exp(x), axis=1), rng.normal(size=(2, 3)), x, v)
    table, direction = {"w": x, "b": [1.0, 2.0]}, {"w": v, "b": [0.5, -1.0]}
    assert check_errs(
        lambda t: np.sum(t["w"]) * t["b"][0] ** 2 + t["b"][1], 2.0, table, direction)
    with pytest.raises(AssertionError, match="allowed difference"):
        check_errs(np.sin, 1.0, 1.0, 1.0, eps_abs=0.0, eps_rel=1e-18)


def test_B20_domains_are_found_by_probing():
    upper = math.pi - 0.1
    assert domain1(math.log) == (0.1, upper)
    assert domain1(math.acos) == (-0.9, 0.9)
    assert domain1(np.arccosh) == (1.1, upper)
    assert domain1(math.sin) == (-upper, upper)
    assert domain1(lambda x: math.sqrt(-10.0 - x)) is None
    assert in_domain(math.acos, 10.0) is False
    assert in_domain(math.acos, 0.5) is True
    assert in_domain(operator.truediv, 1.0, 0.0) is False
    assert in_domain(operator.pow, -2.0, 0.5) is False  # complex
    for power in (operator.pow, np.power):
        assert domain2(power) == ((0.1, upper), (-upper, upper))


def test_B20_elementwise_rules_without_a_domain_are_tested_where_the_function_is_defined():
    from adcompiler.rulekit import Rule
    from adcompiler.rulekit.testing import check_rule, sample_calls

    rng = np.random.default_rng(0)
    for function, partials in ((np.log, (lambda x: 1.0 / x,)),
                               (np.multiply, (lambda x, y: y, lambda x, y: x))):
        rule = Rule(function=function, partials=partials, elementwise=True)
        samples = sample_calls(rule, rng)
        assert len(samples) > 5
        for sample in samples:
            check_rule(rule, sample, rng)
    wrong = Rule(function=np.log, partials=(lambda x: 1.0 / (1.0 + x),), elementwise=True)
    with pytest.raises(AssertionError, match="wrong derivative"):
        check_rule(wrong, sample_calls(wrong, rng)[0], rng)

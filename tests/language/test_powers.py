"""Powers: Python's power of a negative float may be complex, which compiled code checks for."""

import math

import numpy as np
import pytest

from adcompiler import grad, source, value_and_grad, vjp


def power(x, p):
    return x**p


def power_in_place(x, p):
    x **= p
    return x


def by_function(x, p):
    return pow(x, p)


def hidden(x, p):
    return abs(x**p)


def unused_derivative(x, p):
    return x * abs((x - 10.0) ** p).real if p < 100.0 else x


def in_loop(x, p):
    total = 0.0
    while total**p < 3.0:
        total = total + x**p
    return total


def in_condition(x, p):
    return x if p > 0.0 and abs(x**p) > 1.0 else 2.0 * x


def constant_base(x, p):
    base = -2.0 if p > 0.0 else 2.0
    return x * abs(base**p)


FUNCTIONS = [
    power, power_in_place, by_function, hidden, unused_derivative, in_condition, constant_base,
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("of", [grad, value_and_grad])
def test_complex_power_is_an_error(f, of):
    with pytest.raises(TypeError, match=r"the power -\S+ \*\* 0.5 of a negative number is complex"):
        of(f)(-2.0, 0.5)
    with pytest.raises(TypeError, match="is complex"):
        vjp(f, -2.0, 0.5, argnums=0)


@pytest.mark.parametrize("f", [power, power_in_place, by_function])
@pytest.mark.parametrize(("x", "p", "expected"), [
    (2.0, 1.5, 1.5 * 2.0**0.5), (-2.0, 3.0, 12.0), (-2.0, -1.0, -0.25), (0.0, 2.5, 0.0),
    (-3.0, 2, -6.0), (-math.inf, 0.5, 0.0),
])
def test_real_power_keeps_its_derivative(f, x, p, expected):
    assert grad(f)(x, p) == pytest.approx(expected)


def test_loop_with_a_power_in_its_condition():
    h = 1e-6
    expected = (in_loop(2.0 + h, 0.7) - in_loop(2.0 - h, 0.7)) / (2 * h)
    assert grad(in_loop)(2.0, 0.7) == pytest.approx(expected)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_numpy_numbers_give_nan_as_in_numpy():
    assert math.isnan(grad(power)(np.float64(-2.0), 0.5))
    assert math.isnan(grad(lambda x: np.power(x, 0.5))(-2.0))
    assert np.isnan(grad(lambda x: np.sum(x**0.5))(np.array([-2.0]))).all()


@pytest.mark.parametrize("f", [
    lambda x: x**2.0, lambda x: x**-1.0, lambda x: x**3, lambda x: abs(x) ** 0.5,
    lambda x: (x * x) ** 1.5, lambda x: (x**2 + 1.0) ** 0.5, lambda x: max(x, 0.0) ** 0.5,
    lambda x: math.exp(x) ** 0.3, lambda x: 2.0**x,
])
def test_no_check_where_the_power_is_seen_to_be_real(f):
    assert "stays_real" not in source(f, 1.5)


@pytest.mark.parametrize("f", [
    lambda x: x**0.5, lambda x: (x - 1.0) ** 0.5, lambda x: (x * 2.0) ** x, lambda x: (-x) ** 1.5,
])
def test_check_where_the_power_may_be_complex(f):
    assert "stays_real" in source(f, 1.5)


def test_complex_power_of_a_literal_is_typed_complex():
    assert grad(lambda x: (x * (-4.0) ** 0.5).imag)(3.0) == pytest.approx(2.0)


def largest_of_three(x):
    return max(-1.0, math.sqrt(x), 0.0) ** 1.5


def first_of_two(x):
    return max(0.0, x) ** 1.5


def largest_of_two(x):
    return max(-1.0, np.sqrt(x)) ** 1.5


@pytest.mark.parametrize("x", [4.0, 0.25])
def test_powers_of_the_largest(x):
    assert grad(largest_of_three)(x) == pytest.approx(0.75 * x ** -0.25)
    assert grad(largest_of_two)(x) == pytest.approx(0.75 * x ** -0.25)
    assert grad(first_of_two)(x) == pytest.approx(1.5 * x**0.5)


def test_power_of_the_largest_of_a_negative_number_and_nan():
    """`max` keeps the first operand if the second is not a number: the power is complex."""
    assert isinstance(largest_of_two(math.nan), complex)
    with pytest.raises(TypeError, match="of a negative number is complex"):
        value_and_grad(largest_of_two)(math.nan)
    assert first_of_two(math.nan) == 0.0
    assert value_and_grad(first_of_two)(math.nan) == (0.0, 0.0)

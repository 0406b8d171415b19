"""Operators: arithmetic, comparisons, boolean operators and the ternary, with side effects."""

import math

import numpy as np
import pytest

from adcompiler import grad, value_and_grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


@programs(1.5, -0.7)
def arithmetic(x, y):
    return x + y * 2.0 - x / y + x**2 + 2.0**y + x**3.0


@programs(5.3, 1.7)
def floor_and_mod(x, y):
    return x % y + x // y + divmod(x, y)[1]


@programs(1.5)
def unary(x):
    return -x * +x + (-(-x)) * abs(-x)


@programs(1.5)
def power_zero_and_one(x):
    return x**0 + x**1 + x**-1 + x**0.5 + (-x) ** 2


@programs(1.5)
def negative_base_constant(x):
    return -2.0**x + (-2.0) ** 2 * x


@programs(1.5, 3)
def integer_arithmetic(x, n):
    k = n // 2 + n % 2 - (n << 1) + (n >> 1) + (n & 1) + (n | 4) + (n ^ 1) + ~n
    return x * k


@programs(0.5)
def chained_comparison(x):
    if 0.0 < x < 1.0:
        return x * x
    return x


@programs(1.5)
def chained_comparison_false(x):
    if 0.0 < x < 1.0 <= 2.0:
        return x * x
    return x * 3.0


@programs(0.5)
def not_and_or(x):
    if not x > 1.0 and (x > 0.4 or x < -5.0):
        return x * x
    return x


@programs(0.5)
def or_gives_operand(x):
    y = 0.0 or x * x
    z = x and 2.0 * x
    return y * z


@programs(0.5)
def and_gives_operand(x):
    y = (x > 1.0 and x * 7.0) or x * x
    return y + 0.0


@programs(0.5)
def ternary(x):
    return x * x if x > 0 else -x


@programs(-0.5)
def nested_ternary(x):
    return x if x > 1.0 else x * x if x > 0.0 else x * x * x


@programs(0.5)
def ternary_in_call(x):
    return math.sin(x if x < 1.0 else 1.0) * (2.0 if x else 1.0)


@programs(0.5)
def comparison_as_number(x):
    return x * (x > 0.0) + (x < 0.0)


@programs(V)
def array_comparisons(x):
    mask = (x > 0.0) & ~(x > 1.0) | (x < -1.0)
    return np.sum(x * x * mask)


@programs(V)
def where_on_comparison(x):
    return np.sum(np.where((x > 0.0) ^ (x > 1.0), x * x, 3.0 * x))


@programs(V, V[::-1].copy())
def array_arithmetic(x, y):
    return np.sum(x * y + x / (y + 5.0) - y**2 - 2.0**x + x // 10.0)


@programs(V, 2.0)
def scalar_and_array(x, s):
    return np.sum(s * x) + s**2 * x[0] + np.sum(s - x) + np.sum(x / s) + np.sum(1.0 / (s + x + 9))


@programs(np.ones((2, 3)) * 0.3, V)
def matmul(m, v):
    return m @ v @ np.array([1.0, 2.0])


@programs(0.5)
def is_and_in(x):
    key, missing = "a", None
    if missing is None and key in ("a", "b") and key is not None and key not in ["c"]:
        return x * x
    return x


@programs(0.5)
def complex_intermediate(x):
    z = x + 2.0j * x
    w = z * z.conjugate() + 1j * z
    return w.real + abs(w)


@programs(V)
def complex_array_intermediate(x):
    z = np.exp(1j * x)
    return np.sum(np.abs(z + 2.0 * x) ** 2) + np.sum((z * x).imag)


@programs(0.5)
def string_comparison(x):
    mode = "square"
    return x * x if mode == "square" else x


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def seen(name, value):
    print(name)
    return value


def short_circuit(x):
    if seen("a", x > 0.0) and seen("b", x > 1.0) and seen("c", True):
        return x
    if seen("d", x > 0.0) or seen("e", True):
        return x * x
    return x


def chained(x):
    if seen("low", 0.0) < seen("middle", x) < seen("high", 1.0) < seen("top", 5.0):
        return x * x
    return x


def once(x):
    low, high = 0.0, 1.0
    return x * x if low < seen("x", x) < high else x


def one_arm(x):
    return seen("then", x) if x > 0.0 else seen("else", x)


@pytest.mark.parametrize("function, x", [
    (short_circuit, 0.5), (short_circuit, -0.5), (short_circuit, 1.5), (chained, 0.5),
    (chained, -0.5), (chained, 1.5), (once, 0.5), (one_arm, 0.5), (one_arm, -0.5),
])
def test_operands_are_evaluated_as_by_python(function, x, capsys):
    wanted = function(x)
    calls = capsys.readouterr().out
    value, _ = value_and_grad(function)(x)
    assert (value, capsys.readouterr().out) == (wanted, calls)
    grad(function)(x)
    assert capsys.readouterr().out == calls

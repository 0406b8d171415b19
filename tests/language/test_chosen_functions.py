"""Functions that are one of several: chosen by a branch, by a key or by an index."""

import math
import operator

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.language.check import Cases

programs = Cases()
V = np.array([1.3, 0.2])
TABLE = [np.sin, np.cos, lambda t: t * t]
PAIRS = [("add", operator.add), ("mul", operator.mul)]
BY_NAME = {"sin": np.sin, "square": lambda t: t * t}


def doubled_in_place(y):
    y *= 2.0
    return y


def tripled(y):
    return y * 3.0


def applied_twice(f, x):
    return f(f(x)) * 2.0


def power(x, n):
    return x if n == 0 else power(x * x, n - 1)


class Layer:
    def __init__(self, gain):
        self.gain = gain
        self.activation = np.tanh if gain > 0.5 else np.sin

    def forward(self, x):
        return self.activation(x) * self.gain


@programs(1.3, True)
@programs(1.3, False)
def by_a_flag(x, flag):
    f = np.sin if flag else np.cos
    return f(x) * x


@programs(V)
@programs(V / 2.0)
@programs(V / 4.0)
def by_a_chain(x):
    if x[0] > 1.0:
        f = lambda t: t * t * x[1]  # noqa: E731
    elif x[0] > 0.5:
        f = np.exp
    else:
        f = np.cos
    return np.sum(f(x) * x) + sum(map(f, x)) + np.sum(np.array([f(v) for v in x]))


@programs(V)
@programs(V / 2.0)
def by_a_key_found_when_running(x):
    kind = "square" if x[0] > 1.0 else "sin"
    return np.sum({"square": lambda v: v * v, "sin": np.sin}[kind](x)) + np.sum(BY_NAME[kind](x))


@programs(V)
@programs(V / 2.0)
def carried_by_a_loop(x):
    f = np.sin
    for _ in range(3):
        x = f(x)
        f = np.cos if x[0] > 0.5 else np.exp
    return np.sum(x)


@programs(V, 2)
def by_index(x, n):
    functions = [np.sin, np.cos, lambda t: t * x]
    total = 0.0
    for i in range(n + 1):
        total = total + functions[i - 1](x) * TABLE[-i](x)
    return np.sum(total)


@programs(0.7)
def loops_over_lists_of_a_module(x):
    total = x
    for f in TABLE:
        total = total + f(x)
    for _, f in PAIRS:
        total = f(total, x)
    for i, f in enumerate(TABLE):
        total = total + i * f(x)
    return total


@programs(V)
@programs(-V)
def one_of_them_writes(x):
    y = x * x
    f = doubled_in_place if x[0] > 0.0 else tripled
    z = f(y)
    z = z + y
    return np.sum(z * y)


@programs(V)
@programs(-V)
def one_of_them_gives_its_argument(x):
    y = x * x
    f = (lambda a: a) if x[0] > 0.0 else tripled
    z = f(y)
    z[0] = 5.0
    return np.sum(z * y)


@programs(V)
@programs(-V)
def handed_on(x):
    f = np.sin if x[0] > 0.0 else np.cos
    return np.sum(applied_twice(f, x))


@programs(V)
@programs(V / 4.0)
def kept_in_an_attribute(x):
    return np.sum(Layer(x[0]).forward(x))


@programs(1.3, 0.2)
@programs(0.3, 1.2)
def one_of_those_chosen(x, y):
    f = math.sin if x > 1.0 else math.cos
    g = f if y > 1.0 else math.exp
    return f(x) * g(y)


@programs(V)
@programs(-V)
def a_recursive_one(x):
    f = power if x[0] > 0.0 else (lambda x, n: x * n)
    return np.sum(f(x, 2))


@programs(V, np.array([0, 2]))
def by_an_index_of_numpy(x, order):
    total = x
    for i in order:
        total = TABLE[i](total)
    return np.sum(total)


@programs(np.zeros(0), False)
def of_nothing(x, flag):
    f = np.sin if flag else np.cos
    return np.sum(f(x)) + np.sum(x * 2.0)


@pytest.mark.parametrize("case", programs, ids=str)
def test_derivative(case):
    programs.check(case)


def test_an_entry_that_is_not_there_raises_as_in_python():
    gradient = grad(lambda x, i: TABLE[i](x))
    assert gradient(0.3, -1) == 0.6
    with pytest.raises(IndexError, match="list index out of range"):
        gradient(0.3, 3)

    def looked_up(x, scale):
        return BY_NAME["sin" if x * scale > 0.0 else "none"](x)

    assert grad(looked_up)(0.3, 1.0) == np.cos(0.3)
    with pytest.raises(KeyError):
        grad(looked_up)(0.3, -1.0)


def test_what_a_list_holds_may_change_between_calls():
    functions = globals()["CHANGING"] = [np.sin, np.cos]

    def total(x):
        found = 0.0
        for f in CHANGING:  # noqa: F821
            found += f(x)
        return found

    gradient = grad(total)
    assert gradient(0.3) == np.cos(0.3) - np.sin(0.3)
    functions.append(np.exp)
    np.testing.assert_allclose(gradient(0.3), np.cos(0.3) - np.sin(0.3) + np.exp(0.3))
    functions[:2] = [np.exp]
    np.testing.assert_allclose(gradient(0.3), 2.0 * np.exp(0.3))


def test_one_that_is_made_of_what_only_its_arm_has_is_refused():
    def local_array(x):
        f = np.sin
        if x[0] > 0.0:
            factor = x * x
            f = lambda t: t * factor  # noqa: E731
        return np.sum(f(x))

    with pytest.raises(UnsupportedError, match="which function is called here depends on data"):
        grad(local_array)(V)

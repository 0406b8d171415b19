"""``if``/``elif``/``else``, early returns, variables bound in some branches only."""

import math

import numpy as np
import pytest

from adcompiler import grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


@programs(-2.0)
@programs(0.5)
@programs(3.0)
def if_elif_else(x):
    if x > 2.0:
        y = x**3
    elif x > 0.0:
        y = math.sin(x)
    else:
        y = -x * x
    return y * x


@programs(0.5)
@programs(-0.5)
def no_else(x):
    y = x
    if x > 0.0:
        y = y * x
        y += 1.0
    return y * y


@programs(0.5)
@programs(1.5)
@programs(2.5)
def early_returns(x):
    if x < 1.0:
        return x * x
    y = x * 2.0
    if x < 2.0:
        return y * y
    return y + math.log(x)


@programs(0.5)
@programs(-0.5)
def return_in_both(x):
    if x > 0.0:
        return x
    else:
        return x * x


@programs(0.5, 1.5)
@programs(-0.5, 1.5)
@programs(-0.5, -1.5)
def nested(x, y):
    if x > 0.0:
        if y > 0.0:
            z = x * y
        else:
            z = x
    else:
        z = y
        if y > 0.0:
            return z * 3.0
        z = z * x
    return z * z


@programs(0.5)
@programs(-0.5)
def bound_in_one_branch(x):
    if x > 0.0:
        y = x * x
    if x > 0.0:
        return y * x
    return x


@programs(0.5)
@programs(-0.5)
def different_kinds(x):
    y = 0
    if x > 0.0:
        y = x * x
    return y + x


@programs(0.5)
@programs(-0.5)
def scalar_or_constant(x):
    y = x if x > 0.0 else 1
    return y * y + x


@programs(V, 1)
@programs(V, 0)
def array_or_scalar(x, flag):
    y = x if flag else np.sum(x)
    return np.sum(y * y)


@programs(V, 1)
@programs(V, 0)
def array_ranks(x, flag):
    y = np.outer(x, x) if flag else x
    return np.sum(y * y)


@programs(0.5, True)
@programs(0.5, False)
def none_or_value(x, flag):
    y = x * x if flag else None
    if y is None:
        return x
    return y * 3.0


@programs(0.5, True)
@programs(0.5, False)
def tuples_in_branches(x, flag):
    a, b = (x, x * x) if flag else (x * 2.0, 1.0)
    return a * b


@programs(0.5)
def constant_condition(x):
    if True:
        x = x * x
    if 0:
        x = undefined_name  # noqa: F821
    return x


@programs(0.5)
def type_condition(x):
    if isinstance(x, np.ndarray):
        return x.sum()
    if isinstance(x, float):
        return x * x
    return x


@programs(0.5)
@programs(V)
def ndim_condition(x):
    if np.ndim(x) == 0:
        return x * x
    return np.sum(x)


@programs(0.5)
def guard_clauses(x):
    if x is None:
        raise ValueError("x is needed")
    if not isinstance(x, (int, float)):
        raise TypeError("a number is needed")
    if x < -10.0:
        raise ValueError(f"{x} is too small")
    return x * x


@programs(0.5, "square")
@programs(0.5, "cube")
def on_strings(x, mode):
    if mode == "square":
        return x * x
    elif mode == "cube":
        return x**3
    raise ValueError(mode)


@programs(V)
def truth_of_array_reduction(x):
    if (x > 0.0).any() and not np.all(x > 0.0):
        return np.sum(x * x)
    return np.sum(x)


@programs(0.5)
def pass_branches(x):
    if x > 0.0:
        pass
    else:
        x = x * 2.0
    return x * x


@programs(0.5)
def unused_branch_value(x):
    if x > 0.0:
        unused = x * 3.0
    else:
        unused = None
    del_me = unused
    return x * x + (0.0 if del_me is None else 1.0)


@programs(0.25)
@programs(0.75)
def shared_tail(x):
    y = 1.0
    if x > 0.5:
        y = x
        if x > 0.6:
            y = y * x
            if x > 0.7:
                return y * 10.0
    return y + x


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def unbound(x):
    if x > 0.0:
        y = x * x
    return y


def test_an_unbound_variable_is_an_error_only_when_it_is_read():
    assert grad(unbound)(3.0) == 6.0
    with pytest.raises(UnboundLocalError):
        unbound(-1.0)
    with pytest.raises((UnboundLocalError, NameError)):
        grad(unbound)(-1.0)


def falls_off(x):
    if x > 0.0:
        return x * x


def test_falling_off_the_end_returns_none():
    assert grad(falls_off)(3.0) == 6.0
    with pytest.raises(TypeError):
        grad(falls_off)(-3.0)

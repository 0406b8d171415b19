"""Activity where types are not known: generic code, None or a value, recursion, closures of closures."""

import math

import numpy as np
import pytest

import adcompiler
from adcompiler import grad
from tests.language.check import Cases

programs = Cases()
V = np.array([0.5, -1.5, 2.0])


@programs(V)
def none_at_first(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best


@programs(V)
def none_then_array(x):
    h = None
    for v in x:
        h = x * v if h is None else h * v + x
    return np.sum(h)


@programs(1.5)
def list_of_mixed_kinds(x):
    parts = [x, 1, np.array([x, 2.0]), (x, x * x)]
    return parts[0] * np.sum(parts[2]) + parts[3][1] * parts[1]


@programs(1.5, 1)
@programs(1.5, 0)
@programs(1.5, 2)
def data_chosen_by_index(x, i):
    parts = [x, x * x, 3.0]
    return parts[i] * x


@programs(V, 1)
@programs(V, 0)
def mixed_chosen_by_index(x, i):
    parts = (x, np.sum(x))
    return np.sum(parts[i] * parts[i])


@programs(1.5, "a")
@programs(1.5, "b")
def dict_of_mixed_kinds(x, key):
    table = {"a": x, "b": np.array([x, x * x])}
    return np.sum(table[key] * table[key])


@programs(1.5, True)
@programs(1.5, False)
def scalar_or_list(x, flag):
    y = [x, x * x] if flag else x
    if flag:
        return y[0] * y[1]
    return y * y


@programs(V, True)
@programs(V, False)
def array_or_none_in_tuple(x, flag):
    state = (x, None) if flag else (x * 2.0, x)
    if state[1] is None:
        return np.sum(state[0])
    return np.sum(state[0] * state[1])


@programs((0.5, (1.5, (2.5, None))))
def linked_list(chain):
    total = 1.0
    while chain is not None:
        head, chain = chain
        total = total * head + head
    return total


@programs(1.5)
def nests_a_list(x):
    nested = [x]
    for _ in range(2):
        nested = [nested[0] * x]
    return nested[0]


@programs(V)
def rank_changes(x):
    y = x
    for _ in range(2):
        y = np.sum(y * x)
    return y


@programs(0.5)
def kind_changes(x):
    y = 1
    for _ in range(3):
        y = y * x + 1
    return y


@programs(0.5)
def inactive_then_active(x):
    y = 2.0
    z = 0.0
    for i in range(3):
        z = z + y
        if i == 1:
            y = x * x
    return z


@programs(0.5)
def active_then_inactive(x):
    y = x * x
    z = y
    y = 3.0
    return y * z


@programs(V)
def through_object_array(x):
    rows = [x * k for k in range(3)]
    return sum([np.sum(r * r) for r in rows])


@programs(0.5)
def conditionally_active(x):
    y = 1.0
    if x > 0.0:
        y = x
    elif x > -1.0:
        y = 2.0
    return y * y


@programs(0.5)
def useless_work(x):
    waste = [math.sin(x * k) for k in range(3)]
    for w in waste:
        x = x + 0.0 * w if w > 100.0 else x
    return x * x


@pytest.mark.parametrize("case", programs, ids=str)
def test_gradient(case):
    programs.check(case)


def grows_a_tuple(x):
    state = ()
    for i in range(3):
        state = (*state, x**i)
    return sum(state)


def test_a_tuple_whose_length_changes_is_right_or_refused():
    try:
        assert grad(grows_a_tuple)(1.5) == 4.0
    except adcompiler.ADError:
        pass


def generic(x, n):
    total = 0.0
    for i in range(n):
        total = total + np.sum(x * x) * i
    return total


def test_code_for_unknown_types_is_right():
    text = adcompiler.source(generic)
    namespace = {}
    exec(compile(text, "<generic>", "exec"), namespace)
    made = next(v for k, v in namespace.items() if k.startswith("generic"))
    assert np.allclose(made(V, 3), grad(generic)(V, 3))
    assert np.allclose(made(1.5, 3), grad(generic)(1.5, 3))

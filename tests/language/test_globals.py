"""Globals and closure cells are live: values, types and functions that change between calls."""

import math

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp

SCALE = 2.0
TABLE = {"k": 3.0}
ITEMS = [1.0, 2.0]
FLAG = True


def helper(x):
    return x * x


def uses_globals(x):
    return SCALE * helper(x)


def uses_table(x):
    return TABLE["k"] * x * ITEMS[1]


def uses_flag(x):
    if FLAG:
        return x * x
    return x * 3.0


def reads_twice(x):
    return outer_reader(x) + SCALE * x


def outer_reader(x):
    return SCALE * x * x


def test_a_constant_may_change(monkeypatch):
    g = grad(uses_globals)
    assert g(3.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    assert g(3.0) == 30.0
    assert vjp(uses_globals, 3.0)[1](1.0) == (30.0,)


def test_a_constant_may_change_its_type(monkeypatch):
    g = grad(lambda x: np.sum(uses_globals(x)))
    assert g(3.0) == 12.0
    monkeypatch.setitem(globals(), "SCALE", np.array([1.0, 2.0]))
    assert g(3.0) == 18.0
    monkeypatch.setitem(globals(), "SCALE", 3)
    assert g(3.0) == 18.0
    monkeypatch.setitem(globals(), "SCALE", np.float64(2.0))
    assert g(3.0) == 12.0


def test_a_helper_may_be_rebound(monkeypatch):
    g = value_and_grad(uses_globals)
    assert g(3.0) == (18.0, 12.0)
    monkeypatch.setitem(globals(), "helper", lambda x: x**3)
    assert g(3.0) == (54.0, 54.0)
    monkeypatch.setitem(globals(), "helper", math.sin)
    assert g(0.0) == (0.0, 2.0)
    assert vjp(uses_globals, 0.0)[1](1.0) == (2.0,)


def test_global_containers_may_be_changed_in_place():
    g = grad(uses_table)
    assert g(3.0) == 6.0
    TABLE["k"], ITEMS[1] = 5.0, 10.0
    try:
        assert g(3.0) == 50.0
    finally:
        TABLE["k"], ITEMS[1] = 3.0, 2.0


def test_a_global_flag(monkeypatch):
    g = grad(uses_flag)
    assert g(3.0) == 6.0
    monkeypatch.setitem(globals(), "FLAG", False)
    assert g(3.0) == 3.0


def test_a_global_read_by_helpers(monkeypatch):
    g = grad(reads_twice)
    assert g(3.0) == 14.0
    monkeypatch.setitem(globals(), "SCALE", 1.0)
    assert g(3.0) == 7.0


def make(k, f=None):
    def inner(x):
        return k * (x * x if f is None else f(x))

    def change(new, g=None):
        nonlocal k, f
        k, f = new, g

    return inner, change


def test_a_closure_cell_may_change():
    inner, change = make(2.0)
    g = grad(inner)
    assert g(3.0) == 12.0
    change(5.0)
    assert g(3.0) == 30.0
    change(np.float64(1.0))
    assert g(3.0) == 6.0
    change(4.0, math.exp)
    assert g(0.0) == 4.0
    change(4.0, lambda x: x)
    assert g(0.0) == 4.0
    assert vjp(inner, 0.0)[1](1.0) == (4.0,)


def test_closures_of_one_function_do_not_share_code():
    functions = [make(float(k))[0] for k in range(4)]
    assert [grad(f)(3.0) for f in functions] == [0.0, 6.0, 12.0, 18.0]
    powers = [make(1.0, f)[0] for f in (math.sin, math.exp, math.cosh)]
    assert [grad(f)(0.0) for f in powers] == [1.0, 1.0, 0.0]


def test_a_closure_called_by_another_function():
    f, change = make(2.0)

    def outer(x):
        return f(x) + x

    g = grad(outer)
    assert g(3.0) == 13.0
    change(3.0)
    assert g(3.0) == 19.0


def with_default(x, k=SCALE, items=(1.0, 2.0)):
    return k * x * items[1]


def test_defaults_are_those_of_the_function():
    g = grad(with_default)
    assert g(3.0) == 4.0
    assert g(3.0, 5.0) == 10.0
    with_default.__defaults__ = (7.0, (1.0, 2.0))
    try:
        assert grad(with_default)(3.0) == 14.0
    finally:
        with_default.__defaults__ = (2.0, (1.0, 2.0))


class Config:
    rate = 2.0


def uses_class_attribute(x):
    return Config.rate * x * x


def test_a_class_attribute_may_change(monkeypatch):
    g = grad(uses_class_attribute)
    assert g(3.0) == 12.0
    monkeypatch.setattr(Config, "rate", 3.0)
    assert g(3.0) == 18.0


class Holder:
    def __init__(self, k):
        self.k = k


holder = Holder(2.0)


def uses_object(x):
    return holder.k * x * x


def test_an_attribute_of_a_global_object_may_change():
    g = grad(uses_object)
    assert g(3.0) == 12.0
    holder.k = 3.0
    assert g(3.0) == 18.0
    holder.k = np.array([1.0])
    with pytest.raises(TypeError):
        grad(lambda x: np.append(uses_object(x), 1.0))(3.0)
    holder.k = 2.0


def uses_module_constant(x):
    return math.pi * x * np.e


def test_module_constants():
    assert grad(uses_module_constant)(1.0) == math.pi * np.e

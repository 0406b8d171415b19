"""Defaults are those that a function has when its derivative is called."""

from __future__ import annotations

from adcompiler import grad, value_and_grad, vjp


def test_defaults_of_the_function_itself():
    def f(x, k=2.0):
        return k * x * x

    derivative = grad(f)
    assert derivative(3.0) == 12.0
    f.__defaults__ = (5.0,)
    assert derivative(3.0) == 30.0
    assert "5" not in derivative.source_for(3.0)
    f.__defaults__ = (7,)
    assert derivative(3.0) == 42.0
    assert vjp(f, 3.0)[0] == 63.0


def test_defaults_by_keyword():
    def f(x, *, k=2.0):
        return k * x * x

    derivative = value_and_grad(f)
    assert derivative(3.0) == (18.0, 12.0)
    f.__kwdefaults__ = {"k": 5.0}
    assert derivative(3.0) == (45.0, 30.0)
    f.__kwdefaults__["k"] = 7.0
    assert derivative(3.0) == (63.0, 42.0)


def test_defaults_of_functions_that_are_called():
    def inner(x, k=2.0, *, m=1):
        return k * x**m

    def outer(x):
        return inner(x) * x

    derivative = grad(outer)
    assert derivative(3.0) == 12.0
    inner.__defaults__ = (10.0,)
    assert derivative(3.0) == 60.0
    inner.__kwdefaults__["m"] = 2
    assert derivative(3.0) == 270.0
    inner.__kwdefaults__ = {"m": 0}
    assert derivative(3.0) == 10.0


def test_a_default_that_is_written_into():
    def f(x, seen=[]):  # noqa: B006 (that is what is tested)
        seen.append(x)
        return x * len(seen)

    assert [f(1.0), f(1.0)] == [1.0, 2.0]
    derivative = value_and_grad(f)
    assert derivative(1.0) == (3.0, 3.0)  # what the next call of f gives
    assert derivative(1.0) == (3.0, 3.0)  # gradients leave arguments as they were
    assert vjp(f, 1.0)[0] == 3.0
    assert f.__defaults__ == ([1.0, 1.0, 1.0],)
    assert derivative(1.0) == (4.0, 4.0)

"""Calls of which it depends on data what they call: what is refused, advised, and compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from adcompiler import UnsupportedError, grad, jvp, vjp
from adcompiler.errors import Finding


def refused(function: Callable[..., Any], *args: Any) -> tuple[Finding, ...]:
    with pytest.raises(UnsupportedError) as caught:
        grad(function)(*args)
    return caught.value.findings


def named(x: float, names: list[str]) -> Any:
    for name in names:
        x = getattr(np, name)(x)
    return x


def composed(x: float, functions: list[Any]) -> Any:
    for function in functions:
        x = function(x)
    return x


def made_in_a_loop(x: Any) -> Any:
    def times(factor: Any) -> Any:
        return lambda value: value * factor

    functions = [times(factor) for factor in x]
    total = 0.0
    for function in functions:
        total += function(2.0)
    return total


def made_where_called(x: Any) -> Any:
    def times(factor: Any) -> Any:
        return lambda value: value * factor

    total = 0.0
    for factor in list(x):
        total += times(factor)(2.0)
    return total


def appended(x: Any) -> Any:
    pullbacks = []
    for value in x:
        pullbacks.append(vjp(np.sin, value)[1])
    total = 0.0
    for pullback in pullbacks:
        total += pullback(2.0)[0]
    return total


def pulled_back_where_called(x: Any) -> Any:
    total = 0.0
    for value in x:
        total += vjp(np.sin, value)[1](2.0)[0]
    return total


def test_functions_that_a_loop_makes() -> None:
    hint = "put what they are made of into the list, and make each one where it is called"
    x = np.array([0.3, 0.5, 0.7])
    for function, line in (
        (made_in_a_loop, "functions = [times(factor) for factor in x]"),
        (appended, "for value in x:"),
    ):
        (finding,) = refused(function, x)
        assert finding.cause is not None and finding.hint == hint
        assert finding.cause.problem == (
            "the functions in a list are made here, one by one in a loop")
        assert finding.cause.text.strip() == line
    assert_allclose(grad(made_where_called)(x), np.full(3, 2.0))
    assert_allclose(grad(pulled_back_where_called)(x), -2.0 * np.sin(x))


def test_functions_that_are_looked_up_by_name() -> None:
    (finding,) = refused(named, 0.3, ["sin", "exp"])
    assert finding.hint.startswith("pass the function itself in place of its name; or use if and")
    expected = np.exp(np.sin(0.3)) * np.cos(0.3)
    assert_allclose(grad(composed)(0.3, [np.sin, np.exp]), expected)


def test_lists_of_functions_are_joined() -> None:
    def program(x: float) -> Any:
        functions = [np.sin, np.sin]
        others = [] + functions + [lambda value: value * x, np.exp] + []
        functions[0] = np.cos
        return composed(x, others) * composed(x, functions + functions)

    def plain(x: float) -> Any:
        first = np.exp(np.sin(np.sin(x)) * x)
        return first * np.sin(np.cos(np.sin(np.cos(x))))

    assert_allclose(grad(program)(0.3), grad(plain)(0.3), rtol=1e-14)
    assert_allclose(jvp(program, (0.3,), (1.0,))[1], grad(plain)(0.3), rtol=1e-14)

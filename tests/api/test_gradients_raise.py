"""A gradient alone raises what the function raises by its own doing, where nobody reads it too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler import grad


def dead_division(x: float) -> float:
    y = 1 / 0  # noqa: F841
    return x * x


def missing_key(x: float) -> float:
    table = {"a": 1.0}
    return x * x + table["b"]


def short_list(x: float, items: list[float]) -> float:
    total = 0.0
    for i in range(3):
        total += x * x + items[i]
    return total


def conversion(x: float) -> float:
    n = int("q")  # noqa: F841
    return x * x


def logs(x: Any) -> float:
    total = 0.0
    for v in x:
        total += math.log(v)
    return total


def helper(x: float) -> float:
    return math.log(x)


def calls_helper(x: float) -> float:
    return helper(x) + helper(x) * 2.0


def asserted(x: float) -> float:
    assert x > 0.0
    return 2.0 * x


def logs_of_range(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += math.log(x - i)
    return total


RAISING: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (lambda x: math.log(x), (-1.0,)), (lambda x: math.log(x), (0.0,)),
    (lambda x: math.log1p(x) + x, (-2.0,)), (lambda x: math.acos(x), (2.0,)),
    (lambda x: math.sqrt(x), (-2.0,)), (lambda x: math.pow(x, 0.5), (-1.0,)),
    (lambda x: math.lgamma(x), (-1.0,)), (lambda x: math.fmod(x, 0.0) + x, (1.0,)),
    (lambda x, y: x / y, (1.0, 0.0)), (lambda x: x % 0.0 + x, (1.0,)), (lambda x: x**-1, (0.0,)),
    (lambda x: (1 / 0, x)[1], (1.0,)), (lambda x: float("q") + x, (1.0,)),
    (lambda x: round(x) + x, (math.inf,)), (lambda x: math.floor(x) + x, (math.nan,)),
    (lambda x: max([]) + x, (1.0,)), (lambda x: [1.0, 2.0].index(3.0) + x, (1.0,)),
    (dead_division, (1.0,)), (missing_key, (1.0,)), (short_list, (1.0, [1.0, 2.0])),
    (conversion, (1.0,)), (logs, ([1.0, -2.0],)), (calls_helper, (-1.0,)), (asserted, (-1.0,)),
    (logs_of_range, (1.5, 3)),
)


def raised(call: Callable[..., Any], args: tuple[Any, ...]) -> type | None:
    try:
        call(*args)
    except Exception as error:
        return type(error)
    return None


def test_gradients_raise_what_their_functions_raise() -> None:
    for function, args in RAISING:
        wanted = raised(function, args)
        assert wanted is not None
        assert raised(grad(function), args) is wanted, (function.__code__.co_firstlineno, wanted)


def test_native_gradients_do_too() -> None:
    derivative = grad(logs_of_range, backend="native")
    assert derivative(10.0, 3) == 1 / 10 + 1 / 9 + 1 / 8
    for x in (1.0, 0.5):
        assert raised(derivative, (x, 3)) is ValueError


def test_what_is_read_anyway_is_computed_once() -> None:
    def mixed(x: float) -> float:
        y = math.log(x)
        return y * y + math.exp(x) + x / 2.0

    lines = [line.strip() for line in grad(mixed).source_for(1.5).splitlines()]
    code = [line for line in lines if not line.startswith("#")]
    assert "y = math.log(x)" in code
    assert sum("math.log(" in line for line in code) == 1
    assert not any(line.startswith("math.") for line in code)


def test_arithmetic_of_arrays_may_be_left_out() -> None:
    with np.errstate(divide="raise"):
        found = grad(lambda x: np.sum(np.log(x)))(np.array([0.5, 2.0]))
    assert np.array_equal(found, [2.0, 0.5])

"""``break`` and ``continue`` in the ``else`` of a loop belong to the loop around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import vjp

FUNCTIONS: list[Callable[..., Any]] = []


@FUNCTIONS.append
def break_where_the_inner_loop_may_return(x, limit):
    for _ in range(3):
        for _ in range(2):
            if x > limit:
                return x * x
        else:
            break
        x = x + 2.0
    return x * 3.0


@FUNCTIONS.append
def break_where_the_inner_loop_may_break(x, limit):
    for _ in range(3):
        for k in range(2):
            if x > limit + k:
                break
        else:
            break
        x = x * x
    return x * 3.0


@FUNCTIONS.append
def continue_or_go_on(x, limit):
    total = 0.0
    for i in range(4):
        k = 0
        while k < 2:
            k += 1
            if x > limit:
                return total + x
            if x * i > limit:
                break
        else:
            if i == 1:
                continue
            x = x * 3.0
        total = total + x
    return total


@FUNCTIONS.append
def nested_twice(x, limit):
    for i in range(3):
        for _ in range(2):
            while x < limit:
                x = x * 1.5
                if x > 2.0:
                    return x * i
            else:
                break
            x = x + 1.0
        else:
            break
        x = x * x
    return x + 0.5


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("x", [0.4, 0.9, 1.3, 2.6])
@pytest.mark.parametrize("limit", [0.5, 1.1, 50.0])
def test_the_else_of_a_loop(function: Callable[..., Any], x: float, limit: float) -> None:
    value, pullback = vjp(function, x, limit, argnums=0)
    assert value == function(x, limit)
    h = 1e-6
    slope = (function(x + h, limit) - function(x - h, limit)) / (2 * h)
    assert np.isclose(pullback(1.0), slope, rtol=1e-8, atol=1e-8)

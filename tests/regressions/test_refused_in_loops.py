"""What is refused in a function that is compiled on its own stays refused when a loop calls it.

A loop is specialised again while the types of its carried values widen; functions that it calls
are compiled once.
"""

from __future__ import annotations

import math

import pytest

from adcompiler import UnsupportedError, grad


def guarded(y):
    try:
        y = y + 1.0
    except* ValueError:
        y = 0.0
    for _ in range(3):
        y = y + math.sin(y) + math.cos(y) + math.exp(-y) * y + y**2 + y**3
        y = y + math.sin(y) + math.cos(y) + math.exp(-y) * y + y**2 + y**3
        y = 0.01 * y + math.sin(y) + math.cos(y) + math.exp(-y) * y + y**2
    return y


def in_a_loop(x):
    y = x
    for _ in range(2):
        y = guarded(y)
    return y


def in_two_loops(x):
    total = 0
    for _ in range(2):
        for _ in range(2):
            total = total + guarded(x)
    return total


def result_unused(x):
    total = 0
    for _ in range(2):
        guarded(x)
        total = total + x
    return total


@pytest.mark.parametrize("function", [in_a_loop, in_two_loops, result_unused])
def test_refused_once(function):
    with pytest.raises(UnsupportedError, match=r"except\* is not supported") as caught:
        grad(function)(1.0)
    assert len(caught.value.findings) == 1

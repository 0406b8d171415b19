"""Ranges that a loop keeps for its sweep: each with the ends, and the step, that it had then."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import value_and_grad, vjp
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")

X = np.linspace(0.1, 1.0, 8)


def butterflies(x):
    y, h = x.copy(), 1
    while h < len(y):
        for i in range(0, len(y), 2 * h):
            for j in range(i, i + h):
                y[j], y[j + h] = y[j] + y[j + h], y[j] - y[j + h]
        h = 2 * h
    return y[1] * y[2] + y[0]


def coarser(x, steps):
    y = x.copy()
    for step in steps:
        for i in range(step, len(y), step):
            y[i] += y[i - step] * 0.5
    return np.sum(y * y)


def starts_and_steps(x, n):
    y = x.copy()
    for k in range(1, n):
        for i in range(len(y) - 1, k, -1):
            for j in range(k, i, k + 1):
                y[j] = y[i] - y[j]
    return np.sum(y * y)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (butterflies, (X,)), (coarser, (X, np.array([1, 4, 2]))), (coarser, (X, np.array([3, 0]))),
    (coarser, (X, np.array([1, -1]))), (starts_and_steps, (X, 4)),
]


@pytest.mark.parametrize(("program", "args"), CASES)
def test_gradients_are_the_same(program: Any, args: Any) -> None:
    expected = outcome(value_and_grad(program), *args)
    assert same(outcome(value_and_grad(program, backend="native"), *args), expected)


def test_a_pullback_goes_back_by_the_steps() -> None:
    _, pullback = vjp(butterflies, X, backend="native")
    assert same(pullback(1.0), vjp(butterflies, X)[1](1.0))

"""Ranges and slices that a loop keeps for its sweep: with the ends, and the step, of then."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import jvp, value_and_grad, vjp
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


def blocks(x, size):
    y = x.copy()
    for first in range(0, len(y), size):
        last = min(first + size, len(y))
        y[first:last] *= y[first:last] * x[first]
        y[last - 1 : first : -size] += x[first]
    return np.sum(y * y)


def shrinking(x):
    y, stride = x.copy(), 1
    while stride < len(y):
        y[stride::stride] *= y[:-stride:stride]
        stride = 2 * stride
    return np.sum(y)


def there_and_back(x, n):
    y = x.copy()
    for k in range(n):
        for i in range(len(y) - 1 - k, 0, -1):
            y[i - 1] -= 0.5 * y[i]
        for i in reversed(range(k, len(y))):
            y[i] *= y[i]
    return np.sum(y)


CASES: list[tuple[Any, tuple[Any, ...]]] = [
    (butterflies, (X,)), (coarser, (X, np.array([1, 4, 2]))), (coarser, (X, np.array([3, 0]))),
    (coarser, (X, np.array([1, -1]))), (starts_and_steps, (X, 4)),
    (blocks, (X, 3)), (blocks, (X, 8)), (blocks, (X, 0)), (blocks, (X, -1)), (shrinking, (X,)),
    (shrinking, (X[:2],)), (there_and_back, (X, 2)), (there_and_back, (X, 0)),
]


@pytest.mark.parametrize(("program", "args"), CASES)
def test_gradients_are_the_same(program: Any, args: Any) -> None:
    expected = outcome(value_and_grad(program), *args)
    assert same(outcome(value_and_grad(program, backend="native"), *args), expected)


def test_a_pullback_goes_back_by_the_steps() -> None:
    _, pullback = vjp(butterflies, X, backend="native")
    assert same(pullback(1.0), vjp(butterflies, X)[1](1.0))


@pytest.mark.parametrize(("program", "args"), [(blocks, (X, 3)), (shrinking, (X,))])
def test_pullbacks_of_what_keeps_slices(program: Any, args: Any) -> None:
    _, pullback = vjp(program, *args, argnums=0, backend="native")
    assert same(pullback(1.0), vjp(program, *args, argnums=0)[1](1.0))


def orthogonal(A):
    Q, total = np.zeros(A.shape), 0.0
    for j in range(A.shape[1]):
        v = A[:, j].copy()
        for k in range(j):
            v -= (Q[:, k] * A[:, j]).sum() * Q[:, k]
        Q[:, j] = v / math.sqrt((v * v).sum())
        total += Q[0, j] * j
    return Q


def test_pullbacks_of_loops_in_loops() -> None:
    A = np.cos(np.arange(16.0)).reshape(4, 4) + 2.0 * np.eye(4)
    _, pullback = vjp(orthogonal, A, backend="native")
    _, expected = vjp(orthogonal, A)
    for seed in (A, A.T.copy(), A):
        assert same(pullback(seed), expected(seed))


def products_kept(x, n):
    total = 0.0
    for i in range(n):
        rows = []
        for j in range(3):
            rows.append(x * (i + j))
        for row in rows:
            total += np.sum(row * row) * x[i]
    return total


def test_pushforwards_of_lists_of_arrays_in_loops() -> None:
    got = jvp(products_kept, (X, 3), (X, None), backend="native")
    assert same(got, jvp(products_kept, (X, 3), (X, None)))

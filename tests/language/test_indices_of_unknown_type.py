"""Subscripts whose kind is known at run time only: views and copies, in every mode."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, hvp, jacfwd, jacobian, jvp, value_and_grad, vjp
from tests.lanes import one_in

KINDS: dict[str, Any] = {
    "ints": [0, -1, 2],
    "slices": [slice(None, -1), slice(1, None)],
    "steps": [slice(None, None, 2), slice(None, None, -1)],
    "lists": [[0, 2], [1, 1]],
    "arrays": [np.array([0, 2, 0]), np.array([], int)],
    "masks": [np.array([True, False, True, False]), np.array([False] * 4)],
    "mixed": [0, slice(1, 3), [0, 0, 3], np.array([True, True, False, False]), ...],
    "tuples": [(slice(None, -1),), (0,), ([1, 1, 2],), (..., slice(2, None))],
    "numpy": [np.int64(1), np.intp(-2)],
}


def sets(x, indices):
    y = np.zeros(4)
    for i, _ in zip(*indices):
        y[i] = x[i] * x[i]
    return y


def adds(x, indices):
    y = 2.0 * x
    for i, _ in zip(*indices):
        y[i] += x[i] * y[i]
    return y


def scales(x, indices):
    y = x * x
    for i, _ in zip(*indices):
        y[i] *= x[i] + 1.0
    return y


def moves(x, indices):
    y = x * x
    for i, j in zip(*indices):
        y[i] = np.sin(y[i])
        y[j] = 3.0 * y[j]
    return y


def zeroes(x, indices):
    y = x * x
    z = np.zeros(4)
    for i, j in zip(*indices):
        z[j] = y[j]
        y[i] = 0.0
        z += y
    return y * z


def keeps(x, indices):
    y = x * x
    total = 0.0
    for i, j in zip(*indices):
        part = np.array(y[i])
        total = total + np.sum(part * part)
        y[j] = 0.5 * y[j] * x[j]
    return total * y


PROGRAMS: list[Callable[..., Any]] = [sets, adds, scales, moves, zeroes, keeps]
X = np.array([0.3, -0.7, 1.1, 0.4])


def differences(f: Callable[..., Any], indices: Any) -> np.ndarray:
    """Return the Jacobian of ``f`` at X by central differences."""
    return np.stack([
        (f(X + h, indices) - f(X - h, indices)) / 2e-6 for h in 1e-6 * np.eye(len(X))
    ], axis=-1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("program", one_in(2, PROGRAMS), ids=lambda f: f.__name__)
def test_every_mode(program: Callable[..., Any], kind: str) -> None:
    indices = (KINDS[kind], KINDS[kind][::-1])
    wanted = differences(program, indices)
    y, pullback = vjp(program, X, indices, argnums=0)
    np.testing.assert_array_equal(y, program(X, indices))
    rows = np.stack([np.asarray(pullback(row)).reshape(4) for row in np.eye(4)])
    np.testing.assert_allclose(rows, wanted, atol=1e-8)
    columns = np.stack([
        jvp(lambda x: program(x, indices), (X,), (column,))[1] for column in np.eye(4)
    ], axis=-1)
    np.testing.assert_allclose(columns, wanted, atol=1e-8)
    for operator in (jacobian, jacfwd):
        np.testing.assert_allclose(operator(program)(X, indices), wanted, atol=1e-8)


@pytest.mark.parametrize("program, kind", one_in(5, itertools.product(PROGRAMS, KINDS)))
def test_second_order(program: Callable[..., Any], kind: str) -> None:
    indices = (KINDS[kind], KINDS[kind][::-1])
    weights = np.array([1.0, -2.0, 0.5, 3.0])

    def f(x):
        return np.sum(weights * program(x, indices))

    value, gradient = value_and_grad(f)(X)
    assert value == f(X)
    wanted = weights @ differences(program, indices)
    np.testing.assert_allclose(gradient, wanted, atol=1e-7)
    direction = np.array([0.2, 1.0, -0.4, 0.6])
    g = grad(f)
    slope = (g(X + 1e-6 * direction) - g(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(hvp(f, X, direction), slope, atol=1e-6)

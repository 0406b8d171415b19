"""Native loops compute an array in the loop that reads it, but not from what was written since."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, value_and_grad

X = np.linspace(0.3, 1.2, 6)


def product_of_what_changes(x):
    y = np.sin(x)
    z = y * x
    y[1:] = 2.0
    return np.sum(y * z * x)


def two_steps(x):
    y = np.exp(x)
    z = y * x
    w = z + 1.0
    y *= 0.5
    z[0] = y[1]
    return np.sum(y * w + z)


def added_to(x):
    y = x * x
    z = np.cos(y)
    y += z
    y[::2] -= z[::2]
    return np.sum(y * z)


def turned(x):
    y = x * 2.0
    z = y + 1.0
    y[:] = z[::-1] * y
    return np.sum(y * z)


def in_loop(x):
    y = x * x
    total = 0.0
    for i in range(len(x)):
        z = y * x[i]
        y[i] = z[i - 1]
        total += np.sum(z)
    return total + np.sum(y)


def by_test(x):
    y = np.sin(x)
    z = y * x
    if x[0] > 0.1:
        y[0] = 3.0 * x[1]
    return np.sum(z * y)


@pytest.mark.parametrize("program", [
    product_of_what_changes, two_steps, added_to, turned, in_loop, by_test,
], ids=lambda program: program.__name__)
def test_reads_come_before_writes(program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")
    native = value_and_grad(program, backend="native")
    value, found = native(X)
    assert np.isclose(value, program(X), rtol=1e-13)
    assert np.isclose(compiled(program)(X), program(X), rtol=1e-13)
    assert np.allclose(found, grad(program)(X), rtol=1e-12)
    for i in range(len(X)):
        step = np.zeros(len(X))
        step[i] = 1e-6
        slope = (program(X + step) - program(X - step)) / 2e-6
        assert np.isclose(found[i], slope, rtol=1e-6, atol=1e-8)

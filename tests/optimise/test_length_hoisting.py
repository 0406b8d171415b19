"""Lengths that a loop does not change are read in front of it, and no iteration saves them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad
from tests.native.test_inner_loops import heat

X = np.array([0.5, 1.5, -0.5, 2.0, 0.25])


def relaxed(b, steps):
    x = np.zeros(len(b))
    for _ in range(steps):
        for i in range(1, len(b) - 1):
            x[i] = (b[i] + x[i - 1] * x[i - 1] + math.sin(x[i + 1])) / 4.0
    return x[1] + x[2]


def weighed(w, xs):
    total = 0.0
    for i in range(xs.shape[0]):
        s = 0.0
        for k in range(xs.shape[1]):
            s += w[k] * xs[i, k]
        total += math.tanh(s)
    return total


def shorter(x, steps):
    """The array has another length in each iteration."""
    total = 0.0
    for _ in range(steps):
        for i in range(1, len(x)):
            total += x[i] * x[i - 1] * len(x)
        x = x[1:] * x[:-1]
    return total


def collected(x, steps):
    """A list has another length in each iteration."""
    items = [x[0]]
    total = 0.0
    for k in range(steps):
        for i in range(len(items)):
            total += items[i] * items[i] * len(items)
        items.append(x[k] * items[-1])
    return total


def difference(program: Any, x: Any, rest: Any) -> Any:
    """Return a gradient by central differences."""
    found = np.zeros_like(x)
    for i in range(x.size):
        step = np.zeros_like(x)
        step[i] = 1e-6
        found[i] = (program(x + step, rest) - program(x - step, rest)) / 2e-6
    return found


PROGRAMS = [
    (heat, 3), (relaxed, 3), (weighed, np.linspace(0.1, 0.9, 15).reshape(3, 5)), (shorter, 3),
    (collected, 4), (heat, 0), (shorter, 0),
]


@pytest.mark.parametrize(("program", "rest"), PROGRAMS)
def test_gradients(program: Any, rest: Any) -> None:
    assert np.allclose(grad(program)(X, rest), difference(program, X, rest), atol=1e-6)


def statements(text: str) -> list[str]:
    """Return the lines of a text that are no comments."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


@pytest.mark.parametrize(("program", "rest"), PROGRAMS[:3])
def test_no_iteration_reads_a_length_or_saves_a_range(program: Any, rest: Any) -> None:
    lines = statements(grad(program).source_for(X, rest).partition("# reverse of")[0])
    loop = next(i for i, line in enumerate(lines) if line.startswith("    for "))
    assert not any("len(" in line or ".shape" in line for line in lines[loop + 1 :])
    assert not any("append(" in line and "range" in line for line in lines)


@pytest.mark.parametrize("program", [shorter, collected])
def test_lengths_that_change_are_read_where_they_are(program: Any) -> None:
    lines = statements(compiled(program, backend="python").source_for(X, 3))
    loop = next(i for i, line in enumerate(lines) if line.startswith("    for "))
    assert not any("len(" in line for line in lines[:loop])
    assert any("len(" in line for line in lines[loop:])


def test_a_length_in_a_loop_of_loops_is_read_once() -> None:
    def counted(x, steps):
        total = 0.0
        for _ in range(steps):
            for _ in range(steps):
                while total < len(x):
                    total += x[0] * len(x) + 1.0
        return total

    lines = statements(grad(counted).source_for(X, 2))
    assert sum("len(" in line for line in lines) <= 2
    assert next(line for line in lines if "len(" in line).startswith("    len")
    assert np.allclose(grad(counted)(X, 2), difference(counted, X, 2), atol=1e-6)

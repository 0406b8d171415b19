"""Elements that loops read again in the sweep: of storage put back, or that nobody writes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from benchmarks.programs.loops import cholesky
from tests.native.test_backends_agree import outcome, same
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")


def in_place(x):
    """The rows are read by inner loops, and overwritten by what these give, several times."""
    y = x.copy()
    total = 1.0
    for t in range(3):
        for i in range(len(y)):
            s = 0.0
            for k in range(len(y)):
                s += y[k] * y[k] / (1.0 + k + t)
            y[i] = math.sin(s) + 0.1 * y[i]
            total = total * s
    return total + np.sum(y * y)


def chained(x, step):
    """A new array in each iteration, which inner loops read as often as it has elements."""
    p = x * 1.0
    for _ in range(4):
        q = np.zeros(len(p))
        for j in range(len(p)):
            for i in range(len(p)):
                q[j] += p[i] * step[i, j] * p[i]
        p = q
    return np.sum(p)


def by_place(x, order):
    """The subscripts are integers out of another array that is overwritten."""
    y = x.copy()
    places = order.copy()
    total = 0.0
    for i in range(len(x)):
        s = 1.0
        for k in range(len(x)):
            s *= y[places[k]]
        places[i] = places[0]
        y[places[i]] = 0.5 * s
        total += s
    return total


def left_early(x):
    """Inner loops that end by a test, or in an arm, and a `while`."""
    y = x.copy()
    total = 0.0
    for i in range(len(x)):
        k = 0
        while k < len(x) and y[k] < 3.0:
            total += y[k] ** 2 * y[k - 1]
            k += 1
        for k in range(len(x)):
            if y[k] > 1.0:
                total *= 0.5 + y[k]
                break
        y[i] = math.cos(total)
    return total


ARGS: dict[Any, tuple[Any, ...]] = {
    cholesky: (np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]]),),
    in_place: (np.array([0.3, 1.2, -0.7, 0.4]),),
    chained: (np.array([0.3, 0.2, 0.5]), np.linspace(0.1, 0.9, 9).reshape(3, 3)),
    by_place: (np.array([0.9, 1.2, 0.7, 1.4]), np.array([2, 0, 3, 1])),
    left_early: (np.array([0.5, 1.5, -0.5, 2.0]),),
}


@pytest.mark.parametrize("program", ARGS, ids=lambda program: program.__name__)
def test_gradients_are_the_same(program: Any) -> None:
    expected = outcome(grad(program), *ARGS[program])
    assert same(outcome(grad(program, backend="native"), *ARGS[program]), expected)


@pytest.mark.parametrize("program", [cholesky, in_place, chained], ids=lambda f: f.__name__)
def test_nothing_is_kept_for_each_read(program: Any) -> None:
    text = loops_of(program, *ARGS[program])
    deepest = [line for line in text.splitlines() if line.startswith(" " * 16)]
    assert not [line for line in deepest if "tape" in line], "\n".join(deepest)


def rewritten(x):
    """The loop that reads an element writes it: what was read is kept."""
    y = x.copy()
    total = 0.0
    for i in range(1, len(y)):
        total += y[i] * y[i - 1]
        y[i] = total * y[i - 1]
    return total


def test_what_the_same_loop_overwrites_is_kept() -> None:
    x = np.array([0.5, 1.5, -0.5, 2.0])
    assert "tape" in loops_of(rewritten, x)
    assert same(grad(rewritten, backend="native")(x), grad(rewritten)(x))

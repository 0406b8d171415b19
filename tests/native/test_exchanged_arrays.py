"""Arrays that iterations exchange: what is in one of them is not in the other, if that is so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad
from tests.native.test_backends_agree import outcome, same
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")


def heat(u, steps):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u) + v[0]


def one_of_two(u, steps):
    """Both names stand for one array from the second iteration on."""
    u = u.copy()
    v = u * 0.5
    for _ in range(steps):
        v[1:] = u[:-1] * u[1:] + v[:-1]
        u = v
    return np.sum(u * v)


def from_outside(u, steps):
    """A name from outside of the loop stands for one of the two now, and for the other then."""
    u = u.copy()
    v = u * 0.5
    w = v
    for _ in range(steps):
        v[1:] = w[:-1] * u[:-1] + w[1:]
        u, v = v, u
    return np.sum(u * u) + np.sum(w)


def a_view_from_outside(u, steps):
    u = u.copy()
    v = u * 0.5
    part = u[1:]
    for _ in range(steps):
        v[:-1] = part * v[1:] + part
        u, v = v, u
    return np.sum(u * v)


def three(u, steps):
    a = u.copy()
    b = a * 2.0
    c = b - 1.0
    for i in range(steps):
        if i % 2 == 0:
            c[1:] = 0.5 * a[1:] * b[:-1]
        for _ in range(2):
            b[1:] = a[:-1] + 0.3 * c[1:] * b[:-1]
            a, b = b, a
        a, b, c = b, c, a
    return np.sum(a * b + c)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "program", [heat, one_of_two, three], ids=lambda program: program.__name__)
def test_gradients_are_the_same(program: Any, steps: int) -> None:
    u = np.array([0.5, 1.5, -0.5, 2.0, 0.25])
    expected = outcome(grad(program), u, steps)
    assert same(outcome(grad(program, backend="native"), u, steps), expected)


@pytest.mark.parametrize("program", [from_outside, a_view_from_outside])
def test_other_names_of_what_is_exchanged_are_refused(program: Any) -> None:
    with pytest.raises(UnsupportedError, match="aliases"):
        grad(program, backend="native")(np.ones(5), 2)


def test_a_step_is_computed_in_one_loop() -> None:
    forward = loops_of(heat, np.ones(5), 2).partition("# reverse of")[0]
    step = forward.partition("for value in range(steps)")[2]
    assert step.count("np.empty") <= 2
    assert "part[at_" in step

"""Checkpoints, external functions, forward rules and derivatives inside of recordings."""

from __future__ import annotations

import collections
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import (
    UnsupportedError, checkpoint, checkpoint_loop, external, frule, grad, hessian, jvp,
    non_differentiable, rrule, value_and_grad, vjp,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.record.checkpoints import Rerun
from adcompiler.record.running import Recorded
from tests.together import each

X = 0.7
rng = np.random.default_rng(0)


def four_sines(x):
    for _ in range(4):
        x = math.sin(x)
    return x


sines = checkpoint(four_sines)


def called(x):
    for _ in range(5):
        x = checkpoint(four_sines, x)
    return x


def decorated(x):
    for _ in range(5):
        x = sines(x)
    return x


def captured(x):
    w = x * 3.0
    return checkpoint(lambda y: y * w, x)


def captured_and_assigned_again(x):
    w, s = x, 0.0
    for _ in range(3):
        s = s + checkpoint(lambda y: y * w * w, x)  # noqa: B023 - called at once
        w = w * x
    return s


def nested(x):
    def inner(v, u):
        return np.sin(v) * u

    def outer(v):
        s = v
        for _ in range(3):
            s = s + checkpoint(inner, s, x)
        return s

    return checkpoint(outer, x * x) * x


def written_afterwards(x):
    a = np.arange(3.0) * x
    b = checkpoint(lambda v: (np.sin(v * x), v[1] * 2), a)
    a[0] = x * 5
    return np.sum(b[0]) * b[1] + a[0]


def views(x):
    a = np.arange(3.0) * x
    b = a[1:]
    c = checkpoint(lambda q: np.outer(b, b) * q, x)
    b[0] = 7.0
    return np.sum(c) + np.sum(b) + np.sum(checkpoint(lambda v: v[1:], a)) * x


def containers(x):
    d = checkpoint(lambda v: {"a": v * x, "b": [v, np.ones(2) * v]}, x * x)
    return d["a"] * np.sum(d["b"][1]) * d["b"][0]


def loop(x):
    w = x * 2.0
    state = checkpoint_loop(
        lambda u: u * 0.9 + np.sin(u) * 0.1 * w, np.ones(3) * x, 20, every=5)
    return np.sum(state**2)


def loop_of_slots(x):
    return checkpoint_loop(lambda u, i: u * x + i, x, 10, indexed=True, slots=3)


def loop_that_writes(x):
    def step(u):
        u[0] = u[0] * x + u[1]
        u[1] *= 0.9
        return u

    return np.sum(checkpoint_loop(step, np.array([x, 1.0]), 9, every=2))


exponential = external(lambda x: float(np.exp(x)), vjp=lambda g, x: g * np.exp(x))
exponentials = external(lambda x: np.exp(x), jac=lambda x: np.diag(np.exp(x)))


def outside(x):
    return exponential(x * 2.0) * np.sum(exponentials(np.array([x, 2.0 * x])))


def derivative_inside(x):
    return grad(four_sines)(x) * x


PROGRAMS: list[Callable[[Any], Any]] = [
    called, decorated, captured, captured_and_assigned_again, nested, written_afterwards, views,
    containers, loop, loop_of_slots, loop_that_writes, outside, derivative_inside,
]


@each("function", PROGRAMS, ids=lambda f: f.__name__)
def test_every_order_and_mode_agrees_with_differences(function: Callable[[Any], Any]) -> None:
    f, h = function, 1e-4
    first = (f(X - 2 * h) - 8 * f(X - h) + 8 * f(X + h) - f(X + 2 * h)) / (12 * h)
    second = (f(X + h) - 2 * f(X) + f(X - h)) / h**2
    value, slope = value_and_grad(f, backend="record")(X)
    _, pullback = vjp(f, X, backend="record")
    assert value == f(X)
    assert np.allclose(
        [slope, pullback(1.0)[0], pullback(2.0)[0] / 2.0,
         jvp(f, (X,), (1.0,), backend="record")[1]], first, rtol=1e-9, atol=1e-9)
    assert np.isclose(hessian(f, backend="record")(X), second, rtol=1e-5, atol=1e-5)


def draws(x):
    return checkpoint(lambda y: y * rng.normal(), x)


def writes(x):
    a = np.ones(3) * x

    def step(v):
        a[0] = v * v
        return v * 2.0

    return checkpoint(step, x) * np.sum(a)


def keeps(x):
    log = []

    def step(v):
        log.append(v * v)
        return v * 2.0

    return checkpoint(step, x) * log[0]


def hides(x):
    return checkpoint(lambda v: collections.deque([v * v]), x)[0] * x


def inside_at_once(x):
    return jvp(four_sines, (x,), (x,))[1]


@pytest.mark.parametrize(
    ("function", "why"), [
        (draws, "another result when it runs again"), (writes, "writes into what was there"),
        (keeps, "was kept"), (hides, "was kept"), (inside_at_once, "nothing is known")])
def test_what_is_not_the_same_when_it_runs_again_is_refused(function: Any, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        grad(function, backend="record")(X)


def test_a_checkpoint_keeps_what_it_was_given_alone() -> None:
    def plain(x):
        for _ in range(4):
            for _ in range(50):
                x = np.sin(x)
        return np.sum(x)

    def fifty(x):
        for _ in range(50):
            x = np.sin(x)
        return x

    def checkpointed(x):
        for _ in range(4):
            x = checkpoint(fifty, x)
        return np.sum(x)

    def looped(x):
        return np.sum(checkpoint_loop(np.sin, x, 200, every=50))

    def held(function: Any) -> tuple[int, int]:
        parameters = list(inspect.signature(function).parameters.values())
        run = Recorded(function, (np.ones(1000),), [(0, ())], parameters)
        return run.tape.bytes, sum(isinstance(entry, Rerun) for entry in run.tape.entries)

    assert held(plain)[0] >= 200 * 8000
    assert held(checkpointed)[0] <= 5 * 8000 and held(checkpointed)[1] == 4
    assert held(looped)[0] <= 10 * 8000 and held(looped)[1] == 4
    x = np.linspace(0.1, 1.0, 1000)
    for function in (checkpointed, looped):
        assert np.array_equal(grad(function, backend="record")(x), grad(plain)(x))


def square(x):
    return x * x


def step_down(x):
    return math.floor(x * 10.0) / 10.0


def test_rules_of_users_are_taken_in_both_modes() -> None:
    def ruled(x):
        return square(x) * 2.0

    def without(x):
        return step_down(x) * x

    rrule(square)(lambda x: (x * x, lambda g: 7.0 * g))
    frule(square)(lambda primals, tangents: (primals[0] ** 2, 5.0 * tangents[0]))
    non_differentiable(step_down)
    try:
        assert grad(ruled, backend="record")(X) == 14.0
        assert jvp(ruled, (X,), (1.0,), backend="record")[1] == 10.0
        assert grad(without, backend="record")(X) == step_down(X)
        assert jvp(without, (X,), (1.0,), backend="record")[1] == step_down(X)
    finally:
        REGISTRY.remove(square)
        REGISTRY.remove(step_down)


@checkpoint
def three():
    return 3.0


def test_checkpoints_without_arguments_and_of_functions_with_rules() -> None:
    factor = 2.0

    def scaled(x):
        return x * factor

    assert grad(lambda x: three() * x, backend="record")(X) == 3.0
    rrule(scaled)(lambda x: (x * factor, lambda g: 11.0 * g))
    try:
        assert grad(lambda x: checkpoint(scaled, x), backend="record")(X) == 11.0
    finally:
        REGISTRY.remove(scaled)

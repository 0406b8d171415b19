"""Arrays that iterations make and forget are made in front of loops; others are not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, Binary, Bind, Body, Expr, Extent, For, LoopFunction, Make, Name, Number, Output,
    Part, Store, When,
)
from adcompiler.backends.native.passes.reuse import with_arrays_reused
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")
N, ZERO = Name("n"), Number(0)


def loop_of(*rows: Any, outputs: tuple[Output, ...] = ()) -> LoopFunction:
    """Return a function with a loop of these statements."""
    body = Body([For("i", ZERO, N, Body([*rows]))])
    return LoopFunction("f", (), body, outputs, ())


def test_a_passing_array_is_made_where_its_shape_changes() -> None:
    inner = For("j", ZERO, N, Body([Make("a", (N, Name("i")), FLOAT)]))
    made = with_arrays_reused(loop_of(inner)).body
    test = Binary("or", Binary("!=", Extent("a", 0), N), Binary("!=", Extent("a", 1), Name("i")))
    assert made == Body([
        Make("a", (ZERO, ZERO), FLOAT),
        For("i", ZERO, N, Body([For("j", ZERO, N, Body([
            When(test, Body([Make("a", (N, Name("i")), FLOAT)]), Body())]))])),
    ])


def test_what_it_is_filled_with_is_stored_each_time() -> None:
    fill: Expr = Number(False)
    made = with_arrays_reused(loop_of(Make("a", (N,), BOOL, fill))).body
    _, loop = made.rows
    assert isinstance(loop, For)
    assert loop.body.rows[1] == For("a_at_i", ZERO, N, Body([Store("a", (Name("a_at_i"),), fill)]))


@pytest.mark.parametrize("function", [
    loop_of(Make("a", (N,), FLOAT), Bind("u", "a")),
    loop_of(Make("a", (N,), FLOAT), Part("b", "a", (None,)), Bind("u", "b")),
    loop_of(Make("a", (N,), FLOAT), outputs=(Output("a", FLOAT, 1),)),
    loop_of(Make("a", (N,), FLOAT), Make("a", (N,), FLOAT)),
    LoopFunction("f", (), Body([Make("a", (N,), FLOAT)]), (), ()),
])
def test_what_is_handed_on_is_made_each_time(function: LoopFunction) -> None:
    assert with_arrays_reused(function) == function


def growing(x, n):
    total, kept = 0.0, x
    for i in range(n):
        part = np.zeros(i)
        part += x[i]
        for j in range(i):
            square = np.ones((j, i)) * x[j]
            total += np.sum(square) + np.sum(part / (1.0 + part * x[j]))
        kept = kept + np.sum(part * part)
    return total + np.sum(kept)


def handed_on(x, n):
    y, z = x, np.zeros_like(x)
    for i in range(n):
        new = y / (1.0 + y * y)
        new[i] = new[i] * x[0]
        z, y = y, new
    return np.sum(y * z)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_derivatives_are_those_of_python(n: int) -> None:
    x = np.linspace(0.2, 0.9, 6)
    wanted = outcome(grad(growing), x, n)
    assert same(outcome(grad(growing, backend="native"), x, n), wanted)
    wanted = outcome(grad(handed_on), x, n)
    assert same(outcome(grad(handed_on, backend="native"), x, n), wanted)

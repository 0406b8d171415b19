"""What the text of a loop tells of its writes, and how often bodies are specialised on that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.compile.pipeline import Request, stages
from adcompiler.ir import types as t
from adcompiler.ir.visit import loops_in
from adcompiler.infer.loops import Loops
from adcompiler.infer.storage.written_by_text import written_by_text

ARRAY = t.Array("float64", 1)


def through_views(x: Any, n: int) -> Any:
    y, z = np.zeros(4), np.zeros((2, 2))
    kept: list[Any] = [x]
    for i in range(n):
        row = z[i % 2]
        row[0] = y[1] * x[0]
        kept.append(row[0])
    return np.sum(z) + kept[-1] * 1.0


def in_place(x: Any, n: int) -> Any:
    y, z = np.zeros(4), np.ones(4)
    for _ in range(n):
        y += x * z
    return np.sum(y)


def in_a_branch(x: Any, n: int) -> Any:
    y, z = np.zeros(4), np.zeros(4)
    for i in range(n):
        w = y if i % 2 else z
        w[i] = x[i]
    return np.sum(y) - np.sum(z)


def by_a_call(x: Any, n: int) -> Any:
    y = np.zeros(4)
    for i in range(n):
        put(y, i, x[i] ** 2)
    return np.sum(y)


def put(y: Any, i: int, value: Any) -> None:
    y[i] = value


def not_at_all(x: Any, n: int) -> Any:
    y = np.ones(4)
    z = y
    for i in range(n):
        z = z.copy()
        z[i] = x[i]
    return np.sum(z) + np.sum(y)


def names(function: Callable[..., Any]) -> set[str]:
    """Return the names of what the text of the only loop of a function writes."""
    for _, _, functions in stages(Request(function, (ARRAY, t.INT), (0,))):
        (loop,) = loops_in(functions[0].body)
        return {var.name for var in written_by_text(loop) if var.name in ("x", "y", "z")}
    raise AssertionError


@pytest.mark.parametrize(("function", "wanted", "most"), [
    (through_views, {"z"}, 3),
    (in_place, {"y"}, 1),
    (in_a_branch, {"y", "z"}, 6),
    (by_a_call, set(), 3),
    (not_at_all, {"z"}, 1),
])
def test_what_is_written(
    function: Callable[..., Any], wanted: set[str], most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names(function) == wanted
    counted, iterated = [], Loops.iterated

    def counting(self: Loops, *args: Any) -> Any:
        counted.append(self)
        return iterated(self, *args)

    monkeypatch.setattr(Loops, "iterated", counting)
    for name, unit, _ in stages(Request(function, (ARRAY, t.INT), (0,))):
        assert not unit.findings
        if name == "types":
            break
    assert len(counted) <= most


@pytest.mark.parametrize(
    "function", [through_views, in_place, in_a_branch, by_a_call, not_at_all])
@pytest.mark.parametrize("n", [0, 1, 4])
def test_gradients(function: Callable[..., Any], n: int) -> None:
    x, step = np.array([0.3, -1.2, 0.7, 2.0]), 1e-6
    wanted = [
        (function(x + step * e, n) - function(x - step * e, n)) / (2 * step) for e in np.eye(4)]
    if function is through_views and n == 0:
        return  # its value is an array then
    np.testing.assert_allclose(grad(function)(x, n), wanted, atol=1e-8)

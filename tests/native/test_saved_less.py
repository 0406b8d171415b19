"""Loops for machines save as few values as give the others by cheap operations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.optimise.recomputing import _Cut
from tests.native.test_backends_agree import outcome, same

pytestmark = pytest.mark.usefixtures("plain_loops")


def upwind(u, k, n):
    for _ in range(n):
        left, right = np.roll(u, 1), np.roll(u, -1)
        slope = np.where(u > 0.0, u - left, right - u)
        u = u - 0.1 * u * slope + k * (right - 2.0 * u + left)
    return np.sum(u * u)


def quotients(u, k, n):
    for _ in range(n):
        flux = u * u / (1.0 + u * u) + k[0] * u[::-1]
        u = u - 0.1 * flux * np.sqrt(flux * flux + 1.0)
    return np.sum(u)


def numbers(x, k, n):
    total = 0.0
    for i in range(n):
        y = x * k[0] + i
        z = y * y - x
        x = math.sin(z) * y
        total += z / y + x
    return total


def written(u, k, n):
    u = u.copy()
    for i in range(n):
        v = u * u + k[0]
        w = v * u
        u[i] = 0.5 * v[i]
        u = u + 0.01 * w * v
    return np.sum(u)


def inner_loops(u, k, n):
    for i in range(n):
        for _ in range(i + 1):
            v = u - np.roll(u, 1)
            u = u - k[1] * v * v * u
        u = u * np.maximum(u, 0.1) * k[0]
        if i == 3:
            break
    return np.sum(u)


X, K = np.linspace(-0.9, 1.1, 5), np.array([0.3, 0.2])
CASES = [(upwind, X, 0.1), (quotients, X, K), (numbers, 0.7, K), (written, X, K),
         (inner_loops, X, K)]


def saved(text: str) -> list[str]:
    """Return what each list in the Python text is appended."""
    python = text.partition("import math\n\nimport numpy")[0]
    return [line.partition("append(")[2] for line in python.splitlines() if "append(" in line]


def native(function: Any, *args: Any) -> str:
    """Return the module of a gradient by loops."""
    text: str = grad(function, (0, 1), backend="native").source_for(*args)
    return text


def test_a_state_stands_for_all_that_is_made_of_it() -> None:
    assert saved(native(upwind, X, 0.1, 2)) == ["u)"]
    assert saved(grad(upwind, (0, 1)).source_for(X, 0.1, 2)) != ["u)"]


def test_functions_that_take_long_are_saved() -> None:
    (one,) = saved(native(quotients, X, K, 2))
    assert one in ("(sqrt, u))", "(u, sqrt))")


def test_what_is_written_into_is_saved_as_it_was() -> None:
    (one,) = saved(native(written, X, K, 2))
    assert "u)" not in one.replace("(", ",").split(",")


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize(("function", "x", "k"), CASES)
def test_results_are_the_same(function: Any, x: Any, k: Any, n: int) -> None:
    wanted = outcome(grad(function, (0, 1)), x, k, n)
    assert same(outcome(grad(function, (0, 1), backend="native"), x, k, n), wanted)


def test_a_cut_is_the_least_one_nearest_to_the_goal() -> None:
    flow = _Cut()
    for a, b, much in [("s", "a", None), ("b", "c", None), ("b", "d", None), ("e", "g", None),
                       ("f", "g", None)]:
        flow.link(a, b, much)
    for name, much in [("a", 3), ("c", 2), ("d", 2)]:
        flow.link((name, "in"), (name, "out"), much)
    flow.link("s", ("a", "in"), None)
    for name in "cd":
        flow.link(("a", "out"), (name, "in"), None)
        flow.link((name, "out"), "g", None)
    assert flow.run("s", "g") == 3
    assert flow.cut("g") == [("a", "in")]
    nearer = _Cut()
    nearer.link("s", ("a", "in"), None)
    nearer.link(("a", "in"), ("a", "out"), 2)
    nearer.link(("a", "out"), ("b", "in"), None)
    nearer.link(("b", "in"), ("b", "out"), 2)
    nearer.link(("b", "out"), "g", None)
    assert nearer.run("s", "g") == 2
    assert nearer.cut("g") == [("b", "in")]

"""``np.roll`` in machine loops: elements are read around the ends, and nothing is moved."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from adcompiler import grad
from adcompiler.backends.native.loops import (
    Assign, Binary, Body, Choose, Element, For, Name, Number, Store,
)
from adcompiler.backends.native.passes.roll_lowering import in_parts, unwrapped, wrapped
from adcompiler.backends.native.writer import Writer
from tests.lanes import one_in
from tests.native.test_backends_agree import outcome, same
from tests.native.test_lazy_arrays import loops_of

pytestmark = pytest.mark.usefixtures("plain_loops")
AT, N = Name("i"), Name("n")


@pytest.mark.parametrize("by", [-4, -1, 1, 2, 4])
def test_positions_are_wrapped_around(by: int) -> None:
    expr = wrapped(AT, by, N)
    for n in (4, 5, 9):
        for i in range(n):
            assert value(expr, i=i, n=n) == (i - by) % n
    middle = Binary("-", AT, Number(by)) if by > 0 else Binary("+", AT, Number(-by))
    assert unwrapped(expr, "i") == (by, middle, N)
    assert unwrapped(expr, "j") is None
    assert unwrapped(Choose(Binary("<", AT, Number(by)), AT, middle), "i") is None


def value(expr: Any, **names: int) -> int:
    """Return the value of an expression of integers."""
    match expr:
        case Name(name):
            return names[name]
        case Number(number):
            return int(number)
        case Choose(test, then, orelse):
            return value(then if value(test, **names) else orelse, **names)
        case Binary(sign, left, right):
            a, b = value(left, **names), value(right, **names)
            return {"+": a + b, "-": a - b, "<": int(a < b)}[sign]
    raise AssertionError(expr)


def test_a_loop_is_taken_apart_so_that_nothing_is_wrapped_in_the_middle() -> None:
    def body(left: Any, right: Any) -> Body:
        return Body([
            Assign("a", Element("x", (left,))), Store("y", (AT,), Binary("+", Name("a"),
                                                                       Element("x", (right,))))])

    loop = For("i", Number(0), N, body(wrapped(AT, 2, N), wrapped(AT, -1, N)))
    first, middle, last = in_parts(Writer(), loop)
    end = Binary("-", N, Number(1))
    least = Choose(Binary("<", N, Number(2)), N, Number(2))
    assert first == For("i", Number(0), least, loop.body)
    assert middle == For("i", Number(2), end, body(
        Binary("-", AT, Number(2)), Binary("+", AT, Number(1))))
    assert last == For("i", Choose(Binary("<", end, Number(2)), Number(2), end), N, loop.body)
    other = For("i", Number(0), Name("m"), loop.body)
    assert in_parts(Writer(), other) == [other]


def ring(u, k, n):
    for _ in range(n):
        left, right = np.roll(u, 1), np.roll(u, -1)
        u = u + 0.1 * (right - 2.0 * u + left) - k * np.where(u > 0.0, u - left, right - u) * u
    return np.sum(u * u)


def torus(u, k, n):
    for _ in range(n):
        around = np.roll(u, 1, 0) + np.roll(u, -2, axis=0) + np.roll(u, 3, 1) + np.roll(u, -1, 1)
        u = u + k * (around - 4.0 * u)
        np.roll(u, 1, 0)[0, 0] = 3.0
    return np.sum(u * u) + np.sum(np.roll(np.roll(u, 1, 0), -1, 1) * u)


def written_after(u, k, n):
    u = u.copy()
    for i in range(n):
        before = np.roll(u, 1)
        u[i] = k * u[i - 1]
        u = u + before * u
        u[1:] = np.roll(u, -1)[1:] * 0.5
        u[:] = np.roll(u, 1)
    return np.sum(u * np.roll(u > 0.2, 1))


def whole(u, k, n):
    for _ in range(n):
        v = np.roll(u, 1)
        u = 0.5 * u + k * v * np.sum(v) + np.max(v) * np.roll(v * u, -2)
    return u @ np.roll(u, 1) + np.cumsum(np.roll(u, -1))[0]


RNG = np.random.default_rng(5)
PLATES = [(3, 3), (5, 4), (4, 7), (2, 3), (1, 4), (3, 0), (0, 3)]


@pytest.mark.parametrize("function, size, n", one_in(5, itertools.product(
    [ring, written_after, whole], [0, 1, 2, 3, 4, 7], [0, 2])))
def test_native_loops_give_what_python_gives(function: Any, size: int, n: int) -> None:
    agree(function, RNG.normal(size=size), 0.3, n)
    agree(function, RNG.normal(size=2 * size)[::2], 0.3, n)


@pytest.mark.parametrize("shape", PLATES)
@pytest.mark.parametrize("n", [0, 2])
def test_native_loops_give_what_python_gives_of_plates(shape: Any, n: int) -> None:
    agree(torus, RNG.normal(size=shape), 0.1, n)
    turned = RNG.normal(size=shape[::-1]).T, 0.1, n  # which NumPy sums in another order
    wanted = outcome(grad(torus, (0, 1)), *turned)
    found = outcome(grad(torus, (0, 1), backend="native"), *turned)
    if isinstance(wanted[0], np.ndarray):
        assert same(found[0], wanted[0])
        assert found[1] == pytest.approx(wanted[1], rel=1e-12, abs=1e-12)
    else:
        assert found == wanted


def agree(function: Any, *args: Any) -> None:
    """Compare a gradient by loops with Python's, to the last bit, and what is raised."""
    wanted = outcome(grad(function, (0, 1)), *args)
    assert same(outcome(grad(function, (0, 1), backend="native"), *args), wanted)


def test_what_is_rolled_is_not_stored_and_the_sweep_computes_it_again() -> None:
    text = loops_of(ring, np.ones(5), 0.1, 2, argnums=(0, 1))
    forward, _, sweep = text.partition("# reverse of")
    lines = [line for line in text.splitlines() if "#" not in line]
    assert not any("roll" in line.replace("roll_bar", "") for line in lines)
    assert forward.count("tape_elements = np.empty(") == 1
    assert "- 1]" in forward
    assert "- 1]" in sweep


def test_arrays_of_iterations_are_made_in_front_of_the_loop() -> None:
    text = loops_of(whole, np.ones(5), 0.1, 2)
    made = [line for line in text.splitlines() if "= np.empty(0)" in line and "no_" not in line]
    assert made
    for line in made:
        name = line.split()[0]
        assert f"if {name}.shape[0] != " in text

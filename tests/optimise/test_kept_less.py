"""What sweeps do without: tapes of inner loops, copies of gradients, two of one sum."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, value_and_grad, vjp
from adcompiler.testing import check_grads

RNG = np.random.default_rng(33)


def code(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip() and "#" not in line]


def pairs(pos, mass, steps):
    n = len(mass)
    vel = np.zeros_like(pos)
    for _ in range(steps):
        acc = np.zeros_like(pos)
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = pos[j] - pos[i]
                    r = np.sqrt(d @ d + 1e-3)
                    acc[i] += mass[j] * d / r**3
        vel = vel + 0.1 * acc
        pos = pos + 0.1 * vel
    return np.sum(vel**2)


def convolved(image, kernel):
    kh, kw = kernel.shape
    out = np.zeros((image.shape[0] - kh + 1, image.shape[1] - kw + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(image[i : i + kh, j : j + kw] * kernel)
    return np.sum(out**2)


def multiplied(A, B):
    C = np.zeros((A.shape[0], B.shape[1]))
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            for k in range(A.shape[1]):
                C[i, j] += A[i, k] * B[k, j]
    return np.sum(C**3)


def by_parity(x, n):
    total = 0.0
    for i in range(n):
        for j in range(n):
            if (i + j) % 2 == 0:
                total += x[i] * x[j]
            elif i < j:
                total -= x[i] / x[j]
    return total


def relaxed(u, w):
    u = u.copy()
    for _ in range(2):
        for i in range(1, len(u) - 1):
            u[i] = w[i] * (u[i - 1] + u[i + 1] * u[i])
    return np.sum(u**2)


def rebound(x, w):
    total = 0.0
    for i in range(3):
        x = x * w
        for j in range(3):
            d = x[j] - x[i]
            d[0] = d[1] * 2.0
            total += np.sum(d * d * x[j])
            x = x + 0.1 * w[j]
    return total


KEEP_NOTHING_INSIDE = [
    (pairs, (RNG.normal(size=(4, 3)), 1.0 + RNG.random(4), 2)),
    (convolved, (RNG.normal(size=(5, 4)), RNG.normal(size=(2, 3)))),
    (multiplied, (RNG.normal(size=(3, 4)), RNG.normal(size=(4, 2)))),
    (by_parity, (1.0 + RNG.random(5), 5)),
]
KEEP_SOME = [
    (relaxed, (RNG.normal(size=6), RNG.random(6))),
    (rebound, (RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3)))),
]


@pytest.mark.parametrize(
    ("function", "arguments"), KEEP_NOTHING_INSIDE + KEEP_SOME,
    ids=lambda one: getattr(one, "__name__", ""))
def test_gradients(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    check_grads(function, arguments, order=1 if function is pairs else 2)


@pytest.mark.parametrize(("function", "arguments"), KEEP_NOTHING_INSIDE, ids=lambda one: getattr(
    one, "__name__", ""))
def test_inner_loops_have_no_tape(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """The sweep reads arrays that are there, and computes tests of counters again."""
    text = value_and_grad(function, argnums=0).source_for(*arguments)
    lines = code(text)
    assert not any("tapes" in line or "zip(" in line for line in lines), text
    assert sum("_tape = []" in line or "tape = []" in line for line in lines) == (
        function is pairs), text


def test_memory_is_that_of_one_array_a_step() -> None:
    pos, mass = RNG.normal(size=(20, 3)), 1.0 + RNG.random(20)
    derivative = grad(pairs, argnums=0, backend="python")
    derivative(pos, mass, 4)
    tracemalloc.start()
    try:
        derivative(pos, mass, 4)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 25 * pos.nbytes + 10_000


# -- dicts of gradients ----------------------------------------------------------------------------


def of_products(p): return np.sum(p["a"] * p["b"])
def of_sums(p): return np.sum(p["a"] + p["b"])
def of_squares(p): return np.sum((p["a"] + p["b"]) ** 2)
def of_one(p): return np.sum(p["a"])


@pytest.mark.parametrize("function", [of_products, of_sums, of_squares, of_one])
@pytest.mark.parametrize("turned", [False, True])
def test_entries_of_gradients_are_arrays_of_their_own(
    function: Callable[..., Any], turned: bool
) -> None:
    a, b = RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))
    for p in ({"a": a, "b": b.T if turned else b}, {"a": a, "b": a}):
        bars = grad(function)(p)
        arrays = [*bars.values(), a, b]
        for k, one in enumerate(arrays[:2]):
            assert one.flags.writeable
            assert not any(np.shares_memory(one, other) for other in arrays[k + 1 :])
        if p["b"] is not a:
            wanted = [
                grad(lambda x, key=key, p=p: function({**p, key: x}))(p[key]) for key in "ab"]
            for one, want in zip(bars.values(), wanted, strict=True):
                np.testing.assert_array_equal(one, want)


def test_arrays_that_the_sweep_made_are_not_copied() -> None:
    p = {"a": RNG.normal(size=(3, 3)), "b": RNG.normal(size=(3, 3))}
    text = grad(of_squares).source_for(p)
    assert "as_gradient" not in text
    assert text.count("np.copy") == 1  # one array for both


def test_entries_of_other_precision_or_type() -> None:
    p = {"a": np.ones(3, np.float32), "b": np.arange(3)}
    bars = grad(of_products)(p)
    assert bars["a"].dtype == np.float32
    np.testing.assert_array_equal(bars["a"], [0.0, 1.0, 2.0])


# -- sums ------------------------------------------------------------------------------------------


def cone(radius, height): return np.sqrt(radius * radius + height * height) * radius
def norms(x, y): return np.sqrt(x @ x) + x @ y


@pytest.mark.parametrize(("function", "arguments"), [
    (cone, (3.0, 4.0)), (norms, (RNG.normal(size=3), RNG.normal(size=3))),
])
def test_what_is_sent_back_twice_is_doubled(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    check_grads(function, arguments, order=2)
    lines = code(grad(function, argnums=(0, 1)).source_for(*arguments))
    assert not [one for one, other in itertools.pairwise(lines) if one == other]
    assert any("2.0 *" in line for line in lines)


def test_products_that_are_summed_are_products_of_vectors() -> None:
    def scaled(x, c):
        return np.sum(np.sin(c * x))

    text = grad(scaled, argnums=1).source_for(np.ones(3), 2.0)
    assert "@" in text
    assert ".sum()" not in text
    check_grads(scaled, (RNG.normal(size=5), 0.7), order=2)
    assert grad(scaled, argnums=1)(np.ones(0), 2.0) == 0.0


def test_others_are_summed_as_before() -> None:
    """Matrices, numbers of single precision, and products that something else reads, too."""
    def both(x, c):
        return np.sum(c * x) ** 2

    assert "@" not in grad(both, argnums=1).source_for(np.ones((2, 3)), 2.0)
    text = grad(both, argnums=1).source_for(np.ones(3, np.float32), 2.0)
    assert ".sum()" in text or "np.sum(" in text


M, V = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0.0, 1.0], [2.0, 1.0]])


def steep_inside(c, v, m): return np.sum(np.sqrt(v * c + 0.0) * m)
def steep_outside(c, v, m): return np.sum(-np.sqrt(v + c - 1.0) * m * 3.0)
def steep_rows(c, v, m): return np.sum(np.sum(np.sqrt(V + c - 1.0) * M, axis=1) * 2.0)


def steep_below(c, v, m, n=2):
    return np.sum(np.sqrt(v + c - 1.0) * m) if n == 0 else steep_below(c, v, m, n - 1)


@pytest.mark.parametrize("function", [steep_inside, steep_outside, steep_rows, steep_below])
def test_cotangents_that_are_0_stay_0_in_sums(function: Callable[..., Any]) -> None:
    """Where the slope is infinite, as that of a root at 0: in pullbacks and pairs, too."""
    v = m = np.array([0.0, 1.0])
    wanted = {steep_inside: 0.5, steep_outside: -1.5, steep_below: 0.5,
              steep_rows: 1.0 + 1.0 / np.sqrt(2.0) + 1.0}[function]
    with np.errstate(divide="ignore", invalid="ignore"):
        assert grad(function)(1.0, v, m) == pytest.approx(wanted)
        assert grad(function, debug=True)(1.0, v, m) == pytest.approx(wanted)
        _, pull = vjp(function, 1.0, v, m, argnums=0)
        assert np.ravel(pull(1.0)) == pytest.approx(wanted)

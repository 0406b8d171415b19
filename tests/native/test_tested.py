"""Values that are only tested, powers with exponents that vary, and differences at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad, value_and_grad
from tests.native.test_backends_agree import outcome, same, watched

pytestmark = pytest.mark.usefixtures("plain_loops")


def powers(x, p, n):
    total = 0.0
    for i in range(n):
        total = total + (x[i] / (i + 1.0)) ** p
    return total


def of_a_third(x, n):
    total = 0.0
    for i in range(n):
        total = total + x[i] ** (1.0 / 3.0) * x[i]
    return total


@pytest.mark.parametrize("bad", [0.0, -1.0, None])
def test_powers(bad: float | None) -> None:
    x = np.linspace(0.5, 3.0, 5)
    if bad is not None:
        x[2] = bad
    with np.errstate(all="ignore"):
        for function, args in (
            (of_a_third, (x, 5)), *((powers, (x, p, 5)) for p in (0.0, 0.5, 1.0, 2.5, -1.5)),
        ):
            native = value_and_grad(function, backend="native")
            assert same(outcome(native, *args), outcome(value_and_grad(function), *args))


def test_a_value_that_is_only_tested_may_be_of_any_kind() -> None:
    def either(x, flag):
        total = 0.0
        for i in range(len(x)):
            if flag or x[i]:
                total += x[i] * 2.0
            if x[i] and i:
                total += 1.0
            if (x[i] > 0.5 and i) or x[i] < -1.0:
                total -= x[i]
        return total

    x = np.array([0.0, 0.7, -2.0, 0.0, 0.6])
    for flag in (True, False):
        fast: Any = compiled(either)
        came = watched(fast, x, flag)
        assert same(fast(x, flag), either(x, flag))
        assert came == [True]
        assert same(grad(either, backend="auto")(x, flag), grad(either)(x, flag))


def test_a_value_that_is_read_too_is_not_only_tested() -> None:
    def read(x):
        total = 0.0
        for i in range(len(x)):
            found = x[i] > 0.5 or x[i]
            if found:
                total += found * x[i]
        return total

    x = np.array([0.0, 0.7, 0.25])
    assert same(grad(read, backend="auto")(x), grad(read)(x))


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_differences_and_their_gradient(n: int) -> None:
    def rough(u):
        total = 0.0
        for _ in range(2):
            total = total + np.sum(np.diff(u) ** 2)
        return total

    u = np.linspace(0.0, 1.0, n) ** 2
    native = value_and_grad(rough, backend="native")
    assert same(outcome(native, u), outcome(value_and_grad(rough), u))


def between(u, a, b):
    total = 0.0
    for i in range(2):
        total = total + np.sum(np.diff(u, prepend=a, append=b) * (i + 1.0))
    return total


def test_differences_with_numbers_at_both_ends() -> None:
    u = np.linspace(0.0, 1.0, 5) ** 2
    fast: Any = compiled(between)
    assert same(fast(u, 0.5, 2.0), between(u, 0.5, 2.0))
    assert same(fast(u, 0.5, 2), between(u, 0.5, 2))


def test_powers_of_two() -> None:
    def shifts(x, n):
        total = 0.0
        for i in range(n):
            total += x / 2**i + x * 4**i - 8 ** (i // 4)
        return total

    for n in (0, 1, 27, 40):
        native = value_and_grad(shifts, backend="native")
        came = watched(native, 0.5, n)
        assert same(native(0.5, n), value_and_grad(shifts)(0.5, n))
        assert came == [n < 40]  # 4**31 is no longer one of 64 bits

    def halves(x, n):
        total = 0.0
        for i in range(-n, n):
            total += x * 2**i
        return total

    assert compiled(halves)(0.5, 3) == halves(0.5, 3)

"""A loop that ends by a test of values that are handed on with it."""

from __future__ import annotations

import random
from typing import Any

import pytest

from adcompiler import compiled, value_and_grad


def turning(x, n):
    s, t = 1.0, x
    for _ in range(n):
        s, t = t, 0.5 * s - 0.9 * t
        if s > s * t:
            break
    return s + t


def waiting(x, n):
    s, t = 1.0, x
    j = 0
    while j < n:
        j += 1
        s, t = t, 0.5 * s - 0.9 * t
        if s * s > t:
            break
        t = t * 0.75
    return s - t * j


def three(x, n):
    a, b, c = x, 0.5, -x
    for i in range(n):
        a, b, c = b + 0.1 * i, c * a, a - b
        if a * b > c and b < a:
            break
    return a + 2.0 * b + 3.0 * c


@pytest.mark.parametrize("program", [turning, waiting, three])
def test_the_test_reads_what_was_before_the_next_iteration(program: Any) -> None:
    rng = random.Random(1)
    values = [rng.uniform(-2.0, 2.0) for _ in range(40)]
    fast = compiled(program, backend="python")
    pairs = value_and_grad(program)
    for x in values:
        for n in (1, 2, 5):
            assert fast(x, n) == program(x, n)
            value, slope = pairs(x, n)
            assert value == program(x, n)
            h = 1e-7
            ahead, behind = program(x + h, n), program(x - h, n)
            assert abs(slope - (ahead - behind) / (2 * h)) < 1e-5

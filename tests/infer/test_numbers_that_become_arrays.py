"""A few iterations are written out, where the first one makes an array of a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from adcompiler import grad, jvp
from adcompiler.testing import check_grads

X = np.linspace(0.5, 2.0, 6)
K = np.linspace(-1.0, 1.0, 4)


def filtered(x, k):
    out = 0.0
    for i in range(3):
        out = out + k[i] * x[i : len(x) - 2 + i]
    return np.sum(out * out)


def in_rows(x, k):
    out = 0
    for i in range(2):
        for j in range(2):
            out = out + k[2 * i + j] * x[i + j : len(x) - 2 + i + j]
    return np.sum(out**3)


def in_steps(x, k):
    total, last = 1.0, x
    for i in range(5, -1, -2):
        last = last * total
        total = total + k[i % 4] * last
    return np.sum(total) * i


def with_writes(x, k):
    kept = np.zeros(3)
    out = 0.0
    for i in range(3):
        kept[i] = k[i] * x[i]
        out = out + kept[i] * x
        k = k * 0.5
    return np.sum(out) + kept[1]


def once(x, k):
    out = 2.0
    for _ in range(1):
        out = out * x
    return np.sum(out * k[0])


def in_a_loop(x, k, n):
    total = 0.0
    for _ in range(n):
        out = 0.0
        for i in range(2):
            out = out + k[i] * x * total
        total = total + np.sum(np.sin(out + x))
    return total


@pytest.mark.parametrize("program", [filtered, in_rows, in_steps, with_writes, once])
def test_gradients(program: Any) -> None:
    check_grads(program, (X, K), order=2)
    lines = grad(program, (0, 1)).source_for(X, K).splitlines()
    assert not any(line.lstrip().startswith("for ") for line in lines)


def test_inside_of_a_loop() -> None:
    check_grads(lambda x, k: in_a_loop(x, k, 3), (X, K), order=1)


def too_many(x):
    out = 0.0
    for i in range(20):
        out = out + i * x
    return np.sum(out * x)


def until(x):
    out = 0.0
    for _ in range(5):
        out = out + x
        if np.sum(out) > 10.0:
            break
    return np.sum(out * x)


def refusing(x):
    out = 0.0
    for i in range(3):
        if i == 2 and x[0] > 0.0:
            raise ValueError("no third one")
        out = out + x
    return np.sum(out)


def test_others_stay_loops() -> None:
    for program in (too_many, until):
        assert " in range(" in grad(program).source_for(X)
        check_grads(program, (X,), order=1)


def test_what_raises_raises() -> None:
    with pytest.raises(ValueError, match="no third one"):
        grad(refusing)(X)
    assert np.array_equal(grad(refusing)(-X), np.full(6, 3.0))


def always(x):
    out = 0.0
    for i in range(3):
        if i == 1:
            raise ValueError("not twice")
        out = out + x
    return np.sum(out)


def test_an_iteration_that_always_raises() -> None:
    with pytest.raises(ValueError, match="not twice"):
        grad(always)(X)


def test_tangents() -> None:
    value, along = jvp(filtered, (X, K), (X, None))
    assert value == filtered(X, K)
    assert np.isclose(along, 2.0 * value)  # it is homogeneous of degree 2


def in_no_time(x):
    out = 0.0
    for _ in range(0, 10**30, 10**29 + 1):
        out = out + x
    for _ in range(3, 3):
        out = out + x * out
    return np.sum(out * x)


def test_ranges_that_are_empty_or_large() -> None:
    check_grads(in_no_time, (X,), order=1)


def without_end(x):
    out = 0.0
    for _ in range(10**30):
        out = out + x
    return np.sum(out)


def test_a_range_of_too_many_to_count() -> None:
    assert " in range(" in grad(without_end).source_for(X)

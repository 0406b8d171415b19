"""Writes through containers, views, branches and functions: values, gradients, arguments."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, vjp

X = np.array([0.1, 0.5, 0.7, 0.4])


def leaves(value: Any) -> list[float]:
    if isinstance(value, np.ndarray):
        return [float(x) for x in value.ravel()]
    if isinstance(value, (tuple, list)):
        return [x for item in value for x in leaves(item)]
    return [float(value)]


def rebuilt(value: Any, numbers: Iterator[float]) -> Any:
    if isinstance(value, np.ndarray):
        return np.array([next(numbers) for _ in range(value.size)]).reshape(value.shape)
    if isinstance(value, (tuple, list)):
        return type(value)(rebuilt(item, numbers) for item in value)
    return next(numbers)


def check(program: Callable[..., Any], *args: Any) -> None:
    """Compare value, gradients (twice) and what becomes of the arguments with plain Python."""
    start = leaves(args)
    slopes = []
    for i in range(len(start)):
        ends = []
        for step in (1e-6, -1e-6):
            moved = [x + step if i == j else x for j, x in enumerate(start)]
            ends.append(float(program(*rebuilt(args, iter(moved)))))
        slopes.append((ends[0] - ends[1]) / 2e-6)
    plain, ours, joint = (copy.deepcopy(args) for _ in range(3))
    wanted = program(*plain)
    value, pullback = vjp(program, *ours)
    assert np.allclose(value, wanted, rtol=1e-12)
    assert leaves(ours) == pytest.approx(leaves(plain), rel=1e-12)
    for _ in range(2):
        assert np.allclose(leaves(pullback(1.0)), slopes, rtol=1e-5, atol=1e-6)
    bars = grad(program, argnums=tuple(range(len(args))))(*joint)
    assert np.allclose(leaves(bars), slopes, rtol=1e-5, atol=1e-6)


def test_an_array_in_a_tuple_that_is_an_argument() -> None:
    def program(x: Any, pair: Any) -> Any:
        pair[1][-3] = 2.0 * x
        return x + pair[0] * pair[1].sum()

    check(program, 0.3, (0.7, X))


def helper_that_writes(t: Any) -> Any:
    view = np.expand_dims(t, 0)
    view[-1, 1] *= t[0]
    b = np.sum(np.sin(t) * t)
    return (b + np.sum(np.sin(t) * t) + np.sum(np.sin(view) * view), b)


def helper_that_returns(t: Any, k: Any) -> Any:
    r = t
    for _ in range(3):
        r = np.sin(t) * r * k
    return np.exp(r * (np.sum(r) + np.sum(np.cos(t)) + np.sum(np.exp(t) * np.sin(t))))


def helper_that_reads(t: Any, k: Any) -> Any:
    r = t * t * t * k
    for _ in range(3):
        r = np.sin(r) * t
    return np.sum(r) + np.sum(np.cos(r)) + np.sum(t * t * t) + np.sum(np.exp(t) * np.sin(t))


def test_what_a_function_saves_is_not_what_its_caller_writes_into() -> None:
    def parameter(x: Any) -> Any:
        h = np.cumsum(x)
        p = helper_that_writes(h)
        h[...] = h + h
        return np.min(h) + p[1]

    def result(x: Any) -> Any:
        p = helper_that_returns(x, 0.5) + helper_that_returns(x, 0.25)
        q = helper_that_returns(x, 0.5)
        q[1] *= 2.0
        return np.sum(p) + np.sum(q)

    check(parameter, X)
    check(result, X)


def test_what_a_function_saves_is_not_what_the_user_writes_into() -> None:
    def program(x: Any) -> Any:
        return helper_that_reads(x, 2.0) + helper_that_reads(x, 3.0)

    x = X.copy()
    _, pullback = vjp(program, x)
    (before,) = pullback(1.0)
    x[:] = 0.0
    assert np.array_equal(pullback(1.0)[0], before)


def test_buffers_that_change_places() -> None:
    def made_here(x: Any) -> Any:
        old, new = x * 1.0, np.zeros_like(x)
        for _ in range(3):
            new[...] = np.sin(old)
            old, new = new, old
        return np.sum(old * old)

    def read_later(x: Any) -> Any:
        first = x * 1.0
        old, new = first, np.zeros_like(x)
        for _ in range(3):
            new[...] = np.sin(old)
            old, new = new, old
        return np.sum(first * first)

    def given(x: Any) -> Any:
        old, new = x, np.zeros_like(x)
        for _ in range(3):
            new[...] = np.sin(old)
            old, new = new, old
        return np.sum(old)

    check(made_here, X)
    for program in (read_later, given):
        with pytest.raises(UnsupportedError, match="may share"):
            grad(program)(X)

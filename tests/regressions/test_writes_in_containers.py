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
    check(given, X)
    with pytest.raises(UnsupportedError, match="may share"):
        grad(read_later)(X)


def test_one_of_two_arrays_is_written() -> None:
    def arguments(x: Any, y: Any, c: Any) -> Any:
        b = x if c > 0 else y
        b[0] = c
        b[1:] *= 2.0
        return np.sum(b * b) + np.sum(x * y)

    def parts(x: Any, y: Any, c: Any) -> Any:
        a = x * 2.0
        b = a[1:] if c > 0 else y[:3]
        b.sort()
        np.multiply(b, 2.0, out=b)
        b[b > 0.3] = c
        return np.sum(a * y * np.arange(4.0))

    def three(x: Any, y: Any, c: Any) -> Any:
        if c > 0:
            b = x
        elif c > -1:
            b = y
        else:
            b = x * y
        b[0] = c * c
        return np.sum(x * y) + np.sum(b)

    def one_is_new(x: Any, y: Any, c: Any) -> Any:
        b = x
        if c > 0:
            b = x * 3.0
        b[1] = c * x[0]
        return np.sum(x * y) + np.sum(b)

    def pairs(x: Any, y: Any, c: Any) -> Any:
        a, k, b = (x, c * 2, y) if c > 0 else (y, 3.0, x)
        a[0] = k
        b *= a
        return np.sum(a) + np.sum(x * y * y)

    def in_a_loop(x: Any, y: Any, c: Any) -> Any:
        a = x * 1.0
        b = a
        for i in range(3):
            b = a if i < 1 else y
            b[i] *= c
            if i == 2:
                b += a
        return np.sum(b * b) + np.sum(a * y)

    for program in (arguments, parts, three, one_is_new, pairs, in_a_loop):
        for c in (1.5, -0.5, -1.5):
            check(program, X, 2.0 * X[::-1], c)


def scaled(t: Any, k: Any) -> Any:
    t *= k
    t[0] += t[1]
    return t[1:]


def test_one_of_two_arrays_is_given_to_functions() -> None:
    def called(x: Any, y: Any, c: Any) -> Any:
        b = x if c > 0 else y
        r = scaled(b, c)
        r[0] = 2 * c
        return np.sum(b * b) + np.sum(x * y)

    def closures(x: Any, y: Any, c: Any) -> Any:
        a = x * 2.0
        b = a if c > 0 else y

        def put(v: Any) -> None:
            b[0] = v
            b[1:] += v * a[1]

        put(c)
        put(c * 2)
        return np.sum(a * y) + np.sum(b)

    def again(x: Any, y: Any, c: Any) -> Any:
        t = x if c > 0 else y
        u = y if c > 0 else x
        t, u = u, t
        t[0] = c * u[1]
        u *= t
        return np.sum(x * y * np.arange(4.0)) + np.sum(t)

    for program in (called, closures, again):
        for c in (1.5, -0.5):
            check(program, X, 2.0 * X[::-1], c)


def test_views_of_reshaped_arrays() -> None:
    def rows(x: Any) -> Any:
        t = x.reshape(2, 2)
        t[0] = 3.0
        t.T[1] *= 2
        return np.sum(x * np.arange(4.0))

    def columns(x: Any) -> Any:
        b = np.array(np.outer(x, x).T)
        t = b.T.ravel()
        t[0] = 5.0 * x[1]
        return np.sum(b * np.outer(x, x)) + np.sum(t)

    check(rows, X)
    check(columns, X)


def test_a_reshaped_array_that_is_a_copy_is_an_error() -> None:
    def transposed(x: Any) -> Any:
        a = np.outer(x, x)
        t = a.T.reshape(-1)
        t[0] = 5.0 * x[1]
        return np.sum(a * a) + np.sum(t)

    def copied(x: Any) -> Any:
        a = np.outer(x, x)
        t = a.T.reshape(-1).copy()
        t[1] = 5.0 * x[1]
        return np.sum(a * a) + np.sum(t)

    with pytest.raises(ValueError, match=r"test_writes_in_containers.py:\d+: this makes a copy"):
        grad(transposed)(X)
    check(copied, X)


def test_ravel_of_a_column_is_a_copy() -> None:
    def program(x: Any) -> Any:
        p = np.outer(x, x)[:, 1]
        q = p.ravel()
        p[1] *= 2.0
        return np.sum(q)

    with pytest.raises(ValueError, match="this makes a copy"):
        grad(program)(X)


def test_what_a_reshaped_view_held_before_a_write() -> None:
    def program(x: Any) -> Any:
        b = x * 1.0
        view = b.reshape(-1)
        view[1:0:-1] -= np.sin(view[1:0:-1])
        return np.sum(b)

    check(program, X)


@pytest.mark.parametrize("index", [7, -3])
def test_deleting_an_item_that_is_not_there_raises(index):
    def deleted(x):
        ys = [x, x * 2.0]
        del ys[index]
        return ys[0]

    def popped(x, n):
        ys = [x * k for k in range(n)]
        ys.pop(index)
        return sum(ys)

    with pytest.raises(IndexError):
        grad(deleted)(1.0)
    with pytest.raises(IndexError):
        grad(popped)(1.0, 2)
    assert grad(popped)(1.0, 8) == 28.0 - (7.0 if index == 7 else 5.0)


def test_lists_that_grow_under_keys_that_are_data():
    def grouped(xs, keys):
        groups = {}
        for x, key in zip(xs, keys, strict=True):
            if key not in groups:
                groups[key] = []
            groups[key].append(x * x)
        total = 0.0
        for k, key in enumerate(groups):
            total += (k + 1) * sum(groups[key])
        return total

    xs = np.array([1.0, 2.0, 3.0, 4.0])
    assert np.array_equal(grad(grouped)(xs, ["a", "b", "a", "b"]), 2 * xs * [1, 2, 1, 2])
    y, pullback = vjp(grouped, xs, ["a", "a", "b", "a"], argnums=0)
    assert y == 1.0 + 4.0 + 16.0 + 2 * 9.0
    for _ in range(2):
        assert np.array_equal(pullback(1.0), 2 * xs * [1, 1, 2, 1])


@pytest.mark.parametrize("function", [
    lambda x, out: x.dot(x, out), lambda x, out: np.dot(x, x, out),
    lambda x, out: np.sum(x, out=out), lambda x, out: np.outer(x, x, out),
])
def test_results_do_not_go_into_arrays_of_other_dimensions(function: Any) -> None:
    def f(x, out):
        function(x, out)
        return np.sum(out)

    with pytest.raises(ValueError):
        f(np.ones(3), np.ones(3))
    with pytest.raises(UnsupportedError, match="another number of dimensions than the result"):
        grad(f)(np.ones(3), np.ones(3))

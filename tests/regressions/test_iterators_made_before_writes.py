"""Iterators that are made before what they read is written: they see what is there when asked."""

# ruff: noqa: B905, RUF007

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, jvp, vjp

PROGRAMS: list[Callable[[Any], Any]] = []
REFUSED: list[Callable[[Any], Any]] = []


@PROGRAMS.append
def numbers_of_a_list(x: Any) -> Any:
    b = [x]
    k = iter(b)
    b[-1] *= 0.5
    return sum(k)


@PROGRAMS.append
def after_a_branch(x: Any) -> Any:
    b = [x]
    k = iter(b)
    if len(b) > 0:
        b[-1] *= 0.5
    return sum(k)


@PROGRAMS.append
def after_a_loop(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    for i in range(2):
        b[i] = b[i] * x
    return sum(k)


@PROGRAMS.append
def pairs(x: Any) -> Any:
    b = [x, x]
    k = zip(b, b)
    if x > 0:
        b[-1] = 0.5
    return sum([p * q for p, q in k])


@PROGRAMS.append
def a_longer_list(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    if x > 0:
        b.append(3.0 * x)
    return sum(k)


@PROGRAMS.append
def numbered(x: Any) -> Any:
    b = [x, x]
    k = enumerate(b)
    if x > 0:
        b[1] = 5.0 * x
    return sum([i * c for i, c in k])


@PROGRAMS.append
def after_a_try(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    try:
        b[1] = 5.0 * x
    finally:
        pass
    return sum(k)


@PROGRAMS.append
def a_loop_over_it(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    if x > 0:
        b[-1] = 0.5
    t = 0.0
    for c in k:
        t += c
    return t


@PROGRAMS.append
def lists_of_a_list(x: Any) -> Any:
    b = [[x, x], [x, 1.0]]
    k = iter(b)
    b[0][1] = 5.0 * x
    return sum([p[1] for p in k])


@PROGRAMS.append
def numbered_lists(x: Any) -> Any:
    b = [[x, x], [x, 1.0]]
    k = enumerate(b)
    b[0] = [3.0 * x, 2.0 * x]
    return sum([p[1] for i, p in k])


@PROGRAMS.append
def an_array_and_a_list(x: Any) -> Any:
    b = np.array([x, x])
    k = zip(b, [1.0, 2.0])
    b[0] = 3.0 * x
    return sum([p * q for p, q in k])


@PROGRAMS.append
def places_and_elements(x: Any) -> Any:
    b = np.array([x, x])
    k = np.ndenumerate(b)
    b[0] = 3.0 * x
    return sum([v for i, v in k])


@PROGRAMS.append
def entries_of_a_dict(x: Any) -> Any:
    d = {"a": x, "b": 2.0 * x}
    k = d.items()
    d["a"] = 7.0 * x
    return sum([v for i, v in k])


@PROGRAMS.append
def written_in_the_loop(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    t = 0.0
    for c in k:
        b[1] = 4.0 * x
        t += c
    return t


@PROGRAMS.append
def another_list_of_the_name(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b = [1.0, 2.0]
    b[0] = 3.0 * x
    return sum(k)


@PROGRAMS.append
def numbered_iterator(x: Any) -> Any:
    b = [x, x]
    k = enumerate(iter(b))
    b[0] = 3.0 * x
    return sum([i + v for i, v in k])


@PROGRAMS.append
def by_another_name(x: Any) -> Any:
    b = [x, x]
    c = b
    k = zip(c, c[1:])
    b[0] = 3.0 * x
    return sum([p * q for p, q in k])


@PROGRAMS.append
def pairs_of_starred(x: Any) -> Any:
    b = [x, x]
    k = zip(*[b, b])
    b[0] = 3.0 * x
    return sum([p * q for p, q in k])


@PROGRAMS.append
def returned_by_a_function(x: Any) -> Any:
    b = [x, x]
    def get():
        return iter(b)

    k = get()
    b[0] = 3.0 * x
    return sum(k)


@PROGRAMS.append
def held_by_a_list(x: Any) -> Any:
    b = [x, x]
    k = [iter(b), 1]
    b[0] = 3.0 * x
    return sum(k[0])


@PROGRAMS.append
def taken_apart(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    c, d = k
    return c + d * 2


@PROGRAMS.append
def a_list_of_it(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return np.sum(np.array(list(k)))


@PROGRAMS.append
def the_largest(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return max(k)


@PROGRAMS.append
def in_order(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return sum(sorted(k))


@PROGRAMS.append
def a_shorter_list(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b.pop()
    return sum(k)


@PROGRAMS.append
def starred_arguments(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return max(*k)


@PROGRAMS.append
def elements_of_flat(x: Any) -> Any:
    b = np.array([x, x])
    k = iter(b.flat)
    b[0] = 3.0 * x
    return sum(k)


@PROGRAMS.append
def folded(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return functools.reduce(lambda p, q: p * q, k)


@PROGRAMS.append
def the_next(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return next(k)


@PROGRAMS.append
def the_next_pair(x: Any) -> Any:
    b = [x, x]
    k = zip(b, b)
    b[0] = 3.0 * x
    return next(k)[1]


@PROGRAMS.append
def a_generator_of_it(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    b[0] = 3.0 * x
    return sum(v * 2 for v in k)


@PROGRAMS.append
def a_tuple_with_a_list(x: Any) -> Any:
    b = (x, [x, x])
    k = iter(b)
    b[1][0] = 3.0 * x
    return sum([np.sum(v) for v in k])


def read_twice(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    if x > 0:
        b[-1] = 0.5
    return next(k) + next(k)


@REFUSED.append
def a_generator(x: Any) -> Any:
    b = [x, x]
    k = (c * 2 for c in b)
    if x > 0:
        b[-1] = 0.5
    return sum(k)


@REFUSED.append
def values_of_a_dict(x: Any) -> Any:
    b = {1: x, 2:x}
    k = iter(b.values())
    if x > 0:
        b[1] = 5.0 * x
    return sum(k)


@REFUSED.append
def reversed_list(x: Any) -> Any:
    b = [x, x]
    k = reversed(b)
    if x > 0:
        b[1] = 5.0 * x
    return sum(k)


@REFUSED.append
def numbered_values(x: Any) -> Any:
    d = {"a": x, "b": 2.0 * x}
    k = enumerate(d.values())
    d["a"] = 7.0 * x
    return sum([v for i, v in k])


@REFUSED.append
def accumulated(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    r = itertools.accumulate(k)
    b[0] = 3.0 * x
    return sum(r)


@REFUSED.append
def one_of_two(x: Any) -> Any:
    b = [x, x]
    k = iter(b) if x > 0 else iter([1.0])
    b[0] = 3.0 * x
    return sum(k)


@REFUSED.append
def another_in_a_branch(x: Any) -> Any:
    b = [x, x]
    k = iter(b)
    if x > 100:
        k = iter([1.0, 2.0])
    b[0] = 3.0 * x
    return sum(k)


@pytest.mark.parametrize("program", [
    *PROGRAMS, pytest.param(read_twice, marks=pytest.mark.records),
], ids=lambda f: f.__name__)
def test_it_reads_what_was_written(program: Callable[[Any], Any]) -> None:
    x = 0.7
    slope = (program(x + 1e-6) - program(x - 1e-6)) / 2e-6
    value, pullback = vjp(program, x)
    assert value == program(x)
    assert pullback(1.0)[0] == pytest.approx(slope, rel=1e-8, abs=1e-8)
    assert grad(program)(x) == pytest.approx(slope, rel=1e-8, abs=1e-8)
    assert jvp(program, (x,), (1.0,)) == (value, pytest.approx(slope, rel=1e-8, abs=1e-8))


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_what_is_not_known_is_refused(program: Callable[[Any], Any]) -> None:
    with pytest.raises(ADError):
        vjp(program, 0.7)

"""Generator functions: items computed at once, where that does what Python does."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import UnsupportedError, grad, hessian, jacfwd, jacobian, jvp, vjp

X = np.array([0.5, 1.5, 2.5])
SCALE = 2.0
LOG: list[int] = []


def squares(x: Any) -> Iterator[Any]:
    for v in x:
        yield v * v


def deep(x: Any) -> Iterator[Any]:
    for v in x:
        if v > 1:
            for w in x:
                if w > 2:
                    continue
                yield v * w
        else:
            yield v


def early(x: Any) -> Iterator[Any]:
    for v in x:
        if v > 2.0:
            return
        yield v * SCALE
    yield 100.0


def numbered(x: Any) -> Iterator[Any]:
    for i, v in enumerate(x):
        yield i, v * v


def empty(x: Any) -> Iterator[Any]:
    return
    yield x


def chained(x: Any) -> Iterator[Any]:
    yield from squares(x)
    yield from squares(2.0 * x)


def counted(x: Any, n: int) -> Iterator[Any]:
    k = 0
    while k < n:
        yield x[k] * k
        k += 1


def logs(x: Any) -> Iterator[Any]:
    try:
        for v in x:
            yield math.log(v)
    finally:
        pass


def rows(x: Any) -> Iterator[Any]:
    y = x * 1.0
    for _ in range(3):
        yield y
        y = y * 2.0


def written(x: Any) -> Iterator[Any]:
    for i in range(3):
        x[i] *= 2.0
        yield x[i]


@contextlib.contextmanager
def quiet(a: float) -> Iterator[float]:
    with np.errstate(all="ignore"):
        yield a


class Held:
    def __init__(self, a: Any) -> None:
        self.a = a

    def __iter__(self) -> Iterator[Any]:
        for v in self.a:
            yield v * v


def summed(x: Any) -> Any:
    return sum(squares(x))


def looped(x: Any) -> Any:
    t = 0.0
    for i, v in numbered(x):
        t += (i + 1) * v * x[0]
    return t


def zipped(x: Any) -> Any:
    return sum(v * w for v, w in zip(squares(x), deep(x), strict=False)) + max(squares(x))


def left(x: Any) -> Any:
    t = 0.0
    for v in squares(x):
        if v > 2.5:
            break
        t += v
    return t


def returned(x: Any) -> Any:
    for v in squares(x):
        if v > 2.0:
            return v * x[0]
    return 0.0


def of_instances(x: Any) -> Any:
    held, t = Held(x), 0.0
    for v in held:
        t += v * x[1]
    return t * sum(v * v for v in held)


def unpacked(x: Any) -> Any:
    first, *rest = chained(x)
    return first * sum(rest)


def at_once(x: Any) -> Any:
    y = x * 1.0
    return sum(written(y)) * y[2]


def listed(x: Any) -> Any:
    made = list(rows(x))
    made[0] *= x
    return np.sum(made[0] * made[1])


def in_context(x: Any) -> Any:
    with quiet(2.0):
        return np.sum(x**3)


def inner(x: Any) -> Any:
    def powers() -> Iterator[Any]:
        for i in range(3):
            yield x[0] ** i

    return math.prod(1.0 + p for p in powers())


def by_itertools(x: Any) -> Any:
    return sum(itertools.islice(squares(x), 2)) * sum(itertools.chain(squares(x), deep(x)))


def of_nothing(x: Any) -> Any:
    return sum(empty(x)) + sum(squares(x[:0])) + x[1] * x[1]


def table(x: Any) -> Any:
    entries = dict(numbered(x))
    return entries[0] * entries[2] + sum(counted(x, 3)) + sum(early(x)) + sum(logs(x))


PROGRAMS = [
    summed, looped, zipped, left, returned, of_instances, unpacked, at_once, listed, in_context,
    inner, by_itertools, of_nothing, table,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program: Callable[[Any], Any]) -> None:
    rows_of = np.eye(3)
    wanted = [(program(X + 1e-6 * e) - program(X - 1e-6 * e)) / 2e-6 for e in rows_of]
    value, pullback = vjp(program, X.copy())
    assert value == program(X.copy())
    np.testing.assert_allclose(pullback(1.0)[0], wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(grad(program)(X.copy()), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jacobian(program)(X.copy()), wanted, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(jacfwd(program)(X.copy()), wanted, rtol=1e-7, atol=1e-8)
    along = jvp(program, (X.copy(),), (np.ones(3),))[1]
    np.testing.assert_allclose(along, np.sum(wanted), rtol=1e-7)


@pytest.mark.parametrize("program", [summed, zipped, inner], ids=lambda f: f.__name__)
def test_second_order(program: Callable[[Any], Any]) -> None:
    slope = grad(program)
    wanted = [(slope(X + 1e-6 * e) - slope(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(hessian(program)(X), wanted, rtol=1e-6, atol=1e-7)


REFUSED: list[Callable[[Any], Any]] = []
IN_TURNS: list[Callable[[Any], Any]] = []


@IN_TURNS.append
def what_it_reads_is_written(x: Any) -> Any:
    y, t = x * 1.0, 0.0
    for v in squares(y):
        y[1] = 3.0 * x[0]
        t += v
    return t


@REFUSED.append
def written_before_it_runs(x: Any) -> Any:
    y = x * 1.0
    made = squares(y)
    y[0] = 5.0 * x[1]
    return sum(made)


@IN_TURNS.append
def items_are_written(x: Any) -> Any:
    t = 0.0
    for v in rows(x):
        v *= x
        t += np.sum(v)
    return t


@IN_TURNS.append
def it_writes_meanwhile(x: Any) -> Any:
    y, t = x * 1.0, 0.0
    for v in written(y):
        t += v * y[2]
    return t


@IN_TURNS.append
def a_list_grows_meanwhile(x: Any) -> Any:
    items = [1.0]

    def grown() -> Iterator[Any]:
        for i in range(3):
            items.append(x[i])
            yield items[-1] * 2

    s = 0.0
    for v in grown():
        s += v * len(items)
    return s


@REFUSED.append
def a_variable_changes_meanwhile(x: Any) -> Any:
    t = x[0]

    def scaled() -> Iterator[Any]:
        for i in range(3):
            yield x[i] * t

    for v in scaled():
        t = t + v
    return t


@REFUSED.append
def an_attribute_changes_meanwhile(x: Any) -> Any:
    held, t = Held(x * 1.0), 0.0
    for v in held:
        held.a = x * 7
        t += v
    return t


@REFUSED.append
def a_global_changes_meanwhile(x: Any) -> Any:
    global SCALE
    t = 0.0
    for v in early(x):
        SCALE = SCALE + 1.0
        t += v
    return t


@REFUSED.append
def run_through_twice(x: Any) -> Any:
    made = squares(x)
    return sum(made) + sum(made)


def endless(x: Any) -> Iterator[Any]:
    while True:
        yield x[0]
        x = x * 0.5


@REFUSED.append
def it_never_ends(x: Any) -> Any:
    return sum(v for v, _ in zip(endless(x), range(4), strict=False))


@IN_TURNS.append
def left_before_the_end(x: Any) -> Any:
    t = 0.0
    for v in counted(x, 3):
        if v > 1.0:
            break
        t += v
    return t


def asked(x: Any) -> Any:
    got = yield x[0]
    yield got


@REFUSED.append
def sent(x: Any) -> Any:
    return sum(asked(x))


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_what_would_make_a_difference_is_refused(program: Callable[[Any], Any]) -> None:
    for derivative in (grad(program), lambda x: jvp(program, (x,), (x,))):
        with pytest.raises(UnsupportedError, match=r"#(generators|iterators|aliases)"):
            derivative(X.copy())


@pytest.mark.parametrize("program", IN_TURNS, ids=lambda f: f.__name__)
def test_what_runs_in_turns_does_so(program: Callable[[Any], Any]) -> None:
    wanted = [(program(X + 1e-6 * e) - program(X - 1e-6 * e)) / 2e-6 for e in np.eye(3)]
    np.testing.assert_allclose(grad(program)(X.copy()), wanted, rtol=1e-7, atol=1e-8)
    along = jvp(program, (X.copy(),), (np.ones(3),))[1]
    np.testing.assert_allclose(along, np.sum(wanted), rtol=1e-7)

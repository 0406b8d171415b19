"""Signals while native loops run: their handlers run, and what these raise ends the loops."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import compiled, grad

pytestmark = [
    pytest.mark.usefixtures("machine_code"),
    pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers"),
]
SECONDS = 20.0
"""Of the processor: loops that are not interrupted take longer."""


def flat(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) * x + 0.1
    return y


def backwards(x, n):
    y = x
    for i in range(n, 0, -1):
        y = np.sin(y) * x + 0.1 * (i % 2)
    return y


def nest(u, n):
    u = u.copy()
    for _ in range(n):
        for i in range(1, len(u) - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
    return np.sum(u)


def deep(A, n):
    A = A.copy()
    for _ in range(n):
        for i in range(1, len(A) - 1):
            for j in range(1, len(A) - 1):
                A[i, j] = 0.5 * (A[i - 1, j] + A[i, j - 1])
    return np.sum(A)


def without_end(x, n):
    total = 0.0
    for _ in range(n):
        y = x
        while y < 2.0:
            y = np.sin(y) * x
        total += y
    return total


U, A = np.ones(500), np.ones((150, 150))
LONG = ((flat, 0.5, 10**11), (backwards, 0.5, 10**11), (nest, U, 10**9), (deep, A, 10**8),
        (without_end, 0.5, 3))
SHORT = 2
HANDLED = 0.05


@pytest.fixture
def timer() -> Iterator[Callable[[Callable[..., Any]], None]]:
    """Let a function be called once this process has computed for a while."""
    before = signal.getsignal(signal.SIGVTALRM)

    def set_timer(handler: Callable[..., Any]) -> None:
        signal.signal(signal.SIGVTALRM, handler)
        signal.setitimer(signal.ITIMER_VIRTUAL, HANDLED, HANDLED)

    yield set_timer
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.parametrize("error", [KeyboardInterrupt, TimeoutError])
@pytest.mark.parametrize(("function", "first", "count"), LONG, ids=lambda one: getattr(
    one, "__name__", ""))
def test_what_a_handler_raises_ends_loops(
    function: Any, first: Any, count: int, error: type[BaseException], timer: Any
) -> None:
    fast: Any = compiled(function)
    short = (5.0, SHORT) if function is without_end else (first, SHORT)
    expected = fast(*short)

    def handler(*_: Any) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        raise error("enough")

    started = time.process_time()
    timer(handler)
    with pytest.raises(error, match="enough"):
        fast(first, count)
    assert time.process_time() - started < SECONDS
    assert fast(*short) == expected == function(*short)


def test_loops_go_on_after_handlers_that_raise_nothing(timer: Any) -> None:
    fast: Any = compiled(nest)
    expected = fast(U * 2.0, 100_000)
    times: list[Any] = []
    timer(lambda *_: times.append(fast(U, SHORT)))  # the same loops, inside of themselves
    assert fast(U * 2.0, 100_000) == expected
    assert times and set(times) == {nest(U, SHORT)}


def test_arguments_are_not_written_into_by_loops_that_end_so(timer: Any) -> None:
    def relaxed(u, n):
        for _ in range(n):
            for i in range(1, len(u) - 1):
                u[i] = 0.5 * (u[i - 1] + u[i + 1]) + 1.0
        return np.sum(u * u)

    derivative: Any = grad(relaxed, backend="native")
    u = np.arange(50.0)
    derivative(u.copy(), SHORT)

    def handler(*_: Any) -> None:
        raise KeyboardInterrupt

    timer(handler)
    with pytest.raises(KeyboardInterrupt):
        derivative(u, 10**7)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    assert np.array_equal(u, np.arange(50.0))


def test_ranges_of_every_length_run_as_often_as_python_runs_them() -> None:
    def counted(n, start, stop):
        total = 0
        for i in range(n):
            total += i % 7
        for i in range(start, stop, -1):
            total += i % 5
        return total * 1.0

    fast: Any = compiled(counted)
    for n in (0, 1, 65535, 65536, 65537, 131072, 200_001):
        for start, stop in ((n, 0), (n - 3, -2), (-5, -5 - n), (0, 5)):
            assert fast(n, start, stop) == counted(n, start, stop)

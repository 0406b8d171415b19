"""Profiles of runs: time by source line, bytes held, what is refused."""

from __future__ import annotations

import re
import sys
import time
import tracemalloc
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, compiled, grad, hessian, jacobian
from adcompiler.viewer.profile import MOST, Timeline
from tests.viewer import programs
from tests.viewer.test_view import W, X, checked, line_of


def slow_and_fast(x, n):
    for _ in range(n):
        x = np.sin(x)
    y = np.exp(x)
    return np.sum(y * x)


def texts(profile: Any) -> dict[str, Any]:
    return {line.text.strip(): line for line in profile.lines}


def test_the_loop_that_takes_the_time_is_told_forward_and_reverse() -> None:
    found = grad(slow_and_fast).profile(np.linspace(0.0, 1.0, 20000), 50)
    assert found.lines[0].text.strip() == "x = np.sin(x)"
    slowest, fast = texts(found)["x = np.sin(x)"], texts(found)["y = np.exp(x)"]
    assert slowest.forward > 10 * fast.forward > 0
    assert slowest.reverse > 0
    total = sum(line.seconds for line in found.lines) + found.other
    assert total == pytest.approx(found.seconds)
    assert slowest.seconds > 0.5 * found.seconds


def test_lines_are_those_of_the_file() -> None:
    found = grad(programs.price).profile(X, W, 4)
    assert texts(found)["a = np.sin(s) * w"].line == line_of("a = np.sin(s) * w")
    assert all(line.file == programs.__file__ for line in found.lines)
    assert "u = t * 2.0" in texts(found)  # of a function that is opened
    rows = str(found).splitlines()
    assert re.fullmatch(r"grad of price.*: .* ms, at most .* held, .* sweep starts", rows[0])
    assert rows[1].split() == ["line", "forward", "reverse", "share"]
    assert any(row.startswith("programs.py:") and row.endswith("a = np.sin(s) * w") for row in rows)
    assert rows[-1].startswith("other")


def test_the_bytes_held_when_the_sweep_starts_are_the_tape() -> None:
    x, n = np.linspace(0.0, 1.0, 10000), 20
    found = grad(slow_and_fast).profile(x, n).timeline
    assert found.at_sweep == pytest.approx((n + 1) * x.nbytes, rel=0.1)
    assert found.at_sweep <= found.peak <= 2 * found.at_sweep
    assert found.held[0] < x.nbytes
    assert list(found.reverse) == sorted(found.reverse)
    assert list(found.steps) == sorted(found.steps)
    steady = found.held[~found.reverse]
    assert np.all(np.diff(steady[5:]) > -2 * x.nbytes)


def test_what_is_noted_takes_no_memory() -> None:
    def counted(x: float, n: int) -> float:
        total = 0.0
        for _ in range(n):
            total = total + x
        return total

    derivative = compiled(counted, backend="python")
    short, long = (
        min((derivative.profile(2.0, n).timeline for _ in range(3)), key=lambda line: line.peak)
        for n in (100, 3 * MOST))  # what the process does beside it can only add to a peak
    assert short.count < MOST < long.count
    assert abs(long.peak - short.peak) < 1000  # a few numbers, and none for each line


def test_long_timelines_keep_the_highest_points() -> None:
    line = Timeline()
    for step in range(10 * MOST):
        line.add(10**6 if step == 7777 else step % 10, step >= 6 * MOST)
    assert line.held.size <= MOST
    assert line.held.max() == 10**6
    assert line.count == 10 * MOST
    assert line.steps[line.reverse][0] == pytest.approx(6 * MOST, abs=2 * line.every)
    alternating = Timeline()
    for step in range(3 * MOST):
        alternating.add(step, step % 2 == 0)
    assert alternating.held.max() == 3 * MOST - 1


@pytest.mark.parametrize(("derivative", "args"), [
    (jacobian(programs.price), (X, W, 4)), (hessian(programs.price), (X, W, 2)),
    (compiled(programs.price, backend="python"), (X, W, 4)), (grad(programs.early), (X, False)),
    (grad(programs.square), (2.0,)), (grad(programs.in_steps), (X,)),
], ids=repr)
def test_all_kinds_of_derivatives_have_profiles(derivative: Any, args: tuple[Any, ...]) -> None:
    found = derivative.profile(*args)
    assert found.lines and found.seconds > 0
    page = found.view().html
    checked(page)
    assert "Bytes held" in page
    assert "<table" in found._repr_html_() and "<svg" in found._repr_html_()


def test_pictures_show_lines_and_the_timeline() -> None:
    pytest.importorskip("matplotlib")
    found = grad(slow_and_fast).profile(X, 3)
    times, memory = found.plot()
    labels = [label.get_text() for label in times.get_yticklabels()]
    assert labels[0].endswith(found.lines[0].text.strip()[:40])
    assert memory.get_ylabel() == "bytes held"
    assert found.plot((times, memory)) is not None


def test_tracers_and_the_tracing_of_memory_stay() -> None:
    def tracer(*_: object) -> None:
        return None

    before = sys.gettrace()
    tracemalloc.start()
    sys.settrace(tracer)
    try:
        grad(programs.price).profile(X, W, 4)
        assert sys.gettrace() is tracer
        assert tracemalloc.is_tracing()
    finally:
        sys.settrace(before)
        tracemalloc.stop()
    grad(programs.price).profile(X, W, 4)
    assert not tracemalloc.is_tracing()


def test_exceptions_are_the_callers_and_leave_nothing_behind() -> None:
    calls = []

    def picky(x: Any) -> Any:
        calls.append(1)
        if len(calls) > 2:
            raise ValueError("enough")
        return np.sum(x * x)

    before = sys.gettrace()
    with pytest.raises(ValueError, match="enough"):
        grad(picky).profile(X)
    assert sys.gettrace() is before
    assert not tracemalloc.is_tracing()


def test_machine_code_has_no_lines() -> None:
    pytest.importorskip("llvmlite")

    def loop(x: float, n: int) -> float:
        for _ in range(n):
            x = x * x
        return x

    with pytest.raises(ValueError, match=r'no lines to measure: .* backend="python"'):
        grad(loop, backend="native").profile(0.5, 3)


def test_recordings_have_no_profile() -> None:
    def sneaky(x: Any) -> Any:
        return eval("np.sum(x * x)")

    with pytest.raises(ADError):
        grad(sneaky, fallback="refuse").profile(X)
    with pytest.raises(ValueError, match="is recorded in each call"):
        grad(programs.price, backend="record").profile(X, W, 4)


def test_time_outside_of_the_code_is_other() -> None:
    def wait(x: float) -> float:
        time.sleep(0.02)
        return x * x

    found = grad(wait).profile(3.0)
    assert texts(found)["time.sleep(0.02)"].forward > 0.015

"""Compiling takes as many steps more as a program is longer: counted are calls, not seconds."""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from adcompiler import value_and_grad
from adcompiler.frontend.regions import Regions
from adcompiler.infer.storage.loop_summaries import Iteration
from adcompiler.infer.storage.loop_fixpoint import Settling
from tests.lanes import one_in


def nested(head: str) -> Callable[[int], str]:
    """Return a maker of ``n`` regions inside of one another, each with a statement of its own."""

    def text(n: int) -> str:
        lines = ["def f(x, n):", "    s = x", "    a = np.zeros(4)"]
        for k in range(n):
            lines += ["    " * (k + 1) + head.format(k=k), "    " * (k + 2) + "s = s * 1.01"]
        return "\n".join([*lines, "    " * (n + 1) + "a[0] = a[0] * x + s", "    return s + a[0]"])

    return text


def repeated(*lines: str) -> Callable[[int], str]:
    """Return a maker of ``n`` times the same lines, one after the other."""

    def text(n: int) -> str:
        body = [f"    {line.format(k=k)}" for k in range(n) for line in lines]
        start = ["def f(x, n):", "    s = x", "    a = np.zeros(4)", "    items = []"]
        return "\n".join([*start, *body, "    return s + np.sum(a) + sum(items)"])

    return text


LONGER = {
    "statements": (repeated("s = s * x + 0.{k}"), 100),
    "names": (repeated("v{k} = s * x", "s = s + v{k} * 0.5"), 60),
    "loops": (repeated("for i in range(n):", "    s = s * x + 0.1"), 12),
    "loops that write": (repeated("for i in range(n):", "    a[i] = a[i - 1] * x + 0.1"), 10),
    "whiles": (
        repeated("i = 0", "while i < n:", "    s = s * x + 0.1", "    i = i + 1"), 8),
    "branches": (repeated("if s > {k}.5:", "    s = s * x"), 25),
    "branches that write": (repeated("if n > {k}:", "    a[0] = a[1] * x + {k}.0"), 12),
    "withs": (repeated("with np.errstate(all='ignore'):", "    s = s * x"), 15),
    "tries": (
        repeated("try:", "    s = s * x / n", "except ZeroDivisionError:", "    s = s * 0.5"), 8),
    "writes": (repeated("a[{k} % 4] = a[({k} + 1) % 4] * x + {k}.0"), 30),
    "comprehensions": (repeated("s = s + sum([x * i for i in range(n)])"), 12),
    "nested functions": (
        repeated("def g{k}(y):", "    return y * 1.01 + x", "s = g{k}(s)"), 12),
    "early returns": (repeated("if n == {k} + 5:", "    return s * {k}.0", "s = s * 1.01"), 8),
}
DEEPER = {
    "loops": (nested("for i{k} in range(n):"), 4),
    "branches": (nested("if s > -{k}.5:"), 6),
    "withs": (nested("with np.errstate(all='ignore'):"), 6),
}


def steps(text: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> int:
    """Return how many functions are called to compile a program, whose value is compared."""
    (tmp_path / f"{name}.py").write_text(f"import numpy as np\n{text}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    function = __import__(name).f
    count = 0

    def counting(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    derivative = value_and_grad(function)
    before = sys.getprofile()
    threading.setprofile(counting)
    try:
        value, slope = derivative(1.1, 2)
    finally:
        threading.setprofile(before)
    assert value == function(1.1, 2)
    wanted = (function(1.1 + 1e-6, 2) - function(1.1 - 1e-6, 2)) / 2e-6
    assert abs(slope - wanted) <= 1e-4 * (1 + abs(wanted))
    assert count > 1000
    return count


@pytest.mark.parametrize("kind", one_in(2, LONGER))
def test_twice_the_text_takes_about_twice_the_steps(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text, n = LONGER[kind]
    name = kind.replace(" ", "_")
    steps(text(2), f"warm_{name}", monkeypatch, tmp_path)
    less = steps(text(n), f"less_{name}", monkeypatch, tmp_path)
    more = steps(text(2 * n), f"more_{name}", monkeypatch, tmp_path)
    assert more <= 2.6 * less


@pytest.mark.parametrize("kind", DEEPER)
def test_one_region_more_inside_takes_little_more(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text, n = DEEPER[kind]
    steps(text(2), f"warm_deep_{kind}", monkeypatch, tmp_path)
    less = steps(text(n), f"less_deep_{kind}", monkeypatch, tmp_path)
    more = steps(text(n + 1), f"more_deep_{kind}", monkeypatch, tmp_path)
    assert more <= 1.4 * less


def caught(n: int) -> str:
    """Return ``n`` nested ``try`` whose handlers read what the bodies assign."""
    lines = ["def f(x, n):", "    s = x"]
    for k in range(n):
        lines += ["    " * (k + 1) + "try:", "    " * (k + 2) + f"s = s * x + 1 / (n + {k})"]
    for k in reversed(range(n)):
        pad = "    " * (k + 1)
        lines += [f"{pad}    s = s + 1 / (n - 2)", f"{pad}except ZeroDivisionError:",
                  f"{pad}    s = s * 0.5"]
    return "\n".join([*lines, "    return s"])


def test_bodies_of_try_inside_of_one_another_are_not_lowered_twice_each(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    lowered = 0
    whole = Regions.caught_whole

    def counting(*args: Any) -> Any:
        nonlocal lowered
        lowered += 1
        return whole(*args)

    monkeypatch.setattr(Regions, "caught_whole", counting)
    steps(caught(3), "caught_3", monkeypatch, tmp_path)
    less, lowered = lowered, 0
    steps(caught(6), "caught_6", monkeypatch, tmp_path)
    assert 0 < lowered <= 4 * less


LOOPS_THAT_WRITE = {
    "rebinding": ("y[0] = y[0] * 1.1", "y = y * 0.9"),
    "another name": ("z = y", "z[0] += 0.1 * x", "y = z * 1.0"),
    "swap": ("y[0] = y[0] * 1.1", "y, z = z, y"),
    "view": ("w = y[1:]", "w[0] = w[0] * x", "y = y + 0.1 * w[0]"),
    "list": ("pair[0] = pair[0] * x", "pair = [a for a in pair]"),
}


@pytest.mark.parametrize("kind", LOOPS_THAT_WRITE)
def test_a_loop_is_written_as_often_however_deep_it_is(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    settled, trials = Settling.settled, 0

    def counting(self: Settling, attempt: Iteration) -> bool:
        nonlocal trials
        trials += 1
        return settled(self, attempt)

    monkeypatch.setattr(Settling, "settled", counting)
    counts = []
    for depth in range(1, 6):
        lines = ["def f(x, n):", "    y, z = np.array([x, 2.0 * x]), np.array([x, 0.5])",
                 "    pair = [x, x * x]"]
        lines += ["    " * (k + 1) + f"for i{k} in range(n):" for k in range(depth)]
        lines += ["    " * (depth + 1) + line for line in LOOPS_THAT_WRITE[kind]]
        lines += ["    return y.sum() + z.sum() + pair[0]"]
        trials = 0
        steps("\n".join(lines), f"trials_{kind.replace(' ', '_')}_{depth}", monkeypatch, tmp_path)
        counts.append(trials)
    growth = [b - a for a, b in itertools.pairwise(counts)]
    assert growth[-1] <= growth[-2] <= 3, counts


def chain(n: int) -> str:
    """Return a function with a chain of ``n`` branches."""
    lines = ["def f(x, n):", "    s = x"]
    for k in range(n):
        lines += [f"    {'elif' if k else 'if'} n == {k}:", f"        s = s * {k}.5 + x"]
    return "\n".join([*lines, "    return s * x"])


def test_chains_of_branches_stay_chains(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    texts = {}
    for n in (20, 40):
        name = f"chain_{n}"
        steps(chain(n), name, monkeypatch, tmp_path)
        texts[n] = value_and_grad(__import__(name).f).source_for(1.1, 2)
        assert texts[n].count("    elif n == ") == n - 1
        assert texts[n].count("else:") == 1
    assert len(texts[40]) <= 2.1 * len(texts[20])

"""What is too large, or too deep, is refused by name, and what is only long is compiled."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from adcompiler import ADError, grad, hessian
from adcompiler.dispatch import keeping
from adcompiler.errors import TooLargeError, TooLongError
from adcompiler.ir.nodes import Origin
from adcompiler.infer.calls.libraries import call_of_package, is_of_package
from adcompiler.support.budget import (
    COLLECTED_EVERY, Budget, Clock, deeply, few_collections, recursion, together,
)

HERE = Origin("file.py", 1, 0, "y = x")


def module(text: str, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    (tmp_path / f"{name}.py").write_text(f"import numpy as np\n{text}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    return __import__(name)


def large(x):
    s = x
    for _ in range(3):
        s = s * x
        s = s + 1.0
        s = s * x
        s = s + 2.0
        s = s * x
        s = s + 3.0
        s = s * x
        s = s + 4.0
        s = s * x
        s = s + 5.0
        s = s * x
        s = s + 6.0
    return s


def caller(x):
    y = x * 2.0
    return large(y) + 1.0


def test_the_refusal_names_the_call_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "20")
    with pytest.raises(TooLargeError, match="the call here is too large to compile") as caught:
        grad(caller)(1.0)
    (finding,) = caught.value.findings
    assert finding.text.strip() == "return large(y) + 1.0"
    assert "ADCOMPILER_BUDGET" in finding.hint and finding.anchor == "budget"


def test_the_same_call_passes_with_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "inf, 600")
    step = (caller(1.0 + 1e-7) - caller(1.0 - 1e-7)) / 2e-7
    assert grad(caller)(1.0) == pytest.approx(step, rel=1e-6)


def test_calls_of_packages_may_take_a_share() -> None:
    inside = Origin("package.py", 1, 0, "y = x")
    budget = Budget(statements=100)
    for _ in range(15):
        budget.spend(inside, [HERE], HERE)
    budget.spend(HERE, [])
    with pytest.raises(TooLargeError, match="the call here is too large") as caught:
        budget.spend(inside, [HERE], HERE)
    (finding,) = caught.value.findings
    assert finding.file == "file.py"


def test_the_users_call_of_a_package_is_found() -> None:
    own, package = Origin("own.py", 1, 0, ""), Origin(np.__file__, 1, 0, "")
    assert is_of_package(np.__file__) and not is_of_package(__file__)
    assert call_of_package([own, HERE, package]) is HERE
    assert call_of_package([package]) is None


def test_what_cannot_be_kept_on_disk_is_known_in_the_process(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "20")
    monkeypatch.setenv("ADCOMPILER_RECORD", "0")
    step = [large]

    def unnamed(x: Any) -> Any:
        return step[0](x) * 2.0

    spent: list[int] = []
    spend = Budget.spend
    monkeypatch.setattr(Budget, "spend", lambda *args: (spent.append(1), spend(*args))[1])
    monkeypatch.setattr(keeping, "reliance_manifest", lambda relied: None)
    for wanted in (True, False):
        spent.clear()
        with pytest.raises(TooLargeError, match="the call here is too large to compile"):
            grad(unnamed)(1.0)
        assert bool(spent) is wanted


def test_time_is_part_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "inf,1e-9")
    with pytest.raises(TooLargeError, match="seconds went into it"):
        grad(lambda x: large(x) * 3.0)(1.0)


def test_nothing_else_is_tried_when_the_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "inf,1e-9")
    for derivative in (hessian(lambda x: large(x) * 5.0), grad(lambda x, k="a": large(x) * 7.0)):
        with pytest.raises(TooLongError, match="seconds went into it"):
            derivative(1.0)
    monkeypatch.delenv("ADCOMPILER_BUDGET")
    assert grad(lambda x, k="a": large(x) * 7.0)(1.0) > 0.0  # it is not remembered


def test_tries_have_the_time_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", "inf,1000")
    now = [5.0]
    monkeypatch.setattr(time, "thread_time", lambda: now[0])
    with together():
        first = Budget.from_environment()
        assert first.clock.read() == 0.0
        now[0] += 400.0
        first.check(HERE)
        with together():
            assert Budget.from_environment().clock.read() == 400.0
            now[0] += 601.0
            with pytest.raises(TooLongError, match="1001 seconds"):
                Budget.from_environment().check(HERE)
    assert Budget.from_environment().clock.read() == 0.0


def test_waiting_is_not_counted() -> None:
    clock = Clock()
    clock.read()
    time.sleep(0.3)
    assert clock.read() < 0.2


@pytest.mark.parametrize("text", ["many", "1,2,3", "0", "-5,3", "nan"])
def test_a_budget_that_is_none_is_an_error(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADCOMPILER_BUDGET", text)
    with pytest.raises(ADError, match="is not `statements` or `statements,seconds`"):
        grad(lambda x: x * 7.0)(1.0)


LONG = {
    "terms": ("def f(x):\n    return " + " + ".join(["x"] * 300), 300.0),
    "items": (
        "def f(x):\n    return sum([" + ", ".join(f"x * {k}.0" for k in range(1000)) + "])",
        499500.0,
    ),
    "helpers": (
        "def h0(x):\n    return x * 2.0\n" + "".join(
            f"def h{k}(x):\n    return h{k - 1}(x) + x\n" for k in range(1, 60)
        ) + "def f(x):\n    return h59(x)", 61.0,
    ),
    "branches": (
        "def f(x, n=117):\n    if n == 0:\n        return x\n" + "".join(
            f"    elif n == {k}:\n        s = x * {k}.0\n" for k in range(1, 120)
        ) + "    else:\n        s = 0.0\n    return s", 117.0,
    ),
    "parentheses": ("def f(x):\n    return " + "(x + " * 80 + "x" + ")" * 80, 81.0),
}


@pytest.mark.parametrize("kind", LONG)
def test_long_programs_are_compiled(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text, wanted = LONG[kind]
    function = module(text, f"long_{kind}", monkeypatch, tmp_path).f
    assert grad(function)(1.5) == wanted


@pytest.mark.parametrize("terms", [900, 2500, 20000])
def test_whatever_is_deeper_still_is_compiled_or_refused(
    terms: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    text = "def f(x):\n    return " + " + ".join(["x"] * terms)
    try:
        function = module(text, f"deep_{terms}", monkeypatch, tmp_path).f
    except (RecursionError, MemoryError):
        return  # Python itself does not take it
    try:
        assert grad(function)(1.0) == terms
    except ADError as error:
        assert "too deep" in str(error)


def test_the_limit_of_recursion_is_as_before() -> None:
    before = sys.getrecursionlimit()
    assert grad(lambda x: x * x * 5.0)(1.0) == 10.0
    with recursion(before + 500), recursion(before + 300):
        assert sys.getrecursionlimit() >= before + 300
    assert sys.getrecursionlimit() == before


def test_work_is_done_on_a_thread_whose_exceptions_arrive() -> None:
    here = threading.current_thread()
    assert deeply(threading.current_thread) is not here
    assert deeply(lambda: deeply(threading.current_thread) is threading.current_thread())
    with pytest.raises(KeyError, match="gone"):
        deeply(lambda: {}["gone"])


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)


def test_cycles_are_looked_for_less_often_while_compiling(threshold: tuple[int, int, int]) -> None:
    assert deeply(gc.get_threshold) == (COLLECTED_EVERY, *threshold[1:])
    assert gc.get_threshold() == threshold
    with few_collections():
        assert deeply(gc.get_threshold)[0] == COLLECTED_EVERY
        assert gc.get_threshold()[0] == COLLECTED_EVERY  # one still compiles
    assert gc.get_threshold() == threshold


@pytest.mark.parametrize("given", [0, COLLECTED_EVERY + 1])
def test_who_looks_less_often_already_is_let_alone(
    given: int, threshold: tuple[int, int, int]
) -> None:
    gc.set_threshold(given, 5, 5)
    assert deeply(gc.get_threshold) == (given, 5, 5)
    assert gc.get_threshold() == (given, 5, 5)


def test_what_is_set_meanwhile_stays(threshold: tuple[int, int, int]) -> None:
    deeply(lambda: gc.set_threshold(500, 6, 7))
    assert gc.get_threshold() == (500, 6, 7)


def test_it_is_as_before_behind_an_error(threshold: tuple[int, int, int]) -> None:
    with pytest.raises(ZeroDivisionError):
        deeply(lambda: 1 // 0)
    assert gc.get_threshold() == threshold

"""Loops that LLVM does not compile: Python under ``"auto"``, an ADError under ``"native"``."""

from __future__ import annotations

import sys
from pathlib import Path
from types import BuiltinFunctionType
from typing import Any

import numpy as np
import pytest

from adcompiler import grad, vjp
from adcompiler.errors import UnsupportedError
from adcompiler.runtime.machine import llvm
from adcompiler.runtime.machine import loops as llvm_loops
from adcompiler.runtime.machine import trial as llvm_trial
from adcompiler.runtime.machine.llvm import Engine
from adcompiler.support.budget import is_deep

pytest.importorskip("llvmlite")
RAISED = (RecursionError("too deep"), AssertionError(), KeyError("name"), ValueError("a\nb"))
X = np.linspace(0.0, 1.0, 5)


def valley(x: Any) -> Any:
    total = 0.0
    for i in range(len(x) - 1):
        total += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return total


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be compiled before."""
    monkeypatch.setenv("ADCOMPILER_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("ADCOMPILER_NATIVE", raising=False)


def failing(monkeypatch: pytest.MonkeyPatch, error: Exception) -> list[Any]:
    """Let LLVM raise an error whenever it compiles; return the list of its tries."""
    tries: list[Any] = []

    def compiled(self: Any, text: str) -> Any:
        tries.append(text)
        raise error

    llvm.engine().add_storage()
    monkeypatch.setattr(Engine, "compiled", compiled)
    return tries


@pytest.mark.parametrize("error", RAISED, ids=lambda error: type(error).__name__)
def test_whatever_is_raised_is_told_and_not_tried_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = failing(monkeypatch, error)
    expected = grad(valley)(X)
    derivative = grad(valley, backend="auto")
    for _ in range(3):
        assert np.array_equal(derivative(X), expected)
    said = derivative.explain(X).backend
    assert said.startswith("stays in Python: LLVM does not compile it (")
    assert type(error).__name__ in said
    count = 1 + isinstance(error, RecursionError)  # on a deeper stack too
    assert len(tries) == count
    asked = grad(valley, backend="native")
    for _ in range(2):
        with pytest.raises(UnsupportedError, match="the native backend has nothing for") as raised:
            asked(X)
        assert "def valley(x: Any) -> Any:" in str(raised.value)
        assert type(error).__name__ in str(raised.value)
        assert "limitations.md#native" in str(raised.value)
    assert len(tries) == 2 * count


def test_loops_chosen_before_are_not_compiled_for_other_arrays(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    derivative: Any = grad(valley, backend="auto")
    derivative(X)
    failing(monkeypatch, AssertionError("no loops"))
    assert np.array_equal(derivative(X[::2]), grad(valley)(X[::2]))
    assert derivative.explain(X[::2]).backend == (
        "stays in Python: LLVM does not compile it (AssertionError: no loops)")


def test_pullbacks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = Engine.compiled

    def no_pullback(self: Any, text: str) -> Any:
        if "pullback" in text:
            raise RecursionError
        return compiled(self, text)

    monkeypatch.setattr(Engine, "compiled", no_pullback)
    value, pullback = vjp(valley, X, backend="native")
    assert value == valley(X)
    with pytest.raises(UnsupportedError, match="LLVM does not compile it"):
        pullback(1.0)


def test_loops_are_compiled_on_a_stack_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = Engine.compiled

    def needs_room(self: Any, text: str) -> Any:
        if not is_deep():
            raise RecursionError
        return compiled(self, text)

    monkeypatch.setattr(Engine, "compiled", needs_room)
    derivative = grad(valley, backend="native")
    assert np.array_equal(derivative(X), grad(valley)(X))
    loops = derivative.compiled_for(X).__globals__["valley_grad_loops"]
    assert isinstance(loops, BuiltinFunctionType)


def test_memory_that_is_short_is_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    tries = failing(monkeypatch, MemoryError())
    derivative = grad(valley, backend="native")
    for _ in range(2):
        assert np.array_equal(derivative(X), grad(valley)(X))
    assert len(tries) == 2


def test_other_platforms_are_tried_in_a_process_of_their_own(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "another")
    monkeypatch.setattr(llvm_trial, "trial", llvm_trial.trial.__wrapped__)
    assert llvm_trial.trial() == ""
    monkeypatch.setattr(llvm_trial, "TRIAL", "import os; os.abort()")
    assert llvm_trial.trial() == "exit code -6"
    monkeypatch.setattr(llvm_trial, "TRIAL", "raise ValueError('no')")
    with pytest.raises(ImportError, match="does not run on this platform: ValueError: no"):
        llvm_trial.try_out()
    monkeypatch.setattr(llvm.engine(), "has_storage", False)
    derivative = grad(valley, backend="auto")
    for _ in range(2):
        assert np.array_equal(derivative(X), grad(valley)(X))
    assert "does not run on this platform: ValueError: no" in derivative.explain(X).backend


def test_llvm_that_cannot_be_used_here(monkeypatch: pytest.MonkeyPatch) -> None:
    def unusable() -> Any:
        raise ImportError("objects lie in memory in another way")

    monkeypatch.setattr(llvm_loops, "engine", unusable)
    derivative = grad(valley, backend="auto")
    assert np.array_equal(derivative(X), grad(valley)(X))
    assert np.array_equal(derivative(X), grad(valley)(X))
    assert "objects lie in memory in another way" in derivative.explain(X).backend
    with pytest.raises(UnsupportedError, match="objects lie in memory in another way"):
        grad(valley, backend="native")(X)

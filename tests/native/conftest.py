"""What the tests of native loops share."""

from __future__ import annotations

import pytest


@pytest.fixture
def machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let LLVM compile loops, where llvmlite is installed."""
    pytest.importorskip("llvmlite")
    monkeypatch.delenv("ADCOMPILER_NATIVE", raising=False)


@pytest.fixture
def plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run loops as the Python text that they are."""
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")

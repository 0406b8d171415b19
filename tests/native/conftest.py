"""What the tests of native loops share."""

from __future__ import annotations

import pytest


@pytest.fixture
def by_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let numba compile loops, where it is installed."""
    pytest.importorskip("numba")
    monkeypatch.setenv("ADCOMPILER_NATIVE", "numba")


@pytest.fixture
def plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run loops as the Python text that they are."""
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")

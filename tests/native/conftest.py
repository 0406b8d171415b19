"""What the tests of native loops share."""

from __future__ import annotations

import pytest


@pytest.fixture
def plain_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run loops as the Python text that they are."""
    monkeypatch.setenv("ADCOMPILER_NATIVE", "plain")

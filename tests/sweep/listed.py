"""What of the sweep is known to differ from plain Python, and why."""

from __future__ import annotations

from tests.sweep.cells import Cell

LISTED: dict[str, str] = {}
"""Reasons by ``module.name``, of functions whose cells may come out wrong or raw."""


def reason(cell: Cell) -> str:
    """Return why a cell may come out wrong or raw; '' if it may not."""
    return LISTED.get(f"{cell.module}.{cell.name}", "")

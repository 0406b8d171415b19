"""What of the sweep is known to differ from plain Python, and why."""

from __future__ import annotations

from tests.sweep.cells import Cell

LISTED: dict[str, str] = {
    "numpy.linalg.eigvals(float64[3, 3] of": "eigenvalues that coincide have no derivative",
    "scipy.linalg.solve_sylvester(float64[0, 3],": "SciPy returns memory that nobody wrote",
}
"""Reasons by how the text of a cell begins, of cells that may come out wrong or raw."""


def reason(cell: Cell) -> str:
    """Return why a cell may come out wrong or raw; '' if it may not."""
    return next((why for start, why in LISTED.items() if cell.shown.startswith(start)), "")

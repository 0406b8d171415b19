"""What of the sweep is known to differ from plain Python, and why."""

from __future__ import annotations

from tests.sweep.cells import Cell

EQUAL = "eigenvalues that coincide have no derivative"
RANK = "a matrix that lacks full rank: no derivative, or no second one"
BASIS = "vectors that complete a basis turn as they must, LAPACK's otherwise (docs/kinks.md)"
ENDS = "differences see where iterations end"
LISTED: dict[str, str] = {
    "numpy.linalg.eigvals(float64[3, 3] of": EQUAL,
    "scipy.linalg.eigvals(float64[3, 3] of": EQUAL,
    "scipy.linalg.solve_sylvester(float64[0, 3],": "SciPy returns memory that nobody wrote",
    "scipy.linalg.solve(float64[3, 3] of": "SciPy solves what it can tell to be singular",
    "numpy.linalg.det(float64[3, 3] of": RANK,
    "scipy.linalg.det(float64[3, 3] of": RANK,
    "numpy.linalg.qr(float64[3, 4] of": RANK,
    "scipy.linalg.orthogonal_procrustes(float64[3, 3] of": RANK,
    "scipy.linalg.qr(float64[3, 4] of": RANK,
    "numpy.linalg.svd(float64[1, 4]": BASIS,
    "numpy.linalg.svd(list(": BASIS,
    "scipy.ndimage.standard_deviation(float64[1])": "the square root of a zero",
    "scipy.interpolate.splev(float64[": "the degree of the spline is a fraction",
    "numpy.unique_values(float64[": "how many values there are changes",
    "scipy.linalg.cholesky_banded(float64[4], 2)": "it may overwrite the argument",
    "scipy.linalg.solve_triangular(float64[3, 3], float64[3], overwrite_b=True)":
        "it may overwrite the argument",
    "scipy.linalg.eig(float64[3, 3], right=0.9)": "a flag that is no truth value",
    "scipy.ndimage.zoom(float64[3, 4], 1, mode=": "a mode that nothing reads",
    **{f"scipy.sparse.linalg.{name}(": ENDS for name in (
        "bicg", "bicgstab", "cgs", "gcrotmk", "gmres", "lgmres", "minres", "qmr", "tfqmr", "lsmr",
        "lsqr",
    )},
}
"""Reasons by how the text of a cell begins, of cells that may come out wrong or raw."""


def reason(cell: Cell) -> str:
    """Return why a cell may come out wrong or raw; '' if it may not."""
    return next((why for start, why in LISTED.items() if cell.shown.startswith(start)), "")

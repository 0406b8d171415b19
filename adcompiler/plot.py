"""Pictures of sparsity patterns; needs matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SQUARES = 400
"""Up to so many rows and columns, entries are drawn as squares; beyond, as density in blocks."""


def spy(pattern: Any, ax: Any = None, title: str | None = None) -> Any:
    """Draw a sparsity pattern and return the axes.

    ``pattern`` is a sparse or dense matrix, of which the nonzeros are drawn; ``ax`` the axes to
    draw in, by default new ones. Large patterns are drawn as shades of how full their blocks
    are, so that single entries stay visible. Raises ImportError without matplotlib.
    """
    entries = sp.coo_array(pattern)
    m, n = entries.shape
    if ax is None:
        ax = new_axes(m, n)
    height, width = min(m, SQUARES), min(n, SQUARES)
    picture = np.zeros((max(height, 1), max(width, 1)))
    if entries.nnz:
        rows = entries.row.astype(np.int64) * height // m
        columns = entries.col.astype(np.int64) * width // n
        np.add.at(picture, (rows, columns), 1.0)
    full = (m / height if height else 1.0) * (n / width if width else 1.0)
    shown = np.where(picture > 0.0, 0.5 + 0.5 * np.minimum(picture / full, 1.0), 0.0)
    ax.imshow(
        shown, cmap="Blues", vmin=0.0, vmax=1.0, interpolation="nearest",
        extent=(-0.5, max(n, 1) - 0.5, max(m, 1) - 0.5, -0.5),
        aspect="equal" if near_square(m, n) else "auto",
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    ax.set_title(title or f"{m} x {n}, {entries.nnz} nonzeros")
    ax.set_xlabel("input")
    ax.set_ylabel("output")
    return ax


def near_square(m: int, n: int) -> bool:
    """Say whether a picture of a matrix can have square entries."""
    return max(m, n) <= 8 * max(min(m, n), 1)


def new_axes(m: int, n: int) -> Any:
    """Return axes of a new figure, of the proportions of a matrix."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "pictures of patterns need matplotlib: pip install adcompiler[plot]"
        ) from error
    ratio = min(max(m / max(n, 1), 0.25), 4.0)
    width = 5.0 if ratio >= 1.0 else min(5.0 / ratio, 9.0)
    return Figure(figsize=(width, width * ratio + 0.7), layout="constrained").add_subplot()


def save(pattern: Any, path: str, title: str | None = None) -> None:
    """Draw a sparsity pattern into a file, of the kind that its name says: png, pdf, svg."""
    spy(pattern, title=title).figure.savefig(path, dpi=150)

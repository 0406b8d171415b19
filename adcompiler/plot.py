"""Pictures of patterns, memory and times; needs matplotlib, which the extra ``plot`` installs."""

from __future__ import annotations

import base64
import importlib.util
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

SQUARES = 400
"""Up to so many rows and columns, entries are drawn as squares; beyond, as density in blocks."""


class Pattern(sp.csr_array):  # type: ignore[misc]
    """A sparsity pattern: a ``csr_array`` of bool that notebooks draw."""

    def plot(self, ax: Any = None, title: str | None = None) -> Any:
        """Draw the pattern and return the axes; see ``spy``."""
        return spy(self, ax, title)

    def _repr_html_(self) -> str:
        m, n = self.shape
        return drawn(self.plot, f"{m} x {n}, {self.nnz} nonzeros")


def spy(pattern: Any, ax: Any = None, title: str | None = None, coloring: Any = None) -> Any:
    """Draw a sparsity pattern and return the axes.

    ``pattern`` is a sparse or dense matrix, of which the nonzeros are drawn; ``ax`` the axes to
    draw in, by default new ones. Large patterns are drawn as shades of how full their blocks
    are, so that single entries stay visible. With ``coloring``, a ``Coloring`` of the pattern,
    nonzeros have the color of their column, or of their row where that has none; a block has that
    of its last nonzero. Raises ImportError without matplotlib.
    """
    entries = sp.coo_array(pattern)
    m, n = entries.shape
    if ax is None:
        ax = new_axes(m, n)
    height, width = min(m, SQUARES), min(n, SQUARES)
    picture = np.zeros((max(height, 1), max(width, 1)))
    look: dict[str, Any] = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0}
    if entries.nnz:
        rows = entries.row.astype(np.int64) * height // m
        columns = entries.col.astype(np.int64) * width // n
        np.add.at(picture, (rows, columns), 1.0)
    if coloring is not None:
        from matplotlib import colormaps

        count = max(coloring.count, 1)
        of_rows = coloring.rows[entries.row] + coloring.column_count
        colors = np.where(
            coloring.columns[entries.col] >= 0, coloring.columns[entries.col], of_rows)
        shown = np.full(picture.shape, np.nan)
        if entries.nnz:
            shown[rows, columns] = colors
        name = "tab10" if count <= 10 else "tab20" if count <= 20 else "hsv"
        look = {"cmap": colormaps[name], "vmin": -0.5, "vmax": max(count, 10) - 0.5}
        if count > 10:
            look["vmax"] = max(count, 20) - 0.5
    else:
        full = (m / height if height else 1.0) * (n / width if width else 1.0)
        shown = np.where(picture > 0.0, 0.5 + 0.5 * np.minimum(picture / full, 1.0), 0.0)
    ax.imshow(
        shown, interpolation="nearest",
        extent=(-0.5, max(n, 1) - 0.5, max(m, 1) - 0.5, -0.5),
        aspect="equal" if near_square(m, n) else "auto", **look,
    )
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_major_locator().set_params(integer=True)
    ax.set_title(title or (f"{m} x {n}, {entries.nnz} nonzeros" if coloring is None else
                           str(coloring).replace("; ", "\n")))
    ax.set_xlabel("input")
    ax.set_ylabel("output")
    return ax


def drawn(draw: Callable[[], Any], text: str) -> str:
    """Return what ``draw`` draws as HTML; the text alone without matplotlib."""
    import html

    if importlib.util.find_spec("matplotlib") is None:
        return f"<code>{html.escape(text)}</code>"
    picture = io.BytesIO()
    draw().figure.savefig(picture, format="png", dpi=100)
    data = base64.b64encode(picture.getvalue()).decode()
    return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{data}">'


def html_table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts as HTML; a cell that is a share, "12 %", has a bar of that width."""
    import html

    def cell(text: str) -> str:
        share = text.removesuffix(" %")
        if share == text:
            return f'<td style="text-align: left">{html.escape(text)}</td>'
        bar = f"linear-gradient(to right, #f4a87c88 {share}%, transparent {share}%)"
        return f'<td style="background: {bar}; min-width: 6em">{text}</td>'

    headings = "".join(f'<th style="text-align: left">{one}</th>' for one in head)
    lines = "".join(f"<tr>{''.join(map(cell, row))}</tr>" for row in rows)
    return (f"<table><caption>{html.escape(title)}</caption>"
            f"<thead><tr>{headings}</tr></thead><tbody>{lines}</tbody></table>")


def near_square(m: int, n: int) -> bool:
    """Say whether a picture of a matrix can have square entries."""
    return max(m, n) <= 8 * max(min(m, n), 1)


def new_axes(m: int, n: int) -> Any:
    """Return axes of a new figure, of the proportions of a matrix."""
    ratio = min(max(m / max(n, 1), 0.25), 4.0)
    width = 5.0 if ratio >= 1.0 else min(5.0 / ratio, 9.0)
    return figure(width, width * ratio + 0.7).add_subplot()


def figure(width: float, height: float) -> Any:
    """Return a new figure, which no window shows."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "pictures need matplotlib: pip install adcompiler[plot]") from error
    return Figure(figsize=(width, height), layout="constrained")


def bars(names: Sequence[str], sizes: Sequence[int], ax: Any = None) -> Any:
    """Draw named numbers of bytes as bars, the first on top, and return the axes."""
    ax = figure(6.0, 0.9 + 0.3 * len(names)).add_subplot() if ax is None else ax
    ax.barh(range(len(names)), sizes, color="tab:orange")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("bytes")
    return ax


def save(pattern: Any, path: str, title: str | None = None) -> None:
    """Draw a sparsity pattern into a file, of the kind that its name says: png, pdf, svg."""
    spy(pattern, title=title).figure.savefig(path, dpi=150)

"""From the derivatives along the seeds of a coloring back to the sparse matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.sparsity.coloring import (
    Coloring, entries, is_alone, mirror_images, without_diagonal,
)
from adcompiler.sparsity.kernels import substitution_kernel, substitution_order_kernel


class Decompression:
    """Where in the compressed derivatives each nonzero of a matrix is found; made once.

    ``forward`` below has one row for each color of columns: the sum of the matrix's columns of
    that color, shape (column_count, rows of the matrix). ``reverse`` has one for each color of
    rows, shape (row_count, columns of the matrix).
    """

    def __init__(self, coloring: Coloring) -> None:
        self.coloring = coloring
        self.pattern = coloring.pattern
        self.row, self.column = entries(self.pattern)
        if coloring.kind == "acyclic":
            self._substitution()
        else:
            self._places()

    def _places(self) -> None:
        """Find out which nonzeros are read forward, and where."""
        coloring = self.coloring
        row, column = self.row, self.column
        color_of_column = coloring.columns[column]
        self.direct = is_alone(row, color_of_column, coloring.column_count)
        self.at = (color_of_column, row)
        self.mirrored = coloring.columns[row] if coloring.kind == "star" else coloring.rows[row]

    def _substitution(self) -> None:
        coloring = self.coloring
        self.indptr, self.indices = without_diagonal(self.pattern)
        self.mirror = mirror_images(self.indptr, self.indices)
        self.owner = np.repeat(np.arange(self.indptr.size - 1), np.diff(self.indptr))
        self.order = np.asarray(substitution_order_kernel(
            self.indptr, self.indices, coloring.columns, self.mirror, max(coloring.count, 1)
        ), dtype=np.int64)
        self.diagonal = np.flatnonzero(self.row == self.column)
        self.off = np.flatnonzero(self.row != self.column)

    def values(self, forward: Any, reverse: Any = None) -> np.ndarray:
        """Return the nonzeros in the order of the pattern's CSR form."""
        if self.coloring.kind == "acyclic":
            return self._solved(forward)
        if self.coloring.kind == "column":
            return np.asarray(forward[self.at])
        if self.coloring.kind == "row":
            return np.asarray(reverse[self.mirrored, self.column])
        other = forward if self.coloring.kind == "star" else reverse
        if other is None:  # there are no colors of rows
            return np.asarray(forward[self.at])
        if forward is None:
            return np.asarray(other[self.mirrored, self.column])
        found = np.empty(self.row.size, np.result_type(forward, other))
        color, line = self.at
        direct, rest = self.direct, ~self.direct
        found[direct] = forward[color[direct], line[direct]]
        found[rest] = other[self.mirrored[rest], self.column[rest]]
        return found

    def _solved(self, forward: Any) -> np.ndarray:
        """Solve for the nonzeros, leaves of the two-colored trees first."""
        colors = self.coloring.columns
        sums = np.array(forward)
        found = np.empty(self.row.size, sums.dtype)
        on = self.row[self.diagonal]
        found[self.diagonal] = sums[colors[on], on]
        off = np.zeros(self.off.size, sums.dtype)
        substitution_kernel(self.order, self.owner, self.indices, self.mirror, colors, sums, off)
        found[self.off] = off
        return found

    def matrix(self, forward: Any, reverse: Any = None, out: Any = None) -> Any:
        """Return the matrix as a CSR array; written into ``out``, a CSR array of its pattern."""
        data = self.values(forward, reverse)
        if out is None:
            return sp.csr_array(
                (data, self.pattern.indices.copy(), self.pattern.indptr.copy()),
                shape=self.pattern.shape,
            )
        if out.nnz != data.size:
            raise ValueError(f"out has {out.nnz} nonzeros, the pattern {data.size}")
        out.data[:] = data
        return out

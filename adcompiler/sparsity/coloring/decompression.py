"""From the derivatives along the seeds of a coloring back to the sparse matrix."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.sparsity.coloring.coloring import (
    Coloring, entries, is_alone, mirror_images, without_diagonal,
)
from adcompiler.sparsity.coloring.kernels import substitution_kernel, substitution_order_kernel


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
        self.known_places: dict[Any, np.ndarray] = {}
        if coloring.kind == "acyclic":
            self._substitution()
        else:
            self._places()

    def _places(self) -> None:
        """Find out where in the numbers read forward, and behind them in reverse, nonzeros are."""
        coloring = self.coloring
        height, width = self.pattern.shape
        row, column = self.row, self.column
        color_of_column, color_of_row = coloring.columns[column], coloring.rows[row]
        forward = color_of_column * height + row
        if coloring.kind == "column":
            self.at = forward
        elif coloring.kind == "row":
            self.at = color_of_row * width + column
        else:
            direct = is_alone(row, color_of_column, coloring.column_count)
            if coloring.kind == "star":
                otherwise = coloring.columns[row] * height + column
            else:
                otherwise = coloring.column_count * height + color_of_row * width + column
            self.at = np.where(direct, forward, otherwise)

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

    def values(self, forward: Any, reverse: Any = None, dtype: Any = float) -> np.ndarray:
        """Return the nonzeros in the order of the pattern's CSR form."""
        if not self.row.size:
            return np.zeros(0, dtype)
        if isinstance(forward, list):
            if len(forward) > 1 and self.is_direct():
                return self.values_in(forward)
            forward = forward[0] if len(forward) == 1 else np.concatenate(forward)
        if self.coloring.kind == "acyclic":
            return self._solved(forward)
        read = [forward] if self.coloring.kind in ("column", "star") else [
            part for part in (forward, reverse) if part is not None]
        if len(read) > 1:
            return np.asarray(np.concatenate(list(map(np.ravel, read))).take(self.at))
        (numbers,) = read
        if is_turned(numbers):
            return np.asarray(numbers.T.reshape(-1).take(self.at_turned))
        return np.asarray(numbers.reshape(-1).take(self.at))

    def is_direct(self) -> bool:
        """Say whether all nonzeros are read from sums of columns."""
        return self.coloring.kind in ("column", "star")

    def values_in(self, parts: list[np.ndarray]) -> np.ndarray:
        """Return the nonzeros, read from sums of columns in several arrays."""
        forms = tuple((len(part), is_turned(part)) for part in parts)
        numbers = np.concatenate([
            (part.T if turned else part).reshape(-1)
            for part, (_, turned) in zip(parts, forms, strict=True)])
        return np.asarray(numbers.take(self.places_in(forms)))

    def places_in(self, forms: tuple[tuple[int, bool], ...]) -> np.ndarray:
        """Return where the nonzeros are in several arrays, one behind the other.

        ``forms`` are their numbers of colors, and whether these are numbered last in memory.
        """
        known = self.known_places.get(forms)
        if known is None:
            height, first, known = self.pattern.shape[0], 0, self.at.copy()
            color, place = np.divmod(self.at, height)
            for count, turned in forms:
                here = np.flatnonzero((color >= first) & (color < first + count) & turned)
                known[here] = first * height + place[here] * count + color[here] - first
                first += count
            self.known_places = {forms: known}
        return known

    @cached_property
    def at_turned(self) -> np.ndarray:
        """The places of nonzeros in derivatives along one kind of seeds that are numbered last."""
        of_columns = self.coloring.column_count > 0
        count = self.coloring.column_count if of_columns else self.coloring.row_count
        length = self.pattern.shape[0 if of_columns else 1]
        color, place = np.divmod(self.at, length)
        return np.asarray(place * count + color)

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

    def matrix(
        self, forward: Any, reverse: Any = None, out: Any = None, dtype: Any = float
    ) -> Any:
        """Return the matrix as a CSR array; written into ``out``, a CSR array of its pattern.

        ``dtype`` is that of a matrix without nonzeros. Raises ValueError for an ``out`` of another
        structure, TypeError for one whose dtype cannot hold the numbers.
        """
        pattern = self.pattern
        if out is not None and not (
            sp.issparse(out) and out.format == "csr" and out.shape == pattern.shape
            and np.array_equal(out.indptr, pattern.indptr)
            and np.array_equal(out.indices, pattern.indices)
        ):
            raise ValueError(
                "out has other nonzeros than the matrix: it is a CSR array from an earlier call"
            )
        data = self.values(forward, reverse, dtype)
        if out is None:
            made = object.__new__(type(pattern))  # known to be sorted and without duplicates
            vars(made).update(vars(pattern))
            made.data, made.indices, made.indptr = (
                data, pattern.indices.copy(), pattern.indptr.copy())
            return made
        np.copyto(out.data, data, casting="same_kind")
        return out


def is_turned(numbers: np.ndarray) -> bool:
    """Say whether the first axis of an array is the one that memory runs along."""
    return numbers.flags.f_contiguous and not numbers.flags.c_contiguous

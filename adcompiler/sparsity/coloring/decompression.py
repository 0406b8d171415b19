"""From the derivatives along the seeds of a coloring back to the sparse matrix."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp

from adcompiler.sparsity.coloring.coloring import (
    Coloring, is_alone, mirror_images, without_diagonal,
)
from adcompiler.sparsity.coloring.kernels import substitution_kernel, substitution_order_kernel
from adcompiler.sparsity.coloring.lattices import entries
from adcompiler.sparsity.dependences.values import DType, Value

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array


FORMATS = ("csr", "csc", "coo")
"""Formats of ``scipy.sparse`` that matrices are made in; coordinates are in the order of rows."""
TRIANGLES = (None, "lower", "upper")


class Data:
    """Stands for an ``out`` that asks for the nonzeros alone, as a new vector."""


Out: TypeAlias = np.ndarray | sp.csr_array | sp.csc_array | sp.coo_array | type[Data] | None
"""What a matrix is written into: one of an earlier call, or a vector for its nonzeros."""


class Decompression:
    """Where in the compressed derivatives each nonzero of a matrix is found; made once.

    The matrix is made in a ``form`` of ``FORMATS``, of a ``triangle`` (with the diagonal) or whole.
    ``forward`` below has one row for each color of columns: the sum of the matrix's columns of
    that color, shape (column_count, rows of the matrix). ``reverse`` has one for each color of
    rows, shape (row_count, columns of the matrix).
    """

    def __init__(
        self, coloring: Coloring, form: str = "csr", triangle: str | None = None
    ) -> None:
        self.coloring = coloring
        self.pattern = coloring.pattern
        self.row, self.column = entries(self.pattern)
        self.known_places: dict[Any, np.ndarray] = {}
        self.chosen = chosen_entries(self.row, self.column, form, triangle)
        if coloring.kind == "acyclic":
            self._substitution()
        else:
            self.at = self._places()[self.chosen]
        self.shown = self.pattern if form == "csr" and triangle is None else in_form(
            self.row[self.chosen], self.column[self.chosen], self.pattern.shape, form)

    def _places(self) -> np.ndarray:
        """Return where in the numbers read forward, and behind them in reverse, nonzeros are."""
        coloring = self.coloring
        height, width = self.pattern.shape
        row, column = self.row, self.column
        color_of_column, color_of_row = coloring.columns[column], coloring.rows[row]
        forward = color_of_column * height + row
        if coloring.kind == "column":
            return np.asarray(forward)
        if coloring.kind == "row":
            return np.asarray(color_of_row * width + column)
        direct = is_alone(row, color_of_column, coloring.column_count)
        if coloring.kind == "star":
            otherwise = coloring.columns[row] * height + column
        else:
            otherwise = coloring.column_count * height + color_of_row * width + column
        return np.asarray(np.where(direct, forward, otherwise))

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

    def values(self, forward: Any, reverse: Any = None, dtype: DType = float) -> np.ndarray:
        """Return the nonzeros in the order of the matrix."""
        if not self.shown.nnz:
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

    def _solved(self, forward: Sequence[Array]) -> np.ndarray:
        """Solve for the nonzeros, leaves of the two-colored trees first."""
        colors = self.coloring.columns
        sums = np.array(forward)
        found = np.empty(self.row.size, sums.dtype)
        on = self.row[self.diagonal]
        found[self.diagonal] = sums[colors[on], on]
        off = np.zeros(self.off.size, sums.dtype)
        substitution_kernel(self.order, self.owner, self.indices, self.mirror, colors, sums, off)
        found[self.off] = off
        return np.asarray(found[self.chosen])

    def matrix(
        self, forward: Value, reverse: Value = None, out: Any = None, dtype: type = float
    ) -> Any:
        """Return the matrix in its form; written into ``out``, such a matrix or a vector.

        ``dtype`` is that of a matrix without nonzeros. Raises ValueError for an ``out`` of another
        structure, TypeError for one whose dtype cannot hold the numbers.
        """
        return self.put(self.values(forward, reverse, dtype), out)

    def put(self, data: np.ndarray, out: Any) -> Any:
        """Return the nonzeros as a matrix, or in ``out``."""
        if out is None:
            shown = self.shown
            if shown.format == "coo":
                return sp.coo_array((data, (shown.row.copy(), shown.col.copy())), shape=shown.shape)
            made = object.__new__(type(shown))  # known to be sorted and without duplicates
            vars(made).update(vars(shown))
            made.data, made.indices, made.indptr = data, shown.indices.copy(), shown.indptr.copy()
            return made
        if out is Data:
            return data
        fits = out.shape == data.shape if isinstance(out, np.ndarray) else is_alike(out, self.shown)
        if not fits:
            raise ValueError(
                "out has other nonzeros than the matrix: it is one from an earlier call, or a "
                f"vector of {data.size} numbers")
        np.copyto(out if isinstance(out, np.ndarray) else out.data, data, casting="same_kind")
        return out


INDICES = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}


def chosen_entries(
    row: np.ndarray, column: np.ndarray, form: str, triangle: str | None
) -> Any:
    """Return which entries in the order of rows are shown, in the order of the form."""
    every: Any = slice(None)
    if triangle is not None:
        every = np.flatnonzero(row >= column if triangle == "lower" else row <= column)
    if form == "csc":
        order = np.lexsort((row[every], column[every]))
        every = order if triangle is None else every[order]
    return every


def in_form(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], form: str) -> Any:
    """Return the pattern of these entries, which are in the order of the form."""
    ones = np.ones(row.size, bool)
    if form == "coo":
        return sp.coo_array((ones, (row, column)), shape=shape)
    lines, places, count = (row, column, shape[0]) if form == "csr" else (column, row, shape[1])
    indptr = np.concatenate([[0], np.cumsum(np.bincount(lines, minlength=count))])
    index = np.int32 if max(*shape, row.size) < 2**31 else np.int64
    made = sp.csr_array if form == "csr" else sp.csc_array
    found = made((ones, places.astype(index), indptr.astype(index)), shape=shape)
    found.has_sorted_indices = found.has_canonical_format = True
    return found


def is_alike(out: Any, shown: Any) -> bool:
    """Say whether a matrix has the form of another one, and its nonzeros in the same order."""
    return sp.issparse(out) and out.format == shown.format and out.shape == shown.shape and all(
        np.array_equal(getattr(out, name), getattr(shown, name)) for name in INDICES[shown.format])


def is_turned(numbers: np.ndarray) -> bool:
    """Say whether the first axis of an array is the one that memory runs along."""
    return numbers.flags.f_contiguous and not numbers.flags.c_contiguous

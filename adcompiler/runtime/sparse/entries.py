"""Sparse matrices as lists of entries: values, and the rows and columns that they stand in.

Entries of one place are added up. Of the values everything here is linear but the factors, so that
each of these functions has a derivative in terms of others; the places are constant.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import scipy.sparse

from adcompiler.runtime.sparse.solving import Factors, lu_factors, sparse_solution

COVERED_WITH = "scipy.sparse"
"""The module whose rules come with those of these functions."""

Places = tuple[Any, Any]
"""The rows and the columns of entries."""


def matrix_of(values: Any, rows: Any, columns: Any, shape: Any) -> Any:
    """Return the entries as SciPy's."""
    return scipy.sparse.coo_array((values, (rows, columns)), shape=shape)


# --- of values ------------------------------------------------------------------------------------


def scattered(values: Any, places: Any, n: int) -> Any:
    """Return a vector of length ``n`` in which values of one place are added up."""
    values = np.asarray(values)
    if values.dtype.kind == "c":
        parts = (np.bincount(places, part, n) for part in (values.real, values.imag))
        real, imaginary = parts
        return (real + 1j * imaginary).astype(values.dtype)
    return np.bincount(places, values, n).astype(values.dtype)


def entries_product(values: Any, rows: Any, columns: Any, shape: Any, x: Any) -> Any:
    """Return the product of the matrix with a vector or a dense matrix ``x``.

    (That of a ``coo_array`` with one row and a vector is a number in SciPy.)
    """
    matrix = scipy.sparse.coo_matrix((values, (rows, columns)), shape=shape)
    return np.asarray(matrix @ x)


def entries_solution(
    values: Any, rows: Any, columns: Any, shape: Any, b: Any, trans: str = "N",
    factors: Factors | None = None,
) -> Any:
    """Return the solution of the system, or (``H``) of its conjugate transpose.

    ``factors`` are those of the matrix, if there are some.
    """
    if factors is None:
        factors = entry_factors(values, rows, columns, shape, b)
    return sparse_solution(factors, b, trans)


# --- of places ------------------------------------------------------------------------------------


def entry_factors(values: Any, rows: Any, columns: Any, shape: Any, b: Any = None) -> Factors:
    """Return the LU factors of the matrix, in the precision of the system with right side ``b``."""
    if shape[0] != shape[1]:
        raise ValueError(f"matrix must be square (has shape {tuple(shape)})")
    dtype = np.result_type(np.asarray(values), np.float32, *(() if b is None else (b,)))
    matrix = matrix_of(np.asarray(values, dtype), rows, columns, shape)
    return Factors(lu_factors(matrix.tocsc()), dtype)


def coordinates(count: int, rows: Any, columns: Any, shape: Any = None) -> tuple[Any, Any, Any]:
    """Return rows and columns of so many entries, and the shape; raises as SciPy does."""
    made = scipy.sparse.coo_array((np.zeros(count), (rows, columns)), shape=shape)
    return (*indices(made), sizes(made))


def uncompressed(
    count: int, minor: Any, pointers: Any, by_rows: bool, shape: Any = None
) -> tuple[Any, Any, Any]:
    """Return rows, columns and shape of entries that are given row by row, or column by column."""
    form = scipy.sparse.csr_array if by_rows else scipy.sparse.csc_array
    made = form((np.ones(count), minor, pointers), shape=shape)
    major = np.repeat(np.arange(len(made.indptr) - 1), np.diff(made.indptr))
    inner = np.asarray(made.indices, np.intp)
    return (major, inner, sizes(made)) if by_rows else (inner, major, sizes(made))


def along_diagonals(
    lengths: Any, offsets: Any, shape: Any = None
) -> tuple[Any, Any, Any, Any]:
    """Return rows, columns, shape, and which of all numbers of the diagonals stand there."""
    offsets = [int(k) for k in np.atleast_1d(offsets)]
    if len(offsets) != len(lengths):
        raise ValueError("Different number of diagonals and offsets.")
    if len(set(offsets)) != len(offsets):
        raise ValueError("offset array contains duplicate values")
    if shape is None:
        side = int(lengths[0]) + abs(offsets[0])
        shape = (side, side)
    m, n = map(int, shape)
    rows, columns, numbers = [], [], []
    for j, (length, offset) in enumerate(zip(lengths, offsets, strict=True)):
        count = min(m + offset, n - offset, min(m, n))
        if count < 0:
            raise ValueError(f"Offset {offset} (index {j}) out of bounds")
        if length < count and length != 1:  # of a longer one SciPy takes the first numbers
            raise ValueError(
                f"Diagonal length (index {j}: {length} at offset {offset}) does not agree with "
                f"array size ({m}, {n}).")
        along = np.arange(count)
        rows.append(along + max(0, -offset))
        columns.append(along + max(0, offset))
        start = sum(int(k) for k in lengths[:j])
        numbers.append(start + (along if length >= count else np.zeros(count, np.intp)))
    return joined(rows), joined(columns), (m, n), joined(numbers)


def of_table(of_given: Any, offsets: Any, shape: Any) -> tuple[Any, Any, Any, Any]:
    """Return rows, columns, shape of ``dia_matrix((data, offsets))``, and where they are in data.

    Element ``[k, j]`` of the data stands in column ``j`` of diagonal ``offsets[k]``.
    """
    numbers = np.arange(1, np.prod(of_given, dtype=np.intp) + 1).reshape(of_given)
    made = scipy.sparse.dia_array((numbers, offsets), shape=shape).tocoo()
    return (*indices(made), sizes(made), np.asarray(made.data, np.intp) - 1)


def diagonal_places(rows: Any, columns: Any, shape: Any, k: int) -> tuple[Any, Any, int]:
    """Return which entries stand on a diagonal, where in it, and how long that is."""
    length = min(shape[0] + min(k, 0), shape[1] - max(k, 0))
    if length <= 0:
        return np.zeros(0, np.intp), np.zeros(0, np.intp), 0
    chosen = np.flatnonzero(columns - rows == k)
    return chosen, rows[chosen] + min(k, 0), length


def added_places(a: Places, b: Places, of_a: Any, of_b: Any) -> Places:
    """Return the places of the entries of two matrices of one shape, one after the other."""
    if tuple(of_a) != tuple(of_b):
        raise ValueError(f"inconsistent shapes: {tuple(of_a)} and {tuple(of_b)}")
    return joined([a[0], b[0]]), joined([a[1], b[1]])


def product_places(
    a: Places, b: Places, of_a: Any, of_b: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """Return how two matrices are multiplied.

    The pairs of entries that meet, as positions in the one and the other list, where the products
    of pairs are added up, and the rows and columns of these sums.
    """
    if of_a[1] != of_b[0]:
        raise ValueError(f"dimension mismatch: {tuple(of_a)} and {tuple(of_b)}")
    order = np.argsort(b[0], kind="stable")
    starts = np.searchsorted(b[0][order], np.arange(of_b[0] + 1))
    counts = np.diff(starts)[a[1]]
    first = np.repeat(np.arange(len(a[0])), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = order[starts[a[1][first]] + within]
    keys, sums = np.unique(a[0][first] * of_b[1] + b[1][second], return_inverse=True)
    return (first, second, sums.reshape(-1), *np.divmod(keys, of_b[1]))


def kron_places(a: Places, b: Places, of_b: Any) -> Places:
    """Return the places of the entries of a Kronecker product."""
    rows, columns = (
        (np.asarray(i)[:, np.newaxis] * n + np.asarray(j)).reshape(-1)
        for i, j, n in zip(a, b, of_b, strict=True)
    )
    return rows, columns


def selected_places(rows: Any, columns: Any, shape: Any, index: Any) -> tuple[Any, Any, Any, Any]:
    """Return which entries ``matrix[index]`` has, their rows and columns, and its shape."""
    keys, of_keys = np.unique(np.asarray(rows) * shape[1] + columns, return_inverse=True)
    numbered = scipy.sparse.csr_array(
        (np.arange(1, len(keys) + 1), np.divmod(keys, shape[1])), shape=shape)
    part = scipy.sparse.coo_array(numbered[index])
    if part.ndim != 2:
        raise NotImplementedError("a row or column of a sparse array as one of one dimension")
    order = np.argsort(of_keys.reshape(-1), kind="stable")
    starts = np.searchsorted(of_keys.reshape(-1)[order], np.arange(len(keys) + 1))
    wanted = part.data - 1
    counts = np.diff(starts)[wanted]
    within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    chosen = order[np.repeat(starts[wanted], counts) + within]
    inside = indices(part)
    return chosen, np.repeat(inside[0], counts), np.repeat(inside[1], counts), sizes(part)


def filled_size(shape: Any) -> tuple[int, int]:
    """Return the shape of a matrix that is to be filled; raises as SciPy does."""
    return sizes(scipy.sparse.lil_matrix(shape))


def filled_place(i: Any, j: Any, shape: Any) -> int:
    """Return the number of an element, row by row; IndexError if it is outside."""
    for index, count, what in ((i, shape[0], "row"), (j, shape[1], "column")):
        if not -count <= index < count:
            raise IndexError(f"{what} index ({index}) out of bounds")
    rows, columns = map(int, shape)
    return operator.index(i) % rows * columns + operator.index(j) % columns


def filled_places(index: Any, shape: Any) -> list[int]:
    """Return the numbers of the elements at an index; raises as NumPy does."""
    found: list[int] = places_at(index, shape).reshape(-1).tolist()
    return found


def places_at(index: Any, shape: Any) -> Any:
    """Return the numbers of the elements at an index, as a matrix has them."""
    one, other = index if isinstance(index, tuple) else (index, slice(None))
    rows, columns = np.arange(shape[0])[one], np.arange(shape[1])[other]
    if isinstance(one, slice) or isinstance(other, slice):
        rows, columns = np.reshape(rows, (-1, 1)), np.reshape(columns, (1, -1))
    return np.atleast_2d(rows * np.int64(shape[1]) + columns)


def part_at(index: Any, shape: Any, as_array: bool) -> Any:
    """Return an array of the shape of a part, as an array or a matrix of SciPy has it."""
    return np.broadcast_to(False, shape)[index] if as_array else places_at(index, shape)


def filled_sources(
    given: tuple[int, ...], index: Any, shape: Any, as_array: bool, adds: bool
) -> Any:
    """Return which numbers of an array of shape ``given`` go to the elements at an index.

    They are stretched to the part; stored, not added, they may have other axes of length 1.
    ValueError where they do not fit.
    """
    part = part_at(index, shape, as_array)
    numbers = np.arange(math.prod(given)).reshape(given)
    if adds or np.squeeze(numbers).shape != np.squeeze(part).shape:
        numbers = np.broadcast_to(numbers, part.shape)
    return numbers.reshape(-1)


def moved_sources(place: tuple[Any, Any, bool], index: Any, shape: Any, as_array: bool) -> Any:
    """Return which numbers of a part, at its ``place``, go to the elements of another one."""
    return filled_sources(part_at(*place).shape, index, shape, as_array, False)


def filled_coordinates(places: Any, shape: Any) -> Places:
    """Return the rows and columns of elements that are given by their numbers."""
    return np.divmod(np.asarray(places, np.intp), shape[1])


def entries_of(matrix: Any) -> tuple[Any, Any, Any, Any]:
    """Return values, rows, columns and shape of a sparse matrix or array of SciPy."""
    coo = matrix.tocoo()
    return (np.array(coo.data), *indices(coo), sizes(coo))


def whole(cls: Any, values: Any, rows: Any, columns: Any, shape: Any) -> Any:
    """Return the matrix of a class of SciPy that has these entries."""
    return cls(scipy.sparse.coo_matrix((values, (rows, columns)), shape=shape))


def indices(coo: Any) -> Places:
    """Return rows and columns as indices."""
    return np.asarray(coo.row, np.intp), np.asarray(coo.col, np.intp)


def sizes(matrix: Any) -> tuple[int, int]:
    """Return the shape as integers of Python."""
    m, n = matrix.shape
    return int(m), int(n)


def joined(parts: Any) -> Any:
    """Return indices one after the other."""
    return np.concatenate([*parts, np.zeros(0, np.intp)]).astype(np.intp)

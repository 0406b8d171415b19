"""Sparse matrices of SciPy as classes in Python, compiled in their place where values vary.

A matrix is its entries (``runtime/sparse/entries.py``), so that a derivative goes through arrays
alone, and no matrix is ever made dense. What is not here is done with a matrix of SciPy, made by
``whole``, which has no derivative.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy.sparse
from scipy.sparse import linalg
from scipy.sparse.linalg import SuperLU, factorized, splu, spsolve

from adcompiler.runtime.functionals import array_of, passive
from adcompiler.runtime.regions import stop_gradient
from adcompiler.runtime.sparse.entries import (
    added_places, along_diagonals, coordinates, diagonal_places, entries_of, entries_product,
    entries_solution, entry_factors, kron_places, of_table, product_places, scattered,
    selected_places, uncompressed, whole,
)
from adcompiler.runtime.substitutes import STAND_FOR


class Entries:
    """A sparse matrix as values, rows and columns; those of one place are added up."""

    of: type
    form: type
    of_transpose: type
    as_csc: type
    as_csr: type
    as_coo: type
    as_dia: type
    format = ""
    ndim = 2
    __array_priority__ = 10.1

    _values: Any
    _rows: Any
    _columns: Any
    _size: Any

    def __init__(self, values: Any, rows: Any, columns: Any, size: Any) -> None:
        object.__setattr__(self, "_values", values)
        object.__setattr__(self, "_rows", rows)
        object.__setattr__(self, "_columns", columns)
        object.__setattr__(self, "_size", size)

    @property
    def shape(self) -> Any:
        """The numbers of rows and of columns."""
        return self._size

    @property
    def dtype(self) -> Any:
        """That of the values."""
        return self._values.dtype

    def whole(self) -> Any:
        """Return the matrix of SciPy, without a derivative."""
        return whole(self.of, self._values, self._rows, self._columns, self._size)

    def with_values(self, values: Any) -> Any:
        """Return another matrix with entries in the same places."""
        return self.form(values, self._rows, self._columns, self._size)


class InOtherForms(Entries):
    """What gives the same entries in another form."""

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Return the transpose."""
        form = self.of_transpose
        return form(self._values, self._columns, self._rows, (self._size[1], self._size[0]))

    def conj(self, copy: bool = True) -> Any:
        """Return the complex conjugate."""
        return self.with_values(np.conj(self._values))

    def conjugate(self, copy: bool = True) -> Any:
        """Return the complex conjugate."""
        return self.with_values(np.conj(self._values))

    def copy(self) -> Any:
        """Return a copy."""
        return self.with_values(np.array(self._values))

    def astype(self, dtype: Any, casting: str = "unsafe", copy: bool = True) -> Any:
        """Return the same with another dtype."""
        return self.with_values(np.array(self._values, dtype))

    def as_form(self, form: type) -> Any:
        """Return the same entries as a matrix of another class."""
        return form(self._values, self._rows, self._columns, self._size)

    def asformat(self, format: Any, copy: bool = False) -> Any:
        """Return the same in another format."""
        if format is None:
            return self
        if format == "csc":
            return self.as_form(self.as_csc)
        if format == "csr":
            return self.as_form(self.as_csr)
        if format == "coo":
            return self.as_form(self.as_coo)
        if format == "dia":
            return self.as_form(self.as_dia)
        return self.whole().asformat(format)

    def tocsc(self, copy: bool = False) -> Any:
        """Return it by columns."""
        return self.as_form(self.as_csc)

    def tocsr(self, copy: bool = False) -> Any:
        """Return it by rows."""
        return self.as_form(self.as_csr)

    def tocoo(self, copy: bool = True) -> Any:
        """Return it as coordinates."""
        return self.as_form(self.as_coo)

    def todia(self, copy: bool = False) -> Any:
        """Return it as diagonals."""
        return self.as_form(self.as_dia)

    def toarray(self) -> Any:
        """Return a dense array."""
        m, n = self._size
        return np.reshape(scattered(self._values, self._rows * n + self._columns, m * n), (m, n))


class InArithmetic(InOtherForms):
    """What is computed of the entries."""

    def __neg__(self) -> Any:
        return self.with_values(-self._values)

    def dot(self, other: Any) -> Any:
        """Return the product with a vector or a matrix."""
        return self @ other

    def __matmul__(self, x: Any) -> Any:
        return entries_product(self._values, self._rows, self._columns, self._size, x)

    def __rmatmul__(self, x: Any) -> Any:
        m, n = self._size
        xT = np.transpose(x)
        return np.transpose(entries_product(self._values, self._columns, self._rows, (n, m), xT))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and (
            isinstance(index[0], (int, np.integer)) and isinstance(index[1], (int, np.integer))
        ):
            places = selected_places(
                self._rows, self._columns, self._size, (slice(index[0], index[0] + 1 or None),
                                                        slice(index[1], index[1] + 1 or None)))
            return np.sum(self._values[places[0]])
        chosen, rows, columns, size = selected_places(self._rows, self._columns, self._size, index)
        return self.form(self._values[chosen], rows, columns, size)

    def multiply(self, other: Any) -> Any:
        """Return the product, element by element, with a number or what is stretched to it."""
        if np.ndim(other) == 0:
            return self.with_values(self._values * other)
        there = np.broadcast_to(other, self._size)[self._rows, self._columns]
        return self.with_values(self._values * there).tocoo()

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal as an array."""
        chosen, places, length = diagonal_places(self._rows, self._columns, self._size, k)
        return scattered(self._values[chosen], places, length)

    def trace(self, offset: int = 0) -> Any:
        """Return the sum of a diagonal."""
        return np.sum(self.diagonal(offset))


class MatrixEntries(InArithmetic):
    """A sparse matrix: what else SciPy does with it, which has no derivative."""

    @property
    def nnz(self) -> int:
        """How many entries SciPy has."""
        return self.whole().nnz  # type: ignore[no-any-return]

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        """Return the sum of all elements, or a matrix of the sums of columns or of rows."""
        if axis is None:
            return np.sum(self._values)
        if axis == 0 or axis == -2:
            return np.asmatrix(scattered(self._values, self._columns, self._size[1]))
        sums = scattered(self._values, self._rows, self._size[0])
        return np.asmatrix(np.reshape(sums, (self._size[0], 1)))

    def mean(self, axis: Any = None, dtype: Any = None) -> Any:
        """Return the mean of all elements, of columns or of rows."""
        if axis is None:
            return self.sum() / (self._size[0] * self._size[1])
        return self.sum(axis) / self._size[0 if axis == 0 or axis == -2 else 1]

    def todense(self) -> Any:
        """Return a dense matrix."""
        return self.whole().todense()

    def tolil(self, copy: bool = False) -> Any:
        """Return it as lists of rows."""
        return self.whole().tolil()

    def power(self, n: Any, dtype: Any = None) -> Any:
        """Return powers of the elements."""
        return self.whole().power(n)

    def max(self, axis: Any = None) -> Any:
        """Return the largest element."""
        return self.whole().max(axis=axis)

    def min(self, axis: Any = None) -> Any:
        """Return the smallest element."""
        return self.whole().min(axis=axis)

    def nonzero(self) -> Any:
        """Return where there are elements that are not zero."""
        return self.whole().nonzero()

    def count_nonzero(self) -> Any:
        """Return how many elements are not zero."""
        return self.whole().count_nonzero()


class ArrayEntries(MatrixEntries):
    """A sparse array, whose sums along an axis are arrays."""

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        """Return the sum of all elements, of columns or of rows."""
        if axis is None:
            return np.sum(self._values)
        if axis == 0 or axis == -2:
            return scattered(self._values, self._columns, self._size[1])
        return scattered(self._values, self._rows, self._size[0])


# -- its classes, by format ------------------------------------------------------------------------


def made_form(base: type, of: Any) -> Any:
    """Return the class that stands for one of SciPy's: ``CscMatrix`` for ``csc_matrix``."""
    name = of.__name__.title().replace("_", "")
    made = type(name, (base,), {
        "__module__": base.__module__, "__doc__": f"``scipy.sparse.{of.__name__}``.",
        "of": of, "format": of.__name__[:3],
    })
    setattr(sys.modules[base.__module__], name, made)  # emitted code imports it by name
    return made


MATRICES = {of.__name__[:3]: made_form(MatrixEntries, of) for of in (
    scipy.sparse.csc_matrix, scipy.sparse.csr_matrix, scipy.sparse.coo_matrix,
    scipy.sparse.dia_matrix)}
ARRAYS = {of.__name__[:3]: made_form(ArrayEntries, of) for of in (
    scipy.sparse.csc_array, scipy.sparse.csr_array, scipy.sparse.coo_array,
    scipy.sparse.dia_array)}
FORMS: dict[type, type[Entries]] = {}
"""The class here for each class of SciPy."""
for _kind in (MATRICES, ARRAYS):
    for _format, _form in _kind.items():
        FORMS[_form.of] = _form.form = _form
        _form.of_transpose = _kind[{"csc": "csr", "csr": "csc"}.get(_format, _format)]
        _form.as_csc, _form.as_csr = _kind["csc"], _kind["csr"]
        _form.as_coo, _form.as_dia = _kind["coo"], _kind["dia"]
        STAND_FOR[_form] = _form.of


# -- how they are made -----------------------------------------------------------------------------


def from_whole(form: Any, matrix: Any) -> Any:
    """Return the entries of a matrix of SciPy."""
    values, rows, columns, size = entries_of(matrix)
    return form(values, rows, columns, size)


def from_coordinates(form: Any, arg1: Any, shape: Any = None, dtype: Any = None) -> Any:
    """``csc_matrix((data, (i, j)))`` and its kin."""
    given, (i, j) = arg1
    rows, columns, size = coordinates(np.size(given), i, j, shape)
    return form(np.array(given, dtype), rows, columns, size)


def from_compressed(
    form: Any, by_rows: bool, arg1: Any, shape: Any = None, dtype: Any = None
) -> Any:
    """``csc_matrix((data, indices, indptr))`` and its kin."""
    given, minor, pointers = arg1
    rows, columns, size = uncompressed(np.size(given), minor, pointers, by_rows, shape)
    return form(np.array(given, dtype), rows, columns, size)


def from_diagonals(
    form: Any, values: Any, lengths: Any, offsets: Any = 0, shape: Any = None, dtype: Any = None
) -> Any:
    """``diags`` and ``diags_array`` of diagonals of some lengths, one after the other."""
    rows, columns, size, numbers = along_diagonals(lengths, offsets, shape)
    return form(np.array(values[numbers], dtype), rows, columns, size)


def from_table(form: Any, arg1: Any, shape: Any = None, dtype: Any = None) -> Any:
    """``dia_matrix((data, offsets))``."""
    data, offsets = arg1
    given = np.atleast_2d(data)
    rows, columns, size, numbers = of_table(np.shape(given), offsets, shape)
    return form(np.array(np.ravel(given)[numbers], dtype), rows, columns, size)


def end_to_end(diagonals: Any) -> tuple[Any, Any]:
    """Return the numbers of a list of diagonals, and how many there are in each."""
    lengths = [np.size(diagonal) for diagonal in diagonals]
    return np.concatenate(diagonals), lengths


def numbers_as_diagonals(diagonals: Any) -> tuple[Any, Any]:
    """Return the same of a list of numbers, each of which fills a diagonal."""
    return np.array(diagonals), [1 for _ in diagonals]


# -- of two matrices -------------------------------------------------------------------------------


def added(form: Any, a: Any, b: Any) -> Any:
    """Return ``a + b``."""
    rows, columns = added_places(
        (a._rows, a._columns), (b._rows, b._columns), a._size, b._size)
    return form(np.concatenate((a._values, b._values)), rows, columns, a._size)


def subtracted(form: Any, a: Any, b: Any) -> Any:
    """Return ``a - b``."""
    return added(form, a, -b)


def multiplied(form: Any, a: Any, b: Any) -> Any:
    """Return ``a @ b``."""
    first, second, sums, rows, columns = product_places(
        (a._rows, a._columns), (b._rows, b._columns), a._size, b._size)
    values = scattered(a._values[first] * b._values[second], sums, len(rows))
    return form(values, rows, columns, (a._size[0], b._size[1]))


def kron(form: Any, a: Any, b: Any) -> Any:
    """``scipy.sparse.kron``."""
    rows, columns = kron_places((a._rows, a._columns), (b._rows, b._columns), b._size)
    values = np.ravel(a._values[:, np.newaxis] * b._values)
    return form(values, rows, columns, (a._size[0] * b._size[0], a._size[1] * b._size[1]))


# -- systems ---------------------------------------------------------------------------------------


class Factored:
    """What ``splu`` returns: the factors, which are constant, and the entries that they are of."""

    def __init__(self, matrix: Any) -> None:
        self.values = matrix._values
        self.rows = matrix._rows
        self.columns = matrix._columns
        self.shape = matrix._size
        self.factors = entry_factors(matrix._values, matrix._rows, matrix._columns, matrix._size)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        """Return the solution for one or several right sides."""
        if trans == "T":
            return np.conj(self.solve(np.conj(rhs), "H"))
        return entries_solution(
            self.values, self.rows, self.columns, self.shape, rhs, trans, self.factors)


def solved(A: Any, b: Any, permc_spec: Any = None, use_umfpack: bool = True) -> Any:
    """``spsolve``: one column gives a vector."""
    y = entries_solution(A._values, A._rows, A._columns, A._size, b)
    if np.ndim(b) == 2 and np.shape(b)[1] == 1:
        return np.ravel(y)
    return y


def factored(A: Any) -> Any:
    """``splu``, with any of its options."""
    return Factored(A)


def solver(A: Any) -> Any:
    """``factorized``."""
    return Factored(A).solve


def iterated(solver: Any, A: Any, b: Any, *options: Any, **named: Any) -> Any:
    """``cg`` and its kin: the value is theirs, its derivative that of the exact solution."""
    right = np.ravel(b)
    found, info = passive(converged, solver, A.whole(), right, *options, **named)
    exact = entries_solution(A._values, A._rows, A._columns, A._size, right)
    return array_of(found, "float64", 1) + (exact - stop_gradient(exact)), info


def converged(solver: Any, *args: Any, **named: Any) -> Any:
    """Return what an iterative solver finds; raise where it has not converged."""
    found, info = solver(*args, **named)
    if info != 0:
        raise ValueError(f"{solver.__name__}() has not converged, so its result has no derivative")
    return found, info


STAND_FOR[Factored] = SuperLU
SYSTEMS = {spsolve: solved, splu: factored, factorized: solver}
"""What is compiled in place of a function that is given entries."""
ITERATIVE = (
    linalg.bicg, linalg.bicgstab, linalg.cg, linalg.cgs, linalg.gcrotmk, linalg.gmres,
    linalg.lgmres, linalg.minres, linalg.qmr, linalg.tfqmr,
)
"""Solvers that return a solution, and 0 where they have converged."""

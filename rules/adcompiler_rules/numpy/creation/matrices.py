"""Instances of ``np.matrix`` that are made in the function, of values that are differentiated.

An instance is one of a class written here, which holds an array with two axes; ``*`` is the product
of matrices.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime.substitutes import STAND_FOR


class Matrix:
    """``np.matrix``, of the array ``A``."""

    __array_priority__ = 10.0

    def __init__(self, data: Any, dtype: Any = None, copy: bool = True) -> None:
        if dtype is not None or isinstance(data, str):
            raise UncoveredError("np.matrix() has a derivative for an array, without dtype=")
        values = np.array(contents(data)) if copy else np.asarray(contents(data))
        if np.ndim(values) > 2:
            raise ValueError("matrix must be 2-dimensional")
        self.A = np.atleast_2d(values)
        self.shape = np.shape(self.A)
        self.ndim = 2
        self.size = np.size(self.A)

    @property
    def A1(self) -> Any:
        """The numbers, in one row."""
        return np.ravel(self.A)

    @property
    def T(self) -> Any:
        """The transpose."""
        return Matrix(np.transpose(self.A), None, False)

    @property
    def H(self) -> Any:
        """The conjugate transpose."""
        return Matrix(np.conj(np.transpose(self.A)))

    @property
    def I(self) -> Any:  # noqa: E743
        """The inverse."""
        if self.shape[0] != self.shape[1]:
            raise UncoveredError("np.matrix.I has a derivative for square matrices")
        return Matrix(np.linalg.inv(self.A))

    def transpose(self) -> Any:
        """Return the transpose."""
        return Matrix(np.transpose(self.A), None, False)

    def getA(self) -> Any:
        """Return the array."""
        return self.A

    def getA1(self) -> Any:
        """Return the numbers, in one row."""
        return np.ravel(self.A)

    def sum(self, axis: Any = None) -> Any:
        """Return the sum, or those of columns or rows in a matrix."""
        return np.sum(self.A) if axis is None else Matrix(np.sum(self.A, axis, keepdims=True))

    def mean(self, axis: Any = None) -> Any:
        """Return the mean, or those of columns or rows in a matrix."""
        return np.mean(self.A) if axis is None else Matrix(np.mean(self.A, axis, keepdims=True))

    def item(self, *place: Any) -> Any:
        """Return one number."""
        if len(place) == 2:
            return self.A[place[0], place[1]]
        return np.ravel(self.A)[place[0] if place else 0]

    def __getitem__(self, place: Any) -> Any:
        if not isinstance(place, tuple):
            rows = self.A[place]
            return Matrix(np.expand_dims(rows, 0) if np.ndim(rows) == 1 else rows, None, False)
        if len(place) != 2:
            raise UncoveredError("parts of np.matrix have a derivative with one or two indices")
        found = self.A[place]
        if np.ndim(found) == 0:
            return found
        if np.ndim(found) == 2:
            return Matrix(found, None, False)
        return Matrix(np.expand_dims(found, 1 if isinstance(place[1], int) else 0), None, False)

    def __mul__(self, other: Any) -> Any:
        if np.ndim(contents(other)) == 0:
            return Matrix(self.A * other)
        return Matrix(self.A @ np.atleast_2d(contents(other)))

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return Matrix(other * self.A)
        return Matrix(np.atleast_2d(other) @ self.A)

    def __matmul__(self, other: Any) -> Any:
        return Matrix(self.A @ np.atleast_2d(contents(other))) if isinstance(
            other, np.matrix) else self.product(other)

    def product(self, other: Any) -> Any:
        """Return the product with an array, of which one axis counts as a column."""
        if np.ndim(other) != 2:
            raise UncoveredError("np.matrix has a derivative of @ with two axes")
        return Matrix(self.A @ other)

    def __rmatmul__(self, other: Any) -> Any:
        if np.ndim(other) != 2:
            raise UncoveredError("np.matrix has a derivative of @ with two axes")
        return Matrix(other @ self.A)

    def __truediv__(self, other: Any) -> Any:
        return Matrix(self.A / contents(other))

    def __add__(self, other: Any) -> Any:
        return Matrix(self.A + contents(other))

    def __radd__(self, other: Any) -> Any:
        return Matrix(other + self.A)

    def __sub__(self, other: Any) -> Any:
        return Matrix(self.A - contents(other))

    def __rsub__(self, other: Any) -> Any:
        return Matrix(other - self.A)

    def __neg__(self) -> Any:
        return Matrix(-self.A)

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int):
            raise UncoveredError("np.matrix has a derivative of powers with whole exponents")
        return Matrix(np.linalg.matrix_power(self.A, exponent))


def contents(other: Any) -> Any:
    """Return the array of a matrix, and what is none as it is."""
    return other.A if isinstance(other, np.matrix) else other


def as_matrix(data: Any, dtype: Any = None) -> Any:
    """``np.asmatrix``: a matrix of the storage that the argument has."""
    if isinstance(data, np.matrix):
        return data
    return Matrix(data, dtype, False)


STAND_FOR[Matrix] = np.matrix
facts(np.matrix, written_as=Matrix)
facts(np.asmatrix, written_as=as_matrix)

"""Sparse matrices that are filled element by element, compiled in place of SciPy's.

The values stand in a list, in the order in which the elements are first written, beside a list of
the numbers of these elements; a dict has the positions in it. Only the values may carry a
derivative. What is computed of
such a matrix is computed of its entries (``runtime/sparse/matrices.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from adcompiler.runtime.sparse.entries import (
    filled_coordinates, filled_place, filled_places, filled_size, filled_sources,
    moved_sources,
)
from adcompiler.runtime.sparse.matrices import ARRAYS, MATRICES, made_form
from adcompiler.runtime.substitutes import STAND_FOR


class Part:
    """Elements of a matrix that were read to be added to, and go back into it."""

    def __init__(self, numbers: Any, index: Any, shape: Any, as_array: bool) -> None:
        self.numbers = numbers
        self.place = index, shape, as_array

    def __iadd__(self, other: Any) -> Any:
        sources = filled_sources(np.shape(other), *self.place, True)
        return Part(self.numbers + np.ravel(other)[sources], *self.place)

    def __isub__(self, other: Any) -> Any:
        sources = filled_sources(np.shape(other), *self.place, True)
        return Part(self.numbers - np.ravel(other)[sources], *self.place)


class Filled:
    """A sparse matrix as a list of values and one of places."""

    of: type
    as_csr: type
    as_csc: type
    as_coo: type
    format = ""
    ndim = 2
    is_array = False
    __array_priority__ = 10.1

    _values: Any
    _numbers: Any
    _places: Any
    _filled: Any

    def __init__(self, shape: Any) -> None:
        object.__setattr__(self, "_values", [])
        object.__setattr__(self, "_numbers", [])
        object.__setattr__(self, "_places", {})
        object.__setattr__(self, "_filled", filled_size(shape))

    @property
    def shape(self) -> Any:
        """The numbers of rows and of columns."""
        return self._filled

    @property
    def T(self) -> Any:
        """The transpose."""
        return self.tocsr().transpose()

    def transpose(self, axes: Any = None, copy: bool = False) -> Any:
        """Return the transpose."""
        return self.tocsr().transpose()

    def __getitem__(self, index: Any) -> Any:
        i, j = index
        return self.element(filled_place(i, j, self._filled))

    def __setitem__(self, index: Any, value: Any) -> None:
        i, j = index
        self.put(filled_place(i, j, self._filled), value)

    def part(self, index: Any) -> Any:
        """Return the elements at an index that is not that of one."""
        places = filled_places(index, self._filled)
        numbers = np.array([self.element(place) for place in places])
        return Part(numbers, index, self._filled, self.is_array)

    def put_each(self, index: Any, value: Any) -> None:
        """Set the elements at an index that is not that of one."""
        sources = filled_sources(np.shape(value), index, self._filled, self.is_array, False)
        self.put_numbers(index, np.ravel(value)[sources])

    def put_part(self, index: Any, part: Any) -> None:
        """Set them to a part that was read, and perhaps added to."""
        sources = moved_sources(part.place, index, self._filled, self.is_array)
        self.put_numbers(index, part.numbers[sources])

    def put_numbers(self, index: Any, numbers: Any) -> None:
        """Set these elements one by one."""
        places = filled_places(index, self._filled)
        for k in range(len(places)):
            self.put(places[k], numbers[k])

    def element(self, place: Any) -> Any:
        """Return the element at a place, which counts row by row."""
        k = int(self._places.get(place, -1))
        return self._values[k] if k >= 0 else 0.0

    def put(self, place: Any, value: Any) -> None:
        """Set the element at a place, which counts row by row."""
        k = int(self._places.get(place, -1))
        if k >= 0:
            self._values[k] = value
        else:
            self._places[place] = len(self._values)
            self._numbers.append(place)
            self._values.append(value)

    def as_form(self, form: type) -> Any:
        """Return the entries as a matrix of another class."""
        rows, columns = filled_coordinates(self._numbers, self._filled)
        values = np.reshape(np.array(self._values, float), len(rows))
        return form(values, rows, columns, self._filled)

    def tocsr(self, copy: bool = False) -> Any:
        """Return it by rows."""
        return self.as_form(self.as_csr)

    def tocsc(self, copy: bool = False) -> Any:
        """Return it by columns."""
        return self.as_form(self.as_csc)

    def tocoo(self, copy: bool = False) -> Any:
        """Return it as coordinates."""
        return self.as_form(self.as_coo)

    def asformat(self, format: Any, copy: bool = False) -> Any:
        """Return it in another format."""
        if format is None:
            return self
        return self.tocsr().asformat(format)

    def dot(self, other: Any) -> Any:
        """Return the product with a vector or a matrix."""
        return self.tocsr() @ other

    def toarray(self) -> Any:
        """Return a dense array."""
        return self.tocsr().toarray()

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal as an array."""
        return self.tocsr().diagonal(k)


FILLED: dict[type, Any] = {}
"""The class here for each class of SciPy."""
for _kind, _classes in (
    (MATRICES, (scipy.sparse.lil_matrix, scipy.sparse.dok_matrix)),
    (ARRAYS, (scipy.sparse.lil_array, scipy.sparse.dok_array)),
):
    for _of in _classes:
        FILLED[_of] = _form = made_form(Filled, _of)
        _form.is_array = _kind is ARRAYS
        _form.as_csr, _form.as_csc, _form.as_coo = _kind["csr"], _kind["csc"], _kind["coo"]
        STAND_FOR[_form] = _of

"""Masked arrays of NumPy that are made in the function, of values that are differentiated.

An instance is one of a class written here, which holds the values and the mask. What is masked has
derivative 0. Where all is masked, NumPy's result is the constant ``masked``, which is refused when
the code runs; so is what is not written here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime.substitutes import STAND_FOR

FILL = 1e20
"""What NumPy fills masked numbers with if nothing is said."""
SMALLEST = float(np.finfo(float).tiny)


class Masked:
    """``np.ma.MaskedArray``: ``data``, and ``mask`` of the same shape."""

    __array_priority__ = 15.0

    def __init__(self, data: Any, mask: Any) -> None:
        self.data = data
        self.mask = mask
        self.shape = np.shape(data)
        self.ndim = np.ndim(data)
        self.size = np.size(data)

    @property
    def T(self) -> Any:
        """The transpose."""
        return Masked(np.transpose(self.data), np.transpose(self.mask))

    def filled(self, fill_value: Any = None) -> Any:
        """Return an array with another value in the place of what is masked."""
        return np.where(self.mask, FILL if fill_value is None else fill_value, self.data)

    def compressed(self) -> Any:
        """Return what is not masked, in one row."""
        return self.data[~self.mask]

    def count(self, axis: Any = None, keepdims: bool = False) -> Any:
        """Return how many numbers are not masked."""
        return np.sum(~self.mask, axis=axis, keepdims=keepdims)

    def reduced(self, found: Any, axis: Any, keepdims: bool) -> Any:
        """Return a result over some axes: masked where all numbers are."""
        mask = np.all(self.mask, axis=axis, keepdims=keepdims)
        if axis is None and not keepdims:
            if np.all(mask):
                raise UncoveredError("all numbers of this masked array are masked")
            return found
        return Masked(found, mask)

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None,
            keepdims: bool = False) -> Any:
        """Return the sum of what is not masked."""
        plain(dtype, out)
        total = np.sum(np.where(self.mask, 0, self.data), axis=axis, keepdims=keepdims)
        return self.reduced(total, axis, keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, out: Any = None,
             keepdims: bool = False) -> Any:
        """Return the product of what is not masked."""
        plain(dtype, out)
        total = np.prod(np.where(self.mask, 1, self.data), axis=axis, keepdims=keepdims)
        return self.reduced(total, axis, keepdims)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None,
             keepdims: bool = False) -> Any:
        """Return the mean of what is not masked."""
        plain(dtype, out)
        total = np.sum(np.where(self.mask, 0, self.data), axis=axis, keepdims=keepdims)
        count = np.maximum(self.count(axis, keepdims), 1)
        return self.reduced(total / count, axis, keepdims)

    def var(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0,
            keepdims: bool = False) -> Any:
        """Return the variance of what is not masked."""
        plain(dtype, out)
        if np.iscomplexobj(self.data):
            raise UncoveredError("masked arrays have a derivative of var() for real numbers")
        count = np.maximum(self.count(axis, True), 1)
        kept = np.where(self.mask, 0, self.data)
        apart = np.where(self.mask, 0, kept - np.sum(kept, axis=axis, keepdims=True) / count)
        left = self.count(axis, keepdims) - ddof
        if np.any(left <= 0):
            raise UncoveredError("too few numbers of this masked array are not masked")
        return self.reduced(
            np.sum(apart * apart, axis=axis, keepdims=keepdims) / left, axis, keepdims)

    def std(self, axis: Any = None, dtype: Any = None, out: Any = None, ddof: int = 0,
            keepdims: bool = False) -> Any:
        """Return the standard deviation of what is not masked."""
        found = self.var(axis, dtype, out, ddof, keepdims)
        return Masked(np.sqrt(found.data), found.mask) if isinstance(
            found, np.ma.MaskedArray) else np.sqrt(found)

    def max(self, axis: Any = None, out: Any = None) -> Any:
        """Return the largest number that is not masked."""
        plain(None, out)
        found = np.max(np.where(self.mask, -np.inf, self.data), axis=axis)
        return self.reduced(found, axis, False)

    def min(self, axis: Any = None, out: Any = None) -> Any:
        """Return the smallest number that is not masked."""
        plain(None, out)
        found = np.min(np.where(self.mask, np.inf, self.data), axis=axis)
        return self.reduced(found, axis, False)

    def __getitem__(self, index: Any) -> Any:
        data, mask = self.data[index], self.mask[index]
        if np.ndim(data) != 0:
            return Masked(data, mask)
        if mask:
            raise UncoveredError("this number of a masked array is masked")
        return data

    def __neg__(self) -> Any:
        return Masked(np.where(self.mask, self.data, -self.data), self.mask)

    def __add__(self, other: Any) -> Any:
        return joined(self.data, values_of(other), self.mask | mask_of(other),
                      self.data + values_of(other))

    def __radd__(self, other: Any) -> Any:
        return joined(values_of(other), self.data, self.mask, values_of(other) + self.data)

    def __sub__(self, other: Any) -> Any:
        return joined(self.data, values_of(other), self.mask | mask_of(other),
                      self.data - values_of(other))

    def __rsub__(self, other: Any) -> Any:
        return joined(values_of(other), self.data, self.mask, values_of(other) - self.data)

    def __mul__(self, other: Any) -> Any:
        return joined(self.data, values_of(other), self.mask | mask_of(other),
                      self.data * values_of(other))

    def __rmul__(self, other: Any) -> Any:
        return joined(values_of(other), self.data, self.mask, values_of(other) * self.data)

    def __truediv__(self, other: Any) -> Any:
        return divided(self.data, values_of(other), self.mask | mask_of(other))

    def __rtruediv__(self, other: Any) -> Any:
        return divided(values_of(other), self.data, self.mask)

    def __pow__(self, exponent: Any) -> Any:
        if not isinstance(exponent, int):
            raise UncoveredError("masked arrays have a derivative of powers with whole exponents")
        if exponent < 0:
            raise UncoveredError("masked arrays have a derivative of powers that are not negative")
        return Masked(np.where(self.mask, self.data, self.data**exponent), self.mask)


def plain(dtype: Any, out: Any) -> None:
    """Raise for options that say where or as what a result is stored."""
    if dtype is not None or out is not None:
        raise UncoveredError("masked arrays have a derivative without dtype= and out=")


def values_of(other: Any) -> Any:
    """Return the values of an operand."""
    return other.data if isinstance(other, np.ma.MaskedArray) else np.asarray(other)


def mask_of(other: Any) -> Any:
    """Return the mask of an operand."""
    return other.mask if isinstance(other, np.ma.MaskedArray) else np.zeros(np.shape(other), bool)


def joined(first: Any, second: Any, mask: Any, found: Any) -> Any:
    """Return a result, with the first operand where it is masked."""
    mask = mask | np.zeros(np.shape(found), bool)
    return Masked(np.where(mask, first, found), mask)


def divided(first: Any, second: Any, mask: Any) -> Any:
    """Return a quotient, masked where the divisor is zero beside the dividend."""
    mask = mask | (np.abs(first) * SMALLEST >= np.abs(second))
    return Masked(np.where(mask, first, first / np.where(mask, 1, second)), mask)


def masked_array(
    data: Any = None, mask: Any = False, dtype: Any = None, copy: bool = False,
    subok: bool = True, ndmin: int = 0, fill_value: Any = None, keep_mask: bool = True,
    hard_mask: Any = None, shrink: bool = True, order: Any = None,
) -> Any:
    """``np.ma.MaskedArray`` and ``np.ma.array``."""
    if dtype is not None or ndmin or fill_value is not None or hard_mask or not keep_mask:
        raise UncoveredError("masked arrays have a derivative where data and mask are given")
    values = values_of(data)
    return Masked(values, mask_of(data) | np.broadcast_to(np.asarray(mask, bool), np.shape(values)))


def array(
    data: Any, dtype: Any = None, copy: bool = False, order: Any = None, mask: Any = False,
    fill_value: Any = None, keep_mask: bool = True, hard_mask: bool = False,
    shrink: bool = True, subok: bool = True, ndmin: int = 0,
) -> Any:
    """``np.ma.array``."""
    return masked_array(
        data, mask, dtype, copy, subok, ndmin, fill_value, keep_mask, hard_mask, shrink, order)


def masked_where(condition: Any, a: Any, copy: bool = True) -> Any:
    """``np.ma.masked_where``."""
    values = np.array(values_of(a))
    condition = np.asarray(condition, bool)
    if np.shape(condition) != np.shape(values):
        raise IndexError("Inconsistent shape between the condition and the input")
    return Masked(values, condition | mask_of(a))


def masked_invalid(a: Any, copy: bool = True) -> Any:
    """``np.ma.masked_invalid``."""
    return masked_where(~np.isfinite(values_of(a)), a)


def masked_greater(x: Any, value: Any, copy: bool = True) -> Any:
    """``np.ma.masked_greater``."""
    return masked_where(values_of(x) > value, x)


def masked_less(x: Any, value: Any, copy: bool = True) -> Any:
    """``np.ma.masked_less``."""
    return masked_where(values_of(x) < value, x)


def masked_equal(x: Any, value: Any, copy: bool = True) -> Any:
    """``np.ma.masked_equal``."""
    return masked_where(values_of(x) == value, x)


def filled(a: Any, fill_value: Any = None) -> Any:
    """``np.ma.filled``."""
    return a.filled(fill_value) if isinstance(a, np.ma.MaskedArray) else a


STAND_FOR[Masked] = np.ma.MaskedArray
facts(np.ma.MaskedArray, written_as=masked_array)
for _written in (
    array, masked_where, masked_invalid, masked_greater, masked_less, masked_equal, filled,
):
    facts(getattr(np.ma, _written.__name__), written_as=_written)

"""NumPy functions whose source is too dynamic to compile, as Python code that is compiled.

Polynomials and their coefficients, correlations and tensor equations. The values are NumPy's own to
the last bit: the same operations in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.polynomial import polyutils

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.gathering import part_without_zeros


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """``np.trim_zeros``."""
    return filt[part_without_zeros(filt, trim, axis)]


def coefficients(p: Any) -> Any:
    """The coefficients that ``np.poly1d(p)`` keeps: without zeros in front, at least one."""
    whole = np.atleast_1d(p)
    if np.any(whole):
        return whole[part_without_zeros(whole, "f", None)]
    return whole[:1]


def polymul(a1: Any, a2: Any) -> Any:
    """``np.polymul``."""
    return np.convolve(coefficients(a1), coefficients(a2))


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """``np.polyint``."""
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    y = np.asarray(p)
    for i in range(m):
        constant = np.zeros(1) if k is None else np.atleast_1d(k)[i : i + 1]
        if k is not None and np.size(k) == 1:
            constant = np.atleast_1d(k)[:1]
        y = np.concatenate((y / np.arange(len(y), 0, -1), constant))
    return y


def as_series(alist: Sequence[Any], trim: bool = True) -> list[Any]:
    """``np.polynomial.polyutils.as_series``: vectors of coefficients, without zeros at the end."""
    vectors = [np.atleast_1d(c) + 0.0 for c in alist]
    return [without_last_zeros(c) for c in vectors] if trim else vectors


def without_last_zeros(c: Any) -> Any:
    """The coefficients of a series without zeros at the end, at least one."""
    if np.any(c):
        return c[part_without_zeros(c, "b", None)]
    return c[:1]


def sum_of_series(c1: Any, c2: Any) -> Any:
    """``np.polynomial.polyutils._add``: the sum of two series of the same kind."""
    a, b = as_series([c1, c2])
    n, m = len(a), len(b)
    if n > m:
        return without_last_zeros(np.concatenate((a[:m] + b, a[m:])))
    return without_last_zeros(np.concatenate((b[:n] + a, b[n:])))


def difference_of_series(c1: Any, c2: Any) -> Any:
    """``np.polynomial.polyutils._sub``: the difference of two series of the same kind."""
    a, b = as_series([c1, c2])
    n, m = len(a), len(b)
    if n > m:
        return without_last_zeros(np.concatenate((a[:m] - b, a[m:])))
    return without_last_zeros(np.concatenate((a - b[:n], -b[n:])))


def value_of_series(val_f: Callable[..., Any], c: Any, *args: Any) -> Any:
    """``np.polynomial.polyutils._valnd``: the value of a series in several variables."""
    result = val_f(np.asarray(args[0]), c)
    for x in args[1:]:
        result = val_f(np.asarray(x), result, tensor=False)
    return result


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Any:
    """``np.corrcoef``."""
    c = np.cov(x, y, rowvar, dtype=dtype)
    if np.ndim(c) == 0:
        return c / c
    deviation = np.sqrt(np.real(np.diag(c)))
    c = c / deviation[:, np.newaxis]
    c = c / deviation[np.newaxis, :]
    if np.iscomplexobj(c):
        return np.clip(np.real(c), -1, 1) + 1j * np.clip(np.imag(c), -1, 1)
    return np.clip(c, -1, 1)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """``np.linalg.tensorsolve``."""
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        a = np.moveaxis(a, axes, tuple(range(a.ndim - len(axes), a.ndim)))
    x = np.linalg.solve(np.reshape(a, (b.size, b.size)), np.ravel(b))
    return np.reshape(x, a.shape[b.ndim :])


class Broadcasting:
    """What ``np.broadcast`` tells of arrays: the shape that they have together, and its rows."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays
        self.shape = np.broadcast_shapes(*[np.shape(array) for array in arrays])
        self.ndim = self.nd = len(self.shape)
        self.size = math.prod(self.shape)
        self.numiter = len(arrays)

    def __iter__(self) -> Any:
        rows = [np.ravel(np.broadcast_to(array, self.shape)) for array in self.arrays]
        return zip(*rows, strict=True)


def broadcasting(*arrays: Any) -> Any:
    """``np.broadcast``."""
    return Broadcasting(*arrays)


def new_array(
    shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None,
    order: Any = None,
) -> Any:
    """``np.ndarray(shape, dtype)``: an array that nothing is stored in yet, as ``np.empty``."""
    if buffer is not None or strides is not None:
        raise UncoveredError("np.ndarray() over a buffer has no derivative")
    return np.empty(shape, dtype) if order is None else np.empty(shape, dtype, order)


facts(np.ndarray, written_as=new_array)
facts(np.broadcast, written_as=broadcasting)
facts(np.trim_zeros, written_as=trim_zeros)
facts(np.polymul, written_as=polymul)
facts(np.polyint, written_as=polyint)
facts(polyutils.as_series, written_as=as_series)
facts(np.corrcoef, written_as=corrcoef)
facts(np.linalg.tensorsolve, written_as=tensorsolve)
facts(getattr(polyutils, "_valnd", value_of_series), written_as=value_of_series)
facts(getattr(polyutils, "_add", sum_of_series), written_as=sum_of_series)
facts(getattr(polyutils, "_sub", difference_of_series), written_as=difference_of_series)

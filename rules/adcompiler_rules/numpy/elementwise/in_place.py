"""NumPy's functions that write into arrays, and methods of ufuncs, as the Python code for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import facts
from adcompiler.runtime import accumulate
from adcompiler_rules.kernels.gathering import along_axis
from adcompiler.runtime.adjoints.shaping import complex_viewed, parts_viewed, viewed
from adcompiler_rules.kernels.ufunc_methods import (
    divided_at, largest_at, multiplied_at, places_at, smallest_at, times_before,
)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """``np.copyto``."""
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """``np.fill_diagonal``: values are repeated, or cut off, as those that are stored flat are."""
    if wrap and a.ndim == 2:
        at = np.unravel_index(np.arange(0, a.size, a.shape[1] + 1), a.shape)
    else:
        at = (np.arange(min(a.shape)),) * a.ndim
    if np.ndim(val) == 0:
        a[at] = val
    else:
        a[at] = np.resize(val, at[0].shape)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    """``np.put``: positions count through the flattened array, values are repeated."""
    positions = np.asarray(ind)
    if mode == "wrap":
        positions = positions % a.size
    elif mode == "clip":
        positions = np.clip(positions, 0, a.size - 1)
    positions = np.where(positions < 0, positions + a.size, positions)
    if np.ndim(v) == 0:
        a[np.unravel_index(positions, a.shape)] = v
    else:
        a[np.unravel_index(positions, a.shape)] = np.resize(v, positions.shape)


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any = -1) -> None:
    """``np.put_along_axis``."""
    arr[along_axis(arr.shape, indices, axis)] = values


def putmask(a: Any, mask: Any, values: Any) -> None:
    """``np.putmask``: values are repeated, and used where the mask holds."""
    if np.ndim(values) == 0:
        a[...] = np.where(mask, values, a)
    else:
        a[...] = np.where(mask, np.resize(values, a.shape), a)


def place(arr: Any, mask: Any, vals: Any) -> None:
    """``np.place``: values are repeated, and used one after the other."""
    chosen = np.asarray(mask, dtype=bool)
    arr[chosen] = np.resize(vals, (np.count_nonzero(chosen),))


def view(a: Any, dtype: Any = None, type: Any = None) -> Any:
    """``ndarray.view``."""
    if dtype is None or dtype is np.ndarray:
        return a[...]
    if a.dtype == dtype:
        return a[...]
    if np.iscomplexobj(a) and a.real.dtype == dtype:
        return parts_viewed(a)
    if not np.iscomplexobj(a) and np.result_type(a.dtype, np.complex64) == dtype:
        return complex_viewed(a)
    return viewed(a, dtype)


def add_at(a: Any, indices: Any, b: Any) -> None:
    """``np.add.at``."""
    accumulate(a, indices, b)


def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """``np.subtract.at``."""
    accumulate(a, indices, -b)


def multiply_at(a: Any, indices: Any, b: Any) -> None:
    """``np.multiply.at``."""
    a[...] = multiplied_at(a, indices, b)


def divide_at(a: Any, indices: Any, b: Any) -> None:
    """``np.divide.at``."""
    a[...] = divided_at(a, indices, b)


def maximum_at(a: Any, indices: Any, b: Any) -> None:
    """``np.maximum.at``."""
    a[...] = largest_at(a, indices, b)


def minimum_at(a: Any, indices: Any, b: Any) -> None:
    """``np.minimum.at``."""
    a[...] = smallest_at(a, indices, b)


def changed_at(ufunc: Any) -> Any:
    """Return ``ufunc.at``: places that occur several times are changed as often, in their order."""

    def changing_at(a: Any, indices: Any, b: Any) -> None:
        places = places_at(a, indices, b)
        times = times_before(places)
        operands = np.ravel(np.broadcast_to(b, np.shape(a[indices])))
        y = np.ndarray.flatten(a)
        for k in range(np.max(times, initial=-1) + 1):
            now = np.flatnonzero(times == k)
            y[places[now]] = ufunc(y[places[now]], operands[now])
        a[...] = np.reshape(y, np.shape(a))

    return changing_at


def add_reduce(
    array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = 0, where: Any = True,
) -> Any:
    """``np.add.reduce``."""
    return np.sum(array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def multiply_reduce(
    array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = 1, where: Any = True,
) -> Any:
    """``np.multiply.reduce``."""
    return np.prod(array, axis, dtype, keepdims=keepdims, initial=initial, where=where)


def maximum_reduce(
    array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = np._NoValue, where: Any = True,
) -> Any:
    """``np.maximum.reduce``."""
    return np.max(array, axis, keepdims=keepdims, initial=initial, where=where)


def minimum_reduce(
    array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
    initial: Any = np._NoValue, where: Any = True,
) -> Any:
    """``np.minimum.reduce``."""
    return np.min(array, axis, keepdims=keepdims, initial=initial, where=where)


def add_accumulate(array: Any, axis: int = 0, dtype: Any = None) -> Any:
    """``np.add.accumulate``."""
    return np.cumsum(array, axis, dtype)


def multiply_accumulate(array: Any, axis: int = 0, dtype: Any = None) -> Any:
    """``np.multiply.accumulate``."""
    return np.cumprod(array, axis, dtype)


def fill(a: Any, value: Any) -> None:
    """``ndarray.fill``."""
    a[...] = value


def sort(a: Any, axis: int = -1, kind: Any = None, order: Any = None) -> None:
    """``ndarray.sort``."""
    a[...] = np.sort(a, axis)


def partition(
    a: Any, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None
) -> None:
    """``ndarray.partition``."""
    a[...] = np.partition(a, kth, axis)


facts(np.copyto, written_as=copyto)
facts(np.fill_diagonal, written_as=fill_diagonal)
facts(np.put, np.ndarray.put, written_as=put)
facts(np.put_along_axis, written_as=put_along_axis)
facts(np.putmask, written_as=putmask)
facts(np.place, written_as=place)
facts(np.ndarray.fill, written_as=fill)
facts(np.ndarray.view, written_as=view)
facts(np.ndarray.sort, written_as=sort)
facts(np.ndarray.partition, written_as=partition)
facts(np.add.at, written_as=add_at)
facts(np.subtract.at, written_as=subtract_at)
facts(np.multiply.at, written_as=multiply_at)
facts(np.divide.at, written_as=divide_at)
facts(np.maximum.at, written_as=maximum_at)
facts(np.minimum.at, written_as=minimum_at)
for ufunc in (
    np.power, np.float_power, np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.fmax, np.fmin,
    np.copysign,
):
    facts(ufunc.at, written_as=changed_at(ufunc))
facts(np.add.reduce, written_as=add_reduce)
facts(np.multiply.reduce, written_as=multiply_reduce)
facts(np.maximum.reduce, written_as=maximum_reduce)
facts(np.minimum.reduce, written_as=minimum_reduce)
facts(np.add.accumulate, written_as=add_accumulate)
facts(np.multiply.accumulate, written_as=multiply_accumulate)

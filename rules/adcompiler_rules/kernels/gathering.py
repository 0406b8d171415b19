"""Adjoints of functions that select or permute elements: cotangents go back where values came from.

Every function is pure. ``g`` is the cotangent of the result and ``shape`` that of the argument.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adcompiler.errors import UncoveredError

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def take_adjoint(
    g: Any, shape: tuple[int, ...], indices: Any, axis: int | None, mode: str = "raise"
) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.take(x, indices, axis, mode=mode)``.

    Elements that were taken several times collect the sum of their cotangents.
    """
    g, indices = np.asarray(g), np.asarray(indices)
    if axis is None or not shape:
        flat = take_adjoint(g, (math.prod(shape),), indices, 0, mode)
        return flat.reshape(shape)
    axis %= len(shape)
    if mode == "wrap":
        indices = indices % shape[axis]
    elif mode == "clip":
        indices = np.clip(indices, 0, shape[axis] - 1)
    outer, n, inner = math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])
    rows = np.where(indices < 0, indices + n, indices).astype(np.intp, copy=False)
    rows = np.arange(outer)[:, np.newaxis] * n + rows.ravel()
    return _add_up(g, rows[:, :, np.newaxis] * inner + np.arange(inner), shape)


def take_along_axis_adjoint(g: Any, shape: tuple[int, ...], indices: Any, axis: int | None) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.take_along_axis(x, indices, axis)``.

    ``x`` and ``indices`` may be broadcast against one another along the other axes.
    """
    if axis is None:
        return take_adjoint(g, shape, indices, None)
    axis %= len(shape)
    indices = np.asarray(indices)
    strides = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    positions = np.where(indices < 0, indices + shape[axis], indices) * strides[axis]
    for i, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        if i != axis:
            along = (1,) * i + (n,) + (1,) * (len(shape) - 1 - i)
            positions = positions + (np.arange(n) * stride).reshape(along)
    return _add_up(g, positions, shape)


def _add_up(g: Any, positions: Any, shape: tuple[int, ...]) -> Any:
    """Return an array of ``shape`` that has at each flat position the sum of the ``g`` for it.

    Flat positions let NumPy take its fast path, four times that for rows.
    """
    flat = np.zeros(math.prod(shape), g.dtype)
    np.add.at(flat, positions.ravel(), g.ravel())
    return flat.reshape(shape)


def permute_adjoint(g: Any, permutation: Any, axis: int | None, shape: tuple[int, ...]) -> Any:
    """Return the cotangent of an array of ``shape`` permuted along ``axis`` (None: flattened)."""
    x_bar = np.empty(permutation.shape, g.dtype)
    np.put_along_axis(x_bar, permutation, g, -1 if axis is None else axis)
    return x_bar.reshape(shape)


def item_adjoint(g: Any, x: Any, index: tuple[Any, ...]) -> Any:
    """Return the cotangent of the array ``x`` for ``x.item(*index)``."""
    x_bar = np.zeros_like(x)
    index = index[0] if len(index) == 1 and isinstance(index[0], tuple) else index
    if len(index) == 1 and x.ndim != 1:
        index = np.unravel_index(index[0] % x.size, x.shape)
    x_bar[index if index else (0,) * x.ndim] = g
    return x_bar


def along_axis(shape: tuple[int, ...], indices: Any, axis: int | None) -> Any:
    """Return the subscript of the elements that ``np.take_along_axis`` takes from an array."""
    indices = np.asarray(indices)
    if axis is None:
        return np.unravel_index(np.where(indices < 0, indices + math.prod(shape), indices), shape)
    grids = list(np.ogrid[tuple(slice(n) for n in shape)])
    grids[axis % len(shape)] = indices
    return tuple(grids)


# --- where elements come from ---------------------------------------------------------------------


def kept_positions(shape: tuple[int, ...], obj: Any, axis: int | None) -> Any:
    """Return the positions along ``axis`` (None: flattened) that ``np.delete(x, obj)`` keeps."""
    return np.delete(np.arange(math.prod(shape) if axis is None else shape[axis]), obj)


def inserted_positions(
    shape: tuple[int, ...], obj: Any, axis: int | None, result_shape: tuple[int, ...]
) -> tuple[Any, Any]:
    """Return where ``np.insert(x, obj, values, axis)`` puts the elements of ``x`` and the values.

    Inserting numbers into numbers shows where each element of the result came from.
    """
    n, size = (math.prod(shape), result_shape[0]) if axis is None else (
        shape[axis], result_shape[axis])
    order = np.argsort(np.insert(np.arange(n), obj, np.arange(n, size)))
    return order[:n], order[n:]


def part_without_zeros(x: Any, trim: str, axis: Any) -> Any:
    """Return the slices of ``x`` that ``np.trim_zeros(x, trim, axis)`` takes; one slice of a list.

    ``trim`` names the ends of each axis that are cut off: f, b or both.
    """
    array = np.asarray(x)
    axes = range(array.ndim) if axis is None else np.atleast_1d(axis) % array.ndim
    where = np.nonzero(array)
    parts = [slice(None)] * array.ndim
    for i in axes:
        n = array.shape[i]
        found = where[i]
        first = (int(found.min()) if found.size else n) if "f" in trim.lower() else 0
        last = (int(found.max()) + 1 if found.size else 0) if "b" in trim.lower() else n
        parts[i] = slice(first, max(last, first) if found.size else first)
    return tuple(parts) if isinstance(x, np.ndarray) else parts[0]


def first_of(values: Any, x: Any) -> Any:
    """Return where each of ``values`` occurs first among the elements of ``x``."""
    flat = np.ravel(x)
    order = np.argsort(flat, kind="stable")
    return order[np.searchsorted(flat, values, sorter=order)]


def first_positions(x: Any, axis: int | None, equal_nan: bool) -> Any:
    """Return where ``np.unique(x, axis=axis)`` meets its values first."""
    return np.unique(x, return_index=True, axis=axis, equal_nan=equal_nan)[1]


def strided_positions(x: Any, shape: Any, strides: Any) -> Any:
    """Return the position in C order of each element of ``as_strided(x, shape, strides)`` in x.

    Raises UncoveredError for elements that lie in memory outside of ``x``, or between its elements.
    """
    x = np.asarray(x)
    shape = x.shape if shape is None else tuple(np.atleast_1d(shape).tolist())
    if strides is None:  # NumPy takes those of the new shape, if the array lies in C order
        strides = x.strides if not x.flags.c_contiguous else tuple(
            x.itemsize * math.prod(shape[k + 1 :]) for k in range(len(shape))
        )
    strides = tuple(np.atleast_1d(strides).tolist()) if len(shape) else ()
    if len(shape) != len(strides):
        raise ValueError("mismatch in length of strides and shape")
    if math.prod(shape) == 0:
        return np.zeros(shape, np.intp)
    wanted, there = offsets(shape, strides), offsets(x.shape, x.strides).ravel()
    order = np.argsort(there, kind="stable")
    places = np.searchsorted(there[order], wanted) if there.size else np.zeros(shape, np.intp)
    positions = order[np.minimum(places, there.size - 1)] if there.size else places
    if not there.size or np.any(there[positions] != wanted):
        raise UncoveredError(
            "as_strided() reaches memory that is no element of the array it is given"
        )
    return positions


def offsets(shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Return how far from the first element of an array each of its elements lies, in bytes."""
    found = np.zeros(shape, np.intp)
    for axis, (n, stride) in enumerate(zip(shape, strides, strict=True)):
        along = (1,) * axis + (n,) + (1,) * (len(shape) - 1 - axis)
        found = found + (np.arange(n) * stride).reshape(along)
    return found

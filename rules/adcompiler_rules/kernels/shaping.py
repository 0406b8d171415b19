"""Adjoints of functions that reshape, repeat, join or split arrays.

Every function is pure. ``g`` is the cotangent of the result and ``shape`` that of the argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.shaping import like, read_order
from adcompiler_rules.kernels.gathering import take_adjoint

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def diagonal_view_adjoint(g: Any, shape: tuple[int, ...], subscripts: str) -> Any:
    """Return the cotangent of an array of ``shape`` for its ``diagonal_view``."""
    dx = np.zeros(shape, np.asarray(g).dtype)
    np.einsum(subscripts, dx)[...] = g
    return dx


def like_each(gs: Sequence[Any], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return the cotangents ``gs`` of reshaped ``arrays``, each in its array's shape and form."""
    return tuple(
        like(np.reshape(g, np.shape(x)), x) for g, x in zip(gs, arrays, strict=True)
    )


def ravel_positions(x: Any, order: str) -> Any:
    """Return where ``np.ravel(x, order)`` finds its elements in ``np.ravel(x)``."""
    shape = np.shape(x)
    positions = np.arange(math.prod(shape)).reshape(shape)
    if order == "K" and isinstance(x, np.ndarray):
        if 0 in x.strides:  # of such axes the iterator decides where they come
            upright = tuple(slice(None, None, -1 if n < 0 else 1) for n in x.strides)
            steps = np.nditer(x[upright], ["c_index", "zerosize_ok"], order="K")
            at = np.array([steps.index for _ in steps], np.intp)
            return positions.ravel()[at]
        in_layout_of_x = np.empty_like(x, dtype=np.intp, order="K", subok=False)
        in_layout_of_x[...] = positions
        return in_layout_of_x.ravel("K")
    return positions.ravel(read_order(x, "A" if order == "K" else order))


def inverse_permutation(axes: Sequence[int]) -> tuple[int, ...]:
    """Return the axes that undo ``np.transpose(x, axes)``; negative axes count from the end."""
    order = np.reshape(axes, -1)
    return tuple(int(axis) for axis in np.argsort(np.mod(order, max(len(order), 1))))


def rolled_to(axis: int, start: int, ndim: int) -> int:
    """Return where ``np.rollaxis(x, axis, start)`` puts ``axis``: its position in the result."""
    axis, start = axis % ndim, start + ndim if start < 0 else start
    return start - 1 if axis < start else start


# --- repetition -----------------------------------------------------------------------------------


def repeat_adjoint(g: Any, shape: tuple[int, ...], repeats: Any, axis: int | None) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.repeat(x, repeats, axis)``."""
    if axis is None:
        return repeat_adjoint(g, (math.prod(shape),), repeats, 0).reshape(shape)
    axis %= max(len(shape), 1)
    if np.size(repeats) == 1:
        repeats = int(np.reshape(repeats, ()))
        return g.reshape(*shape[: axis + 1], repeats, *shape[axis + 1 :]).sum(axis + 1)
    return take_adjoint(g, shape, np.repeat(np.arange(shape[axis]), repeats), axis)


def tile_adjoint(g: Any, shape: tuple[int, ...], reps: Any) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.tile(x, reps)``."""
    reps = tuple(np.reshape(reps, -1))
    ndim = max(len(shape), len(reps))
    reps = (1,) * (ndim - len(reps)) + reps
    sizes = (1,) * (ndim - len(shape)) + shape
    blocks = [n for pair in zip(reps, sizes, strict=True) for n in pair]
    return g.reshape(blocks).sum(tuple(range(0, 2 * ndim, 2))).reshape(shape)


def resize_adjoint(g: Any, shape: tuple[int, ...]) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.resize``, which repeats it flat."""
    size = math.prod(shape)
    if size == 0:
        return np.zeros(shape, g.dtype)
    padded = np.zeros(-(-g.size // size) * size, g.dtype)
    padded[: g.size] = np.ravel(g)
    return padded.reshape(-1, size).sum(0).reshape(shape)


def meshgrid_adjoint(
    gs: Sequence[Any], xi: Sequence[Any], indexing: str, sparse: bool
) -> tuple[Any, ...]:
    """Return the cotangents of the vectors ``xi`` for ``np.meshgrid``, full or ``sparse``."""
    if sparse:
        return like_each(gs, xi)
    order = list(range(len(xi)))
    if indexing == "xy":
        order[:2] = order[:2][::-1]
    sums = [
        g.sum(tuple(other for other in order if other != axis))
        for g, axis in zip(gs, order, strict=True)
    ]
    return like_each(sums, xi)


# --- joining and splitting ------------------------------------------------------------------------


def block_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of the nested lists ``arrays`` for ``np.block(arrays)``."""
    return _unblock(g, arrays, g.ndim, -_depth(arrays))


def split_adjoint(gs: Any, shape: tuple[int, ...], indices_or_sections: Any, axis: int) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.array_split``; parts may overlap."""
    joined = np.concatenate(gs, axis)
    if joined.shape[axis] == shape[axis]:
        return joined
    parts = np.array_split(np.arange(shape[axis]), indices_or_sections)
    x_bar = np.zeros(shape, joined.dtype)
    np.add.at(np.moveaxis(x_bar, axis, 0), np.concatenate(parts), np.moveaxis(joined, axis, 0))
    return x_bar


def _depth(arrays: Any) -> int:
    return 1 + _depth(arrays[0]) if isinstance(arrays, list) else 0


def _block_shape(arrays: Any, ndim: int, axis: int) -> tuple[int, ...]:
    """Return the shape of ``arrays`` joined from ``axis`` on, with at least ``ndim`` axes."""
    if not isinstance(arrays, list):
        shape = np.shape(arrays)
        return (1,) * (ndim - len(shape)) + tuple(shape)
    shapes: Sequence[tuple[int, ...]] = [_block_shape(x, ndim, axis + 1) for x in arrays]
    joined = list(shapes[0])
    joined[axis] = sum(shape[axis] for shape in shapes)
    return tuple(joined)


def _unblock(g: Any, arrays: Any, ndim: int, axis: int) -> Any:
    if not isinstance(arrays, list):
        return like(np.reshape(g, np.shape(arrays)), arrays)
    sizes = [_block_shape(x, ndim, axis + 1)[axis] for x in arrays]
    pieces = np.split(g, np.cumsum(sizes)[:-1], axis)
    return [_unblock(piece, x, ndim, axis + 1) for piece, x in zip(pieces, arrays, strict=True)]


def tolist_adjoint(g: Any, x: Any) -> Any:
    """Return the cotangent of the array ``x`` for ``x.tolist()``, from nested lists ``g``."""
    if math.prod(x.shape) == 0:
        return np.zeros_like(x)
    return np.reshape(np.array(g, x.dtype), x.shape)

"""Adjoints of functions that join arrays into one, or split one into several.

Every function is pure; a list of arrays gets a list of cotangents, a tuple a tuple, and an array
(joined along its first axis) an array.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.shaping import like

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def concatenate_adjoint(g: Any, arrays: Any, axis: int | None = 0) -> Any:
    """Return the cotangents of ``arrays`` for ``np.concatenate(arrays, axis)``."""
    if axis is None:
        return _cut(g, arrays, 0, np.ravel)
    return _cut(g, arrays, axis, np.asarray)


def stack_adjoint(g: Any, arrays: Any, axis: int = 0) -> Any:
    """Return the cotangents of ``arrays`` for ``np.stack(arrays, axis)``."""
    return _contained(np.moveaxis(g, axis, 0), arrays)


def vstack_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays`` for ``np.vstack(arrays)``."""
    return _cut(g, arrays, 0, np.atleast_2d)


def hstack_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays`` for ``np.hstack(arrays)``."""
    return _cut(g, arrays, 0 if g.ndim == 1 else 1, np.atleast_1d)


def dstack_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays`` for ``np.dstack(arrays)``."""
    return _cut(g, arrays, 2, np.atleast_3d)


def column_stack_adjoint(g: Any, arrays: Any) -> Any:
    """Return the cotangents of ``arrays`` for ``np.column_stack(arrays)``."""
    return _cut(g, arrays, 1, _as_columns)


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


def _cut(g: Any, arrays: Any, axis: int, promote: Callable[[Any], Any]) -> Any:
    """Cut ``g`` along ``axis`` where the arrays, each promoted first, meet."""
    pieces, start = [], 0
    before = (slice(None),) * (axis % g.ndim)
    for x in arrays:
        stop = start + promote(x).shape[axis]
        piece = g[(*before, slice(start, stop))]
        pieces.append(_uncolumn(piece, x) if promote is _as_columns else piece)
        start = stop
    return _contained(pieces, arrays)


def _as_columns(x: Any) -> Any:
    x = np.asarray(x)
    return x if x.ndim > 1 else np.array(x, ndmin=2).T


def _uncolumn(piece: Any, x: Any) -> Any:
    return piece if np.ndim(x) > 1 else piece.T


def _contained(pieces: Iterable[Any], arrays: Any) -> Any:
    """Return the pieces in the shapes of ``arrays``, in a container of its type."""
    items = [like(np.reshape(g, np.shape(x)), x) for g, x in zip(pieces, arrays, strict=True)]
    if isinstance(arrays, np.ndarray):
        return np.reshape(np.asarray(items), arrays.shape)
    return type(arrays)(*items) if hasattr(arrays, "_fields") else type(arrays)(items)


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

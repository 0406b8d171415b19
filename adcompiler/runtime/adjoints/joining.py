"""Adjoints of functions that join arrays into one.

Every function is pure; a list of arrays gets a list of cotangents, a tuple a tuple, and an array
(joined along its first axis) an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

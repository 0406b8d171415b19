"""Adjoints of functions that reshape, repeat or mirror arrays, where one expression is not enough.

Every function is pure. ``g`` is the cotangent of the result and ``shape`` that of the argument.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.adjoints.gathering import take_adjoint

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


class CopiedError(ADError, ValueError):
    """A reshape made a copy of an array where the compiled code relies on a view."""


def reshape_view(x: Any, where: str, *shape: Any, order: Any = "C") -> Any:
    """Return ``x.reshape(*shape, order=order)``, which must be a view of ``x``.

    Without a shape it is ``x.ravel(order)``. Raises CopiedError if it is a copy; ``where`` is the
    user's line.
    """
    view = x.reshape(*shape, order=order) if shape else x.ravel(order)
    if x.size and not np.may_share_memory(view, x):
        raise CopiedError(
            f"{where}: this makes a copy of the array, as its layout in memory allows no view of "
            "this shape. Compiled code that writes into one of the two relies on a view: add "
            "`.copy()` where a copy is meant"
        )
    return view


def viewed(a: Any, dtype: Any) -> Any:
    """Return ``a.view(dtype)``: the memory of an array as numbers of another type."""
    return a.view(dtype)


def parts_viewed(z: Any) -> Any:
    """Return the memory of complex numbers as their real and imaginary parts, side by side."""
    return z.view(z.real.dtype)


def complex_viewed(x: Any) -> Any:
    """Return the memory of real numbers as complex numbers of two of them each."""
    return x.view(np.result_type(x.dtype, np.complex64))


def diagonal_view(x: Any, subscripts: str) -> Any:
    """Return ``np.einsum(subscripts, x)`` where that is a view: of all axes, or of diagonals."""
    return np.einsum(subscripts, x)


def diagonal_view_adjoint(g: Any, shape: tuple[int, ...], subscripts: str) -> Any:
    """Return the cotangent of an array of ``shape`` for its ``diagonal_view``."""
    dx = np.zeros(shape, np.asarray(g).dtype)
    np.einsum(subscripts, dx)[...] = g
    return dx


def copy_as_laid_out(x: Any) -> Any:
    """Return a copy of an array with its strides, so that the same reshapes give views."""
    if not x.size or any(stride % x.itemsize for stride in x.strides):
        return np.copy(x)
    ends = [(n - 1) * stride // x.itemsize for n, stride in zip(x.shape, x.strides, strict=True)]
    first = -sum(end for end in ends if end < 0)
    storage = np.empty(first + 1 + sum(end for end in ends if end > 0), x.dtype)
    placed = np.lib.stride_tricks.as_strided(storage[first:], x.shape, x.strides)
    placed[...] = x
    return placed


def in_place_of(new: Any, old: Any) -> Any:
    """Return ``new`` as an operation in place leaves it: where ``old`` is, so laid out as that."""
    if not isinstance(new, np.ndarray) or not isinstance(old, np.ndarray) or (
        new.strides == old.strides or new.shape != old.shape or new.dtype != old.dtype
    ):
        return new
    placed = copy_as_laid_out(old)
    placed[...] = new
    return placed


def laid_out_as(g: Any, x: Any) -> Any:
    """Return ``g`` in an array that lies in memory as ``x`` does, which has its shape."""
    if g.strides == x.strides or (g.itemsize != x.itemsize and g.flags.c_contiguous and (
        x.flags.c_contiguous
    )):
        return g
    placed = np.empty_like(x, dtype=g.dtype)
    placed[...] = g
    return placed


def like(g: Any, x: Any) -> Any:
    """Return ``g``, of the shape of ``np.asarray(x)``, as a cotangent of ``x``: of its form.

    An array is cast to the dtype of ``x`` (its real part, if ``x`` is real), or taken apart into
    numbers and nested lists. It is ``project`` without the sums: the identity where ``x`` is an
    array of the dtype of ``g``, which the compiler can tell from types alone.
    """
    if isinstance(x, np.ndarray):
        if x.dtype.kind not in "fc":
            return np.asarray(g)
        return np.asarray(np.real(g) if x.dtype.kind == "f" else g, x.dtype)
    if isinstance(x, (tuple, list)):
        items = (like(gi, xi) for gi, xi in zip(g, x, strict=True))
        return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)
    return project(g, x)


def like_each(gs: Sequence[Any], arrays: Sequence[Any]) -> tuple[Any, ...]:
    """Return the cotangents ``gs`` of reshaped ``arrays``, each in its array's shape and form."""
    return tuple(
        like(np.reshape(g, np.shape(x)), x) for g, x in zip(gs, arrays, strict=True)
    )


# --- order of elements and axes -------------------------------------------------------------------


def read_order(x: Any, order: str) -> Any:
    """Return the order, ``"C"`` or ``"F"``, that NumPy's ``order="A"`` reads the elements of x in.

    That is Fortran's only for arrays that are contiguous in Fortran's order and not in C's.
    """
    if order != "A":
        return order
    return "F" if isinstance(x, np.ndarray) and np.isfortran(x) else "C"


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


# --- diagonals ------------------------------------------------------------------------------------


def diagonal_adjoint(
    g: Any, shape: tuple[int, ...], offset: int = 0, axis1: int = 0, axis2: int = 1
) -> Any:
    """Return the cotangent of an array of ``shape`` for ``np.diagonal``: zero off the diagonal."""
    x_bar = np.zeros(shape, g.dtype)
    matrices = np.moveaxis(x_bar, (axis1, axis2), (-2, -1))
    rows = np.arange(g.shape[-1]) + max(-offset, 0)
    matrices[..., rows, rows + offset] = g
    return x_bar

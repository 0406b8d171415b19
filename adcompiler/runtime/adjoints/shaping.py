"""Adjoints of functions that reshape arrays or lay them out, where one expression is not enough.

Every function is pure. ``g`` is the cotangent of the result and ``shape`` that of the argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.runtime.adjoints.broadcasting import project

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


# --- order of elements and axes -------------------------------------------------------------------


def read_order(x: Any, order: str) -> Any:
    """Return the order, ``"C"`` or ``"F"``, that NumPy's ``order="A"`` reads the elements of x in.

    That is Fortran's only for arrays that are contiguous in Fortran's order and not in C's.
    """
    if order != "A":
        return order
    return "F" if isinstance(x, np.ndarray) and np.isfortran(x) else "C"


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


# --- widths of padding ----------------------------------------------------------------------------


def pad_widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    """Return the widths (before, after) of each axis from what ``np.pad`` takes for them."""
    if isinstance(pad_width, dict):
        axes = {axis % ndim: width for axis, width in pad_width.items()}
        pairs = [np.broadcast_to(axes.get(axis, 0), 2) for axis in range(ndim)]
    else:
        pairs = list(np.broadcast_to(pad_width, (ndim, 2)))
    return [(int(before), int(after)) for before, after in pairs]


def end_lengths(stat_length: Any, ndim: int, axis: int, n: int) -> tuple[int, int]:
    """Return how many of ``n`` elements at either end of ``axis`` a statistic is of."""
    first, last = np.broadcast_to(np.asarray(stat_length), (ndim, 2))[axis]
    return n if first is None else min(int(first), n), n if last is None else min(int(last), n)

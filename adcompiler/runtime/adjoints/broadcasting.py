"""Cotangents of broadcast operands: summed down, real where the operand is, of its precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.errors import ADError, ArgumentsError
from adcompiler.runtime.records import is_record, part, record, state_of
from adcompiler.runtime.structure import zeros_like
from adcompiler.runtime.tables import no_table


class StretchedError(ADError, ValueError):
    """Operands are stretched against one another by broadcasting, which was not expected.

    Emitted code for operands of equal shapes says so with ``same_shape``; when it is not so, the
    caller runs a form of the code that allows for it.
    """


def same_shape(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raise StretchedError unless the two shapes are equal."""
    if a != b:
        raise StretchedError(f"shapes {a} and {b} are broadcast against one another")


def same_trailing_shape(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raise StretchedError unless the shape ``a`` ends in the shape ``b``."""
    if a[len(a) - len(b) :] != b:
        raise StretchedError(f"shapes {a} and {b} are broadcast against one another")


def same_extent(a: int, *others: int) -> None:
    """Raise StretchedError unless extents are equal."""
    for b in others:
        if a != b:
            raise StretchedError(f"axes of {a} and {b} elements are broadcast against one another")


def keeps_shape(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    """Raise ValueError, as NumPy does, if an in-place operator would change an array's shape."""
    if old != new:
        raise ValueError(
            f"non-broadcastable output operand with shape {old} doesn't match the broadcast "
            f"shape {new}"
        )


def unbroadcast(g: Any, shape: tuple[int, ...]) -> Any:
    """Return ``g`` summed over the axes that broadcasting from ``shape`` added or stretched.

    ``g`` itself is returned, not copied, when it has that shape already.
    """
    have = np.shape(g)
    if have == shape:
        return g
    extra = len(have) - len(shape)
    if extra < 0 or any(n != m and n != 1 for n, m in zip(shape, have[extra:], strict=True)):
        g = np.broadcast_to(g, np.broadcast_shapes(have, shape))
        extra = g.ndim - len(shape)
    if extra:
        g = np.add.reduce(g, axis=tuple(range(extra)))
    stretched = tuple(i for i, n in enumerate(shape) if n == 1 and g.shape[i] != 1)
    return np.add.reduce(g, axis=stretched, keepdims=True) if stretched else g


def project(g: Any, x: Any) -> Any:
    """Return ``g`` as a cotangent of ``x``: of its shape, real if it is, of its float precision.

    The compiler replaces the call by what the types of ``g`` and ``x`` leave to do, often nothing.
    Lists, tuples, dicts and instances are projected element by element.
    """
    if isinstance(x, np.ndarray):
        g = unbroadcast(np.asarray(g), x.shape)
        if x.dtype.kind not in "fc":
            return g
        if x.dtype.kind == "f" and g.dtype.kind == "c":
            g = g.real
        return g if g.dtype == x.dtype else g.astype(x.dtype)
    if g is None:
        return None
    if isinstance(x, (tuple, list)):
        if isinstance(g, (int, float)) and g == 0:  # of what is not chosen
            g = zeros_like(x)
        if len(g) != len(x):
            raise ArgumentsError(
                f"a cotangent of {len(g)} items for a {type(x).__name__} of {len(x)}: an operator "
                "joins or repeats sequences that were not known to be such when compiling"
            )
        parts = [project(gi, xi) for gi, xi in zip(g, x, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if isinstance(x, dict):
        return {key: project(g[key], value) for key, value in x.items()}
    if is_record(x):
        if isinstance(g, (int, float)) and g == 0:  # of what is not chosen
            g = zeros_like(x)
        if not is_record(g):
            raise ArgumentsError(
                f"a function of numbers or arrays is given an instance of {type(x).__name__}, "
                "which was not known when compiling: what it does with the attributes is not "
                "differentiated"
            )
        return record(**{
            name: project(part(g, name), value) for name, value in state_of(x).items()
        })
    if isinstance(g, np.ndarray):
        no_table(x, "")
        g = g.sum()
    if isinstance(g, (complex, np.complexfloating)) and not isinstance(
        x, (complex, np.complexfloating)
    ):
        g = g.real
    if isinstance(x, np.inexact):
        return x.dtype.type(g)
    if isinstance(g, np.generic):
        return g.item()
    return g

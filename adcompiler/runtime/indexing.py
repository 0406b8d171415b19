"""Adjoints of reading parts of arrays and lists: accumulation in place into one buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.structure import add


def add_at(buffer: Any, index: Any, g: Any) -> Any:
    """Add ``g`` to ``buffer[index]`` in place and return ``buffer``; a tuple is made anew.

    ``buffer`` is an array, list, dict or tuple that the caller owns. Repeated indices accumulate.
    The compiler prints the statement that the types of ``buffer`` and ``index`` allow, mostly
    ``buffer[index] += g``.
    """
    if isinstance(buffer, np.ndarray):
        if is_basic(index):
            buffer[index] += g
        else:
            np.add.at(buffer, index, g)
    elif isinstance(buffer, tuple):
        items = add_at(list(buffer), index, g)
        return type(buffer)(*items) if hasattr(buffer, "_fields") else tuple(items)
    elif isinstance(index, slice):
        for position, item in zip(range(*index.indices(len(buffer))), g, strict=True):
            buffer[position] = add(buffer[position], item)
    else:
        buffer[index] = add(buffer[index], g)
    return buffer


def is_basic(index: Any) -> bool:
    """Say whether indexing an array by ``index`` is basic: a view without repeated elements."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice))
        for part in parts
    ) and not any(isinstance(part, (bool, np.bool_)) for part in parts)


def scatter(g: Any, index: Any, x: Any) -> Any:
    """Return the cotangent of ``x`` for ``x[index]`` with cotangent ``g``: zero elsewhere."""
    if isinstance(x, np.ndarray):
        return add_at(np.zeros_like(x), index, g)
    raise TypeError(f"cannot scatter into {type(x).__name__}")

"""Library functions written in C, or too dynamic to compile, as the Python code that is compiled.

A call of a function on the left of ``REPLACEMENTS`` is compiled as a call of the one on its right.
The results of ``map``, ``filter`` and ``zip`` are lists here, made at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adcompiler.runtime import accumulate


def mapped(function: Callable[..., Any], items: Any, *more: Any) -> list[Any]:
    """``map`` as a list."""
    if more:
        return [function(*row) for row in zip(items, *more)]  # noqa: B905 (as map does)
    return [function(item) for item in items]


def filtered(function: Any, items: Iterable[Any]) -> list[Any]:
    """``filter`` as a list."""
    if function is None:
        return [item for item in items if item]
    return [item for item in items if function(item)]


def reduced(function: Callable[[Any, Any], Any], items: Any, *initial: Any) -> Any:
    """``functools.reduce``."""
    if initial:
        result = initial[0]
        for item in items:
            result = function(result, item)
        return result
    result = items[0]
    for item in items[1:]:
        result = function(result, item)
    return result


def wraps(wrapped: Any, *names: Any, **more: Any) -> Any:
    """``functools.wraps``: names and docs are of no concern to a derivative."""
    return lambda wrapper: wrapper


def update_wrapper(wrapper: Any, wrapped: Any, *names: Any, **more: Any) -> Any:
    """``functools.update_wrapper``."""
    return wrapper


def listed(items: Iterable[Any]) -> list[Any]:
    """``list`` of what a loop would run over."""
    return [item for item in items]  # noqa: C416 (list() is what this stands for)


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """``np.copyto``."""
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    """``np.fill_diagonal`` of an array that is not tall, or without wrapping."""
    i = np.arange(min(a.shape))
    a[(i,) * a.ndim] = val


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


def add_at(a: Any, indices: Any, b: Any) -> None:
    """``np.add.at``."""
    accumulate(a, indices, b)


def subtract_at(a: Any, indices: Any, b: Any) -> None:
    """``np.subtract.at``."""
    accumulate(a, indices, -b)


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


def generated(items: list[Any]) -> list[Any]:
    """A generator expression, of which the items are computed at once."""
    return items


REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    map: mapped, filter: filtered, functools.reduce: reduced, functools.wraps: wraps,
    functools.update_wrapper: update_wrapper, np.copyto: copyto, np.fill_diagonal: fill_diagonal,
    np.put: put, np.ndarray.put: put, np.ndarray.fill: fill, np.ndarray.sort: sort,
    np.ndarray.partition: partition, np.add.at: add_at, np.subtract.at: subtract_at,
}

"""Library functions written in C, or too dynamic to compile, as the Python code that is compiled.

A call of a function on the left of ``REPLACEMENTS`` is compiled as a call of the one on its right.
The results of ``map``, ``filter`` and ``zip`` are lists here, made at once.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from adcompiler.frontend.numpy_in_python import NUMPY_IN_PYTHON
from adcompiler.runtime import accumulate
from adcompiler.runtime.checkpoints import recomputed
from adcompiler.runtime.gathering import along_axis
from adcompiler.runtime.shaping import complex_viewed, parts_viewed, viewed
from adcompiler.runtime.ufunc_methods import (
    divided_at, largest_at, multiplied_at, smallest_at,
)


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


def fromkeys(keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
    """``dict.fromkeys``."""
    return {key: value for key in keys}  # noqa: C420 (fromkeys is what this stands for)


def setdefault(table: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """``dict.setdefault``."""
    if key not in table:
        table[key] = default
    return table[key]


def move_up(heap: list[Any], start: int, position: int) -> None:
    """Let the item at ``position`` of a heap rise to its place, not above ``start``."""
    item = heap[position]
    while position > start and item < heap[(position - 1) >> 1]:
        heap[position] = heap[(position - 1) >> 1]
        position = (position - 1) >> 1
    heap[position] = item


def move_down(heap: list[Any], position: int) -> None:
    """Let the smaller child of each node rise from ``position`` on, then the item itself."""
    start, end = position, len(heap)
    item = heap[position]
    child = 2 * position + 1
    while child < end:
        if child + 1 < end and not heap[child] < heap[child + 1]:
            child = child + 1
        heap[position] = heap[child]
        position = child
        child = 2 * position + 1
    heap[position] = item
    move_up(heap, start, position)


def heapify(heap: list[Any]) -> None:
    """``heapq.heapify``."""
    for position in range(len(heap) // 2 - 1, -1, -1):
        move_down(heap, position)


def heappush(heap: list[Any], item: Any) -> None:
    """``heapq.heappush``."""
    heap.append(item)
    move_up(heap, 0, len(heap) - 1)


def heappop(heap: list[Any]) -> Any:
    """``heapq.heappop``."""
    item = heap.pop()
    if len(heap) > 0:
        last = item
        item = heap[0]
        heap[0] = last
        move_down(heap, 0)
    return item


def heapreplace(heap: list[Any], item: Any) -> Any:
    """``heapq.heapreplace``."""
    smallest = heap[0]
    heap[0] = item
    move_down(heap, 0)
    return smallest


def heappushpop(heap: list[Any], item: Any) -> Any:
    """``heapq.heappushpop``."""
    if len(heap) > 0 and heap[0] < item:
        smallest = heap[0]
        heap[0] = item
        move_down(heap, 0)
        item = smallest
    return item


def insort_right(a: list[Any], x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_right``."""
    wanted = x if key is None else key(x)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        found = a[middle] if key is None else key(a[middle])
        if wanted < found:
            end = middle
        else:
            lo = middle + 1
    a.insert(lo, x)


def insort_left(a: list[Any], x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    """``bisect.insort_left``."""
    wanted = x if key is None else key(x)
    end = len(a) if hi is None else hi
    while lo < end:
        middle = (lo + end) // 2
        found = a[middle] if key is None else key(a[middle])
        if found < wanted:
            lo = middle + 1
        else:
            end = middle
    a.insert(lo, x)


def checkpointed(function: Callable[..., Any]) -> Callable[..., Any]:
    """``adcompiler.checkpoint`` of a function alone."""
    return lambda *args, **kwargs: recomputed(function, *args, **kwargs)


REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    map: mapped, filter: filtered, functools.reduce: reduced, functools.wraps: wraps,
    functools.update_wrapper: update_wrapper, np.copyto: copyto, np.fill_diagonal: fill_diagonal,
    np.put: put, np.ndarray.put: put, np.ndarray.fill: fill,
    np.put_along_axis: put_along_axis, np.putmask: putmask, np.place: place,
    np.ndarray.view: view, np.ndarray.sort: sort,
    np.ndarray.partition: partition, np.add.at: add_at, np.subtract.at: subtract_at,
    np.multiply.at: multiply_at, np.divide.at: divide_at, np.maximum.at: maximum_at,
    np.minimum.at: minimum_at, np.add.reduce: add_reduce, np.multiply.reduce: multiply_reduce,
    np.maximum.reduce: maximum_reduce, np.minimum.reduce: minimum_reduce,
    np.add.accumulate: add_accumulate, np.multiply.accumulate: multiply_accumulate,
    dict.fromkeys: fromkeys, heapq.heapify: heapify, heapq.heappush: heappush,
    heapq.heappop: heappop, heapq.heapreplace: heapreplace, heapq.heappushpop: heappushpop,
    bisect.insort_left: insort_left, bisect.insort_right: insort_right, **NUMPY_IN_PYTHON,
}

"""Functions of Python written in C, or too dynamic to compile, as the code that is compiled.

A call of a function on the left of ``REPLACEMENTS`` is compiled as a call of the one on its right;
those of libraries have the fact ``written_as``. The results of ``map``, ``filter`` and ``zip`` are
lists here, made at once.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable, Iterable
from typing import Any


from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.checkpoints import recomputed
from adcompiler.runtime.substitutes import SUBSTITUTES


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


def fromkeys(keys: Iterable[Any], value: Any = None) -> dict[Any, Any]:
    """``dict.fromkeys``."""
    return {key: value for key in keys}  # noqa: C420 (fromkeys is what this stands for)


def setdefault(table: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """``dict.setdefault``."""
    if key not in table:
        table[key] = default
    return table[key]


def update(table: dict[Any, Any], entries: dict[Any, Any]) -> None:
    """``dict.update`` with another dict."""
    for key, value in entries.items():
        table[key] = value


def without_key(table: dict[Any, Any], key: Any) -> dict[Any, Any]:
    """What ``del table[key]`` leaves of a dict."""
    if key not in table:
        raise KeyError(key)
    return {name: table[name] for name in table if name != key}


def popped(table: dict[Any, Any], key: Any) -> Any:
    """``dict.pop``."""
    item = table[key]
    del table[key]
    return item


def popped_or(table: dict[Any, Any], key: Any, default: Any) -> Any:
    """``dict.pop`` with a default."""
    item = default
    if key in table:
        item = table[key]
        del table[key]
    return item


def popped_last(table: dict[Any, Any]) -> Any:
    """``dict.popitem``."""
    if len(table) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = [*table][-1]
    item = table[key]
    del table[key]
    return key, item


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


def nsmallest(n: int, items: Any, key: Any = None) -> list[Any]:
    """``heapq.nsmallest``."""
    return sorted(items, key=key)[: max(n, 0)]


def nlargest(n: int, items: Any, key: Any = None) -> list[Any]:
    """``heapq.nlargest``."""
    return sorted(items, key=key, reverse=True)[: max(n, 0)]


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
    functools.update_wrapper: update_wrapper,
    dict.fromkeys: fromkeys, heapq.heapify: heapify, heapq.heappush: heappush,
    heapq.heappop: heappop, heapq.heapreplace: heapreplace, heapq.heappushpop: heappushpop,
    heapq.nsmallest: nsmallest, heapq.nlargest: nlargest,
    bisect.insort_left: insort_left, bisect.insort_right: insort_right,
    **SUBSTITUTES,
}
"""Python's own functions and classes that are compiled as others."""


def replacement_of(function: Any) -> Callable[..., Any] | None:
    """Return the Python code that is compiled in the place of a function, if there is some."""
    if not hashable(function):
        return None
    return REPLACEMENTS.get(function) or REGISTRY.facts(function).written_as

"""Functions of Python written in C, or too dynamic to compile, as the code that is compiled.

A call of a function on the left of ``REPLACEMENTS`` is compiled as a call of the one on its right;
those of libraries have the fact ``written_as``.
"""

from __future__ import annotations

import bisect
import functools
import heapq
from collections.abc import Callable
from typing import Any, TypeVar

from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.prelude import dicts, heaps, iterators
from adcompiler.runtime.checkpoints import recomputed
from adcompiler.runtime.substitutes import SUBSTITUTES

T = TypeVar("T")


def wraps(wrapped: object, *names: object, **more: object) -> Callable[[T], T]:
    """``functools.wraps``: names and docs are of no concern to a derivative."""
    return lambda wrapper: wrapper


def update_wrapper(wrapper: T, wrapped: object, *names: object, **more: object) -> T:
    """``functools.update_wrapper``."""
    return wrapper


def checkpointed(function: Callable[..., T]) -> Callable[..., T]:
    """``adcompiler.checkpoint`` of a function alone."""
    return lambda *args, **kwargs: recomputed(function, *args, **kwargs)


REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    map: iterators.mapped, filter: iterators.filtered, functools.reduce: iterators.reduced,
    functools.wraps: wraps, functools.update_wrapper: update_wrapper,
    dict.fromkeys: dicts.fromkeys, heapq.heapify: heaps.heapify, heapq.heappush: heaps.heappush,
    heapq.heappop: heaps.heappop, heapq.heapreplace: heaps.heapreplace,
    heapq.heappushpop: heaps.heappushpop, heapq.nsmallest: heaps.nsmallest,
    heapq.nlargest: heaps.nlargest, bisect.insort_left: heaps.insort_left,
    bisect.insort_right: heaps.insort_right, **SUBSTITUTES,
}
"""Python's own functions and classes that are compiled as others."""


def replacement_of(function: Any) -> Callable[..., Any] | None:
    """Return the Python code that is compiled in the place of a function, if there is some."""
    if not hashable(function):
        return None
    return REPLACEMENTS.get(function) or REGISTRY.facts(function).written_as

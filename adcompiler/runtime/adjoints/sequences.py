"""Adjoints of functions of Python sequences: ``sum``, ``max``, ``sorted``, ``math.prod``, ...

Each takes a list, tuple or one-dimensional array ``x`` and returns a new one of the same kind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.errors import ArgumentsError
from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.structure import add, zeros_like

COVERED_WITH = "operator"
"""The module whose rules come with those of these functions."""


def like(items: Iterable[Any], x: Any) -> Any:
    """Return the cotangents ``items`` of the items of ``x`` as the cotangent of ``x``."""
    if isinstance(x, np.ndarray):
        return project(np.array(list(items)).reshape(x.shape), x)
    parts = [project(g, item) for g, item in zip(items, x, strict=True)]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def joined(x: Any, y: Any) -> Any:
    """Return ``x + y`` of two tuples or lists, where one of them was not known to be one."""
    if type(x) is not type(y) and np.ndarray in (type(x), type(y)):
        raise ArgumentsError(
            f"+ of {type(x).__name__} and {type(y).__name__}, of which one was not known when "
            "compiling: write np.asarray around it"
        )
    return x + y


def spread(g: Any, x: Any) -> Any:
    """Return the cotangent of ``x`` for ``sum(x)``: ``g`` for every item, in the item's shape."""
    return like([g] * len(x), x)


def share(g: Any, x: Sequence[Any], y: Any) -> Any:
    """Return the cotangent of ``x`` for ``y = max(x)`` or ``min(x)``: ties share ``g`` evenly.

    Of tuples and lists Python returns the first.
    """
    ties = [item == y for item in x]
    if isinstance(y, (tuple, list)):
        place = ties.index(True)
        return like([g if i == place else zeros_like(item) for i, item in enumerate(x)], x)
    part = g / max(sum(ties), 1)
    return like([part if tie else 0.0 for tie in ties], x)


def sort_order(x: Sequence[Any], reverse: bool = False) -> list[int]:
    """Return the positions of the items of ``x`` in the order of ``sorted(x, reverse=reverse)``."""
    return sorted(range(len(x)), key=x.__getitem__, reverse=reverse)


def place_of_extreme(x: Sequence[Any], greatest: bool) -> list[int]:
    """Return, in a list, the position of the item of ``x`` that ``max`` or ``min`` returns."""
    choose: Any = max if greatest else min
    return [choose(range(len(x)), key=x.__getitem__)]


def unsort(g: Sequence[Any], order: Sequence[int], x: Sequence[Any]) -> Any:
    """Return the cotangent of ``x`` for ``[x[i] for i in order]`` with cotangent ``g``."""
    items: list[Any] = [0.0] * len(x)
    for item, position in zip(g, order, strict=True):
        items[position] = item
    return like(items, x)


def sum_repeats(g: Sequence[Any], x: Sequence[Any]) -> Any:
    """Return the cotangent of ``x`` for ``x * n`` with cotangent ``g``."""
    items = [zeros_like(item) for item in x]
    for i, item in enumerate(g):
        items[i % len(x)] = add(items[i % len(x)], item)
    return like(items, x)

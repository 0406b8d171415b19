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


def spread_adjoint(dy: Sequence[Any], g: Any) -> Any:
    """Return the sum of the items of ``dy``, in the form of ``g``."""
    total = zeros_like(g)
    for item in dy:
        total = total + item
    return project(total, g)


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


def share_adjoint(dy: Sequence[Any], x: Sequence[Any], y: Any) -> Any:
    """Return the mean of the items of ``dy`` where those of ``x`` are ``y``; 0.0 if none is.

    Where they are tuples and lists, it is the first of these.
    """
    parts = [g for g, item in zip(dy, x, strict=True) if item == y]
    if isinstance(y, (tuple, list)):
        return parts[0]
    return sum(parts) / len(parts) if parts else 0.0


def scale(factor: Any, x: Any) -> Any:
    """Return ``factor`` times the conjugate of every item of ``x``."""
    return like([factor * item.conjugate() for item in x], x)


def scale_other_products(factor: Any, x: Sequence[Any]) -> Any:
    """Return ``factor`` times the conjugate product of all items of ``x`` but one, for each one.

    The products before and after each item are accumulated, so zeros among them do no harm.
    """
    before, after = [factor], [1.0]
    for item in x:
        before.append(before[-1] * item.conjugate())
    for item in reversed(x):
        after.append(after[-1] * item.conjugate())
    return like([before[i] * after[len(x) - 1 - i] for i in range(len(x))], x)


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


def deviations(factor: Any, data: Sequence[Any]) -> Any:
    """Return ``factor`` times the deviation of each item of ``data`` from their mean."""
    centre = sum(data) / len(data)
    return like([factor * (x - centre) for x in data], data)


def at_ranks(g: Any, data: Sequence[Any], ranks: Sequence[int]) -> Any:
    """Return the cotangent of ``data`` whose items of some ranks receive ``g``."""
    parts = [0.0] * len(data)
    order = sort_order(data)
    for rank in ranks:
        parts[order[rank]] = g
    return like(parts, data)


def at_ranks_adjoint(dy: Sequence[Any], data: Sequence[Any], ranks: Sequence[int]) -> Any:
    """Return the sum of the items of ``dy`` where the items of ``data`` have some ranks."""
    order = sort_order(data)
    return sum((dy[i] for i in dict.fromkeys(order[rank] for rank in ranks)), 0.0)


def other_products_along(v: Sequence[Any], x: Sequence[Any]) -> Any:
    """Return the sum, over items, of ``v`` times the product of all other items of ``x``."""
    total, product = 0.0, 1.0
    for d, item in zip(v, x, strict=True):
        total, product = total * item + d * product, product * item
    return total


def scale_other_products_adjoint(v: Sequence[Any], factor: Any, x: Sequence[Any]) -> Any:
    """Return the cotangent of ``x`` for ``scale_other_products(factor, x)`` with cotangent ``v``.

    The derivative of the product of the others by one more item is the product of all others but
    two, summed over the first.
    """
    slopes = [(factor * d.conjugate()) for d in v]
    others = [item.conjugate() for item in x]
    return like([
        other_products_along(slopes[:k] + slopes[k + 1 :], others[:k] + others[k + 1 :])
        for k in range(len(x))
    ], x)


def repeats(dy: Sequence[Any], g: Sequence[Any]) -> Any:
    """Return ``dy`` repeated to the length of ``g``, as a cotangent of ``g``."""
    return like([dy[i % len(dy)] for i in range(len(g))], g)

"""Adjoints of functions of Python sequences, for rules and for second derivatives.

Each takes a list, tuple or one-dimensional array ``x`` and returns a new one of the same kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.adjoints.sequences import like, sort_order
from adcompiler.runtime.structure import zeros_like

COVERED_WITH = "adcompiler"
"""The module whose rules come with those of these functions."""


def spread_adjoint(dy: Sequence[Any], g: Any) -> Any:
    """Return the sum of the items of ``dy``, in the form of ``g``."""
    total = zeros_like(g)
    for item in dy:
        total = total + item
    return project(total, g)


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

"""Library functions written in C, or too dynamic to compile, as the Python code that is compiled.

A call of a function on the left of ``REPLACEMENTS`` is compiled as a call of the one on its right.
The results of ``map``, ``filter`` and ``zip`` are lists here, made at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any


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


def generated(items: list[Any]) -> list[Any]:
    """A generator expression, of which the items are computed at once."""
    return items


REPLACEMENTS: dict[Any, Callable[..., Any]] = {
    map: mapped, filter: filtered, functools.reduce: reduced, functools.wraps: wraps,
    functools.update_wrapper: update_wrapper,
}

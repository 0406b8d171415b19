"""Methods of dicts, and what makes dicts, as the Python code that is compiled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from adcompiler.runtime import dict_keys, is_mapping

K = TypeVar("K")
V = TypeVar("V")


def fromkeys(keys: Iterable[K], value: V | None = None) -> dict[K, V | None]:
    """``dict.fromkeys``."""
    return {key: value for key in keys}  # noqa: C420 (fromkeys is what this stands for)


def setdefault(table: dict[K, V | None], key: K, default: V | None = None) -> V | None:
    """``dict.setdefault``."""
    if key not in table:
        table[key] = default
    return table[key]


def update(table: dict[K, V], entries: dict[K, V]) -> None:
    """``dict.update`` with another dict."""
    for key, value in entries.items():
        table[key] = value


def without_key(table: dict[K, V], key: K) -> dict[K, V]:
    """What ``del table[key]`` leaves of a dict."""
    if key not in table:
        raise KeyError(key)
    return {name: table[name] for name in table if name != key}


def popped(table: dict[K, V], key: K) -> V:
    """``dict.pop``."""
    item = table[key]
    del table[key]
    return item


def popped_or(table: dict[K, V], key: K, default: V) -> V:
    """``dict.pop`` with a default."""
    item = default
    if key in table:
        item = table[key]
        del table[key]
    return item


def popped_last(table: dict[K, V]) -> tuple[K, V]:
    """``dict.popitem``."""
    if len(table) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = [*table][-1]
    item = table[key]
    del table[key]
    return key, item


def looked_up(table: dict[K, V], key: K, default: V) -> V:
    """``table.get(key, default)``."""
    if key in table:
        return table[key]
    return default


def dict_of_pairs(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """``dict(pairs)``."""
    return {key: value for key, value in pairs}  # noqa: C416 (dict() is what this stands for)


def dict_of_any(pairs: Any) -> dict[Any, Any]:
    """``dict(pairs)`` of what may turn out to be a dict."""
    if is_mapping(pairs):
        return {key: pairs[key] for key in dict_keys(pairs)}
    return {key: value for key, value in pairs}  # noqa: C416 (dict() is what this stands for)


def dict_of_mapping(table: Any) -> dict[Any, Any]:
    """``dict(table)`` of an instance with ``keys``."""
    return {key: table[key] for key in table.keys()}  # noqa: SIM118 (as dict asks for them)


def merged(first: dict[K, V], second: dict[K, V]) -> dict[K, V]:
    """``{**first, **second}``."""
    table = {key: value for key, value in first.items()}  # noqa: C416 (dict() is this)
    for key, value in second.items():
        table[key] = value
    return table

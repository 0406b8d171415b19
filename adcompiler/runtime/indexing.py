"""Adjoints of reading parts of arrays and lists: accumulation in place into one buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.records import is_record, record, state_of

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


def accumulate(array: Any, index: Any, value: Any) -> None:
    """Add ``value`` to ``array[index]``, once for each time that an element is named."""
    np.add.at(array, index, value)


def own(value: Any) -> Any:
    """Return a copy of ``value`` that shares no storage with it: of arrays and what holds them."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(own, value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(own, value))
    if isinstance(value, dict):
        return {key: own(item) for key, item in value.items()}
    if is_record(value):
        return record(type(value), **{name: own(item) for name, item in state_of(value).items()})
    return value


def give_back(target: Any, value: Any) -> None:
    """Make ``target``, which belongs to the caller, what the program has made of it: ``value``."""
    if target is value:
        return
    if isinstance(target, np.ndarray):
        target[...] = value
    elif isinstance(target, tuple):
        for old, new in zip(target, value, strict=True):
            if same_kind(old, new):
                give_back(old, new)
    elif isinstance(target, list):
        for old, new in zip(target, value, strict=False):
            if same_kind(old, new):
                give_back(old, new)
        kept = [
            old if same_kind(old, new) else new
            for old, new in zip(target, value, strict=False)
        ]
        target[:] = [*kept, *value[len(kept):]]
    elif isinstance(target, dict):
        for key in [key for key in target if key not in value]:
            del target[key]
        for key, new in value.items():
            if key in target and same_kind(target[key], new):
                give_back(target[key], new)
            else:
                target[key] = new
    elif isinstance(target, tuple):
        for old, new in zip(target, value, strict=False):
            give_back(old, new)
    elif hasattr(target, "__dict__"):
        give_back(target.__dict__, value.__dict__)


def same_kind(old: Any, new: Any) -> bool:
    """Say whether ``old`` can be made equal to ``new`` by writing into it."""
    if type(old) is not type(new):
        return False
    if isinstance(old, np.ndarray):
        return bool(old.shape == new.shape and old.dtype == new.dtype)
    if isinstance(old, tuple):
        return len(old) == len(new) and all(
            old_item is new_item or same_kind(old_item, new_item)
            for old_item, new_item in zip(old, new, strict=True)
        )
    return isinstance(old, (list, dict))


def last_written(g: Any, index: Any, x: Any) -> Any:
    """Return ``g``, the cotangent of ``x[index]``, as that of the values stored by ``x[index] = v``.

    Where ``index`` names an element several times only the value stored last took effect: the
    others get zero.
    """
    g = np.asarray(g)
    order = np.full(x.shape, -1, np.intp)
    positions = np.arange(g.size).reshape(g.shape)
    order[index] = positions
    return np.where(order[index] == positions, g, np.zeros((), g.dtype))

"""Rows of numbers as tangents and cotangents along many seeds, and back.

Derivatives follow the structure of what they belong to. The numbers of a pattern's columns are the
real ones of the arguments, those of its rows all numbers of the result, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences.values import Value

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array


def is_column(value: Value) -> bool:
    """Say whether a number or array of an argument has columns."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def is_row(value: Array) -> bool:
    """Say whether a number or array of a result has rows."""
    return isinstance(value, (np.ndarray, np.generic, bool, int, float, complex))


def leaves(value: Any, counts: Callable[[Any], bool]) -> Iterator[Any]:
    """Yield the numbers and arrays in a value that count, in order."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from leaves(item, counts)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()), counts)
    elif counts(value):
        yield value
    elif is_record(value):
        yield from leaves(list(state_of(value).values()), counts)


def real_dtype(value: Any, counts: Callable[[Any], bool]) -> Any:
    """Return the float dtype that holds the numbers of a value; TypeError if one is complex."""
    dtypes = [np.asarray(leaf).dtype for leaf in leaves(value, counts)]
    if any(dtype.kind not in "fiub" for dtype in dtypes):
        raise TypeError("sparse derivatives are of real functions of real numbers")
    floats = [dtype for dtype in dtypes if dtype.kind == "f"]
    return np.result_type(*floats) if floats else np.dtype(np.float64)


def unflat(seeds: np.ndarray, like: Sequence[Array], counts: Callable[[Any], bool]) -> Any:
    """Return rows of numbers as derivatives of the structure of ``like``, rows in front."""
    position = 0

    def taken(value: Any) -> Any:
        nonlocal position
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(taken, value))
        if isinstance(value, (tuple, list)):
            return type(value)(map(taken, value))
        if isinstance(value, dict):
            return {key: taken(item) for key, item in value.items()}
        if counts(value):
            start, position = position, position + np.size(value)
            return seeds[:, start:position].reshape(len(seeds), *np.shape(value))
        if is_record(value):
            return record(**{name: taken(item) for name, item in state_of(value).items()})
        return None

    return taken(like)


def flat(
    derivative: Any, like: Sequence[Array], count: int, dtype: type, counts: Callable[[Any], bool]
) -> np.ndarray:
    """Return derivatives of ``like`` along ``count`` seeds as rows of numbers; None is zero."""
    parts: list[np.ndarray] = []

    def add(found: Any, value: Any) -> None:
        if isinstance(value, (tuple, list)):
            for i, item in enumerate(value):
                add(None if found is None else found[i], item)
        elif isinstance(value, dict):
            for key, item in value.items():
                add(None if found is None else found[key], item)
        elif counts(value):
            shape = count, np.size(value)
            parts.append(np.zeros(shape, dtype) if found is None else np.reshape(found, shape))
        elif is_record(value):
            for name, item in state_of(value).items():
                add(getattr(found, name, None), item)

    add(derivative, like)
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts, axis=1) if parts else np.zeros((count, 0), dtype)

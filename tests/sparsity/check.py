"""What tests of patterns have in common: patterns as sets of pairs, and dense derivatives."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler import vjp
from adcompiler.runtime.records import is_record, state_of


def pairs(pattern: Any) -> set[tuple[int, int]]:
    """Return the entries of a pattern."""
    entries = pattern.tocoo()
    return set(zip(entries.row.tolist(), entries.col.tolist(), strict=True))


def rows(pattern: Any) -> list[set[int]]:
    """Return the columns of the entries of each row."""
    return [set(np.flatnonzero(row).tolist()) for row in pattern.toarray()]


def both_ways(entries: Any) -> set[tuple[int, int]]:
    """Return pairs with their mirror images."""
    return {pair for i, j in entries for pair in ((i, j), (j, i))}


def leaves(value: Any) -> Iterator[Any]:
    """Yield the numbers and arrays in a value, in order."""
    if isinstance(value, (bool, int, float, complex, np.generic, np.ndarray)):
        yield np.asarray(value)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    elif is_record(value):
        yield from leaves(list(state_of(value).values()))


def flat(value: Any) -> Any:
    """Return all numbers in a value, in order."""
    return np.concatenate([np.zeros(0), *(leaf.ravel() for leaf in leaves(value))])


def filled(value: Any, numbers: Iterator[Any]) -> Any:
    """Return a cotangent of ``value`` whose numbers are the next ones of an iterator."""
    if isinstance(value, np.ndarray):
        dtype = value.dtype if value.dtype.kind in "fc" else np.float64
        return np.array([next(numbers) for _ in range(value.size)], dtype).reshape(value.shape)
    if isinstance(value, (bool, int, float, np.generic)):
        return float(next(numbers))
    if isinstance(value, complex):
        return complex(next(numbers))
    if isinstance(value, (list, tuple)):
        return type(value)([filled(item, numbers) for item in value])
    if isinstance(value, dict):
        return {key: filled(item, numbers) for key, item in value.items()}
    return None


def dense_jacobian(
    function: Callable[..., Any], args: Any, argnums: tuple[int, ...], most: int = 1000
) -> Any:
    """Return the first rows of the Jacobian, one pullback for each."""
    value, pullback = vjp(function, *copy.deepcopy(args), argnums=argnums)
    size = flat(value).size
    found = []
    for k in range(min(size, most)):
        seed = np.zeros(size)
        seed[k] = 1.0
        found.append(flat(pullback(filled(value, iter(seed)))))
    return np.array(found)


def missing(pattern: Any, dense: Any) -> list[list[int]]:
    """Return the nonzeros of a dense derivative that a pattern lacks."""
    return np.argwhere((dense != 0) & ~pattern.toarray()[: len(dense)]).tolist()

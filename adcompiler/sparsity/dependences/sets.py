"""Sets of numbers of columns: frozensets while they are small, bits of an integer when large."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

Set = frozenset[int] | int
"""Elements in a frozenset, at most ``SMALL`` of them; more as the bits of an integer.

A set has one representation only, so sets are equal where their representations are.
"""

Positions = np.ndarray[Any, np.dtype[np.int64]]

SMALL = 64
EMPTY: frozenset[int] = frozenset()


def union(a: Set, b: Set) -> Set:
    """Return the union of two sets."""
    if a is b or not b:
        return a
    if not a:
        return b
    if isinstance(a, frozenset):
        if isinstance(b, frozenset):
            both = a | b
            return both if len(both) <= SMALL else bits(both)
        return b | bits(a)
    return a | (bits(b) if isinstance(b, frozenset) else b)


def union_all(sets: Iterable[Set]) -> Set:
    """Return the union of any number of sets."""
    found: Set = EMPTY
    for each in sets:
        found = union(found, each)
    return found


def bits(elements: Set) -> int:
    """Return a set as the bits of an integer."""
    if not isinstance(elements, frozenset):
        return elements
    return _packed(np.fromiter(elements, np.int64, len(elements)))


def _packed(elements: Positions) -> int:
    if not len(elements):
        return 0
    present = np.zeros(int(elements.max()) + 1, np.uint8)
    present[elements] = 1
    return int.from_bytes(np.packbits(present, bitorder="little").tobytes(), "little")


def set_of(elements: Positions) -> Set:
    """Return the set of the numbers in an array."""
    if len(elements) > SMALL:
        packed = _packed(elements)
        return packed if packed.bit_count() > SMALL else frozenset(elements_of(packed).tolist())
    return frozenset(elements.tolist())


def elements_of(a: Set) -> Positions:
    """Return the elements of a set as an array, in ascending order."""
    if isinstance(a, frozenset):
        return np.array(sorted(a), np.int64)
    data = a.to_bytes((a.bit_length() + 7) // 8, "little")
    present = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return np.flatnonzero(present)


def size_of(a: Set) -> int:
    """Return the number of elements."""
    return len(a) if isinstance(a, frozenset) else a.bit_count()

"""Sets of columns that tracers carry, in a representation of one's choice, and sets of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.support.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array
    from adcompiler.sparsity.dependences.values import Dependent

Rows = dict[int, Any]
"""Pairs of columns: for each column the set of those that it is paired with; never changed."""


@dataclass(frozen=True, slots=True)
class SetKind:
    """A representation of sets of columns.

    ``empty`` is the empty set, ``single(i)`` makes a set, ``union(a, b)`` a new one;
    ``members(a)`` lists the columns in it.
    """

    empty: Any
    single: Callable[[int], Any]
    union: Callable[[Any, Any], Any]
    members: Callable[[Any], Iterable[int]]


def sets(_: int) -> SetKind:
    """Return sets as frozensets."""
    return SetKind(frozenset(), lambda i: frozenset((i,)), lambda a, b: a | b, sorted)


def bit_sets(_: int) -> SetKind:
    """Return sets as the bits of an integer of any length."""
    return SetKind(0, lambda i: 1 << i, lambda a, b: a | b, _bits_of)


def _bits_of(bits: int) -> list[int]:
    if not bits:
        return []
    data = np.frombuffer(bits.to_bytes((bits.bit_length() + 7) // 8, "little"), np.uint8)
    return np.flatnonzero(np.unpackbits(data, bitorder="little")).tolist()


def packed_sets(columns: int) -> SetKind:
    """Return sets as the bits of arrays of bytes, all of the length that ``columns`` need."""
    length = (columns + 7) // 8

    def single(i: int) -> Any:
        made = np.zeros(length, np.uint8)
        made[i // 8] = 1 << i % 8
        return made

    def members(packed: Array) -> list[int]:
        found: list[int] = np.flatnonzero(np.unpackbits(packed, bitorder="little")).tolist()
        return found

    return SetKind(np.zeros(length, np.uint8), single, np.bitwise_or, members)


SET_KINDS: dict[str, Callable[[int], SetKind]] = {
    "set": sets, "bitset": bit_sets, "packed": packed_sets,
}


def add_rows(kind: SetKind, into: Rows, other: Rows) -> None:
    """Add pairs to others."""
    for i, row in other.items():
        into[i] = kind.union(into[i], row) if i in into else row


def add_product(kind: SetKind, into: Rows, a: Dependent, b: Dependent | Array) -> None:
    """Add all pairs of a column in ``a`` and one in ``b``, both ways."""
    for left, right in ((a, b), (b, a)):
        add_rows(kind, into, dict.fromkeys(kind.members(left), right))

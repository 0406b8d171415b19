"""Patterns that are nearly full: the lines that make them so, and a bound of their memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adcompiler.sparsity.dependences.index_sets import Ragged, count
from adcompiler.sparsity.dependences.sets import size_of
from adcompiler.sparsity.dependences.values import Dependent, Relation, Value

LARGE = 1000
"""Inputs from which on it is watched which lines make patterns full."""

FULL = 0.1
"""The part of all entries from which on a pattern is called full."""

MOST_ENTRIES = 150_000_000
"""Entries that are written down at most, of 16 bytes each."""


class TooFullError(Exception):
    """There are too many entries to be written down: how many."""

    def __init__(self, entries: int) -> None:
        super().__init__(
            f"a pattern with {entries:,} entries, or terms of a product, would take "
            f"{entries * 16 / 2**30:.0f} GiB")


def bounded(entries: int) -> None:
    """Raise TooFullError before memory is taken for more entries than there may be."""
    if entries > MOST_ENTRIES:
        raise TooFullError(entries)


def per_element(relation: Relation, size: int) -> float:
    """Return how many columns an element depends on, on average; few may count as none."""
    own = relation.own
    return size_of(relation.common) + (
        own.starts[-1] / max(size, 1) if isinstance(own, Ragged) else 0.0)


def is_full(value: Value, columns: int) -> bool:
    """Say whether the elements of an array depend on many of all columns."""
    if not isinstance(value, Dependent) or value.shape == ():
        return False
    size = columns if value.shape is None else count(value.shape)
    return size > 1 and per_element(value.first, size) > FULL * columns


def makes_full(result: Value, args: Sequence[Value], columns: int) -> bool:
    """Say whether a full array is made of others."""
    return is_full(result, columns) and not any(is_full(arg, columns) for arg in args)


def bring_many(pairs: Iterable[tuple[Relation, Relation]], columns: int) -> bool:
    """Say whether a nonlinear operation brings many columns together."""
    return any(size_of(a.common) * size_of(b.common) > FULL * columns**2 for a, b in pairs)

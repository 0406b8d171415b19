"""Who reads and writes which elements of an array: whether the lanes of a loop are independent."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.index_sets import Array
from adcompiler.sparsity.dependences.values import Value

Pair = tuple[Any, Any]
"""Positions of elements, and for each the lane."""


class Accesses:
    """The reads and writes of an array of ``size`` elements, by lanes of the present level.

    Lanes may run at once if every element that one of them sets, or adds to and reads, is left
    alone by all others.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.reads: list[Pair] = []
        self.sets: list[Pair] = []
        self.adds: list[Pair] = []

    def write(self, places: Value, lanes: Value, adds: bool) -> None:
        """Enter a write."""
        (self.adds if adds else self.sets).append((places, lanes))

    def has_writes(self) -> bool:
        """Say whether anything is written."""
        return bool(self.sets or self.adds)

    def mark(self) -> tuple[int, int, int]:
        """Return how many accesses there are by now, of each kind."""
        return len(self.reads), len(self.sets), len(self.adds)

    def lift(self, mark: tuple[int, int, int], parents: Array) -> bool:
        """Make accesses after a mark those of the lanes around; say if the lanes were apart."""
        since = [
            accesses[start:] for accesses, start in zip(
                (self.reads, self.sets, self.adds), mark, strict=True)]
        apart = self.apart(*since)
        for accesses, start in zip((self.reads, self.sets, self.adds), mark, strict=True):
            accesses[start:] = [(places, parents[lanes]) for places, lanes in accesses[start:]]
        return apart

    def are_apart(self) -> bool:
        """Say whether the lanes may run at once."""
        return self.apart(self.reads, self.sets, self.adds)

    def apart(self, reads: list[Pair], sets: list[Pair], adds: list[Pair]) -> bool:
        """Say whether lanes with these accesses may run at once."""
        if not sets and not (reads and adds):
            return True
        least = np.full(self.size, np.iinfo(np.int64).max)
        most = np.full(self.size, -1)
        seen = np.zeros((3, self.size), bool)
        for kind, accesses in enumerate((reads, sets, adds)):
            for places, lanes in accesses:
                np.minimum.at(least, places, lanes)
                np.maximum.at(most, places, lanes)
                seen[kind, places] = True
        was_read, was_set, was_added = seen
        critical = was_set | (was_added & was_read)
        return not np.any(critical & (least < most))

"""What sparse derivatives at arguments of the same shapes have in common, and keep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from adcompiler.api.patterns import Watched
from adcompiler.api.seeds import MAX_NUMBERS
from adcompiler.dispatch import AtPoint
from adcompiler.runtime import AliasedError, StretchedError, Unfit
from adcompiler.sparsity.coloring.coloring import Coloring, indicators
from adcompiler.sparsity.coloring.decompression import Decompression
from adcompiler.sparsity.coloring.flattening import is_column, unflat

MAX_KEPT_NUMBERS = 1 << 22
"""Numbers in seeds that are kept with their structure."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What stays the same for arguments of these shapes: pattern, coloring, places of nonzeros."""

    coloring: Coloring
    decompression: Decompression
    watched: Watched
    kept_seeds: dict[Any, np.ndarray] = field(default_factory=dict)
    constants: dict[Any, Any] = field(default_factory=dict)
    refused: set[Any] = field(default_factory=set)

    @property
    def pattern(self) -> Any:
        """The pattern, a CSR array of bool."""
        return self.coloring.pattern

    def seeds(self, of_rows: bool, dtype: Any, start: int, stop: int) -> np.ndarray:
        """Return the seeds of some colors of rows or columns; all are kept if they are not large.
        """
        coloring = self.coloring
        colors = coloring.rows if of_rows else coloring.columns
        count = coloring.row_count if of_rows else coloring.column_count
        if count * colors.size > MAX_KEPT_NUMBERS:
            return indicators(colors, start, stop, dtype)
        found = self.kept_seeds.get((of_rows, dtype))
        if found is None:
            found = self.kept_seeds[of_rows, dtype] = indicators(colors, 0, count, dtype)
            found.flags.writeable = False
        return found[start:stop]

    def swept(
        self, of_rows: bool, dtype: Any, sweep: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return the derivatives along all seeds, of which ``sweep`` takes some at a time."""
        height, width = self.pattern.shape
        count = self.coloring.row_count if of_rows else self.coloring.column_count
        at_once = seeds_of_one_sweep(max(height, width))
        found = [
            sweep(self.seeds(of_rows, dtype, start, min(start + at_once, count)))
            for start in range(0, count, at_once)
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def along(
        self, at: AtPoint, wanted: Sequence[Any], dtype: Any, flattened: Callable[[Any, int], Any]
    ) -> np.ndarray | None:
        """Return the derivatives along the seeds of all colors of columns, one row for each.

        What the seeds decide alone is computed once, and kept unless it is large; ``flattened``
        makes rows of what the compiled code returns. None if that code is not for these arguments.
        """
        if at.entry in self.refused:
            return None
        count = self.coloring.column_count
        at_once = seeds_of_one_sweep(max(self.pattern.shape))
        found = []
        try:
            for start in range(0, count, at_once):
                stop = min(start + at_once, count)
                constants = self.constants.get((at.entry, start, stop))
                if constants is None:
                    seeds = unflat(self.seeds(False, dtype, start, stop), wanted, is_column)
                    constants = constants_of(at, seeds)
                    self.keep((at.entry, start, stop), constants)
                found.append(flattened(at.along(constants), stop - start))
        except (StretchedError, AliasedError, Unfit):
            self.refused.add(at.entry)
            return None
        return found[0] if len(found) == 1 else np.concatenate(found)

    def keep(self, key: Any, constants: Any) -> None:
        """Keep constants, if that does not take too much memory."""
        if numbers_in((constants, *self.constants.values())) <= MAX_KEPT_NUMBERS:
            self.constants[key] = constants


def constants_of(at: AtPoint, seeds: Sequence[Any]) -> Any:
    """Return what seeds decide; StretchedError where it fails, as other code tells what is wrong.

    What fails may lie behind a test in the code that it is taken from.
    """
    try:
        return at.constants(*seeds)
    except Exception as error:
        raise StretchedError("what the seeds decide cannot be computed apart") from error


def numbers_in(value: Any) -> int:
    """Return how many numbers the arrays in nested tuples hold on to, each storage once."""
    owners: dict[int, int] = {}

    def add(part: Any) -> None:
        if isinstance(part, tuple):
            for item in part:
                add(item)
        elif isinstance(part, np.ndarray):
            while isinstance(part.base, np.ndarray):
                part = part.base
            owners[id(part)] = part.size

    add(value)
    return sum(owners.values())


def seeds_of_one_sweep(size: int) -> int:
    """Return how many seeds of so many numbers one sweep takes."""
    return max(1, MAX_NUMBERS // max(size, 1))


__all__ = ["Structure"]

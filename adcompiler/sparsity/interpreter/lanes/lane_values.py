"""What variables are in lanes: the iterations of a loop that are run together."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.values import Dependent, Operand, Value, private
from adcompiler.sparsity.interpreter.lanes.lane_access import Accesses
from adcompiler.sparsity.interpreter.run import Run


class BailError(Exception):
    """A loop cannot be run in lanes."""


class Level:
    """Lanes that run together: ``parents`` are those of the level around that they belong to."""

    def __init__(
        self, size: int, around: Level | None = None, parents: Array | None = None,
    ) -> None:
        self.size = size
        self.around = around
        self.parents: Any = parents


class Lane:
    """What a variable is in each lane of a level: an array of numbers, or one that depends."""

    def __init__(self, level: Level, value: Operand) -> None:
        self.level = level
        self.value: Any = value


class LaneRange:
    """The ``range`` of each lane."""

    def __init__(self, level: Level, bounds: tuple[Operand, Operand, Operand]) -> None:
        self.level = level
        self.bounds = bounds


class Sum:
    """A number that a loop only adds to: what it was before, and the terms so far."""

    def __init__(self, owner: object, terms: tuple[Lane, ...] = ()) -> None:
        self.owner = owner
        self.terms = terms

    def check(self) -> None:
        """Raise BailError for a sum of floats that are known, which would be rounded otherwise."""
        if not any(isinstance(term.value, Dependent) for term in self.terms) and any(
            term.value.dtype.kind == "f" for term in self.terms
        ):
            raise BailError


class Written:
    """An array that a loop writes into: its own copy, and who reads and writes what of it."""

    def __init__(self, run: Run, array: Value) -> None:
        if isinstance(array, Dependent):
            if array.shape is None:
                raise BailError
            first, second = (private(r, array.shape) for r in (array.first, array.second))
            self.array: Any = Dependent(array.shape, array.dtype, first, second)
            self.array.token = run.token
            self.array.zeros = None if array.zeros is None else np.array(array.zeros)
        else:
            self.array = np.array(array)
        self.shape: tuple[int, ...] = self.array.shape
        self.accesses = Accesses(count(self.shape))


LANES = (Lane, LaneRange, Sum, Written)
InLanes = Value | Lane | LaneRange | Sum | Written
"""What a variable is in the lanes of a loop."""


def is_uniform(value: Value) -> bool:
    """Say whether a value is the same in all lanes."""
    if isinstance(value, (tuple, list)):
        return all(map(is_uniform, value))
    if isinstance(value, dict):
        return all(map(is_uniform, value.values()))
    if isinstance(value, slice):
        return is_uniform((value.start, value.stop, value.step))
    return not isinstance(value, LANES)

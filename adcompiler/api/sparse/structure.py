"""What sparse derivatives at arguments of the same shapes have in common, and keep."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import field
from itertools import pairwise
from typing import Any

import numpy as np

from adcompiler.api.sparse.watched_patterns import Watched
from adcompiler.dispatch import AtPoint, NotFinite
from adcompiler.dispatch.guards import Guard
from adcompiler.dispatch.linear_maps import Pushforward
from adcompiler.dispatch.trees import seeds_at_once
from adcompiler.plot import Pattern
from adcompiler.runtime import AliasedError, StretchedError, Unfit
from adcompiler.runtime.progress import counted
from adcompiler.sparsity.coloring.coloring import Coloring, indicators
from adcompiler.sparsity.coloring.decompression import Decompression, Out
from adcompiler.sparsity.coloring.flattening import is_column, unflat
from adcompiler.sparsity.dependences.fingerprints import Reads
from adcompiler.support.structs import dataclass

DType = type | np.dtype[np.float64]
MAX_KEPT_NUMBERS = 1 << 22
"""Numbers in seeds that are kept with their structure."""


@dataclass(frozen=True, eq=False)
class Structure:
    """What stays the same for arguments of these shapes: pattern, coloring, places of nonzeros.

    ``constants`` are for other arguments that hold what ``others`` tells.
    """

    coloring: Coloring
    decompression: Decompression
    watched: Watched
    kept_seeds: dict[Any, np.ndarray] = field(default_factory=dict)
    constants: dict[Any, Any] = field(default_factory=dict)
    refused: set[Any] = field(default_factory=set)
    others: list[Any] = field(default_factory=list)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what does not change: whether it still holds cannot be told elsewhere."""
        return structure_from_elsewhere, (self.coloring, self.watched.why)

    @property
    def pattern(self) -> Any:
        """The pattern, a CSR array of bool."""
        return self.coloring.pattern

    def used_for(self, others: Hashable) -> Structure:
        """Return the structure, used for other arguments that have this fingerprint."""
        if self.others != [others]:
            self.constants.clear()
            self.others[:] = [others]
        return self

    def covers(self, pattern: Pattern) -> bool:
        """Say whether it serves for another pattern: the same one, or one of the entries less.

        It does not if that has less than half of the entries.
        """
        mine = self.pattern
        if mine.shape != pattern.shape or not pattern.nnz <= mine.nnz <= 2 * pattern.nnz:
            return False
        return bool(mine.multiply(pattern).nnz == pattern.nnz)

    def seeds(self, of_rows: bool, dtype: DType, start: int, stop: int) -> np.ndarray:
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
        self, of_rows: bool, dtype: DType, sweep: Callable[[np.ndarray], np.ndarray]
    ) -> np.ndarray:
        """Return the derivatives along all seeds, of which ``sweep`` takes some at a time."""
        height, width = self.pattern.shape
        count = self.coloring.row_count if of_rows else self.coloring.column_count
        at_once = seeds_at_once(max(height, width))
        found = [
            sweep(self.seeds(of_rows, dtype, start, min(start + at_once, count)))
            for start in counted(range(0, count, at_once), "sweeps")
        ]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def sweeps(self, at: AtPoint) -> list[tuple[int, int]]:
        """Return which colors of columns one sweep takes after the other, as many each."""
        count, size = self.coloring.column_count, max(self.pattern.shape)
        at_once = seeds_at_once(size)
        if at.most is not None:
            at_once = min(at_once, max(at.least, at.most // max(size, 1)))
        number = -(-count // at_once)
        ends = [count * i // number for i in range(number + 1)]
        return list(pairwise(ends))

    def along(
        self, at: AtPoint, wanted: Sequence[Any], dtype: DType, flattened: Callable[[Any, int], Any]
    ) -> list[np.ndarray] | None:
        """Return the derivatives along the seeds of all colors of columns, one row for each.

        There is an array for each sweep. What the seeds decide alone is computed once, and kept
        unless it is large; ``flattened`` makes rows of what the compiled code returns. None if that
        code is not for these arguments, or gives what is not finite.
        """
        if at.entry in self.refused:
            return None
        found = []
        try:
            for start, stop in counted(self.sweeps(at), "sweeps"):
                constants = self.constants.get((at.entry, start, stop))
                if constants is None:
                    seeds = unflat(self.seeds(False, dtype, start, stop), wanted, is_column)
                    constants = constants_of(at, seeds)
                    self.keep((at.entry, start, stop), constants)
                found.append(flattened(at.along(constants), stop - start))
        except (StretchedError, AliasedError, Unfit):
            self.refused.add(at.entry)
            return None
        except NotFinite:
            return None
        return found

    def keep(self, key: Hashable, constants: Any) -> None:
        """Keep constants, if that does not take too much memory."""
        if numbers_in((constants, *self.constants.values())) <= MAX_KEPT_NUMBERS:
            self.constants[key] = constants


def structure_from_elsewhere(coloring: Coloring, why: str) -> Structure:
    """Return a structure that was pickled, which no derivative takes for one that still holds."""
    reads, never = Reads(), Guard((lambda namespace: "False",))
    watched = Watched(coloring.pattern, never, reads, reads.fingerprint(), why)
    return Structure(coloring, Decompression(coloring), watched)


@dataclass(frozen=True, slots=True)
class Repeatable:
    """A call of a sparse derivative in one array of floats, of which the next one may be alike.

    That is one with an array of the same ``shape`` at ``position``, and arguments beside it that
    hold the same as ``others``. The matrix has ``size`` rows. Code gives the derivatives along
    colors of columns of ``constants``; these are of one sweep after the other, with how many seeds
    it has. ``cotangents`` are the seeds of all colors of rows.
    """

    position: int
    shape: tuple[int, ...]
    others: tuple[Any, ...]
    structure: Structure
    entry: Callable[..., Any] | None
    constants: tuple[tuple[int, Any], ...]
    cotangents: np.ndarray | None
    size: int

    def is_alike(self, args: tuple[Any, ...]) -> bool:
        """Say whether a call has arguments of the same shape, beside others that hold the same."""
        position = self.position
        if len(args) != len(self.others):
            return False
        for i, (arg, kept) in enumerate(zip(args, self.others, strict=True)):
            if i == position:
                if type(arg) is not np.ndarray or arg.dtype != np.float64 or (
                    arg.shape != self.shape
                ):
                    return False
            elif not holds_same(arg, kept):
                return False
        return self.structure.watched.holds()

    def matrix(
        self, args: tuple[Any, ...], out: Out, fixed: Callable[..., Any],
        reverse: Callable[..., Any] | None = None,
    ) -> Any:
        """Return the matrix for a call that is alike, written into ``out`` if given; None if not.

        ``fixed`` is the derivative along constant seeds, ``reverse`` the one by reverse mode.
        """
        if not self.is_alike(args):
            return None
        columns = rows = None
        if self.entry is not None:
            columns = self.along(fixed(*args))
            if columns is None:
                return None
        if self.cotangents is not None and reverse is not None:
            rows = self.back(*reverse(*args))
            if rows is None:
                return None
        return self.structure.decompression.matrix(columns, rows, out)

    def along(self, at: AtPoint) -> list[np.ndarray] | None:
        """Return the derivatives along the seeds of all colors of columns, or None."""
        if type(at) is not AtPoint or at.entry is not self.entry:
            return None
        try:
            swept = [(count, at.along(constants)) for count, constants in self.constants]
        except (StretchedError, AliasedError, Unfit, NotFinite):
            return None
        parts = [
            as_rows(found[1] if at.with_value else found, count, self.size)
            for count, found in swept
        ]
        return None if any(part is None for part in parts) else parts  # type: ignore[return-value]

    def back(self, value: Any, pull: Callable[..., Any]) -> np.ndarray | None:
        """Return what the seeds of all colors of rows are pulled back to, or None."""
        seeds = self.cotangents
        assert seeds is not None
        if type(value) is not np.ndarray or value.dtype != np.float64 or value.size != self.size:
            return None
        found = pull(seeds.reshape(len(seeds), *value.shape))
        return as_rows(found, len(seeds), math.prod(self.shape))


def as_rows(found: Any, count: int, size: int) -> np.ndarray | None:
    """Return derivatives along some seeds as rows of so many numbers; None if that is not known."""
    if type(found) is not np.ndarray or found.dtype != np.float64 or found.size != count * size:
        return None
    return found if found.shape == (count, size) else found.reshape(count, size)


def repeatable(
    structure: Structure, at: AtPoint | Pushforward | None, args: tuple[Any, ...],
    wrt: Sequence[int],
) -> Repeatable | None:
    """Return what is kept of a call for the next one; None if such calls have to be looked at.

    ``at`` is the derivative there along constant seeds, if there are any.
    """
    position, coloring = wrt[0], structure.coloring
    height, width = structure.pattern.shape
    if len(wrt) != 1 or position >= len(args) or not coloring.count:
        return None
    x, entry = args[position], None
    constants: tuple[tuple[int, Any], ...] = ()
    cotangents = None
    if coloring.column_count:
        if not isinstance(at, AtPoint):
            return None
        entry = at.entry
        constants = tuple(
            (stop - start, structure.constants.get((entry, start, stop)))
            for start, stop in structure.sweeps(at)
        )
    if coloring.row_count:
        count = coloring.row_count
        if count > seeds_at_once(max(height, width)):
            return None
        cotangents = structure.seeds(True, np.dtype(np.float64), 0, count)
    others = tuple(None if i == position else kept_copy(arg) for i, arg in enumerate(args))
    if type(x) is not np.ndarray or x.dtype != np.float64 or UNKNOWN in others or any(
        one is None for _, one in constants
    ):
        return None
    return Repeatable(
        position, x.shape, others, structure, entry, constants, cotangents, height)


class Bytes(bytes):
    """What an array holds, with its dtype and shape as ``form``; or a float, with its class."""

    form: tuple[Any, ...]


UNKNOWN = object()
"""Stands for an argument of which it takes long to tell whether another one holds the same."""


def kept_copy(arg: Any) -> Any:
    """Return what tells whether other arguments hold the same as this one; or ``UNKNOWN``."""
    if type(arg) is np.ndarray and arg.dtype.kind in "biuf":
        found = Bytes(arg.tobytes())
        found.form = arg.dtype, arg.shape
        return found
    if type(arg) is float:
        found = Bytes(arg.hex().encode())
        found.form = (float,)
        return found
    return arg if type(arg) in (int, bool, str, type(None)) else UNKNOWN


def holds_same(arg: Any, kept: Any) -> bool:
    """Say whether an argument holds the same as one of which ``kept`` was made."""
    if type(kept) is not Bytes:
        return type(arg) is type(kept) and bool(arg == kept)
    if type(arg) is float:
        return kept.form == (float,) and arg.hex().encode() == kept
    return type(arg) is np.ndarray and (arg.dtype, arg.shape) == kept.form and (
        arg.flags.c_contiguous and arg.tobytes() == kept)


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


__all__ = ["Repeatable", "Structure", "repeatable"]

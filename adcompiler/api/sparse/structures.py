"""Finding what sparse derivatives keep: pattern and coloring, for arguments of the same shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.fallback import BY_BACKEND, because, may_record, tell_recorded
from adcompiler.api.sparse import MODES
from adcompiler.api.sparse.given_patterns import Given
from adcompiler.api.sparse.kept_structures import KeptStructures
from adcompiler.api.sparse.structure import Structure
from adcompiler.api.sparse.watched_patterns import Point, Watched, warn_if_full, watched_pattern
from adcompiler.dispatch import Options, Specialisations
from adcompiler.dispatch.guards import Guard
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError, not_one_of
from adcompiler.plot import Pattern
from adcompiler.sparsity.coloring.coloring import Coloring, color, least_of_both
from adcompiler.sparsity.coloring.decompression import FORMATS, TRIANGLES, Decompression
from adcompiler.sparsity.coloring.kept import kept_coloring
from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Argnums

REVERSE_COST = 2.0
"""What one cotangent costs, in tangents, when the kind of coloring is chosen."""
FEW = 4
"""So few colors of columns are taken as they are."""


@dataclass(frozen=True)
class Settings:
    """How a sparse derivative is found, and in which form it is returned."""

    kind: str = "auto"
    order: str = "smallest_last"
    backend: str = "python"
    given: Given | None = None
    form: str = "csr"
    triangle: str | None = None
    mode: str = "global"
    progress: bool = False

    def __post_init__(self) -> None:
        for name, value, possible in (
            ("format", self.form, FORMATS), ("triangle", self.triangle, TRIANGLES),
            ("mode", self.mode, MODES),
        ):
            if value not in possible:
                raise ValueError(not_one_of(name, str(value), map(str, possible)))
        if self.mode == "local" and self.given is not None:
            raise ValueError("a pattern that is given is not found, whatever the mode")


class Structures:
    """The structures of a Jacobian or of a Hessian, a ``second`` derivative."""

    def __init__(
        self, function: Callable[..., Any], argnums: Argnums, settings: Settings, second: bool
    ) -> None:
        self.function, self.argnums, self.settings = function, argnums, settings
        self.second = second
        self.kept = KeptStructures()
        self.forms = Specialisations(function, Options("vjp", argnums))
        if any(self.forms.parts):
            raise TypeError("sparse derivatives are with respect to whole arguments")

    @property
    def positions(self) -> Argnums:
        """The positions in a call of what is differentiated; a lone one where one is asked for."""
        found = tuple(i - len(self.forms.target.first) for i in self.forms.wrt)
        return found[0] if self.forms.single else found

    def point(self, call: Written) -> Point:
        """Return the arguments of a call."""
        values = self.forms.values(self.forms.target.bound(*call))
        return Point(call, values, [values[i] for i in self.forms.wrt])

    def at(self, point: Point) -> Structure:
        """Return the structure for arguments like these; found once, then kept."""
        settings = self.settings
        is_local = settings.mode == "local"
        others = {i: one for i, one in enumerate(point.values) if i not in self.forms.wrt}

        def made(watched: Watched) -> Structure:
            if settings.given is None:
                warn_if_full(watched.pattern, watched.full)

            def colored() -> Coloring:
                return self.colored(watched.pattern)

            name = "sparse_hessian" if self.second else "sparse_jacobian"
            coloring = colored() if is_local else kept_coloring(
                watched.pattern, (name, settings.kind, settings.order), colored)
            return Structure(coloring, Decompression(
                coloring, settings.form, settings.triangle), watched)

        return self.kept.structure(
            point, others, is_local, lambda looked: self.watched(point, looked), made)

    def watched(self, point: Point, looked: frozenset[int]) -> Watched:
        """Return the pattern for these arguments: found, or given where the function is recorded.
        """
        given, backend = self.settings.given, self.settings.backend
        if given is not None and backend == "record":
            return given.depending_on(Guard(()), self.function, point, BY_BACKEND)
        try:
            if given is None:
                return watched_pattern(
                    self.forms, self.function, point.call, self.argnums, self.second, looked,
                    self.settings.mode)
            return given.watched(self.function, point, self.argnums)
        except ADError as error:
            if not may_record(Options("forward", self.argnums, backend=backend), error):
                raise
            if given is None:
                error.add_note("A recording finds no pattern: state it by pattern=...")
                raise
            tell_recorded(self.forms.target, error)
            return given.depending_on(Guard(()), self.function, point, because(error))

    def colored(self, pattern: Pattern) -> Coloring:
        """Return the coloring of a pattern, of the kind that takes the least."""
        kind, order = self.settings.kind, self.settings.order
        if kind != "auto":
            return color(pattern, kind, order)
        by_column = color(pattern, "column", order)
        fullest = int(np.bincount(pattern.indices).max(initial=0))
        if by_column.count <= min(REVERSE_COST * fullest, FEW):
            return by_column  # rows need at least as many colors as the fullest column has nonzeros
        cost = {by_column: float(by_column.count)}
        if REVERSE_COST * fullest < by_column.count:
            by_row = color(pattern, "row", order)
            cost[by_row] = REVERSE_COST * by_row.count
        if least_of_both(pattern, REVERSE_COST) <= min(cost.values()):
            both = color(pattern, "bidirectional", order)
            cost[both] = both.column_count + REVERSE_COST * both.row_count
        return min(cost, key=lambda coloring: (cost[coloring], coloring.count))


__all__ = ["Settings", "Structures"]

"""Patterns of sparse derivatives that the user states, and the test that they hold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.api.patterns import Watched, refuse_written
from adcompiler.dispatch.guards import Guard
from adcompiler.errors import WrongPatternError
from adcompiler.sparsity.coloring.coloring import as_pattern
from adcompiler.sparsity.coloring.flattening import is_column, leaves
from adcompiler.sparsity.dependences.fingerprints import Reads
from adcompiler.structs import dataclass

SHOWN = 5
"""Rows that a message names."""


@dataclass(frozen=True, eq=False)
class Given:
    """A pattern that the user states; with ``check`` every matrix is tested against a product."""

    pattern: Any
    check: bool

    def watched(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any],
        argnums: Any, wanted: Sequence[Any],
    ) -> Watched:
        """Return the pattern for these arguments; ValueError if it has other columns than they.

        Raises UnsupportedError for a function that writes into its arguments.
        """
        return self.depending_on(refuse_written(function, args, kwargs, argnums), wanted)

    def depending_on(self, guard: Guard, wanted: Sequence[Any], why: str = "") -> Watched:
        """Return the pattern as long as a guard holds; ``why`` the function is recorded."""
        columns = sum(np.size(leaf) for leaf in leaves(list(wanted), is_column))
        if self.pattern.shape[1] != columns:
            raise ValueError(
                f"pattern has {self.pattern.shape[1]} columns, and the arguments {columns} numbers")
        reads = Reads()
        return Watched(self.pattern, guard, reads, reads.fingerprint(), why)

    def check_rows(self, numbers: int) -> None:
        """Raise ValueError if the result has another number of numbers than the pattern rows."""
        if numbers != self.pattern.shape[0]:
            raise ValueError(
                f"pattern has {self.pattern.shape[0]} rows, and the result {numbers} numbers")

    def direction(self, dtype: Any) -> np.ndarray:
        """Return the direction along which matrices are tested, as the only row of seeds."""
        drawn = np.random.default_rng(1).uniform(0.5, 1.5, (1, self.pattern.shape[1]))
        return drawn.astype(dtype)

    def verify(self, matrix: Any, direction: np.ndarray, along: np.ndarray) -> None:
        """Raise WrongPatternError unless a matrix times the direction is the derivative ``along``.

        The entries of the direction differ, so that a missing nonzero, or one that was added to
        another of its color, changes the product. Differences are compared with the largest
        numbers, as those are what the rounding errors come from.
        """
        product = matrix @ direction[0]
        with np.errstate(all="ignore"):
            scale = np.maximum(abs(matrix) @ direction[0], np.abs(along))
            largest = np.max(scale[np.isfinite(scale)], initial=0.0)
            near = np.abs(product - along) <= np.sqrt(np.finfo(along.dtype).eps) * largest
        wrong = np.flatnonzero(np.isfinite(product) & ~near & (product != along))
        if wrong.size:
            rows = ", ".join(map(str, wrong[:SHOWN])) + (", ..." if wrong.size > SHOWN else "")
            raise WrongPatternError(
                f"pattern lacks nonzeros of the derivative: in row{'s' * (wrong.size > 1)} {rows} "
                "the matrix read by it is not the derivative"
            )


def given(pattern: Any, check: bool) -> Given | None:
    """Return what is known of a pattern that is given; None of none."""
    if pattern is None:
        return None
    made = as_pattern(pattern)
    if made.ndim != 2:
        raise ValueError(f"pattern is a matrix, and not of shape {made.shape}")
    return Given(made, check)

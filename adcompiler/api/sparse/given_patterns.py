"""Patterns of sparse derivatives that the user states, and the test that they hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from adcompiler.api.sparse.watched_patterns import Point, Watched
from adcompiler.dispatch.guards import Guard
from adcompiler.errors import WrongPatternError
from adcompiler.plot import Pattern
from adcompiler.sparsity.coloring.coloring import as_pattern
from adcompiler.sparsity.coloring.flattening import is_column, is_row, leaves
from adcompiler.sparsity.dependences.fingerprints import Reads
from adcompiler.support.structs import dataclass
from adcompiler.typed.options import Argnums

Stated: TypeAlias = ArrayLike | sp.csr_array | None
"""A dense or sparse matrix, or a tuple of the rows and of the columns of its nonzeros."""
SHOWN = 5
"""Rows that a message names."""


@dataclass(frozen=True, eq=False)
class Given:
    """A pattern that the user states; with ``check`` every matrix is tested against a product.

    Where it was stated by ``pairs``, the rows and columns of nonzeros, its shape is that of the
    derivative at hand. Of a ``second`` derivative it is the whole pattern, or a triangle of it.
    """

    pattern: Any
    check: bool
    pairs: tuple[np.ndarray, np.ndarray] | None = None
    second: bool = False

    def watched(
        self, function: Callable[..., Any], point: Point, argnums: Argnums
    ) -> Watched:
        """Return the pattern for these arguments; ValueError if it has other columns than they.

        Raises UnsupportedError for a function that writes into its arguments.
        """
        from adcompiler.api.sparse.patterns import refuse_written  # loads the compiler

        guard = refuse_written(function, point.call, argnums)
        return self.depending_on(guard, function, point)

    def depending_on(
        self, guard: Guard, function: Callable[..., Any], point: Point, why: str = ""
    ) -> Watched:
        """Return the pattern as long as a guard holds; ``why`` the function is recorded."""
        columns = sum(np.size(leaf) for leaf in leaves(point.wanted, is_column))
        pattern = self.pattern
        if self.pairs is not None:
            rows = columns if self.second else sum(
                np.size(leaf) for leaf in leaves(point.call.own().given_to(function), is_row))
            pattern = of_pairs(self.pairs, (rows, columns))
            pattern = whole(pattern) if self.second else pattern
        if pattern.shape[1] != columns:
            raise ValueError(
                f"pattern has {pattern.shape[1]} columns, and the arguments {columns} numbers")
        reads = Reads()
        return Watched(pattern, guard, reads, reads.fingerprint(), why)

    @staticmethod
    def check_rows(numbers: int, pattern: Pattern) -> None:
        """Raise ValueError if the result has another number of numbers than the pattern rows."""
        if numbers != pattern.shape[0]:
            raise ValueError(
                f"pattern has {pattern.shape[0]} rows, and the result {numbers} numbers")

    @staticmethod
    def direction(columns: int, dtype: type) -> np.ndarray:
        """Return the direction along which matrices are tested, as the only row of seeds."""
        return np.random.default_rng(1).uniform(0.5, 1.5, (1, columns)).astype(dtype)

    def verify(self, matrix: sp.csr_array, direction: np.ndarray, along: np.ndarray) -> None:
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


def given(pattern: Stated, check: bool, second: bool = False) -> Given | None:
    """Return what is known of a pattern that is given; None of none."""
    if pattern is None:
        return None
    if isinstance(pattern, tuple):
        return Given(None, check, pairs_of(pattern), second)
    matrix: Any = pattern
    made = as_pattern(matrix)
    if made.ndim != 2:
        raise ValueError(f"pattern is a matrix, and not of shape {made.shape}")
    return Given(whole(made) if second else made, check)


def pairs_of(pattern: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and columns that a pattern is given by; ValueError if they are no such."""
    arrays = [np.asarray(one) for one in pattern]
    if len(arrays) != 2 or arrays[0].shape != arrays[1].shape or any(
        one.ndim != 1 or (one.size and one.dtype.kind not in "iu") or np.any(one < 0)
        for one in arrays
    ):
        raise ValueError(
            "pattern is a matrix, or a tuple of the rows and of the columns of its nonzeros: two "
            "vectors of as many integers, counted from 0")
    return arrays[0].astype(np.int64), arrays[1].astype(np.int64)


def of_pairs(pairs: tuple[np.ndarray, np.ndarray], shape: tuple[int, int]) -> Any:
    """Return the pattern with nonzeros at these rows and columns; ValueError if one is outside."""
    for places, count, what in zip(pairs, shape, ("row", "column"), strict=True):
        if places.max(initial=-1) >= count:
            raise ValueError(
                f"pattern has a nonzero in {what} {places.max()}, and the derivative {count} "
                f"{what}s, counted from 0")
    return as_pattern(sp.coo_array((np.ones(pairs[0].size, bool), pairs), shape=shape))


def whole(pattern: Pattern) -> Any:
    """Return a symmetric pattern of which a triangle is given; any other one as it is."""
    if pattern.shape[0] == pattern.shape[1] and 0 in (
        sp.triu(pattern, 1).nnz, sp.tril(pattern, -1).nnz
    ):
        return as_pattern(pattern + pattern.T)
    return pattern

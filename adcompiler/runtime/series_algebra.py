"""Truncated Taylor series of products of arrays and of linear systems, order by order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.runtime.series import of_coefficients


def multilinear_series(
    function: Callable[..., Any], places: tuple[int, ...], args: tuple[Any, ...],
    *coefficients: Any, **named: Any,
) -> np.ndarray:
    """Return the coefficients of ``function(*args, **named)``, linear in each of some arguments.

    ``places`` are the positions of these among ``args``, ``coefficients`` are theirs.
    """
    orders = len(coefficients[0])
    found: list[Any] = []
    for k in range(1, orders + 1):
        total: Any = None
        for parts in compositions(k, len(places)):
            given = list(args)
            for place, d, j in zip(places, coefficients, parts, strict=True):
                if j:
                    given[place] = d[j - 1]
            term = function(*given, **named)
            total = term if total is None else total + term
        found.append(total)
    return np.stack(found)


def compositions(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to write a number as a sum of ``count`` numbers from 0 on."""
    for bars in itertools.combinations(range(total + count - 1), count - 1):
        ends = (-1, *bars, total + count - 1)
        yield tuple(b - a - 1 for a, b in itertools.pairwise(ends))


@of_coefficients(1, 3)
def solution_series(a: Any, da: Any, b: Any, db: Any, x: Any) -> np.ndarray:
    """Return the coefficients of the solution of ``a x = b``, of which one varies or both do."""
    found = [np.asarray(x)]
    vectors = found[0].ndim == 1
    for k in range(1, len(db if da is None else da) + 1):
        rest = np.zeros_like(found[0]) if db is None else db[k - 1]
        for j in range(1, 1 if da is None else k + 1):
            rest = rest - da[j - 1] @ found[k - j]
        found.append(
            np.linalg.solve(a, rest[:, None])[:, 0] if vectors else np.linalg.solve(a, rest)
        )
    return np.stack(found[1:])


__all__ = ["multilinear_series", "solution_series"]

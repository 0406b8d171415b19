"""Programs with the patterns of their derivatives, derived by hand: the frame for the others.

A module of programs decorates each with ``jacobian`` or ``hessian``: the arguments at the first
point, and a function that gives the columns of each row.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Rows = Callable[[], Sequence[Any]]


@dataclass(frozen=True)
class Program:
    """A function, its arguments, and the columns of each row of its Jacobian or Hessian.

    ``exact`` is False where the pattern found is known to be larger than the true one.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    rows: Rows
    second: bool = False
    argnums: Any = None
    exact: bool = True

    def __str__(self) -> str:
        return self.function.__name__


PROGRAMS: list[Program] = []


def jacobian(*args: Any, rows: Rows, argnums: Any = None, exact: bool = True) -> Any:
    """Enter a function with the pattern of its Jacobian."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, args, rows, False, argnums, exact))
        return function

    return register


def hessian(*args: Any, rows: Rows, exact: bool = True) -> Any:
    """Enter a function with the pattern of its Hessian."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, args, rows, True, None, exact))
        return function

    return register


def band(n: int, below: int, above: int, rows: int | None = None) -> list[set[int]]:
    """Return the rows of a banded matrix."""
    count = n if rows is None else rows
    return [set(range(max(i - below, 0), min(i + above + 1, n))) for i in range(count)]


def full(m: int, n: int) -> list[set[int]]:
    """Return the rows of a matrix without zeros."""
    return [set(range(n)) for _ in range(m)]


def around(shape: tuple[int, ...], steps: Any, periodic: bool = True) -> list[set[int]]:
    """Return, for each place of a grid, the places that ``steps`` lead to."""
    def number(place: Any) -> int:
        found = 0
        for extent, i in zip(shape, place, strict=True):
            found = found * extent + i
        return found

    rows = []
    for place in itertools.product(*map(range, shape)):
        row = set()
        for step in steps:
            there = [i + s for i, s in zip(place, step, strict=True)]
            if periodic:
                there = [i % extent for i, extent in zip(there, shape, strict=True)]
            if all(0 <= i < extent for i, extent in zip(there, shape, strict=True)):
                row.add(number(there))
        rows.append(row)
    return rows


CROSS_2 = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1))
CROSS_3 = ((0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))

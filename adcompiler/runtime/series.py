"""Truncated Taylor series: coefficients of functions, order by order.

A value ``x`` that moves along ``x(t)`` is kept in two parts: ``x`` itself, its coefficient of order
0, and ``dx``, the coefficients of orders 1 to K, ``x^(k)(0) / k!``, along a leading axis: of shape
``(K, *shape of x)``, of the dtype of ``x``. The functions return the latter of their result, which
some are given as ``y`` or ``z``. None stands for the coefficients of a constant. Recurrences for
the functions of libraries are with their rules.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from adcompiler.errors import UncoveredError
from adcompiler.runtime.structure import mapped

Function = TypeVar("Function", bound=Callable[..., Any])

COEFFICIENTS: dict[Any, tuple[int, ...]] = {}
"""Functions of coefficients, with the positions of the arguments that are such."""


def of_coefficients(*positions: int) -> Callable[[Function], Function]:
    """Enter a function whose arguments at ``positions`` are coefficients; its result is, too."""

    def entered(function: Function) -> Function:
        COEFFICIENTS[function] = positions
        return function

    return entered


@of_coefficients(0, 4, 5)
def away_from_kink(dz: np.ndarray, z: Any, place: str, text: str, dx: Any, dy: Any) -> np.ndarray:
    """Return the coefficients ``dz`` of the size ``z`` of what moves by ``dx`` and ``dy``.

    Raises UncoveredError where the size is 0, and moves: it has no coefficients after the first.
    """
    if len(dz) > 1 and np.any(z == 0):
        for d in (dz, dx, dy):
            if d is not None and np.any((z == 0) & moving(d, np.shape(z))):
                raise UncoveredError("a norm has no Taylor series at 0", place, text)
    return dz


def moving(d: Any, shape: tuple[int, ...]) -> Any:
    """Return where something moves, for results of a shape; False where that is not known."""
    moves = np.any(d != 0, axis=0)
    if not shape:
        return np.any(moves)
    known = moves.ndim <= len(shape) and np.broadcast_shapes(moves.shape, shape) == shape
    return moves if known else False


@of_coefficients(0, 1, 2)
def still_where_still(dz: np.ndarray, dx: Any, dy: Any = None) -> np.ndarray:
    """Return the coefficients of a function of numbers, 0 as long as those of arguments are.

    The first coefficient of an argument that is not 0 moves the value from its order on.
    """
    moves: Any = False
    for d in (dx, dy):
        if d is not None:
            missing = (1,) * (dz.ndim - d.ndim)
            moves = moves | (d != 0).reshape(len(d), *missing, *d.shape[1:])
    moves = np.broadcast_to(np.logical_or.accumulate(moves, axis=0), dz.shape)
    return np.where(moves, dz, dz.dtype.type(0))


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


# -- differential equations: y' = p x' integrated term by term -------------------------------------


def counted(d: np.ndarray) -> np.ndarray:
    """Return the orders of coefficients from 1 on, with as many axes."""
    orders = np.arange(1, len(d) + 1, dtype=d.real.dtype)
    return orders.reshape(-1, *(1,) * (d.ndim - 1))


def first_rate(dx: Any) -> Any:
    """Return ``x'``, the first coefficient of a series, as a value of its own."""
    return mapped(lambda d: d[0].copy() if d.ndim > 1 else d[0], dx)


@of_coefficients(0)
def rates(dx: Any) -> Any:
    """Return the coefficients of ``x'`` from order 1 on, the last of which, unknown, is 0."""

    def of_array(d: np.ndarray) -> np.ndarray:
        found: np.ndarray = np.zeros_like(d)
        found[:-1] = d[1:] * counted(d)[1:]
        return found

    return mapped(of_array, dx)


@of_coefficients(1)
def integrated(slope: Any, rate: Any) -> Any:
    """Return the coefficients of a value that has the derivative ``slope``.

    ``rate`` are the coefficients of that, the last of which is not used.
    """

    def of_array(p: np.ndarray, first: Any) -> np.ndarray:
        found: np.ndarray = np.empty_like(p)
        found[0], found[1:] = first, p[:-1]
        found /= counted(p)
        return found

    return mapped(of_array, rate, slope)

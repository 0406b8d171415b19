"""Where a scalar function is defined, found by trying it: intervals to test its rule in.

As in Nabla: of eight points about 0, 1 and pi, those next to each other at which the function has
a real value.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.ops.domains import Interval
from adcompiler.support.budget import quiet

MARGIN = 0.1
POINTS = (
    -math.pi + MARGIN, -1.0 - MARGIN, -1.0 + MARGIN, -MARGIN, MARGIN, 1.0 - MARGIN, 1.0 + MARGIN,
    math.pi - MARGIN,
)


def in_domain(f: Callable[..., Any], *x: float) -> bool:
    """Say whether ``f(*x)`` is a real number: it neither raises nor is it NaN or complex."""
    try:
        with np.errstate(all="ignore"), quiet():
            y = f(*x)
    except (ValueError, ArithmeticError):
        return False
    return isinstance(y, (int, float, np.number)) and not np.iscomplexobj(y) and not np.isnan(y)


def domain1(f: Callable[..., Any]) -> Interval | None:
    """Return the widest of the intervals between probe points where ``f`` of one number is real.

    Of two as wide, the one of larger numbers; None if there is none.
    """
    defined = [in_domain(f, x) for x in POINTS]
    found = [(i, j) for i, j in ranges() if all(defined[i : j + 1])]
    if not found:
        return None
    i, j = max(found, key=lambda ends: (width(*ends), POINTS[ends[0]]))
    return POINTS[i], POINTS[j]


def domain2(f: Callable[..., Any]) -> tuple[Interval, Interval] | None:
    """Return the largest rectangle between probe points where ``f`` of two numbers is real.

    Of two as large, the one of larger numbers; None if there is none.
    """
    defined = np.array([[in_domain(f, x, y) for y in POINTS] for x in POINTS])
    found = [
        (i, j, k, m) for (i, j), (k, m) in itertools.product(ranges(), repeat=2)
        if defined[i : j + 1, k : m + 1].all()
    ]
    if not found:
        return None
    i, j, k, m = max(found, key=lambda ends: (
        width(*ends[:2]) * width(*ends[2:]), POINTS[ends[0]] + POINTS[ends[2]]))
    return (POINTS[i], POINTS[j]), (POINTS[k], POINTS[m])


def ranges() -> Iterator[tuple[int, int]]:
    """Yield the first and last position of each run of two or more probe points."""
    return itertools.combinations(range(len(POINTS)), 2)


def width(i: int, j: int) -> float:
    """Return the distance of two probe points, rounded so that mirrored ones compare equal."""
    return round(POINTS[j] - POINTS[i], 9)

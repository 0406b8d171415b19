"""Grids and lengths of parts, computed as NumPy computes them, by Python code that is compiled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def evenly_spaced(start: Any, stop: Any, number: int, dtype: Any) -> Any:
    """Return ``number`` points from ``start`` to ``stop``, as for the step ``number * 1j``."""
    step = 1 if number == 1 else (stop - start) / float(number - 1)
    return np.arange(number, dtype=dtype) * step + start


def stepped(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """Return points in front of ``stop``, ``step`` apart, as along one of several axes."""
    return np.arange(math.ceil((stop - start) / step), dtype=dtype) * step + start


def dense_grid(*vectors: Any) -> Any:
    """Return the coordinates of all points, one array of them for each axis."""
    return np.stack(np.meshgrid(*vectors, indexing="ij"))


def equal_length(length: int, parts: int) -> int:
    """Return the length of each of several equal parts, as ``np.split`` makes them."""
    if length % parts != 0:
        raise ValueError("array split does not result in an equal division")
    return length // parts


def length_up_to(length: int, parts: int, count: int) -> int:
    """Return the length of the first ``count`` parts of those of ``np.array_split``."""
    return length // parts * count + min(count, length % parts)

"""``abs``, ``max`` and ``min`` without a kink: a polynomial takes the place of the corner.

Within ``c`` of the kink ``abs(x)`` is ``x**2 (2 - |x| / c) / c``, which has the value and the slope
of ``|x|`` at ``c`` and is 0 with slope 0 at 0. The definitions are those of XAD's ``smooth_abs``,
``smooth_max`` and ``smooth_min``.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

__all__ = ["abs", "max", "min"]


def abs(x: Any, c: float = 0.001) -> Any:
    """Return ``|x|``, smooth within ``c`` of 0; of an array element by element."""
    if isinstance(x, np.ndarray):
        size = np.abs(x)
        return np.where(size < c, x * x * (2.0 - size / c) / c, size)
    size = builtins.abs(x)
    if size < c:
        return x * x * (2.0 - size / c) / c
    return size


def max(x: Any, y: Any, c: float = 0.001) -> Any:
    """Return the larger of two values, smooth where they differ by less than ``c``."""
    return 0.5 * (x + y + abs(x - y, c))


def min(x: Any, y: Any, c: float = 0.001) -> Any:
    """Return the smaller of two values, smooth where they differ by less than ``c``."""
    return 0.5 * (x + y - abs(x - y, c))

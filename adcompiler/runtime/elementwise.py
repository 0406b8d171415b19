"""Factors of elementwise derivatives that have no NumPy name of their own; a check of powers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def log_of_base(x: Any) -> Any:
    """Return ``log(x)`` as it stands in the exponent's derivative of ``x ** y``.

    It is 0 where ``x`` is 0, so that ``x**y * log(x)`` tends to its limit 0 for positive ``y``,
    and nan, without a warning, where a real ``x`` is negative: there is no derivative.
    """
    safe = np.where(x == 0, 1.0, x)
    logarithm = np.log(safe if np.iscomplexobj(x) else np.where(safe < 0, np.nan, safe))
    return logarithm if isinstance(x, (np.ndarray, np.generic)) else logarithm.item()


def phase(z: Any) -> Any:
    """Return ``z / abs(z)``, and 0 where ``z`` is 0."""
    size = np.abs(z)
    return z / np.where(size == 0, 1.0, size)


def stays_real(x: Any, y: Any) -> None:
    """Raise TypeError where Python's ``x ** y`` of two real numbers is complex.

    That is where ``x`` is negative and ``y`` is no integer. NumPy's numbers give nan there.
    """
    if x < 0 and not isinstance(x, np.generic) and not isinstance(y, np.generic) and (
        math.isfinite(x) and y % 1 > 0
    ):
        raise TypeError(
            f"the power {x!r} ** {y!r} of a negative number is complex, where the derivative was "
            "compiled for real numbers; keep the base positive, or write complex(x) ** y for "
            "complex numbers, or np.power(x, y) for nan"
        )

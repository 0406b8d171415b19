"""Factors of elementwise derivatives that have no NumPy name of their own."""

from __future__ import annotations

from typing import Any

import numpy as np


def log_of_base(x: Any) -> Any:
    """Return ``log(x)`` as it stands in the exponent's derivative of ``x ** y``.

    It is 0 where ``x`` is 0, so that ``x**y * log(x)`` tends to its limit 0 for positive ``y``,
    and nan, without a warning, where a real ``x`` is negative: there is no derivative.
    """
    safe = np.where(x == 0, 1.0, x)
    return np.log(safe) if np.iscomplexobj(x) else np.log(np.where(safe < 0, np.nan, safe))


def phase(z: Any) -> Any:
    """Return ``z / abs(z)``, and 0 where ``z`` is 0."""
    size = np.abs(z)
    return z / np.where(size == 0, 1.0, size)

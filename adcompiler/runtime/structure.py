"""Zero cotangents, sums of cotangents and seeds for values of any structure."""

from __future__ import annotations

from typing import Any

import numpy as np


def zeros_like(x: Any) -> Any:
    """Return the zero cotangent of ``x``: 0.0 for numbers, zeros for arrays, containers of these."""
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, x.dtype if x.dtype.kind in "fc" else np.float64)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return type(x)(*(zeros_like(item) for item in x))
    if isinstance(x, (tuple, list)):
        return type(x)(zeros_like(item) for item in x)
    if isinstance(x, dict):
        return {key: zeros_like(value) for key, value in x.items()}
    if isinstance(x, np.inexact):
        return x.dtype.type(0)
    return 0j if isinstance(x, complex) else 0.0


def add(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents of the same value; a new object, neither is changed."""
    if isinstance(a, tuple) and hasattr(a, "_fields"):
        return type(a)(*(add(x, y) for x, y in zip(a, b, strict=True)))
    if isinstance(a, (tuple, list)):
        return type(a)(add(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return {key: add(value, b[key]) for key, value in a.items()}
    return a + b

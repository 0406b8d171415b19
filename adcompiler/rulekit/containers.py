"""Values of the structure of others: zeros, ones, random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.rulekit.comparison import map_leaves


def zero_like(x: Any) -> Any:
    """Return zeros of the structure of ``x``: numbers, arrays, tuples, lists and dicts of them.

    Floats keep their precision, integers become floats; what is no number becomes None.
    """
    return filled(x, np.zeros)


def one_like(x: Any) -> Any:
    """Return ones of the structure of ``x``, as ``zero_like`` does zeros."""
    return filled(x, np.ones)


def randn_like(rng: np.random.Generator, x: Any) -> Any:
    """Return normally distributed numbers of the structure of ``x``, as ``zero_like`` does zeros.

    Complex numbers get independent real and imaginary parts.
    """

    def draw(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
        values = rng.standard_normal(shape)
        if dtype.kind == "c":
            values = values + 1j * rng.standard_normal(shape)
        return np.asarray(values).astype(dtype)

    return filled(x, draw)


def filled(x: Any, make: Callable[..., Any]) -> Any:
    """Return ``make(shape, dtype)`` for each number or array in ``x``, of the same class."""

    def leaf(value: Any) -> Any:
        if isinstance(value, (np.ndarray, np.generic)):
            dtype = value.dtype if value.dtype.kind in "fc" else np.dtype(float)
            if value.dtype.kind not in "biufc":
                return None
            made = make(value.shape, dtype)
            return made if isinstance(value, np.ndarray) else dtype.type(made)
        if isinstance(value, complex):
            return complex(make((), np.dtype(complex)))
        return float(make((), np.dtype(float))) if isinstance(value, (int, float)) else None

    return map_leaves(leaf, x)

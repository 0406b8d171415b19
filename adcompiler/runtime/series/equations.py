"""Truncated Taylor series by differential equations: ``y' = p x'`` integrated term by term.

Coefficients are those of ``runtime.series``, also in tuples, lists, dicts and instances.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.runtime.series import of_coefficients
from adcompiler.runtime.structure import mapped


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


__all__ = ["first_rate", "integrated", "mapped", "rates"]

"""Factors of elementwise derivatives that have no NumPy name of their own; a check of powers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adcompiler.errors import ADError

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def log_of_base(x: Any) -> Any:
    """Return ``log(x)`` as it stands in the exponent's derivative of ``x ** y``.

    It is 0 where ``x`` is 0, so that ``x**y * log(x)`` tends to its limit 0 for positive ``y``,
    and nan, without a warning, where a real ``x`` is negative: there is no derivative.
    """
    safe = np.where(x == 0, 1.0, x)
    logarithm = np.log(safe if np.iscomplexobj(x) else np.where(safe < 0, np.nan, safe))
    return logarithm if isinstance(x, (np.ndarray, np.generic)) else logarithm.item()


def sinc_derivative(x: Any, order: int) -> Any:
    """Return the derivative of ``np.sinc`` of an order from 1 on.

    With ``u = pi x``, the derivatives of ``f = sin(u) / u`` obey ``u f_n + n f_{n-1} = sin(u + n
    pi / 2)``; where ``u`` is small their power series is summed, which loses no digits.
    """
    u = np.pi * np.asarray(x)
    small = np.abs(u) < order + 2.0
    far, near = np.where(small, 1.0, u), np.where(small, u, 0.0)
    value = np.sin(far) / far
    for n in range(1, order + 1):
        value = (np.sin(far + n * (np.pi / 2)) - n * value) / far
    series = np.zeros_like(near)
    for k in range(order // 2 + 12 + order, (order - 1) // 2, -1):
        power = 2 * k - order
        factor = (-1.0) ** k / (math.factorial(power) * (2 * k + 1))
        series = series + factor * near**power
    found = np.where(small, series, value) * np.pi**order
    dtype = np.asarray(x).dtype
    found = found.astype(dtype if dtype.kind in "fc" else np.float64)
    return found if isinstance(x, np.ndarray) else found[()]


def phase(z: Any) -> Any:
    """Return ``z / abs(z)``, and 0 where ``z`` is 0."""
    size = np.abs(z) if np.ndim(z) else np.hypot(np.real(z), np.imag(z))  # the same bits as loops
    return z / np.where(size == 0, 1.0, size)


def is_known(value: Any) -> bool:
    """Say whether the compiler knows a value, so that nothing is differentiated by it.

    Rules ask it before they take a formula that holds for some values only: its own derivative in
    that value would be another. Where code runs, nothing is known.
    """
    return False


class NotRealError(ADError, TypeError):
    """A power is complex where the derivative was compiled for real numbers."""


def stays_real(x: Any, y: Any) -> None:
    """Raise NotRealError where Python's ``x ** y`` of two real numbers is complex.

    That is where ``x`` is negative and ``y`` is no integer. NumPy's numbers give nan there.
    """
    if x < 0 and not isinstance(x, np.generic) and not isinstance(y, np.generic) and (
        math.isfinite(x) and y % 1 > 0
    ):
        raise NotRealError(
            f"the power {x!r} ** {y!r} of a negative number is complex, where the derivative was "
            "compiled for real numbers; keep the base positive, or write complex(x) ** y for "
            "complex numbers, or np.power(x, y) for nan"
        )

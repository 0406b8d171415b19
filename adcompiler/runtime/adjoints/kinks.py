"""Squares that are smooth where their roots are not, logistic functions, first derivatives only.

Each function returns its first argument; only what is differentiated tells one from another.
"""

from __future__ import annotations

from typing import Any


def square_of(y: Any, *coordinates: Any) -> Any:
    """Return ``y``, the sum of the squares of coordinates, element by element."""
    return y


def square_of_norm(y: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """Return ``y``, the sum of the squares of ``x`` along axes."""
    return y


def differentiated_as(y: Any, smooth: Any) -> Any:
    """Return ``y``, which has the derivative of ``smooth``, another way to compute it."""
    return y


def logistic_of(y: Any, x: Any) -> Any:
    """Return ``y``, the logistic function of ``-x``, element by element."""
    return y


STAND_INS = (square_of, square_of_norm, differentiated_as, logistic_of)
"""What stands for a value, and is there for its derivative alone."""


def first_derivative(g: Any, dy: Any, size: Any) -> Any:
    """Return ``g``, a product of ``dy`` with a derivative that is a convention where ``size`` is 0.

    There it has no derivative of its own, unless ``dy`` is 0.
    """
    return g


__all__ = [
    "STAND_INS", "differentiated_as", "first_derivative", "logistic_of", "square_of",
    "square_of_norm",
]

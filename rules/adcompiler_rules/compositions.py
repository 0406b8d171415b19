"""Recurrences of functions whose derivatives of every order by one argument are known."""

from __future__ import annotations

from typing import Any

from adcompiler.rulekit import Recurrence
from adcompiler_rules.kernels.scipy_series import composed_series


def composed(derivative: Any, place: int = 0) -> Recurrence:
    """Return the recurrence of a function of which ``derivative(k, *args)`` is the ``k``-th.

    ``place`` is the position of the argument that it is the derivative by.
    """
    return Recurrence(
        composed_series, (derivative, place, "args", "d", "result"), first="real", place=place)

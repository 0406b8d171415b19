"""What rules say of cotangents: none at all, of the form of an argument, kept together."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from adcompiler.runtime import project

NoTangent: None = None
"""The cotangent of what has no derivative: an index, a flag, a function."""

ZeroTangent: None = None
"""The cotangent zero. In rules it is None, as ``NoTangent`` is: nothing is passed on."""


def project_to(x: Any) -> Callable[[Any], Any]:
    """Return the function that makes a cotangent one of ``x``: ``project_to(x)(g)``.

    Parameters:
        x (number or ndarray): What the cotangent is of.

    Returns:
        callable: Its result has the shape of ``x`` (summed where ``x`` was stretched), is real
        where ``x`` is, and has its float precision.

    Example:
        >>> import numpy as np
        >>> from adcompiler import project_to
        >>> project_to(np.zeros(3))(np.ones((2, 3)))
        array([2., 2., 2.])
    """

    def projection(g: Any) -> Any:
        return project(g, x)

    return projection


def PullbackMemory(function: Any = None, /, **state: Any) -> Any:
    """Return what an augmented primal keeps for the pullback: ``memory.name`` for each keyword.

    Parameters:
        function (callable): What the memory belongs to, for readers; it is not kept.
        state: The values.

    Returns:
        An object with these attributes.

    Example:
        >>> from adcompiler import PullbackMemory
        >>> PullbackMemory(slope=2.0).slope
        2.0
    """
    return SimpleNamespace(**state)

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

    The result has the shape of ``x`` (summed where ``x`` was stretched), is real where ``x`` is,
    and has its float precision.
    """

    def projection(g: Any) -> Any:
        return project(g, x)

    return projection


def PullbackMemory(function: Any = None, /, **state: Any) -> Any:
    """Return what an augmented primal keeps for the pullback: ``memory.name`` for each keyword.

    ``function`` may be given to say what the memory belongs to; it is not kept.
    """
    return SimpleNamespace(**state)

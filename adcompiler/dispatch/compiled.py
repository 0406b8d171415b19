"""Code for one combination of argument types."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from adcompiler.dispatch.guards import Guard
from adcompiler.errors import InternalError
from adcompiler.ir import types as t
from adcompiler.runtime import own
from adcompiler.support.structs import dataclass

Same = tuple[tuple[int, int], ...]
"""Pairs of positions of arguments that are one object: a later one, and an earlier one."""

Assumed = bool | tuple[tuple[int, int], ...]
"""Whether code expects that no operand is stretched, or, beside that, the positions of arguments
with their axes of one element, along which operands are."""


@dataclass(eq=False)
class Compiled:
    """Code for one combination of argument types.

    ``entry`` is the emitted function (of a pair: the augmented primal), ``call`` what a call of the
    derivative calls; ``run`` what takes all arguments at once: for a pushforward those of ``call``
    and the tangents. ``uses`` counts how often it was looked up the long way; ``bound`` are values
    that no import reaches.
    ``masked`` returns the masked form, where that is what gives the derivative for some arguments.
    """

    entry: Callable[..., Any]
    call: Callable[..., Any]
    text: str
    path: Path | None
    types: tuple[t.Type, ...]
    guard: Guard
    report: dict[str, list[str]]
    captured: tuple[str, ...] = ()
    run: Callable[..., Any] | None = None
    uses: int = 0
    bound: Mapping[str, Any] = field(default_factory=dict)
    masked: Callable[..., Compiled | None] | None = None

    def run_for(self, values: tuple[Any, ...]) -> Compiled:
        """Return the code that gives the derivative for the values of all parameters."""
        found = None
        if self.masked is not None:
            try:
                found = self.masked(*own(values))
            except InternalError:
                raise
            except Exception:
                return self  # the user's own error: the call raises it
        return found or self

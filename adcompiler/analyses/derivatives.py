"""Derivatives as values of the program: which functions make them, and what is asked of one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from adcompiler.rulekit.functionals import gradient_of

Argnums = int | str | tuple[int | str, ...]

MAKERS: dict[Any, str] = {gradient_of: "grad"}
"""The functions that make a derivative of a function, with its mode; filled where they are."""


@dataclass(frozen=True)
class Wanted:
    """A derivative that the code being compiled asks for: of which kind, in which arguments."""

    mode: str
    argnums: Argnums
    has_aux: bool = False

    @property
    def name(self) -> str:
        """What types and messages call it."""
        return self.mode

    @property
    def several(self) -> tuple[int | str, ...]:
        """The arguments, also where only one is asked for."""
        return self.argnums if isinstance(self.argnums, tuple) else (self.argnums,)


def is_derivative(value: Any) -> bool:
    """Say whether a live value is a function's derivative."""
    return getattr(type(value), "is_derivative", False) is True

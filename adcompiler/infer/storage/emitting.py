"""What the parts of the heap need of who writes the code."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Origin, Rhs, Star, Statement, Var
from adcompiler.typed.unit import Unit


class Emitter(Protocol):
    """Writes statements to ``out``; ``at`` is the place of the one that is being specialised.

    What it writes may be ``in_emitted`` code, of a derivative that the compiler made.
    """

    unit: Unit
    out: list[Statement]
    in_emitted: bool
    at: Origin | None

    def let(
        self, rhs: Rhs, type_: t.Type, name: str, origin: Origin, temporary: bool = True
    ) -> Var:
        """Write a definition."""

    def writing_to(
        self, out: list[Statement]
    ) -> AbstractContextManager[list[Statement]]:
        """Write to ``out`` meanwhile."""

    def reject(self, origin: Origin, problem: str, hint: str = "", anchor: str = "") -> Atom:
        """Report what is not supported."""

    def item(self, obj: Atom, index: Atom, origin: Origin, name: str = "item") -> Atom:
        """Write ``obj[index]``."""

    def attribute(self, obj: Atom, name: str, origin: Origin, hint: str = "") -> Atom:
        """Write ``obj.name``."""

    def pack(
        self, kind: str, values: tuple[Atom | Star, ...], name: str, origin: Origin
    ) -> Atom:
        """Write a tuple of values."""

    def call(
        self, func: Atom, args: list[Atom | Star], kwargs: dict[str, Atom], origin: Origin,
        name: str,
    ) -> Atom:
        """Write a call."""

"""What the parts of type inference, calls and folds use of each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from adcompiler.frontend.scope import Scope
from adcompiler.ir.nodes import Atom, Block, Origin, Star, Var
from adcompiler.infer.writer import Writer

Env = dict[Var, Atom]
"""The specialised atom of each variable of the code that is being specialised."""


class Operations(Writer, ABC):
    """Writes what programs do with specialised values; what each of these does may be a call."""

    @abstractmethod
    def block(
        self, block: Block, env: Env, scope: Scope | None, carried: bool = False
    ) -> tuple[Atom, ...] | None:
        """Write the statements of ``block``; return what it yields, None if it always raises."""

    @abstractmethod
    def written_either(
        self, atom: Var, origin: Origin, write: Callable[[Var], object]
    ) -> bool:
        """Write a store into a value that is one of two as a branch; False if it is not."""

    @abstractmethod
    def either(
        self, condition: Atom, first: Callable[[], Atom], second: Callable[[], Atom | None],
        origin: Origin, name: str,
    ) -> Atom:
        """Write a branch on ``condition`` of what ``first`` and ``second`` write; its result.

        What raises gives None.
        """

    @abstractmethod
    def free(self, name: str, scope: Scope, origin: Origin) -> Atom:
        """Look up a free name: compile-time values become constants, data is read when run."""

    @abstractmethod
    def truth(self, atom: Atom, origin: Origin) -> Atom:
        """Return the condition ``atom`` as a constant if its truth is known."""

    @abstractmethod
    def item(self, obj: Atom, index: Atom, origin: Origin, name: str = "item") -> Atom:
        """Write ``obj[index]``."""

    @abstractmethod
    def attribute(self, obj: Atom, name: str, origin: Origin, hint: str = "") -> Atom:
        """Write ``obj.name``."""

    @abstractmethod
    def sequence_display(
        self, kind: str, items: Sequence[Atom | Star], name: str, origin: Origin
    ) -> Atom:
        """Write a tuple, list or set display of values that are specialised already."""

    @abstractmethod
    def call(
        self, func: Atom, args: Sequence[Atom | Star], kwargs: dict[str, Atom], origin: Origin,
        name: str,
    ) -> Atom:
        """Write a call; functions whose source is read are opened or compiled on their own."""

"""What the parts of the lowering hand to one another: how blocks end, and what is made later."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast

from adcompiler.frontend.names import FunctionNode
from adcompiler.ir.nodes import UNDEF, Atom, Const, Function, Statement
from adcompiler.support.structs import dataclass

CONTINUES, NORMAL, BREAKS, RETURNS, RAISES, FAILS = -1, 0, 1, 2, 3, 4
"""How a block may end; from FAILS on, by an exception for one of the attempts being made."""

FELL_THROUGH = Const(NORMAL)


@dataclass(frozen=True, slots=True)
class End:
    """How a block of statements ends: ``code`` tells (an atom), ``may`` lists what it can be."""

    code: Atom = FELL_THROUGH
    value: Atom = UNDEF
    may: frozenset[int] = frozenset({NORMAL})

    @property
    def leaving(self) -> frozenset[int]:
        """The ways to end that leave the loops around as well."""
        return frozenset(code for code in self.may if code == RETURNS or code >= FAILS)


RAISED = End(Const(RAISES), UNDEF, frozenset({RAISES}))

Steps = Callable[[Sequence[gast.stmt], bool], End]
"""Lowers statements in order; the flag says that the end of a loop's body follows."""
Nested = Callable[[FunctionNode, str | None], Atom]
"""Lowers a function made in another one, which gets a name or not; returns the closure."""

Arm = tuple[tuple[Statement, ...], dict[str, Atom], End]
"""A block that was lowered: its statements, its variables and how it ends."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """A function that is made where it is used: what it captures changes after its definition.

    ``late`` names what changes, ``states`` what calling it changes.
    """

    function: Function
    captures: tuple[str, ...]
    defaults: tuple[Atom, ...]
    late: tuple[str, ...]
    states: tuple[str, ...]
    node: FunctionNode


@dataclass(frozen=True, slots=True)
class Attempt:
    """A ``try`` whose body is being lowered in parts.

    ``kinds`` is what its handlers catch, ``error`` the variable for the exception, ``code`` how a
    block ends that it left.
    """

    kinds: Atom
    error: str
    code: int


def recipe_of(atom: Atom | None) -> Recipe | None:
    """Return how the function in a variable is made where it is used; None for what is there."""
    value = atom.value if isinstance(atom, Const) else None
    return value if isinstance(value, Recipe) else None

"""What the parts of the lowering use of each other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.ir.nodes import UNDEF, Atom, Block, Const, Star, Statement, Var
from adcompiler.support.structs import dataclass
import gast

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


Arm = tuple[tuple[Statement, ...], dict[str, Atom], End]
"""A block that was lowered: its statements, its variables and how it ends."""


class Interface(ABC):
    """Methods that the parts of the parser define, for all of them."""

    @abstractmethod
    def expression(self, node: gast.expr) -> Atom:
        """Lower an expression; return its value."""

    @abstractmethod
    def assign(self, target: Any, value: Atom) -> Atom:
        """Assign ``value`` to a target; return the atom that now holds it."""

    @abstractmethod
    def statement(self, node: gast.AST) -> None:
        """Lower a statement that always falls through."""

    @abstractmethod
    def sequence(self, steps: Sequence[gast.stmt], tail: bool) -> End:
        """Lower ``steps`` in order; ``tail`` says that the end of a loop's body follows."""

    @abstractmethod
    def nested(self, node: gast.AST, name: str | None) -> Atom:
        """Lower a nested function and return the closure made of it."""

    @abstractmethod
    def comprehension(
        self, generators: Sequence[gast.comprehension], elements: Sequence[gast.expr]
    ) -> list[Atom]:
        """Lower a comprehension to loops; return one list for each of ``elements``."""

    @abstractmethod
    def choose(
        self, condition: Atom, then: Callable[[], Atom], orelse: Callable[[], Atom]
    ) -> Atom:
        """Lower a conditional expression: only the arm that is chosen is evaluated."""

    @abstractmethod
    def loop(self, node: gast.AST) -> End:
        """Lower a loop and its ``else``; the end tells whether it returned."""

    @abstractmethod
    def with_block(self, node: gast.AST, position: int = 0) -> End:
        """Lower a ``with``, from the item at ``position`` on."""

    @abstractmethod
    def try_block(self, node: gast.AST) -> End:
        """Lower a ``try`` without ``else``."""

    @abstractmethod
    def tried(self, step: gast.AST) -> End | None:
        """Lower a statement of a body in parts; None if it is lowered as elsewhere."""

    @abstractmethod
    def catch(self, error: Var | None, name: str | None, lower: Callable[[], End]) -> End:
        """Lower what a handler does; the name of the exception is unbound after it."""

    @abstractmethod
    def at_exception(
        self, watch: dict[str, set[Atom]], by_calls: Sequence[str],
        statements: Sequence[Statement], seen: dict[str, Var],
    ) -> dict[str, Atom]:
        """Return the variables as handlers see them."""

    @abstractmethod
    def joined(self, lowered: Sequence[Arm]) -> tuple[list[Block], tuple[Var, ...], End]:
        """Merge the variables, codes and values of arms of which one is completed."""

    @abstractmethod
    def element(self, node: gast.AST) -> Atom | Star:
        """Lower an element of a display or an argument, starred or not."""

    @abstractmethod
    def states_of(self, name: str) -> tuple[str, ...]:
        """Return the variables that a call of the function ``name`` changes."""

    @abstractmethod
    def changed_names(self, nodes: Sequence[gast.AST]) -> list[str]:
        """Return the variables that calls inside ``nodes`` change."""

    @abstractmethod
    def written_by_others(self) -> set[str]:
        """Return the variables of this function that functions made here assign."""

    @abstractmethod
    def used_function(self, name: str, recipe: Any) -> Atom:
        """Write the making of a function, with what its variables are now."""

    @abstractmethod
    def stateful_call(self, node: gast.AST) -> Atom | None:
        """Lower the call of a function that changes variables; None for other calls."""

    @abstractmethod
    def check_lasting(self, node: gast.AST, recipe: Any) -> bool:
        """Refuse a function used as a value if its variables may change while it is kept."""

    @abstractmethod
    def with_states(self, value: Atom) -> Atom:
        """Return what the function returns for ``value``: with its variables, if it changes any."""

    @abstractmethod
    def generator_call(self, node: gast.AST, function: Atom) -> Atom | None:
        """Lower a call that stops before the end of a generator expression; None for others."""

    @abstractmethod
    def unrolled_generator(self, node: gast.AST) -> Any:
        """Return a loop over a generator expression as one over what that runs over."""

    @abstractmethod
    def match_as_branches(self, node: gast.AST) -> list[Any]:
        """Bind the subject of a ``match``, and return its cases as nested branches."""

"""Variables that inner functions assign or see change: passed at each call, not when made.

A function that assigns variables of the functions around it (``nonlocal``), or calls one that does,
gets their values as arguments and returns their new ones behind its own result. A function that
reads a variable that is assigned again after it was made is made anew where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from adcompiler.frontend.names import (
    FUNCTIONS, FunctionNode, Scope, assigned_names, declared_names, own_functions,
)
from adcompiler.frontend.rewriting.source_map import unused_name
from adcompiler.frontend.rewriting.walking import walk


class Names:
    """The names of one function: its variables, and those that calls in it change.

    ``states`` are those of the functions around that calling this one changes; they are arguments
    of it, and so variables of its own.
    """

    def __init__(self, node: FunctionNode, around: Names | None) -> None:
        self.node = node
        self.around = around
        self.globals = frozenset(declared_names(node, gast.Global))
        self.states = () if around is None else around.changed_by(node, around.stateful)
        self.locals = {n: None for n in assigned_names(node) if n not in self.globals}
        self.locals |= dict.fromkeys(self.states)
        self.stateful: dict[str, tuple[str, ...]] = self.stateful_functions()

    @property
    def itself(self) -> str | None:
        """The name by which the function finds itself; None of a lambda."""
        return getattr(self.node, "name", None)

    def binds(self, name: str) -> bool:
        """Say whether this function or one around it has ``name`` as a local variable."""
        if name in self.locals:
            return True
        return self.around is not None and name not in self.globals and self.around.binds(name)

    def fresh(self, base: str, inside: gast.GeneratorExp | None = None) -> str:
        """Return a name for a local variable that the function has not outside of ``inside``."""
        own = {id(n) for n in gast.walk(inside)} if inside is not None else set()
        names = (n for n in gast.walk(self.node) if isinstance(n, gast.Name))
        name = unused_name(base, {n.id for n in names if id(n) not in own} | set(self.locals))
        self.locals = {**self.locals, name: None}
        return name

    def stateful_functions(self) -> dict[str, tuple[str, ...]]:
        """Return the functions made here that change variables of others, with these variables."""
        found: dict[str, tuple[str, ...]] = {}
        while True:
            before = dict(found)
            for node in own_functions(self.node):
                name = getattr(node, "name", None)
                states = self.changed_by(node, found)
                if states and name is not None:
                    found[name] = tuple(dict.fromkeys((*found.get(name, ()), *states)))
            if found == before:
                return found

    def changed_by(
        self, node: Scope, siblings: dict[str, tuple[str, ...]]
    ) -> tuple[str, ...]:
        """Return the variables of functions around ``node`` that calling it may change."""
        declared = declared_names(node, gast.Nonlocal)
        own = set(assigned_names(node)) - set(declared)
        states = dict.fromkeys(declared)
        for inner in walk(node):
            if inner is node:
                continue
            if isinstance(inner, FUNCTIONS):
                states.update(dict.fromkeys(declared_names(inner, gast.Nonlocal)))
            elif isinstance(inner, gast.Name) and inner.id not in own:
                states.update(dict.fromkeys(siblings.get(inner.id, ())))
                if self.around is not None and inner.id not in self.locals:
                    states.update(dict.fromkeys(self.around.states_of(inner.id)))
        return tuple(name for name in states if name not in own)

    def states_of(self, name: str) -> tuple[str, ...]:
        """Return the variables that a call of the function ``name`` changes."""
        if name in self.locals:
            return self.stateful.get(name, ())
        if self.around is None:
            return ()
        return self.states if name == self.itself else self.around.states_of(name)

    def changed_names(self, nodes: Sequence[gast.AST]) -> list[str]:
        """Return the variables that calls inside ``nodes`` change."""
        return list(dict.fromkeys(
            state for node in nodes for inner in walk(node) if isinstance(inner, gast.Name)
            for state in self.states_of(inner.id)
        ))

    def written_by_others(self) -> set[str]:
        """Return the variables of this function that functions made here assign."""
        return {state for states in self.stateful.values() for state in states}

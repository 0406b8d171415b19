"""Variables that inner functions assign or see change: passed at each call, not when made.

A function that assigns variables of the functions around it (``nonlocal``), or calls one that does,
gets their values as arguments and returns their new ones behind its own result. A function that
reads a variable that is assigned again after it was made is made anew where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.names import (
    FUNCTIONS, assigned_after, assigned_names, declared_names, own_functions,
)
from adcompiler.frontend.rewriting.walking import walk
from adcompiler.ir.nodes import Atom, Call, Closure, Const, Function, Item, Pack, Star
from adcompiler.support.structs import dataclass


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
    node: Any


class State(Builder):
    """Lowers the use of functions that depend on variables which change."""

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
        self, node: gast.FunctionDef | gast.Lambda, siblings: dict[str, tuple[str, ...]]
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
                if self.parent is not None and inner.id not in self.locals:
                    states.update(dict.fromkeys(self.parent.states_of(inner.id)))
        return tuple(name for name in states if name not in own)

    def states_of(self, name: str) -> tuple[str, ...]:
        """Return the variables that a call of the function ``name`` changes."""
        if name in self.locals:
            return self.stateful.get(name, ())
        if self.parent is None:
            return ()
        if name == getattr(self.node, "name", None):
            return tuple(self.states)
        return self.parent.states_of(name)

    def changed_names(self, nodes: Sequence[gast.AST]) -> list[str]:
        """Return the variables that calls inside ``nodes`` change."""
        return list(dict.fromkeys(
            state for node in nodes for inner in walk(node) if isinstance(inner, gast.Name)
            for state in self.states_of(inner.id)
        ))

    def written_by_others(self) -> set[str]:
        """Return the variables of this function that functions made here assign."""
        return {state for states in self.stateful.values() for state in states}

    # -- functions made where they are used ----------------------------------------------------

    def used_function(self, name: str, recipe: Recipe) -> Atom:
        """Write the making of a function, with what its variables are now."""
        if name in self.making:
            return self.reject(recipe.node, rejected.CALL_ONE_ANOTHER, name=name)
        self.making.append(name)
        captures = tuple(map(self.handed_to_closure, recipe.captures))
        self.making.pop()
        return self.let(Closure(recipe.function, captures, recipe.defaults), name)

    def check_lasting(self, node: Any, recipe: Recipe) -> bool:
        """Refuse a function used as a value if its variables may change while it is kept.

        Returns whether it may be used.
        """
        if recipe.states:
            self.reject(node, rejected.ESCAPING_STATE, name=recipe.states[0])
            return False
        later = assigned_after(self.node, node) | self.written_by_others()
        for loop in walk(self.node):
            if isinstance(loop, (gast.For, gast.While)) and (
                loop.lineno <= node.lineno <= loop.end_lineno
            ):
                later |= set(assigned_names(loop))
        for name in recipe.late:
            if name in later:
                self.reject(recipe.node, rejected.REBOUND_CAPTURE, name=name)
                return False
        return True

    def stateful_call(self, node: Any) -> Atom | None:
        """Lower the call of a function that changes variables; None for other calls."""
        name = node.func.id if isinstance(node.func, gast.Name) else ""
        states = self.states_of(name)
        if not states:
            return None
        function = self.stateful_function(name)
        if function is None:
            return self.reject(node, rejected.ESCAPING_STATE, name=states[0])
        args: list[Atom | Star] = [self.element(arg) for arg in node.args]
        kwargs = [(k.arg, self.expression(k.value)) for k in node.keywords]
        kwargs += [(state, self.env.get(state, Const(None))) for state in states]
        both = self.let(Call(function, tuple(args), tuple(kwargs)), "results")
        result = self.let(Item(both, Const(0)), name)
        for position, state in enumerate(states):
            self.bind(state, self.let(Item(both, Const(position + 1)), state))
        return result

    def stateful_function(self, name: str) -> Atom | None:
        """Write the making of a function that changes variables; None if it cannot be here."""
        if name not in self.locals and name == getattr(self.node, "name", None):
            return self.load(name)  # itself
        owner: Builder | None = self
        while owner is not None and name not in owner.locals:
            owner = owner.parent
        made = owner.env.get(name) if owner is not None else None
        if not isinstance(made, Const) or not isinstance(made.value, Recipe):
            return None
        shadowed = owner is not self and any(
            name in self.locals and name not in self.states for name in made.value.captures
        )
        return None if shadowed else self.used_function(name, made.value)

    def with_states(self, value: Atom) -> Atom:
        """Return what the function returns for ``value``: with its variables, if it changes any."""
        if not self.states:
            return value
        now = tuple(self.env[name] for name in self.states)
        return self.let(Pack("tuple", (value, *now)), "results")

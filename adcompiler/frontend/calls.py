"""Lowers calls: those of functions that change variables give these back."""

from __future__ import annotations

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.generators import Generators
from adcompiler.frontend.interface import recipe_of
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.names import is_outer
from adcompiler.ir.nodes import NONE, Atom, Call, Const, Item, Star

CONSUMERS = frozenset({
    "sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "dict", "sorted",
    "join", "fsum", "prod", "array", "asarray",
})


class Calls(Part):
    """Lowers calls."""

    def __init__(self, out: Builder, lower: Lowering, generators: Generators) -> None:
        super().__init__(out, lower)
        self.generators = generators

    def parse_Call(self, node: gast.Call) -> Atom:
        stateful = self.stateful_call(node)
        if stateful is not None:
            return stateful
        function = (
            self.out.load(node.func.id, is_outer(node.func)) if isinstance(node.func, gast.Name)
            else self.lower.expression(node.func)
        )
        name = getattr(node.func, "attr", getattr(node.func, "id", "value"))
        special = self.generators.call(node, function)
        if special is not None:
            return special
        args: list[Atom | Star] = []
        for arg in node.args:
            if isinstance(arg, gast.GeneratorExp) and name in CONSUMERS:
                args.append(self.generators.listed(arg))
            else:
                args.append(self.lower.element(arg))
        kwargs = tuple((k.arg, self.lower.expression(k.value)) for k in node.keywords)
        return self.out.let(Call(function, tuple(args), kwargs), name)

    def stateful_call(self, node: gast.Call) -> Atom | None:
        """Lower the call of a function that changes variables; None for other calls."""
        name = node.func.id if isinstance(node.func, gast.Name) else ""
        states = self.names.states_of(name)
        if not states:
            return None
        function = self.stateful_function(name)
        if function is None:
            return self.out.reject(node, rejected.ESCAPING_STATE, name=states[0])
        args = tuple(map(self.lower.element, node.args))
        kwargs = [(k.arg, self.lower.expression(k.value)) for k in node.keywords]
        kwargs += [(state, self.out.env.get(state, NONE)) for state in states]
        both = self.out.let(Call(function, args, tuple(kwargs)), "results")
        result = self.out.let(Item(both, Const(0)), name)
        for position, state in enumerate(states):
            self.out.bind(state, self.out.let(Item(both, Const(position + 1)), state))
        return result

    def stateful_function(self, name: str) -> Atom | None:
        """Write the making of a function that changes variables; None if it cannot be here."""
        names = self.names
        if name not in names.locals and name == names.itself:
            return self.out.load(name)
        owner: Builder | None = self.out
        while owner is not None and name not in owner.names.locals:
            owner = owner.around
        recipe = recipe_of(owner.env.get(name)) if owner is not None else None
        if recipe is None or (owner is not self.out and any(
            name in names.locals and name not in names.states for name in recipe.captures
        )):
            return None
        return self.out.used_function(name, recipe)

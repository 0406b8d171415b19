"""Lowers a parsed function to the IR: one ``parse_<Node>`` per node type.

Variables are renamed so that each is defined once; ``break``, ``continue`` and early ``return``
become the structure of regions.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.comprehensions import Comprehensions
from adcompiler.frontend.control import Control
from adcompiler.frontend.expressions import Expressions
from adcompiler.frontend.forms import in_other_forms
from adcompiler.frontend.generators import Generators
from adcompiler.frontend.interface import NORMAL, RAISES, End
from adcompiler.frontend.names import assigned_after, assigned_around
from adcompiler.frontend.patterns import Patterns
from adcompiler.frontend.regions import Regions
from adcompiler.frontend.rewriting.generator_functions import (
    collected, is_generator, may_not_end, never_ends,
)
from adcompiler.frontend.rewriting.mutual import free_names, untangle
from adcompiler.frontend.rewriting.own_targets import rename_targets
from adcompiler.frontend.state import Recipe, State
from adcompiler.frontend.statements import Statements
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Closure, Const, Function, If, Param, Var,
)
from adcompiler.runtime import generated


def parse(node: gast.FunctionDef | gast.Lambda, file: str, lines: Mapping[int, str]) -> Function:
    """Lower ``node`` (a gast FunctionDef or Lambda with file positions) to a Function.

    ``lines`` maps line numbers of ``file`` to their text. Forms outside the language become
    ``Unsupported`` statements.
    """
    rename_targets(node)
    node = in_other_forms(node)
    return _FunctionParser(node, file, lines, None).function()


class _FunctionParser(
    Control, Statements, Expressions, Comprehensions, Generators, Patterns, Regions,
    State,
):
    """Lowers one function."""

    def function(self) -> Function:
        node = self.node
        name = getattr(node, "name", "lambda_")
        params = self.parameters(node.args)
        untangle(node)
        self.stateful = self.stateful_functions()
        end: End | None = None
        if isinstance(node, gast.Lambda):
            value = self.with_states(self.expression(node.body))
            doc = ""
        else:
            # gast 0.6 takes no docstring of what is async, which is refused anyway
            doc = gast.get_docstring(node) or "" if isinstance(node, gast.FunctionDef) else ""
            if isinstance(node, gast.AsyncFunctionDef):
                self.reject(node, rejected.STATEMENTS["AsyncFunctionDef"])
            if is_generator(node):
                value = self.generator(node)
            else:
                end = self.sequence(node.body, tail=False)
                value = self.returned(end)
        diverges = end is not None and end.may == {RAISES}
        body = Block(tuple(self.statements), (value,), diverges)
        return Function(
            name, params, body, self.locate(node), tuple(self.captures.values()), self.itself, doc,
            self.annotations(node),
        )

    def generator(self, node: gast.AST) -> Atom:
        """Lower a generator function: to a list of what it yields, which may be run through once.

        What it reads of its surroundings is noted beside it, as that may be written meanwhile.
        """
        given = list(self.env.values())
        if never_ends(node):
            return self.reject(node, rejected.GENERATOR_LEFT)
        end = self.sequence(collected(node, self.fresh("yielded")), tail=False)
        items = self.returned(end)
        outer = [self.load(name) for name in sorted(free_names(node)) if name not in self.locals]
        read = dict.fromkeys((*given, *self.captures.values(), *outer))
        return self.let(
            Call(Const(generated), (items, *read), (("ends", Const(not may_not_end(node))),)),
            "generator")

    def returned(self, end: End) -> Atom:
        if NORMAL not in end.may:
            return end.value
        if end.value is UNDEF:
            return self.with_states(NONE)
        fell = self.let(Call(Const(operator.eq), (end.code, Const(NORMAL))), "fell_through")
        result = Var("value", True)
        statements, _, none = self.region(lambda: self.with_states(NONE))
        self.statements.append(If(
            fell, Block(statements, (none,)), Block((), (end.value,)), (result,), self.origin
        ))
        return result

    def parameters(self, args: gast.arguments) -> tuple[Param, ...]:
        positional = [*args.posonlyargs, *args.args]
        first_default = len(positional) - len(args.defaults)
        params = []
        for index, name in enumerate(positional):
            kind = 0 if index < len(args.posonlyargs) else 1
            params.append(self.parameter(name, kind, index >= first_default))
        if args.vararg is not None:
            params.append(self.parameter(args.vararg, 2, False))
        for name, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
            params.append(self.parameter(name, 3, default is not None))
        if args.kwarg is not None:
            params.append(self.parameter(args.kwarg, 4, False))
        for state in self.states:
            var = Var(state)
            self.locals = {**self.locals, state: None}
            self.env[state] = var
            self.unsure.add(var)
            position = len(params) - (args.kwarg is not None)
            params.insert(position, Param(var, 3, False))
        return tuple(params)

    def parameter(self, name: gast.Name, kind: int, has_default: bool) -> Param:
        var = Var(name.id)
        self.env[name.id] = var
        return Param(var, kind, has_default)

    @staticmethod
    def annotations(node: gast.FunctionDef | gast.Lambda) -> dict[str, str]:
        args = node.args
        names = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        return {
            name.id: gast.unparse(name.annotation).strip()
            for name in names if name.annotation is not None
        }

    def nested(self, node: Any, name: str | None) -> Atom:
        """Lower a nested function and return the closure made of it."""
        child = _FunctionParser(node, self.file, self.lines, self)
        child.states = self.changed_by(node, self.stateful)
        function = child.function()
        defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        later = assigned_after(self.node, node) | self.written_by_others()
        late = tuple(n for n in child.captures if n in later or self.is_late(n))
        if is_generator(node) and (late or child.states):
            return self.reject(node, rejected.REBOUND_GENERATOR, name=(*late, *child.states)[0])
        if name is not None and (late or child.states) and not getattr(node, "decorator_list", ()):
            return Const(Recipe(
                function, tuple(child.captures), tuple(map(self.expression, defaults)), late,
                child.states, node,
            ))
        if child.states:
            return self.reject(node, rejected.ESCAPING_STATE, name=child.states[0])
        late = late or tuple(
            captured for captured, kept in assigned_around(self.node, node).items()
            if captured in child.captures
            and (kept or self.is_unsure(self.env.get(captured, UNDEF)))
        )
        if late:
            self.reject(node, rejected.REBOUND_CAPTURE, name=late[0])
        captures = tuple(map(self.handed_to_closure, child.captures))
        return self.let(
            Closure(function, captures, tuple(map(self.expression, defaults))), name or "function"
        )

    def is_late(self, name: str) -> bool:
        """Say whether ``name`` is a function that is made where it is used."""
        known = self.env.get(name)
        return isinstance(known, Const) and isinstance(known.value, Recipe)

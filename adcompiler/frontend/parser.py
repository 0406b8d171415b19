"""Lowers a parsed function to the IR: one ``parse_<Node>`` per node type.

Variables are renamed so that each is defined once; ``break``, ``continue`` and early ``return``
become the structure of regions.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.try_statements import Attempts
from adcompiler.frontend.building import Builder
from adcompiler.frontend.calls import Calls
from adcompiler.frontend.comprehensions import Comprehensions
from adcompiler.frontend.control import Control, Loops
from adcompiler.frontend.expressions import Expressions
from adcompiler.frontend.forms import in_other_forms
from adcompiler.frontend.generators import Generators
from adcompiler.frontend.interface import NORMAL, RAISES, End, Recipe, Steps, recipe_of
from adcompiler.frontend.lowering import Lowering
from adcompiler.frontend.names import FunctionNode, assigned_after, assigned_around, mark_outer
from adcompiler.frontend.patterns import Patterns
from adcompiler.frontend.regions import Regions
from adcompiler.frontend.rewriting.generator_functions import (
    collected, is_generator, may_not_end, never_ends,
)
from adcompiler.frontend.rewriting.recursive_closures import free_names, untangle
from adcompiler.frontend.rewriting.own_targets import rename_targets
from adcompiler.frontend.state import Names
from adcompiler.frontend.statements import Statements
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Closure, Const, Function, Param, Var,
)
from adcompiler.runtime import generated


def parse(node: FunctionNode, file: str, lines: Mapping[int, str]) -> Function:
    """Lower ``node`` (a gast FunctionDef or Lambda with file positions) to a Function.

    ``lines`` maps line numbers of ``file`` to their text. Forms outside the language become
    ``Unsupported`` statements.
    """
    rename_targets(node)
    node = in_other_forms(node)
    mark_outer(node)
    return FunctionParser(node, file, lines, None).function()


class FunctionParser:
    """Lowers one function: makes what lowers its parts, and its parameters and result."""

    def __init__(
        self, node: FunctionNode, file: str, lines: Mapping[int, str],
        around: Builder | None,
    ) -> None:
        untangle(node)
        self.node = node
        self.names = Names(node, None if around is None else around.names)
        self.out = out = Builder(self.names, file, lines, around)
        self.lower = lower = Lowering(out)
        control = Control(out, lower, Patterns(out, lower), lambda step: attempts.tried(step))
        attempts = Attempts(out, lower, control.sequence)
        comprehensions = Comprehensions(out, lower)
        generators = Generators(out, lower, comprehensions)
        lower.parts = (
            self, control, control.patterns, Loops(out, lower, control.sequence),
            Regions(out, lower, control.sequence, attempts), Statements(out, lower, self.nested),
            Expressions(out, lower), Calls(out, lower, generators), comprehensions, generators,
        )
        self.sequence: Steps = control.sequence

    def function(self) -> Function:
        node = self.node
        name = getattr(node, "name", "lambda_")
        params = self.parameters(node.args)
        end: End | None = None
        if isinstance(node, gast.Lambda):
            value = self.out.with_states(self.lower.expression(node.body))
            doc = ""
        else:
            # gast 0.6 takes no docstring of what is async, which is refused anyway
            doc = gast.get_docstring(node) or "" if isinstance(node, gast.FunctionDef) else ""
            if isinstance(node, gast.AsyncFunctionDef):
                self.out.reject(node, rejected.STATEMENTS["AsyncFunctionDef"])
            if is_generator(node):
                value = self.generator(node)
            else:
                end = self.sequence(node.body, False)
                value = self.returned(end)
        diverges = end is not None and end.may == {RAISES}
        body = Block(tuple(self.out.statements), (value,), diverges)
        return Function(
            name, params, body, self.out.locate(node), tuple(self.out.captures.values()),
            self.out.itself, doc, self.annotations(node),
        )

    def generator(self, node: gast.FunctionDef) -> Atom:
        """Lower a generator function: to a list of what it yields, which may be run through once.

        What it reads of its surroundings is noted beside it, as that may be written meanwhile.
        """
        given = list(self.out.env.values())
        if never_ends(node):
            return self.out.reject(node, rejected.GENERATOR_LEFT)
        end = self.sequence(collected(node, self.names.fresh("yielded")), False)
        items = self.returned(end)
        outer = [
            self.out.load(name) for name in sorted(free_names(node))
            if name not in self.names.locals
        ]
        read = dict.fromkeys((*given, *self.out.captures.values(), *outer))
        return self.out.let(
            Call(Const(generated), (items, *read), (("ends", Const(not may_not_end(node))),)),
            "generator")

    def returned(self, end: End) -> Atom:
        if NORMAL not in end.may:
            return end.value
        if end.value is UNDEF:
            return self.out.with_states(NONE)
        fell = self.out.is_code(end.code, NORMAL, "fell_through")
        return self.out.choose(fell, lambda: self.out.with_states(NONE), lambda: end.value)

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
        for state in self.names.states:
            var = Var(state)
            self.out.env[state] = var
            self.out.unsure.add(var)
            position = len(params) - (args.kwarg is not None)
            params.insert(position, Param(var, 3, False))
        return tuple(params)

    def parameter(self, name: gast.Name, kind: int, has_default: bool) -> Param:
        var = Var(name.id)
        self.out.env[name.id] = var
        return Param(var, kind, has_default)

    @staticmethod
    def annotations(node: FunctionNode) -> dict[str, str]:
        args = node.args
        names = [*args.posonlyargs, *args.args, *args.kwonlyargs]
        return {
            name.id: gast.unparse(name.annotation).strip()
            for name in names if name.annotation is not None
        }

    def parse_FunctionDef(self, node: gast.FunctionDef) -> None:
        value = self.nested(node, node.name)
        for decorator in reversed(node.decorator_list):
            value = self.out.let(Call(self.lower.expression(decorator), (value,)), node.name)
        self.out.bind(node.name, value)

    def parse_Lambda(self, node: gast.Lambda) -> Atom:
        return self.nested(node, None)

    def nested(self, node: FunctionNode, name: str | None) -> Atom:
        """Lower a nested function and return the closure made of it."""
        child = FunctionParser(node, self.out.file, self.out.lines, self.out)
        function = child.function()
        names, states = child.out.captures, child.names.states
        defaults = [*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)]
        later = assigned_after(self.node, node) | self.names.written_by_others()
        late = tuple(
            n for n in names if n in later or recipe_of(self.out.env.get(n)) is not None)
        if is_generator(node) and (late or states):
            return self.out.reject(node, rejected.REBOUND_GENERATOR, name=(*late, *states)[0])
        if name is not None and (late or states) and not getattr(node, "decorator_list", ()):
            return Const(Recipe(
                function, tuple(names), tuple(map(self.lower.expression, defaults)), late, states,
                node,
            ))
        if states:
            return self.out.reject(node, rejected.ESCAPING_STATE, name=states[0])
        late = late or tuple(
            captured for captured, kept in assigned_around(self.node, node).items()
            if captured in names
            and (kept or self.out.is_unsure(self.out.env.get(captured, UNDEF)))
        )
        if late:
            self.out.reject(node, rejected.REBOUND_CAPTURE, name=late[0])
        captures = tuple(map(self.out.handed_to_closure, names))
        given = tuple(map(self.lower.expression, defaults))
        return self.out.let(Closure(function, captures, given), name or "function")

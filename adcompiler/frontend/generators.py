"""Lowers generator expressions: to the loop that runs over them, or to a list made at once.

A generator expression that a ``for`` runs over becomes part of that loop; ``any``, ``all`` and
``next`` become loops that stop where they would. Elsewhere the elements are computed at once, into
a list that may be run through once, as a generator may.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from typing import TypeGuard

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.comprehensions import Comprehensions
from adcompiler.frontend.lowering import Lowering, Part
from adcompiler.frontend.names import assigned_after, assigned_names
from adcompiler.frontend.rewriting.source_map import assigned, placed, read, rename
from adcompiler.ir.nodes import Atom, Call, Const
from adcompiler.runtime import dict_of, generated

SHORT: dict[str, Callable[..., object]] = {"any": any, "all": all, "next": next}
Fresh = Callable[[str, gast.GeneratorExp], str]
"""Returns a name that a function has not outside of a generator expression."""


class Generators(Part):
    """Lowers generator expressions and the calls that stop before their end."""

    def __init__(self, out: Builder, lower: Lowering, comprehensions: Comprehensions) -> None:
        super().__init__(out, lower)
        self.comprehensions = comprehensions

    def parse_GeneratorExp(self, node: gast.GeneratorExp) -> Atom:
        later = assigned_after(self.names.node, node) | self.names.written_by_others()
        for name in names_read(node):
            if name in later:
                return self.out.reject(node, rejected.REBOUND_GENERATOR, name=name)
        items = self.listed(node)
        read = [self.out.env[n.id] for n in gast.walk(node) if isinstance(n, gast.Name)
                and n.id in self.names.locals and n.id in self.out.env]
        return self.out.let(Call(Const(generated), (items, *dict.fromkeys(read))), "generator")

    def listed(self, node: gast.GeneratorExp) -> Atom:
        """Lower a generator expression to a list of its elements."""
        return self.comprehensions.comprehension(node.generators, [node.elt])[0]

    def call(self, node: gast.Call, function: Atom) -> Atom | None:
        """Lower a call of ``any``, ``all``, ``next`` or ``dict`` of a generator expression.

        Returns None for other calls.
        """
        if not isinstance(node.func, gast.Name) or node.keywords or not node.args:
            return None
        name, first = node.func.id, node.args[0]
        if not isinstance(first, gast.GeneratorExp) or self.names.binds(name):
            return None
        builtin: Callable[..., object]
        lower: Callable[[], Atom]
        if name in SHORT and len(node.args) == (1 if name != "next" else min(len(node.args), 2)):
            builtin, lower = SHORT[name], lambda: self.stopping(name, first, node)
        elif name == "dict" and len(node.args) == 1 and is_pair(first.elt):
            pair = first.elt.elts

            def table() -> Atom:
                entries = self.comprehensions.comprehension(first.generators, pair)
                return self.out.let(Call(Const(dict_of), tuple(entries)), "table")

            builtin, lower = dict, table
        else:
            return None

        def plain() -> Atom:
            items = self.listed(first)
            rest = tuple(map(self.lower.expression, node.args[1:]))
            return self.out.let(Call(function, (items, *rest)), name)

        test = self.out.let(Call(Const(operator.is_), (function, Const(builtin))), "test")
        return self.out.choose(test, lower, plain)

    def stopping(self, name: str, generator: gast.GeneratorExp, node: gast.Call) -> Atom:
        """Lower ``any``, ``all`` or ``next`` of a generator expression to a loop that stops."""
        shown = {"any": "found", "all": "every", "next": "item"}
        result = self.names.fresh(shown[name])
        generator = renamed(generator, self.names.fresh)
        element = generator.elt
        if name == "next":
            if len(node.args) == 2:
                self.out.bind(result, self.lower.expression(node.args[1]))
            inner: list[gast.stmt] = [assigned(result, element), gast.Break()]
        else:
            self.out.bind(result, Const(name == "all"))
            test = element if name == "any" else gast.UnaryOp(gast.Not(), element)
            inner = [gast.If(
                test, [assigned(result, gast.Constant(name == "any", None)), gast.Break()], []
            )]
        missing: list[gast.stmt] = []
        if name == "next" and len(node.args) == 1:
            missing = [gast.Raise(read("StopIteration"), None)]
        self.lower.statement(placed(nested_loops(generator.generators, inner, missing), node))
        return self.out.load(result)

def unrolled(node: gast.For, generator: gast.GeneratorExp, fresh: Fresh) -> gast.For:
    """Return ``for y in (e for x in xs if c)`` as ``for x in xs: if c: y = e; ...``."""
    generator = renamed(generator, fresh)
    (clause,) = generator.generators
    skips = [
        gast.If(gast.UnaryOp(gast.Not(), test), [gast.Continue()], []) for test in clause.ifs
    ]
    body = [*skips, gast.Assign([node.target], generator.elt, None), *node.body]
    return placed(gast.For(clause.target, clause.iter, body, node.orelse, None), node)


def renamed(generator: gast.GeneratorExp, fresh: Fresh) -> gast.GeneratorExp:
    """Return a generator expression with variables that no other code of the function has."""
    bound = [n for clause in generator.generators for n in assigned_names(clause.target)]
    mapping = {name: fresh(name, generator) for name in bound}
    outer = generator.generators[0].iter
    new = copy.deepcopy(generator)
    rename(new, mapping)
    new.generators[0].iter = outer
    return new


def names_read(generator: gast.GeneratorExp) -> list[str]:
    """Return the outer names that a generator expression reads while it runs."""
    bound = {n for clause in generator.generators for n in assigned_names(clause.target)}
    first = {id(n) for n in gast.walk(generator.generators[0].iter)}
    return list(dict.fromkeys(
        n.id for n in gast.walk(generator)
        if isinstance(n, gast.Name) and id(n) not in first and n.id not in bound
    ))


def nested_loops(
    clauses: Sequence[gast.comprehension], inner: list[gast.stmt], missing: list[gast.stmt]
) -> gast.For:
    """Return loops over ``clauses`` of which a ``break`` inside leaves all."""
    clause, *rest = clauses
    body = inner
    if rest:
        body = [nested_loops(rest, inner, [gast.Continue()]), gast.Break()]
    for test in reversed(clause.ifs):
        body = [gast.If(test, body, [])]
    return gast.For(clause.target, clause.iter, body, missing, None)


def is_pair(node: gast.AST) -> TypeGuard[gast.Tuple]:
    """Say whether an expression is a display of two values."""
    return isinstance(node, gast.Tuple) and len(node.elts) == 2 and not any(
        isinstance(element, gast.Starred) for element in node.elts
    )

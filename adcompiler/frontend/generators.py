"""Lowers generator expressions: to the loop that runs over them, or to a list made at once.

A generator expression that a ``for`` runs over becomes part of that loop; ``any``, ``all`` and
``next`` become loops that stop where they would. Elsewhere the elements are computed at once, into
a list that may be run through once, as a generator may.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.names import assigned_after, assigned_names
from adcompiler.frontend.rewriting.placing import placed, unused_name
from adcompiler.ir.nodes import Atom, Call, Const
from adcompiler.runtime import dict_of, generated

SHORT = {"any": any, "all": all, "next": next}


class Generators(Builder):
    """Lowers generator expressions and the calls that stop before their end."""

    def parse_GeneratorExp(self, node: gast.GeneratorExp) -> Atom:
        later = assigned_after(self.node, node) | self.written_by_others()
        for name in names_read(node):
            if name in later:
                return self.reject(node, rejected.REBOUND_GENERATOR, name=name)
        items = self.comprehension(node.generators, [node.elt])[0]
        read = [self.env[n.id] for n in gast.walk(node) if isinstance(n, gast.Name)
                and n.id in self.locals and n.id in self.env]
        return self.let(Call(Const(generated), (items, *dict.fromkeys(read))), "generator")

    def generator_call(self, node: Any, function: Atom) -> Atom | None:
        """Lower a call of ``any``, ``all``, ``next`` or ``dict`` of a generator expression.

        Returns None for other calls.
        """
        if not isinstance(node.func, gast.Name) or node.keywords or not node.args:
            return None
        name, first = node.func.id, node.args[0]
        if not isinstance(first, gast.GeneratorExp) or name in self.locals or self.binds(name):
            return None
        builtin: Any
        lower: Callable[[], Atom]
        if name in SHORT and len(node.args) == (1 if name != "next" else min(len(node.args), 2)):
            builtin, lower = SHORT[name], lambda: self.stopping(name, node)
        elif name == "dict" and len(node.args) == 1 and is_pair(first.elt):
            pair = first.elt.elts

            def table() -> Atom:
                entries = self.comprehension(first.generators, pair)
                return self.let(Call(Const(dict_of), tuple(entries)), "table")

            builtin, lower = dict, table
        else:
            return None

        def plain() -> Atom:
            items = self.comprehension(first.generators, [first.elt])[0]
            rest = tuple(map(self.expression, node.args[1:]))
            return self.let(Call(function, (items, *rest)), name)

        test = self.let(Call(Const(operator.is_), (function, Const(builtin))), "test")
        return self.choose(test, lower, plain)

    def stopping(self, name: str, node: gast.Call) -> Atom:
        """Lower ``any``, ``all`` or ``next`` of a generator expression to a loop that stops."""
        result = self.fresh("item" if name == "next" else "found" if name == "any" else "every")
        generator = self.renamed(node.args[0])
        element = generator.elt
        if name == "next":
            if len(node.args) == 2:
                self.bind(result, self.expression(node.args[1]))
            inner: list[Any] = [assignment(result, element), gast.Break()]
        else:
            self.bind(result, Const(name == "all"))
            test = element if name == "any" else gast.UnaryOp(gast.Not(), element)
            inner = [gast.If(
                test, [assignment(result, gast.Constant(name == "any", None)), gast.Break()], []
            )]
        missing: list[Any] = []
        if name == "next" and len(node.args) == 1:
            missing = [gast.Raise(gast.Name("StopIteration", gast.Load(), None, None), None)]
        self.loop(placed(nested_loops(generator.generators, inner, missing), node))
        return self.load(result)

    def unrolled_generator(self, node: Any) -> Any:
        """Return ``for y in (e for x in xs if c)`` as ``for x in xs: if c: y = e; ...``."""
        generator = self.renamed(node.iter)
        (clause,) = generator.generators
        skips = [
            gast.If(gast.UnaryOp(gast.Not(), test), [gast.Continue()], []) for test in clause.ifs
        ]
        body = [*skips, gast.Assign([node.target], generator.elt, None), *node.body]
        return placed(gast.For(clause.target, clause.iter, body, node.orelse, None), node)

    def renamed(self, generator: Any) -> Any:
        """Return a generator expression with variables that no other code of the function has."""
        bound = [n for clause in generator.generators for n in assigned_names(clause.target)]
        mapping = {name: self.fresh(name, generator) for name in bound}
        outer = generator.generators[0].iter
        new = copy.deepcopy(generator)
        for node in gast.walk(new):
            if isinstance(node, gast.Name) and node.id in mapping:
                node.id = mapping[node.id]
        new.generators[0].iter = outer
        return new

    def fresh(self, base: str, inside: gast.GeneratorExp | None = None) -> str:
        """Return a name for a local variable that the function has not outside of ``inside``."""
        own = {id(n) for n in gast.walk(inside)} if inside is not None else set()
        names = (n for n in gast.walk(self.node) if isinstance(n, gast.Name))
        name = unused_name(base, {n.id for n in names if id(n) not in own} | set(self.locals))
        self.locals = {**self.locals, name: None}
        return name


def names_read(generator: gast.GeneratorExp) -> list[str]:
    """Return the outer names that a generator expression reads while it runs."""
    bound = {n for clause in generator.generators for n in assigned_names(clause.target)}
    first = {id(n) for n in gast.walk(generator.generators[0].iter)}
    return list(dict.fromkeys(
        n.id for n in gast.walk(generator)
        if isinstance(n, gast.Name) and id(n) not in first and n.id not in bound
    ))


def nested_loops(
    clauses: Sequence[gast.comprehension], inner: list[Any], missing: list[Any]
) -> Any:
    """Return loops over ``clauses`` of which a ``break`` inside leaves all."""
    clause, *rest = clauses
    body = inner
    if rest:
        body = [nested_loops(rest, inner, [gast.Continue()]), gast.Break()]
    for test in reversed(clause.ifs):
        body = [gast.If(test, body, [])]
    return gast.For(clause.target, clause.iter, body, missing, None)


def assignment(name: str, value: Any) -> Any:
    """Return ``name = value``."""
    return gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None)


def is_pair(node: gast.AST) -> TypeGuard[gast.Tuple]:
    """Say whether an expression is a display of two values."""
    return isinstance(node, gast.Tuple) and len(node.elts) == 2 and not any(
        isinstance(element, gast.Starred) for element in node.elts
    )

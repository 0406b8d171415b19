"""Lowers expressions, comprehensions apart."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.building import Builder
from adcompiler.frontend.interface import End
from adcompiler.frontend.names import is_outer, may_change
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Call, Const, Format, Item, Pack, Slice, Star,
)
from adcompiler.ir.operators import BINARY, COMPARISONS, UNARY

OPERATORS = {one.node.__name__: one for one in (*BINARY, *UNARY, *COMPARISONS)}
CONSUMERS = frozenset({
    "sum", "min", "max", "any", "all", "list", "tuple", "set", "frozenset", "dict", "sorted",
    "join", "fsum", "prod", "array", "asarray",
})


class Expressions(Builder):
    """Lowers expressions."""

    def expression(self, node: Any) -> Atom:
        outer, self.origin = self.origin, self.locate(node)
        try:
            kind = type(node).__name__
            method = getattr(self, f"parse_{kind}", None)
            if method is not None:
                result: Atom = method(node)
                return result
            why = rejected.EXPRESSIONS.get(kind, rejected.OTHER_SYNTAX)
            return self.reject(node, why, name=kind)
        finally:
            self.origin = outer

    def parse_Constant(self, node: gast.Constant) -> Atom:
        return Const(node.value)

    def parse_Name(self, node: gast.Name) -> Atom:
        known = self.env.get(node.id)
        if isinstance(known, Const) and hasattr(known.value, "late"):
            return self.load(node.id) if self.check_lasting(node, known.value) else UNDEF
        if states := self.states_of(node.id):
            return self.reject(node, rejected.ESCAPING_STATE, name=states[0])
        return self.load(node.id, is_outer(node))

    def parse_NamedExpr(self, node: gast.NamedExpr) -> Atom:
        self.assign(node.target, self.expression(node.value))
        return self.load(node.target.id)

    def parse_Lambda(self, node: gast.Lambda) -> Atom:
        return self.nested(node, None)

    # -- operators -----------------------------------------------------------------------------

    def parse_BinOp(self, node: gast.BinOp) -> Atom:
        left, right = self.expression(node.left), self.expression(node.right)
        used = OPERATORS[type(node.op).__name__]
        return self.let(Call(Const(used.function), (left, right)), used.gives)

    def parse_UnaryOp(self, node: gast.UnaryOp) -> Atom:
        operand = self.expression(node.operand)
        used = OPERATORS[type(node.op).__name__]
        if isinstance(operand, Const) and isinstance(operand.value, (int, float, complex)):
            return Const(used.function(operand.value))
        return self.let(Call(Const(used.function), (operand,)), used.gives)

    def parse_Compare(self, node: gast.Compare) -> Atom:
        def chain(left: Atom, index: int) -> Atom:
            right = self.expression(node.comparators[index])
            result = self.compare(type(node.ops[index]).__name__, left, right)
            if index + 1 == len(node.ops):
                return result
            return self.choose(result, lambda: chain(right, index + 1), lambda: result)

        return chain(self.expression(node.left), 0)

    def compare(self, kind: str, left: Atom, right: Atom) -> Atom:
        if kind in OPERATORS:
            return self.let(Call(Const(OPERATORS[kind].function), (left, right)), "test")
        contained = self.let(Call(Const(operator.contains), (right, left)), "test")
        if kind == "In":
            return contained
        return self.let(Call(Const(operator.not_), (contained,)), "test")

    def parse_BoolOp(self, node: gast.BoolOp) -> Atom:
        is_and = isinstance(node.op, gast.And)

        def chain(nodes: Sequence[gast.expr]) -> Atom:
            first = self.expression(nodes[0])
            if len(nodes) == 1:
                return first

            def more() -> Atom:
                return chain(nodes[1:])

            def keep() -> Atom:
                return first

            return self.choose(first, more if is_and else keep, keep if is_and else more)

        return chain(node.values)

    def parse_IfExp(self, node: gast.IfExp) -> Atom:
        condition = self.expression(node.test)
        return self.choose(
            condition, lambda: self.expression(node.body), lambda: self.expression(node.orelse)
        )

    def choose(
        self, condition: Atom, then: Callable[[], Atom], orelse: Callable[[], Atom]
    ) -> Atom:
        """Lower a conditional expression: only the arm that is chosen is evaluated."""

        def arm(lower: Callable[[], Atom]) -> Callable[[], End]:
            def run() -> End:
                return End(value=lower())
            return run

        return self.arms(condition, arm(then), arm(orelse)).value

    # -- calls and subscripts ------------------------------------------------------------------

    def parse_Call(self, node: Any) -> Atom:
        stateful = self.stateful_call(node)
        if stateful is not None:
            return stateful
        by_name = isinstance(node.func, gast.Name)
        function = (
            self.load(node.func.id, is_outer(node.func)) if by_name else self.expression(node.func)
        )
        name = getattr(node.func, "attr", getattr(node.func, "id", "value"))
        special = self.generator_call(node, function)
        if special is not None:
            return special
        args: list[Atom | Star] = []
        for arg in node.args:
            if isinstance(arg, gast.GeneratorExp) and name in CONSUMERS:
                args.append(self.comprehension(arg.generators, [arg.elt])[0])
            else:
                args.append(self.element(arg))
        kwargs = tuple((k.arg, self.expression(k.value)) for k in node.keywords)
        return self.let(Call(function, tuple(args), kwargs), name)

    def element(self, node: gast.AST) -> Atom | Star:
        if isinstance(node, gast.Starred):
            return Star(self.expression(node.value))
        return self.expression(node)

    def parse_Attribute(self, node: gast.Attribute) -> Atom:
        return self.let(Attribute(self.expression(node.value), node.attr), node.attr)

    def parse_Subscript(self, node: gast.Subscript) -> Atom:
        obj = self.expression(node.value)
        return self.let(Item(obj, self.expression(node.slice)), "item")

    def parse_Slice(self, node: gast.Slice) -> Atom:
        parts = (self.optional(node.lower), self.optional(node.upper), self.optional(node.step))
        return self.let(Slice(*parts), "slice_")

    # -- displays ------------------------------------------------------------------------------

    def parse_Tuple(self, node: gast.Tuple) -> Atom:
        return self.let(Pack("tuple", tuple(map(self.element, node.elts))), "pair")

    def parse_List(self, node: gast.List) -> Atom:
        return self.let(Pack("list", tuple(map(self.element, node.elts))), "items")

    def parse_Set(self, node: gast.Set) -> Atom:
        items = self.let(Pack("set", tuple(map(self.element, node.elts))), "items")
        if not may_change(self.node, node):
            return items
        return self.let(Call(Const(set), (items,)), "items")

    def parse_Dict(self, node: gast.Dict) -> Atom:
        keys, items = [], []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(None if key is None else self.expression(key))
            items.append(self.expression(value))
        return self.let(Pack("dict", tuple(items), tuple(keys)), "table")

    def parse_JoinedStr(self, node: Any) -> Atom:
        parts: list[str | tuple[Atom, int, Atom]] = []
        for value in node.values:
            if isinstance(value, gast.Constant):
                parts.append(value.value)
            else:
                spec = self.optional(value.format_spec)
                parts.append((self.expression(value.value), value.conversion, spec))
        return self.let(Format(tuple(parts)), "text")

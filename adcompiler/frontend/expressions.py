"""Lowers expressions, calls and comprehensions apart."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import gast

from adcompiler.frontend import rejected
from adcompiler.frontend.interface import Recipe, recipe_of
from adcompiler.frontend.lowering import Part
from adcompiler.frontend.names import assigned_after, assigned_names, is_outer, may_change
from adcompiler.frontend.rewriting.walking import walk
from adcompiler.ir.nodes import UNDEF, Atom, Attribute, Call, Const, Format, Item, Pack, Slice
from adcompiler.ir.operators import BINARY, COMPARISONS, UNARY

OPERATORS = {one.node.__name__: one for one in (*BINARY, *UNARY, *COMPARISONS)}


class Expressions(Part):
    """Lowers expressions."""

    def parse_Constant(self, node: gast.Constant) -> Atom:
        return Const(node.value)

    def parse_Name(self, node: gast.Name) -> Atom:
        recipe = recipe_of(self.out.env.get(node.id))
        if recipe is not None:
            return self.out.load(node.id) if self.check_lasting(node, recipe) else UNDEF
        if states := self.names.states_of(node.id):
            return self.out.reject(node, rejected.ESCAPING_STATE, name=states[0])
        return self.out.load(node.id, is_outer(node))

    def check_lasting(self, node: gast.Name, recipe: Recipe) -> bool:
        """Refuse a function used as a value if its variables may change while it is kept.

        Returns whether it may be used.
        """
        if recipe.states:
            self.out.reject(node, rejected.ESCAPING_STATE, name=recipe.states[0])
            return False
        later = assigned_after(self.names.node, node) | self.names.written_by_others()
        for loop in walk(self.names.node):
            if isinstance(loop, (gast.For, gast.While)) and (
                loop.lineno <= node.lineno <= (loop.end_lineno or 0)
            ):
                later |= set(assigned_names(loop))
        for name in recipe.late:
            if name in later:
                self.out.reject(recipe.node, rejected.REBOUND_CAPTURE, name=name)
                return False
        return True

    def parse_NamedExpr(self, node: gast.NamedExpr) -> Atom:
        self.out.bind(node.target.id, self.lower.expression(node.value))
        return self.out.load(node.target.id)

    # -- operators -----------------------------------------------------------------------------

    def parse_BinOp(self, node: gast.BinOp) -> Atom:
        left, right = self.lower.expression(node.left), self.lower.expression(node.right)
        used = OPERATORS[type(node.op).__name__]
        return self.out.let(Call(Const(used.function), (left, right)), used.gives)

    def parse_UnaryOp(self, node: gast.UnaryOp) -> Atom:
        operand = self.lower.expression(node.operand)
        used = OPERATORS[type(node.op).__name__]
        if isinstance(operand, Const) and isinstance(operand.value, (int, float, complex)):
            return Const(used.function(operand.value))
        return self.out.let(Call(Const(used.function), (operand,)), used.gives)

    def parse_Compare(self, node: gast.Compare) -> Atom:
        def chain(left: Atom, index: int) -> Atom:
            right = self.lower.expression(node.comparators[index])
            result = self.compare(type(node.ops[index]).__name__, left, right)
            if index + 1 == len(node.ops):
                return result
            return self.out.choose(result, lambda: chain(right, index + 1), lambda: result)

        return chain(self.lower.expression(node.left), 0)

    def compare(self, kind: str, left: Atom, right: Atom) -> Atom:
        if kind in OPERATORS:
            return self.out.let(Call(Const(OPERATORS[kind].function), (left, right)), "test")
        contained = self.out.let(Call(Const(operator.contains), (right, left)), "test")
        if kind == "In":
            return contained
        return self.out.let(Call(Const(operator.not_), (contained,)), "test")

    def parse_BoolOp(self, node: gast.BoolOp) -> Atom:
        is_and = isinstance(node.op, gast.And)

        def chain(nodes: Sequence[gast.expr]) -> Atom:
            first = self.lower.expression(nodes[0])
            if len(nodes) == 1:
                return first

            def more() -> Atom:
                return chain(nodes[1:])

            def keep() -> Atom:
                return first

            return self.out.choose(first, more if is_and else keep, keep if is_and else more)

        return chain(node.values)

    def parse_IfExp(self, node: gast.IfExp) -> Atom:
        condition = self.lower.expression(node.test)
        return self.out.choose(
            condition,
            lambda: self.lower.expression(node.body), lambda: self.lower.expression(node.orelse),
        )

    # -- attributes and subscripts ------------------------------------------------------------

    def parse_Attribute(self, node: gast.Attribute) -> Atom:
        return self.out.let(Attribute(self.lower.expression(node.value), node.attr), node.attr)

    def parse_Subscript(self, node: gast.Subscript) -> Atom:
        obj = self.lower.expression(node.value)
        return self.out.let(Item(obj, self.lower.expression(node.slice)), "item")

    def parse_Slice(self, node: gast.Slice) -> Atom:
        parts = map(self.lower.optional, (node.lower, node.upper, node.step))
        return self.out.let(Slice(*parts), "slice_")

    # -- displays ------------------------------------------------------------------------------

    def parse_Tuple(self, node: gast.Tuple) -> Atom:
        return self.out.let(Pack("tuple", tuple(map(self.lower.element, node.elts))), "pair")

    def parse_List(self, node: gast.List) -> Atom:
        return self.out.let(Pack("list", tuple(map(self.lower.element, node.elts))), "items")

    def parse_Set(self, node: gast.Set) -> Atom:
        items = self.out.let(Pack("set", tuple(map(self.lower.element, node.elts))), "items")
        if not may_change(self.names.node, node):
            return items
        return self.out.let(Call(Const(set), (items,)), "items")

    def parse_Dict(self, node: gast.Dict) -> Atom:
        keys, items = [], []
        for key, value in zip(node.keys, node.values, strict=True):
            keys.append(None if key is None else self.lower.expression(key))
            items.append(self.lower.expression(value))
        return self.out.let(Pack("dict", tuple(items), tuple(keys)), "table")

    def parse_JoinedStr(self, node: gast.JoinedStr) -> Atom:
        parts: list[str | tuple[Atom, int, Atom]] = []
        for value in node.values:
            if isinstance(value, gast.Constant):
                parts.append(value.value)
            elif isinstance(value, gast.FormattedValue):
                spec = self.lower.optional(value.format_spec)
                parts.append((self.lower.expression(value.value), value.conversion, spec))
        return self.out.let(Format(tuple(parts)), "text")

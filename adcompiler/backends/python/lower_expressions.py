"""Lowers right-hand sides and atoms to expressions of plain ``ast``, put together again."""

from __future__ import annotations

import ast
import operator
from types import ModuleType
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.backends.python.free_names import free_name
from adcompiler.backends.python.fusion import Fusion
from adcompiler.backends.python.naming import Names
from adcompiler.backends.python.references import References, names_in
from adcompiler.backends.python.tapes import Tapes
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Format, Function, Global, If, Item, Let, Loop,
    Origin, Pack, Rhs, Slice, Star, Var, unstar,
)
from adcompiler.ir.operators import BINARY, COMPARISONS, UNARY
from adcompiler.ir.visit import is_short_circuit
from adcompiler.ops.queries import numeric_method
from adcompiler.ops.registry import hashable
from adcompiler.runtime import choose, not_callable, noted_value, read_global, told
from adcompiler.typed.unit import Unit

ONE_BY_ONE = ("reshape", "transpose")
"""Methods that take the items of a tuple one by one, which is how they are written."""
OF_METHODS = (t.Array, t.Scalar, t.Unknown)
"""Types of what methods of arrays are written as methods of."""
NODES: dict[Any, Any] = {
    **{one.function: one.node for one in (*BINARY, *COMPARISONS, *UNARY)},
    **{one.in_place: one.node for one in BINARY},
}
"""The classes of ``ast`` for operators."""


class Expressions:
    """Lowers the expressions of one function; values written where they are used wait for that.

    ``origins`` tells which statements expressions come from.
    """

    def __init__(
        self, function: Function, unit: Unit, references: References, purity: Purity,
        keeps_parameters: bool = False,
    ) -> None:
        self.function = function
        self.unit = unit
        self.references = references
        self.tapes = Tapes(function.body, unit)
        self.fusion = Fusion(function, unit, purity)
        self.names = Names(function, unit, self.tapes, self.fusion, names_in(function.body),
                           keeps_parameters)
        self.uses = self.fusion.uses
        self.waiting: dict[Var, ast.expr] = {}
        self.origins: list[tuple[ast.expr, Origin]] = []
        self.entries: set[Var] = set()  # tuples that loops take apart in their targets

    # -- atoms ---------------------------------------------------------------------------------

    def store(self, var: Var) -> ast.expr:
        return ast.Name(self.names[var], ast.Store())

    def discard(self) -> ast.expr:
        """Return the target of what nobody reads."""
        return ast.Name(self.names.discard, ast.Store())

    def load(self, var: Var) -> ast.expr:
        tape = self.tapes.of_collect.get(var)
        if tape is not None:
            var = tape.name
        return ast.Name(self.names[var], ast.Load())

    def atom(self, atom: Any) -> ast.expr:
        if isinstance(atom, Star):
            return ast.Starred(self.atom(atom.atom), ast.Load())
        if isinstance(atom, Const):
            if isinstance(atom.value, ModuleType):  # may have a __getattr__ that raises
                return self.references.expression(atom.value)
            role = getattr(atom.value, "role", None)
            if role is not None:
                return free_name(atom.value.name)
            if hasattr(atom.value, "recursive") and hasattr(atom.value, "key"):
                return free_name(atom.value.primal_name)
            return self.references.expression(atom.value)
        if atom in self.waiting:
            return as_value(self.waiting.pop(atom))
        return self.load(atom)

    def names_differ(self, a: Atom, b: Atom) -> bool:
        return not (isinstance(a, Var) and isinstance(b, Var) and self.names[a] == self.names[b])

    # -- right-hand sides ----------------------------------------------------------------------

    def value(self, rhs: Rhs, origin: Origin) -> ast.expr:
        """Return the expression of a statement."""
        found = self.rhs(rhs)
        self.origins.append((found, origin))
        return found

    def rhs(self, rhs: Rhs) -> ast.expr:
        match rhs:
            case Call():
                return self.call(rhs)
            case Item(obj, index):
                return ast.Subscript(self.atom(obj), self.index(index), ast.Load())
            case Attribute(obj, name):
                return ast.Attribute(self.atom(obj), name, ast.Load())
            case Pack():
                return self.pack(rhs)
            case Slice(lower, upper, step):
                return ast.Slice(*(
                    None if isinstance(p, Const) and p.value is None else self.atom(p)
                    for p in (lower, upper, step)
                ))
            case Global(module, path):
                return ast.Attribute(self.references.module(module), path, ast.Load())
            case Format(parts):
                return self.text(parts)
            case Closure(function):
                make = self.references.expression(not_callable)
                return ast.Call(make, [ast.Constant(function.name)], [])
        raise AssertionError(rhs)

    def call(self, rhs: Call) -> ast.expr:
        function = rhs.func.value if isinstance(rhs.func, Const) else None
        args = rhs.args
        if hashable(function) and not rhs.kwargs:
            if function is read_global and isinstance(args[0], Const):
                assert isinstance(args[1], Const)
                return ast.Attribute(self.atom(args[0]), args[1].value, ast.Load())
            if function is noted_value:
                return ast.Subscript(self.atom(args[0]), ast.Constant(0), ast.Load())
            if function is choose and len(args) == 3:
                test, body, orelse = (self.atom(a) for a in args)
                return ast.IfExp(test, body, orelse)
            node = NODES.get(function, ast.AST)
            if issubclass(node, (ast.operator, ast.cmpop)) and len(args) == 2:
                left, right = (self.atom(a) for a in args)
                if issubclass(node, ast.operator):
                    return ast.BinOp(left, node(), right)
                return ast.Compare(left, [node()], [right])
            if issubclass(node, ast.unaryop) and len(args) == 1:
                return self.unary(node, self.atom(args[0]))
            if function is operator.contains and len(args) == 2:
                container, item = (self.atom(a) for a in args)
                return ast.Compare(item, [ast.In()], [container])
        method = numeric_method(function)
        if method is not None and args and (
            isinstance(self.unit.type(unstar(args[0])), OF_METHODS)
        ):
            func: ast.expr = ast.Attribute(self.atom(args[0]), method, ast.Load())
            args = args[1:]
        elif function is told:
            func, args = self.atom(args[0]), args[1:]
        else:
            func = self.atom(rhs.func)
        values = [self.atom(a) for a in args]
        if method in ONE_BY_ONE and values and isinstance(values[0], ast.Tuple):
            values = values[0].elts if len(values[0].elts) > 1 else values
        keywords = [ast.keyword(key, self.atom(value)) for key, value in rhs.kwargs]
        return ast.Call(func, values, keywords)

    @staticmethod
    def unary(node: type[ast.unaryop], operand: ast.expr) -> ast.expr:
        if node is ast.Not and isinstance(operand, ast.Compare) and (
            len(operand.ops) == 1 and isinstance(operand.ops[0], (ast.In, ast.NotIn))
        ):
            other = ast.NotIn() if isinstance(operand.ops[0], ast.In) else ast.In()
            return ast.Compare(operand.left, [other], operand.comparators)
        return ast.UnaryOp(node(), operand)

    def pack(self, rhs: Pack) -> ast.expr:
        if rhs.kind == "dict":
            keys = [None if k is None else self.atom(k) for k in rhs.keys]
            return ast.Dict(keys, [self.atom(i) for i in rhs.items])
        if rhs.kind == "tuple":
            return ast.Tuple([
                self.atom(i) if isinstance(i, Star) else self.index(i) if self.is_index(i)
                else self.atom(i) for i in rhs.items
            ], ast.Load())
        items = [self.atom(item) for item in rhs.items]
        if rhs.kind == "list":
            return ast.List(items, ast.Load())
        return ast.Set(items)

    def text(self, parts: Any) -> ast.expr:
        values: list[ast.expr] = []
        for part in parts:
            if isinstance(part, str):
                values.append(ast.Constant(part))
                continue
            value, conversion, spec = part
            shown = None if isinstance(spec, Const) and spec.value is None else self.atom(spec)
            if shown is not None and not isinstance(shown, ast.JoinedStr):
                plain = isinstance(shown, ast.Constant)
                shown = ast.JoinedStr([shown if plain else ast.FormattedValue(shown, -1, None)])
            values.append(ast.FormattedValue(self.atom(value), conversion, shown))
        return ast.JoinedStr(values)

    # -- subscripts ----------------------------------------------------------------------------

    def index(self, atom: Atom) -> ast.expr:
        """Return a subscript: slices are written with colons."""
        if isinstance(atom, Const):
            return self.index_constant(atom.value)
        return self.waiting.pop(atom) if atom in self.waiting else self.load(atom)

    def index_constant(self, value: Any) -> ast.expr:
        if isinstance(value, slice):
            return ast.Slice(*(
                None if part is None else self.references.expression(part)
                for part in (value.start, value.stop, value.step)
            ))
        if isinstance(value, tuple) and value:
            return ast.Tuple([self.index_constant(part) for part in value], ast.Load())
        if value is None:
            return ast.Attribute(self.references.module("numpy"), "newaxis", ast.Load())
        return self.references.expression(value)

    def is_index(self, atom: Atom) -> bool:
        """Say whether an element of a tuple is a slice, written with colons in a subscript."""
        if isinstance(atom, Const):
            return isinstance(atom.value, slice)
        return isinstance(self.waiting.get(atom), ast.Slice)

    # -- branches and loops --------------------------------------------------------------------

    def conditional(self, node: If) -> ast.expr:
        """Return the conditional expression that a branch is."""
        if is_short_circuit(node):
            condition = self.atom(node.condition)
            if node.then.yields[0] is node.condition and not node.then.statements:
                return ast.BoolOp(ast.Or(), flat(ast.Or, condition, self.value_of(node.orelse)))
            return ast.BoolOp(ast.And(), flat(ast.And, condition, self.value_of(node.then)))
        then, orelse = self.value_of(node.then), self.value_of(node.orelse)
        return ast.IfExp(self.atom(node.condition), then, orelse)

    def value_of(self, block: Block) -> ast.expr:
        """Return the expression that a block of fused values yields."""
        for statement in block.statements:
            assert isinstance(statement, Let)
            self.waiting[statement.target] = self.value(statement.rhs, statement.origin)
        return self.atom(block.yields[0])

    def comprehension(self, node: Loop) -> ast.expr:
        """Return the list comprehension that a loop is."""
        iterable = self.loop_iterable(node)
        for statement in node.body.statements:
            assert isinstance(statement, Let)
            self.waiting[statement.target] = self.value(statement.rhs, statement.origin)
        element = self.atom(node.collected()[0])
        generator = ast.comprehension(self.loop_target(node), iterable, [], 0)
        return ast.ListComp(element, [generator])

    def loop_target(self, node: Loop) -> ast.expr:
        targets: list[ast.expr] = [
            self.taken_apart(node, item)
            or (self.store(item) if self.uses.get(item) else self.discard())
            for item in node.items
        ]
        shaped = []
        for group in self.tapes.groups(node):
            inner = [targets[i] for i in group]
            shaped.append(inner[0] if len(inner) == 1 else ast.Tuple(inner, ast.Store()))
        return shaped[0] if len(shaped) == 1 else ast.Tuple(shaped, ast.Store())

    def taken_apart(self, node: Loop, item: Var) -> ast.expr | None:
        """Return the targets of a tuple that a loop runs over, None if it has a name itself."""
        if item not in self.unit.naming.opened:
            return None
        targets: list[ast.expr] = [self.discard() for _ in range(self.unit.naming.opened[item])]
        found = 0
        for statement in node.body.statements:
            match statement:
                case Let(target, Item(obj, Const(int() as i))) if obj in self.unit.naming.opened:
                    if obj is item:
                        targets[i] = self.store(target)
                        found += 1
                case _:
                    break
        if self.uses.get(item, 0) != found:
            return None
        self.entries.add(item)
        return ast.Tuple(targets, ast.Store())

    def loop_iterable(self, node: Loop) -> ast.expr:
        groups = self.tapes.groups(node)
        parts = [self.atom(node.iterables[group[0]]) for group in groups]
        for group in groups:
            for i in group[1:]:
                self.atom(node.iterables[i])
        if len(parts) == 1:
            return parts[0]
        first = self.unit.definition(node.iterables[0])
        if len(parts) == 2 and isinstance(first, Call) and isinstance(first.func, Const) and (
            getattr(first.func.value, "__name__", "") == "count"
        ) and isinstance(count := parts[0], ast.Call):
            zero = not first.args or (isinstance(s := first.args[0], Const) and s.value == 0)
            args = [parts[1], *([] if zero else count.args)]
            return ast.Call(free_name("enumerate"), args, [])
        return ast.Call(free_name("zip"), parts, [])


def flat(kind: type[ast.boolop], left: ast.expr, right: ast.expr) -> list[ast.expr]:
    """Return the operands of a chain of ``and`` or of ``or``."""
    more = right.values if isinstance(right, ast.BoolOp) and isinstance(right.op, kind) else [right]
    return [left, *more]


def negated(condition: ast.expr) -> ast.expr:
    """Return the opposite of a condition."""
    opposite: dict[type[ast.cmpop], type[ast.cmpop]] = {
        ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
        ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    }
    if isinstance(condition, ast.UnaryOp) and isinstance(condition.op, ast.Not):
        return condition.operand
    if isinstance(condition, ast.Compare) and len(condition.ops) == 1:
        other = opposite.get(type(condition.ops[0]))
        if other is not None:
            return ast.Compare(condition.left, [other()], condition.comparators)
    return ast.UnaryOp(ast.Not(), condition)


def as_value(expression: ast.expr) -> ast.expr:
    """Return a subscript expression as a value: slices become calls of ``slice``."""
    if isinstance(expression, ast.Slice):
        parts = [part or ast.Constant(None) for part in (
            expression.lower, expression.upper, expression.step)]
        return ast.Call(free_name("slice"), parts, [])
    if isinstance(expression, ast.Tuple) and any(isinstance(e, ast.Slice) for e in expression.elts):
        return ast.Tuple([as_value(e) for e in expression.elts], ast.Load())
    return expression

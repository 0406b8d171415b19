"""Lowers IR functions to plain ``ast``: expressions are put together again, regions become blocks."""

from __future__ import annotations

import ast
import operator
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity, is_destructive
from adcompiler.emit.fusion import Fusion
from adcompiler.emit.layout import BlankLine, Comment
from adcompiler.emit.naming import Names
from adcompiler.emit.references import References, literal, names_in
from adcompiler.emit.tapes import Tape, Tapes, saved_at
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Do, Format, Function, Global, If, Item, Let,
    Loop, Origin, Pack, Raise, Rhs, Slice, Star, Statement, Undefined, Var, operands, unstar,
)
from adcompiler.ir.visit import direct_uses, is_short_circuit, walk
from adcompiler.runtime import add_at, append, drop_last, unpack, zeros_like
from adcompiler.transforms.unit import Unit

BINARY: dict[Any, type[ast.operator]] = {
    operator.add: ast.Add, operator.sub: ast.Sub, operator.mul: ast.Mult,
    operator.truediv: ast.Div, operator.floordiv: ast.FloorDiv, operator.mod: ast.Mod,
    operator.pow: ast.Pow, operator.matmul: ast.MatMult, operator.and_: ast.BitAnd,
    operator.or_: ast.BitOr, operator.xor: ast.BitXor, operator.lshift: ast.LShift,
    operator.rshift: ast.RShift, operator.iadd: ast.Add, operator.isub: ast.Sub,
    operator.imul: ast.Mult, operator.itruediv: ast.Div, operator.ifloordiv: ast.FloorDiv,
    operator.imod: ast.Mod, operator.ipow: ast.Pow, operator.imatmul: ast.MatMult,
    operator.iand: ast.BitAnd, operator.ior: ast.BitOr, operator.ixor: ast.BitXor,
    operator.ilshift: ast.LShift, operator.irshift: ast.RShift,
}
COMPARE: dict[Any, type[ast.cmpop]] = {
    operator.eq: ast.Eq, operator.ne: ast.NotEq, operator.lt: ast.Lt, operator.le: ast.LtE,
    operator.gt: ast.Gt, operator.ge: ast.GtE, operator.is_: ast.Is, operator.is_not: ast.IsNot,
}
UNARY: dict[Any, type[ast.unaryop]] = {
    operator.neg: ast.USub, operator.pos: ast.UAdd, operator.not_: ast.Not,
    operator.invert: ast.Invert,
}


class FunctionLowering:
    """Lowers one function."""

    def __init__(
        self, function: Function, unit: Unit, references: References, purity: Purity,
    ) -> None:
        self.function = function
        self.unit = unit
        self.references = references
        self.purity = purity
        self.tapes = Tapes(function.body, unit)
        self.fusion = Fusion(function, unit, purity)
        self.names = Names(function, unit, self.tapes, self.fusion, names_in(function.body))
        self.uses = self.fusion.uses
        self.read_unbound = read_unbound(function.body, self.hands_on)
        self.waiting: dict[Var, ast.expr] = {}
        self.out: list[ast.stmt] = []
        self.place: tuple[Any, ...] | None = None

    def lower(self, doc: str = "") -> ast.FunctionDef:
        """Return the function definition."""
        arguments = ast.arguments(
            [], [ast.arg(self.names[p.var]) for p in self.function.params], None, [], [], None, []
        )
        if doc:
            self.out.append(ast.Expr(ast.Constant(doc)))
        self.tail(self.function.body)
        body = self.out or [ast.Pass()]
        node = ast.FunctionDef(self.function.name, arguments, body, [], None, None)
        if "type_params" in ast.FunctionDef._fields:
            node.type_params = []  # type: ignore[attr-defined, unused-ignore]
        return node

    # -- blocks --------------------------------------------------------------------------------

    def tail(self, block: Block) -> None:
        """Lower a block whose yields are what the function returns."""
        statements = list(block.statements)
        last = statements[-1] if statements else None
        if isinstance(last, If) and self.returns_results(last, block):
            self.statements(statements[:-1])
            self.comment(last.origin)
            mapping = dict(zip(last.results, range(len(last.results)), strict=True))
            arms = []
            for arm in (last.then, last.orelse):
                yields = tuple(
                    arm.yields[mapping[a]] if isinstance(a, Var) and a in mapping else a
                    for a in block.yields
                )
                arms.append(Block(arm.statements, yields, arm.diverges))
            then = self.sub(lambda: self.tail(arms[0]))
            self.out.append(ast.If(self.atom(last.condition), then, []))
            self.tail(arms[1])
            return
        self.statements(statements)
        if not block.diverges:
            self.place_return(block)

    def returns_results(self, last: If, block: Block) -> bool:
        return bool(last.results) and any(a in last.results for a in block.yields) and all(
            self.uses.get(result, 0) == 1 for result in last.results
        ) and not any(
            isinstance(a, Var) and a not in last.results and self.fusion.is_fused(a)
            for a in block.yields
        )

    def place_return(self, block: Block) -> None:
        values = [self.atom(a) for a in block.yields]
        value = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
        self.out.append(ast.Return(value))

    def sub(self, lower: Any) -> list[ast.stmt]:
        """Return the statements that ``lower`` writes."""
        before, self.out = self.out, []
        place = self.place
        try:
            lower()
            return self.out or [ast.Pass()]
        finally:
            self.out = before
            self.place = place

    def statements(self, statements: Sequence[Statement]) -> None:
        """Lower statements; single-use temporaries wait to become part of their use."""
        position = 0
        while position < len(statements):
            opened = self.opened(statements, position)
            if opened == 0:
                self.statement(statements[position])
            position += max(opened, 1)

    def statement(self, statement: Statement) -> None:
        match statement:
            case Let(target, rhs, origin):
                self.let(target, rhs, origin)
            case Do(rhs, origin):
                self.comment(origin)
                self.out.append(ast.Expr(self.rhs(rhs)))
            case Raise(exception, cause, origin):
                self.comment(origin)
                nothing = isinstance(exception, Const) and exception.value is None
                source = isinstance(cause, Const) and cause.value is None
                self.out.append(ast.Raise(
                    None if nothing else self.atom(exception), None if source else self.atom(cause)
                ))
            case If():
                self.branch(statement)
            case Loop():
                self.loop(statement)

    def opened(self, statements: Sequence[Statement], position: int) -> int:
        """Write a tuple and the reads of its elements as one assignment; return how many went."""
        first = statements[position]
        if not isinstance(first, Let):
            return 0
        rhs = first.rhs
        source = rhs.obj if isinstance(rhs, Item) else first.target
        start = position if isinstance(rhs, Item) else position + 1
        if source not in self.unit.opened or not isinstance(source, Var):
            return 0
        count = self.unit.opened[source]
        targets: list[ast.expr] = [ast.Name("_", ast.Store()) for _ in range(count)]
        found = 0
        for statement in statements[start:]:
            if not (
                isinstance(statement, Let) and isinstance(statement.rhs, Item)
                and statement.rhs.obj is source and isinstance(statement.rhs.index, Const)
                and not self.fusion.is_fused(statement.target)
            ):
                break
            targets[statement.rhs.index.value] = self.store(statement.target)
            found += 1
        if not found or self.uses.get(source, 0) != found:
            return 0
        self.comment(first.origin)
        value = self.load(source) if start == position else self.unpacked(rhs)
        self.out.append(ast.Assign([ast.Tuple(targets, ast.Store())], value))
        return found + start - position

    def unpacked(self, rhs: Rhs) -> ast.expr:
        """Return what is assigned to several targets: what ``unpack`` takes apart, or the tuple."""
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is unpack:
            star = rhs.args[2]
            if isinstance(star, Const) and star.value < 0:
                return self.atom(rhs.args[0])
        return as_value(self.rhs(rhs))

    def let(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        if is_destructive(rhs):
            assert isinstance(rhs, Call)
            self.comment(origin)
            self.write_in_place(target, rhs)
            return
        expression = self.rhs(rhs)
        if self.fusion.is_fused(target):
            self.waiting[target] = expression
            return
        self.comment(origin)
        self.out.append(ast.Assign([self.store(target)], as_value(expression)))

    def write_in_place(self, target: Var, rhs: Call) -> None:
        """Write an update of storage that the emitted code owns, as the plain statement it is."""
        function = rhs.func.value  # type: ignore[union-attr]
        buffer = unstar(rhs.args[0])
        if self.names_differ(target, buffer):
            self.out.append(ast.Assign([self.store(target)], self.atom(buffer)))
        name = self.load(target)
        if function is append:
            call = ast.Call(ast.Attribute(name, "append", ast.Load()), [self.atom(rhs.args[1])], [])
            self.out.append(ast.Expr(call))
        elif function is drop_last:
            self.out.append(ast.Expr(ast.Call(ast.Attribute(name, "pop", ast.Load()), [], [])))
        else:
            self.add_at(target, buffer, unstar(rhs.args[1]), unstar(rhs.args[2]))

    def add_at(self, target: Var, buffer: Atom, index: Atom, g: Atom) -> None:
        kind = self.index_kind(index)
        type_ = self.unit.type(buffer)
        if isinstance(type_, t.Array) and kind in ("basic", "mask"):
            place = ast.Subscript(self.load(target), self.index(index), ast.Store())
            value = self.atom(g)
            if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
                self.out.append(ast.AugAssign(place, ast.Sub(), value.operand))
            else:
                self.out.append(ast.AugAssign(place, ast.Add(), value))
        elif isinstance(type_, t.List) and isinstance(type_.item, (t.Scalar, t.Array)) and (
            kind == "basic" and self.is_integer(index)
        ):
            where = self.index(index)
            place = ast.Subscript(self.load(target), where, ast.Store())
            old = ast.Subscript(self.load(target), where, ast.Load())
            self.out.append(ast.Assign([place], ast.BinOp(old, ast.Add(), self.atom(g))))
        elif isinstance(type_, t.Array) and kind == "gather":
            numpy = self.references.module("numpy")
            at = ast.Attribute(ast.Attribute(numpy, "add", ast.Load()), "at", ast.Load())
            self.out.append(ast.Expr(ast.Call(
                at, [self.load(target), self.atom(index), self.atom(g)], []
            )))
        else:
            call = ast.Call(
                self.references.expression(add_at),
                [self.load(target), self.atom(index), self.atom(g)], [],
            )
            self.out.append(ast.Assign([self.store(target)], call))

    def is_integer(self, index: Atom) -> bool:
        type_ = self.unit.type(index)
        return isinstance(type_, t.Scalar) and type_.kind == "int"

    def index_kind(self, index: Atom) -> str:
        """Return basic, mask (one boolean array), gather or unknown for a subscript."""
        rhs = self.unit.definition(index)
        if isinstance(rhs, Pack) and rhs.kind == "tuple":
            kinds = {self.index_kind(unstar(item)) for item in rhs.items}
            if self.picks_each_once(rhs):
                return "mask"
            return "basic" if kinds <= {"basic"} else "gather" if kinds <= {
                "basic", "gather"} else "unknown"
        if isinstance(index, Const):
            return "basic" if not isinstance(index.value, (list, bool)) else "unknown"
        match self.unit.type(index):
            case t.Scalar("int"):
                return "basic"
            case t.SliceType() | t.Static():
                return "basic"
            case t.Array() as array if array.kind == "bool":
                return "mask"
            case t.Array() as array if array.kind == "int":
                return "gather"
            case t.List(item) if isinstance(item, t.Scalar) and item.kind == "int":
                return "gather"
        return "unknown"

    def picks_each_once(self, rhs: Pack) -> bool:
        """Say whether index arrays never name an element twice: ``[np.arange(n), j]``."""
        arrays = [unstar(i) for i in rhs.items if isinstance(self.unit.type(unstar(i)), t.Array)]
        others = [unstar(i) for i in rhs.items if unstar(i) not in arrays]
        if any(self.index_kind(i) != "basic" for i in others) or not all(
            self.unit.type(a).ndim == 1 and self.unit.type(a).kind == "int" for a in arrays  # type: ignore[attr-defined]
        ):
            return False
        classes = {self.unit.shape_class(a) for a in arrays}
        return len(classes) == 1 and any(self.is_count(a) for a in arrays)

    def is_count(self, atom: Atom) -> bool:
        made = self.unit.definition(atom)
        return isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value is np.arange and len(made.args) == 1
        )

    # -- branches ------------------------------------------------------------------------------

    def branch(self, node: If) -> None:
        if node in self.fusion.conditionals:
            result = node.results[0]
            expression = self.conditional(node)
            if self.fusion.is_fused(result):
                self.waiting[result] = expression
                return
            self.comment(node.origin)
            self.out.append(ast.Assign([self.store(result)], expression))
            return
        self.comment(node.origin)
        condition = self.atom(node.condition)
        then = self.sub(lambda: self.arm(node, node.then))
        orelse = self.sub(lambda: self.arm(node, node.orelse))
        if is_nothing(orelse):
            orelse = []
        if is_nothing(then) and orelse:
            condition, then, orelse = negated(condition), orelse, []
        if is_nothing(then) and not orelse:
            return
        if node.then.diverges and orelse:
            self.out.append(ast.If(condition, then, []))
            self.out.extend(orelse)
            return
        if node.orelse.diverges and not is_nothing(orelse):
            self.out.append(ast.If(negated(condition), orelse, []))
            if not is_nothing(then):
                self.out.extend(then)
            return
        self.out.append(ast.If(condition, then, orelse))

    def arm(self, node: If, arm: Block) -> None:
        self.statements(arm.statements)
        if not arm.diverges:
            self.copies(node.results, arm.yields)

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
            self.waiting[statement.target] = self.rhs(statement.rhs)
        return self.atom(block.yields[0])

    def copies(self, targets: Sequence[Var], values: Sequence[Atom]) -> None:
        """Write the assignments that hand ``values`` to ``targets``, all at once if they cross."""
        pairs = []
        for target, value in zip(targets, values, strict=False):
            if isinstance(value, Const) and isinstance(value.value, Undefined) and (
                target not in self.read_unbound
            ):
                continue
            if isinstance(value, Var) and value not in self.waiting and not self.names_differ(
                target, value
            ):
                continue
            pairs.append((target, value))
        if not pairs:
            return
        if len(pairs) > 1 and self.crossing(pairs):
            stores = [self.store(target) for target, _ in pairs]
            loads = [self.atom(value) for _, value in pairs]
            self.out.append(ast.Assign(
                [ast.Tuple(stores, ast.Store())], ast.Tuple(loads, ast.Load())
            ))
            return
        for target, value in pairs:
            self.out.append(ast.Assign([self.store(target)], self.atom(value)))

    def crossing(self, pairs: Sequence[tuple[Var, Atom]]) -> bool:
        """Say whether an earlier copy would overwrite what a later one reads."""
        written: set[str] = set()
        for target, value in pairs:
            if isinstance(value, Var):
                if any(self.names[v] in written for v in self.fusion.read_through((value,))):
                    return True
            written.add(self.names[target])
        return False

    # -- loops ---------------------------------------------------------------------------------

    def loop(self, node: Loop) -> None:
        self.comment(node.origin)
        self.copies(node.params, node.inits)
        if node in self.fusion.comprehensions:
            items = self.comprehension(node)
            self.out.append(ast.Assign([self.store(node.collects[0])], items))
            return
        tapes = self.tapes.of_loop[node]
        for tape in tapes:
            self.out.append(ast.Assign([self.store(tape.name)], ast.List([], ast.Load())))
        if node.condition is None:
            target = self.loop_target(node)
            iterable = self.loop_iterable(node)
            body = self.sub(lambda: self.loop_body(node))
            self.out.append(ast.For(target, iterable, body, []))
        else:
            test = self.sub(lambda: self.statements(node.condition.statements))
            condition = self.atom(node.condition.yields[0])
            body = self.sub(lambda: self.loop_body(node))
            if not is_nothing(test):
                leave = ast.If(negated(condition), [ast.Break()], [])
                body = [*test, leave, *body]
                condition = ast.Constant(True)
            self.out.append(ast.While(condition, body, []))
        self.copies(node.results, node.params)

    def loop_target(self, node: Loop) -> ast.expr:
        read = {v for v, n in self.uses.items() if n}
        targets: list[ast.expr] = [
            self.store(item) if item in read else ast.Name("_", ast.Store()) for item in node.items
        ]
        shaped = []
        for group in self.tapes.groups(node):
            inner = [targets[i] for i in group]
            shaped.append(inner[0] if len(inner) == 1 else ast.Tuple(inner, ast.Store()))
        return shaped[0] if len(shaped) == 1 else ast.Tuple(shaped, ast.Store())

    def loop_iterable(self, node: Loop) -> ast.expr:
        groups = self.tapes.groups(node)
        parts = [self.atom(node.iterables[group[0]]) for group in groups]
        for group in groups:
            for i in group[1:]:
                self.atom(node.iterables[i])
        if len(parts) == 1:
            return parts[0]
        first = self.unit.definition(node.iterables[0])
        if len(parts) == 2 and isinstance(first, Call) and isinstance(first.func, Const) and getattr(
            first.func.value, "__name__", ""
        ) == "count":
            start = unstar(first.args[0]) if first.args else Const(0)
            args = [parts[1]]
            if not (isinstance(start, Const) and start.value == 0):
                args.append(self.atom(start))
            return ast.Call(ast.Name("enumerate", ast.Load()), args, [])
        return ast.Call(ast.Name("zip", ast.Load()), parts, [])

    def loop_body(self, node: Loop) -> None:
        statements = node.body.statements
        collected = dict(zip(node.collects, node.collected(), strict=True))
        places = saved_at(node, self.tapes.of_loop[node])
        stop = node.stop()
        start = 0
        for end in sorted({*places, len(statements)}):
            self.statements(statements[start:end])
            for tape in places.get(end, ()):
                self.append_to_tape(tape, collected)
            start = end
        if node.body.diverges:
            return
        if stop is None:
            self.copies(node.params, node.next_values())
            return
        condition = self.atom(stop)
        self.copies(node.params, node.next_values())
        if isinstance(stop, Const):
            self.out.append(ast.Break())
            return
        self.out.append(ast.If(condition, [ast.Break()], []))

    def append_to_tape(self, tape: Tape, collected: dict[Var, Atom]) -> None:
        values = [self.atom(collected[c]) for c in tape.collects]
        value = values[0] if len(values) == 1 else ast.Tuple(values, ast.Load())
        target = ast.Attribute(self.load(tape.name), "append", ast.Load())
        self.out.append(ast.Expr(ast.Call(target, [value], [])))

    def comprehension(self, node: Loop) -> ast.expr:
        """Return the list comprehension that a loop is."""
        iterable = self.loop_iterable(node)
        for statement in node.body.statements:
            assert isinstance(statement, Let)
            self.waiting[statement.target] = self.rhs(statement.rhs)
        element = self.atom(node.collected()[0])
        generator = ast.comprehension(self.loop_target(node), iterable, [], 0)
        return ast.ListComp(element, [generator])

    # -- expressions ---------------------------------------------------------------------------

    def names_differ(self, a: Atom, b: Atom) -> bool:
        return not (isinstance(a, Var) and isinstance(b, Var) and self.names[a] == self.names[b])

    def hands_on(self, target: Var, value: Var) -> bool:
        """Say whether handing ``value`` to ``target`` takes an assignment."""
        written = not any(self.fusion.is_fused(v) for v in (target, value))
        return written and self.names_differ(target, value)

    def store(self, var: Var) -> ast.expr:
        return ast.Name(self.names[var], ast.Store())

    def load(self, var: Var) -> ast.expr:
        tape = self.tapes.of_collect.get(var)
        if tape is not None:
            var = tape.name
        return ast.Name(self.names[var], ast.Load())

    def atom(self, atom: Any) -> ast.expr:
        if isinstance(atom, Star):
            return ast.Starred(self.atom(atom.atom), ast.Load())
        if isinstance(atom, Const):
            role = getattr(atom.value, "role", None)
            if role is not None:
                return ast.Name(atom.value.name, ast.Load())
            if hasattr(atom.value, "recursive") and hasattr(atom.value, "key"):
                return ast.Name(atom.value.primal_name, ast.Load())
            return self.references.expression(atom.value)
        if atom in self.waiting:
            return as_value(self.waiting.pop(atom))
        return self.load(atom)

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
                return ast.Constant(f"<function {function.name}>")
        raise AssertionError(rhs)

    def call(self, rhs: Call) -> ast.expr:
        function = rhs.func.value if isinstance(rhs.func, Const) else None
        args = rhs.args
        if _hashable(function) and not rhs.kwargs:
            if function in BINARY and len(args) == 2:
                left, right = (self.atom(a) for a in args)
                return ast.BinOp(left, BINARY[function](), right)
            if function in COMPARE and len(args) == 2:
                left, right = (self.atom(a) for a in args)
                return ast.Compare(left, [COMPARE[function]()], [right])
            if function in UNARY and len(args) == 1:
                return self.unary(function, self.atom(args[0]))
            if function is operator.contains and len(args) == 2:
                container, item = (self.atom(a) for a in args)
                return ast.Compare(item, [ast.In()], [container])
        func = self.atom(rhs.func)
        values = [self.atom(a) for a in args]
        keywords = [ast.keyword(key, self.atom(value)) for key, value in rhs.kwargs]
        return ast.Call(func, values, keywords)

    @staticmethod
    def unary(function: Any, operand: ast.expr) -> ast.expr:
        if function is operator.not_ and isinstance(operand, ast.Compare) and (
            len(operand.ops) == 1 and isinstance(operand.ops[0], (ast.In, ast.NotIn))
        ):
            other = ast.NotIn() if isinstance(operand.ops[0], ast.In) else ast.In()
            return ast.Compare(operand.left, [other], operand.comparators)
        return ast.UnaryOp(UNARY[function](), operand)

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

    def is_index(self, atom: Atom) -> bool:
        """Say whether an element of a tuple is a slice, written with colons in a subscript."""
        if isinstance(atom, Const):
            return isinstance(atom.value, slice)
        return isinstance(self.waiting.get(atom), ast.Slice)

    def text(self, parts: Any) -> ast.expr:
        values: list[ast.expr] = []
        for part in parts:
            if isinstance(part, str):
                values.append(ast.Constant(part))
                continue
            value, conversion, spec = part
            shown = None if isinstance(spec, Const) and spec.value is None else self.atom(spec)
            if shown is not None and not isinstance(shown, ast.JoinedStr):
                shown = ast.JoinedStr([
                    shown if isinstance(shown, ast.Constant) else ast.FormattedValue(shown, -1, None)
                ])
            values.append(ast.FormattedValue(self.atom(value), conversion, shown))
        return ast.JoinedStr(values)

    def index(self, atom: Atom) -> ast.expr:
        """Return a subscript: slices are written with colons."""
        if isinstance(atom, Const):
            return self.index_constant(atom.value)
        return self.waiting.pop(atom) if atom in self.waiting else self.load(atom)

    def index_constant(self, value: Any) -> ast.expr:
        if isinstance(value, slice):
            return ast.Slice(*(
                None if part is None else literal(part)
                for part in (value.start, value.stop, value.step)
            ))
        if isinstance(value, tuple) and value:
            return ast.Tuple([self.index_constant(part) for part in value], ast.Load())
        if value is None:
            return ast.Attribute(self.references.module("numpy"), "newaxis", ast.Load())
        return self.references.expression(value)

    # -- comments ------------------------------------------------------------------------------

    def comment(self, origin: Origin) -> None:
        """Write the origin of what follows, when it changes."""
        reverse = origin.reverse
        origin = origin.via or origin
        place = (origin.file, origin.line, reverse)
        if place == self.place:
            return
        crossed = self.place is not None and reverse and not self.place[2]
        self.place = place
        where = f"{os.path.basename(origin.file)}:{origin.line}"
        if reverse:
            if crossed:
                self.out.append(BlankLine())
            self.out.append(Comment(f"reverse of {where}"))
        else:
            self.out.append(Comment(f"{where}  {origin.text.strip()}".rstrip()))


def flat(kind: type[ast.boolop], left: ast.expr, right: ast.expr) -> list[ast.expr]:
    """Return the operands of a chain of ``and`` or of ``or``."""
    more = right.values if isinstance(right, ast.BoolOp) and isinstance(right.op, kind) else [right]
    return [left, *more]


def read_unbound(body: Block, hands_on: Callable[[Var, Var], bool]) -> set[Var]:
    """Return the variables that may be read, to be handed on, where no assignment reached them.

    What is saved on a tape or as a residual, or copied under another name, is read whether or not
    the program goes on to use it.
    """
    found: set[Var] = set()
    copies: list[tuple[Var, Atom]] = []
    made = {s.target: s.rhs for s in walk(body) if isinstance(s, Let)}
    for atom in body.yields:
        rhs = made.get(atom) if isinstance(atom, Var) else None
        found.update(a for a in (operands(rhs) if isinstance(rhs, Pack) else ()) if isinstance(a, Var))
    for statement in walk(body):
        match statement:
            case Do(rhs):
                found.update(a for a in operands(rhs) if isinstance(a, Var))
            case Let(rhs=Call(func=Const(value=function)) as rhs) if function is zeros_like:
                found.update(a for a in operands(rhs) if isinstance(a, Var))
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    copies += zip(results, arm.yields, strict=False)
            case Loop(params=params, inits=inits, results=results):
                found.update(a for a in statement.collected() if isinstance(a, Var))
                copies += zip(params, inits, strict=True)
                copies += zip(params, statement.next_values(), strict=False)
                copies += zip(results, params, strict=True)
    size = -1
    while size != len(found):
        size = len(found)
        found.update(
            value for target, value in copies
            if isinstance(value, Var) and (target in found or hands_on(target, value))
        )
    return found


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
        return ast.Call(ast.Name("slice", ast.Load()), parts, [])
    if isinstance(expression, ast.Tuple) and any(isinstance(e, ast.Slice) for e in expression.elts):
        return ast.Tuple([as_value(e) for e in expression.elts], ast.Load())
    return expression


def is_nothing(statements: Sequence[ast.stmt]) -> bool:
    """Say whether a block does nothing."""
    return all(isinstance(s, (ast.Pass, Comment, BlankLine)) for s in statements)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True

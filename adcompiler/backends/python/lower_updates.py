"""Lowers updates of storage: subscripts that are assigned, `+=`, and functions that write."""

from __future__ import annotations

import ast
from typing import cast

from adcompiler.analyses.storage import part_type
from adcompiler.backends.python.lower_expressions import ExpressionLowering, as_value
from adcompiler.backends.python.subscripts import index_kind, is_integer
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Rhs, Step, Update, Var, unstar
from adcompiler.ops.queries import numeric_method
from adcompiler.runtime import (
    accumulate, add_at, append, drop_last, note_value, put_entry, store_global,
)


def same_place(place: ast.expr, value: ast.expr) -> bool:
    """Say whether a value is read from the place that it is to be stored in."""
    if type(place) is not type(value) or not isinstance(place, (ast.Subscript, ast.Attribute)):
        return False
    stored = ast.Subscript(place.value, place.slice, ast.Load()) if isinstance(
        place, ast.Subscript) else ast.Attribute(place.value, place.attr, ast.Load())
    return ast.dump(stored) == ast.dump(value)


class UpdateLowering(ExpressionLowering):
    """Writes into storage; ``out`` are the statements so far."""

    out: list[ast.stmt]

    def names_differ(self, a: Atom, b: Atom) -> bool:
        return not (isinstance(a, Var) and isinstance(b, Var) and self.names[a] == self.names[b])

    def write_in_place(self, target: Var, rhs: Call) -> None:
        """Write an update of storage that the emitted code owns, as the plain statement it is."""
        assert isinstance(rhs.func, Const)
        function = rhs.func.value
        buffer = unstar(rhs.args[0])
        if self.names_differ(target, buffer):
            self.out.append(ast.Assign([self.store(target)], self.atom(buffer)))
        name = self.load(target)
        if function is append:
            call = ast.Call(ast.Attribute(name, "append", ast.Load()), [self.atom(rhs.args[1])], [])
            self.out.append(ast.Expr(call))
        elif function is drop_last:
            self.out.append(ast.Expr(ast.Call(ast.Attribute(name, "pop", ast.Load()), [], [])))
        elif function is put_entry:
            key, old = (self.atom(unstar(arg)) for arg in rhs.args[1:])
            callee = self.references.expression(put_entry)
            self.out.append(ast.Expr(ast.Call(callee, [name, key, old], [])))
        else:
            self.add_at(target, buffer, unstar(rhs.args[1]), unstar(rhs.args[2]))

    def update(self, target: Var, rhs: Update) -> None:
        """Write a store as the assignment that it is."""
        if self.names_differ(target, rhs.obj):
            self.out.append(ast.Assign([self.store(target)], self.atom(rhs.obj)))
        place: ast.expr = self.load(target)
        for step in rhs.steps[:-1]:
            place = self.step(place, step)
        last = rhs.steps[-1]
        value = self.atom(rhs.value)
        if rhs.adds and self.may_repeat(rhs):
            at = self.adding(part_type(self.unit.type(rhs.obj), rhs.steps[:-1]), last.args[0])
            index = as_value(self.index(last.args[0]))
            self.out.append(ast.Expr(ast.Call(at, [place, index, value], [])))
            return
        place = self.step(place, last, ast.Store())
        written = cast(ast.Name | ast.Attribute | ast.Subscript, place)
        if rhs.adds:
            subtracts = isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub)
            operand = value.operand if isinstance(value, ast.UnaryOp) and subtracts else value
            self.out.append(ast.AugAssign(written, ast.Sub() if subtracts else ast.Add(), operand))
        elif isinstance(value, ast.BinOp) and same_place(place, value.left) and isinstance(
            self.unit.type(rhs.value), t.Scalar
        ):
            self.out.append(ast.AugAssign(written, value.op, value.right))
        else:
            self.out.append(ast.Assign([place], value))

    def adding(self, array: t.Type, index: Atom) -> ast.expr:
        """Return what adds to an array by subscripts: NumPy, where that is fast by itself."""
        parts = array, self.unit.type(index)
        if not all(isinstance(part, t.Array) and part.ndim == 1 for part in parts):
            return self.references.expression(accumulate)
        numpy = self.references.module("numpy")
        return ast.Attribute(ast.Attribute(numpy, "add", ast.Load()), "at", ast.Load())

    def may_repeat(self, rhs: Update) -> bool:
        """Say whether what is added to an array may go to an element several times."""
        last, kinds = rhs.steps[-1], ("basic", "mask")
        return last.kind == "item" and index_kind(self.unit, last.args[0]) not in kinds and (
            isinstance(part_type(self.unit.type(rhs.obj), rhs.steps[:-1]), t.Array)
        )

    def step(
        self, place: ast.expr, step: Step, context: ast.expr_context | None = None
    ) -> ast.expr:
        """Return what one more step leads to from ``place``."""
        context = context or ast.Load()
        if step.kind == "item":
            return ast.Subscript(place, self.index(step.args[0]), context)
        if step.kind == "attr":
            return ast.Attribute(place, step.name, context)
        args = [self.atom(a) for a in step.args]
        keywords = [ast.keyword(key, self.atom(a)) for key, a in step.kwargs]
        method = numeric_method(step.function)
        if method is not None:
            return ast.Call(ast.Attribute(place, method, ast.Load()), args, keywords)
        return ast.Call(self.references.expression(step.function), [place, *args], keywords)

    def add_at(self, target: Var, buffer: Atom, index: Atom, g: Atom) -> None:
        kind = index_kind(self.unit, index)
        type_ = self.unit.type(buffer)
        if isinstance(type_, t.Array) and kind in ("basic", "mask"):
            place = ast.Subscript(self.load(target), self.index(index), ast.Store())
            value = self.atom(g)
            if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
                self.out.append(ast.AugAssign(place, ast.Sub(), value.operand))
            else:
                self.out.append(ast.AugAssign(place, ast.Add(), value))
        elif isinstance(type_, t.List) and isinstance(type_.item, (t.Scalar, t.Array)) and (
            kind == "basic" and is_integer(self.unit, index)
        ):
            where = self.index(index)
            place = ast.Subscript(self.load(target), where, ast.Store())
            old = ast.Subscript(self.load(target), where, ast.Load())
            self.out.append(ast.Assign([place], ast.BinOp(old, ast.Add(), self.atom(g))))
        elif isinstance(type_, t.Array) and kind == "gather":
            self.out.append(ast.Expr(ast.Call(
                self.adding(type_, index), [self.load(target), self.atom(index), self.atom(g)], []
            )))
        else:
            call = ast.Call(
                self.references.expression(add_at),
                [self.load(target), self.atom(index), self.atom(g)], [],
            )
            self.out.append(ast.Assign([self.store(target)], call))

    def stored(self, rhs: Rhs) -> ast.stmt | None:
        """Return the assignment of a global variable of a module, None for other calls."""
        match rhs:
            case Call(Const(function), (Const(owner), Const(name), value)) if (
                function is store_global
            ):
                place = ast.Attribute(self.atom(Const(owner)), name, ast.Store())
                return ast.Assign([place], self.atom(value))
            case Call(Const(function), (Var() as noted, value)) if function is note_value:
                first = ast.Subscript(self.load(noted), ast.Constant(0), ast.Store())
                return ast.Assign([first], self.atom(value))
        return None

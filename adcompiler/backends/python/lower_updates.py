"""Lowers updates of storage: subscripts that are assigned, `+=`, and functions that write."""

from __future__ import annotations

import ast
from typing import cast

from adcompiler.analyses.storage import part_type
from adcompiler.backends.python.lower_expressions import Expressions, as_value
from adcompiler.backends.python.references import References
from adcompiler.backends.python.subscripts import index_kind, is_integer
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Rhs, Step, Update, Var, unstar
from adcompiler.ops.queries import numeric_method
from adcompiler.runtime import (
    accumulate, add_at, append, drop_last, note_value, put_entry, store_global,
)
from adcompiler.typed.unit import Unit


def same_place(place: ast.expr, value: ast.expr) -> bool:
    """Say whether a value is read from the place that it is to be stored in."""
    if type(place) is not type(value) or not isinstance(place, (ast.Subscript, ast.Attribute)):
        return False
    stored = ast.Subscript(place.value, place.slice, ast.Load()) if isinstance(
        place, ast.Subscript) else ast.Attribute(place.value, place.attr, ast.Load())
    return ast.dump(stored) == ast.dump(value)


def added(place: ast.Name | ast.Attribute | ast.Subscript, value: ast.expr) -> ast.AugAssign:
    """Return the statement that adds a value, or subtracts its opposite."""
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return ast.AugAssign(place, ast.Sub(), value.operand)
    return ast.AugAssign(place, ast.Add(), value)


class Updates:
    """Writes into storage, as the statements of Python that they are."""

    def __init__(self, expr: Expressions, unit: Unit, references: References) -> None:
        self.expr, self.unit, self.references = expr, unit, references

    def in_place(self, target: Var, rhs: Call) -> ast.stmt:
        """Return a write into storage that the emitted code owns, as the plain statement it is."""
        assert isinstance(rhs.func, Const)
        function = rhs.func.value
        if function not in (append, drop_last, put_entry):
            return self.add_at(target, *map(unstar, rhs.args))
        name, args = self.expr.load(target), [self.expr.atom(arg) for arg in rhs.args[1:]]
        if function is put_entry:
            return ast.Expr(ast.Call(self.references.expression(put_entry), [name, *args], []))
        method = "append" if function is append else "pop"
        return ast.Expr(ast.Call(ast.Attribute(name, method, ast.Load()), args, []))

    def update(self, target: Var, rhs: Update) -> ast.stmt:
        """Return a store as the assignment that it is."""
        place: ast.expr = self.expr.load(target)
        for step in rhs.steps[:-1]:
            place = self.step(place, step)
        last = rhs.steps[-1]
        value = self.expr.atom(rhs.value)
        if rhs.adds and self.may_repeat(rhs):
            at = self.adding(part_type(self.unit.type(rhs.obj), rhs.steps[:-1]), last.args[0])
            index = as_value(self.expr.index(last.args[0]))
            return ast.Expr(ast.Call(at, [place, index, value], []))
        place = self.step(place, last, ast.Store())
        written = cast(ast.Name | ast.Attribute | ast.Subscript, place)
        if rhs.adds:
            return added(written, value)
        if isinstance(value, ast.BinOp) and same_place(place, value.left) and isinstance(
            self.unit.type(rhs.value), t.Scalar
        ):
            return ast.AugAssign(written, value.op, value.right)
        return ast.Assign([place], value)

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
            return ast.Subscript(place, self.expr.index(step.args[0]), context)
        if step.kind == "attr":
            return ast.Attribute(place, step.name, context)
        args = [self.expr.atom(a) for a in step.args]
        keywords = [ast.keyword(key, self.expr.atom(a)) for key, a in step.kwargs]
        method = numeric_method(step.function)
        if method is not None:
            return ast.Call(ast.Attribute(place, method, ast.Load()), args, keywords)
        return ast.Call(self.references.expression(step.function), [place, *args], keywords)

    def add_at(self, target: Var, buffer: Atom, index: Atom, g: Atom) -> ast.stmt:
        kind = index_kind(self.unit, index)
        type_ = self.unit.type(buffer)
        if isinstance(type_, t.Array) and kind in ("basic", "mask"):
            place = ast.Subscript(self.expr.load(target), self.expr.index(index), ast.Store())
            return added(place, self.expr.atom(g))
        if isinstance(type_, t.List) and isinstance(type_.item, (t.Scalar, t.Array)) and (
            kind == "basic" and is_integer(self.unit, index)
        ):
            where = self.expr.index(index)
            place = ast.Subscript(self.expr.load(target), where, ast.Store())
            old = ast.Subscript(self.expr.load(target), where, ast.Load())
            return ast.Assign([place], ast.BinOp(old, ast.Add(), self.expr.atom(g)))
        gathers = isinstance(type_, t.Array) and kind == "gather"
        function = self.adding(type_, index) if gathers else self.references.expression(add_at)
        args = [self.expr.load(target), self.expr.atom(index), self.expr.atom(g)]
        call = ast.Call(function, args, [])
        return ast.Expr(call) if gathers else ast.Assign([self.expr.store(target)], call)

    def stored(self, rhs: Rhs) -> ast.stmt | None:
        """Return the assignment of a global variable of a module, None for other calls."""
        match rhs:
            case Call(Const(function), (Const(owner), Const(name), value)) if (
                function is store_global
            ):
                place = ast.Attribute(self.expr.atom(Const(owner)), name, ast.Store())
                return ast.Assign([place], self.expr.atom(value))
            case Call(Const(function), (Var() as noted, value)) if function is note_value:
                first = ast.Subscript(self.expr.load(noted), ast.Constant(0), ast.Store())
                return ast.Assign([first], self.expr.atom(value))
        return None

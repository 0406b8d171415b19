"""Small exact rewrites, each with its algebra in a comment; no rewrite changes rounding."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, If, Let, Loop, Statement, Var, substitute,
)
from adcompiler.ir.visit import substitute_statement
from adcompiler.transforms.unit import Unit

ELEMENTWISE = (operator.add, operator.sub, operator.mul, operator.truediv)


def algebra(block: Block, unit: Unit) -> Block:
    """Return ``block`` with trivial arithmetic simplified."""
    return _Algebra(unit).block(block)


class _Algebra:
    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.renamed: dict[Var, Atom] = {}
        self.calls: dict[Var, Call] = {}

    def block(self, block: Block) -> Block:
        statements = tuple(s for old in block.statements for s in self.statement(old))
        return replace(block, statements=statements, yields=tuple(map(self.atom, block.yields)))

    def atom(self, atom: Atom) -> Atom:
        while isinstance(atom, Var) and atom in self.renamed:
            atom = self.renamed[atom]
        return atom

    def statement(self, statement: Statement) -> list[Statement]:
        match statement:
            case Let(target, rhs, origin):
                new = substitute(rhs, self.renamed)
                if isinstance(new, Call) and isinstance(new.func, Const) and not new.kwargs:
                    simpler = self.simplify(new)
                    if isinstance(simpler, Call):
                        self.calls[target] = simpler
                        self.unit.defs[target] = simpler
                        return [Let(target, simpler, origin)]
                    if simpler is not None:
                        self.renamed[target] = simpler
                        return []
                if isinstance(new, Call):
                    self.calls[target] = new
                return [statement if new is rhs else Let(target, new, origin)]
            case If():
                return [replace(
                    statement, condition=self.atom(statement.condition),
                    then=self.block(statement.then), orelse=self.block(statement.orelse),
                )]
            case Loop():
                test = statement.condition
                return [replace(
                    statement, iterables=tuple(map(self.atom, statement.iterables)),
                    inits=tuple(map(self.atom, statement.inits)),
                    condition=None if test is None else self.block(test),
                    body=self.block(statement.body),
                )]
        return [substitute_statement(statement, self.renamed)]

    # -- rewrites ------------------------------------------------------------------------------

    def simplify(self, call: Call) -> Call | Atom | None:
        """Return a simpler call, the atom that the call equals, or None to leave it."""
        function = call.func.value if isinstance(call.func, Const) else None
        args: tuple[Any, ...] = call.args
        if function is operator.neg:
            return self.negation(args[0])
        if function in ELEMENTWISE and len(args) == 2:
            constant = self.constants(function, *args)
            if constant is not None:
                return constant
            spread = self.unspread(call, function, *args)
            if spread is not None:
                return spread
            if function is operator.mul:
                return self.product(*args)
            if function is operator.add:
                return self.sum(*args)
            if function is operator.truediv and is_number(args[1], 1) and self.is_float(args[0]):
                return args[0]  # x / 1 -> x
        return None

    @staticmethod
    def constants(function: Any, x: Atom, y: Atom) -> Atom | None:
        if isinstance(x, Const) and isinstance(y, Const):
            if type(x.value) in (int, float) and type(y.value) in (int, float):
                try:
                    return Const(function(x.value, y.value))
                except ArithmeticError:
                    return None
        return None

    def negation(self, x: Atom) -> Call | Atom | None:
        if isinstance(x, Const) and type(x.value) in (int, float):
            return Const(-x.value)
        inner = self.made_by(x, operator.neg)
        return inner.args[0] if inner is not None else None  # type: ignore[return-value]  # --x -> x

    def product(self, x: Atom, y: Atom) -> Call | Atom | None:
        for one, other in ((x, y), (y, x)):
            if is_number(one, 1) and self.is_float(other):
                return other  # 1 * x -> x
            if is_number(one, -1) and self.is_float(other):
                return Call(Const(operator.neg), (other,))  # -1 * x -> -x
        return None

    def sum(self, x: Atom, y: Atom) -> Call | None:
        negated = self.made_by(y, operator.neg)
        if negated is not None and self.numeric(x):
            return Call(Const(operator.sub), (x, negated.args[0]))  # x + -y -> x - y
        negated = self.made_by(x, operator.neg)
        if negated is not None and self.numeric(y):
            return Call(Const(operator.sub), (y, negated.args[0]))  # -x + y -> y - x
        return None

    def unspread(self, call: Call, function: Any, x: Atom, y: Atom) -> Call | None:
        """full_like(a, s) * b -> s * b where b has the shape and dtype of a."""
        for position, (one, other) in enumerate(((x, y), (y, x))):
            made = self.made_by(one, np.full_like)
            if made is None or len(made.args) != 2 or made.kwargs:
                continue
            like, fill = made.args
            other_type, like_type = self.unit.type(other), self.unit.type(one)
            if (
                isinstance(other_type, t.Array) and isinstance(like_type, t.Array)
                and other_type.dtype == like_type.dtype and isinstance(fill, (Var, Const))
                and self.weak(fill, other_type.dtype)
                and self.unit.shape_class(other) == self.unit.shape_class(like)  # type: ignore[arg-type]
            ):
                args = (fill, other) if position == 0 else (other, fill)
                return Call(call.func, args)
        return None

    def weak(self, fill: Atom, dtype: str) -> bool:
        """Say whether arithmetic with the scalar ``fill`` keeps the dtype of an array."""
        type_ = self.unit.type(fill)
        return isinstance(type_, t.Scalar) and type_.kind == "float" and (
            type_.dtype is None or type_.dtype == dtype
        )

    def made_by(self, atom: Atom, function: Any) -> Call | None:
        call = self.calls.get(atom) if isinstance(atom, Var) else None
        if call is not None and isinstance(call.func, Const) and call.func.value is function:
            return call
        return None

    def is_float(self, atom: Atom) -> bool:
        type_ = self.unit.type(atom)
        return isinstance(type_, (t.Scalar, t.Array)) and type_.kind in ("float", "complex")

    def numeric(self, atom: Atom) -> bool:
        return isinstance(self.unit.type(atom), (t.Scalar, t.Array))


def is_number(atom: Atom, value: int) -> bool:
    """Say whether ``atom`` is the constant ``value``, as an int or a float."""
    return isinstance(atom, Const) and type(atom.value) in (int, float) and atom.value == value

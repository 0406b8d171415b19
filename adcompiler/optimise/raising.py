"""Keeps what nobody reads where it may raise: a value is returned only if Python returns one.

``y[3]`` of a list of one item, whose value is not used, ends the user's function. The product that
returns the function's value evaluates it too; a gradient alone is free to leave it away.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.purity import Purity
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Item, Let, Pack, Rhs, Star, Statement, Try, Var,
    operands, unstar,
)
from adcompiler.ir.visit import walk, with_blocks
from adcompiler.ops.registry import hashable
from adcompiler.optimise.dead_code import dead_code
from adcompiler.runtime import evaluated, no_grad
from adcompiler.typed.unit import Unit

QUIET: frozenset[Any] = frozenset({
    len, range, zip, enumerate, reversed, iter, list, tuple, dict, dict.items, isinstance, type,
    bool, str, repr, np.shape, np.ndim, np.size, np.copy, np.zeros_like, np.ones_like,
    np.empty_like, operator.is_, operator.is_not, operator.not_, no_grad,
})
"""Functions that do not raise for values of known types."""

ALIKE: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    operator.abs, abs,
})
"""Operators that do not raise for arrays of numbers of one shape."""


def with_raising_kept(unit: Unit, statements: Sequence[Statement], needed: Sequence[Atom]) -> tuple[
    Statement, ...
]:
    """Return ``statements`` with all that may raise marked as needed, beside ``needed`` itself."""
    block = Block(tuple(statements), tuple(needed))
    purity = Purity(unit.type, unit.definition)
    read = {s.target for s in walk(dead_code(block, purity)) if isinstance(s, Let)}
    return _Raising(unit, purity, read).block(block).statements


class _Raising:
    def __init__(self, unit: Unit, purity: Purity, read: set[Var]) -> None:
        self.unit, self.purity, self.read = unit, purity, read

    def block(self, block: Block) -> Block:
        out: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Try():  # what may raise in its body is kept as it is
                    out.append(statement)
                case Let(target, rhs, origin) if target not in self.read:
                    out.append(statement)
                    if self.is_wanted(target, rhs):
                        out.append(Do(Call(Const(evaluated), (target,)), origin))
                case Do(rhs, origin) if self.purity.is_pure(rhs) and self.may_raise(rhs):
                    ignored = Var("ignored")
                    self.unit.record(ignored, rhs, t.UNKNOWN)
                    out.append(Let(ignored, rhs, origin))
                    out.append(Do(Call(Const(evaluated), (ignored,)), origin))
                case _:
                    out.append(with_blocks(statement, self.block))
        if len(out) == len(block.statements) and all(map(operator.is_, out, block.statements)):
            return block
        return Block(tuple(out), block.yields, block.diverges)

    def is_wanted(self, target: Var, rhs: Rhs) -> bool:
        """Say whether a value that nobody reads may raise as it is computed.

        Of what is computed later, as the elements of a generator, and of functions that are made
        nothing is known here; what a write computes it raises by itself.
        """
        unit = self.unit
        iterators = unit.iterators
        if target in iterators.one_shot or target in iterators.generators or (
            target in unit.writes.spared
        ):
            return False
        types = [unit.type(atom) for atom in (target, *operands(rhs)[1:])]
        if any(t.is_function(type_) and not is_class(type_) for type_ in types):
            return False
        return self.purity.is_pure(rhs) and self.may_raise(rhs)

    def may_raise(self, rhs: Rhs) -> bool:
        """Say whether evaluating ``rhs`` may raise, by the types of what it is made of."""
        type_of = self.unit.type
        match rhs:
            case Pack(_, items, keys):
                return any(isinstance(i, Star) for i in items) or not all(
                    isinstance(key, Const) for key in keys)
            case Item(obj, Const(key)):
                match type_of(obj):
                    case t.Tuple(types):
                        return not (type(key) is int and -len(types) <= key < len(types))
                    case t.Dict(known, _) if known is not None:
                        return not hashable(key) or key not in known
            case Attribute(obj, name) if isinstance(type_of(obj), t.Object):
                type_ = type_of(obj)
                return isinstance(type_, t.Object) and type_.field(name) is None
            case Call(Const(function), args, ()) if hashable(function):
                given = [type_of(unstar(arg)) for arg in args]
                if function in QUIET and (given or function is no_grad) and (
                    t.UNKNOWN not in given
                ):
                    return any(isinstance(arg, Star) for arg in args)
                if function in ALIKE and all(isinstance(type_, t.Array) for type_ in given):
                    return any(type_.kind == "other" for type_ in given if isinstance(
                        type_, t.Array)) or self.stretches(args)
        return self.purity.may_raise(rhs)

    def stretches(self, args: Sequence[Any]) -> bool:
        """Say whether arrays of different shapes may meet."""
        return len({self.unit.shape_class(arg) for arg in args}) > 1


def is_class(type_: t.Type) -> bool:
    """Say whether a value is a class, as dtypes are given by."""
    return isinstance(type_, t.Static) and isinstance(type_.value, type)

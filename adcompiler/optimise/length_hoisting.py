"""Reads lengths of arrays in front of loops in which they stay the same.

What a sweep computes of such a length (a range, a subscript) it can then compute again, where
otherwise each iteration would save it. A length of an array with axes never raises, so that it may
be read where the loop runs no time. What arrays hold is not looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Item, Let, Loop, Region, Statement, Update, Var, unstar,
)
from adcompiler.ir.visit import definitions
from adcompiler.optimise.tapes import is_length
from adcompiler.typed.unit import Unit


def lengths_in_front(unit: Unit, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Return ``statements`` with lengths read in front of loops that do not change them."""
    return moved(Block(tuple(statements), ()), unit).statements


def moved(block: Block, unit: Unit) -> Block:
    """Return a block with the lengths that its loops read in front of these."""
    statements: list[Statement] = []
    for statement in block.statements:
        if isinstance(statement, Region):
            statement = statement.with_bodies(lambda inner: moved(inner, unit))
        if isinstance(statement, Loop):
            outside = _Outside(unit, statement)
            statement = replace(statement, body=outside.block(statement.body))
            statements += outside.lets
        statements.append(statement)
    return replace(block, statements=tuple(statements))


class _Outside:
    """Takes lengths out of a loop; ``lets`` are those taken."""

    def __init__(self, unit: Unit, loop: Loop) -> None:
        self.unit, self.loop = unit, loop
        self.made = {*loop.params, *loop.items, *definitions(loop.body)}
        self.lets: list[Let] = []

    def block(self, block: Block) -> Block:
        """Return a block of the loop without what is read in front of it."""
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Region):
                statement = statement.with_bodies(self.block)
            found = self.taken(statement) if isinstance(statement, Let) else None
            if found is None:
                statements.append(statement)
            else:
                self.lets.append(found)
                self.made.discard(found.target)
                self.unit.defs[found.target] = found.rhs
        if len(statements) == len(block.statements) and all(
            new is old for new, old in zip(statements, block.statements, strict=True)
        ):
            return block
        return replace(block, statements=tuple(statements))

    def taken(self, let: Let) -> Let | None:
        """Return a statement as it is read in front of the loop, None if it may change there."""
        match let.rhs:
            case Call(args=(arg,)) if is_length(let.rhs):
                of = self.outer(unstar(arg))
                return None if of is None else replace(let, rhs=replace(let.rhs, args=(of,)))
            case Attribute(obj, "shape"):
                of = self.outer(obj)
                return None if of is None else replace(let, rhs=replace(let.rhs, obj=of))
            case Item(Var() as obj, Const(int() as index)) if obj not in self.made:
                type_, made = self.unit.type(obj), self.unit.definition(obj)
                if isinstance(made, Attribute) and made.name == "shape" and isinstance(
                    type_, t.Tuple
                ) and 0 <= index < len(type_.items):
                    return let
        return None

    def outer(self, atom: Atom) -> Var | None:
        """Return an array from outside of the loop that is as long as one of it in each iteration.

        That is itself, or what it was in front of the loop if iterations keep its shape.
        """
        unit = self.unit
        while isinstance(atom, Var) and atom not in unit.unsure:
            type_ = unit.type(atom)
            if not isinstance(type_, t.Array) or not type_.ndim:
                return None
            if atom not in self.made:
                return atom
            made = unit.definition(atom)
            if atom in self.loop.params:
                init = self.loop.inits[self.loop.params.index(atom)]
                if unit.shape(atom) != unit.shape(init):
                    return None
                atom = init
            elif isinstance(made, Update):
                atom = made.obj
            else:
                return None
        return None

"""Writes slices and tuples of subscripts where they are used, so that they read ``x[1:, i]``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Pack, Region, Rhs, Slice, Statement, Update, Var, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.runtime import add_at
from adcompiler.typed.unit import Unit


def sink_subscripts(block: Block, unit: Unit) -> Block:
    """Return ``block`` with each subscript made anew in front of the statement that reads it."""
    made = {s.target: s.rhs for s in walk(block) if isinstance(s, Let)}
    return sunk(block, unit, made)


def sunk(block: Block, unit: Unit, made: Mapping[Var, Rhs]) -> Block:
    """As ``sink_subscripts``; ``made`` holds the definitions in the function."""
    statements: list[Statement] = []
    for statement in block.statements:
        match statement:
            case Let(target, Item(obj, index), origin):
                fresh = renewed(index, unit, made, statements, origin)
                if fresh is not index:
                    statement = Let(target, Item(obj, fresh), origin)
                    unit.defs[target] = statement.rhs
            case Let(target, Call(Const(function), (buffer, index, g)), origin) if (
                function is add_at
            ):
                fresh = renewed(unstar(index), unit, made, statements, origin)
                statement = Let(target, Call(Const(add_at), (buffer, fresh, g)), origin)
            case Let(target, Update(obj, steps, value, adds), origin):
                renewed_steps = tuple(
                    replace(step, args=(renewed(step.args[0], unit, made, statements, origin),))
                    if step.kind == "item" else step for step in steps
                )
                statement = Let(target, Update(obj, renewed_steps, value, adds), origin)
                unit.defs[target] = statement.rhs
            case Region():
                statement = statement.with_bodies(lambda inner: sunk(inner, unit, made))
        statements.append(statement)
    return replace(block, statements=tuple(statements))


def renewed(
    index: Atom, unit: Unit, made: Mapping[Var, Rhs], out: list[Statement], origin: object
) -> Atom:
    """Write the definition of a subscript again and return its new variable."""
    rhs = made.get(index) if isinstance(index, Var) else None
    if isinstance(rhs, Pack) and rhs.kind == "tuple" and index in unit.types:
        items = tuple(renewed(unstar(item), unit, made, out, origin) for item in rhs.items)
        new: Pack | Slice = Pack("tuple", items)
    elif isinstance(rhs, Slice):
        new = rhs
    else:
        return index
    var = Var("index", True)
    unit.record(var, new, unit.types.get(index, t.UNKNOWN))  # type: ignore[arg-type]
    out.append(Let(var, new, origin))  # type: ignore[arg-type]
    return var

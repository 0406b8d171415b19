"""Whether the types of arithmetic in optimised code follow from those of its operands."""

from __future__ import annotations


from adcompiler.ir import types as t
from adcompiler.ir.nodes import Block, Call, Const, Let, Star
from adcompiler.ir.operators import FIELD
from adcompiler.ir.visit import walk
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import type_of_arithmetic

def misfits(block: Block, unit: Unit) -> list[tuple[Let, t.Type]]:
    """Return arithmetic whose type does not follow from its operands, with the type that does.

    Code for many seeds is written by the number of axes that each type tells, and precision is kept
    by dtypes. A Python number may stand for a NumPy number of its precision.
    """
    found = []
    for statement in walk(block):
        match statement:
            case Let(target, Call(Const(function), args, ())) if function in FIELD and not any(
                isinstance(arg, Star) for arg in args
            ):
                operands = (unit.type(arg) for arg in args if not isinstance(arg, Star))
                follows = type_of_arithmetic(function, *operands)
                known = t.is_number(follows) and t.is_number(unit.type(target))
                if known and form(follows) != form(unit.type(target)):
                    found.append((statement, follows))
    return found


def form(type_: t.Type) -> tuple[int, str, str]:
    """Return the number of axes of a number or array, its kind and its precision."""
    assert isinstance(type_, (t.Scalar, t.Array))
    axes = type_.ndim if isinstance(type_, t.Array) else 0
    usual = {"float": "float64", "complex": "complex128"}.get(type_.kind, type_.kind)
    return axes, type_.kind, (type_.dtype or usual) if type_.kind != "int" else "int"

"""Types with a leading axis: what carries a derivative, and what it is for many seeds."""

from __future__ import annotations

from adcompiler.analyses.storage import written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Attribute, Block, Let, Pack, Region, Var, operands
from adcompiler.ir.visit import walk


def may_be_written(var: Var, block: Block) -> bool:
    """Say whether the storage of ``var`` may be written into, as far as is clear at a glance."""
    for statement in walk(block):
        match statement:
            case Let(_, rhs) if written_operand(rhs) is var:
                return True
            case Region() if any(
                edge.source is var and edge.hands_on for edge in statement.edges()
            ):
                return True
            case Let(_, rhs) if var in operands(rhs) and isinstance(rhs, (Attribute, Pack)):
                return True
    return False


def carries(type_: t.Type) -> bool:
    """Say whether values of this type can carry a derivative."""
    match type_:
        case t.Scalar(kind):
            return kind in ("float", "complex")
        case t.Array():
            return type_.kind in ("float", "complex")
    return isinstance(type_, (t.List, t.Tuple, t.Dict, t.Unknown, t.Object, t.Method))


def lifted(type_: t.Type) -> t.Type:
    """Return the type of the values of many seeds, from that of one."""
    match type_:
        case t.Scalar(kind, dtype):
            return t.Array(dtype or {"complex": "complex128"}.get(kind, "float64"), 1)
        case t.Array(dtype, ndim):
            return t.Array(dtype, ndim + 1)
        case t.List(item):
            return t.List(lifted(item))
        case t.Tuple(items, cls):
            return t.Tuple(tuple(map(lifted, items)), cls)
        case t.Dict(keys, items):
            return t.Dict(keys, tuple(map(lifted, items)))
        case t.Object(cls, fields):
            return t.Object(cls, tuple((name, lifted(field)) for name, field in fields))
    return type_

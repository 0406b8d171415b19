"""Instances that stand for those of a class written in C: none may leave the code compiled."""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Format, Let, Origin, Rhs, operands, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler.infer.calls.libraries import is_runtime
from adcompiler.infer.writer import Writer
from adcompiler.typed.callee import Callee


def stood_for(type_: t.Type) -> type | None:
    """Return the class for which an instance stands that is in a value; None if there is none."""
    inner: tuple[t.Type, ...] = ()
    match type_:
        case t.Object(cls, fields):
            if cls in STAND_FOR:
                return STAND_FOR[cls]
            inner = tuple(field for _, field in fields)
        case t.Tuple(items) | t.Dict(_, items):
            inner = items
        case t.List(item):
            inner = (item,)
    return next(filter(None, map(stood_for, inner)), None)


def report_escapes(s: Writer, block: Block) -> None:
    """Report the calls of functions that are not compiled with an instance of a stand-in."""
    for statement in walk(block):
        if not isinstance(statement, (Let, Do)) or not leaves(statement.rhs):
            continue
        for atom in map(unstar, operands(statement.rhs)):
            if not stays_inside(statement.rhs, s.unit.type(atom)):
                refuse_escape(s, atom, statement.origin, "is given to what is not compiled")


def leaves(rhs: Rhs) -> bool:
    """Say whether a value is made by code that is not compiled, or as text."""
    if not isinstance(rhs, Call):
        return isinstance(rhs, Format)
    function = rhs.func.value if isinstance(rhs.func, Const) else None
    return not (isinstance(function, Callee) or is_runtime(function))


def stays_inside(rhs: Rhs, type_: t.Type) -> bool:
    """Say whether an operator of containers asks nothing of what a container holds."""
    function = rhs.func.value if isinstance(rhs, Call) and isinstance(rhs.func, Const) else None
    known = REGISTRY.facts(function)
    if isinstance(type_, (t.List, t.Tuple)):
        return known.of_form is True or known.transfer in ("add", "concat")
    return isinstance(type_, t.Dict) and (known.of_form is True or known.transfer == "contains")


def refuse_results(s: Writer, values: Iterable[Atom], origin: Origin) -> None:
    """Report an instance of a stand-in in what a derivative gives back."""
    for value in values:
        refuse_escape(s, value, origin, "is returned, or stored in an argument")


def refuse_escape(s: Writer, atom: Atom, origin: Origin, how: str) -> None:
    """Report an instance of a stand-in that would leave the code."""
    cls = stood_for(s.unit.type(atom))
    if cls is not None and cls not in STAND_FOR.values():
        s.reject(
            origin, f"a {cls.__name__} that is given an attribute in a loop or branch {how}",
            "assign the attribute in `__init__`", "attributes",
        )
    elif cls is not None:
        s.reject(
            origin, f"a {cls.__name__} that is made here {how}",
            "pass or return a list, a tuple or a dict of what it holds", "collections",
        )

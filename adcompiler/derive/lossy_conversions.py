"""Numbers that leave as text, bytes or bits of an integer, and come back as numbers.

``float(str(x))`` is x, and has a derivative, which nobody sees. It is refused: a derivative that is
dropped on purpose is announced, by ``stop_gradient`` or ``no_grad``.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from types import MethodDescriptorType, WrapperDescriptorType
from typing import Any


from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Format, Let, Origin, Region, Rhs, Statement, Var,
    operands, unstar,
)
from adcompiler.ir.operators import OF_ARRAYS, OF_NUMBERS
from adcompiler.ir.visit import walk
from adcompiler.ops.facts import READ, TEXT
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

NAMES = frozenset({
    "format", "write", "writelines", "hex", "tobytes", "dumps", "encode", "join", "__repr__",
    "__str__", "__format__",
})
"""Methods of which the object, or the result, has what they are given in another form."""

METHODS = (str, MethodDescriptorType, WrapperDescriptorType)
"""Classes of methods of built-in classes, and of the names of others."""


def refuse_disguises(s: Writer, block: Block, varied: Collection[Atom]) -> None:
    """Report numbers that come back from text or bits made of values that carry a derivative."""
    flow, start = Flow(), set[Atom]()
    for statement in walk(block):
        enter(s, statement, varied, flow, start)
    disguised = flow.forward(start, lambda atom: is_other_form(s.unit.type(atom)))
    for statement in walk(block):
        if isinstance(statement, Let) and comes_back(s, statement, disguised):
            report(s, statement.origin)


def refuse_memos(unit: Unit, varied: Collection[Atom]) -> None:
    """Report memos that keep what carries a derivative: the next call would read it as constant.

    Of a place that is refused for another reason nothing is added.
    """
    refused = {finding.place for finding in unit.findings}
    for given, origin in unit.writes.memos:
        if (origin.line, origin.column) not in refused and any(atom in varied for atom in given):
            unit.findings.append(origin.finding(
                "what is stored here outside of the function, where nothing is stored yet, "
                "depends on what is differentiated: the next call would take it for a constant",
                "compute it anew, or keep it in a variable of the function", "memos",
            ))


def enter(
    s: Writer, statement: Statement, varied: Collection[Atom], flow: Flow, start: set[Atom]
) -> None:
    """Enter what one statement makes of numbers in another form, and where it makes such."""
    if isinstance(statement, Region):
        for edge in statement.edges():
            flow.add(edge.target, (edge.source,))
    if not isinstance(statement, (Let, Do)):
        return
    rhs = statement.rhs
    function, args = called(s, rhs)
    leaves = isinstance(rhs, Format) or (
        function is operator.mod and isinstance(s.unit.type(args[0]), t.Text)
    ) or REGISTRY.facts(function).has_form(TEXT) or (
        isinstance(function, METHODS) and getattr(function, "__name__", function) in NAMES
    )
    into: list[Atom] = []
    if isinstance(statement, Let) and is_other_form(s.unit.type(statement.target)):
        into.append(statement.target)
    if leaves:  # into a file, say
        into += [
            a for a in args if isinstance(s.unit.type(a), (t.Unknown, t.Object)) and a not in varied
        ]
    for target in into:
        flow.add(target, args)
    if leaves and any(a in varied for a in args):
        start.update(into)


def comes_back(s: Writer, statement: Let, disguised: Collection[Atom]) -> bool:
    """Say whether a statement makes numbers of text or bits that were made of such."""
    function, args = called(s, statement.rhs)
    from_text = [a for a in args if a in disguised]
    return bool(from_text) and returns_numbers(s, function, from_text, statement.target)


def called(s: Writer, rhs: Rhs) -> tuple[Any, tuple[Atom, ...]]:
    """Return the function that is called, or the name of a method, and all that it is given."""
    if not isinstance(rhs, Call):
        return None, tuple(map(unstar, operands(rhs)))
    args: Iterable[Atom] = (*map(unstar, rhs.args), *(atom for _, atom in rhs.kwargs))
    if isinstance(rhs.func, Const):
        value = rhs.func.value
        text = getattr(value, "__self__", None)  # as of "{:.3f}".format
        known = getattr(type(text), value.__name__) if isinstance(text, (str, bytes)) else value
        return REGISTRY.resolve(known), tuple(args)
    method = s.unit.definition(rhs.func)
    if not isinstance(method, Attribute):
        return None, tuple(args)
    owner = {t.Scalar: float, t.Text: str}.get(type(s.unit.type(method.obj)))
    return getattr(owner, method.name, method.name), (method.obj, *args)


def is_other_form(type_: t.Type) -> bool:
    """Say whether values of a type may be numbers in another form, and are not numbers."""
    match type_:
        case t.Array():
            return type_.kind not in ("float", "complex")
        case t.List(item):
            return is_other_form(item)
        case t.Tuple(items):
            return any(map(is_other_form, items))
    return isinstance(type_, (t.Text, t.Unknown, t.Object, t.Method))


def returns_numbers(s: Writer, function: type | None, given: list[Atom], target: Var) -> bool:
    """Say whether a call makes numbers with a derivative of text or bits."""
    type_ = s.unit.type(target)
    numbers = isinstance(type_, t.Unknown) or (
        isinstance(type_, (t.Array, t.Scalar)) and type_.kind in ("float", "complex")
    )
    if not numbers or not hashable(function):
        return False
    unknown = any(isinstance(s.unit.type(a), t.Unknown) for a in given)
    computed = function in OF_NUMBERS | OF_ARRAYS
    return REGISTRY.facts(function).has_form(READ) or (computed and unknown)


def report(s: Writer, origin: Origin) -> None:
    """Report numbers that come back."""
    s.reject(
        origin, "these numbers are read from text or bits that were made of values which carry a "
        "derivative", "use the values themselves; if the derivative is to be dropped, say so: "
        "adcompiler.stop_gradient(x)", "disguised-numbers",
    )

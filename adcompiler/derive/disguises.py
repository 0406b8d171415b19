"""Numbers that leave as text, bytes or bits of an integer, and come back as numbers.

``float(str(x))`` is x, and has a derivative, which nobody sees. It is refused: a derivative that is
dropped on purpose is announced, by ``stop_gradient`` or ``no_grad``.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Do, Format, Let, Loop, Origin, Rhs, Var, operands,
    unstar,
)
from adcompiler.ir.operators import OF_ARRAYS, OF_NUMBERS
from adcompiler.ir.visit import blocks_of, walk
from adcompiler.ops.facts import READ, TEXT
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.specialise.writer import Writer

NAMES = frozenset({"format", "write", "writelines", "hex", "tobytes", "dumps", "encode", "join"})
"""Methods of which the object, or the result, has what they are given in another form."""


def refuse_disguises(s: Writer, block: Block, varied: Collection[Atom]) -> None:
    """Report numbers that come back from text or bits made of values that carry a derivative."""
    disguised: set[Atom] = set()
    for _ in range(2):  # what a loop carries round
        before = len(disguised)
        for statement in walk(block):
            if isinstance(statement, (Let, Do)):
                target = statement.target if isinstance(statement, Let) else None
                visit(s, target, statement.rhs, varied, disguised, statement.origin)
            elif isinstance(statement, Loop):
                pairs = zip(
                    (*statement.params, *statement.items),
                    (*statement.next_values(), *statement.iterables), strict=False,
                )
                disguised.update(a for a, b in pairs if b in disguised)
            elif blocks_of(statement):
                for inner in blocks_of(statement):
                    results = getattr(statement, "results", ())
                    pairs = zip(results, inner.yields, strict=False)
                    disguised.update(a for a, b in pairs if b in disguised)
        if len(disguised) == before:
            break


def visit(
    s: Writer, target: Var | None, rhs: Rhs, varied: Collection[Atom], disguised: set[Atom],
    origin: Origin,
) -> None:
    """Enter what one statement makes of numbers, and report it if they come back by it."""
    function, args = called(s, rhs)
    from_text = [a for a in args if a in disguised]
    if from_text and target is not None and returns_numbers(s, function, from_text, target):
        report(s, origin)
        return
    leaves = isinstance(rhs, Format) or (
        function is operator.mod and isinstance(s.unit.type(args[0]), t.Text)
    ) or REGISTRY.facts(function).has_form(TEXT) or (
        isinstance(function, str) and function in NAMES
    )
    if (leaves and any(a in varied for a in args)) or from_text:
        if target is not None and is_other_form(s.unit.type(target)):
            disguised.add(target)
        if leaves:
            disguised.update(
                a for a in args if isinstance(s.unit.type(a), (t.Unknown, t.Object))
                and a not in varied
            )


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
    owner = {t.Array: np.ndarray, t.Text: str}.get(type(s.unit.type(method.obj)))
    if isinstance(s.unit.type(method.obj), t.Scalar):
        owner = float
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


def returns_numbers(s: Writer, function: Any, given: list[Atom], target: Var) -> bool:
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

"""Refuses ``with`` and ``try`` through which a derivative would be lost."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Let, Raise, Region, Try, Var, With, operands,
)
from adcompiler.ir.visit import direct_uses, used, walk
from adcompiler.runtime import told
from adcompiler.infer.inference import Inference
from adcompiler.typed.callee import Callee

AS_TEXT = frozenset({str, repr, type, isinstance, print, told, format})
"""Functions through which no derivative of an exception's values goes."""

CURRENT = (sys.exc_info, *([sys.exception] if sys.version_info >= (3, 11) else []))
"""Functions that return the exception being handled."""


def check_region(s: Inference, varied: Collection[Atom], node: Region) -> None:
    """Refuse a ``with`` or ``try`` through which a derivative would be lost."""
    if isinstance(node, With):
        check_context(s, varied, node)
    elif isinstance(node, Try):
        check_exceptions(s, varied, node)


def check_context(s: Inference, varied: Collection[Atom], node: With) -> None:
    """Refuse a context that gets a differentiable value and gives one."""
    if node.target is not None and node.context in varied and (
        node.target in used(node.body)
    ):
        s.reject(
            node.origin, "what this `with` gives is made of a differentiable value",
            "use the value itself in the block", "with",
        )


def check_exceptions(s: Inference, varied: Collection[Atom], node: Try) -> None:
    """Refuse handlers that may take a differentiable value out of an exception."""
    reading = [
        h for h in node.handlers
        if asks(h.body) or (h.name is not None and opens(h.body, h.name))
    ]
    if reading and raises_values(s, varied, node.body, set()):
        s.reject(
            node.origin, "an exception is raised here with a differentiable value, and its "
            "handler reads more of it than its text",
            "assign the value to a variable in front of the `try`, and read that", "try",
        )


def opens(body: Block, name: Var) -> bool:
    """Say whether a handler reads more of an exception than its class and text."""
    for statement in walk(body):
        uses = [a for a in direct_uses(statement) if a is name]
        rhs = getattr(statement, "rhs", None)
        plain = isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value in AS_TEXT
        )
        if uses and not plain and (
            isinstance(rhs, (Call, Attribute)) or not isinstance(statement, (Let, Raise))
        ):
            return True
    return any(name in block.yields for block in (body, *inner_blocks(body)))


def raises_values(
    s: Inference, varied: Collection[Atom], body: Block, seen: set[Callee]
) -> bool:
    """Say whether an exception made of a differentiable value may be raised in ``body``."""
    for statement in walk(body):
        if isinstance(statement, Raise):
            made = s.unit.definition(statement.exception)
            if statement.exception in varied or (
                bool(seen) and made is not None
                and any(t.may_vary(s.unit.type(a)) for a in operands(made))
            ):
                return True
        for atom in direct_uses(statement):
            callee = atom.value if isinstance(atom, Const) else None
            if isinstance(callee, Callee) and callee not in seen and callee.function:
                seen.add(callee)
                if raises_values(s, varied, callee.function.body, seen):
                    return True
    return False


def inner_blocks(body: Block) -> Iterable[Block]:
    """Iterate over the blocks inside ``body``."""
    for statement in walk(body):
        if isinstance(statement, Region):
            yield from statement.arms()


def asks(body: Block) -> bool:
    """Say whether a handler asks the interpreter for the exception."""
    return any(
        isinstance(atom, Const) and any(atom.value is function for function in CURRENT)
        for statement in walk(body) for atom in direct_uses(statement)
    )

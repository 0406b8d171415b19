"""Whether the source reads a variable before it assigns it, from some place on."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from adcompiler.frontend.names import FUNCTIONS, Scope, assigned_names

Path = list[tuple[gast.AST, list[gast.stmt]]]
"""What holds a statement, outermost first, each with the statements that follow there."""

READ, ASSIGNED, LEAVES, NEITHER = "read", "assigned", "leaves", "neither"


def first_use(statements: Sequence[gast.AST], name: str) -> str:
    """Say what ``statements`` do with a variable first: READ it (perhaps), or ASSIGN it for sure.

    LEAVES says that a ``break`` or ``continue`` ends them before.
    """
    for statement in statements:
        found = use(statement, name)
        if found != NEITHER:
            return found
    return NEITHER


def use(node: gast.AST, name: str) -> str:
    """Say what one statement does with a variable first."""
    match node:
        case gast.If():
            arms = {first_use(node.body, name), first_use(node.orelse, name)}
            if reads(node.test, name) or READ in arms:
                return READ
            return arms.pop() if len(arms) == 1 else NEITHER
        case gast.For() | gast.While():
            head = node.iter if isinstance(node, gast.For) else node.test
            inside = READ in (first_use(node.body, name), first_use(node.orelse, name))
            target = isinstance(node, gast.For) and name in assigned_names(node.target)
            return READ if reads(head, name) or (inside and not target) else NEITHER
        case gast.With():
            if any(reads(item.context_expr, name) for item in node.items):
                return READ
            if any(name in assigned_names(i.optional_vars) for i in node.items if i.optional_vars):
                return ASSIGNED
            return first_use(node.body, name)
        case gast.Try():
            blocks = [[*node.body, *node.orelse], *(h.body for h in node.handlers)]
            arms = {first_use(block, name) for block in blocks}
            final = first_use(node.finalbody, name)
            if READ in arms or final == READ:
                return READ
            return ASSIGNED if arms == {ASSIGNED} or final == ASSIGNED else NEITHER
        case gast.Break() | gast.Continue():
            return LEAVES
        case gast.Return() | gast.Raise():
            return READ if reads(node, name) else ASSIGNED
        case gast.Assign() | gast.AnnAssign() | gast.Import() | gast.ImportFrom():
            if reads(node, name):
                return READ
            return ASSIGNED if name in assigned_names(node) else NEITHER
    return READ if reads(node, name) else NEITHER


def reads(node: gast.AST, name: str) -> bool:
    """Say whether a piece of source may read a variable; functions made in it may."""
    return any(
        isinstance(inner, gast.Name) and inner.id == name and (
            not isinstance(inner.ctx, gast.Store) or isinstance(node, gast.AugAssign)
        )
        for inner in gast.walk(node)
    )


def is_read_after(function: Scope, statement: gast.stmt, name: str) -> bool:
    """Say whether a variable may be read once control has left ``statement``."""
    if any(
        isinstance(inner, FUNCTIONS) and inner is not function and reads(inner, name)
        for inner in gast.walk(function)
    ):
        return True
    path = blocks_around(function, statement)
    return path is None or _read_along(path, name)


def _read_along(path: Path, name: str) -> bool:
    for owner, following in reversed(path):
        found = first_use(following, name)
        if found == READ:
            return True
        if found == ASSIGNED:
            return False
        if isinstance(owner, (gast.For, gast.While)):
            again = [*([owner.test] if isinstance(owner, gast.While) else []), *owner.body]
            if first_use(again, name) == READ or first_use(owner.orelse, name) == READ:
                return True
        if isinstance(owner, gast.Try):
            rest = [*owner.orelse, *owner.finalbody]
            if any(reads(inner, name) for inner in (*rest, *owner.handlers)):
                return True
    return False


def blocks_around(function: gast.AST, statement: gast.stmt) -> Path | None:
    """Return what holds ``statement``, outermost first, with the statements that follow there."""
    for field in ("body", "orelse", "finalbody", "handlers", "cases"):
        block = getattr(function, field, None)
        if not isinstance(block, list):
            continue
        for position, inner in enumerate(block):
            following = block[position + 1 :] if isinstance(inner, gast.stmt) else []
            if inner is statement:
                return [(function, following)]
            found = blocks_around(inner, statement)
            if found is not None:
                return [(function, following), *found]
    return None

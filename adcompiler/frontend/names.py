"""Which names a piece of source assigns, and whether control can leave or pass it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import gast

from adcompiler.frontend.rewriting.walking import children

FunctionNode = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda
Scope = FunctionNode | gast.ClassDef
FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.Lambda, gast.ClassDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def assigned_names(node: gast.AST) -> dict[str, None]:
    """Return the names that ``node`` binds in its own scope, in order (a dict used as a set).

    For a function these are its local variables, parameters included, and the names that it
    declares ``global`` or ``nonlocal`` and assigns.
    """
    names: dict[str, None] = {}
    if isinstance(node, FUNCTIONS):
        if not isinstance(node, gast.ClassDef):
            arguments = node.args
            every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
            every += [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
            names.update(dict.fromkeys(a.id for a in every))
        for child in node.body if isinstance(node.body, list) else [node.body]:
            _collect(child, names)
    else:
        _collect(node, names)
    return names


BINDING = (
    *FUNCTIONS, *COMPREHENSIONS, gast.Name, gast.Import, gast.ImportFrom, gast.ExceptHandler,
    gast.pattern,
)
"""The nodes that may bind a name themselves: few of a text are anything but names."""


def _collect(node: gast.AST, names: dict[str, None]) -> None:
    if not isinstance(node, BINDING):
        for child in children(node):
            _collect(child, names)
        return
    match node:
        case gast.Name():
            if isinstance(node.ctx, (gast.Store, gast.Del)):
                names[node.id] = None
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
            names[node.name] = None
            return
        case gast.Lambda():
            return
        case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
            for child in gast.walk(node):
                if isinstance(child, gast.NamedExpr):
                    names[child.target.id] = None
            return
        case gast.Import() | gast.ImportFrom():
            for name in node.names:
                names[name.asname or name.name.partition(".")[0]] = None
        case gast.ExceptHandler() if isinstance(node.name, gast.Name):
            names[node.name.id] = None
        case gast.MatchAs(name=str(name)) | gast.MatchStar(name=str(name)):
            names[name] = None
        case gast.MatchMapping(rest=str(name)):
            names[name] = None
    for child in children(node):
        _collect(child, names)


RUNS_APART = COMPREHENSIONS if sys.version_info < (3, 12) else (gast.GeneratorExp,)
"""The expressions that are functions of their own to Python."""


def mark_outer(node: gast.AST, own: dict[str, None] | None = None) -> None:
    """Mark the names that comprehensions and generators inside read of the function around.

    ``own`` are the names of the one that ``node`` is part of.
    """
    inside = children(node)
    if isinstance(node, gast.Name):
        mark: Any = node  # a mark of ours, which gast does not know
        mark.outer = own is not None and node.id not in own
    elif isinstance(node, RUNS_APART):
        first = node.generators[0]
        mark_outer(first.iter, own)
        own = {n: None for g in node.generators for n in assigned_names(g.target)}
        inside = [*inside, first.target, *first.ifs]
        inside.remove(first)
    elif isinstance(node, FUNCTIONS):
        own = None
    for child in inside:
        mark_outer(child, own)


def is_outer(name: gast.Name) -> bool:
    """Say whether a name is read by a comprehension or generator, of the function around it."""
    return bool(getattr(name, "outer", False))


def own_nodes(function: Scope) -> Iterator[gast.AST]:
    """Iterate over the nodes of a function's body that are no part of functions inside it."""
    found: list[gast.AST] = [function.body] if isinstance(function, gast.Lambda) else [
        *function.body]
    for node in found:  # grows meanwhile
        yield node
        if not isinstance(node, FUNCTIONS):
            found += children(node)


def own_functions(function: Scope) -> Iterator[Scope]:
    """Iterate over the functions that a function makes itself."""
    return (node for node in own_nodes(function) if isinstance(node, FUNCTIONS))


def declared_names(
    function: Scope, kind: type[gast.Global] | type[gast.Nonlocal]
) -> list[str]:
    """Return the names that a function itself declares ``global`` or ``nonlocal``."""
    return list(dict.fromkeys(
        name for node in own_nodes(function) if isinstance(node, kind) for name in node.names
    ))


def unbound_names(function: Scope) -> set[str]:
    """Return the names of which a function itself unbinds some: by ``del``, or after a handler."""
    return {
        name.id for node in own_nodes(function)
        for name in (node.name if isinstance(node, gast.ExceptHandler) else node,)
        if isinstance(name, gast.Name)
        and (name is not node or isinstance(name.ctx, gast.Del))
    }


def walrus_names(nodes: Sequence[gast.AST]) -> list[str]:
    """Return the names that ``:=`` binds in expressions."""
    return list(dict.fromkeys(
        child.target.id for node in nodes for child in gast.walk(node)
        if isinstance(child, gast.NamedExpr)
    ))


def assigned_after(function: Scope, nested: gast.expr | gast.stmt) -> set[str]:
    """Return the names that ``function`` assigns textually after the ``nested`` function ends."""
    end = (nested.end_lineno or 0, nested.end_col_offset or 0)
    later: set[str] = set()

    def visit(node: gast.AST) -> None:
        if node is nested or (isinstance(node, FUNCTIONS) and node is not function):
            if isinstance(node, (gast.FunctionDef, gast.ClassDef)) and (
                (node.lineno, node.col_offset) >= end
            ):
                later.add(node.name)
            return
        if (
            isinstance(node, gast.Name) and isinstance(node.ctx, (gast.Store, gast.Del))
            and getattr(node, "lineno", None) is not None
            and (node.lineno, node.col_offset) >= end
        ):
            later.add(node.id)
        if isinstance(node, gast.pattern) and (node.lineno, node.col_offset) >= end:
            later.update(assigned_names(node))
        for child in gast.iter_child_nodes(node):
            visit(child)

    visit(function)
    return later - targets_around(function, nested)


def assigned_around(function: Scope, nested: gast.AST) -> dict[str, bool]:
    """Return the names that get what the statement around ``nested`` makes: after it is made.

    Each with whether that is ``nested`` itself.
    """
    return {
        name: node.value is nested
        for node in gast.walk(function) if isinstance(node, gast.Assign | gast.AnnAssign)
        and node.value is not None and any(inner is nested for inner in gast.walk(node.value))
        for target in (node.targets if isinstance(node, gast.Assign) else (node.target,))
        for name in assigned_names(target)
    }


def targets_around(function: Scope, nested: gast.AST) -> set[str]:
    """Return the targets of the comprehensions of ``function`` whose items make ``nested``.

    They are assigned before each item, though they stand behind it. A ``def`` is no item.
    """
    if isinstance(nested, gast.FunctionDef):
        return set()
    return set().union(*(
        assigned_names(generator.target)
        for node in gast.walk(function) if isinstance(node, COMPREHENSIONS)
        for generator in node.generators if nested in gast.walk(node)
    ))


LEAVES = ("leaves", "leaves_in_loop")
"""The attributes in which a branch notes whether it leaves."""


def leaves(node: gast.AST) -> bool:
    """Say whether ``node`` holds a return, raise, or a break/continue of a loop around it."""
    return _leaves(node, in_loop=False)


def _leaves(node: gast.AST, in_loop: bool) -> bool:
    if isinstance(node, (gast.Return, gast.Raise)):
        return True
    if isinstance(node, (gast.Break, gast.Continue)):
        return not in_loop
    if isinstance(node, (*FUNCTIONS, *COMPREHENSIONS)):
        return False
    if isinstance(node, (gast.For, gast.While)):
        return any(_leaves(n, True) for n in node.body) or any(
            _leaves(n, in_loop) for n in node.orelse
        )
    if isinstance(node, gast.If):  # asked again of each branch of a chain: noted there
        found: bool | None = getattr(node, LEAVES[in_loop], None)
        if found is None:
            found = any(_leaves(child, in_loop) for child in (*node.body, *node.orelse))
            setattr(node, LEAVES[in_loop], found)
        return found
    return any(_leaves(child, in_loop) for child in gast.iter_child_nodes(node))


def can_fall_through(statements: Sequence[gast.stmt]) -> bool:
    """Say whether control may reach the end of ``statements`` (conservatively yes)."""
    for node in statements:
        if isinstance(node, (gast.Return, gast.Raise, gast.Break, gast.Continue)):
            return False
        if isinstance(node, gast.If) and not (
            can_fall_through(node.body) or can_fall_through(node.orelse)
        ):
            return False
        if isinstance(node, gast.While) and _endless(node):
            return False
    return True


def _endless(node: gast.While) -> bool:
    return (
        isinstance(node.test, gast.Constant) and bool(node.test.value)
        and not any(_breaks(child) for child in node.body)
    )


def _breaks(node: gast.AST) -> bool:
    if isinstance(node, gast.Break):
        return True
    if isinstance(node, (gast.For, gast.While)):
        return any(_breaks(child) for child in node.orelse)
    if isinstance(node, FUNCTIONS):
        return False
    return any(_breaks(child) for child in gast.iter_child_nodes(node))


def may_change(function: gast.AST, display: gast.AST) -> bool:
    """Say whether a set gets a name that is used other than to look something up in it."""
    named = {
        name.id for node in gast.walk(function) if isinstance(node, gast.Assign)
        for target in node.targets for name, value in pairs(target, node.value)
        if value is display and isinstance(name, gast.Name)
    }
    asked = {
        id(part) for node in gast.walk(function) if isinstance(node, (gast.Compare, gast.For))
        for part in (node.comparators if isinstance(node, gast.Compare) else [node.iter])
    }
    return bool(named) and any(
        isinstance(node, gast.Name) and node.id in named and id(node) not in asked
        and not isinstance(node.ctx, gast.Store) for node in gast.walk(function)
    )


def pairs(target: gast.expr, value: gast.expr) -> Iterator[tuple[gast.expr, gast.expr]]:
    """Yield the targets of an assignment, each with the expression that it is given."""
    displays = (gast.Tuple, gast.List)
    if isinstance(target, displays) and isinstance(value, displays) and (
        len(target.elts) == len(value.elts)
    ):
        for one, other in zip(target.elts, value.elts, strict=True):
            yield from pairs(one, other)
    else:
        yield target, value

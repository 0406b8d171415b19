"""Generator functions, as functions that return a list of what they yield, made at once.

``yield e`` becomes an ``append`` to that list, ``yield from xs`` an ``extend``, ``return`` returns
it. Whether that does the same as a generator is decided where it is run through.
"""

from __future__ import annotations

import copy
from typing import TypeGuard

import gast

from adcompiler.frontend.names import FUNCTIONS, can_fall_through, own_nodes
from adcompiler.frontend.rewriting.source_map import assigned, placed, read, rewritten

YIELDS = (gast.Yield, gast.YieldFrom)


def is_generator(node: gast.AST) -> TypeGuard[gast.FunctionDef]:
    """Say whether a parsed function yields, in statements of their own and nowhere else."""
    if not isinstance(node, gast.FunctionDef):
        return False
    nodes = list(own_nodes(node))
    found = [inner for inner in nodes if isinstance(inner, YIELDS)]
    if not found:
        return False
    statements = {
        id(inner.value) for inner in nodes
        if isinstance(inner, gast.Expr) and isinstance(inner.value, YIELDS)
    }
    return all(id(inner) in statements for inner in found) and not any(
        isinstance(inner, gast.Return) and inner.value is not None for inner in nodes
    )


def may_not_end(node: gast.FunctionDef) -> bool:
    """Say whether a function has a loop of which the text does not tell that it ends."""
    return any(isinstance(inner, gast.While) for inner in own_nodes(node))


def never_ends(node: gast.FunctionDef) -> bool:
    """Say whether the text of a function tells that it does not end, but by an exception."""
    return not can_fall_through(node.body) and not any(
        isinstance(inner, gast.Return) for inner in own_nodes(node))


def collected(node: gast.FunctionDef, name: str) -> list[gast.stmt]:
    """Return the statements of a generator function that collect what it yields in ``name``."""
    return [placed(assigned(name, gast.List([], gast.Load())), node.body[0]),
            *rewritten(Collector(name), copy.deepcopy(node.body)),
            placed(gast.Return(read(name)), node.body[-1])]


class Collector(gast.NodeTransformer):
    """Writes what a generator function yields into a list."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit(self, node: gast.AST) -> gast.AST:
        """Return what stands for ``node``, functions inside as they are."""
        if isinstance(node, FUNCTIONS):
            return node
        if isinstance(node, gast.Return):
            return placed(gast.Return(read(self.name)), node)
        if isinstance(node, gast.Expr) and isinstance(node.value, YIELDS):
            given = node.value.value or gast.Constant(None, None)
            method = "append" if isinstance(node.value, gast.Yield) else "extend"
            function = gast.Attribute(read(self.name), method, gast.Load())
            return placed(gast.Expr(gast.Call(function, [given], [])), node)
        return super().generic_visit(node)

"""Generator functions, as functions that return a list of what they yield, made at once.

``yield e`` becomes an ``append`` to that list, ``yield from xs`` an ``extend``, ``return`` returns
it. Whether that does the same as a generator is decided where it is run through.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from adcompiler.frontend.names import FUNCTIONS, can_fall_through, own_nodes
from adcompiler.frontend.rewriting.placing import placed

YIELDS = (gast.Yield, gast.YieldFrom)


def is_generator(node: Any) -> bool:
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


def may_not_end(node: gast.AST) -> bool:
    """Say whether a function has a loop of which the text does not tell that it ends."""
    return any(isinstance(inner, gast.While) for inner in own_nodes(node))


def never_ends(node: Any) -> bool:
    """Say whether the text of a function tells that it does not end, but by an exception."""
    return not can_fall_through(node.body) and not any(
        isinstance(inner, gast.Return) for inner in own_nodes(node))


def collected(node: Any, name: str) -> list[Any]:
    """Return the statements of a generator function that collect what it yields in ``name``."""
    return [placed(gast.Assign([stored(name)], gast.List([], gast.Load()), None), node.body[0]),
            *(Collector(name).visit(copy.deepcopy(step)) for step in node.body),
            placed(gast.Return(loaded(name)), node.body[-1])]


class Collector(gast.NodeTransformer):
    """Writes what a generator function yields into a list."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit(self, node: Any) -> Any:
        """Return what stands for ``node``, functions inside as they are."""
        if isinstance(node, FUNCTIONS):
            return node
        if isinstance(node, gast.Return):
            return placed(gast.Return(loaded(self.name)), node)
        if isinstance(node, gast.Expr) and isinstance(node.value, YIELDS):
            given = node.value.value or gast.Constant(None, None)
            method = "append" if isinstance(node.value, gast.Yield) else "extend"
            function = gast.Attribute(loaded(self.name), method, gast.Load())
            return placed(gast.Expr(gast.Call(function, [given], [])), node)
        return self.generic_visit(node)


def loaded(name: str) -> Any:
    """Return an expression that reads a variable."""
    return gast.Name(name, gast.Load(), None, None)


def stored(name: str) -> Any:
    """Return a target that assigns a variable."""
    return gast.Name(name, gast.Store(), None, None)

"""What is written into parsed functions: nodes have places in the text, and names are unused."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import gast

Tree = TypeVar("Tree", bound=gast.AST)


def placed(tree: Tree, node: gast.AST) -> Tree:
    """Return a new tree whose nodes without a position have that of ``node``."""
    for inner in gast.walk(tree):
        if getattr(inner, "lineno", None) is None:
            gast.copy_location(inner, node)
    return tree


def read(name: str) -> gast.Name:
    """Return an expression that reads a variable."""
    return gast.Name(name, gast.Load(), None, None)


def stored(name: str) -> gast.Name:
    """Return a target that assigns a variable."""
    return gast.Name(name, gast.Store(), None, None)


def assigned(name: str, value: gast.expr) -> gast.Assign:
    """Return ``name = value``."""
    return gast.Assign([stored(name)], value, None)


def called(function: Callable[..., object], *args: gast.expr) -> gast.Call:
    """Return a call of a function of the compiler."""
    return gast.Call(gast.Constant(function, None), list(args), [])


def rewritten(writer: gast.NodeTransformer, statements: Iterable[gast.stmt]) -> list[gast.stmt]:
    """Return what a transformer of gast writes for statements, each at the place of its own."""
    rows: list[gast.stmt] = []
    for statement in statements:
        new = writer.visit(statement)
        rows += [placed(row, statement) for row in (new if isinstance(new, list) else [new])]
    return rows


def rename(tree: gast.AST, names: Mapping[str, str]) -> None:
    """Give variables other names."""
    for node in gast.walk(tree):
        if isinstance(node, gast.Name) and node.id in names:
            node.id = names[node.id]


def unused_name(base: str, taken: set[str]) -> str:
    """Return a name that is not among those taken, and is from now on."""
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name

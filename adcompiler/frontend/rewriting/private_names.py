"""Private names: ``__x`` in the text of a class means ``_Class__x``, wherever it is a name.

Python writes them so when it compiles the text; the same is done to a tree as soon as it is parsed.
The keywords of calls and of patterns stay as they are, as in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CodeType

import gast

from adcompiler.frontend.rewriting.walking import children
from adcompiler.frontend.sources.same_code import class_around


def write_private_names(node: gast.AST, code: CodeType) -> None:
    """Write the names in the tree of a function as its ``code`` has them."""
    _write(node, class_around(code))


def private(name: str, cls: str) -> str:
    """Return what a name in the text of a class (none if it is empty) means."""
    owner = cls.lstrip("_")
    if not owner or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    return f"_{owner}{name}"


def _write(node: gast.AST, cls: str) -> None:
    inside = children(node)
    match node:
        case gast.Name():
            node.id = private(node.id, cls)
        case gast.Attribute():
            node.attr = private(node.attr, cls)
        case gast.Global() | gast.Nonlocal():
            node.names = [private(name, cls) for name in node.names]
        case gast.alias():
            node.name = private(node.name, cls)
            node.asname = node.asname and private(node.asname, cls)
        case gast.MatchAs() | gast.MatchStar() if node.name is not None:
            node.name = private(node.name, cls)
        case gast.MatchMapping() if node.rest is not None:
            node.rest = private(node.rest, cls)
        case gast.FunctionDef() | gast.AsyncFunctionDef():
            node.name = private(node.name, cls)
        case gast.ClassDef():
            outside = (*node.bases, *node.keywords, *node.decorator_list)
            _write_all(outside, cls)
            inside = [child for child in inside if not any(child is one for one in outside)]
            node.name, cls = private(node.name, cls), node.name
    _write_all(inside, cls)


def _write_all(nodes: Sequence[gast.AST], cls: str) -> None:
    for node in nodes:
        _write(node, cls)

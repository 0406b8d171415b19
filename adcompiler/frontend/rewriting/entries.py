"""Dicts that a function makes and asks by texts alone, which it writes, and that gain entries late.

``s = {"path": []}`` and ``s["last"] = x`` in a loop: the values are of several types, and whether
there is one behind the loop is not known. If nothing else is done with such a dict, its entries are
written as attributes of an instance, of which each keeps its own type. So are those of a dict of
which entries change places, each of which is an array of its own then.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from adcompiler.frontend.names import FUNCTIONS
from adcompiler.frontend.rewriting.placing import rewritten
from adcompiler.runtime.substitutes import EntriesOfDict

MIXED = (gast.List, gast.ListComp, gast.Dict, gast.DictComp)
"""Displays of containers: beside one of them the values of a dict are of several types."""


def with_entries_as_attributes(node: Any) -> Any:
    """Return a function in which such dicts are instances."""
    if isinstance(node, gast.Lambda):
        return node
    names = [name for name, display in displays(node) if is_asked_by_texts(node, name, display)]
    if not names:
        return node
    node = copy.deepcopy(node)
    writer = Writer(frozenset(names))
    node.body = rewritten(writer, node.body)
    return node


def displays(function: Any) -> list[tuple[str, Any]]:
    """Return the names that statements of a function give to dicts, each with the display."""
    return [
        (step.targets[0].id, step.value) for step in function.body
        if isinstance(step, gast.Assign) and len(step.targets) == 1
        and isinstance(step.targets[0], gast.Name) and isinstance(step.value, gast.Dict)
        and all(map(is_text, step.value.keys))
    ]


def is_text(node: Any) -> bool:
    """Say whether an expression is a text that may name an attribute."""
    return isinstance(node, gast.Constant) and isinstance(node.value, str) and (
        node.value.isidentifier() and not node.value.startswith("_"))


def is_asked_by_texts(function: Any, name: str, display: Any) -> bool:
    """Say whether a dict of mixed values is asked by texts alone, and gains entries late."""
    inner = [n for n in gast.walk(function) if isinstance(n, FUNCTIONS) and n is not function]
    if any(isinstance(n, (gast.Try, gast.Global, gast.Nonlocal)) for n in gast.walk(function)):
        return False
    if any(isinstance(n, gast.Name) and n.id == name for f in inner for n in gast.walk(f)):
        return False
    asked = {id(n.value) for n in gast.walk(function) if is_entry(n, name)}
    asked |= {id(n.comparators[0]) for n in gast.walk(function) if is_membership(n, name)}
    others = [n for n in gast.walk(function) if isinstance(n, gast.Name) and n.id == name
              and id(n) not in asked]
    known = {key.value for key in display.keys} | {
        n.slice.value for step in function.body if isinstance(step, (gast.Assign, gast.AugAssign))
        for n in gast.walk(step) if is_entry(n, name) and isinstance(n.ctx, gast.Store)
    }
    given = {n.slice.value for n in gast.walk(function)
             if is_entry(n, name) and isinstance(n.ctx, gast.Store)}
    mixed = any(isinstance(value, MIXED) for value in display.values)
    return len(others) == 1 and (
        (mixed and not given <= known) or (given <= known and are_swapped(function, name)))


def are_swapped(function: Any, name: str) -> bool:
    """Say whether entries are given to other entries, ``s["a"], s["b"] = s["b"], s["a"]``."""
    return any(
        isinstance(step, gast.Assign) and isinstance(step.value, gast.Tuple)
        and isinstance(step.targets[0], gast.Tuple)
        and any(is_entry(one, name) for one in step.targets[0].elts)
        and any(is_entry(one, name) for one in step.value.elts)
        for step in gast.walk(function)
    )


def is_entry(node: Any, name: str) -> bool:
    """Say whether an expression is ``name["text"]``, read or written."""
    return (
        isinstance(node, gast.Subscript) and isinstance(node.value, gast.Name)
        and node.value.id == name and is_text(node.slice) and not isinstance(node.ctx, gast.Del)
    )


def is_membership(node: Any, name: str) -> bool:
    """Say whether an expression is ``"text" in name``, or ``not in``."""
    return (
        isinstance(node, gast.Compare) and len(node.ops) == 1
        and isinstance(node.ops[0], (gast.In, gast.NotIn)) and is_text(node.left)
        and isinstance(node.comparators[0], gast.Name) and node.comparators[0].id == name
    )


class Writer(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the makings of some dicts, and all that asks them, anew."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Assign(self, node: Any) -> Any:
        """``s = {"path": []}``."""
        self.generic_visit(node)
        target, value = node.targets[0], node.value
        if not isinstance(target, gast.Name) or target.id not in self.names:
            return node
        made = gast.Call(gast.Constant(EntriesOfDict, None), [], [])
        given = [(key.value, one) for key, one in zip(value.keys, value.values, strict=True)]
        return [
            gast.Assign([target], made, None),
            *(gast.Assign([attribute(target.id, key, gast.Store())], one, None)
              for key, one in given),
        ]

    def visit_Subscript(self, node: Any) -> Any:
        """``s["last"]``."""
        self.generic_visit(node)
        for name in self.names:
            if is_entry(node, name):
                return gast.copy_location(attribute(name, node.slice.value, node.ctx), node)
        return node

    def visit_Compare(self, node: Any) -> Any:
        """``"last" in s``."""
        self.generic_visit(node)
        for name in self.names:
            if is_membership(node, name):
                found: Any = gast.Call(
                    gast.Constant(hasattr, None),
                    [gast.Name(name, gast.Load(), None, None), node.left], [])
                if isinstance(node.ops[0], gast.NotIn):
                    found = gast.UnaryOp(gast.Not(), found)
                return gast.copy_location(found, node)
        return node


def attribute(name: str, key: str, context: Any) -> Any:
    """Return an attribute of a variable."""
    return gast.Attribute(gast.Name(name, gast.Load(), None, None), key, context)

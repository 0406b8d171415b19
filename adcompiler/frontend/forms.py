"""Statements that are written in others before a function is lowered: one row for each.

What other statements can express needs nothing but its row in ``FORMS``: no analysis of the source
and no lowering ever sees it. What they cannot has a method ``parse_<Node>`` of the lowering.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gast

from adcompiler.frontend.names import FunctionNode
from adcompiler.frontend.rewriting.cached_functions import cached
from adcompiler.frontend.rewriting.source_map import placed
from adcompiler.frontend.rewriting.walking import walk

Rewrite = Callable[[Any], "list[gast.stmt] | None"]
"""Returns the statements that stand for one, or None: this one is left as it is."""


def annotated(node: gast.AnnAssign) -> list[gast.stmt] | None:
    """``x: kind = value`` is ``x = value``: Python evaluates no annotation of a local variable."""
    if node.value is None:
        return None
    return [gast.Assign([node.target], node.value, None)]


FORMS: dict[type, Rewrite] = {gast.AnnAssign: annotated, gast.FunctionDef: cached}


class Rewriter(gast.NodeTransformer):
    """Writes each statement of ``FORMS`` in others, from the inside, but not the whole function."""

    def __init__(self, function: FunctionNode) -> None:
        self.function = function

    def visit(self, node: gast.AST) -> gast.AST | list[gast.stmt]:
        """Return what stands for ``node``; what is written anew has its place."""
        self.generic_visit(node)
        rewrite = FORMS.get(type(node)) if node is not self.function else None
        rows = None if rewrite is None else rewrite(node)
        return node if rows is None else [placed(row, node) for row in rows]


def in_other_forms(node: FunctionNode) -> FunctionNode:
    """Return a function, all statements of ``FORMS`` in it and in those it makes written anew."""
    if not any(type(inner) in FORMS for inner in walk(node) if inner is not node):
        return node
    node = copy.deepcopy(node)
    Rewriter(node).visit(node)
    return node

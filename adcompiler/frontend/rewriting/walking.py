"""Walks through parsed text, which every rewriter of the frontend takes before it does anything.

In the order of ``gast.walk`` and ``gast.iter_child_nodes``, and in less time: no generator stands
between a node and its children.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast


def children(node: gast.AST) -> list[gast.AST]:
    """Return the nodes that are directly inside of one."""
    found: list[gast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [one for one in value if isinstance(one, gast.AST)]
        elif isinstance(value, gast.AST):
            found.append(value)
    return found


def walk(node: gast.AST) -> Iterator[gast.AST]:
    """Iterate over a node and all that is in it; what is yielded may be changed then."""
    found = [node]
    for one in found:  # grows meanwhile
        if one._fields:
            found += children(one)
        yield one

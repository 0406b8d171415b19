"""Gives the targets of comprehensions names of their own, so that names mean what scopes say.

A comprehension has a scope: ``[f() * k for k in ks]`` leaves the ``k`` of the function around, and
what ``f`` captures, alone. The lowering has one table of variables for each function, so a target
gets a name in it that no text can have; ``shown`` returns what the text calls it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import gast

from adcompiler.frontend.names import COMPREHENSIONS, FunctionNode, assigned_names
from adcompiler.frontend.rewriting.walking import children, walk

MARK = "#"
"""What stands between a target's name and the number of its comprehension."""


def shown(name: str) -> str:
    """Return the name that a variable has in the text."""
    return name.partition(MARK)[0]


def rename_targets(function: FunctionNode) -> None:
    """Rename the targets of all comprehensions in a parsed function, with what reads them."""
    if any(isinstance(node, COMPREHENSIONS) for node in walk(function)):
        _rename(function, {}, itertools.count(1))


def _rename(node: gast.AST, names: Mapping[str, str], numbers: Iterator[int]) -> None:
    """Rename in ``node`` what ``names`` has: the targets of the comprehensions around it."""
    inside = children(node)
    if isinstance(node, gast.Name):
        node.id = names.get(node.id, node.id)
    elif isinstance(node, COMPREHENSIONS):
        first, number = node.generators[0], next(numbers)
        _rename(first.iter, names, numbers)  # in the scope around
        targets = (name for part in node.generators for name in assigned_names(part.target))
        names = {**names, **{name: f"{name}{MARK}{number}" for name in targets}}
        inside = [first.target, *first.ifs, *(part for part in inside if part is not first)]
    elif isinstance(node, gast.Lambda) and names:
        own = assigned_names(node)
        inside = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        _rename(node.body, {old: new for old, new in names.items() if old not in own}, numbers)
    for child in inside:
        _rename(child, names, numbers)

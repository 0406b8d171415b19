"""What is written into parsed functions: nodes have places in the text, and names are unused."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast


def placed(tree: Any, node: Any) -> Any:
    """Return a new tree whose nodes without a position have that of ``node``."""
    for inner in gast.walk(tree):
        if getattr(inner, "lineno", None) is None:
            gast.copy_location(inner, node)
    return tree


def rewritten(writer: Any, statements: Iterable[Any]) -> list[Any]:
    """Return what a transformer of gast writes for statements, each at the place of its own."""
    rows: list[Any] = []
    for statement in statements:
        new = writer.visit(statement)
        rows += [placed(row, statement) for row in (new if isinstance(new, list) else [new])]
    return rows


def unused_name(base: str, taken: set[str]) -> str:
    """Return a name that is not among those taken, and is from now on."""
    name, number = base, 0
    while name in taken:
        number += 1
        name = f"{base}_{number}"
    taken.add(name)
    return name

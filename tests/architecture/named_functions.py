"""Finds where the compiler decides by the identity of a library function, or by its name.

What is known of functions stands in ``adcompiler.ops`` and beside rules. A module that *writes*
calls, ``Call(Const(np.reshape), ...)``, or makes some, decides nothing.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2] / "adcompiler"
HOMES = ("ops", "runtime", "rulekit", "ir/operators.py")
"""Where facts about functions have their place, and what is not a stage of the compiler."""

LIBRARIES = frozenset({
    "cmath", "functools", "itertools", "math", "numpy", "operator", "random", "scipy", "statistics",
})
REGISTERING = frozenset({"transfer", "methods", "folds"})
"""Functions that enter what they are given in a table."""


def imported(nodes: list[ast.AST]) -> dict[str, str]:
    """Return what the names of a module stand for that are imported from libraries."""
    found = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for name in node.names:
                root = name.name.partition(".")[0]
                if root in LIBRARIES:
                    found[name.asname or root] = name.name if name.asname else root
        elif isinstance(node, ast.ImportFrom):
            for name in node.names:
                if str(node.module).partition(".")[0] in LIBRARIES:
                    found[name.asname or name.name] = f"{node.module}.{name.name}"
    return found


@functools.cache
def meant(name: str) -> Any:
    """Return what a dotted name leads to, None if it leads nowhere."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            value: Any = importlib.import_module(".".join(parts[:count]))
        except ImportError:
            continue
        for part in parts[count:]:
            value = getattr(value, part, None)
        return value
    return None


def is_function(value: Any) -> bool:
    """Say whether a value is a function, of those that programs call."""
    return callable(value) and not isinstance(value, type)


def named(node: ast.expr, names: dict[str, str]) -> str | None:
    """Return the name of the library function that an expression, or a string, names."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
        known = text.partition(".")[0] in LIBRARIES and text.replace(".", "").isidentifier()
        return text if known and "." in text and is_function(meant(text)) else None
    parts = []
    inner = node
    while isinstance(inner, ast.Attribute):
        parts.append(inner.attr)
        inner = inner.value
    if not isinstance(inner, ast.Name):
        return None
    if not parts and inner.id not in names:
        return inner.id if is_function(getattr(builtins, inner.id, None)) else None
    if inner.id not in names:
        return None
    name = ".".join((names[inner.id], *reversed(parts)))
    return name if is_function(meant(name)) else None


def entries(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expressions that a node compares something with, or has as entries of a table."""
    match node:
        case ast.Compare(left, operators, comparators):
            if any(isinstance(o, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)) for o in operators):
                yield from (left, *comparators)
        case ast.Set(items) | ast.List(items) | ast.Tuple(items):
            yield from items
        case ast.Dict(keys):
            yield from (key for key in keys if key is not None)
        case ast.MatchValue(value):
            yield value
        case ast.Call(ast.Name(name), args) if name in REGISTERING:
            yield from args


def decisions(text: str) -> list[tuple[int, str]]:
    """Return the line and name of each library function that a module decides about."""
    nodes = list(ast.walk(ast.parse(text)))
    names = imported(nodes)
    handed_on = {
        id(arg) for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) for arg in node.args
    }
    found = []
    for node in nodes:
        if id(node) in handed_on:
            continue
        for entry in entries(node):
            name = named(entry, names)
            if name is not None:
                found.append((entry.lineno, name))
    return sorted(found)


def is_pythons(name: str) -> bool:
    """Say whether a name is that of an operator, a builtin function or an iterator of Python."""
    return "." not in name or name.partition(".")[0] in ("functools", "itertools", "operator")


def modules() -> dict[str, Path]:
    """Return the files of the compiler's stages, by what they are called in the package."""
    return {
        str(file.relative_to(ROOT)): file for file in sorted(ROOT.rglob("*.py"))
        if not file.relative_to(ROOT).as_posix().startswith(HOMES)
    }


if __name__ == "__main__":
    for name, file in modules().items():
        found = decisions(file.read_text(encoding="utf-8"))
        if found:
            shown = " ".join(f"{n}:{line}" for line, n in found) if "-v" in sys.argv else ""
            sys.stdout.write(f'    "{name}": {len(found)},{shown}\n')

"""Several emitted modules as one: imports united, functions side by side, no name twice."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Mapping, Sequence

from adcompiler.errors import InternalError


def merge(texts: Sequence[str]) -> str:
    """Return one module with the imports and functions of all ``texts``, in order.

    A function that was written before, word for word, is shared; another one of the same name gets
    a number behind it.
    """
    plain: dict[str, None] = {}
    members: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    for text in texts:
        for node in ast.parse(text).body:
            if isinstance(node, ast.Import):
                plain[ast.unparse(node)] = None
            elif isinstance(node, ast.ImportFrom):
                members.setdefault(node.module or "", set()).update(map(ast.unparse, node.names))
    rows = [*plain, *itertools.chain(*members.values())]
    taken = {row.split()[-1].partition(".")[0] for row in rows}
    for text in texts:
        add_functions(functions_of(text), written, taken)
    imports = sorted(plain)
    imports += [wrapped_import(module, sorted(names)) for module, names in sorted(members.items())]
    parts = ["\n".join(imports)] if imports else []
    return "\n\n\n".join([*parts, *written.values()]) + "\n"


def wrapped_import(module: str, names: list[str]) -> str:
    """Return ``from module import names``, on several lines if it is long."""
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 100:
        return line
    return f"from {module} import (\n" + "".join(f"    {name},\n" for name in names) + ")"


def functions_of(text: str) -> dict[str, str]:
    """Return the source text of each top-level function, comments included."""
    lines = text.splitlines()
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
    }


def add_functions(functions: dict[str, str], written: dict[str, str], taken: set[str]) -> None:
    """Add the functions of one module to ``written``, under new names where they clash."""
    shared = shared_functions(functions, written)
    names: dict[str, str] = {}
    for name in functions:
        if name not in shared and (name in written or name in taken):
            names[name] = next(
                fresh for number in itertools.count(2)
                if (fresh := f"{name}_{number}") not in {*written, *taken, *functions}
            )
    for name, text in functions.items():
        if name not in shared:
            written[names.get(name, name)] = renamed(text, names)


def shared_functions(functions: dict[str, str], written: dict[str, str]) -> set[str]:
    """Return the names of functions that are written already and call only such functions."""
    shared = {name for name, text in functions.items() if written.get(name) == text}
    while True:
        others = functions.keys() - shared
        kept = {name for name in shared if not names_in(functions[name]) & others}
        if kept == shared:
            return shared
        shared = kept


def names_in(text: str) -> set[str]:
    """Return the names that occur in a function."""
    return {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return the text of a function with functions renamed, its layout and comments kept."""
    if not names:
        return text
    lines = text.splitlines(keepends=True)
    previous = ""
    found = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME and token.string in names and previous != ".":
            found.append(token)
        previous = token.string
    for token in reversed(found):
        row, column = token.start
        line = lines[row - 1]
        rest = line[column + len(token.string) :]
        lines[row - 1] = line[:column] + names[token.string] + rest
    result = "".join(lines)
    meant = Renaming(names).visit(ast.parse(text))
    if ast.dump(meant) != ast.dump(ast.parse(result)):
        raise InternalError(f"renaming {', '.join(names)} changed the code:\n{result}")
    return result


class Renaming(ast.NodeTransformer):
    """Renames functions in a tree."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Rename a read of a function."""
        return ast.Name(self.names.get(node.id, node.id), node.ctx)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Rename a definition."""
        self.generic_visit(node)
        node.name = self.names.get(node.name, node.name)
        return node

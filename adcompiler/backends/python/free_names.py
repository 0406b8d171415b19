"""Names of the module in emitted functions: imports, builtins, other functions.

A parameter keeps the name that the user gave it, whatever that is. Where it hides a name of the
module that the function needs too, the module gets that under a second name: for a parameter
``list`` there is ``from builtins import list as list_1``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from adcompiler.backends.python.printer.literals import canonical
from adcompiler.errors import InternalError


class FreeName(ast.Name):
    """A name that is read from the module, never a variable of the function around it."""


def free_name(name: str) -> ast.expr:
    """Return the expression that reads a name of the module."""
    return FreeName(name, ast.Load())


def settle(imports: list[ast.stmt], functions: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Make every free name a plain one that its function does not hide; return the imports.

    Imports that give second names are added, those that nothing reads any more are left out.
    """
    free: dict[str, list[tuple[FreeName, set[str]]]] = {}
    every: set[str] = set()
    for function in functions:
        nodes = nodes_of(function)
        if any(type(n) is ast.Constant and is_unwritable(n) for n in nodes):
            nodes = nodes_of(Constants().visit(function))
        variables = {n.id for n in nodes if isinstance(n, ast.Name) and type(n) is not FreeName}
        variables |= {n.arg for n in nodes if isinstance(n, ast.arg)}
        every |= variables
        for node in nodes:
            if isinstance(node, FreeName):
                free.setdefault(node.id, []).append((node, variables))
    every |= free.keys() | {f.name for f in functions if isinstance(f, ast.FunctionDef)}
    bindings = imported(imports)
    added: list[ast.stmt] = []
    for name, reads in free.items():
        hidden = [node for node, variables in reads if name in variables]
        if hidden:
            second = unused(name, every)
            every.add(second)
            added.append(second_import(name, second, bindings, functions))
            for node in hidden:
                node.id = second
        if len(hidden) == len(reads) and name in bindings:
            imports = without(imports, name)
        for node, _ in reads:
            node.__class__ = ast.Name  # type: ignore[assignment]
    return [*imports, *added]


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """Return all nodes of a tree, level by level, as ``ast.walk`` yields them."""
    nodes = [tree]
    for node in nodes:  # which grows meanwhile
        for value in vars(node).values():
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [item for item in value if isinstance(item, ast.AST)]
    return nodes


def is_unwritable(node: ast.Constant) -> bool:
    """Say whether a constant is a number that is printed as a call, as there is no literal."""
    return type(node.value) in (float, complex) and isinstance(canonical(node), ast.Call)


class Constants(ast.NodeTransformer):
    """Writes numbers without a literal as what they are printed as: calls of ``float``."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        """Return the call that a number is printed as, other constants as they are."""
        if not is_unwritable(node):
            return node
        written = canonical(node)
        assert isinstance(written, ast.Call) and isinstance(written.func, ast.Name)
        return ast.Call(free_name(written.func.id), written.args, [])


def imported(imports: Iterable[ast.stmt]) -> dict[str, tuple[str | None, str]]:
    """Return what import statements bind: names, with the module (if any) and what it holds."""
    found: dict[str, tuple[str | None, str]] = {}
    for row in imports:
        if isinstance(row, ast.ImportFrom):
            found.update({a.asname or a.name: (row.module, a.name) for a in row.names})
        elif isinstance(row, ast.Import):
            for alias in row.names:
                root = alias.name.partition(".")[0]
                found[alias.asname or root] = (None, alias.name if alias.asname else root)
    return found


def second_import(
    name: str, second: str, bindings: dict[str, tuple[str | None, str]],
    functions: Sequence[ast.stmt],
) -> ast.stmt:
    """Return the import that gives ``name`` of the module the name ``second`` as well."""
    if any(isinstance(f, ast.FunctionDef) and f.name == name for f in functions):
        raise InternalError(f"a variable hides the emitted function {name}")
    module, held = bindings.get(name, ("builtins", name))
    alias = ast.alias(held, second)
    return ast.Import([alias]) if module is None else ast.ImportFrom(module, [alias], 0)


def without(imports: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Return the import statements without what binds ``name`` only, modules inside apart."""
    found: list[ast.stmt] = []
    for row in imports:
        if isinstance(row, ast.Import) and row.names[0].asname == name:
            continue
        if isinstance(row, ast.Import) and row.names[0].name == name:
            continue
        if isinstance(row, ast.ImportFrom):
            names = [a for a in row.names if (a.asname or a.name) != name]
            if not names:
                continue
            row = ast.ImportFrom(row.module, names, 0)
        found.append(row)
    return found


def unused(name: str, taken: set[str]) -> str:
    """Return ``name`` with the first number behind it that nothing else has."""
    number = 1
    while f"{name}_{number}" in taken:
        number += 1
    return f"{name}_{number}"

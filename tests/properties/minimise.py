"""Makes a failing program small: fewer statements, simpler expressions, while it still fails."""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.properties.programs import Program

Edit = Callable[[ast.Module], bool]


def minimise(
    program: Program, fails: Callable[[Program], bool], rounds: int = 12, seconds: float = 600.0
) -> Program:
    """Return a small program for which ``fails`` still holds, as small as ``seconds`` allow."""
    end = time.monotonic() + seconds
    for _ in range(rounds):
        before = program.source
        for kind in (ast.stmt, ast.expr):
            for index in range(count(program.source)):
                if time.monotonic() > end:
                    return program
                for smaller in smaller_programs(program, index, kind):
                    if fails(smaller):
                        program = smaller
                        break
        if program.source == before:
            break
    return program


def count(source: str) -> int:
    """Return the number of nodes in a program."""
    return sum(1 for _ in ast.walk(ast.parse(source)))


def smaller_programs(program: Program, index: int, kind: type) -> Iterator[Program]:
    """Iterate over the programs made by one edit at node ``index``, a statement or expression."""
    for choice in range(6):
        tree = ast.parse(program.source)
        nodes = list(ast.walk(tree))
        if index >= len(nodes) or not isinstance(nodes[index], kind):
            return
        if edited(tree, nodes[index], choice):
            source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if len(source) < len(ast.unparse(ast.parse(program.source))) + 1:
                yield replace(program, source=source)


def edited(tree: ast.Module, node: ast.AST, choice: int) -> bool:
    """Make ``node`` smaller in place; say whether there was such an edit."""
    if isinstance(node, ast.stmt):
        inner = [*getattr(node, "body", []), *getattr(node, "orelse", [])]
        replacements = [[], inner, getattr(node, "body", []), getattr(node, "orelse", [])]
        if choice >= len(replacements) or (choice and not inner):
            return False
        if isinstance(node, ast.FunctionDef) and choice:
            return False
        return replaced_statement(tree, node, replacements[choice])
    if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        if any(is_part_of_form(node, parent) for parent in ast.walk(tree)):
            return False
        smaller = [c for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
        smaller.append(ast.Constant(1.0))
        if choice >= len(smaller) or isinstance(node, ast.Constant):
            return False
        return replaced_expression(tree, node, copy.deepcopy(smaller[choice]))
    return False


def is_part_of_form(node: ast.expr, parent: ast.AST) -> bool:
    """Say whether another expression cannot stand in the place of ``node``."""
    match parent:
        case ast.Call():
            return node is parent.func
        case ast.Attribute():
            return isinstance(node, ast.Name) and node is parent.value
        case ast.JoinedStr():
            return any(node is child for child in ast.walk(parent))
    return False


def replaced_statement(tree: ast.AST, old: ast.stmt, new: list[ast.stmt]) -> bool:
    for parent in ast.walk(tree):
        for name in ("body", "orelse"):
            rows = getattr(parent, name, None)
            if isinstance(rows, list) and old in rows:
                position = rows.index(old)
                rows[position : position + 1] = new
                if not rows and name == "body" and not isinstance(parent, ast.Module):
                    rows.append(ast.Pass())
                return not (len(new) == 0 and isinstance(old, ast.Pass))
    return False


def replaced_expression(tree: ast.AST, old: ast.expr, new: ast.expr) -> bool:
    for parent in ast.walk(tree):
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
                return True
            if isinstance(value, list) and old in value:
                value[value.index(old)] = new
                return True
    return False

"""The user's functions that code was emitted for: their text, and what is known of its lines."""

from __future__ import annotations

import ast
import linecache
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import field

from adcompiler.errors import cell_of
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir.nodes import Const, Function, Origin, Statement, Unsupported, Var
from adcompiler.ir.visit import bound_inside, defined, direct_uses, walk
from adcompiler.ops.qualified_names import display_name
from adcompiler.ops.rules import Rule
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

Place = tuple[str, int]
"""A file and a line of it."""


@dataclass(frozen=True)
class Block:
    """Lines of a file that are shown: those of a function."""

    file: str
    name: str
    first: int
    lines: tuple[str, ...]

    @property
    def title(self) -> str:
        """The file's name, or the cell's, and the function's."""
        file = name_of(self.file)
        return f"{file}: {self.name}" if self.name else file

    def holds(self, place: Place) -> bool:
        """Say whether a place is one of the block's."""
        return place[0] == self.file and 0 <= place[1] - self.first < len(self.lines)


def name_of(file: str) -> str:
    """Return how a file is called: by its last name, or that of the cell."""
    return cell_of(file) or os.path.basename(file)


@dataclass
class Notes:
    """What is known of the user's lines: types of names, and kinks of what is called there."""

    types: dict[Place, dict[str, set[str]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    kinks: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))


class Files:
    """The texts of files, and the statements and functions that their lines belong to.

    ``documentation`` are lines of docstrings but the first ones.
    """

    def __init__(self) -> None:
        self.lines: dict[str, list[str]] = {}
        self.statements: dict[str, dict[int, int]] = {}
        self.functions: dict[str, list[tuple[int, int, str]]] = {}
        self.documentation: dict[str, set[int]] = {}

    def read(self, file: str) -> None:
        """Read a file, once."""
        if file in self.lines:
            return
        self.lines[file] = [line.rstrip("\n") for line in linecache.getlines(file)]
        starts: dict[int, int] = {}
        functions: list[tuple[int, int, str]] = []
        try:
            tree: ast.AST = ast.parse("\n".join(self.lines[file]))
        except (SyntaxError, ValueError):  # a cell with magics in it
            tree = ast.Module([], [])
        folded = self.documentation[file] = set()
        for node in ast.walk(tree):
            match getattr(node, "body", None):
                case [ast.Expr(value=ast.Constant(value=str())) as text, *_]:
                    folded.update(range(text.lineno + 1, (text.end_lineno or text.lineno) + 1))
            if isinstance(node, ast.stmt):
                starts.update(dict.fromkeys(range(node.lineno, head_end(node) + 1), node.lineno))
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                functions.append((first, node.end_lineno or node.lineno, node.name))
        self.statements[file], self.functions[file] = starts, functions

    def text(self, place: Place) -> str:
        """Return a line of a file, empty if it is not known."""
        file, line = place
        self.read(file)
        return self.lines[file][line - 1] if 0 < line <= len(self.lines[file]) else ""

    def start(self, place: Place) -> Place:
        """Return the first line of the statement that a line belongs to, without its blocks."""
        file, line = place
        self.read(file)
        return file, self.statements[file].get(line, line)

    def block(self, origin: Origin) -> Block:
        """Return the innermost function around a place; the place's own line outside of all."""
        file, line = origin.file, origin.line
        self.read(file)
        lines = self.lines[file]
        around = [one for one in self.functions[file] if one[0] <= line <= one[1]]
        if around:
            first, last, name = max(around)
            return Block(file, name, first, tuple(lines[first - 1:last]))
        shown = lines[line - 1] if 0 < line <= len(lines) else origin.text.rstrip("\n")
        return Block(file, "", line, (shown,))


def head_end(node: ast.stmt) -> int:
    """Return the last line of a statement, of a compound one the last one before its blocks."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0] if isinstance(body[0], ast.stmt) else body[0].pattern
    return max(node.lineno, first.lineno - 1)


def blocks(files: Files, origins: Iterable[Origin]) -> list[Block]:
    """Return the functions that places are in, in their order, none inside of another one."""
    found: dict[Block, None] = {}
    for origin in origins:
        place = origin.file, origin.line
        if is_users(origin.file) and not any(one.holds(place) for one in found):
            found[files.block(origin)] = None
    return [
        one for one in found
        if not any(other is not one and other.holds((one.file, one.first))
                   and len(other.lines) > len(one.lines) for other in found)
    ]


def notes(functions: Iterable[Function], unit: Unit, files: Files) -> Notes:
    """Return what is known of the lines that typed functions come from."""
    found = Notes()
    kinks: dict[int, Rule] = {
        id(rule.function): rule for rule in unit.relied.rules_used if rule.kink}
    for function in functions:
        here = files.start((function.origin.file, function.origin.line))
        for param in function.params:
            found.types[here][param.var.name].add(str(unit.type(param.var)))
        for statement in walk(function.body):
            if isinstance(statement, Unsupported):
                continue
            here = files.start((statement.origin.file, statement.origin.line))
            for var in variables(statement):
                if not var.temporary:
                    found.types[here][var.name].add(str(unit.type(var)))
            called = getattr(getattr(statement, "rhs", None), "func", None)
            rule = kinks.get(id(called.value)) if isinstance(called, Const) else None
            if rule is not None:
                found.kinks[here].add(f"{display_name(rule.function)}: {rule.kink}")
    return found


def variables(statement: Statement) -> Iterator[Var]:
    """Yield the variables that a statement defines, binds and reads."""
    for atom in (*defined(statement), *bound_inside(statement), *direct_uses(statement)):
        if isinstance(atom, Var):
            yield atom

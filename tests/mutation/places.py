"""The places of a module that are worth mutating: code that runs and that decides something.

Left out are docstrings, annotations and aliases of types, lines for type checkers, decorators,
imports, assertions and what raises internal errors, the text of errors, how objects are shown, and
``strict=`` of ``zip``, which is an assertion too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

Position = tuple[int, int]
"""A line from 1 on, and a column of characters."""
Span = tuple[Position, Position]

SHOWING = ("__repr__", "__str__", "shown", "describe")
INTERNAL = ("InternalError", "AssertionError", "NotImplementedError")
SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Raise, ast.Delete,
          ast.Break, ast.Continue, ast.Pass, ast.Nonlocal, ast.Global)


def called(node: ast.AST | None) -> str:
    """The name of what a call calls, without what it is an attribute of."""
    function = node.func if isinstance(node, ast.Call) else node
    return getattr(function, "attr", getattr(function, "id", ""))


def spoken(node: ast.AST) -> bool:
    """Whether a node is no code that runs in production, or only words."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Raise(exc=exc):
            return called(exc) in INTERNAL
        case ast.FunctionDef(name=name):
            return name in SHOWING
        case ast.If(test=test):
            return called(test) == "TYPE_CHECKING"
        case ast.Expr(value=ast.Constant(value=str())):
            return True
        case ast.keyword(arg="strict"):
            return True
        case ast.Assign(value=ast.Subscript(value=ast.Name())):  # an alias of a type
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr(), left=ast.Name(), right=ast.Name())):
            return True
        case ast.Assign(value=ast.BinOp(op=ast.BitOr(), left=ast.Subscript())):
            return True
    return False


def parts(node: ast.AST) -> Iterator[ast.expr]:
    """What stands in a node and is only for readers and type checkers."""
    match node:
        case ast.FunctionDef() | ast.ClassDef():
            yield from node.decorator_list
            if isinstance(node, ast.FunctionDef) and node.returns is not None:
                yield node.returns
            if isinstance(node, ast.ClassDef):
                yield from node.bases
        case ast.arg(annotation=annotation) if annotation is not None:
            yield annotation
        case ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.Raise(exc=exc) if exc is not None:
            yield exc
        case ast.Call(func=ast.Name(id="cast"), args=[kind, *_]):
            yield kind


@dataclass
class Places:
    """Where a module may be mutated, and which statement stands where."""

    tree: ast.Module
    lines: list[str]
    without: list[Span]

    @staticmethod
    def of(source: str) -> Places:
        """The places of a module's text."""
        places = Places(ast.parse(source), source.splitlines(), [])
        at_module = set(places.tree.body)
        for node in ast.walk(places.tree):
            aliased = not isinstance(node, ast.Assign) or node in at_module
            if spoken(node) and aliased:
                places.without.append(places.span(node))
            places.without.extend(places.span(part) for part in parts(node))
        return places

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, in characters."""
        def column(line: int, offset: int) -> Position:
            return line, len(self.lines[line - 1].encode()[:offset].decode())

        return (column(node.lineno, node.col_offset),  # type: ignore[attr-defined]
                column(node.end_lineno, node.end_col_offset))  # type: ignore[attr-defined]

    def mutable(self, at: Position) -> bool:
        """Whether a place is of code that decides something."""
        return not any(begin <= at < end for begin, end in self.without)

    def statement(self, at: Position) -> range:
        """The lines of the innermost statement at a place; of a compound one its head."""
        found = range(at[0], at[0] + 1)
        for node in ast.walk(self.tree):
            if not isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                continue
            first = getattr(node, "lineno", 0) or node.pattern.lineno  # type: ignore[union-attr]
            body = getattr(node, "body", None)
            last = body[0].lineno - 1 if body else node.end_lineno  # type: ignore[union-attr]
            if first <= at[0] <= max(first, last) and not isinstance(node, ast.ClassDef):
                found = range(first, max(first, last) + 1)
        return found

    def function(self, line: int) -> range:
        """The lines of the innermost function around a line; the line alone outside of all."""
        around = [range(n.lineno, (n.end_lineno or 0) + 1) for n in ast.walk(self.tree)
                  if isinstance(n, ast.FunctionDef) and n.lineno <= line <= (n.end_lineno or 0)]
        return min(around, key=len, default=range(line, line + 1))

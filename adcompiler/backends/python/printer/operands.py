"""Lines, tokens, and the parentheses that operands need."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

import astunparse

from adcompiler.backends.python.printer.layout import INDENT, WIDTH, Level, wrap
from adcompiler.backends.python.printer.literals import canonical
from adcompiler.backends.python.printer.tokens import (
    BRACKETS, COMMA, DISPLAYS, PLAIN_COMMA, SOFT_CLOSE, SOFT_OPEN, level_of,
)
from adcompiler.errors import InternalError

Block = Callable[[ast.AST, list[ast.stmt]], None]
"""Writes the statements of what holds them."""


class Output(astunparse.Unparser):  # type: ignore[misc]  # astunparse has no types
    """The lines and tokens of a tree, lines no wider than `width` where possible.

    `parts` are objects with one method per kind of node, which write here; a kind that none of them
    has is printed as astunparse does.
    """

    def __init__(self, width: int = WIDTH) -> None:  # astunparse's own prints at once
        self.parts: tuple[object, ...] = ()
        self._methods: dict[str, Callable[[Any], None]] = {}
        self.future_imports: list[str] = []
        self._indent = 0
        self._width = width
        self.lines: list[str] = []
        self.tokens: list[str] = []
        self._line_indent = 0

    def text(self, tree: ast.AST) -> str:
        """Print a tree, and return all lines."""
        self.dispatch(tree)
        self.end_line()
        return "".join(line + "\n" for line in self.lines)

    def dispatch(self, tree: Any) -> None:
        name = type(tree).__name__
        method = self._methods.get(name)
        if method is None:
            found = (getattr(part, "_" + name, None) for part in (*self.parts, self))
            method = next(filter(None, found), None)
            if method is None or not isinstance(tree, ast.AST):
                raise InternalError(f"cannot print {name}: {tree!r}")
            self._methods[name] = method
        method(tree)

    def write(self, text: str) -> None:
        self.tokens.append(text)

    def fill(self, text: str = "") -> None:
        self.end_line()
        self._line_indent = self._indent
        self.tokens.append(text)

    def end_line(self) -> None:
        if self.tokens:
            self.lines += wrap(self.tokens, INDENT * self._line_indent, self._width)
            self.tokens = []

    def raw_line(self, text: str) -> None:
        """Add a line that is not made of tokens: a comment or a docstring."""
        self.end_line()
        self.lines.append(" " * (INDENT * self._indent) + text)

    def separated(self, items: Iterable[Any], each: Callable[[Any], None], comma: str) -> None:
        for position, item in enumerate(items):
            if position:
                self.write(comma)
            each(item)

    def listed(self, items: Iterable[ast.AST]) -> None:
        """Print nodes with commas between them, where a line may end."""
        self.separated(items, self.dispatch, COMMA)

    def bracketed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = BRACKETS[bracket]
        self.write(opening)
        self.separated(items, each, COMMA)
        self.write(closing)

    def displayed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = DISPLAYS[bracket]
        self.write(opening)
        self.separated(items, each, COMMA)
        self.write(closing)

    def soft(self, node: Any, each: Callable[[Any], None]) -> None:
        """Print `node`, in parentheses only if it needs several lines."""
        self.write(SOFT_OPEN)
        each(node)
        self.write(SOFT_CLOSE)

    def operand(self, node: ast.expr, level: int) -> None:
        """Print `node` where the grammar wants something that binds at least as `level` does."""
        if type(node) is ast.Constant:
            node = canonical(node)
        if level_of(node) >= level:
            self.dispatch(node)
            return
        opening, closing = BRACKETS["("]
        self.write(opening)
        self.dispatch(node)
        self.write(closing)

    def test(self, node: ast.expr) -> None:
        self.operand(node, Level.TEST)

    def named(self, node: ast.expr) -> None:
        self.operand(node, Level.NAMED)

    def atom(self, node: ast.expr) -> None:
        self.operand(node, Level.ATOM)

    def tuple_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self.separated(node.elts, self.test, COMMA)
        else:
            self.test(node)

    def value(self, node: ast.expr) -> None:
        """Print the right-hand side of an assignment: tuples and yields stand bare."""
        if isinstance(node, ast.Yield | ast.YieldFrom):
            self.dispatch(node)
        else:
            self.tuple_or_test(node)

    def target(self, node: ast.expr) -> None:
        """Print what a loop assigns to; no line may end inside."""
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self.separated(node.elts, self.atom, PLAIN_COMMA)
        else:
            self.atom(node)

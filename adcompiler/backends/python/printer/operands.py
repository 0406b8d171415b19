"""Lines, tokens, and the parentheses that operands need."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

import astunparse

from adcompiler.backends.python.printer.layout import INDENT, WIDTH, Level, wrap
from adcompiler.backends.python.printer.literals import canonical
from adcompiler.backends.python.printer.tokens import (
    BRACKETS, COMMA, DISPLAYS, PLAIN_COMMA, SOFT_CLOSE, SOFT_OPEN, level_of,
)
from adcompiler.errors import InternalError


class OperandEmitter(astunparse.Unparser):  # type: ignore[misc]  # astunparse has no types
    """Writes the source of `tree` to `file`, lines no wider than `width` where possible."""

    def __init__(self, tree: ast.AST, file: TextIO, width: int = WIDTH) -> None:
        # The base class prints from its constructor, straight to the file; here lines come first.
        self.f = file
        self.future_imports: list[str] = []
        self._indent = 0
        self._width = width
        self._lines: list[str] = []
        self._tokens: list[str] = []
        self._line_indent = 0
        self._quotes: Sequence[str] | None = None  # inside an f-string: the quotes left to use
        self.dispatch(tree)
        self._end_line()
        file.write("".join(line + "\n" for line in self._lines))

    def dispatch(self, tree: Any) -> None:
        method = getattr(self, "_" + type(tree).__name__, None)
        if method is None or not isinstance(tree, ast.AST):
            raise InternalError(f"cannot print {type(tree).__name__}: {tree!r}")
        method(tree)

    def write(self, text: str) -> None:
        self._tokens.append(text)

    def fill(self, text: str = "") -> None:
        self._end_line()
        self._line_indent = self._indent
        self._tokens.append(text)

    def _end_line(self) -> None:
        if self._tokens:
            self._lines += wrap(self._tokens, INDENT * self._line_indent, self._width)
            self._tokens = []

    def _raw_line(self, text: str) -> None:
        """Add a line that is not made of tokens: a comment or a docstring."""
        self._end_line()
        self._lines.append(" " * (INDENT * self._indent) + text)

    def _separated(self, items: Iterable[Any], each: Callable[[Any], None], comma: str) -> None:
        for position, item in enumerate(items):
            if position:
                self.write(comma)
            each(item)

    def _bracketed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = BRACKETS[bracket]
        self.write(opening)
        self._separated(items, each, COMMA)
        self.write(closing)

    def _displayed(self, bracket: str, items: Iterable[Any], each: Callable[[Any], None]) -> None:
        opening, closing = DISPLAYS[bracket]
        self.write(opening)
        self._separated(items, each, COMMA)
        self.write(closing)

    def _soft(self, node: Any, each: Callable[[Any], None]) -> None:
        """Print `node`, in parentheses only if it needs several lines."""
        self.write(SOFT_OPEN)
        each(node)
        self.write(SOFT_CLOSE)

    def _operand(self, node: ast.expr, level: int) -> None:
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

    def _test(self, node: ast.expr) -> None:
        self._operand(node, Level.TEST)

    def _named(self, node: ast.expr) -> None:
        self._operand(node, Level.NAMED)

    def _atom(self, node: ast.expr) -> None:
        self._operand(node, Level.ATOM)

    def _tuple_or_test(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self._separated(node.elts, self._test, COMMA)
        else:
            self._test(node)

    def _value(self, node: ast.expr) -> None:
        """Print the right-hand side of an assignment: tuples and yields stand bare."""
        if isinstance(node, ast.Yield | ast.YieldFrom):
            self.dispatch(node)
        else:
            self._tuple_or_test(node)

    def _target(self, node: ast.expr) -> None:
        """Print what a loop assigns to; no line may end inside."""
        if isinstance(node, ast.Tuple) and len(node.elts) > 1:
            self._separated(node.elts, self._atom, PLAIN_COMMA)
        else:
            self._atom(node)

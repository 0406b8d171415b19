"""The source of match statements."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.layout import Level
from adcompiler.backends.python.printer.operands import Block, Output
from adcompiler.backends.python.printer.tokens import SPACE


class Patterns:
    """Writes match statements and their patterns; ``block`` writes the statements of a case."""

    def __init__(self, out: Output, block: Block) -> None:
        self.out, self._block = out, block

    def _Match(self, t: ast.Match) -> None:
        self.out.fill("match ")
        self.out.soft(t.subject, self._subject)
        self.out.enter()
        for case in t.cases:
            self.out.dispatch(case)
        self.out.leave()

    def _subject(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self.out.tuple_or_test(node)
        else:
            self.out.named(node)

    def _match_case(self, t: ast.match_case) -> None:
        self.out.fill("case ")
        self.out.soft(t.pattern, self.out.dispatch)
        if t.guard:
            self.out.write(" if ")
            self.out.soft(t.guard, self.out.named)
        self._block(t, t.body)

    def _MatchValue(self, t: ast.MatchValue) -> None:
        self.out.test(t.value)

    def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
        self.out.write(repr(t.value))

    def _MatchSequence(self, t: ast.MatchSequence) -> None:
        self.out.displayed("[", t.patterns, self.out.dispatch)

    def _MatchStar(self, t: ast.MatchStar) -> None:
        self.out.write("*" + (t.name or "_"))

    def _MatchMapping(self, t: ast.MatchMapping) -> None:
        items: list[Any] = [*zip(t.keys, t.patterns, strict=True)]
        self.out.displayed("{", items + [t.rest] * (t.rest is not None), self._mapping_item)

    def _mapping_item(self, item: tuple[ast.expr, ast.pattern] | str) -> None:
        if isinstance(item, str):
            self.out.write("**" + item)
        else:
            self.out.test(item[0])
            self.out.write(": ")
            self.out.dispatch(item[1])

    def _MatchClass(self, t: ast.MatchClass) -> None:
        self.out.atom(t.cls)
        named = zip(t.kwd_attrs, t.kwd_patterns, strict=True)
        items = [("", pattern) for pattern in t.patterns]
        items += [(f"{name}=", pattern) for name, pattern in named]
        self.out.bracketed("(", items, self._class_item)

    def _class_item(self, item: tuple[str, ast.pattern]) -> None:
        self.out.write(item[0])
        self.out.dispatch(item[1])

    def _MatchAs(self, t: ast.MatchAs) -> None:
        if t.pattern:
            self._closed_pattern(t.pattern, ast.MatchAs)
            self.out.write(" as ")
        self.out.write(t.name or "_")

    def _MatchOr(self, t: ast.MatchOr) -> None:
        for position, pattern in enumerate(t.patterns):
            if position:
                self.out.write(SPACE[Level.BIT_OR])
                self.out.write("| ")
            self._closed_pattern(pattern, ast.MatchAs, ast.MatchOr)

    def _closed_pattern(self, pattern: ast.pattern, *open_kinds: type[ast.pattern]) -> None:
        """Print a pattern, in parentheses if it is one of `open_kinds` and not just a name."""
        is_name = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if isinstance(pattern, open_kinds) and not is_name:
            self.out.bracketed("(", [pattern], self.out.dispatch)
        else:
            self.out.dispatch(pattern)

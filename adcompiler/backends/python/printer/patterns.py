"""The source of match statements."""

from __future__ import annotations

import ast
from typing import Any

from adcompiler.backends.python.printer.fstrings import TextEmitter
from adcompiler.backends.python.printer.layout import Level
from adcompiler.backends.python.printer.tokens import SPACE


class PatternEmitter(TextEmitter):
    """Writes match statements and their patterns."""

    def _Match(self, t: ast.Match) -> None:
        self.fill("match ")
        self._soft(t.subject, self._subject)
        self.enter()
        for case in t.cases:
            self.dispatch(case)
        self.leave()

    def _subject(self, node: ast.expr) -> None:
        if isinstance(node, ast.Tuple):
            self._tuple_or_test(node)
        else:
            self._named(node)

    def _match_case(self, t: ast.match_case) -> None:
        self.fill("case ")
        self._soft(t.pattern, self.dispatch)
        if t.guard:
            self.write(" if ")
            self._soft(t.guard, self._named)
        self._block(t, t.body)

    def _MatchValue(self, t: ast.MatchValue) -> None:
        self._test(t.value)

    def _MatchSingleton(self, t: ast.MatchSingleton) -> None:
        self.write(repr(t.value))

    def _MatchSequence(self, t: ast.MatchSequence) -> None:
        self._displayed("[", t.patterns, self.dispatch)

    def _MatchStar(self, t: ast.MatchStar) -> None:
        self.write("*" + (t.name or "_"))

    def _MatchMapping(self, t: ast.MatchMapping) -> None:
        items: list[Any] = [*zip(t.keys, t.patterns, strict=True)]
        self._displayed("{", items + [t.rest] * (t.rest is not None), self._mapping_item)

    def _mapping_item(self, item: tuple[ast.expr, ast.pattern] | str) -> None:
        if isinstance(item, str):
            self.write("**" + item)
        else:
            self._test(item[0])
            self.write(": ")
            self.dispatch(item[1])

    def _MatchClass(self, t: ast.MatchClass) -> None:
        self._atom(t.cls)
        named = zip(t.kwd_attrs, t.kwd_patterns, strict=True)
        items = [("", pattern) for pattern in t.patterns]
        items += [(f"{name}=", pattern) for name, pattern in named]
        self._bracketed("(", items, self._class_item)

    def _class_item(self, item: tuple[str, ast.pattern]) -> None:
        self.write(item[0])
        self.dispatch(item[1])

    def _MatchAs(self, t: ast.MatchAs) -> None:
        if t.pattern:
            self._closed_pattern(t.pattern, ast.MatchAs)
            self.write(" as ")
        self.write(t.name or "_")

    def _MatchOr(self, t: ast.MatchOr) -> None:
        for position, pattern in enumerate(t.patterns):
            if position:
                self.write(SPACE[Level.BIT_OR])
                self.write("| ")
            self._closed_pattern(pattern, ast.MatchAs, ast.MatchOr)

    def _closed_pattern(self, pattern: ast.pattern, *open_kinds: type[ast.pattern]) -> None:
        """Print a pattern, in parentheses if it is one of `open_kinds` and not just a name."""
        is_name = isinstance(pattern, ast.MatchAs) and pattern.pattern is None
        if isinstance(pattern, open_kinds) and not is_name:
            self._bracketed("(", [pattern], self.dispatch)
        else:
            self.dispatch(pattern)

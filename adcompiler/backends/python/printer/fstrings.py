"""Constants and f-strings. Within an f-string Python 3.11 allows no backslash or reused quote."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from typing import Any

from adcompiler.backends.python.printer.layout import Break, Level
from adcompiler.backends.python.printer.literals import (
    LONG_TEXT,
    QUOTES,
    break_after,
    canonical,
    chunks,
    escaped,
    number,
    preferred_quote,
    text_tokens,
    verbatim,
)
from adcompiler.backends.python.printer.operands import Output
from adcompiler.backends.python.printer.round_trip import fstring_parts
from adcompiler.errors import InternalError


def _prefix(t: ast.Constant) -> str:
    if isinstance(t.value, bytes):
        return "b"
    return "u" if getattr(t, "kind", None) == "u" else ""


class _NeedsBackslash(Exception):
    """A string inside an f-string cannot be written with the quotes that are left."""


class Texts:
    """Writes constants and f-strings."""

    def __init__(self, out: Output) -> None:
        self.out = out
        self._quotes: Sequence[str] | None = None  # inside an f-string: the quotes left to use

    def _Constant(self, t: ast.Constant) -> None:
        meant = canonical(t)
        if meant is not t:
            self.out.dispatch(meant)
        elif not isinstance(t.value, str | bytes):
            self.out.write(number(t.value))
        elif self._quotes is None:
            self.out.tokens += text_tokens(t.value, _prefix(t))
        else:
            self.out.write(self._verbatim(t.value, _prefix(t)))

    def _verbatim(self, value: str | bytes, prefix: str) -> str:
        """Return a string inside an f-string: Python 3.11 allows no backslash there."""
        for quote in self._quotes or ():
            body = verbatim(value, quote)
            if body is not None:
                return prefix + quote + body + quote
        raise _NeedsBackslash

    def _JoinedStr(self, t: ast.JoinedStr) -> None:
        values = fstring_parts(t.values)
        quotes = self._fstring_quotes(values)
        for quote in quotes:
            try:
                tokens = self._fstring(values, quote, [q for q in quotes if quote not in q])
            except _NeedsBackslash:
                continue
            self.out.tokens += tokens
            return
        if self._quotes is not None:
            raise _NeedsBackslash
        if sys.version_info < (3, 12):
            raise InternalError("an f-string holds a string that Python 3.11 cannot write in it")
        self.out.tokens += self._fstring(values, quotes[0], None)

    def _fstring_quotes(self, values: list[str | ast.expr]) -> Sequence[str]:
        """Return the quotes to try, the best first."""
        if self._quotes is not None:
            return self._quotes
        text = "".join(value for value in values if isinstance(value, str))
        return sorted(QUOTES, key=preferred_quote(text).__ne__)

    def _fstring(
        self, values: list[str | ast.expr], quote: str, inner: Sequence[str] | None
    ) -> list[str]:
        """Return the tokens of an f-string whose fields use only the quotes `inner`."""
        tokens = ["f" + quote]
        texts = [value for value in values if isinstance(value, str)]
        long = len(quote) == 1 and sum(map(len, texts)) > LONG_TEXT
        for value in values:
            if not isinstance(value, str):
                tokens.append(self._field(value, quote, inner))
                continue
            for piece in chunks(value) if long else [value]:
                tokens.append(self._fstring_text(piece, quote))
                if long and piece[-1:] in (" ", "\n"):
                    tokens.append(break_after(piece, "f", quote))
        if isinstance(tokens[-1], Break):
            del tokens[-1]
        return [*tokens, quote]

    def _fstring_text(self, text: Any, quote: str) -> str:
        body = escaped(text, quote) if self._quotes is None else verbatim(text, quote)
        if body is None:
            raise _NeedsBackslash
        return body.replace("{", "{{").replace("}", "}}")

    def _field(self, t: Any, quote: str, inner: Sequence[str] | None) -> str:
        """Return one ``{value!conversion:format}``."""
        if not isinstance(t, ast.FormattedValue):
            raise InternalError(f"{type(t).__name__} cannot be part of an f-string")
        text = self._field_value(t.value, inner)
        if inner is not None and (quote in text or "\\" in text):
            raise _NeedsBackslash
        if "\n" in text and len(quote) == 1:
            raise _NeedsBackslash
        text = "{ " + text if text.startswith("{") else "{" + text
        conversion = getattr(t, "conversion", -1)
        if conversion not in (-1, None):
            text += "!" + chr(conversion)
        specification = getattr(t, "format_spec", None)
        if specification is not None:
            text += ":" + self._specification(specification, quote, inner)
        return text + "}"

    def _field_value(self, node: ast.expr, inner: Sequence[str] | None) -> str:
        outside = self.out.tokens, self._quotes
        self.out.tokens, self._quotes = [], inner
        try:
            self.out.operand(node, Level.OR)  # the colon of a lambda would start the format
            return "".join(self.out.tokens)
        finally:
            self.out.tokens, self._quotes = outside

    def _specification(self, t: ast.JoinedStr, quote: str, inner: Sequence[str] | None) -> str:
        text = ""
        for value in fstring_parts(t.values):
            if isinstance(value, str):
                # Doubled braces are no escape here; the code of the character is.
                plain = escaped(value, quote)
                plain = plain.replace("{", "\\x7b").replace("}", "\\x7d")
                if self._quotes is not None and "\\" in plain:
                    raise _NeedsBackslash
                text += plain
            else:
                text += self._field(value, quote, inner)
        return text

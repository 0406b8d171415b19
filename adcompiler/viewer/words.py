"""The words of Python source, line by line, as what they are shown as."""

from __future__ import annotations

import io
import keyword
import tokenize
from collections import defaultdict
from typing import NamedTuple

KINDS = {tokenize.COMMENT: "comment", tokenize.STRING: "string", tokenize.NUMBER: "number"}
PARTS_OF_TEXTS = ("FSTRING_START", "FSTRING_MIDDLE", "FSTRING_END")
"""Tokens that texts with expressions in them are made of, since Python 3.12."""
TEXTS = {getattr(tokenize, name) for name in PARTS_OF_TEXTS if hasattr(tokenize, name)}


class Word(NamedTuple):
    """Columns of a line, and what stands there: a keyword, a name, a string, ..."""

    start: int
    end: int
    kind: str


def words(text: str) -> dict[int, list[Word]]:
    """Return the words of each line that are shown in a colour, as far as the text can be read."""
    found: dict[int, list[Word]] = defaultdict(list)
    lines = text.splitlines()
    before = ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kind = kind_of(token, before)
            if token.string.strip():
                before = token.string
            if not kind:
                continue
            (first, start), (last, end) = token.start, token.end
            for line in range(first, last + 1):
                left = start if line == first else 0
                right = end if line == last else len(lines[line - 1])
                if left < right:
                    found[line].append(Word(left, right, kind))
    except (tokenize.TokenError, SyntaxError, IndexError):
        pass  # what is not Python any more stays as it is
    return found


def kind_of(token: tokenize.TokenInfo, before: str) -> str:
    """Return what a token is shown as; empty for what has no colour."""
    if token.type in TEXTS:
        return "string"
    if token.type != tokenize.NAME:
        return KINDS.get(token.type, "")
    if keyword.iskeyword(token.string):
        return "keyword"
    if before in ("def", "class"):
        return "defined"
    return "attribute" if before == "." else "name"

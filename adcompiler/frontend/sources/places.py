"""Which line of the user's source the lines of emitted code stand for.

Emitted code is read again where a derivative is differentiated. What is found there is told of the
user's line that it was emitted for.
"""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from adcompiler.ir.atoms import Origin

PSEUDO = "<adcompiler "
"""How the names of files start that hold no user's code."""
PACKAGE = str(Path(__file__).parents[2]) + os.sep
RULES = f"{os.sep}adcompiler_rules{os.sep}"


def is_users(file: str) -> bool:
    """Say whether a file is none of the compiler's, which replacements are written in."""
    return not file.startswith((PSEUDO, PACKAGE)) and RULES not in file


Place = Callable[[], Origin | None]
"""Looks for a place when it is asked for, which may parse."""

_STANDS_FOR: dict[str, tuple[Mapping[int, Origin], Origin | Place]] = {}


def stand_for(file: str, origins: Mapping[int, Origin], rest: Origin | Place) -> None:
    """Note where the lines of an emitted file come from: ``rest`` is that of all others."""
    _STANDS_FOR[file] = origins, rest


def users_place(file: str, line: int) -> Origin | None:
    """Return the user's line that a line of an emitted file stands for, None for other files."""
    if file not in _STANDS_FOR:
        return None
    origins, rest = _STANDS_FOR[file]
    origin = origins.get(line) or (rest if isinstance(rest, Origin) else rest())
    return None if origin is None else replace(origin.via or origin, via=None, reverse=False)


def lines_below(text: str, origins: Sequence[Origin]) -> dict[int, Origin]:
    """Return the origin of each line of a text, whose comments tell ``origins``, in this order.

    A comment holds for what follows in its block, up to the next one.
    """
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    rows = [token.start for token in tokens if token.type == tokenize.COMMENT]
    if len(rows) != len(origins):
        return {}
    starts = {
        row: (column, origin) for (row, column), origin in zip(rows, origins, strict=True)
    }
    found: dict[int, Origin] = {}
    around: list[tuple[int, Origin]] = []
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if line.strip():
            around = [it for it in around if it[0] <= indent]
        if number in starts:
            around = [*(it for it in around if it[0] < indent), starts[number]]
        if around:
            found[number] = around[-1][1]
    return found

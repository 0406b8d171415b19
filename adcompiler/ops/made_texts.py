"""The text of functions that the compiler makes in memory, which linecache may lose."""

from __future__ import annotations

import linecache

LINES: dict[str, list[str]] = {}
"""The lines of each text, by the name of its file."""


def keep_lines(file: str, text: str) -> None:
    """Keep a text for as long as the process lives, and enter it into linecache."""
    LINES[file] = text.splitlines(keepends=True)
    kept_lines(file)


def kept_lines(file: str) -> list[str]:
    """Return the lines that are kept under a file's name, and enter them into linecache again."""
    lines = LINES.get(file, [])
    if lines:
        linecache.cache[file] = (sum(map(len, lines)), None, lines, file)
    return lines

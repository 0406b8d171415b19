"""Texts that Python was given to run without a file: ``python -c``, standard input, a prompt.

What is yielded is no more than a guess at where a function stands: it is the function's text where
it compiles to the function's code.
"""

from __future__ import annotations

import os
import stat
import sys
import textwrap
from collections.abc import Callable, Iterator
from types import CodeType
from typing import TypeVar

LAMBDA = "<lambda>"
REMEDY = "register a rule for it with `@rrule(f)`, or define it in a file"
COMMAND = "<string>"
"""The file of what ``exec`` is given, and of the text of ``python -c``."""
INPUT = "<stdin>"
"""The file of what standard input has, be it a file or a prompt."""
PROMPTS = (INPUT, "<console>")
MOST_LINES = 5000
"""So many lines of a prompt's history are looked through, the newest first."""
WHERE = (
    "define it in a file (`python -i file.py` gives a prompt that has it) or a notebook, make it "
    "of a text by `adcompiler.compile_text(text)`, or register a rule for it with `@rrule(f)`"
)


Found = TypeVar("Found")


def remedy_for(file: str) -> str:
    """Return what to do about a function of which the text is not found."""
    if file in (COMMAND, *PROMPTS):
        return WHERE
    made = "" if os.path.exists(file) else "make it by `adcompiler.compile_text(text)`, or "
    return made + REMEDY


def find_given(
    code: CodeType, find: Callable[[CodeType, list[str]], Found | None]
) -> Found | None:
    """Return what is found of a function in the texts without a file, None if in none of them."""
    return next(filter(None, (find(code, lines) for lines in texts_given(code))), None)


def texts_given(code: CodeType) -> Iterator[list[str]]:
    """Yield texts that a function may stand in, by lines, each with the first line at its place."""
    if code.co_filename == COMMAND:
        for text in commands():
            yield text.splitlines(keepends=True)
            yield textwrap.dedent(text).splitlines(keepends=True)
    if code.co_filename == INPUT:
        yield input_lines()
    if code.co_filename in PROMPTS:
        yield from typed_lines(code)


def commands() -> Iterator[str]:
    """Yield what may be the text of ``python -c``."""
    arguments = sys.orig_argv[1:]
    for i, argument in enumerate(arguments):
        if not argument.startswith("-") or argument.startswith("--"):
            continue
        _, option, rest = argument.partition("c")
        if option and rest:
            yield rest
        elif option:
            yield from arguments[i + 1 : i + 2]


def input_lines() -> list[str]:
    """Return the lines of a file that is standard input; none of a pipe or terminal."""
    try:
        descriptor = 0 if sys.__stdin__ is None else sys.__stdin__.fileno()
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not hasattr(os, "pread"):
            return []
        text = os.pread(descriptor, status.st_size, 0)
    except (OSError, ValueError):
        return []
    return text.decode("utf-8", "replace").splitlines(keepends=True)


def typed_lines(code: CodeType) -> Iterator[list[str]]:
    """Yield what was typed at a prompt, from each place that the function may have begun at."""
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    history = [readline.get_history_item(i + 1) for i in range(max(count - MOST_LINES, 0), count)]
    lines = [f"{line or ''}\n" for line in history]
    word = "lambda" if code.co_name == LAMBDA else f"def {code.co_name}"
    before = code.co_firstlineno - 1
    for first in range(len(lines) - 1, -1, -1):
        line = lines[first]
        if (word in line or line.lstrip().startswith("@")) and first >= before:
            yield lines[first - before :]

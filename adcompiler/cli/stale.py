"""Written modules say which command wrote them, so that it can be asked what it writes now."""

from __future__ import annotations

import argparse
import difflib
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from adcompiler.cli.target import UsageError

WRITTEN_BY = "Written by: adcompiler dump "
SIGNS = {"c": "//", "llvm": ";"}
"""How lines start that are comments, by ``--native``."""
SHOWN = 40
"""So many lines of a difference are shown."""
WORDS = ("mode", "argnums", "args", "stage", "native")
FLAGS = ("has_aux", "standalone", "skip_refused", "static")


def with_command(text: str, options: argparse.Namespace) -> str:
    """Return a text with a first line that says by which command it was written."""
    words = [options.target]
    for name in WORDS:
        value = getattr(options, name)
        if value and (name, value) != ("stage", "source"):
            words += [f"--{name}", value]
    words += [f"--{name.replace('_', '-')}" for name in FLAGS if getattr(options, name)]
    return f"{SIGNS.get(options.native, '#')} {WRITTEN_BY}{shlex.join(words)}\n{text}"


def command_of(file: str) -> list[str]:
    """Return the words of the command that wrote a file; UsageError where it does not say so."""
    try:
        lines = Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}") from None
    _, found, words = (lines[0] if lines else "").partition(WRITTEN_BY)
    if not found:
        raise UsageError(
            f"{file} does not say by which command it was written: its first line would be "
            f"`# {WRITTEN_BY}...`, as `adcompiler dump -o` writes it")
    return shlex.split(words)


def compared(file: str, text: str) -> int:
    """Return 0 if a file is what it would be if it were written now, else tell how it differs."""
    before = Path(file).read_text(encoding="utf-8")
    if before == text:
        print(f"{file} is what the command writes now")
        return 0
    difference: Sequence[str] = list(difflib.unified_diff(
        before.splitlines(), text.splitlines(), file, f"{file}, written now", lineterm=""))
    print("\n".join(difference[:SHOWN]))
    if len(difference) > SHOWN:
        print(f"... and {len(difference) - SHOWN} lines more")
    print(f"{file} is stale; write it anew: adcompiler dump {shlex.join(command_of(file))} "
          f"-o {shlex.quote(file)}", file=sys.stderr)
    return 1

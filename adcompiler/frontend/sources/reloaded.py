"""Finds functions that were reloaded by themselves, so that their code tells other lines.

IPython's autoreload compiles what has changed in a module from its tree, from line 1 on, and gives
functions that are there already the new code; functions that are new are of no file. Whether a text
is that of the code is for ``Find`` to prove.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

Found = TypeVar("Found")
Find = Callable[[CodeType, list[str]], Found | None]
"""Returns what is found of a code on its own line of a file, None if its text is another one."""

NO_FILE = "<string>"


def find_moved(code: CodeType, lines: list[str], find: Find[Found]) -> Found | None:
    """Return what is found of a function on another line; None if that may be on several."""
    defines = re.compile(rf"\s*(async\s+)?def\s+{re.escape(code.co_name)}\b")
    found = []
    for first, line in enumerate(lines, 1):
        if defines.match(line):
            while first > 1 and lines[first - 2].lstrip().startswith("@"):
                first -= 1
            found.append(find(code.replace(co_firstlineno=first), lines))
    matches = [each for each in found if each is not None]
    return matches[0] if len(matches) == 1 else None


def find_in_module(code: CodeType, module: dict[str, Any], find: Find[Found]) -> Found | None:
    """Return what is found, in the file of its module, of a function that is of no file."""
    file = module.get("__file__") if code.co_filename == NO_FILE else None
    if not isinstance(file, str):
        return None
    linecache.checkcache(file)
    return find_moved(code.replace(co_filename=file), linecache.getlines(file), find)

"""Tells whether live code was loaded from bytecode made of the source file as it is now.

The second proof, for when compiling the text anew gives other code than what runs although the
file did not change: another patch release of Python wrote the ``.pyc`` file (they share it, and
their compilers differ in details), or an import hook rewrites modules and keeps the result.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
from pathlib import Path
from types import CodeType
from typing import Any

from adcompiler.frontend.sources.same_code import codes, same_code

_HEADER_SIZE = 16
_HASH_BASED = 0b01


def is_from_present_file(live: CodeType, module: dict[str, Any]) -> bool:
    """Whether the module's ``.pyc`` file holds the live code and was made of the present source."""
    spec = module.get("__spec__")
    origin, cached = getattr(spec, "origin", None), getattr(spec, "cached", None)
    if not origin or not cached or origin != live.co_filename:
        return False
    try:
        content = Path(cached).read_bytes()
        if not _is_of_source(content[:_HEADER_SIZE], origin, os.stat(cached).st_mtime_ns):
            return False
        code = marshal.loads(content[_HEADER_SIZE:])
    except (OSError, ValueError, EOFError, TypeError):
        return False
    return isinstance(code, CodeType) and any(
        each.co_firstlineno == live.co_firstlineno and same_code(each, live) for each in codes(code)
    )


def _is_of_source(header: bytes, origin: str, written: int) -> bool:
    """Whether a header of PEP 552 is that of the source: by its hash, or by its time and size.

    The header has whole seconds. A source that was changed in the second in which it was compiled
    is no older than the bytecode, which was ``written`` at that time in nanoseconds.
    """
    if len(header) < _HEADER_SIZE or header[:4] != importlib.util.MAGIC_NUMBER:
        return False
    if int.from_bytes(header[4:8], "little") & _HASH_BASED:
        return header[8:] == importlib.util.source_hash(Path(origin).read_bytes())
    status = os.stat(origin)
    return status.st_mtime_ns < written and header[8:] == b"".join(
        (number & 0xFFFFFFFF).to_bytes(4, "little")
        for number in (int(status.st_mtime), status.st_size)
    )

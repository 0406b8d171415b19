"""Python function objects as IR functions."""

from __future__ import annotations

import types
import weakref

from adcompiler.frontend.parser import parse
from adcompiler.frontend.source import parse_function
from adcompiler.ir.nodes import Function

_lowered: weakref.WeakKeyDictionary[types.CodeType, dict[tuple[str, int], Function]] = (
    weakref.WeakKeyDictionary())
"""What was lowered, as long as its code lives; files and globals apart may have equal code."""


def lower(function: types.FunctionType) -> Function:
    """Return the IR of a Python function; raises SourceNotFoundError if it has no source."""
    code = function.__code__
    known = _lowered.setdefault(code, {})
    key = (code.co_filename, id(function.__globals__))
    found = known.get(key)
    if found is None:
        parsed = parse_function(function)
        first = parsed.source.first_line
        indent = " " * parsed.source.indent
        texts = parsed.source.text.splitlines()
        lines = {first + i: indent + text for i, text in enumerate(texts)}
        found = parse(parsed.node, parsed.source.file, lines)
        known[key] = found
    return found

"""Python function objects as IR functions."""

from __future__ import annotations

import types
import weakref

from adcompiler.frontend.parser import parse
from adcompiler.frontend.rewriting.inlined_generators import with_inlined_generators
from adcompiler.frontend.rewriting.private_names import write_private_names
from adcompiler.frontend.sources.source import parse_function
from adcompiler.ir.nodes import Function

Lowered = tuple[Function, dict[str, types.FunctionType]]
"""What a function was lowered to, and the generator functions by name whose text is in it."""

_lowered: weakref.WeakKeyDictionary[types.CodeType, dict[tuple[str, int], Lowered]] = (
    weakref.WeakKeyDictionary())
"""What was lowered, as long as its code lives; files and globals apart may have equal code."""


def lower(function: types.FunctionType) -> Function:
    """Return the IR of a Python function; raises SourceNotFoundError if it has no source."""
    code = function.__code__
    known = _lowered.setdefault(code, {})
    key = (code.co_filename, id(function.__globals__))
    found, used = known.get(key, (None, {}))
    if any(function.__globals__.get(name) is not value for name, value in used.items()):
        found = None
    if found is None:
        parsed = parse_function(function)
        write_private_names(parsed.node, code)
        first = parsed.source.first_line
        indent = " " * parsed.source.indent
        texts = parsed.source.text.splitlines()
        lines = {first + i: indent + text for i, text in enumerate(texts)}
        node, used = with_inlined_generators(parsed.node, function)
        found = parse(node, parsed.source.file, lines)
        known[key] = found, used
    return found

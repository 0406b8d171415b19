"""Where a function stands in the tables of what native loops have code for.

Python's own functions, and those of the runtime, stand there themselves; functions of libraries by
what they mean (``ops.meanings``), so that whatever means the same has the same loops.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adcompiler.ir.operators import IN_PLACE
from adcompiler.ops.registry import REGISTRY, hashable


def key_in(table: Mapping[Any, Any], function: Callable[..., Any]) -> Any:
    """Return the key under which a table has a function, None if it has none."""
    if not hashable(function):
        return None
    plain = IN_PLACE.get(function, function)
    if plain in table:
        return plain
    meaning = REGISTRY.facts(plain).means
    return meaning if meaning in table else None

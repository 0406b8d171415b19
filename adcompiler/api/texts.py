"""``compile_text``: a function of a text, which keeps the text."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

NUMBERS = itertools.count(1)


def compile_text(
    text: str, name: str = "", names: Mapping[str, Any] | None = None
) -> Callable[..., Any]:
    """Return the function that a text defines: the last one, or that of a ``name``.

    What ``exec`` makes has no text that could be read again; this keeps it, so that the function is
    differentiated, shown in tracebacks and stepped through like one of a file.

    Parameters:
        text (str): A module: it may import what the function needs, define helpers, and assign
            lambdas.
        name (str): The name of the function.
        names (mapping): What the text reads besides, as ``names=globals()``, as it is now.

    Returns:
        callable: The function.

    Raises:
        ValueError: If the text defines no function (of that name).
        Exception: What the text raises, SyntaxError included.

    Example:
        >>> from adcompiler import compile_text, grad
        >>> cube = compile_text("def cube(x): return x**3")
        >>> grad(cube)(2.0)
        12.0
    """
    file = f"<text {next(NUMBERS)}>"
    lines = text.splitlines(keepends=True)
    linecache.cache[file] = len(text), None, lines, file
    module: dict[str, Any] = {**(names or {}), "__name__": file[1:-1]}
    exec(compile(text, file, "exec"), module)
    made = {
        key: value for key, value in module.items()
        if isinstance(value, FunctionType) and value.__code__.co_filename == file
    }
    if not made or (name and name not in made):
        found = f"; it defines {', '.join(made)}" if made else ""
        raise ValueError(f"the text defines no function {name}".rstrip() + found)
    return made[name] if name else list(made.values())[-1]

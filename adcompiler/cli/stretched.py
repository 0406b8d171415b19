"""Dumped code for arrays that broadcasting stretches, beside that for shapes that are equal.

Emitted code expects arrays that meet to be of one shape, and checks that before it has any effect.
Where a check fails the dispatcher compiles a general form; a module that stands alone has both.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from adcompiler.backends.python.printer.merge import functions_of, merge, renamed
from adcompiler.compile.pipeline import Emitted, Request

EXPECTS = "{}_of_equal_shapes"
GENERAL = "{}_of_any_shapes"


def in_general(request: Request, emitted: Emitted) -> Request | None:
    """Return what to compile beside code that expects equal shapes, None if it does not."""
    if "shapes" not in emitted.checks or not request.assume_equal_shapes:
        return None
    return replace(request, assume_equal_shapes=False)


def is_parted(request: Request) -> bool:
    """Say whether what is written is several functions, which hand on what the first one found."""
    return bool(request.mode.halves)


def with_both(emitted: Emitted, general: Emitted) -> str:
    """Return a module of which the entry runs the code for equal shapes, or else the other one."""
    entry = emitted.entry
    whole = functions_of(emitted.text)[entry]
    first = named(emitted.text, EXPECTS, {entry})
    other = named(general.text, GENERAL, set(functions_of(general.text)))
    return merge([
        "from adcompiler.runtime import StretchedError\n\n\n" + choosing(whole, entry),
        first, other,
    ])


def named(text: str, form: str, names: set[str]) -> str:
    """Return a module with functions under other names."""
    return renamed(text, {name: form.format(name) for name in names})


def choosing(whole: str, entry: str) -> str:
    """Return the function that is called, with the parameters and the docstring of ``whole``."""
    node = ast.parse(whole).body[0]
    assert isinstance(node, ast.FunctionDef)
    given = node.args
    call = [arg.arg for arg in (*given.posonlyargs, *given.args)]
    call += [f"*{given.vararg.arg}"] if given.vararg else []
    call += [f"{arg.arg}={arg.arg}" for arg in given.kwonlyargs]
    call += [f"**{given.kwarg.arg}"] if given.kwarg else []
    values = ", ".join(call)
    doc = ast.get_docstring(node, clean=False)
    lines = [f"def {entry}({ast.unparse(given)}):"]
    lines += [f'    """{doc}"""'] if doc else []
    return "\n".join([
        *lines, "    try:", f"        return {EXPECTS.format(entry)}({values})",
        "    except StretchedError:", f"        return {GENERAL.format(entry)}({values})", ""])


__all__ = ["in_general", "is_parted", "with_both"]

"""The generated ``__call__`` of a derivative."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.dispatch.compiled import Compiled
from adcompiler.dispatch.frames import tell
from adcompiler.dispatch.guards import Namespace, argument_test, type_test
from adcompiler.dispatch.specialisations import Specialisations
from adcompiler.frontend.sources.places import PSEUDO

MAX_DIRECT = 4
KINDS = inspect.Parameter
LEFT_OUT = object()
"""Stands for an argument that is not passed."""


def make_call(
    s: Specialisations, slow: Callable[..., Any], direct: Sequence[Compiled]
) -> Callable[..., Any]:
    """Return ``__call__`` for a derivative, which tries the compiled forms ``direct`` in order.

    The function has the name and parameters of the user's function, so that Python's own message
    about arguments that do not fit is about that; it is called without ``self``. When none of the
    forms is the right one, ``slow`` is called with a tuple of the arguments.
    """
    parameters = list(s.target.signature.parameters.values())
    names = [p.name for p in parameters]
    namespace = Namespace(names)
    called = s.target.function.__name__
    called = called if called.isidentifier() and not keyword.iskeyword(called) else "derivative"
    rows = []
    for name in (p.name for p in parameters if p.default is not p.empty):
        default = f"{namespace.name(s.target.default)}({name!r})"
        rows += [f"    if {name} is {namespace.name(LEFT_OUT)}:", f"        {name} = {default}"]
    for compiled in direct[:MAX_DIRECT]:
        rows += direct_call(s, compiled, names, namespace)
    arguments = "".join(f"{name}, " for name in names)
    rows.append(f"    return {namespace.name(slow)}(({arguments}))")
    raised = "error" if "error" not in names else namespace.name(called)
    text = "\n".join([
        f"def {called}({header(parameters, namespace)}):", "    try:",
        *(f"    {row}" for row in rows), f"    except {namespace.name(Exception)} as {raised}:",
        f"        {namespace.name(tell)}({raised}, {namespace.name(s.target.function)})",
        "        raise",
    ])
    exec(compile(text, f"{PSEUDO}call>", "exec"), namespace.values)
    made: Callable[..., Any] = namespace.values[called]
    return made


def header(parameters: Sequence[inspect.Parameter], namespace: Namespace) -> str:
    """Return the parameter list of the user's function; defaults are looked up when called."""
    parts = []
    previous = None
    for p in parameters:
        if previous is KINDS.POSITIONAL_ONLY and p.kind is not previous:
            parts.append("/")
        if p.kind is KINDS.KEYWORD_ONLY and previous not in (p.kind, KINDS.VAR_POSITIONAL):
            parts.append("*")
        stars = "*" * (p.kind is KINDS.VAR_POSITIONAL) + "**" * (p.kind is KINDS.VAR_KEYWORD)
        default = "" if p.default is p.empty else f"={namespace.name(LEFT_OUT)}"
        parts.append(f"{stars}{p.name}{default}")
        previous = p.kind
    if previous is KINDS.POSITIONAL_ONLY:
        parts.append("/")
    return ", ".join(parts)


def direct_call(
    s: Specialisations, compiled: Compiled, names: list[str], namespace: Namespace
) -> list[str]:
    """Return the lines that call a compiled form if the arguments have its types."""
    first = [namespace.name(value) for value in s.target.first]
    tests = [
        *(argument_test(namespace, name, type_)
          for name, type_ in zip(names, compiled.types[len(first) :], strict=True)),
        *(type_test(namespace, name, type_)
          for name, type_ in zip(first, compiled.types, strict=False)),
        *compiled.guard.expressions(namespace),
    ]
    cells = [f"{namespace.name(cell)}.cell_contents" for cell in s.cells(compiled)]
    call = f"return {namespace.name(compiled.call)}({', '.join([*first, *names, *cells])})"
    return [f"    if {' and '.join(tests)}:", f"        {call}"] if tests else [f"    {call}"]

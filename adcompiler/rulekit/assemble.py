"""Rules put together from parts: a definition with source that people and the compiler read.

Every notation that is not a function returning ``(y, pullback)`` becomes one here, as text: so the
compiler knows a single form of rules, and what is emitted does not depend on the notation. The
parts, which are the user's functions, stand in the closure of the function made.
"""

from __future__ import annotations

import hashlib
import inspect
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

from adcompiler.ops.made_texts import keep_lines
from adcompiler.support.structs import dataclass

INDENT = "    "


def function_from(
    text: str, name: str, parts: Mapping[str, Any], namespace: dict[str, Any] | None = None
) -> Any:
    """Return the function ``name`` that ``text`` defines, with ``parts`` in its closure.

    ``namespace`` are its globals. The text is entered into linecache, so tracebacks show it.
    """
    if parts:
        inner = textwrap.indent(text, INDENT)
        text = f"def assembled({', '.join(parts)}):\n{inner}\n{INDENT}return {name}\n"
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    file = f"<adcompiler rule {name} {digest}>"
    keep_lines(file, text)
    space = {"__name__": __name__} if namespace is None else namespace
    made: dict[str, Any] = {}
    exec(compile(text, file, "exec", dont_inherit=True), space, made)
    return made["assembled"](**parts) if parts else made[name]


@dataclass
class Parameters:
    """The parameters of a function as text: how they are declared, and how they are passed on.

    ``defaults`` holds default values without a literal, by the name that stands for them.
    """

    names: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    declared: str = ""
    passed: str = ""
    defaults: dict[str, Any] = field(default_factory=dict)


def parameters_of(parameters: Iterable[inspect.Parameter]) -> Parameters:
    """Return the text of parameters, of which positional ones are passed by position."""
    found = Parameters()
    declared, passed = [], []
    starred = False
    for p in parameters:
        starred = starred or p.kind is p.VAR_POSITIONAL
        if p.kind is p.KEYWORD_ONLY and not starred:
            declared.append("*")
            starred = True
        stars = "*" * (p.kind is p.VAR_POSITIONAL) + "**" * (p.kind is p.VAR_KEYWORD)
        default = ""
        if p.default is not p.empty:
            default = "="
            if is_literal(p.default):
                default += repr(p.default)
            else:
                found.defaults[f"default_{p.name}"] = p.default
                default += f"default_{p.name}"
        elif p.kind is not p.VAR_KEYWORD:
            found.required.append(p.name)
        found.names.append(p.name)
        declared.append(f"{stars}{p.name}{default}")
        passed.append(f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else f"{stars}{p.name}")
    found.declared, found.passed = ", ".join(declared), ", ".join(passed)
    return found


def is_literal(value: Any) -> bool:
    """Say whether the representation of a default value is source that gives it again."""
    if isinstance(value, tuple):
        return all(map(is_literal, value))
    return value is None or type(value) in (bool, int, str) or (
        type(value) is float and value == value and abs(value) != float("inf")
    )


def unused(name: str, taken: Iterable[str]) -> str:
    """Return ``name``, with underscores after it while it is one of those taken."""
    taken = set(taken)
    while name in taken:
        name += "_"
    return name


def lines(*rows: str) -> str:
    """Return rows of text as lines, without blanks at their ends."""
    return "\n".join(row.rstrip() for row in rows)

"""Types of parameters from annotations and from the command line's ``"x: float64[:], w: float"``."""

from __future__ import annotations

import re
import typing
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.ir import types as t

if TYPE_CHECKING:
    from adcompiler.dispatch import Specialisations

_ARRAY = re.compile(r"(?:np\.|numpy\.)?(\w+)\[\s*((?::\s*,?\s*)*)\]")
SCALARS = {"float": t.FLOAT, "int": t.INT, "bool": t.BOOL, "complex": t.COMPLEX, "str": t.TEXT}
CLASSES: dict[Any, t.Type] = {
    float: t.FLOAT, int: t.INT, bool: t.BOOL, complex: t.COMPLEX, str: t.TEXT,
}


def parse_type(text: str) -> t.Type:
    """Return the type that a text such as ``float``, ``float64[:, :]`` or ``?`` stands for.

    Raises ValueError for texts that stand for none.
    """
    text = text.strip()
    if text in SCALARS:
        return SCALARS[text]
    if text in ("?", "Any", "object"):
        return t.UNKNOWN
    if text == "None":
        return t.NONE_TYPE
    if text.startswith("list[") and text.endswith("]"):
        return t.List(parse_type(text[5:-1]))
    if text.startswith("(") and text.endswith(")"):
        return t.Tuple(tuple(parse_type(part) for part in split_top(text[1:-1])))
    match = _ARRAY.fullmatch(text)
    try:
        if match:
            return t.Array(np.dtype(match[1]).name, match[2].count(":"))
        dtype = np.dtype(text.removeprefix("np."))
    except TypeError:
        raise ValueError(
            f"{text!r} is no type; write float, int, bool, complex, float64[:], float64[:, :], "
            "list[float], (float, float) or ?"
        ) from None
    return t.Scalar(t.kind_of_dtype(dtype), dtype.name)


def split_top(text: str) -> list[str]:
    """Return the parts of ``text`` between commas outside brackets."""
    parts, depth, current = [], 0, ""
    for c in text:
        depth += (c in "[({") - (c in "])}")
        if c == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += c
    return [part for part in (*parts, current) if part.strip()]


def parse_arguments(text: str) -> dict[str, t.Type]:
    """Return the types in ``"x: float64[:], w: float"`` by parameter name."""
    found = {}
    for part in split_top(text):
        name, colon, type_ = part.partition(":")
        if not colon:
            raise ValueError(f"{part.strip()!r}: write `name: type`")
        found[name.strip()] = parse_type(type_)
    return found


def types_of_parameters(
    s: Specialisations, given: dict[str, t.Type] | None = None
) -> tuple[t.Type, ...]:
    """Return a type for every parameter: as given, as annotated, as its default, or unknown."""
    from adcompiler.analyses.values import type_of

    given = given or {}
    names = [p.name for p in s.parameters]
    for name in given:
        if name not in names:
            raise ValueError(f"no parameter is named {name!r}; there are {', '.join(names)}")
    try:
        hints = typing.get_type_hints(s.target.function)
    except Exception:
        hints = {}
    types: list[t.Type] = []
    for position, p in enumerate(s.parameters):
        if position < len(s.target.first):
            types.append(type_of(s.target.first[position]))
        elif p.name in given:
            types.append(given[p.name])
        elif p.name in hints and hints[p.name] in CLASSES:
            types.append(CLASSES[hints[p.name]])
        elif p.default is not p.empty and position not in s.wrt:
            types.append(type_of(p.default))
        else:
            types.append(t.UNKNOWN)
    return tuple(
        t.FLOAT if i in s.wrt and type_ == t.INT else type_ for i, type_ in enumerate(types)
    )

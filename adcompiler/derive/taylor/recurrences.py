"""Which functions have recurrences for the coefficients of truncated Taylor series."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const
from adcompiler.ops.facts import ARRAY, COMPLEX, REAL, Recurrence
from adcompiler.ops.registry import REGISTRY

Found = tuple[Any, list[Any]]
"""A function of coefficients, and its arguments: atoms, or tuples of them."""

RESULT: Any = Const("the result")
"""Stands for the value of a call among the arguments of a recurrence."""


def recurrence(
    function: Callable[..., Any], values: Sequence[Atom], duals: Sequence[Atom | None],
    named: Mapping[str, Atom], types: Sequence[t.Type],
) -> Found | None:
    """Return the function that gives the coefficients of a call, and its arguments, if any.

    ``types`` are those of the ``values`` and of the result.
    """
    for known in REGISTRY.facts(function).recurrence or ():
        args = arguments(known, values, duals, named, types)
        if args is not None:
            return known.series, args
    return None


def arguments(
    known: Recurrence, values: Sequence[Atom], duals: Sequence[Atom | None],
    named: Mapping[str, Atom], types: Sequence[t.Type],
) -> list[Any] | None:
    """Return what a function of coefficients is called with, None if it is not for this call."""
    words = [word for word in known.given if isinstance(word, str)]
    if "axis" in words:
        axis = named.get("axis", NONE)
        known_axis = isinstance(axis, Const) and (axis.value is None or type(axis.value) is int)
        if set(named) - {"axis"} or not known_axis:
            return None
    elif named or (known.first == REAL and any(is_complex(type_) for type_ in types)):
        return None
    if "args" in words:
        varying = [place for place, dual in enumerate(duals) if dual is not None]
        if varying != [known.place]:
            return None
        return [{"args": tuple(values), "d": duals[known.place], "result": RESULT}[word]
                if isinstance(word, str) else Const(word) for word in known.given]
    if len(values) != 1 + ("y" in words) or (
        known.first == ARRAY and not isinstance(types[0], t.Array)
    ) or (known.first == COMPLEX and not is_complex(types[0])):
        return None
    table: dict[Any, Any] = {"result": RESULT, "axis": axis if "axis" in words else NONE}
    for name, value, dual in zip("xy", values, duals, strict=False):
        if dual is None and f"d{name}" in words:
            return None
        if dual is not None and not {f"d{name}", f"d{name}?"} & set(words):
            return None
        table.update({name: value, f"d{name}": dual, f"d{name}?": dual or NONE})
    return [table[word] if isinstance(word, str) else Const(word) for word in known.given]


def is_complex(type_: t.Type) -> bool:
    """Say whether a value is a complex number, or an array of such."""
    return getattr(type_, "kind", "") == "complex"


def is_of_numbers(function: Callable[..., Any]) -> bool:
    """Say whether what varies in calls of a function is a number or an array for sure."""
    known = REGISTRY.facts(function)
    return bool(known.elementwise and known.recurrence and not known.recurrence[0].first)


__all__ = ["RESULT", "is_of_numbers", "recurrence"]

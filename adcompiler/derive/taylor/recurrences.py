"""Which functions have recurrences for the coefficients of truncated Taylor series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const
from adcompiler.ops.facts import ARRAY, COMPLEX, Recurrence
from adcompiler.ops.registry import REGISTRY

Found = tuple[Any, list[Any]]
"""A function of coefficients, and its arguments: atoms, or tuples of them."""

SPECIAL = frozenset({
    "gamma", "lgamma", "gammaln", "psi", "polygamma", "zeta", "sinc", "i0", "i1", "j0", "j1", "y0",
    "y1", "k0", "k1", "jv", "yv", "iv", "kv", "kn", "yn", "hyp0f1", "hyp1f1", "hyp2f1",
    "hyperu", "det", "expit", "xlogy", "xlog1py",
})
"""Names of functions among which SciPy has some whose derivatives of every order are known."""

RESULT: Any = Const("the result")
"""Stands for the value of a call among the arguments of a recurrence."""


def recurrence(
    function: Any, values: Sequence[Atom], duals: Sequence[Atom | None],
    named: Mapping[str, Atom], types: Sequence[t.Type],
) -> Found | None:
    """Return the function that gives the coefficients of a call, and its arguments, if any.

    ``types`` are those of the ``values`` and of the result.
    """
    if not named and getattr(function, "__name__", "") in SPECIAL and (
        found := special(function, values, duals, types)
    ) is not None:
        return found
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
    elif named:
        return None
    if len(values) != 1 + ("y" in words) or (
        known.first == ARRAY and not isinstance(types[0], t.Array)
    ) or (known.first == COMPLEX and getattr(types[0], "kind", "") != "complex"):
        return None
    table: dict[Any, Any] = {"result": RESULT, "axis": axis if "axis" in words else NONE}
    for name, value, dual in zip("xy", values, duals, strict=False):
        if dual is None and f"d{name}" in words:
            return None
        if dual is not None and not {f"d{name}", f"d{name}?"} & set(words):
            return None
        table.update({name: value, f"d{name}": dual, f"d{name}?": dual or NONE})
    return [table[word] if isinstance(word, str) else Const(word) for word in known.given]


def is_of_numbers(function: Any) -> bool:
    """Say whether what varies in calls of a function is a number or an array for sure."""
    known = REGISTRY.facts(function)
    return bool(known.elementwise and known.recurrence and not known.recurrence[0].first)


def special(
    function: Any, values: Sequence[Atom], duals: Sequence[Atom | None], types: Sequence[t.Type]
) -> Found | None:
    """Return what gives the coefficients of a special function of real numbers."""
    from adcompiler.runtime.scipy_series import (
        DERIVATIVES, DETERMINANTS, GAMMAS, LOGARITHMS, SIGMOIDS, composed_series, expit_series,
        gamma_series, xlogy_series,
    )

    if function in DETERMINANTS and len(values) == 1 and isinstance(types[0], t.Array):
        return DETERMINANTS[function], [values[0], duals[0], RESULT]
    if any(getattr(type_, "kind", "") == "complex" for type_ in types):
        return None
    if function in LOGARITHMS:
        (x, y), (dx, dy) = values, duals
        return xlogy_series, [x, dx or NONE, y, dy or NONE, RESULT, Const(LOGARITHMS[function])]
    varying = [(i, d) for i, d in enumerate(duals) if d is not None]
    if len(varying) != 1:
        return None
    place, d = varying[0]
    if function in SIGMOIDS:
        return expit_series, [values[0], d, RESULT]
    if function in GAMMAS:
        return gamma_series, [values[0], d, RESULT]
    wanted, derivative = DERIVATIVES.get(function, (None, None))
    if place != wanted:
        return None
    return composed_series, [Const(derivative), Const(place), tuple(values), d, RESULT]


__all__ = ["RESULT", "is_of_numbers", "recurrence"]

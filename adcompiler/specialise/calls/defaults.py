"""Leaves arguments away that only repeat a function's defaults, so that calls read as written.

A rule passes on every argument it knows: ``np.sum(a, axis=axis, keepdims=keepdims, ...)``.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Atom, Const, Star
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.structs import dataclass
from adcompiler.typed.values import simple


def without_defaults(
    function: Any, args: list[Any], kwargs: dict[str, Atom]
) -> tuple[list[Any], dict[str, Atom]]:
    """Return call arguments without those that only repeat the function's defaults."""
    names, defaults = default_values(function) if hashable(function) else ((), {})
    kept = {
        key: value for key, value in kwargs.items()
        if not (isinstance(value, Const) and key in defaults and repeats(
            value.value, defaults[key]))
    }
    while args and len(args) <= len(names) and not any(isinstance(a, Star) for a in args):
        default = defaults[names[len(args) - 1]]
        if not isinstance(args[-1], Const) or not repeats(args[-1].value, default):
            break
        args = args[:-1]
    return args, kept


def repeats(value: Any, default: Any) -> bool:
    """Say whether an argument only repeats a default (a tuple of them: any of several)."""
    if isinstance(default, Either):
        return any(repeats(value, one) for one in default.values)
    return value is default or (
        simple(value) and type(default) is type(value) and bool(default == value)
    )


@dataclass(frozen=True, slots=True)
class Either:
    """Several values of an argument that mean the same as leaving it away."""

    values: tuple[Any, ...]


UNSET = np._NoValue
NOT_GIVEN = {"keepdims": False, "where": True}
"""Values of parameters that mean the same as leaving these away, where NumPy tells the two apart.
"""
STARTS = {"sum": 0, "prod": 1}
"""What reductions of these transfers start from, if nothing is said."""


def meanings(function: Any, defaults: dict[str, Any]) -> dict[str, Any]:
    """Return values that mean the same as a default that stands for "not given"."""
    known = {**NOT_GIVEN, "initial": STARTS.get(REGISTRY.facts(function).transfer or "", UNSET)}
    return {
        name: Either((UNSET, known[name])) for name, default in defaults.items()
        if default is UNSET and name in known
    }


@functools.lru_cache(maxsize=4096)
def default_values(function: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the names of a function's positional parameters, and defaults by name.

    A parameter without a default has ``inspect.Parameter.empty``.
    """
    known = dict(REGISTRY.facts(function).defaults or ())
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return (), known
    table = {p.name: p.default for p in parameters}
    meant = meanings(function, table)
    positional = [
        p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        positional = []
    return tuple(positional), {**table, **meant, **known}

"""Leaves arguments away that only repeat a function's defaults, so that calls read as written.

A rule passes on every argument it knows: ``np.sum(a, axis=axis, keepdims=keepdims, ...)``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Atom, Const, Star
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.support.signatures import signature as signature_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.values import simple


def without_defaults(
    function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom]
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return call arguments without those that only repeat the function's defaults."""
    if has_partials(function):
        return args, kwargs
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


def by_name(
    function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom]
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return call arguments with those by name that follow a None which says no more than nothing.

    ``np.sum(x, 0, None, None, True)`` is ``np.sum(x, 0, keepdims=True)``. Methods of arrays take
    the names of the functions that they are other spellings of.
    """
    function = REGISTRY.resolve(function)
    if not hashable(function) or any(isinstance(a, Star) for a in args):
        return args, kwargs
    if has_partials(function):
        return in_order(function, args, kwargs)
    names, defaults = default_values(function)
    for i, (arg, name) in enumerate(zip(args, names, strict=False)):
        if i and isinstance(arg, Const) and arg.value is None is defaults[name]:
            later = dict(zip(names[i + 1 :], args[i + 1 :], strict=False))
            if not later or len(args) > len(names) or not named_freely(function, tuple(later)):
                break
            return without_defaults(function, args[:i], {**later, **kwargs})
    return args, kwargs


def has_partials(function: Callable[..., Any]) -> bool:
    """Say whether a function of Python has a rule of partial derivatives, one for each argument."""
    return isinstance(function, FunctionType) and REGISTRY.facts(function).elementwise is True


def in_order(
    function: Callable[..., Any], args: list[Atom], kwargs: dict[str, Atom]
) -> tuple[list[Atom], dict[str, Atom]]:
    """Return the arguments of a function of Python by position, as partial derivatives take them.

    They stay as they are where the function does not take them.
    """
    signature = signature_of(function)
    kinds = {p.kind for p in signature.parameters.values()}
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return args, kwargs
    if kinds - {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD}:
        return args, kwargs
    given = set(bound.arguments)
    bound.apply_defaults()
    return [
        value if name in given else Const(value) for name, value in bound.arguments.items()
    ], {}


@functools.lru_cache(maxsize=4096)
def named_freely(function: Callable[..., Any], names: tuple[str, ...]) -> bool:
    """Say whether parameters may be given by name as well as by position."""
    parameters = signature_of(function).parameters
    return all(parameters[name].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for name in names)


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


def meanings(function: Callable[..., Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Return values that mean the same as a default that stands for "not given"."""
    known = {**NOT_GIVEN, "initial": STARTS.get(REGISTRY.facts(function).transfer or "", UNSET)}
    return {
        name: Either((UNSET, known[name])) for name, default in defaults.items()
        if default is UNSET and name in known
    }


@functools.lru_cache(maxsize=4096)
def default_values(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the names of a function's positional parameters, and defaults by name.

    A parameter without a default has ``inspect.Parameter.empty``.
    """
    known = dict(REGISTRY.facts(function).defaults or ())
    try:
        parameters = signature_of(function).parameters.values()
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

"""``f(**table)`` of a dict whose keys are not known: each parameter is read from it by its name."""

from __future__ import annotations

import operator
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from adcompiler.errors import ADError
from adcompiler.frontend.functions import lower
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Closure, Const, Do, Function, Origin, Param, Star,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import check_keywords
from adcompiler.infer.calls.binding import shown_name
from adcompiler.infer.calls.libraries import is_library
from adcompiler.infer.calls.opening import defaults_of, defaults_of_closure
from adcompiler.infer.objects import find_raw
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer

Signature = tuple[Function, int, Callable[[Param], Atom | None]]
"""A function, how many of its first parameters it is not given by the call, and its defaults."""


def keywords_of(
    s: Operations, func: Atom, args: Sequence[Atom | Star], named: Mapping[str, Atom], table: Atom,
    origin: Origin,
) -> dict[str, Atom] | None:
    """Write what a call of ``func`` is given by ``**table``, by the names of its parameters.

    That the dict has these keys, and no others, is checked when the code runs. Returns None where
    the parameters are not known, or where the function takes other keywords too.
    """
    found = signature_of(s, func, origin)
    if found is None or any(isinstance(arg, Star) for arg in args):
        return None
    function, bound, default = found
    if any(param.kind == 4 for param in function.params):
        return None
    positional = [param for param in function.params if param.kind in (0, 1)]
    given = positional[: bound + len(args)]
    free = [param for param in function.params if param.kind in (1, 3) and (
        param not in given and param.var.name not in named)]
    names = tuple(param.var.name for param in free)
    required = tuple(param.var.name for param in free if not param.has_default)
    s.out.append(Do(Call(Const(check_keywords), (
        table, Const(shown_name(function)), Const(required), Const(names))), origin))
    values: dict[str, Atom] = {}
    for param in free:
        name = param.var.name
        values[name] = s.item(table, Const(name), origin, name) if name in required else (
            entry_or_default(s, table, param, default, origin))
    return values


def entry_or_default(
    s: Operations, table: Atom, param: Param, default: Callable[[Param], Atom | None],
    origin: Origin,
) -> Atom:
    """Write the value of a parameter that a dict may have, or else its default."""
    name = param.var.name
    there = s.call(Const(operator.contains), [table, Const(name)], {}, origin, "given")
    return s.either(
        there, lambda: s.item(table, Const(name), origin, name), lambda: default(param), origin,
        name,
    )


def signature_of(s: Writer, func: Atom, origin: Origin) -> Signature | None:
    """Return the parameters of a function that is compiled, a class or a method; None of others."""
    made = s.unit.definition(func)
    if isinstance(made, Closure):
        return made.function, 0, defaults_of_closure(made)
    if isinstance(made, Attribute) and isinstance(type_ := s.unit.type(made.obj), t.Object):
        return signature_of_raw(s, find_raw(type_.cls, made.name), origin)
    if not isinstance(func, Const):
        return None
    if isinstance(func.value, type):
        return signature_of_raw(s, find_raw(func.value, "__init__"), origin)
    return signature_of_function(s, func.value, 0, origin)


def signature_of_raw(s: Writer, raw: tuple[type, Any] | None, origin: Origin) -> Signature | None:
    """Return the parameters of what a class has under a name, behind the instance."""
    return None if raw is None else signature_of_function(s, raw[1], 1, origin)


def signature_of_function(
    s: Writer, function: Any, bound: int, origin: Origin
) -> Signature | None:
    """Return the parameters of a function of the user's, the source of which is compiled."""
    if not isinstance(function, python_types.FunctionType) or (
        REGISTRY.has_rules(function) or is_library(function)
    ):
        return None
    try:
        definition = lower(function)
    except ADError:
        return None
    s.unit.relied.path_of(function)
    return definition, bound, defaults_of(s, Const(function), function, definition, origin)

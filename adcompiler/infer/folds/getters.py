"""Entries and attributes that are asked for by functions: `dict.get`, `operator.itemgetter`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Star, constants, unstar
from adcompiler.prelude import dicts
from adcompiler.infer.folds.iterator import run
from adcompiler.infer.interface import Operations


def get_entry(
    s: Operations, table: Atom, args: list[Atom], origin: Origin, name: str
) -> Atom:
    """Write ``table.get(key, default)`` of a key that is not known when compiling."""
    default = args[1] if len(args) > 1 else NONE
    return run(s, dicts.looked_up, [table, args[0], default], origin, name)


GETTERS = frozenset({operator.itemgetter, operator.attrgetter, operator.methodcaller})


def call_getter(
    s: Operations, function: Callable[..., Any], made: Sequence[Atom | Star],
    named: dict[str, Atom], args: list[Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the call of what ``operator.itemgetter`` and its like return; None if it is no such."""
    if len(args) != 1 or any(isinstance(arg, Star) for arg in (*args, *made)):
        return None
    if function is operator.methodcaller:
        if not isinstance(made[0], Const):
            return None
        method = s.attribute(args[0], made[0].value, origin)
        return s.call(method, made[1:], named, origin, name)
    if function is operator.itemgetter:
        parts = tuple(s.item(args[0], unstar(key), origin, name) for key in made)
    elif (names := constants(made)) is not None:
        found = []
        for key in names:
            value = args[0]
            for step in key.split("."):
                value = s.attribute(value, step, origin, name)
            found.append(value)
        parts = tuple(found)
    else:
        return None
    return parts[0] if len(parts) == 1 else s.pack("tuple", parts, name, origin)

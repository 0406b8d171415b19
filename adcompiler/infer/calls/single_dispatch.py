"""Functions by ``functools.singledispatch``: the class of an argument chooses."""

from __future__ import annotations

import functools
import types as python_types
from typing import Any

from adcompiler.ir.nodes import Atom, Const, Origin, Star, unstar
from adcompiler.infer.folds.table import class_of
from adcompiler.infer.interface import Operations

PLAIN = (python_types.FunctionType, python_types.BuiltinFunctionType, type)
AS_ALL: Any = functools.singledispatch(lambda first: first)


def call_registered(
    s: Operations, func: Const, args: list[Atom], kwargs: dict[str, Atom], origin: Origin,
    name: str, first: int = 0,
) -> Atom | None:
    """Write the call of the function that is registered for the class of an argument.

    ``first`` is the position of that argument. None if ``func`` is no such function.
    """
    value = func.value
    if not isinstance(value, python_types.FunctionType) or value.__code__ is not AS_ALL.__code__:
        return None
    chosen: Any = args[first] if len(args) > first else Star(Const(None))
    cls = None if isinstance(chosen, Star) else class_of(s.unit, chosen)
    if cls is None or not isinstance(value.dispatch(cls), PLAIN):  # type: ignore[attr-defined]
        return s.reject(
            origin, f"which function {value.__name__}() calls is not known, as the class of its "
            "argument is not, or it is no plain function", "give it values of one class",
            "unknown-callable", unstar(chosen),
        )
    found = value.dispatch(cls)  # type: ignore[attr-defined]
    path = s.unit.relied.path_of(value)
    made = s.unit.relied.static(found, None if path is None else (*path, ("dispatch", cls)))
    return s.call(made, args, kwargs, origin, name)

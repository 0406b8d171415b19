"""Calls that only tell something: of loggers, and warnings.

Where nothing reads what such a call returns it is made as it stands, with the values at hand, and
what is called is not opened. It has no derivative. So a value that may carry one is given to none
that may keep it where the program could read it back: neither to a warning of a class of the
user's own, nor to loggers of other packages, nor where a handler or filter is the user's own. What
draws is none of these: limits of axes and data of lines can be read back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Var
from adcompiler.ops.qualified_names import root_module
from adcompiler.runtime import unpack
from adcompiler.runtime.handlers import OF, Logs, logs_are_text
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.typed.unit import Unit

TELL = frozenset({"_warnings", "logging", "loguru", "structlog", "warnings"})
"""Packages whose functions write text, and do not change what they are given."""


def is_told(unit: Unit, called: Atom) -> bool:
    """Say whether a function, or method, is one of these packages."""
    return tells(function_of(unit, called))


def function_of(unit: Unit, called: Atom) -> Any:
    """Return the function that is called, or the one that returned the object of the method."""
    match called, unit.type(called), unit.definition(called):
        case Const(value), _, _:
            return value
        case _, t.Method(descriptor), _:
            return descriptor
        case _, t.Unknown(), Attribute(Var() as obj):
            return maker(unit, obj)
    return None


def may_keep_told(unit: Unit, called: Atom, values: Iterable[Atom]) -> bool:
    """Say whether a value that may carry a derivative is given to what may keep it."""
    if not any(t.may_vary(unit.type(value)) for value in values):
        return False
    if not logs(function_of(unit, called)):
        return True
    name = OF + str(getattr(unit.root, "__module__", None)).partition(".")[0]
    state = unit.relied.static(getattr(Logs, name), (("live", Logs), ("attr", name)))
    return state.value is not logs_are_text


@unless_it_raises(False)
def logs(function: Callable[..., Any]) -> bool:
    """Say whether a function is one of ``logging``, or a method of its loggers: not of adapters."""
    owner, _, _ = function.__qualname__.rpartition(".")
    return root_module(function) == "logging" and owner in ("", "Logger")


@unless_it_raises(False)
def tells(function: Callable[..., Any] | None) -> bool:
    """Say whether a function of Python is one of these packages."""
    return callable(function) and root_module(function) in TELL and not isinstance(function, type)


def maker(unit: Unit, value: Atom) -> Any:
    """Return the function that is known to have returned a value, or what the value is part of."""
    match unit.definition(value):
        case Item(Var() as obj) | Attribute(Var() as obj):
            return maker(unit, obj)
        case Call(Const(function), (Var() as obj, *_)) if function is unpack:
            return maker(unit, obj)
        case Call(Const(function)):
            return function
    return None


__all__ = ["TELL", "is_told", "may_keep_told", "tells"]

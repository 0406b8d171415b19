"""Calls that only tell something: of loggers, and warnings.

Where nothing reads what such a call returns it is made as it stands, with the values at hand, and
what is called is not opened. It has no derivative. What draws is none of these: limits of axes and
data of lines can be read back.
"""

from __future__ import annotations

from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Var
from adcompiler.ops.homes import root_module
from adcompiler.runtime import unpack
from adcompiler.runtime.reading import unless_it_raises
from adcompiler.specialise.writer import Writer

TELL = frozenset({"_warnings", "logging", "loguru", "structlog", "warnings"})
"""Packages whose functions write text, and do not change what they are given."""


def is_told(s: Writer, called: Atom) -> bool:
    """Say whether a function, or method, is one of these packages."""
    match called, s.unit.type(called), s.unit.definition(called):
        case Const(function), _, _:
            return tells(function)
        case _, t.Method(descriptor), _:
            return tells(descriptor)
        case _, t.Unknown(), Attribute(Var() as obj):
            return is_made_by_them(s, obj)
    return False


@unless_it_raises(False)
def tells(function: Any) -> bool:
    """Say whether a function of Python is one of these packages."""
    return callable(function) and root_module(function) in TELL and not isinstance(function, type)


def is_made_by_them(s: Writer, value: Atom) -> bool:
    """Say whether a value is known to be, or to be a part of, what one of them returned."""
    match s.unit.definition(value):
        case Item(Var() as obj) | Attribute(Var() as obj):
            return is_made_by_them(s, obj)
        case Call(Const(function), (Var() as obj, *_)) if function is unpack:
            return is_made_by_them(s, obj)
        case Call(Const(function)):
            return tells(function)
    return False


__all__ = ["TELL", "is_told", "tells"]

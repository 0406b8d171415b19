"""Which types contradict one another: what a variable is computed of, and what is noted of it.

Nothing is said of types that are not known. A cotangent of what has none, or of a variable without
a value, is the number 0.0 whatever the type; cotangents of Python numbers may be NumPy's.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Call, Const, Item, Pack, Region, Rhs, Star, Update, Var,
)
from adcompiler.ir.operators import OF_NUMBERS, is_one
from adcompiler.ir.regions import COLLECTED, ENDS

TypeOf = Callable[[Atom], t.Type]


def contradiction(target: Var, rhs: Rhs, type_of: TypeOf) -> str:
    """Return how the type of a variable contradicts its definition, or ""."""
    type_ = type_of(target)
    wanted = certain_type(rhs, type_of)
    if wanted is None or agrees(wanted, type_):
        return ""
    return f"{target!r} is {type_}, but is computed as {wanted}"


def certain_type(rhs: Rhs, type_of: TypeOf) -> t.Type | None:
    """Return the type of a right-hand side where that of its operands decides it."""
    match rhs:
        case Pack("tuple", items) if not any(isinstance(item, Star) for item in items):
            return t.Tuple(tuple(type_of(item) for item in items if not isinstance(item, Star)))
        case Item(obj, Const(int() as i)) if isinstance(whole := type_of(obj), t.Tuple):
            return whole.items[i] if -len(whole.items) <= i < len(whole.items) else t.BOTTOM
        case Update(obj, _, _):
            return whole if isinstance(whole := type_of(obj), t.Array) else None
        case Call(Const(function), args, ()) if is_arithmetic(function, len(args)):
            return of_operands([type_of(a) for a in args if not isinstance(a, Star)])
    return None


def is_arithmetic(function: Callable[..., Any], count: int) -> bool:
    """Say whether a function gives scalars of ``count`` scalars, and arrays of arrays.

    Operators of numbers do, as many axes as the operands are broadcast to; and ufuncs.
    """
    if isinstance(function, np.ufunc):
        return function.nin == count and is_elementwise(function)
    return function is operator.pos or is_one(function, OF_NUMBERS)


@cache
def is_elementwise(function: np.ufunc) -> bool:
    """Say whether a ufunc gives one number for each set of numbers."""
    of_numbers = any(set(loop) - set("O->") for loop in function.types)
    return function.signature is None and function.nout == 1 and of_numbers


def of_operands(types: list[t.Type]) -> t.Type | None:
    """Return the type of an elementwise result, of unknown dtype, where it is certain."""
    if not types or not all(isinstance(type_, (t.Scalar, t.Array)) for type_ in types):
        return None
    ndim = max(type_.ndim if isinstance(type_, t.Array) else 0 for type_ in types)
    return t.Array("?", ndim) if ndim else t.Scalar("?")


def agrees(given: t.Type, noted: t.Type) -> bool:
    """Say whether a value of one type may be that of a variable of another."""
    if given is noted:
        return True
    match given, noted:
        case t.Array(dtype, ndim), t.Array(other, other_ndim):
            return ndim == other_ndim and (dtype in ("?", other) or dtype == other)
        case t.Scalar("?"), t.Array(_, ndim):
            return ndim == 0
        case (t.Scalar(), t.Array()) | (t.Array(), t.Scalar()):
            return getattr(given, "ndim", 0) == getattr(noted, "ndim", 0) == 0
        case t.Tuple(items, _), t.Tuple(others, _):
            return len(items) == len(others) and all(map(agrees, items, others))
        case t.List(item), t.List(other_item):
            return agrees(item, other_item)
        case (t.Array() | t.Scalar(), t.Tuple() | t.List() | t.Dict() | t.Text()):
            return False
        case (t.Tuple() | t.List() | t.Dict() | t.Text(), t.Array() | t.Scalar()):
            return False
    return True


def contradictions(region: Region, type_of: TypeOf) -> Iterator[str]:
    """Yield how the types of what a region gives contradict those of what is handed to it."""
    for edge in region.edges():
        collected = edge.how == COLLECTED
        if not collected and (not edge.hands_on or edge.how == ENDS or is_zero(edge.source)):
            continue
        given, noted = type_of(edge.source), type_of(edge.target)
        if collected:
            given = t.List(given)
        if not agrees(given, noted):
            what = "collects" if collected else f"is given {edge.source!r}, which is"
            yield f"{edge.target!r} is {noted}, but {what} {given}"


def is_zero(atom: Atom) -> bool:
    """Say whether an atom is the cotangent of what has none."""
    return isinstance(atom, Const) and type(atom.value) is float and atom.value == 0.0

"""``out=`` and ``where=``: the plain call, whose result is stored in the array given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Const, Origin, Var
from adcompiler.transforms.stores import WHOLE, heap_of, note_in_place, store_item
from adcompiler.transforms.writer import Writer


def call_with_out(
    s: Writer, function: Any, args: list[Any], kwargs: Mapping[str, Atom], out: list[Atom],
    origin: Origin, name: str,
) -> Atom:
    """Write a call of a NumPy function that is given an array for its result."""
    target = out[0]
    elements = s.unit.elements(target)
    if elements is not None and len(elements) == 1:
        target = elements[0]
    if len(out) != 1 or not isinstance(target, Var) or (elements is not None and len(elements) > 1):
        return s.reject(
            origin, "`out=` with several arrays is not supported",
            "call the function without `out=` and store its results", "ufunc-out-where",
        )
    named = dict(kwargs)
    mask = named.pop("where", None) if isinstance(function, np.ufunc) else None
    named.pop("casting", None)
    if isinstance(mask, Const) and mask.value is True:
        mask = None
    if mask is not None:
        args = [harmless(s, function, mask, arg, origin) for arg in args]
    result = s.call(Const(function), args, named, origin, name)
    if result is UNDEF:
        return UNDEF
    if mask is not None:
        result = s.call(Const(np.where), [mask, result, target], {}, origin, name)
    root = heap_of(s).reference(target).root
    before = heap_of(s).state.value(root)
    store_item(s, [target, WHOLE, result], {}, origin, name)
    note_in_place(s, root, before)
    return target


def harmless(s: Writer, function: Any, mask: Atom, arg: Atom, origin: Origin) -> Atom:
    """Write an operand with a number of the function's domain where the result is not wanted."""
    type_ = s.unit.type(arg)
    if not isinstance(type_, (t.Array, t.Scalar)) or type_.kind != "float":
        return arg
    inside = 1.5 if function is np.arccosh else 0.5
    return s.call(Const(np.where), [mask, arg, Const(inside)], {}, origin, "operand")

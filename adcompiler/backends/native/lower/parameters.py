"""The parameters of loops: what each argument of the user's function is taken apart into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.emit.printer import DTYPES
from adcompiler.backends.native.loops import (
    ARRAYS, FLOAT, INT, KINDS, SINGLE, Binary, Extent, Leave, Name, Number, Parameter,
)
from adcompiler.backends.native.lower.tapes import constant
from adcompiler.backends.native.ops.held import given as held_given
from adcompiler.backends.native.ops.lists import item_form, slots
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Buffer, Complex, Declined, Keyed, Num, Rows, Several, Slot,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Var
from adcompiler.runtime.records import is_record_class


def limits(parameters: Sequence[Parameter]) -> list[Leave]:
    """Return the tests of whether axes of arguments are longer than loops count."""
    return [
        Leave(Binary(">", Extent(given.name, axis), Number(LENGTH)))
        for given in parameters for axis in range(given.ndim or 0)
    ]


def parameters_of(low: Context, var: Var, position: int, type_: t.Type) -> list[Parameter]:
    """Return the parameters that one of the user's is taken apart into, known to ``low``."""
    found: list[Parameter] = []

    def add(dtype: str, ndim: int | None, part: str) -> str:
        name = low.w.fresh(var.name)
        found.append(Parameter(name, dtype, ndim, position, part))
        low.w.given |= {name} if ndim is not None else set()
        return name

    def taken(type_: t.Type, part: str) -> Any:
        match type_:
            case t.Scalar("float", "float32", ()):
                return Num(Name(add(FLOAT, None, f"float({part})")), SINGLE, WIDE)
            case t.Scalar(kind, dtype, ()) if kind in KINDS and dtype in (None, KINDS[kind]):
                return Num(Name(add(KINDS[kind], None, part)), KINDS[kind], WIDE)
            case t.Scalar("complex", dtype, ()) if dtype in (None, "complex128"):
                return Complex(*(Num(Name(add(FLOAT, None, f"{part}.{name}")), FLOAT)
                                 for name in ("real", "imag")))
            case t.Array(dtype, ndim) if dtype in ARRAYS and ndim:
                name = add(dtype, ndim, part)
                return Buffer(name, dtype, tuple(Extent(name, axis) for axis in range(ndim)))
            case t.Tuple(items, cls) if cls is tuple:
                return Several(tuple(
                    taken(item, f"{part}[{i}]") for i, item in enumerate(items)))
            case t.Dict(keys, items) if keys is not None:
                return keyed_parts(dict(zip(keys, items, strict=True)), False, part)
            case t.Object(cls, fields) if is_record_class(cls):
                return keyed_parts(dict(fields), True, part)
            case t.List(item) if is_exact(item):
                return whole(columns(item, part, "{}"))
        raise Declined(f"the argument {var.name} is a {type_}")

    def keyed_parts(types: dict[Any, t.Type], is_record: bool, part: str) -> Keyed:
        parts: dict[Any, Any] = {}
        for key, of in types.items():
            try:
                if "{" in str(key):
                    raise Declined("a key with a brace")
                there = f"{part}.{key}" if is_record else f"{part}[{key!r}]"
                parts[key] = constant(of.value) if isinstance(of, t.Static) else taken(of, there)
            except Declined as declined:  # unless it is read
                parts[key] = declined
        return Keyed(parts, is_record, types)

    def columns(type_: t.Type, part: str, item: str) -> Any:
        if isinstance(type_, t.Tuple):
            return Several(tuple(
                columns(inner, part, f"{item}[{i}]") for i, inner in enumerate(type_.items)))
        if isinstance(type_, t.List):
            here = item.format("item")
            counts = add(INT, 1, f"np.array([len({here}) for item in {part}], np.int64)")
            items = whole(columns(type_.item, f"[one for item in {part} for one in {here}]", "{}"))
            return held_given(low, item_form(type_.item), counts, items)
        dtype = item_form(type_)
        of = part if item == "{}" else f"[{item.format('item')} for item in {part}]"
        return Slot(add(dtype, 1, f"np.array({of}, {DTYPES[dtype]})"), dtype, WIDE)

    value = taken(type_, "{}")
    low.values[var] = replace(value, position=position) if isinstance(value, Keyed) else value
    return found


def whole(layout: Any) -> Rows:
    """Return the list that fills buffers of a layout."""
    return Rows(layout, Extent(next(iter(slots(layout))).buffer, 0))


def is_exact(type_: t.Type) -> bool:
    """Say whether items of a list are numbers of one class, or tuples of such, with any in them."""
    if isinstance(type_, t.Tuple):
        return type_.cls is tuple and bool(type_.items) and all(map(is_exact, type_.items))
    if isinstance(type_, t.List):
        return is_exact(type_.item)
    return isinstance(type_, t.Scalar) and type_.exact and (
        type_.kind in KINDS and type_.dtype in (None, KINDS[type_.kind]))

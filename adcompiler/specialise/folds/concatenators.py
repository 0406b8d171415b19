"""``np.r_[...]`` and ``np.c_[...]``: the arrays that a subscript lists, one after the other."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Slice
from adcompiler.specialise.folds.table import folds
from adcompiler.specialise.writer import Writer

Rows: Any = type(np.r_)
Columns: Any = type(np.c_)
WEAK = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}


@folds(Rows.__getitem__)
def fold_concatenation(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """Vectors are columns of ``np.c_``. Texts such as ``"0,2"`` are not supported."""
    if len(args) != 2 or kwargs:
        return None
    owner = s.unit.type(args[0])
    cls = owner.cls if isinstance(owner, t.Object) else None
    parts = parts_of(s, args[1], origin)
    if cls not in (Rows, Columns) or parts is None:
        return None
    weights = product(*(weights_of(s.unit.type(part)) for part in parts))
    dtype, *others = {np.result_type(*each) for each in weights}
    if others:
        return None
    kind: dict[str, Atom] = {"dtype": Const(dtype)}
    columns = cls is Columns
    arrays = []
    for part in parts:
        type_ = s.unit.type(part)
        if not isinstance(type_, t.Array) or type_.dtype != dtype.name:
            part = s.call(Const(np.asarray), [part], kind, origin, "part")
        ndim = type_.ndim if isinstance(type_, t.Array) else 0
        if columns and ndim == 1:
            part = s.call(Const(np.expand_dims), [part, Const(1)], {}, origin, "column")
        elif ndim == 0:
            shape = Const((1, 1) if columns else (1,))
            part = s.call(Const(np.reshape), [part, shape], {}, origin, "part")
        arrays.append(part)
    whole = s.pack("tuple", tuple(arrays), "parts", origin)
    axis: dict[str, Atom] = {"axis": Const(-1)} if columns else {}
    return s.call(Const(np.concatenate), [whole], axis, origin, name)


def parts_of(s: Writer, key: Atom, origin: Origin) -> list[Atom] | None:
    """Return numbers and arrays for what the subscript lists; None if they are not all known."""
    type_ = s.unit.type(key)
    items = [key]
    if isinstance(type_, t.Tuple):
        items = list(s.unit.elements(key) or (
            s.item(key, Const(i), origin) for i in range(len(type_.items))))
    parts = [part_of(s, item, origin) for item in items]
    known = [part for part in parts if part is not None]
    return known if known and len(known) == len(parts) else None


def part_of(s: Writer, item: Atom, origin: Origin) -> Atom | None:
    """Return a number or an array; a slice is one of ``np.arange``, or of ``np.linspace``."""
    found = s.unit.definition(item)
    if isinstance(item, Const) and isinstance(item.value, slice):
        found = Slice(*map(Const, (item.value.start, item.value.stop, item.value.step)))
    if isinstance(found, Slice):
        start, stop, step = (
            Const(instead) if isinstance(one, Const) and one.value is None else one
            for one, instead in ((found.lower, 0), (found.upper, None), (found.step, 1)))
        if isinstance(step, Const) and isinstance(step.value, complex):
            number: dict[str, Atom] = {"num": Const(int(abs(step.value)))}
            return s.call(Const(np.linspace), [start, stop], number, origin, "grid")
        return s.call(Const(np.arange), [start, stop, step], {}, origin, "grid")
    type_ = s.unit.type(item)
    if isinstance(type_, (t.List, t.Tuple)):
        item = s.call(Const(np.array), [item], {}, origin, "part")
        type_ = s.unit.type(item)
    known = isinstance(type_, t.Scalar) or (isinstance(type_, t.Array) and type_.kind != "other")
    return item if known else None


def weights_of(type_: t.Type) -> list[Any]:
    """Return what a number or an array may count for in the dtype of the whole."""
    if isinstance(type_, t.Scalar):
        among = type_.among or ((type_.kind, type_.dtype),)
        return [WEAK[kind] if dtype is None else np.dtype(dtype) for kind, dtype in among]
    assert isinstance(type_, t.Array)
    return [np.dtype(type_.dtype)]

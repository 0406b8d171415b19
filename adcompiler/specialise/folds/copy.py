"""Folds of ``copy.copy`` and ``copy.deepcopy``: copies of values of known types, written out."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.specialise.calls.constructors import copied_instance
from adcompiler.specialise.folds.table import folds
from adcompiler.specialise.writer import Writer


@folds(copy.copy)
def fold_copy(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if len(args) != 1 or kwargs:
        return None
    match s.unit.type(args[0]):
        case t.Array():
            return s.call(Const(np.copy), args, {}, origin, name)
        case t.List():
            return s.call(Const(list), args, {}, origin, name)
        case t.Dict():
            return s.call(Const(dict), args, {}, origin, name)
        case t.Scalar() | t.Text() | t.Tuple() | t.Range():
            return args[0]
        case t.Object():
            return copied_instance(s, args, kwargs, origin, name)
    return None


@folds(copy.deepcopy)
def fold_deepcopy(s: Writer, args: list[Any], kwargs: Any, origin: Origin, name: str) -> Any:
    if len(args) != 1 or kwargs:
        return None
    return deep_copy(s, args[0], origin, name)


def deep_copy(s: Writer, value: Atom, origin: Origin, name: str) -> Atom | None:
    """Write a deep copy of a value; None if its type is not known throughout."""
    type_ = s.unit.type(value)
    match type_:
        case t.Tuple(items, cls):
            parts = [
                deep_copy(s, s.item(value, Const(i), origin, "part"), origin, "part")
                for i in range(len(items))
            ]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            if cls is not tuple:
                return s.call(Const(cls), known, {}, origin, name)
            return s.pack("tuple", tuple(known), name, origin)
        case t.List(item) if isinstance(item, (t.Scalar, t.Text, t.Bottom)):
            return s.call(Const(list), [value], {}, origin, name)
        case t.List(t.Array()):
            return s.call(Const(copied_arrays), [value], {}, origin, name)
        case t.Dict(keys, _) if keys is not None:
            entries: list[tuple[Atom, Atom]] = []
            for key in keys:
                entry = s.item(value, Const(key), origin, str(key))
                made = deep_copy(s, entry, origin, str(key))
                if made is None:
                    return None
                entries.append((Const(key), made))
            return s.pack_dict(entries, origin, name)
        case t.List() | t.Dict():
            return None
    copied: Atom | None = fold_copy(s, [value], {}, origin, name)
    return copied


def copied_arrays(arrays: Any) -> list[Any]:
    """A deep copy of a list of arrays."""
    return [np.copy(array) for array in arrays]

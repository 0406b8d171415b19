"""Folds of ``copy.copy`` and ``copy.deepcopy``: copies of values of known types, written out."""

from __future__ import annotations

import copy
import types
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin
from adcompiler.rulekit.functionals import copied
from adcompiler.runtime.aliases import copied_apart
from adcompiler.infer.calls.constructors import copied_instance, is_copied_by_attributes
from adcompiler.infer.folds.table import Kwargs, folds
from adcompiler.infer.objects import held_by, make_record
from adcompiler.infer.interface import Operations


@folds(copy.copy)
def fold_copy(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
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
def fold_deepcopy(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    if len(args) != 1 or kwargs:
        return None
    made = deep_copy(s, args[0], origin, name, {})
    if made is not None and mutable_parts(s.unit.type(args[0])) > 1:
        place = Const(origin.where)
        s.out.append(Do(Call(Const(copied_apart), (place, args[0])), origin))
    return made


@folds(copied)
def fold_copied(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """What is not known cannot be written into either: no copy of it is needed."""
    made = fold_deepcopy(s, args, kwargs, origin, name)
    return args[0] if made is None else made


def mutable_parts(type_: t.Type) -> int:
    """Return how many parts of a value may be one object, two for any number of them."""
    match type_:
        case t.Array():
            return 1
        case t.List(item):
            return 1 if isinstance(item, (t.Scalar, t.Text, t.Bottom)) else 2
        case t.Tuple(items):
            return sum(map(mutable_parts, items))
        case t.Dict(keys, items):
            return 1 + (1 if keys is None else sum(map(mutable_parts, items)))
        case t.Object(_, fields):
            return 1 + sum(mutable_parts(field) for _, field in fields)
    return 0


def deep_copy(
    s: Operations, value: Atom, origin: Origin, name: str, copies: dict[Atom, Atom | None]
) -> Atom | None:
    """Write a deep copy of a value; None if its type is not known throughout.

    ``copies`` are those that have been written: of one object there is one copy.
    """
    if value not in copies:
        copies[value] = new_copy(s, value, origin, name, copies)
    return copies[value]


def new_copy(
    s: Operations, value: Atom, origin: Origin, name: str, copies: dict[Atom, Atom | None]
) -> Atom | None:
    """As ``deep_copy``, of what has not been copied."""
    type_ = s.unit.type(value)
    match type_:
        case t.Tuple(items, cls):
            parts = [
                deep_copy(s, s.item(value, Const(i), origin, "part"), origin, "part", copies)
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
                called = str(key) if str(key).isidentifier() else "entry"
                entry = s.item(value, Const(key), origin, called)
                made = deep_copy(s, entry, origin, called, copies)
                if made is None:
                    return None
                entries.append((Const(key), made))
            return s.pack_dict(entries, origin, name)
        case t.Object() if is_copied_by_attributes(type_.cls, deep=True):
            fields: dict[str, Atom] = {}
            for field, attribute in held_by(s, value, type_, origin).items():
                part = deep_copy(s, attribute, origin, field, copies)
                if part is None:
                    return None
                fields[field] = part
            return make_record(s, type_.cls, fields, name, origin)
        case t.Static():
            return value if is_its_own_copy(type_.value) else None
        case t.List() | t.Dict() | t.Object():
            return None
    copied: Atom | None = fold_copy(s, [value], {}, origin, name)
    return copied


def is_its_own_copy(value: Any) -> bool:
    """Say whether ``copy.deepcopy`` gives what it is given: a class, a function."""
    return value is None or isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType))


def copied_arrays(arrays: Any) -> list[Any]:
    """A deep copy of a list of arrays."""
    return [np.copy(array) for array in arrays]

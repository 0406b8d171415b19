"""Folds of calls that make, open and run over tuples, lists and dicts."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Do, Origin, Star, Var, constants, unstar
from adcompiler.prelude.dicts import dict_of_any, dict_of_pairs, merged
from adcompiler.prelude.iterators import (
    listed, total_of_instances, total_of_lists, total_of_tuples,
)
from adcompiler.runtime import (
    check_count, dict_of, dict_values, own, same_length, unpack, without_keys, zeros_like,
)
from adcompiler.runtime.adjoints.sequences import joined
from adcompiler.runtime.records import is_record_class
from adcompiler.infer.folds.iterator import is_lazy, may_carry, transposed
from adcompiler.infer.folds.table import Kwargs, FOLDS, Fold, folds
from adcompiler.infer.result_types import item_type
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit


def _sequence(kind: str) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Any:
        """A sequence of known elements is rebuilt from them."""
        made = s.unit.definition(args[0]) if len(args) == 1 else None
        lazy = isinstance(made, Call) and is_lazy(made.func)
        if lazy or (len(args) == 1 and is_unknown_sequence(s.unit, args[0])):
            items = s.call(Const(listed), args, {}, origin, name)
            return items if kind == "list" else s.call(Const(tuple), [items], {}, origin, name)
        elements = s.unit.elements(args[0]) if len(args) == 1 else ()
        if elements is None or kwargs:
            return None
        return s.pack(kind, elements, name, origin)

    return fold


def is_unknown_sequence(unit: Unit, arg: Atom | Star) -> bool:
    """Say whether an argument is of unknown type, and may hold what carries a derivative."""
    return not isinstance(arg, Star) and isinstance(
        unit.type(arg), t.Unknown) and may_carry(unit, arg)


FOLDS[tuple] = _sequence("tuple")
FOLDS[list] = _sequence("list")


@folds(dict)
def fold_dict(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """A dict of keywords, or of a dict with known keys, is a display."""
    entries: list[tuple[Atom, Atom]] = []
    if len(args) == 1:
        opened = opened_dict(s, args[0], origin) or opened_pairs(s.unit, args[0])
        if opened is None and kwargs:
            return with_keywords(s, args[0], kwargs, origin, name)
        if opened is None and not isinstance(s.unit.type(args[0]), t.Dict):
            pairs = dict_of_any if s.in_rule else dict_of_pairs  # a cotangent is a dict
            return s.call(Const(pairs), args, {}, origin, name)
        if opened is None:
            return None
        entries += opened
    entries += [(Const(key), value) for key, value in kwargs.items()]
    return s.pack_dict(entries, origin, name)


def with_keywords(
    s: Operations, entries: Atom, kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom:
    """Write ``dict(entries, key=value)``."""
    table = s.call(Const(dict), [entries], {}, origin, name)
    more = s.pack_dict([(Const(key), value) for key, value in kwargs.items()], origin, name)
    return s.call(Const(merged), [table, more], {}, origin, name)


def opened_pairs(unit: Unit, pairs: Atom) -> list[tuple[Atom, Atom]] | None:
    """Return the entries of a list of pairs; None if it, or a key, is not known."""
    rows = [unit.elements(pair) for pair in unit.elements(pairs) or ()]
    found = [(row[0], row[1]) for row in rows if row is not None and len(row) == 2]
    known = len(found) == len(rows) and all(isinstance(key, Const) for key, _ in found)
    return found if rows and known else None


def opened_dict(s: Operations, table: Atom, origin: Origin) -> list[tuple[Atom, Atom]] | None:
    """Return the entries of a dict, None if its keys are not known."""
    type_ = s.unit.type(table)
    if not isinstance(type_, t.Dict) or type_.keys is None:
        return None
    return [(Const(k), s.item(table, Const(k), origin, str(k))) for k in type_.keys]


@folds(sum)
def fold_sum(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """A sum of lists or of tuples has all their items."""
    start = args[1] if len(args) == 2 else kwargs.get("start")
    type_ = t.UNKNOWN if start is None else s.unit.type(start)
    if start is not None and isinstance(type_, t.List):
        return s.call(Const(total_of_lists), [args[0], start], {}, origin, name)
    if start is None or not isinstance(type_, t.Tuple):
        held = s.unit.type(args[0])
        items = held.items if isinstance(held, t.Tuple) else (getattr(held, "item", t.UNKNOWN),)
        if any(isinstance(item, t.Object) and is_record_class(item.cls) for item in items):
            first = Const(0) if start is None else start
            return s.call(Const(total_of_instances), [args[0], first], {}, origin, name)
        return None
    total, groups = start, s.unit.elements(args[0])
    if groups is None:
        return s.call(Const(total_of_tuples), [args[0], start], {}, origin, name)
    for group in groups:
        total = s.call(Const(operator.add), [total, group], {}, origin, name)
    return total


@folds(operator.add)
def fold_add(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The type of a sum of two lists, of whatever items; one of functions is a display."""
    left, right = map(s.unit.type, args)
    known = functions_of(s.unit, args[0]), functions_of(s.unit, args[1])
    if known[0] is not None and known[1] is not None and any(known):
        return s.pack("list", (*known[0], *known[1]), name, origin)
    if isinstance(left, t.List) and isinstance(right, t.List) and left != right:
        type_ = t.List(t.join(left.item, right.item))
        return s.let(Call(Const(operator.add), tuple(args)), type_, name, origin)
    return s.call(Const(joined), args, {}, origin, name) if joins((left, right)) else None


def functions_of(unit: Unit, atom: Atom) -> tuple[Atom, ...] | None:
    """Return the functions that a list holds; None if they are not known, or others are there."""
    if not isinstance(unit.type(atom), t.List):
        return None
    items = unit.elements(atom)
    if items is None or not all(t.is_function(unit.type(item)) for item in items):
        return None
    return items


def joins(types: Iterable[t.Type]) -> bool:
    """Say whether a sum of two is one of sequences, though one of the types is not known."""
    kinds = [isinstance(type_, (t.List, t.Tuple)) for type_ in types if type_ != t.UNKNOWN]
    return kinds == [True]


@folds(without_keys)
def fold_without_keys(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """The rest of a dict with known keys is a display."""
    opened, left_out = opened_dict(s, args[0], origin), s.unit.elements(args[1])
    if opened is None or left_out is None or not all(isinstance(k, Const) for k in left_out):
        return None
    keys = [k.value for k in left_out if isinstance(k, Const)]
    rest = [e for e in opened if isinstance(e[0], Const) and e[0].value not in keys]
    return s.pack_dict(rest, origin, name)


@folds(operator.or_)
def fold_or(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Any:
    """``|`` of two dicts is a display of both."""
    if not any(isinstance(s.unit.type(arg), t.Dict) for arg in args):
        return None
    parts = [opened_dict(s, arg, origin) for arg in args]
    if None in parts:
        return s.reject(
            origin, "`|` of dicts whose keys are not known when compiling",
            "write the entries out", "star-arguments",
        )
    return s.pack_dict([entry for part in parts for entry in part or ()], origin, name)


@folds(reversed)
def fold_reversed(
    s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str
) -> Any:
    if isinstance(s.unit.type(args[0]), (t.Array, t.List, t.Tuple, t.Range)):
        return s.item(args[0], Const(slice(None, None, -1)), origin, name)
    return None


@folds(zip)
def fold_zip(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """``strict=True`` becomes a comparison of lengths where the iterator is made."""
    if len(args) == 1 and isinstance(args[0], Star):
        columns = transposed(s, args[0].atom, origin, name)
        if columns is not None:
            return columns
    strict = kwargs.get("strict", Const(False))
    if not isinstance(strict, Const):
        return s.reject(
            origin, "zip() with `strict=` that is not known when compiling",
            "write strict=True or strict=False", "call-arguments",
        )
    if strict.value:
        made = [s.unit.definition(unstar(arg)) for arg in args]
        if any(isinstance(rhs, Call) and isinstance(rhs.func, Const)
               and rhs.func.value in (zip, enumerate, iter, map, filter) for rhs in made):
            return s.reject(
                origin, "zip() with `strict=True` of iterators, whose length is not known",
                "zip lists, or leave `strict=` away", "call-arguments",
            )
        s.out.append(Do(Call(Const(same_length), tuple(args)), origin))
    return s.let(Call(Const(zip), tuple(args)), t.UNKNOWN, name, origin)


@folds(enumerate)
def fold_enumerate(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """An iterator that the loop over it takes apart."""
    rhs = Call(Const(enumerate), tuple(args), tuple(kwargs.items()))
    return s.let(rhs, t.UNKNOWN, name, origin)


@folds(dict_of)
def fold_dict_of(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The type of a dict comprehension: its keys are known only where it holds functions."""
    keys, values = s.unit.elements(args[0]), s.unit.elements(args[1])
    if keys is not None and values is not None and all(isinstance(k, Const) for k in keys) and any(
        t.is_function(s.unit.type(value)) for value in values
    ):
        return s.pack_dict(list(zip(keys, values, strict=True)), origin, name)
    type_ = s.unit.type(args[1])
    item = type_.item if isinstance(type_, t.List) else t.UNKNOWN
    return s.let(Call(Const(dict_of), tuple(args)), t.Dict(None, (item,)), name, origin)


@folds(dict_values)
def fold_dict_values(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The values of a dict of which the keys are not known."""
    match s.unit.type(args[0]):
        case t.Dict(None, (item,)):
            return s.let(Call(Const(dict_values), tuple(args)), t.List(item), name, origin)
    return None


@folds(own)
def fold_own(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """A copy of a dict of which the keys are not known is of its type."""
    type_ = s.unit.type(args[0])
    if isinstance(type_, t.Dict) and type_.keys is None:
        return s.let(Call(Const(own), tuple(args)), type_, name, origin)
    return None


@folds(zeros_like)
def fold_zeros_like(s: Writer, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    """The zeros for a dict of which the keys are not known."""
    match s.unit.type(args[0]):
        case t.Dict(None, (item,)) if (found := type_of_zeros(item)) is not None:
            type_ = t.Dict(None, (found,))
            return s.let(Call(Const(zeros_like), tuple(args)), type_, name, origin)
    return None


def type_of_zeros(type_: t.Type) -> t.Type | None:
    """Return the type of the zeros for values of a type, None if it is not known."""
    match type_:
        case t.Scalar(kind, _):
            return type_ if kind in ("float", "complex") else t.FLOAT
        case t.Array(_, ndim):
            return type_ if type_.kind in ("float", "complex") else t.Array("float64", ndim)
        case t.List(item):
            inner = type_of_zeros(item)
            return None if inner is None else t.List(inner)
        case t.Dict(None, (item,)):
            inner = type_of_zeros(item)
            return None if inner is None else t.Dict(None, (inner,))
        case t.Bottom():
            return type_
    return None


def parts_to_be_named(s: Operations, value: Atom, count: int, origin: Origin) -> tuple[Atom, ...]:
    """Write the items of a sequence, which have the names that they are assigned to."""
    parts = tuple(s.item(value, Const(i), origin, "part") for i in range(count))
    if isinstance(value, Var):
        s.unit.naming.opened[value] = count
    s.unit.naming.anonymous.update(
        part for part in parts if isinstance(part, Var) and part.temporary)
    return parts


@folds(unpack)
def fold_unpack(s: Operations, args: list[Atom], kwargs: Kwargs, origin: Origin, name: str) -> Any:
    value, known = args[0], constants(args[1:])
    assert known is not None
    count, star = known
    rhs = s.unit.definition(value)
    if isinstance(rhs, Call) and is_lazy(rhs.func) and may_carry(s.unit, value):
        value = s.call(Const(listed), [value], {}, origin, "items")
        args = [value, *args[1:]]
    elements = s.unit.elements(value)
    type_ = s.unit.type(value)
    if elements is None and isinstance(type_, t.Tuple):
        elements = parts_to_be_named(s, value, len(type_.items), origin)
    if elements is None and s.heap is not None and star < 0 and isinstance(
        type_, (t.List, t.Array)
    ) and is_mutable(item_type(type_)):
        s.out.append(Do(Call(Const(check_count), (value, Const(count))), origin))
        elements = parts_to_be_named(s, value, count, origin)
    if elements is None:
        item = item_type(type_)
        kinds: list[t.Type] = [item] * count
        if star >= 0:
            kinds[star] = t.List(item)
        parts = t.Tuple(tuple(kinds))
        made = s.let(Call(Const(unpack), tuple(args)), parts, name, origin)
        s.unit.naming.opened[made] = count
        return made
    if (star < 0 and len(elements) != count) or len(elements) < count - 1:
        return s.let(Call(Const(unpack), tuple(args)), t.UNKNOWN, name, origin)
    if star >= 0:
        end = len(elements) - (count - star - 1)
        middle = s.pack("list", elements[star:end], "rest", origin)
        elements = (*elements[:star], middle, *elements[end:])
    return s.pack("tuple", elements, name, origin)

"""The types of what calls and subscripts give, found by trying them on stand-in values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, TypeVar

import numpy as np
from numpy.exceptions import AxisError

from adcompiler.analyses.variants import (
    combined, exact, has_number, has_tuple, variants, widened,
)
from adcompiler.frontend.scope import MISSING
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Const, Call, Item, Pack, Star, arguments, unstar
from adcompiler.ops.qualified_names import is_emitted_home
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.reading import attempted
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import CannotStandInError, on_stand_ins, repeated, stand_in, try_types

Items = TypeVar("Items", bound=Sequence[Any])
POWERS = frozenset({pow, operator.pow, operator.ipow})


MADE = {int: t.INT, float: t.FLOAT}
"""What gives a number of one class, whatever it is given."""

MOST_TYPED = 8192
LIBRARIES = ("builtins", "math", "cmath", "operator", "_operator", "numpy", "scipy", "adcompiler")
_typed: dict[Any, tuple[Any, t.Type]] = {}
"""The types of what functions of libraries give, in all compilations of the process."""


def is_of_library(function: Callable[..., Any]) -> bool:
    """Say whether a function is one of a library, which always gives values of the same type."""
    if isinstance(function, FunctionType) and function.__module__ == "builtins":
        return False  # one of a program that is run by `exec`
    module = getattr(function, "__module__", None)
    return isinstance(function, np.ufunc) or is_emitted_home(str(module)) or (
        str(module).partition(".")[0] in LIBRARIES)


class ResultTypes:
    """Types what calls and subscripts give, by what ``unit`` knows of their operands."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def of_call(
        self, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]
    ) -> t.Type:
        """Return the type of a pure function's result, by calling it on stand-ins."""
        if Star in map(type, args):
            return t.UNKNOWN
        types = map(self.unit.type, (*args, *kwargs.values()))
        if any(map(is_open, types)):
            return t.BOTTOM
        if function in MADE and len(args) == 1 and self.unit.type(args[0]) in (t.TEXT, t.UNKNOWN):
            return MADE[function]

        kinds = tuple(map(self.decided_by, args))
        if not kwargs and None not in kinds:
            key = (id(function), kinds)
            table = _typed if is_of_library(function) else self.unit.calls.typed
            if key not in table:
                found = self.tried(function, args, kwargs)
                if len(table) >= MOST_TYPED:
                    table.clear()
                table[key] = function, found  # kept, so that its id stays its own
            return table[key][1]
        return self.tried(function, args, kwargs)

    def decided_by(self, atom: Atom) -> Any:
        """Return what decides the stand-in of a number or array; None for anything else."""
        if isinstance(atom, Const):
            plain = type(atom.value) in (bool, int, float, complex, str)
            return (type(atom.value), repr(atom.value)) if plain else None
        type_ = self.unit.type(atom)
        if not isinstance(type_, (t.Scalar, t.Array)):
            return None
        if type_ == t.INT and isinstance(self.unit.definition(atom), (Item, Attribute)):
            return None
        return type_

    def tried(
        self, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom]
    ) -> t.Type:
        """As ``of_call``, by calling the function now."""

        def arguments(n: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            return (
                tuple(self.stand_in(arg, n) for arg in args),
                {key: self.stand_in(value, n) for key, value in kwargs.items()},
            )

        def along_first_axis(n: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
            def value(atom: Atom) -> Any:
                known = isinstance(atom, Const) or not is_integer(self.unit.type(atom))
                return self.stand_in(atom, n) if known else 0

            return tuple(map(value, args)), {key: value(atom) for key, atom in kwargs.items()}

        found = try_types(function, arguments)
        if found == t.UNKNOWN and lacks_axis(function, arguments):
            found = try_types(function, along_first_axis)
        return self.widened_by_values(function, args, kwargs, found)

    def widened_by_values(
        self, function: Callable[..., Any], args: list[Atom], kwargs: Mapping[str, Atom],
        found: t.Type
    ) -> t.Type:
        """Return the type of a result whatever the values and classes of numeric arguments are."""
        atoms = [*args, *kwargs.values()]
        inexact = not all(exact(self.unit.type(atom)) for atom in atoms)
        if isinstance(found, t.Unknown) and not inexact:
            return found
        by_class = REGISTRY.facts(function).classes is True
        by_value = (has_number(found) and not by_class) or has_tuple(found)
        counted = isinstance(found, t.Array) and not by_class and any(map(self.counts, atoms))
        tried = on_stand_ins(function)
        if tried is None or not (inexact or by_value or counted):
            return found
        known = not isinstance(found, t.Unknown)
        try:
            choices = [
                self.variants(atom, 3, by_value or (counted and self.counts(atom)))
                for atom in atoms
            ]
        except CannotStandInError:
            return t.UNKNOWN
        other = widened(real_power(tried) if known and found != t.COMPLEX else tried,
                        found if known else t.BOTTOM, choices, tuple(kwargs))
        return t.UNKNOWN if isinstance(other, t.Bottom) else other

    def counts(self, atom: Atom) -> bool:
        """Say whether an argument is an int or a flag, which may say how many axes there are."""
        if isinstance(atom, Const):
            return False
        type_ = self.unit.type(atom)
        return isinstance(type_, t.Scalar) and type_.kind in ("bool", "int")

    def variants(self, atom: Atom, n: int, by_value: bool) -> list[Any]:
        """Return stand-ins for ``atom`` of all classes that it may have, as by ``stand_in``."""
        rhs = self.unit.definition(atom)
        if isinstance(atom, Const):
            return [atom.value]
        if isinstance(rhs, Pack) and rhs.kind in ("tuple", "list") and self.unit.elements(atom):
            parts = combined([self.variants(unstar(item), n, by_value) for item in rhs.items])
            return [tuple(part) if rhs.kind == "tuple" else list(part) for part in parts]
        first = self.stand_in(atom, n)
        type_ = self.unit.type(atom)
        varied = has_number(type_) or (by_value and isinstance(type_, t.Text))
        return [first, *variants(type_, n, by_value)] if varied else [first]

    def stand_in(self, atom: Atom, n: int) -> Any:
        """Return a stand-in for the value of ``atom``: itself if it is known."""
        if isinstance(atom, Const):
            return atom.value
        rhs = self.unit.definition(atom)
        if isinstance(rhs, Pack) and rhs.kind in ("tuple", "list") and self.unit.elements(atom):
            items = [self.stand_in(unstar(item), n) for item in rhs.items]
            return tuple(items) if rhs.kind == "tuple" else items
        type_ = self.unit.type(atom)
        if isinstance(type_, t.Tuple) and isinstance(rhs, Attribute) and rhs.name == "shape":
            return (n,) * len(type_.items)
        if isinstance(rhs, (Item, Attribute)) and type_ == t.INT:
            return n
        return stand_in(type_, n)

    def of_item(self, type_: t.Type, index: Atom) -> t.Type:
        """Return the type of a subscript of a value of ``type_``."""
        known = index.value if isinstance(index, Const) else MISSING
        match type_:
            case t.Tuple(items):
                if isinstance(known, int) and -len(items) <= known < len(items):
                    return items[known]
                if isinstance(known, slice) and (part := cut_out(items, known)) is not None:
                    return t.Tuple(part)
                if isinstance(self.unit.type(index), t.SliceType):
                    return t.UNKNOWN
                return item_type(type_)
            case t.List():
                index_type = t.as_index(self.unit.type(index))
                if isinstance(index_type, t.SliceType):
                    return t.List(type_.item)
                return item_type(type_) if is_integer(index_type) else t.UNKNOWN
            case t.Dict(keys, items):
                if keys is None:
                    return items[0]
                if known is not MISSING and known in keys:
                    return items[keys.index(known)]
                return item_type(t.Tuple(items))
            case t.Text():
                return t.TEXT
            case t.Bottom():
                return t.BOTTOM
            case t.Range():
                return t.INT if is_integer(t.as_index(self.unit.type(index))) else t.RANGE
            case t.Array():
                found = try_types(
                    operator.getitem,
                    lambda n: ((stand_in(type_, n), self.stand_in_index(index, n)), {}),
                )
                picks = (isinstance(index, Const) and isinstance(index.value, list) and all(
                    isinstance(item, bool) for item in index.value
                )) or self.is_bool_list(index)
                return type_ if picks and isinstance(found, t.Unknown) else found
        return t.UNKNOWN

    def of_items(self, iterable: Atom) -> t.Type:
        """Return the type of the items of an iterable; of an iterator, found by trying it."""
        type_ = self.unit.type(iterable)
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is np.ndindex
            or getattr(rhs.func.value, "__module__", None) == "itertools"
        ):
            function = rhs.func.value
            kwargs = {key: value for key, value in rhs.kwargs if key is not None}
            return self.of_call(
                lambda *a, **k: next(iter(function(*a, **k))), arguments(rhs), kwargs)
        return item_type(type_)

    def is_bool_list(self, index: Atom) -> bool:
        """Say whether a subscript is a list of bools, of whatever length."""
        elements = self.unit.elements(index)
        return bool(elements) and isinstance(self.unit.type(index), t.List) and all(
            self.unit.type(e) == t.BOOL for e in elements or ()
        )

    def stand_in_index(self, index: Atom, n: int) -> Any:
        """Return a stand-in for a subscript that is valid for arrays of extent ``n``."""
        rhs = self.unit.definition(index)
        if isinstance(rhs, Pack):
            parts = [self.stand_in_index(unstar(item), n) for item in rhs.items]
            if rhs.kind == "list":  # integers are as many as those of arrays beside them
                return [0] * n if parts and all(type(part) is int for part in parts) else parts
            return tuple(parts)
        if isinstance(index, Const):
            if isinstance(index.value, int) and not isinstance(index.value, bool):
                return 0
            if isinstance(index.value, tuple):
                return tuple(self.stand_in_index(Const(item), n) for item in index.value)
            return slice(None) if isinstance(index.value, slice) else index.value
        type_ = t.as_index(self.unit.type(index))
        if isinstance(type_, t.SliceType):
            return slice(None)
        if isinstance(type_, t.Array) and type_.kind == "int":
            return repeated(np.zeros((), type_.dtype), n, type_.ndim)
        if isinstance(type_, t.Scalar) and type_.kind == "int":
            return 0
        if isinstance(type_, t.List) and is_integer(type_.item):
            return [0] * n
        if isinstance(type_, t.Scalar):
            return stand_in(t.widest(type_), n)
        if isinstance(type_, t.Tuple):
            return tuple(stand_in_type_index(item, n) for item in type_.items)
        return stand_in(type_, n)


def is_open(type_: t.Type) -> bool:
    """Say whether nothing is known yet of a value, or of a part of a tuple: a call gives it."""
    return isinstance(type_, t.Bottom) or (
        isinstance(type_, t.Tuple) and any(map(is_open, type_.items)))


def stand_in_type_index(type_: t.Type, n: int) -> Any:
    """Return a stand-in for a subscript of which only the type is known."""
    if isinstance(type_, t.Array) and type_.kind == "int":
        return repeated(np.zeros((), type_.dtype), n, type_.ndim)
    return 0 if is_integer(t.as_index(type_)) else stand_in(type_, n)


def cut_out(items: Items, key: slice) -> Items | None:
    """Return ``items[key]``, None if that raises."""
    try:
        return items[key]  # type: ignore[return-value]
    except (TypeError, ValueError):  # bounds that are no integers, or a step of 0
        return None


def item_type(type_: t.Type) -> t.Type:
    """Return the type of what iterating over a value gives."""
    match type_:
        case t.Bottom():
            return t.BOTTOM
        case t.Range():
            return t.INT
        case t.Array(dtype, ndim):
            if ndim == 1:
                return t.Scalar(type_.kind, dtype) if type_.kind != "other" else t.UNKNOWN
            return t.Array(dtype, ndim - 1) if ndim > 1 else t.UNKNOWN
        case t.List(item):
            return item
        case t.Tuple(items):
            joined: t.Type = t.BOTTOM
            for item in items:
                joined = t.join(joined, item)
            return t.UNKNOWN if isinstance(joined, t.Static) else joined
        case t.Dict(keys, _) if keys is not None:
            kinds = {type(key) for key in keys}
            return {str: t.TEXT, int: t.INT}.get(kinds.pop(), t.UNKNOWN) if len(
                kinds) == 1 else t.UNKNOWN
        case t.Text():
            return t.TEXT
    return t.UNKNOWN


def real_power(function: Callable[..., Any]) -> Any:
    """Return a power that raises where it is complex: ``stays_real`` is written beside such."""
    if not hashable(function) or function not in POWERS:
        return function

    def power(x: Any, y: Any, *modulus: Any) -> Any:
        found = function(x, y, *modulus)
        if isinstance(found, complex):
            raise ValueError(found)
        return found

    return power


def lacks_axis(
    function: Callable[..., Any], arguments: Callable[[int], tuple[tuple[Any, ...], dict[str, Any]]]
) -> bool:
    """Say whether a call on stand-ins fails because one of the integers is no axis of an array."""
    def call(*args: Any, **kwargs: Any) -> bool:
        try:
            function(*args, **kwargs)
        except AxisError:
            return True
        return False

    try:
        args, kwargs = arguments(3)
    except CannotStandInError:
        return False
    return attempted(call, *args, **kwargs) is True


def is_integer(type_: t.Type) -> bool:
    """Say whether values of this type are integers (bools excluded)."""
    return isinstance(type_, t.Scalar) and type_.kind == "int"

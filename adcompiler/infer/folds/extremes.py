"""The greatest, the least, the median, and sorting."""

from __future__ import annotations

import functools
import math
import statistics
from collections.abc import Callable
from typing import Any

from adcompiler.prelude import iterators
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const, Origin, Star, unstar
from adcompiler.infer.calls.binding import plain_call
from adcompiler.infer.folds.iterator import is_none, may_carry, run, sequence
from adcompiler.infer.folds.table import FOLDS, Fold, folds
from adcompiler.infer.result_types import item_type
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer


def _extremum(
    function: Callable[..., Any], by: Callable[..., Any], otherwise: Callable[..., Any],
    by_or: Callable[..., Any], item: Callable[..., Any]
) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        """With a key the greatest key is looked for; without, items that are tuples are."""
        if not args or set(kwargs) - {"key", "default"}:
            return None
        alone = len(args) == 1
        if any(isinstance(arg, Star) for arg in args):
            items = unstar(args[0]) if alone else s.sequence_display("list", args, "items", origin)
        elif alone:
            items = args[0]
        elif not is_none(kwargs.get("key")):
            items = s.pack("tuple", tuple(args), "items", origin)
        elif kwargs:
            return s.call(Const(function), args, {}, origin, name)
        elif any(isinstance(s.unit.type(arg), (t.Tuple, t.List)) for arg in args):
            return run(s, item, [s.pack("tuple", tuple(args), "items", origin)], origin, name)
        else:
            return one_of(s, function, args, [s.unit.type(arg) for arg in args], origin, name)
        key = kwargs.get("key", NONE)
        if not may_carry(s.unit, items) and (is_none(key) or isinstance(key, Const)):
            return None
        found = sequence(s, items, origin)
        if not is_none(key) and "default" in kwargs:
            return run(s, by_or, [found, key, kwargs["default"]], origin, name)
        if not is_none(key):
            return run(s, by, [found, key], origin, name)
        if "default" in kwargs:
            return run(s, otherwise, [found, kwargs["default"]], origin, name)
        if isinstance(item_type(s.unit.type(found)), (t.Tuple, t.List)):
            return run(s, item, [found], origin, name)
        if found is not args[0] or kwargs:
            return s.call(Const(function), [found], {}, origin, name)
        if isinstance(s.unit.type(found), t.Array):
            return None
        return one_of(s, function, args, [item_type(s.unit.type(found))], origin, name)

    return fold


def one_of(
    s: Writer, function: Callable[..., Any], args: list[Atom], types: list[t.Type], origin: Origin,
    name: str
) -> Atom | None:
    """Write the call of a function that returns one of several numbers, whichever it is.

    Its type cannot be found by trying: ``max(1, x)`` may be the int or the float.
    """
    if all(isinstance(arg, Const) for arg in args) or not all(
        isinstance(type_, t.Scalar) for type_ in types
    ):
        return None
    type_ = functools.reduce(t.join, types)
    result = s.let(plain_call(Const(function), args, {}), type_, name, origin)
    if len(args) == 1 or any(other != type_ for other in types):
        s.unit.merged.add(result)
    return result


def _item_of(function: Callable[..., Any]) -> Fold:
    def fold(
        s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom | None:
        if len(args) != 1 or kwargs or isinstance(args[0], Star):
            return None
        items = sequence(s, args[0], origin)
        type_ = s.unit.type(items)
        if isinstance(type_, t.Array):
            return None
        return one_of(s, function, [items], [item_type(type_)], origin, name)

    return fold


folds(statistics.median)(_item_of(statistics.median))
folds(statistics.median_low)(_item_of(statistics.median_low))
folds(statistics.median_high)(_item_of(statistics.median_high))
FOLDS[max] = _extremum(
    max, iterators.greatest_by, iterators.greatest_or, iterators.greatest_by_or,
    iterators.greatest_item,
)
FOLDS[min] = _extremum(
    min, iterators.least_by, iterators.least_or, iterators.least_by_or, iterators.least_item,
)


@folds(math.hypot)
def fold_hypot(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """The norm of a sequence of unknown length is its distance from 0."""
    if len(args) != 1 or not isinstance(args[0], Star):
        return None
    return run(s, iterators.norm, [sequence(s, args[0], origin)], origin, name)


@folds(sorted)
def fold_sorted(
    s: Operations, args: list[Atom], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    if len(args) != 1 or set(kwargs) - {"key", "reverse"}:
        return None
    key, reverse = kwargs.get("key", NONE), kwargs.get("reverse", Const(False))
    if not may_carry(s.unit, args[0]) and (is_none(key) or isinstance(key, Const)):
        return None
    items = sequence(s, args[0], origin)
    if not is_none(key):
        return run(s, iterators.sorted_by, [items, key, reverse], origin, name)
    if isinstance(item_type(s.unit.type(items)), (t.Tuple, t.List)):
        return run(s, iterators.sorted_items, [items, reverse], origin, name)
    if items is args[0] and "key" not in kwargs:
        return None
    return s.call(Const(sorted), [items], {"reverse": reverse}, origin, name)

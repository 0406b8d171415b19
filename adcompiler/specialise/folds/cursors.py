"""Folds of iterators that are asked in several places: a sequence and a place in it."""

from __future__ import annotations

import itertools
from typing import Any

from adcompiler.frontend import cursors
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin, Star
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime.substitutes import Cursor, ListCursor
from adcompiler.specialise.calls.operator_methods import iterated
from adcompiler.specialise.folds.table import folds
from adcompiler.specialise.generators import consumed
from adcompiler.specialise.objects import live_class
from adcompiler.specialise.writer import Writer

def is_cursor(s: Writer, atom: Any) -> bool:
    """Say whether a value is an iterator that is asked in several places."""
    if isinstance(atom, Star):
        return False
    type_ = s.unit.type(atom)
    return isinstance(type_, t.Object) and issubclass(type_.cls, Cursor)


def is_sequence(s: Writer, atom: Atom) -> bool:
    """Say whether a value is known to be a sequence, of which a place may be kept."""
    type_ = s.unit.type(atom)
    return isinstance(type_, (t.List, t.Tuple, t.Range)) or (
        isinstance(type_, t.Array) and type_.ndim > 0)


def cursor_over(s: Writer, items: Atom, origin: Origin, name: str) -> Atom:
    """Write an iterator over a sequence, at its start."""
    cls = ListCursor if isinstance(s.unit.type(items), t.List) else Cursor
    return s.call(live_class(s, cls), [items], {}, origin, name)


def is_folded_as(function: Any, wanted: Any) -> bool:
    """Say whether a value is a function of Python's own."""
    return isinstance(function, Const) and hashable(function.value) and (
        function.value is wanted)


@folds(cursors.shared, as_given=True)
def fold_shared(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``iter(x)`` that is asked in several places: of a sequence, that and a place in it."""
    if is_folded_as(args[0], iter) and s.heap is not None:
        if is_cursor(s, args[1]):
            return args[1]  # type: ignore[no-any-return]
        given = iterated(s, args[1], origin) if isinstance(
            s.unit.type(args[1]), t.Object) else args[1]
        given = consumed(s, given, origin, False, False)
        if is_sequence(s, given):
            return cursor_over(s, given, origin, name)
        args = [args[0], given]
    return s.call(args[0], [args[1]], {}, origin, name)


@folds(cursors.shared_generator, as_given=True)
def fold_shared_generator(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """A generator that is asked by ``next``: the list of what it yields, and a place in that."""
    if s.heap is None:
        return args[0]  # type: ignore[no-any-return]
    items = consumed(s, args[0], origin, False, False)
    if items is args[0] or not isinstance(s.unit.type(items), t.List):
        return items
    return s.call(live_class(s, Cursor), [items], {}, origin, name)


@folds(itertools.tee)
def fold_tee(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``tee(x, n)`` of a sequence: as many copies of it, each with a place."""
    count = args[1] if len(args) == 2 else Const(2)
    if s.heap is None or kwargs or not 1 <= len(args) <= 2 or not isinstance(count, Const):
        return None
    given = consumed(s, args[0], origin, False, False)
    if not is_sequence(s, given) or type(count.value) is not int or not 0 < count.value <= 16:
        return None
    places = []
    for _ in range(count.value):
        items = given
        if not isinstance(s.unit.type(given), (t.Tuple, t.Range)):
            items = s.call(Const(list), [given], {}, origin, "items")
            s.heap.derive(items, [given])
        places.append(s.call(live_class(s, Cursor), [items], {}, origin, name))
    return s.pack("tuple", tuple(places), name, origin)


@folds(cursors.is_shared, as_given=True)
def fold_is_shared(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    return Const(all(is_cursor(s, arg) for arg in args))


@folds(cursors.goes_over, as_given=True)
def fold_goes_over(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    return Const(is_folded_as(args[0], args[1].value) and all(
        is_cursor(s, arg) for arg in args[2:]))


@folds(cursors.taken_by, as_given=True)
def fold_taken_by(
    s: Writer, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
) -> Atom | None:
    """``zip``, ``enumerate`` or ``islice`` of iterators, all items of which are taken at once."""
    consumer, function, *given = args
    found: Atom | None = None
    if isinstance(consumer, Const) and hashable(consumer.value) and (
        consumer.value is None or REGISTRY.facts(consumer.value).exhausts is True
    ):
        found = all_items(s, function, given, origin, name)
    return s.call(function, given, {}, origin, name) if found is None else found


def all_items(
    s: Writer, function: Atom, given: list[Atom], origin: Origin, name: str
) -> Atom | None:
    """Write the list of what a function of iterators gives; None if that is not known."""
    if is_folded_as(function, itertools.islice):
        if len(given) == 2 and is_cursor(s, given[0]) and s.unit.type(given[1]) == t.INT:
            return s.call(Const(cursors.first_items), given, {}, origin, name)
    elif is_folded_as(function, enumerate):
        if len(given) in (1, 2) and is_cursor(s, given[0]):
            start = given[1] if len(given) == 2 else Const(0)
            return s.call(Const(cursors.numbered), [given[0], start], {}, origin, name)
    elif is_folded_as(function, zip) and s.heap is not None and len(given) in (2, 3) and all(
        is_cursor(s, one) or is_sequence(s, one) for one in given
    ):
        places = [
            one if is_cursor(s, one) else cursor_over(s, one, origin, "items") for one in given]
        taken = cursors.pairs_taken if len(given) == 2 else cursors.triples_taken
        return s.call(Const(taken), places, {}, origin, name)
    return None

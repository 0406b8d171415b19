"""What a loop runs over: flat sequences in lockstep, of whose items its own are made."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Item, Origin, Star, Var, unstar, arguments,
)
from adcompiler.runtime import dict_keys, dict_values, positions
from adcompiler.specialise.folds.iterator import makes_iterator
from adcompiler.specialise.result_types import item_type
from adcompiler.specialise.writer import Writer

Build = Callable[[Writer, Iterator[Atom], Origin], Atom]
"""Writes the item of an iterable from the items of the flat sequences that it runs over."""


def own_item(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
    """Return the next item as it is."""
    return next(items)


def always(value: Atom) -> Build:
    """Return that the item is one value, always."""
    return lambda s, items, origin: value


def entry_of(table: Atom, with_key: bool) -> Build:
    """Return how an entry of a dict is written of its key: the value that it holds then."""

    def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
        key = next(items)
        latest = table if s.heap is None else s.heap.current(table, origin)
        value = s.item(latest, key, origin, "value")
        return s.pack("tuple", (key, value), "entry", origin) if with_key else value

    return build


def paired(parts: Sequence[Build]) -> Build:
    """Return how a tuple is written of the items that ``parts`` write."""

    def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
        return s.pack("tuple", tuple(part(s, items, origin) for part in parts), "pair", origin)

    return build


class Iterables(Writer):
    """Takes iterables apart.

    ``by_key`` says that a loop over the values of a dict reads them by the keys that it runs over.
    """

    by_key = False

    def flatten(
        self, iterable: Atom, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Add the sequences that ``iterable`` runs over; return how their items make its item."""
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            if rhs.func.value is zip and rhs.args and not rhs.kwargs and not any(
                isinstance(arg, Star) for arg in rhs.args
            ):
                return self.flatten_zip([unstar(a) for a in rhs.args], flat, types, origin)
            if rhs.func.value is enumerate:
                start = unstar(dict(rhs.kwargs).get("start", (*rhs.args, Const(0))[1]))
                if self.unit.type(start) != t.INT and not (
                    isinstance(start, Const) and type(start.value) is int
                ):  # as Python does, which counts from no float
                    start = self.let(
                        Call(Const(operator.index), (start,)), t.INT, "start", origin)
                flat.append(self.counting(start, origin))
                types.append(t.INT)
                return paired([own_item, self.flatten(unstar(rhs.args[0]), flat, types, origin)])
            if self.by_key and rhs.func.value in (dict.items, dict_values):
                table = unstar(rhs.args[0])
                keys = self.call(Const(dict_keys), [table], {}, origin, "keys")
                flat.append(keys)
                types.append(self.type_of_items(keys))
                return entry_of(table, rhs.func.value is dict.items)
            if rhs.func.value is dict.items:
                table = unstar(rhs.args[0])
                parts = []
                for function in (dict_keys, dict_values):
                    part = self.call(Const(function), [table], {}, origin, "entries")
                    parts.append(self.flatten(part, flat, types, origin))
                return paired(parts)
            if rhs.func.value is iter:
                return self.flatten(unstar(rhs.args[0]), flat, types, origin)
            if rhs.func.value is np.ndenumerate:
                array = unstar(rhs.args[0])
                shape = self.attribute(array, "shape", origin)
                index = self.call(Const(np.ndindex), [shape], {}, origin, "index")
                flattened = self.attribute(array, "ravel", origin)
                items = self.call(flattened, [], {}, origin, "items")
                return self.flatten_zip([index, items], flat, types, origin)
            if rhs.func.value in (itertools.cycle, itertools.repeat):
                flat.append(self.counting(Const(0), origin))
                types.append(t.INT)
                return self.cycled(rhs, origin)
        if isinstance(rhs, Attribute) and rhs.name == "flat":
            iterable = self.call(self.attribute(rhs.obj, "ravel", origin), [], {}, origin, "items")
        if isinstance(self.unit.type(iterable), t.Dict):
            iterable = self.call(Const(dict_keys), [iterable], {}, origin, "keys")
        type_ = self.unit.type(iterable)
        if isinstance(rhs, Item) and isinstance(type_, t.List) and self.heap is not None and (
            is_mutable(type_.item) and isinstance(self.unit.type(rhs.obj), t.List)
            and isinstance(self.unit.type(rhs.index), t.SliceType)
            and self.heap.is_current(rhs.obj)  # reversed or sorted in place, it has other places
        ):
            return self.part_of_list(rhs, flat, types, origin)
        flat.append(iterable)
        types.append(self.type_of_items(iterable))
        return own_item

    def has_values(self, atom: Var) -> bool:
        """Say whether something is ``table.values()`` of a dict."""
        rhs = self.unit.definition(atom)
        return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is dict_values)

    def opened_parts(self, iterables: Iterable[Atom | Star]) -> list[Var]:
        """Return the iterators in ``iterables`` that read storage, and those that they read."""
        found: list[Var] = []
        for atom in map(unstar, iterables):
            rhs = self.unit.definition(atom)
            if isinstance(atom, Var) and self.heap is not None and atom in self.heap.derived_of:
                found.append(atom)
            if isinstance(rhs, Call) and isinstance(rhs.func, Const) and makes_iterator(
                rhs.func.value
            ):
                found += self.opened_parts(rhs.args)
        return found

    def part_of_list(
        self, part: Item, flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Run over a slice of a list of arrays or lists by the positions of its items."""
        places = Call(Const(positions), (part.obj, part.index))
        flat.append(self.let(places, t.RANGE, "positions", origin))
        types.append(t.INT)

        def build(s: Writer, items: Iterator[Atom], origin: Origin) -> Atom:
            item = s.item(part.obj, next(items), origin)
            return item if s.heap is None else s.heap.since(item, part.obj, origin)

        return build

    def flatten_zip(
        self, parts: list[Atom], flat: list[Atom], types: list[t.Type], origin: Origin
    ) -> Build:
        """Add the sequences that ``zip`` runs over; what is repeated needs none beside others."""
        made = [self.unit.definition(part) for part in parts]
        repeated = [
            isinstance(rhs, Call) and isinstance(rhs.func, Const) and len(rhs.args) == 1
            and not rhs.kwargs and rhs.func.value is itertools.repeat for rhs in made
        ]
        if all(repeated):
            return paired([self.flatten(part, flat, types, origin) for part in parts])
        return paired([
            always(unstar(rhs.args[0])) if isinstance(rhs, Call) and same
            else self.flatten(part, flat, types, origin)
            for part, rhs, same in zip(parts, made, repeated, strict=True)
        ])

    def counting(self, start: Atom, origin: Origin) -> Atom:
        """Write a sequence of integers without end."""
        rhs = Call(Const(itertools.count), (start,))
        return self.let(rhs, t.UNKNOWN, "count", origin)

    def cycled(self, rhs: Call, origin: Origin) -> Build:
        """Return how the item of ``cycle(items)`` or ``repeat(item)`` is written of a number."""
        value = unstar(rhs.args[0])
        if isinstance(rhs.func, Const) and rhs.func.value is itertools.repeat:
            return lambda s, items, at: (next(items), value)[1]
        size = self.call(Const(len), [value], {}, origin, "length")

        def build(s: Writer, items: Iterator[Atom], at: Origin) -> Atom:
            index = s.call(Const(operator.mod), [next(items), size], {}, at, "index")
            return s.item(value, index, at)

        return build

    def type_of_items(self, iterable: Atom) -> t.Type:
        """Return the type of the items of an iterable; of an iterator, found by trying it."""
        type_ = self.unit.type(iterable)
        rhs = self.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
            rhs.func.value is np.ndindex
            or getattr(rhs.func.value, "__module__", None) == "itertools"
        ):
            function = rhs.func.value
            kwargs = {key: value for key, value in rhs.kwargs if key is not None}
            return self.type_of_call(
                lambda *a, **k: next(iter(function(*a, **k))), arguments(rhs), kwargs)
        return item_type(type_)

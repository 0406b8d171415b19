"""What a loop runs over: flat sequences in lockstep, of whose items its own are made."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Origin, Star, Var, unstar
from adcompiler.runtime import dict_keys, dict_values, positions
from adcompiler.infer.folds.iterator import makes_iterator
from adcompiler.infer.interface import Operations
from adcompiler.infer.writer import Writer
from adcompiler.typed.unit import Unit

Build = Callable[[Operations, Iterator[Atom], Origin], Atom]
"""Writes the item of an iterable from the items of the flat sequences that it runs over."""


def own_item(s: Operations, items: Iterator[Atom], origin: Origin) -> Atom:
    """Return the next item as it is."""
    return next(items)


def always(value: Atom) -> Build:
    """Return that the item is one value, always."""
    return lambda s, items, origin: value


def entry_of(table: Atom, with_key: bool) -> Build:
    """Return how an entry of a dict is written of its key: the value that it holds then."""

    def build(s: Operations, items: Iterator[Atom], origin: Origin) -> Atom:
        key = next(items)
        latest = table if s.heap is None else s.heap.reading.current(table, origin)
        value = s.item(latest, key, origin, "value")
        return s.pack("tuple", (key, value), "entry", origin) if with_key else value

    return build


def paired(parts: Sequence[Build]) -> Build:
    """Return how a tuple is written of the items that ``parts`` write."""

    def build(s: Operations, items: Iterator[Atom], origin: Origin) -> Atom:
        return s.pack("tuple", tuple(part(s, items, origin) for part in parts), "pair", origin)

    return build


def has_values(unit: Unit, atom: Var) -> bool:
    """Say whether something is ``table.values()`` of a dict."""
    rhs = unit.definition(atom)
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is dict_values


def opened_parts(s: Writer, iterables: Iterable[Atom | Star]) -> list[Var]:
    """Return the iterators in ``iterables`` that read storage, and those that they read."""
    found: list[Var] = []
    for atom in map(unstar, iterables):
        rhs = s.unit.definition(atom)
        if isinstance(atom, Var) and s.heap is not None and atom in s.heap.pending.derived_of:
            found.append(atom)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and makes_iterator(rhs.func.value):
            found += opened_parts(s, rhs.args)
    return found


class Iterables:
    """Takes what one loop runs over apart: into ``flat`` sequences, whose items have ``types``.

    ``by_key`` says that a loop over the values of a dict reads them by the keys that it runs over.
    """

    def __init__(self, s: Operations, origin: Origin, by_key: bool) -> None:
        self.s, self.origin, self.by_key = s, origin, by_key
        self.flat: list[Atom] = []
        self.types: list[t.Type] = []

    def add(self, sequence: Atom, type_: t.Type | None = None) -> None:
        """Add a sequence that the loop runs over, of items of a type."""
        self.flat.append(sequence)
        self.types.append(self.s.types.of_items(sequence) if type_ is None else type_)

    def flatten(self, iterable: Atom) -> Build:
        """Add the sequences that ``iterable`` runs over; return how their items make its item."""
        s, origin = self.s, self.origin
        rhs = s.unit.definition(iterable)
        if isinstance(rhs, Call) and isinstance(rhs.func, Const):
            if rhs.func.value is zip and rhs.args and not rhs.kwargs and not any(
                isinstance(arg, Star) for arg in rhs.args
            ):
                return self.flatten_zip([unstar(a) for a in rhs.args])
            if rhs.func.value is enumerate:
                start = unstar(dict(rhs.kwargs).get("start", (*rhs.args, Const(0))[1]))
                if s.unit.type(start) != t.INT and not (
                    isinstance(start, Const) and type(start.value) is int
                ):  # as Python does, which counts from no float
                    start = s.let(
                        Call(Const(operator.index), (start,)), t.INT, "start", origin)
                self.add(self.counting(start), t.INT)
                return paired([own_item, self.flatten(unstar(rhs.args[0]))])
            if self.by_key and rhs.func.value in (dict.items, dict_values):
                table = unstar(rhs.args[0])
                keys = s.call(Const(dict_keys), [table], {}, origin, "keys")
                self.add(keys)
                return entry_of(table, rhs.func.value is dict.items)
            if rhs.func.value is dict.items:
                table = unstar(rhs.args[0])
                parts = []
                for function in (dict_keys, dict_values):
                    part = s.call(Const(function), [table], {}, origin, "entries")
                    parts.append(self.flatten(part))
                return paired(parts)
            if rhs.func.value is iter:
                return self.flatten(unstar(rhs.args[0]))
            if rhs.func.value is np.ndenumerate:
                array = unstar(rhs.args[0])
                shape = s.attribute(array, "shape", origin)
                index = s.call(Const(np.ndindex), [shape], {}, origin, "index")
                flattened = s.attribute(array, "ravel", origin)
                items = s.call(flattened, [], {}, origin, "items")
                return self.flatten_zip([index, items])
            if rhs.func.value in (itertools.cycle, itertools.repeat):
                self.add(self.counting(Const(0)), t.INT)
                return self.cycled(rhs)
        if isinstance(rhs, Attribute) and rhs.name == "flat":
            iterable = s.call(s.attribute(rhs.obj, "ravel", origin), [], {}, origin, "items")
        if isinstance(s.unit.type(iterable), t.Dict):
            iterable = s.call(Const(dict_keys), [iterable], {}, origin, "keys")
        type_ = s.unit.type(iterable)
        if isinstance(rhs, Item) and isinstance(type_, t.List) and s.heap is not None and (
            is_mutable(type_.item) and isinstance(s.unit.type(rhs.obj), t.List)
            and isinstance(s.unit.type(rhs.index), t.SliceType)
            and s.heap.reading.is_current(rhs.obj)  # sorted in place, it has other places
        ):
            return self.part_of_list(rhs)
        self.add(iterable)
        return own_item

    def part_of_list(self, part: Item) -> Build:
        """Run over a slice of a list of arrays or lists by the positions of its items."""
        places = Call(Const(positions), (part.obj, part.index))
        self.add(self.s.let(places, t.RANGE, "positions", self.origin), t.INT)

        def build(s: Operations, items: Iterator[Atom], origin: Origin) -> Atom:
            item = s.item(part.obj, next(items), origin)
            return item if s.heap is None else s.heap.reading.since(item, part.obj, origin)

        return build

    def flatten_zip(self, parts: list[Atom]) -> Build:
        """Add the sequences that ``zip`` runs over; what is repeated needs none beside others."""
        made = [self.s.unit.definition(part) for part in parts]
        repeated = [
            isinstance(rhs, Call) and isinstance(rhs.func, Const) and len(rhs.args) == 1
            and not rhs.kwargs and rhs.func.value is itertools.repeat for rhs in made
        ]
        if all(repeated):
            return paired([self.flatten(part) for part in parts])
        return paired([
            always(unstar(rhs.args[0])) if isinstance(rhs, Call) and same
            else self.flatten(part)
            for part, rhs, same in zip(parts, made, repeated, strict=True)
        ])

    def counting(self, start: Atom) -> Atom:
        """Write a sequence of integers without end."""
        rhs = Call(Const(itertools.count), (start,))
        return self.s.let(rhs, t.UNKNOWN, "count", self.origin)

    def cycled(self, rhs: Call) -> Build:
        """Return how the item of ``cycle(items)`` or ``repeat(item)`` is written of a number."""
        value = unstar(rhs.args[0])
        if isinstance(rhs.func, Const) and rhs.func.value is itertools.repeat:
            return lambda s, items, at: (next(items), value)[1]
        if not isinstance(self.s.unit.type(value), (t.Array, t.List, t.Tuple)):
            value = self.s.call(Const(list), [value], {}, self.origin, "items")
        size = self.s.call(Const(len), [value], {}, self.origin, "length")

        def build(s: Operations, items: Iterator[Atom], at: Origin) -> Atom:
            index = s.call(Const(operator.mod), [next(items), size], {}, at, "index")
            return s.item(value, index, at)

        return build

"""What is added to neighbouring parts of an array, one behind the other, is added in one loop.

The sweep of a stencil adds to ``u_bar[2:]``, ``u_bar[:-2]`` and so on. In the middle, which is most
of the array, each element gets a number for each of these parts, in their order, in one loop; what
is at the rim gets its numbers part by part, as before. Nothing is added in another order.

Arrays of several axes are left alone: the rims of their many rows take longer than what is saved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Body, Choose, Element, Ends, Expr, For, Name, Number, Row, Store,
    children, rows_of,
)
from adcompiler.backends.native.passes.bounds_checks import shifted
from adcompiler.backends.native.passes.element_loops import (
    Lengths, Nest, Placed, Storage, Touched, moved_up, nearest, nest_of,
)
from adcompiler.backends.native.reading import elements_of, is_costly
from adcompiler.backends.native.rewriting import with_elements, with_names
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

ZERO = Number(0)
LARGEST = 24
"""Sums of expressions of more names, literals and operators than this stay as they are."""
TWICE = 2
"""So many operations are done again, in place of keeping what they give in an array."""


@dataclass(frozen=True)
class Added:
    """What a loop adds to a part of a buffer, or stores there, that begins at ``offset``.

    ``value`` is told of elements, at the position ``name`` in the part.
    """

    buffer: str
    base: str
    offset: int
    name: str
    length: Expr
    value: Expr
    adds: bool

    def loop(self, start: Expr = ZERO, stop: Expr | None = None, name: str = "") -> For:
        """Return the loop, or that over some of the positions."""
        name = name or self.name
        value = with_names(self.value, {self.name: Name(name)})
        store = Store(self.buffer, (Name(name),), value, self.adds)
        return For(name, start, self.length if stop is None else stop, Body([store]))


@dataclass(frozen=True)
class Group:
    """Parts of one buffer that are added to one behind the other."""

    members: tuple[Added, ...]


def gathered(w: Writer, storage: Storage, rows: list[Row]) -> list[Row]:
    """Return statements of a block in which what is added to parts of an array is so in one loop.
    """
    apart = taken_apart(storage, rows)
    bases = Counter(one.base for one in apart if isinstance(one, Added))
    if not bases or max(bases.values()) < 2:
        return rows
    lengths = Lengths(storage)
    kept = kept_cheaply(storage, rows)
    done: list[Placed[Row | Group]] = []
    for one in apart:
        if not isinstance(one, Added):
            lengths.note(one)
            done.append(Placed(one, storage.touched(one)))
            continue
        one = replace(one, value=inlined(one, kept))
        touched = storage.touched(one.loop())
        if not joined(lengths, done, one, touched):
            done.append(Placed(Group((one,)), touched))
    found: list[Row] = []
    is_better = False
    for item in (placed.item for placed in done):
        if not isinstance(item, Group):
            found.append(item)
        elif len({one.offset for one in item.members}) > 1:
            is_better = True
            found += in_one_loop(w, item.members)
        else:
            found += [one.loop() for one in item.members]
    return found if is_better else rows


def taken_apart(storage: Storage, rows: list[Row]) -> list[Row | Added]:
    """Return statements, with what loops add to parts of arrays taken out of these loops."""
    found: list[Row | Added] = []
    for row in rows:
        nest = nest_of(row)
        if nest is None:
            found.append(row)
            continue
        defined = nest.defined()
        added = {
            at: one for at, store in enumerate(nest.rows) if isinstance(store, Store)
            and (one := added_by(storage, nest, store, defined)) is not None
        }
        rest = tuple(row for at, row in enumerate(nest.rows) if at not in added)
        if not added or reads_what_is_written(storage, nest) or storage.hands_on(nest):
            found.append(row)
            continue
        if any(isinstance(row, Store) for row in rest):
            found.append(replace(nest, rows=rest).written())
        found += added.values()
    return found


def reads_what_is_written(storage: Storage, nest: Nest) -> bool:
    """Say whether loops read storage that they write into, or write into one twice."""
    written = [storage.root(store.buffer) for store in nest.stores]
    read = {storage.root(one.buffer) for row in nest.rows for one in elements_of(row)}
    return bool(read & set(written)) or len(set(written)) < len(written)


def added_by(storage: Storage, nest: Nest, store: Store, defined: dict[str, Expr]) -> Added | None:
    """Return what a loop adds to a part of an array; None if it is no part that is known."""
    part = storage.parts.get(store.buffer)
    if part is None or store.indices != nest.here or len(nest.names) > 1 or len(part.places) > 1:
        return None
    (place,), (name,), (length,) = part.places, nest.names, nest.lengths
    if not isinstance(place, Ends) or place.step is not None:
        return None
    first = Number(0) if place.lower is None else place.lower
    if not isinstance(first, Number) or first.value < 0 or (
        storage.base(store.buffer) != part.buffer
    ):
        return None
    value = with_names(store.value, defined)
    if is_costly(value) or size(value) > LARGEST:
        return None
    return Added(store.buffer, part.buffer, int(first.value), name, length, value, store.adds)


def size(expr: Expr) -> int:
    """Return of how many names, literals and operators an expression is made; elements are one."""
    return 1 if isinstance(expr, Element) else 1 + sum(map(size, children(expr)))


def kept_cheaply(storage: Storage, rows: list[Row]) -> dict[str, tuple[Nest, Expr]]:
    """Return arrays that cost less to compute again than to keep, and what each element is.

    They, and those of which they are computed, are made in the block without a value, and written
    by one statement, parts of them and all: what is read of them is the same everywhere.
    """
    written = Counter(
        storage.root(row.buffer) for row in rows_of(Body(rows)) if isinstance(row, Store))

    def is_written_once(name: str) -> bool:
        made = storage.made.get(name)
        return made is not None and made.fill is None and made.dtype == FLOAT and (
            written[storage.root(name)] == 1)

    found: dict[str, tuple[Nest, Expr]] = {}
    for row in rows:
        nest = nest_of(row)
        for store in nest.stores if nest is not None else ():
            if nest is None or store.adds or store.indices != nest.here:
                continue
            value = with_names(store.value, nest.defined())
            if is_written_once(store.buffer) and 0 < operations(value) <= TWICE and not (
                is_costly(value) or storage.changes(value)
            ) and all(
                is_written_once(one.buffer) and one.indices == nest.here
                for one in elements_of(Assign("", value))
            ):
                found[store.buffer] = (nest, value)
    return found


def operations(expr: Expr) -> int:
    """Return how many operations an expression has."""
    if isinstance(expr, Element):
        return 0
    return bool(children(expr)) + sum(map(operations, children(expr)))


def inlined(one: Added, kept: dict[str, tuple[Nest, Expr]]) -> Expr:
    """Return what is added with elements that cost little computed again."""
    here = (Name(one.name),)

    def again(element: Element) -> Expr:
        if element.buffer not in kept or element.indices != here:
            return element
        nest, value = kept[element.buffer]
        return with_elements(with_names(value, {nest.names[0]: Name(one.name)}), again)

    return with_elements(one.value, again)


def joined(lengths: Lengths, done: list[Placed[Row | Group]], one: Added, touched: Touched) -> bool:
    """Put what is added to a part behind what is to others of the same buffer, if that can be."""
    for at in nearest(done):
        group = done[at].item
        if not isinstance(group, Group) or group.members[0].base != one.base or not (
            lengths.are_same((group.members[0].length,), (one.length,))
        ):
            continue
        around = moved_up(done, at, touched)
        if around is not None:
            before, behind = around
            together = Placed[Row | Group](
                Group((*group.members, one)), done[at].touched.and_then(touched))
            done[at:] = [*before, together, *behind]
        return around is not None
    return False


def in_one_loop(w: Writer, members: Sequence[Added]) -> list[Row]:
    """Return the loops that add to all parts: in the middle together, at the rim one by one."""
    lowest = min(one.offset for one in members)
    highest = max(one.offset for one in members)
    rest = shifted(members[0].length, lowest - highest)
    inside, is_some = Name(w.fresh("inside")), Binary(">", rest, ZERO)
    rows: list[Row] = [Assign(inside.name, Choose(is_some, rest, ZERO)),
                       middle(w, members, inside, highest)]
    for one in members:
        rim = Name(w.fresh("rim"))
        rows += [Assign(rim.name, Choose(is_some, Number(highest - one.offset), one.length)),
                 one.loop(stop=rim),
                 one.loop(Binary("+", rim, inside), name=w.fresh(one.name))]
    return rows


def middle(w: Writer, members: Sequence[Added], inside: Expr, highest: int) -> Row:
    """Return the loop over elements that are in all parts, the first of which is ``highest``."""
    name = w.fresh("at_i")
    at = (shifted(Name(name), highest),)
    base = members[0].base
    value: Expr = Element(base, at)
    rows: list[Row] = []
    for one in members:
        mine = with_names(one.value, {one.name: shifted(Name(name), highest - one.offset)})
        total = w.fresh("total")
        rows.append(Assign(total, Binary("+", value, mine) if one.adds else mine))
        value = Name(total)
    return For(name, ZERO, inside, Body([*rows, Store(base, at, value)]))


__all__ = ["gathered"]

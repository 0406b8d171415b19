"""What is added to neighbouring parts of an array, one behind the other, is added in one loop.

The sweep of a stencil adds to ``u_bar[2:]``, ``u_bar[:-2]`` and so on. In the middle, which is most
of the array, each element gets a number for each of these parts, in their order, in one loop; what
is at the rim gets its numbers part by part, as before. Nothing is added in another order.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from adcompiler.backends.native.bounds import shifted
from adcompiler.backends.native.element_loops import (
    Lengths, Nest, Storage, Touched, named_as, nest_of, renamed,
)
from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Body, Choose, Element, Ends, Expr, For, Name, Number, Row, Store,
    children, rows_of,
)
from adcompiler.backends.native.reading import elements_of, is_costly
from adcompiler.backends.native.windows import changed
from adcompiler.backends.native.writer import Writer

ZERO = Number(0)
FARTHEST = 48
LARGEST = 24
"""Sums of expressions of more names, literals and operators than this stay as they are."""
TWICE = 2
"""So many operations are done again, in place of keeping what they give in an array."""


@dataclass(frozen=True)
class Added:
    """What a loop adds to a part of a buffer, or stores there, that begins at ``offsets``.

    ``value`` is told of elements, at the position ``names`` in the part.
    """

    buffer: str
    base: str
    offsets: tuple[int, ...]
    names: tuple[str, ...]
    lengths: tuple[Expr, ...]
    value: Expr
    adds: bool

    def nest(self) -> Nest:
        """Return the loops."""
        store = Store(self.buffer, tuple(map(Name, self.names)), self.value, self.adds)
        return Nest(self.names, self.lengths, (store,), ())


@dataclass
class Group:
    """Parts of one buffer that are added to one behind the other."""

    members: list[Added]
    touched: Touched


def gathered(
    w: Writer, storage: Storage, rows: list[Row], given: frozenset[str]
) -> list[Row]:
    """Return statements of a block in which what is added to parts of an array is so in one loop.

    Storage that is ``given`` may overlap itself.
    """
    apart = taken_apart(storage, rows, given)
    bases = Counter(one.base for one in apart if isinstance(one, Added))
    if not bases or max(bases.values()) < 2:
        return rows
    lengths = Lengths(storage)
    kept = kept_cheaply(storage, rows)
    done: list[tuple[Row | Group, Touched]] = []
    for one in apart:
        if not isinstance(one, Added):
            lengths.note(one)
            done.append((one, storage.touched(one)))
            continue
        one = replace(one, value=inlined(one, kept))
        touched = storage.touched(one.nest().written())
        if not joined(lengths, done, one, touched):
            done.append((Group([one], touched), touched))
    found: list[Row] = []
    is_better = False
    for item, _ in done:
        if isinstance(item, Group):
            many = len({one.offsets for one in item.members}) > 1
            is_better |= many
            found += in_one_loop(w, item.members) if many else [
                one.nest().written() for one in item.members]
        else:
            found.append(item)
    return found if is_better else rows


def taken_apart(
    storage: Storage, rows: list[Row], given: frozenset[str]
) -> list[Row | Added]:
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
            and storage.root(store.buffer) not in given
            and (one := added_by(storage, nest, store, defined)) is not None
        }
        rest = tuple(row for at, row in enumerate(nest.rows) if at not in added)
        if not added or reads_what_is_written(storage, nest):
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


def added_by(
    storage: Storage, nest: Nest, store: Store, defined: dict[str, Expr]
) -> Added | None:
    """Return what a loop adds to a part of an array; None if it is no part that is known."""
    part = storage.parts.get(store.buffer)
    if part is None or store.indices != nest.here or len(part.places) != 1 or (
        len(nest.names) != 1
    ):
        return None
    offsets: list[int] = []
    for place in part.places:
        lower = place.lower if isinstance(place, Ends) else None
        if not isinstance(place, Ends) or place.step is not None:
            return None
        if not isinstance(lower, (Number, type(None))) or (lower and lower.value < 0):
            return None
        offsets.append(int(lower.value) if lower else 0)
    value = named_as(store.value, defined)
    if is_costly(value) or size(value) > LARGEST or storage.base(store.buffer) != part.buffer:
        return None
    return Added(store.buffer, part.buffer, tuple(offsets), nest.names, nest.lengths, value,
                 store.adds)


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
            value = named_as(store.value, nest.defined())
            if is_written_once(store.buffer) and 0 < operations(value) <= TWICE and not (
                is_costly(value) or storage.changes(value)
            ) and all(
                is_written_once(one.buffer) and one.indices == nest.here
                for one in elements_of(store_of(value))
            ):
                found[store.buffer] = (nest, value)
    return found


def store_of(value: Expr) -> Assign:
    """Return a statement that holds an expression."""
    return Assign("", value)


def operations(expr: Expr) -> int:
    """Return how many operations an expression has."""
    if isinstance(expr, Element):
        return 0
    return bool(children(expr)) + sum(map(operations, children(expr)))


def inlined(one: Added, kept: dict[str, tuple[Nest, Expr]]) -> Expr:
    """Return what is added with elements that cost little computed again."""
    here = tuple(map(Name, one.names))

    def again(element: Element) -> Expr:
        if element.buffer not in kept or element.indices != here:
            return element
        nest, value = kept[element.buffer]
        names: dict[str, Expr] = dict(zip(nest.names, here, strict=True))
        return changed(named_as(value, names), again)

    return changed(one.value, again)


def joined(
    lengths: Lengths, done: list[tuple[Row | Group, Touched]], one: Added, touched: Touched
) -> bool:
    """Put what is added to a part behind what is to others of the same buffer, if that can be."""
    for at in range(len(done) - 1, max(len(done) - FARTHEST, 0) - 1, -1):
        group = done[at][0]
        if not isinstance(group, Group) or group.members[0].base != one.base or not (
            lengths.are_same(group.members[0].lengths, one.lengths)
        ):
            continue
        before: list[tuple[Row | Group, Touched]] = []
        behind: list[tuple[Row | Group, Touched]] = []
        for item in done[at + 1 :]:
            if all(item[1].may_swap(other) for other in (group.touched, *(b[1] for b in behind))):
                before.append(item)
            elif item[1].leaves:
                return False
            else:
                behind.append(item)
        if not all(item[1].may_swap(touched) for item in behind):
            return False
        group.members.append(one)
        group.touched = Touched(
            group.touched.reads | touched.reads, group.touched.writes | touched.writes, False)
        done[at:] = [*before, (group, group.touched), *behind]
        return True
    return False


def in_one_loop(w: Writer, members: list[Added]) -> list[Row]:
    """Return the loops that add to all parts: in the middle together, at the rim one by one."""
    first = members[0]
    axes = range(len(first.names))
    lowest = [min(one.offsets[axis] for one in members) for axis in axes]
    highest = [max(one.offsets[axis] for one in members) for axis in axes]
    rows: list[Row] = []

    def named(hint: str, value: Expr) -> Expr:
        name = w.fresh(hint)
        rows.append(Assign(name, value))
        return Name(name)

    inside: list[Expr] = []
    for axis, length in enumerate(first.lengths):
        rest = shifted(length, lowest[axis] - highest[axis])
        inside.append(named("inside", Choose(Binary(">", rest, ZERO), rest, ZERO)))
    some: Expr = Binary(">", inside[0], ZERO)
    for one in inside[1:]:
        some = Binary("and", some, Binary(">", one, ZERO))
    rows.append(middle(w, members, inside, highest))
    for member in members:
        starts = [
            named("rim", Choose(some, Number(highest[axis] - member.offsets[axis]),
                                member.lengths[axis])) for axis in axes
        ]
        rows += at_rim(w, member, starts, inside, some)
    return rows


def middle(
    w: Writer, members: list[Added], inside: list[Expr], highest: list[int]
) -> Row:
    """Return the loops over elements that are in all parts."""
    names = [w.fresh(f"at_{letter}") for letter, _ in zip("ijklmn", inside, strict=False)]
    at = tuple(shifted(Name(name), high) for name, high in zip(names, highest, strict=True))
    base = members[0].base
    value: Expr = Element(base, at)
    rows: list[Row] = []
    for member in members:
        there: dict[str, Expr] = {
            mine: shifted(Name(name), high - low) for mine, name, high, low
            in zip(member.names, names, highest, member.offsets, strict=True)
        }
        mine = named_as(member.value, there)
        total = w.fresh("total")
        rows.append(Assign(total, Binary("+", value, mine) if member.adds else mine))
        value = Name(total)
    body = Body([*rows, Store(base, at, value)])
    for name, length in reversed(list(zip(names, inside, strict=True))):
        body = Body([For(name, ZERO, length, body)])
    return body.rows[0]


def at_rim(
    w: Writer, member: Added, starts: list[Expr], inside: list[Expr], some: Expr
) -> list[Row]:
    """Return the loops over the elements of a part that are not in all others.

    In front of ``starts`` is what is not, and so many behind as ``inside`` tells.
    """
    nest = member.nest()
    length = member.lengths[-1]
    *outer, last = member.names
    begin: Expr = starts[-1]
    end: Expr = Binary("+", starts[-1], inside[-1])
    rows: list[Row] = []
    if outer:
        test = some
        for name, start, count in zip(outer, starts, inside, strict=False):
            test = Binary("and", test, Binary("and", Binary(">=", Name(name), start), Binary(
                "<", Name(name), Binary("+", start, count))))
        stop, again = w.fresh("stop"), w.fresh("start")
        rows += [Assign(stop, Choose(test, begin, length)),
                 Assign(again, Choose(test, end, length))]
        begin, end = Name(stop), Name(again)
    after = w.fresh(last)
    rows += [For(last, ZERO, begin, Body(list(nest.rows))),
             For(after, end, length, Body([
                 renamed(row, {last: Name(after)}) for row in nest.rows]))]
    for name, stop_ in reversed(list(zip(outer, member.lengths, strict=False))):
        rows = [For(name, ZERO, stop_, Body(rows))]
    return rows


__all__ = ["gathered"]

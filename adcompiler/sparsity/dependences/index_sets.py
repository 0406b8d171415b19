"""One set of columns for each element of an array, in the cheapest form that holds them.

``Bag``: arrays of column numbers of the array's own shape, -1 for none; an element's set is what
stands at its place in all of them. Most code moves and combines elements, and then a few such
arrays say everything. ``Ragged``: the columns of all elements in a row, as a CSR matrix has them.
``Cells``: an array of sets, for code that works element by element. ``None`` in place of any of
them: every set is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.sets import (
    EMPTY, Positions, Set, elements_of, set_of, size_of, union, union_all,
)
from adcompiler.support.structs import dataclass

MEMBERS = 12
"""The most arrays a bag has."""

Array = np.ndarray[Any, Any]
Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """The sets of the columns that stand at one place of ``members``, arrays of one shape."""

    members: tuple[Positions, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """The columns of element ``i`` (in C order) are ``columns[starts[i]:starts[i + 1]]``."""

    shape: Shape
    starts: Positions
    columns: Positions


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """An array of sets."""

    array: Array


Own = Bag | Ragged | Cells | None


def count(shape: Shape) -> int:
    """Return the number of elements of an array."""
    size = 1
    for extent in shape:
        size *= extent
    return size


# -- from form to form ------------------------------------------------------------------------


def pairs_of(own: Own) -> tuple[Positions, Positions]:
    """Return all pairs of an element's position and a column in its set; pairs may repeat."""
    match own:
        case Bag(members):
            rows, columns = [], []
            for member in members:
                flat = member.ravel()
                there = np.flatnonzero(flat >= 0)
                rows.append(there)
                columns.append(flat[there])
            return np.concatenate(rows), np.concatenate(columns)
        case Ragged(_, starts, columns):
            return np.repeat(np.arange(len(starts) - 1), np.diff(starts)), columns
        case Cells(array):
            sets = array.ravel().tolist()
            sizes = np.fromiter(map(size_of, sets), np.int64, len(sets))
            return np.repeat(np.arange(len(sets)), sizes), np.concatenate(
                [*map(elements_of, filter(None, sets)), np.empty(0, np.int64)]
            )
    return np.empty(0, np.int64), np.empty(0, np.int64)


def distinct(keys: Positions) -> Positions:
    """Return the different numbers in an array, in ascending order."""
    keys = np.sort(keys)
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]


def of_pairs(rows: Positions, columns: Positions, shape: Shape) -> Own:
    """Return the sets given by pairs of an element's position and a column."""
    if not len(rows):
        return None
    width = int(columns.max()) + 1
    keys = distinct(rows * width + columns)
    rows, columns = np.divmod(keys, width)
    sizes = np.bincount(rows, minlength=count(shape))
    most = int(sizes.max())
    starts = np.concatenate([[0], np.cumsum(sizes)])
    if most > MEMBERS:
        return Ragged(shape, starts, columns)
    place = np.arange(len(rows)) - starts[rows]
    table = np.full((most, count(shape)), -1)
    table[place, rows] = columns
    return Bag(tuple(table.reshape(most, *shape)))


def cells_of(own: Own, common: Set, shape: Shape) -> Cells:
    """Return the sets as an array of sets, each with ``common`` in it; always a new one."""
    array = np.empty(shape, object)
    flat = array.ravel()  # a view, as the array is new
    flat.fill(common)
    match own:
        case Cells(given):
            flat[:] = [union(one, common) for one in given.ravel().tolist()]
        case Bag(members):
            rows = zip(*(member.ravel().tolist() for member in members), strict=True)
            flat[:] = [union(frozenset(row) - {-1}, common) for row in rows]
        case Ragged(_, starts, columns):
            for i in np.flatnonzero(np.diff(starts)).tolist():
                flat[i] = union(set_of(columns[starts[i] : starts[i + 1]]), common)
    return Cells(array)


def everything(own: Own) -> Set:
    """Return the union of all sets."""
    match own:
        case Bag(members):
            return union_all(set_of(member[member >= 0]) for member in members)
        case Ragged(_, _, columns):
            return set_of(columns)
        case Cells(array):
            return union_all(dict.fromkeys(array.ravel().tolist()))
    return EMPTY


def at(own: Own, index: Any) -> Set:
    """Return the set of one element."""
    match own:
        case Bag(members):
            found = frozenset([member.item(index) for member in members])
            return found - {-1} if -1 in found else found
        case Cells(array):
            one: Set = array[index]
            return one
        case Ragged(shape, starts, columns):
            k = int(np.arange(count(shape)).reshape(shape)[index])
            return set_of(columns[starts[k] : starts[k + 1]])
    return EMPTY


# -- moving elements --------------------------------------------------------------------------


def move(own: Own, change: Callable[[Array], Array]) -> Own:
    """Return the sets after a movement of elements: ``change`` of an array of one per element."""
    match own:
        case Bag(members):
            return Bag(tuple(change(member) for member in members))
        case Cells(array):
            return Cells(change(array))
        case Ragged(shape, _, _):
            return gather(own, change(np.arange(count(shape)).reshape(shape)))
    return None


def gather(own: Own, positions: Positions) -> Own:
    """Return, for each position (-1: none), the set of the element there."""
    if own is None or not positions.size:
        return None
    there = positions >= 0
    whole = bool(there.all())
    if not whole and not there.any():
        return None
    match own:
        case Bag(members):
            taken = [member.ravel()[positions] for member in members]
            return Bag(tuple(taken if whole else (np.where(there, m, -1) for m in taken)))
        case Cells(array):
            cells = array.ravel()[positions]
            if not whole:
                cells[~there] = EMPTY
            return Cells(cells)
        case Ragged():
            targets = np.flatnonzero(there.ravel())
            return combine(own, targets, positions.ravel()[targets], positions.shape)


def combine(own: Own, targets: Positions, positions: Positions, shape: Shape) -> Own:
    """Return sets for an array of ``shape``: element ``targets[k]`` has that of ``positions[k]``.

    A target may occur several times: it then has the union.
    """
    match own:
        case None:
            return None
        case Bag(members):
            taken = [member.ravel()[positions] for member in members]
            rows = np.concatenate([targets[column >= 0] for column in taken])
            return of_pairs(rows, np.concatenate([c[c >= 0] for c in taken]), shape)
        case Ragged(_, starts, columns):
            sizes = (starts[1:] - starts[:-1])[positions]
            ends = np.cumsum(sizes)
            first = np.repeat(starts[positions] - (ends - sizes), sizes)
            taken_columns = columns[first + np.arange(len(first))]
            return of_pairs(np.repeat(targets, sizes), taken_columns, shape)
        case Cells(array):
            return combine(_ragged(Cells(array)), targets, positions, shape)


def _ragged(own: Cells) -> Ragged:
    rows, columns = pairs_of(own)
    sizes = np.bincount(rows, minlength=own.array.size)
    return Ragged(own.array.shape, np.concatenate([[0], np.cumsum(sizes)]), columns)


def join_end_to_end(owns: Sequence[Own], sizes: Sequence[int]) -> Own:
    """Return the sets of several arrays, each flat, one after the other."""
    if all(own is None for own in owns):
        return None
    if all(own is None or isinstance(own, Bag) for own in owns):
        most = max(len(own.members) for own in owns if isinstance(own, Bag))
        parts: list[list[Array]] = []
        for own, size in zip(owns, sizes, strict=True):
            given = own.members if isinstance(own, Bag) else ()
            none = np.full(size, -1) if len(given) < most else None
            parts.append([
                given[k].ravel() if k < len(given) else none for k in range(most)  # type: ignore[misc]
            ])
        return Bag(tuple(np.concatenate(column) for column in zip(*parts, strict=True)))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = [pairs_of(own) for own in owns]
    rows = np.concatenate([r + start for (r, _), start in zip(pairs, starts, strict=False)])
    return of_pairs(rows, np.concatenate([c for _, c in pairs]), (int(starts[-1]),))


def masked(own: Own, keep: Array) -> Own:
    """Return the sets with those of elements where ``keep`` is false made empty."""
    match own:
        case Bag(members):
            return Bag(tuple(np.where(keep, member, -1) for member in members))
        case Cells(array):
            return Cells(np.where(keep, array, EMPTY))  # type: ignore[call-overload]
        case Ragged(shape, _, _):
            positions = np.arange(count(shape)).reshape(shape)
            return gather(own, np.where(keep, positions, -1))
    return None


def spread(common: Set, keep: Array) -> Own:
    """Return sets that are ``common`` where ``keep`` is true, else empty."""
    if not common:
        return None
    if size_of(common) <= MEMBERS:
        return Bag(tuple(np.where(keep, c, -1) for c in elements_of(common).tolist()))
    columns = elements_of(common)
    rows = np.flatnonzero(keep.ravel())
    return of_pairs(np.repeat(rows, len(columns)), np.tile(columns, len(rows)), keep.shape)


def written(own: Own, shape: Shape, places: Positions, new: Own, common: Set, adds: bool) -> Own:
    """Return the sets, which nothing else holds, with those at ``places`` replaced or added to.

    There they become those in ``new``, one for each place, with ``common`` in all. What can be is
    written in place; None if the sets have no form for that.
    """
    if isinstance(own, Ragged) or (adds and len(np.unique(places)) < len(places)):
        return None
    if isinstance(own, Cells):
        sets = cells_of(new, common, places.shape).array.tolist()
        where = np.unravel_index(places, shape)
        before = own.array[where].tolist() if adds else [EMPTY] * len(sets)
        for index, one, other in zip(zip(*where, strict=True), before, sets, strict=True):
            own.array[index] = union(one, other)
        return own
    given = union_of([new, spread(common, np.ones(places.shape, bool))], places.shape)
    if given is not None and not isinstance(given, Bag):
        given = of_pairs(*pairs_of(given), places.shape)
    if isinstance(given, Ragged) or not all(
        member.flags.c_contiguous for member in (own.members if own else ())
    ):
        return None
    members = list(own.members) if own else []
    rows = [member.reshape(-1) for member in members]
    if not adds:
        for row in rows:
            row[places] = -1
    if isinstance(given, Bag):
        table = np.array([row[places] for row in rows], np.int64).reshape(len(rows), places.size)
        columns = np.sort(given.members, axis=0)
        fresh = (columns >= 0) & ~(columns[:, None] == table).any(axis=1)
        fresh[1:] &= columns[1:] != columns[:-1]
        more = max(0, int(np.max(fresh.sum(axis=0) - (table < 0).sum(axis=0), initial=0)))
        for _ in range(more):
            rows.append(np.full(count(shape), -1))
            members.append(rows[-1].reshape(shape))
        table = np.concatenate([table, np.full((more, places.size), -1)])
        free = np.argsort(table >= 0, axis=0, kind="stable")
        which, at_place = np.nonzero(fresh)
        slot = free[np.cumsum(fresh, axis=0)[which, at_place] - 1, at_place]
        for k in np.unique(slot):
            here = slot == k
            rows[k][places[at_place[here]]] = columns[which[here], at_place[here]]
    if not members:
        return None
    made = Bag(tuple(members))
    return made if len(members) <= MEMBERS else of_pairs(*pairs_of(made), shape)


# -- unions -----------------------------------------------------------------------------------


def union_of(owns: Iterable[Own], shape: Shape) -> Own:
    """Return, for each element, the union of its sets; all are for arrays of ``shape``."""
    given = list({id(own): own for own in owns if own is not None}.values())
    if len(given) < 2:
        return given[0] if given else None
    if all(isinstance(own, Bag) for own in given):
        members: list[Array] = []
        for own in given:
            assert isinstance(own, Bag)
            members += [m for m in own.members if not any(same(m, other) for other in members)]
        if len(members) <= MEMBERS:
            return Bag(tuple(members))
        given = [Bag(tuple(members))]
    if count(shape) <= 16 and any(isinstance(own, Cells) for own in given):
        return _union_of_cells(given, shape)
    pairs = [pairs_of(own) for own in given]
    return of_pairs(
        np.concatenate([r for r, _ in pairs]), np.concatenate([c for _, c in pairs]), shape
    )


def _union_of_cells(owns: Sequence[Own], shape: Shape) -> Own:
    flat = [cells_of(own, EMPTY, shape).array.ravel().tolist() for own in owns]
    array = np.empty(shape, object)
    array.ravel()[:] = [union_all(sets) for sets in zip(*flat, strict=True)]
    return Cells(array)


def same(a: Array, b: Array) -> bool:
    """Say whether two arrays of one shape hold the same."""
    if a is b:
        return True
    if not a.size:
        return True
    first = (0,) * a.ndim
    last = (-1,) * a.ndim
    if a[first] != b[first] or a[last] != b[last]:
        return False
    return bool(np.array_equal(a, b))


def equal(a: Own, b: Own, shape: Shape) -> bool:
    """Say whether two arrays have the same sets."""
    if a is b:
        return True
    keys = []
    for own in (a, b):
        rows, columns = pairs_of(own)
        keys.append((rows, columns))
    width = 1 + max((int(c.max()) for _, c in keys if len(c)), default=0)
    first, second = (distinct(r * width + c) for r, c in keys)
    return bool(np.array_equal(first, second))

"""Loops over arrays of one shape that run one behind the other are one loop.

An array that is written by one loop and read by the next one goes through the cache, or the memory,
twice; loops that share nothing of the kind stay apart, as copies and zeros alone are what machines
do fastest. What stands between two loops runs in front of both, or behind, if it does not touch
what they do. Elements are computed and added in the same order as before: the bits stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Body, Break, Element, Expr, For, Forever, LoopFunction, Make, Name,
    Number, Row, Spread, Store, Use, rows_of,
)
from adcompiler.backends.native.passes.element_loops import (
    Lengths, Nest, Placed, Storage, moved_up, nearest, nest_of,
)
from adcompiler.backends.native.passes.accumulation_fusion import gathered
from adcompiler.backends.native.passes.unused import ALIASES, all_needed
from adcompiler.backends.native.reading import bound_by, elements_of, read_by
from adcompiler.backends.native.rewriting import with_blocks, with_elements, with_exprs, with_names
from adcompiler.backends.native.writer import Writer

MOST_PAIRS = 8
"""Compilers make vectors of loops where they have to ask of no more pairs of arrays than this
whether these overlap (LLVM's ``runtime-memory-check-threshold``)."""


def with_merged_loops(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function with its loops over arrays merged.

    Without arrays that are read no more: helpers are called all the same, as they may raise.
    """
    counts: Counter[str | None] = Counter(map(bound_by, rows_of(function.body)))
    body = LoopFusion(w, counts, readers_in(function)).body(function.body)
    return all_needed(replace(function, body=body))


def readers_in(function: LoopFunction) -> Counter[str]:
    """Return how often each buffer is read, handed on, or returned."""
    found = Counter(out.value for out in function.outputs if isinstance(out.value, str))
    for row in rows_of(function.body):
        found.update(element.buffer for element in elements_of(row))
        if isinstance(row, (*ALIASES, Use, Spread)):
            found.update(read_by(row))
    return found


def in_blocks(
    body: Body, counts: Counter[str | None], straight: Callable[[list[Row]], list[Row]],
    ends_too: Callable[[Row], bool] = lambda row: False,
) -> Body:
    """Return a block with what ``straight`` makes of statements that run one behind the other.

    ``ends_too`` tells which statements stay where they are beside those of which that is known.
    """
    def inner(body: Body) -> Body:
        return in_blocks(body, counts, straight, ends_too)

    rows: list[Row] = []
    block: list[Row] = []
    for row in body.rows:
        if nest_of(row) is None:
            row = with_blocks(row, inner)
        if ends_block(row, counts) or any(map(ends_too, rows_of(Body([row])))):
            rows += [*straight(block), row]
            block = []
        else:
            block.append(row)
    return Body([*rows, *straight(block)])


def ends_block(row: Row, counts: Counter[str | None]) -> bool:
    """Say whether nothing is moved past a statement: it gives buffers other names, or jumps."""
    return any(
        isinstance(one, (Break, Forever, Spread))
        or (isinstance(one, (*ALIASES, Make, Use)) and counts[one.name] > 1)
        for one in rows_of(Body([row]))
    ) or (nest_of(row) is None and any(
        isinstance(one, ALIASES) for one in rows_of(Body([row])) if one is not row))


class LoopFusion:
    """Merges loops in the blocks of a function.

    ``counts`` tells how many statements bind a name, ``readers`` how many read a buffer. No array
    that is written into overlaps itself: loops write into what they have made.
    """

    def __init__(self, w: Writer, counts: Counter[str | None], readers: Counter[str]) -> None:
        self.w = w
        self.counts = counts
        self.readers = readers

    def body(self, body: Body) -> Body:
        """Return a block with its loops merged, and those inside of it."""
        return in_blocks(body, self.counts, self.straight)

    def straight(self, rows: list[Row]) -> list[Row]:
        """Return statements that run one behind the other with their loops merged."""
        if sum(isinstance(row, For) for row in rows) < 2:
            return rows
        rows = gathered(self.w, Storage(self.w, rows, self.counts), rows)
        storage = Storage(self.w, rows, self.counts)
        lengths = Lengths(storage)
        done: list[Placed[Row]] = []
        for row in rows:
            lengths.note(row)
            if not self.merge(storage, lengths, done, row):
                done.append(Placed(row, storage.touched(row)))
        return [one.item for one in done]

    def merge(self, storage: Storage, lengths: Lengths, done: list[Placed[Row]], row: Row) -> bool:
        """Merge loops with earlier ones, if there are any that can be."""
        nest = nest_of(row)
        if nest is None:
            return False
        touched = storage.touched(row)
        for at in nearest(done):
            earlier = nest_of(done[at].item)
            if earlier is None or not self.fit(storage, lengths, earlier, nest):
                continue
            if (around := moved_up(done, at, touched)) is not None:
                before, behind = around
                loop = together(self.w, storage, earlier, nest).written()
                done[at:] = [*before, Placed(loop, storage.touched(loop)), *behind]
                return True
        return False

    def fit(self, storage: Storage, lengths: Lengths, one: Nest, other: Nest) -> bool:
        """Say whether the loops of ``other`` can be done in those of ``one``."""
        if not (one.is_cheap and other.is_cheap and lengths.are_same(one.lengths, other.lengths)):
            return False
        if storage.hands_on(one) or storage.hands_on(other):
            return False
        if len(one.names) > 1 and is_flat(storage, one) != is_flat(storage, other):
            return False
        stored = {storage.canonical(row.buffer) for row in one.stores if row.indices == one.here}
        if not any(element.indices == other.here and storage.canonical(element.buffer) in stored
                   for row in other.rows for element in elements_of(row)):
            return False
        accesses = [accesses_of(storage, nest) for nest in (one, other)]
        written = {storage.root(row.buffer) for nest in (one, other) for row in nest.stores}
        for root in written & accesses[0].keys() & accesses[1].keys():
            places = accesses[0][root] | accesses[1][root]
            if len(places) > 1 or None in places:
                return False
        reads = Counter(element.buffer for nest in (one, other) for row in nest.rows
                        for element in elements_of(row))
        kept = {row.buffer for nest in (one, other) for row in nest.stores
                if row.buffer not in storage.made or reads[row.buffer] < self.readers[row.buffer]}
        written = set(map(storage.canonical, kept))
        read = {storage.canonical(name) for name in reads} - written - stored
        count = len(written)
        return count * (count - 1) // 2 + count * len(read) <= MOST_PAIRS


def accesses_of(storage: Storage, nest: Nest) -> dict[str, set[str | None]]:
    """Return which buffers are read and written of each storage; None where not just ``here``."""
    found: dict[str, set[str | None]] = {}
    for one in visited(nest):
        name = storage.canonical(one.buffer) if one.indices == nest.here else None
        found.setdefault(storage.root(one.buffer), set()).add(name)
    return found


def visited(nest: Nest) -> list[Element | Store]:
    """Return the elements that loops read, and the statements that write into others."""
    found: list[Element | Store] = [one for row in nest.rows for one in elements_of(row)]
    return [*found, *nest.stores]


def is_flat(storage: Storage, nest: Nest) -> bool:
    """Say whether one loop over all elements may take the place of those over the axes."""
    return bool(nest.visits) and not any(
        one.buffer in storage.of for one in visited(nest))


def together(w: Writer, storage: Storage, one: Nest, other: Nest) -> Nest:
    """Return loops that do at each position what ``one`` does, then what ``other`` does there."""
    read = {storage.canonical(element.buffer) for row in other.rows for element in elements_of(row)}
    here: dict[str, Expr] = dict(zip(other.names, one.here, strict=True))
    stored: dict[str, Expr] = {}

    def moved(expr: Expr) -> Expr:
        return with_names(expr, here)

    def value(element: Element) -> Expr:
        same = element.indices == one.here
        return stored.get(storage.canonical(element.buffer), element) if same else element

    found: list[Row] = []
    for row in (*one.rows, *(with_exprs(row, moved) for row in other.rows)):
        if isinstance(row, Assign):
            found.append(Assign(row.name, with_elements(row.value, value)))
        if not isinstance(row, Store):
            continue
        row = replace(row, value=with_elements(row.value, value))
        root = storage.root(row.buffer)
        for known in [known for known in stored if storage.root(known) == root]:
            del stored[known]
        if row.indices == one.here and not row.adds:
            name = storage.canonical(row.buffer)
            if name in read and not isinstance(row.value, (Name, Number)):
                named = w.fresh("item")
                found.append(Assign(named, row.value))
                row = replace(row, value=Name(named))
            stored[name] = row.value
        found.append(row)
    visits = one.visits if one.visits and other.visits else ()
    return Nest(one.names, one.lengths, tuple(found), visits)


__all__ = ["with_merged_loops"]

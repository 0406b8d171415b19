"""Loops over the rows of arrays that run one behind the other are one loop, with sums along axes.

What is computed of a row is then read where it still is in the cache. An array of which a loop
touches only the row of each iteration, and nothing else does, is one row, or a number. Elements are
computed and added in the same order as before: the bits stay.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from adcompiler.backends.native.helpers import TEXTS
from adcompiler.backends.native.loops import (
    Body, Element, Expr, For, LoopFunction, Name, Number, Part, Row, Use, rows_of,
)
from adcompiler.backends.native.passes.element_loops import (
    Lengths, Placed, Storage, moved_up, nearest,
)
from adcompiler.backends.native.passes.loop_fusion import in_blocks, readers_in
from adcompiler.backends.native.passes.row_arrays import with_rows_alone
from adcompiler.backends.native.passes.row_loops import (
    RowLoop, Rows, flags_in, has_all, is_over_rows, places_in,
)
from adcompiler.backends.native.passes.row_reductions import Reductions
from adcompiler.backends.native.reading import bound_by
from adcompiler.backends.native.rewriting import with_elements, with_exprs, with_names
from adcompiler.backends.native.writer import Writer

ZERO, ONE = Number(0), Number(1)


def with_rows_together(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function with its loops over rows merged."""
    fusion = RowFusion(w, function)
    body = fusion.body(function.body)
    if not fusion.merged:
        return function
    found = replace(function, body=body)
    return with_rows_alone(found, fusion.merged, fusion.reductions.flat)


class RowFusion:
    """Merges loops over rows in the blocks of a function; ``merged`` are the names of these."""

    def __init__(self, w: Writer, function: LoopFunction) -> None:
        self.w = w
        self.counts: Counter[str | None] = Counter(map(bound_by, rows_of(function.body)))
        self.flags = flags_in(rows_of(function.body))
        self.reductions = Reductions(w, function, readers_in(function))
        self.merged: set[str] = set()
        self.parts = {
            row.name: row for row in rows_of(function.body) if isinstance(row, Part)
            and has_all(row) and max(self.counts[row.name], self.counts[row.buffer]) == 1
        }

    def body(self, body: Body) -> Body:
        """Return a block with its loops merged, and those inside of it."""
        return in_blocks(body, self.counts, self.straight, is_in_python)

    def straight(self, rows: list[Row]) -> list[Row]:
        """Return statements that run one behind the other with their loops over rows merged."""
        items = self.items(rows)
        if sum(isinstance(item, RowLoop) for item in items) < 2 or not any(
            isinstance(item, RowLoop) and item.reduces for item in items
        ):
            return rows
        all_rows = [row for item in items for row in (
            item.all if isinstance(item, RowLoop) else (item,))]
        self.counts.update(Counter(
            name for row in rows_of(Body(all_rows))
            if (name := bound_by(row)) is not None and name not in self.counts))
        storage = Storage(self.w, all_rows, self.counts)
        found = Rows(storage, self.flags, self.reductions.flat)
        lengths = Lengths(storage)
        done: list[Placed[Row | RowLoop]] = []
        for item in items:
            if isinstance(item, RowLoop):
                self.place(found, lengths, done, item)
            else:
                lengths.note(item)
                done.append(Placed(item, found.touched(item)))
        return [row for one in done for row in (
            (one.item,) if not isinstance(one.item, RowLoop) else
            one.item.all if one.item.rows is None else one.item.rows)]

    def items(self, rows: list[Row]) -> list[Row | RowLoop]:
        """Return statements, those that are loops over rows as such."""
        found: list[Row | RowLoop] = []
        waiting = list(rows)
        while waiting:
            row = waiting.pop(0)
            loop = self.reductions.loop(row, waiting[0] if waiting else None)
            if loop is not None and loop.rows is not None:
                del waiting[: len(loop.rows) - 1]
                found.append(loop)
            elif isinstance(row, For) and is_over_rows(row, self.flags):
                found.append(RowLoop(self.of_whole(with_rows_visited(row)), rows=(row,)))
            else:
                found.append(row)
        return found

    def of_whole(self, loop: For) -> For:
        """Return a loop that reads elements of arrays in place of those of parts with all of them.
        """
        def whole(one: Element) -> Expr:
            buffer, indices = one.buffer, one.indices
            while (part := self.parts.get(buffer)) is not None:
                buffer, indices = part.buffer, places_in(part, indices)
            return Element(buffer, indices)

        (found,) = (with_exprs(loop, lambda expr: with_elements(expr, whole)),)
        assert isinstance(found, For)
        return found

    def place(
        self, rows: Rows, lengths: Lengths, done: list[Placed[Row | RowLoop]], item: RowLoop
    ) -> None:
        """Append a loop over rows, or merge it with earlier ones, and these with still earlier
        ones."""
        touched = rows.touched(*item.all)
        for at in nearest(done):
            earlier = done[at].item
            if not isinstance(earlier, RowLoop) or not (earlier.reduces or item.reduces):
                continue
            if not lengths.are_same((earlier.loop.stop,), (item.loop.stop,)):
                continue
            if not rows.may_join(earlier, item):
                continue
            around = moved_up(done, at, touched)
            if around is None:
                continue
            before, behind = around
            merged = together(earlier, item)
            self.merged.add(merged.loop.name)
            done[at:] = [*before, *placed(rows, *earlier.front, *item.front)]
            self.place(rows, lengths, done, merged)
            done += [*placed(rows, *earlier.behind, *item.behind), *behind]
            return
        done.append(Placed(item, touched))


def together(one: RowLoop, other: RowLoop) -> RowLoop:
    """Return a loop that does for each row what ``one`` does, then what ``other`` does."""
    here = Name(one.loop.name)
    moved = [with_exprs(row, lambda expr: with_names(expr, {other.loop.name: here}))
             for row in other.loop.body.rows]
    loop = For(one.loop.name, ZERO, one.loop.stop, Body([*one.loop.body.rows, *moved]))
    return RowLoop(loop, reduces=True)


def placed(rows: Rows, *all_of_them: Row) -> list[Placed[Row | RowLoop]]:
    """Return statements and what they touch."""
    return [Placed(row, rows.touched(row)) for row in all_of_them]


def with_rows_visited(loop: For) -> For:
    """Return a loop that says of the one inside of it that it visits all of a row."""
    match loop.visits, loop.body.rows:
        case (_, _, *_), [For() as inner]:
            inner = replace(inner, visits=loop.visits[1:])
            return replace(loop, body=Body([inner]), visits=())
    return replace(loop, visits=())


def is_in_python(row: Row) -> bool:
    """Say whether a statement makes an array of another size, or a call in Python."""
    return isinstance(row, Use) and row.helper not in TEXTS


__all__ = ["with_rows_together"]

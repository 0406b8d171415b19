"""Copies of arrays that need not be made.

NumPy's ``reshape`` and ``ravel`` give a view where they can. Loops do not know beforehand, and make
a copy, as they do of what may be written into. Here it is seen which of these copies nobody needs:
where nothing reads the array itself any more, the copy is that array; where neither is written into
while the copy is read, it is a view, if the elements lie one behind the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from adcompiler.backends.native.loops import (
    Bind, Body, Element, Extent, Flat, For, LoopFunction, Make, Name, Note, Number, Output, Row,
    Store, View, blocks_in, rows_of,
)
from adcompiler.backends.native.passes.sharing import Sharing
from adcompiler.backends.native.passes.unused import roots_of
from adcompiler.backends.native.reading import bound_by, names_in, read_by
from adcompiler.backends.native.writer import Writer

ZERO = Number(0)


def without_copies(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function without copies that may be the array itself, or a view of it."""
    if not any(is_copy(made, loop) for rows in blocks_of(function.body)
               for made, loop in pairwise(rows)):
        return function
    return replace(function, body=Copies(w, Sharing(w, function)).block(function.body))


def without_last_copies(
    body: Body, visible: Iterable[str], outputs: Sequence[Output]
) -> tuple[Body, list[Output]]:
    """Return statements and what they return, without copies of arrays that were made for these.

    Such a copy is a loop over all elements of an array that is made here, under one name, and which
    is not read behind it.
    """
    roots = roots_of(body)
    returned = {one.value for one in outputs if isinstance(one.value, str)}
    bound = Counter(bound_by(row) for row in rows_of(body))
    rows = list(body.rows)
    made = {row.name: row for row in rows if isinstance(row, Make)}
    instead: dict[str, str] = {}
    for at, row in enumerate(rows[:-1]):
        if not isinstance(row, Make) or row.name not in returned or row.fill is not None:
            continue
        of = copied_from(row, rows[at + 1])
        if of is None or of in roots or of not in made or bound[of] + bound[row.name] != 2 or (
            made[of].shape != row.shape or any(bound[name] > 1 for name in names_in(*row.shape))
        ):
            continue
        same = {of, *(name for name, root in roots.items() if root == of)}
        behind = {name for one in rows_of(Body(rows[at + 2 :])) for name in read_by(one)}
        if same & {*behind, *returned, *visible}:
            continue
        rows[at], rows[at + 1] = Bind(row.name, of), Note("")
        instead[row.name] = of
        returned |= {of}
    found = Body([row for row in rows if row != Note("")])
    return found, [
        replace(one, value=instead.get(one.value, one.value)) if isinstance(one.value, str) else one
        for one in outputs
    ]


def copied_from(made: Make, loop: Row) -> str | None:
    """Return the buffer of which ``loop`` copies all elements into one that was made; or None."""
    places: list[str] = []
    while isinstance(loop, For) and loop.start == ZERO and len(loop.body.rows) == 1:
        places.append(loop.name)
        if len(places) > len(made.shape) or loop.stop != made.shape[len(places) - 1]:
            return None
        (loop,) = loop.body.rows
    at = tuple(map(Name, places))
    match loop:
        case Store(made.name, indices, Element(of, read), False) if (
            indices == read == at and len(places) == len(made.shape)
        ):
            return of
    return None


def blocks_of(body: Body) -> Iterable[list[Row]]:
    """Yield the statements of each block."""
    yield body.rows
    for row in rows_of(body):
        for block in blocks_in(row):
            yield block.rows


def is_copy(made: Row, loop: Row) -> bool:
    """Say whether two statements make a copy."""
    return isinstance(made, Make) and made.fill is None and bool(made.shape) and (
        copied_from(made, loop) is not None)


class Copies:
    """Replaces copies in the blocks of a function, which begin with statements of some numbers."""

    def __init__(self, w: Writer, sharing: Sharing) -> None:
        self.w = w
        self.sharing = sharing

    def block(self, body: Body) -> Body:
        """Return a block, which begins with the next statement."""
        rows, starts = self.sharing.numbered(body, self.block)
        ends = starts[1:]
        made: dict[str, tuple[Make, int]] = {}
        for i, row in enumerate(rows):
            if not isinstance(row, Make) or self.sharing.counts[row.name] > 1:
                continue
            if i + 1 < len(rows) and is_copy(row, rows[i + 1]):
                of = copied_from(row, rows[i + 1]) or ""
                if self.is_dead(row, of, made, ends[i + 1]):
                    rows[i], rows[i + 1] = Bind(row.name, of), Note("")
                    made[row.name] = made[of]
                elif self.is_only_read(row, of, starts[i], ends[i + 1:]):
                    rows[i] = View(row.name, Flat(of), ZERO, row.shape)
                    rows[i + 1] = Note("")
                if rows[i] is not row:
                    self.sharing.join(row.name, of)
                    self.w.may_share(row.name, of)
                    continue
            made[row.name] = row, starts[i]
        return Body([row for row in rows if row != Note("")])

    def is_dead(self, copy: Make, of: str, made: dict[str, tuple[Make, int]], end: int) -> bool:
        """Say whether an array is one that the block makes, and that nothing names behind its copy,
        which ends in front of the statement ``end``."""
        if of not in made:
            return False
        make, start = made[of]
        group = self.sharing.group(of)
        return make.dtype == copy.dtype and start <= group.first and group.last < end and all(
            length in (own, Extent(of, axis), Extent(make.name, axis))
            and self.sharing.is_fixed(own)
            for axis, (length, own) in enumerate(zip(copy.shape, make.shape, strict=True)))

    def is_only_read(self, copy: Make, of: str, start: int, ends: Sequence[int]) -> bool:
        """Say whether neither an array nor its copy is written into as long as that is read.

        The copy stands from the statement ``start`` to in front of the first of ``ends``, which the
        further statements of the block end in front of.
        """
        mine, their = self.sharing.group(copy.name), self.sharing.group(of)
        if mine is their or mine.chosen or not start <= mine.first or not mine.last < ends[-1]:
            return False
        until = next(end for end in ends if mine.last < end)
        return self.sharing.dtype_of(of) == copy.dtype and all(
            at < ends[0] for at in mine.written
        ) and not any(ends[0] <= at < until for at in their.written) and all(
            length == Extent(of, axis) for axis, length in enumerate(copy.shape) if axis)


__all__ = ["without_copies", "without_last_copies"]

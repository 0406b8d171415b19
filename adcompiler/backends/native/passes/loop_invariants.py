"""What is the same for all seeds, in front of the loop that runs over these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from adcompiler.backends.native.loops import Body, Break, Forever, Note, Reserve, Row, rows_of
from adcompiler.backends.native.passes.seed_axis import SeedAxis
from adcompiler.backends.native.passes.unused import ALIASES
from adcompiler.backends.native.reading import bound_by, read_by, written_by
from adcompiler.support.structs import dataclass


def in_front(axis: SeedAxis, rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Return statements that run once for all seeds, and those that run for each.

    ``axis`` knows what seeds decide. A statement goes in front if none does what it reads, unless
    it changes what is read or written by one before it that stays, or one that stays changes what
    it has made: the next seed would see that.
    """
    pinned: set[str] = set(axis.varying)
    while True:
        front, rest, changed = parted(axis, rows, pinned)
        again = changed & {name for row in front for name in touched_by(axis, row).writes}
        if not again:
            return front, rest
        pinned |= again


def parted(
    axis: SeedAxis, rows: Sequence[Row], pinned: set[str]
) -> tuple[list[Row], list[Row], set[str]]:
    """As ``in_front``, with what those that stay write; they are all that touch ``pinned`` names.
    """
    front: list[Row] = []
    rest: list[Row] = []
    notes: list[Row] = []
    read: set[str] = set()
    written: set[str] = set()
    for row in rows:
        if isinstance(row, Note):
            notes.append(row)
            continue
        mine = touched_by(axis, row)
        stays = bool(
            (mine.reads | mine.writes | mine.storage) & pinned or mine.reads & written
            or mine.writes & (read | written)
        ) or any(isinstance(one, (Reserve, Break, Forever)) for one in rows_of(Body([row])))
        (rest if stays else front).extend([*notes, row])
        notes = []
        if stays:
            read |= mine.reads
            written |= mine.writes
    return front, [*rest, *notes], written


@dataclass
class Touched:
    """What a statement reads and writes: storage, by one name for all that may share it, and names.

    The names of buffers are told apart from storage by an ``@``: a part of one is another name,
    which reads nothing that is stored. ``storage`` is all that it names.
    """

    reads: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    storage: set[str] = field(default_factory=set)


def touched_by(axis: SeedAxis, row: Row) -> Touched:
    """Return what a statement reads and writes, with all inside of it."""
    found = Touched()
    for one in rows_of(Body([row])):
        named, bound = read_by(one), bound_by(one)
        found.storage |= {axis.root(name) for name in (*named, bound) if name is not None}
        found.reads |= {f"@{name}" for name in named}
        if not isinstance(one, ALIASES):
            found.reads |= set(map(axis.root, named))
        found.writes |= set(map(axis.root, written_by(one)))
        if bound is not None:
            found.writes.add(f"@{bound}")
            found.writes |= set() if isinstance(one, ALIASES) else {axis.root(bound)}
    return found


__all__ = ["in_front"]

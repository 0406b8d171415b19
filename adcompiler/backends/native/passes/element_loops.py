"""Loops over all positions of arrays, and in what order statements around them may run.

What a statement touches is told by names: those of numbers and buffers begin with an ``@``, storage
has one for all buffers that may share it. A buffer that a statement of the same block makes shares
none with those that there were before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Generic, TypeVar

from adcompiler.backends.native.loops import (
    Assign, Binary, Bind, Body, Break, Ends, Expr, Extent, Flat, For,
    Forever, Leave, Make, Name, Number, Part, Place, Reserve, Row, Spread, Store, Turn, Use,
    View, children, rows_of,
)
from adcompiler.backends.native.reading import (
    bound_by, elements_of, exprs_of, is_costly, names_in, written_by,
)
from adcompiler.backends.native.rewriting import with_names
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

T = TypeVar("T")
ZERO = Number(0)
FARTHEST = 48
"""Statements are moved past so many others at most."""


@dataclass(frozen=True)
class Nest:
    """Loops over all positions of arrays: the names of the positions, the lengths of the axes, and
    what is done at each position, where nothing is carried to the next one."""

    names: tuple[str, ...]
    lengths: tuple[Expr, ...]
    rows: tuple[Row, ...]
    visits: tuple[Expr, ...]

    @property
    def here(self) -> tuple[Expr, ...]:
        """The position, as subscripts."""
        return tuple(map(Name, self.names))

    @property
    def stores(self) -> list[Store]:
        """The statements that write into arrays."""
        return [row for row in self.rows if isinstance(row, Store)]

    @property
    def is_cheap(self) -> bool:
        """Whether no function of the library is called: compilers make vectors of such loops."""
        return not any(is_costly(expr) for row in self.rows for expr in exprs_of(row))

    def written(self) -> For:
        """Return the loops."""
        body = Body(list(self.rows))
        for name, length in reversed(list(zip(self.names, self.lengths, strict=True))):
            body = Body([For(name, ZERO, length, body)])
        (loop,) = body.rows
        assert isinstance(loop, For)
        return replace(loop, visits=self.visits)

    def defined(self) -> dict[str, Expr]:
        """Return what stands for each number that is named, in terms of elements."""
        found: dict[str, Expr] = {}
        for row in self.rows:
            if isinstance(row, Assign):
                found[row.name] = with_names(row.value, found)
        return found


def nest_of(row: Row) -> Nest | None:
    """Return a statement as loops over all positions; None if it is none."""
    names: list[str] = []
    lengths: list[Expr] = []
    inner: Row = row
    while isinstance(inner, For) and inner.start == ZERO and not inner.down:
        names.append(inner.name)
        lengths.append(inner.stop)
        rows = inner.body.rows
        if not rows or len(rows) > 1 or not isinstance(rows[0], For):
            break
        inner = rows[0]
    else:
        return None
    assert isinstance(row, For)
    made: set[str] = set()
    later = [row.name for row in rows if isinstance(row, Assign)]
    for one in rows:
        if not isinstance(one, (Assign, Store)):
            return None
        read = names_in(*exprs_of(one))
        if any(name in read and name not in made for name in later):
            return None
        made |= {one.name} if isinstance(one, Assign) else set()
    if len(later) != len(set(later)) or any(names_in(length) & set(names) for length in lengths):
        return None
    return Nest(tuple(names), tuple(lengths), tuple(rows), row.visits)


@dataclass(frozen=True)
class Touched:
    """What a statement reads and writes, with all inside of it, and whether it may give up."""

    reads: frozenset[str]
    writes: frozenset[str]
    leaves: bool

    def may_swap(self, other: Touched) -> bool:
        """Say whether two statements do the same in either order, giving up left aside."""
        return not (self.writes & (other.reads | other.writes) or self.reads & other.writes)

    def and_then(self, other: Touched) -> Touched:
        """Return what both touch."""
        return Touched(
            self.reads | other.reads, self.writes | other.writes, self.leaves or other.leaves)


@dataclass(frozen=True)
class Placed(Generic[T]):
    """A statement, or what stands for several, and what it touches."""

    item: T
    touched: Touched


def nearest(done: Sequence[Placed[T]]) -> range:
    """Return the positions at which something is looked for, from the last statement back."""
    return range(len(done) - 1, max(len(done) - FARTHEST, 0) - 1, -1)


def moved_up(
    done: Sequence[Placed[T]], at: int, touched: Touched
) -> tuple[list[Placed[T]], list[Placed[T]]] | None:
    """Return what is to run in front of a statement and behind it if another one is done with it.

    That one stands behind all others. None where it cannot be moved up: one of them touches what it
    does, and depends on the statement, or one that may give up does. What is behind such a one may
    be right only if it did not.
    """
    before: list[Placed[T]] = []
    behind: list[Placed[T]] = []
    for one in done[at + 1 :]:
        if all(one.touched.may_swap(other.touched) for other in (done[at], *behind)):
            before.append(one)
        elif one.touched.leaves or not one.touched.may_swap(touched):
            return None
        else:
            behind.append(one)
    return before, behind


class Storage:
    """Which buffers of a block may share storage, and which are the same part of another one.

    ``counts`` tells how many statements of the function bind each name.
    """

    def __init__(self, w: Writer, rows: Sequence[Row], counts: Counter[str | None]) -> None:
        self.w = w
        self.counts = counts
        self.made: dict[str, Make] = {}
        self.of: dict[str, str] = {}
        self.parts: dict[str, Part] = {}
        self.same: dict[str, str] = {}
        seen: dict[object, str] = {}
        for row in rows:
            if (name := bound_by(row)) is None or counts[name] > 1:
                continue
            match row:
                case Make():
                    self.made[name] = row
                case Bind(_, buffer):
                    self.of[name] = buffer
                    self.same[name] = buffer
                case Part(_, buffer, places):
                    self.of[name] = buffer
                    self.parts[name] = row
                    if self.are_fixed(places):
                        key = (self.canonical(buffer), places)
                        self.same[name] = seen.setdefault(key, name)
                case Turn(_, buffer):
                    self.of[name] = buffer
                case View(_, buffer):
                    self.of[name] = buffer.buffer if isinstance(buffer, Flat) else buffer

    def are_fixed(self, places: Sequence[Place]) -> bool:
        """Say whether slices are the same wherever they are written in the block."""
        exprs: list[Expr | None] = []
        for place in places:
            exprs += [place.lower, place.upper, place.step] if isinstance(place, Ends) else [place]
        return not any(self.changes(expr) for expr in exprs if expr is not None)

    def hands_on(self, nest: Nest) -> bool:
        """Say whether loops give a number a value that something else reads than this position.

        Such numbers have a value without the loops too: several statements bind their names.
        """
        return any(isinstance(row, Assign) and self.counts[row.name] > 1 for row in nest.rows)

    def changes(self, expr: Expr) -> bool:
        """Say whether an expression may be another number at another place of the block."""
        return any(self.counts[name] > 1 for name in numbers_in(expr))

    def canonical(self, name: str) -> str:
        """Return one name for all buffers that are the same part of the same one."""
        while self.same.get(name, name) != name:
            name = self.same[name]
        return name

    def base(self, name: str) -> str:
        """Return the buffer that another one is a part of, or a name of."""
        while name in self.of:
            name = self.of[name]
        return name

    def root(self, name: str) -> str:
        """Return what stands for all buffers that may share storage with one."""
        base = self.base(name)
        return f"new {base}" if base in self.made else self.w.root(base)

    def is_new(self, name: str) -> bool:
        """Say whether the storage of a buffer is that of one that the block makes."""
        return self.base(name) in self.made

    def touched(self, row: Row) -> Touched:
        """Return what a statement reads and writes."""
        reads: set[str] = set()
        writes: set[str] = set()
        leaves = False
        for one in rows_of(Body([row])):
            reads |= {f"@{name}" for name in names_in(*exprs_of(one))}
            reads |= {self.root(element.buffer) for element in elements_of(one)}
            if (name := bound_by(one)) is not None:
                writes.add(f"@{name}")
            writes |= set(map(self.root, written_by(one)))
            match one:
                case Store(buffer):
                    reads.add(f"@{buffer}")
                case Make() | Reserve():
                    writes.add(self.root(name or ""))
                    reads |= {f"@{name}"} if isinstance(one, Reserve) else set()
                case Use(_, _, args):
                    given = {arg.buffer if isinstance(arg, Flat) else arg
                             for arg in args if isinstance(arg, (str, Flat))}
                    reads |= {f"@{arg}" for arg in given} | set(map(self.root, given))
                    writes.add(self.root(name or ""))
                case Bind() | Part() | Turn() | View():
                    of = one.buffer.buffer if isinstance(one.buffer, Flat) else one.buffer
                    reads.add(f"@{of}")
                case Leave() | Break() | Forever() | Spread():
                    leaves = True
        return Touched(frozenset(reads), frozenset(writes), leaves)


class Lengths:
    """Which lengths are known to be the same, by tests that gave up where they are not."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.of: dict[Expr | None, tuple[Expr | None, int]] = {}

    def note(self, row: Row) -> None:
        """Note what holds behind a statement."""
        waiting = [row.test] if isinstance(row, Leave) and row.test is not None else []
        while waiting:
            match waiting.pop():
                case Binary("or", left, right):
                    waiting += [left, right]
                case Binary("!=", left, right):
                    (a, more), (b, less) = self.key(left), self.key(right)
                    if a is None:
                        (a, more), (b, less) = (b, less), (a, more)
                    if a not in (None, b) and not self.storage.changes(left) and (
                        not self.storage.changes(right)
                    ):
                        self.of[a] = (b, less - more)

    def key(self, length: Expr) -> tuple[Expr | None, int]:
        """Return what stands for all lengths that are the same as one, and a constant added."""
        constant = 0
        base: Expr | None = length
        while base is not None:
            before = base
            base, more = self.next(base)
            constant += more
            if base == before:
                break
        return base, constant

    def next(self, base: Expr) -> tuple[Expr | None, int]:
        """Return what a length is made of: something, and a constant added to it."""
        if base in self.of:
            return self.of[base]
        if isinstance(base, Extent):
            name = self.storage.canonical(base.buffer)
            made = self.storage.made.get(name)
            if made is not None and not self.storage.changes(made.shape[base.axis]):
                return made.shape[base.axis], 0
            return Extent(name, base.axis), 0
        found, more = self.storage.w.affine(base)
        return (base, 0) if found is not None and self.storage.changes(found) else (found, more)

    def are_same(self, a: Sequence[Expr], b: Sequence[Expr]) -> bool:
        """Say whether arrays of two shapes have the same one for sure."""
        return len(a) == len(b) and not any(map(self.storage.changes, (*a, *b))) and all(
            self.key(one) == self.key(other) for one, other in zip(a, b, strict=True))


def numbers_in(expr: Expr) -> set[str]:
    """Return the names of numbers in an expression, not those of buffers."""
    match expr:
        case Name(name):
            return {name}
        case Extent():
            return set()
    return set().union(*map(numbers_in, children(expr)))


__all__ = [
    "Lengths", "Nest", "Placed", "Storage", "Touched", "moved_up", "nearest", "nest_of",
]

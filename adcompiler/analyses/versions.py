"""Values that follow one another in one piece of storage.

Emitting an ``Update`` writes into the storage of the value that it starts from, which is
*destroyed* by that: its storage holds the next value from then on. Branches and loops hand
storage on.
"""

from __future__ import annotations

from collections.abc import Iterator

from adcompiler.analyses.escape import Held
from adcompiler.analyses.storage import Sharing, is_container, written_operand
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import Atom, Block, Let, Region, Update, Var
from adcompiler.ir.regions import AGAIN, COLLECTED, ENDS, LAST, LEAVES, SKIPS, Edge
from adcompiler.ir.visit import blocks_of, bound_inside, defined, walk


class Versions:
    """The versions of storage in one typed function.

    ``destroyed`` are the values whose storage goes on to hold another one, ``all`` these and what
    they become. ``following`` maps a value to one that has its storage later. ``regions`` tells the
    blocks that a variable is defined in; ``inside`` says that some update writes into what a
    container holds, not only into its slots.
    """

    def __init__(self, body: Block) -> None:
        self.destroyed: set[Var] = set()
        self.all: set[Var] = set()
        self.following: dict[Var, Var] = {}
        self.inside = False
        self.regions: dict[Var, tuple[int, ...]] = {}
        self.locate(body, ())
        backward: list[tuple[Atom, Atom]] = []
        forward: list[tuple[Atom, Var]] = []
        for statement in walk(body):
            match statement:
                case Let(target, rhs, _):
                    old = written_operand(rhs)
                    if isinstance(old, Var):
                        self.destroyed.add(old)
                        self.all |= {old, target}
                        self.following[old] = target
                    if isinstance(rhs, Update):
                        self.inside |= rhs.adds or len(rhs.steps) != 1
                case Region():
                    for way in statement.edges():
                        if way.hands_on:
                            backward.append((way.target, way.source))
                        if way.how in (LEAVES, AGAIN, ENDS):
                            forward.append((way.source, way.target))
        if self.destroyed:
            self.close(backward, forward)

    def locate(self, block: Block, region: tuple[int, ...]) -> None:
        """Note in which blocks each variable of ``block`` is defined, from the outermost."""
        for statement in block.statements:
            self.regions.update(dict.fromkeys(defined(statement), region))
            for inner in blocks_of(statement):
                within = (*region, id(inner))
                self.regions.update(dict.fromkeys(bound_inside(statement), within))
                self.locate(inner, within)

    def in_scope(self, var: Var, other: Var) -> bool:
        """Say whether ``var`` is in scope wherever ``other`` is, once both are defined."""
        outer, inner = self.regions.get(var, ()), self.regions.get(other, ())
        return inner[: len(outer)] == outer

    def close(self, backward: list[tuple[Atom, Atom]], forward: list[tuple[Atom, Var]]) -> None:
        """Follow storage through branches and loops until nothing is added."""
        size = -1
        while size != len(self.destroyed) + len(self.all):
            size = len(self.destroyed) + len(self.all)
            for later, earlier in backward:
                if later in self.destroyed and isinstance(earlier, Var):
                    self.destroyed.add(earlier)
            self.all |= self.destroyed
            for earlier, later in forward:
                if earlier in self.all:
                    self.all.add(later)
        for earlier, later in forward:
            if isinstance(earlier, Var) and earlier in self.all:
                self.following.setdefault(earlier, later)
        for later, earlier in backward:
            if isinstance(later, Var) and isinstance(earlier, Var) and earlier in self.destroyed:
                self.following.setdefault(earlier, later)

    def chain(self, var: Var) -> Iterator[Var]:
        """Yield the values that the storage of ``var`` holds later, one after the other."""
        seen = {var}
        while var in self.following and self.following[var] not in seen:
            var = self.following[var]
            seen.add(var)
            yield var


def written_storage(block: Block) -> set[Atom]:
    """Return the variables whose storage is written into, under any name it is handed on as."""
    written: set[Atom] = set()
    handed = Flow()
    for statement in walk(block):
        if isinstance(statement, Let):
            old = written_operand(statement.rhs)
            if old is not None:
                written.add(old)
        elif isinstance(statement, Region):
            handed.steps += [
                (way.target, way.source) for way in statement.edges() if way.hands_on
            ]
    return handed.backward(written)


def exposed_values(block: Block, sharing: Sharing) -> set[Atom]:
    """Return the values that do not stay as they are: written storage, and views of it.

    They must not be read later than where the code reads them. What a branch or loop hands on is
    the last value of its storage, unless that is written into again.
    """
    written = written_storage(block)
    if not written:
        return written
    late = written_in_lists(block, sharing, written)
    views = Flow()
    readers: dict[Atom, list[Let]] = {}
    for statement in walk(block):
        if isinstance(statement, Let):
            for atom in sharing.candidates(statement.rhs):
                if isinstance(atom, Var):
                    readers.setdefault(atom, []).append(statement)
        elif isinstance(statement, Region):
            views.steps += [
                (way.target, way.source) for way in statement.edges()
                if way.how not in (LAST, SKIPS) and (
                    not way.hands_on or way.source not in written or way.source in late)
            ]

    def views_of(atom: Atom) -> Iterator[Atom]:
        for let in readers.get(atom, ()):
            if written_operand(let.rhs) is None and any(
                source is atom for source, _ in sharing.of(let.target, let.rhs)
            ):
                yield let.target

    return views.forward(written | late | Held(block, sharing).overwritten, also=views_of)


def written_in_lists(block: Block, sharing: Sharing, written: set[Atom]) -> set[Atom]:
    """Return the values that loops collect and that are written into as items of the lists.

    So a sweep does that restores, in what was saved, the storage that a loop wrote into: other
    names for what was saved must not be read after that.
    """
    collected: list[Edge] = []
    backward = Flow()
    made: dict[Atom, Let] = {}
    for statement in walk(block):
        if isinstance(statement, Let):
            made[statement.target] = statement
        elif isinstance(statement, Region):
            for way in statement.edges():
                if way.how == COLLECTED:
                    collected.append(way)
                if not way.hands_on:
                    backward.steps.append((way.target, way.source))
    if not collected:
        return set()

    def shared_by(atom: Atom) -> Iterator[Atom]:
        let = made.get(atom)
        if let is not None:
            yield from (source for source, _ in sharing.of(let.target, let.rhs))

    arrays = {atom for atom in written if not is_container(sharing.type_of(atom))}
    found = backward.backward(arrays, also=shared_by)
    return {way.source for way in collected if way.target in found}

"""Values whose storage a container holds and is written into there.

``s.append(x); s[0][1] = 0.0`` changes what ``x`` is, though no statement writes into ``x``.
Variables whose values may share storage, or of which one may hold another, are put into one class;
the classes that matter have a container in them, and a write into what it holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.analyses.storage import Sharing, TypeOf, is_container, is_mutable, written_operand
from adcompiler.ir.nodes import Atom, Block, Let, Region, Rhs, Update, Var
from adcompiler.ir.regions import COLLECTED
from adcompiler.ir.visit import walk


class Classes:
    """Sets of atoms, joined pair by pair."""

    def __init__(self) -> None:
        self.parent: dict[Atom, Atom] = {}

    def root(self, atom: Atom) -> Atom:
        """Return the atom that stands for the class of ``atom``."""
        path = []
        while (parent := self.parent.get(atom, atom)) is not atom:
            path.append(atom)
            atom = parent
        for passed in path:
            self.parent[passed] = atom
        return atom

    def join(self, one: Atom, two: Atom) -> None:
        """Make one class of two."""
        a, b = self.root(one), self.root(two)
        self.parent.setdefault(b, b)
        self.parent[a] = b


class Held:
    """What containers hold in one typed function.

    ``overwritten`` are the values that share storage with what a container holds and is written
    into there; of containers, only those that another one holds.
    """

    def __init__(self, body: Block, sharing: Sharing) -> None:
        self.type_of = sharing.type_of
        self.near, self.same = Classes(), Classes()
        self.entered: list[Atom] = []
        written: list[Atom] = [
            statement.target for statement in walk(body)
            if isinstance(statement, Let) and is_written_inside(statement.rhs, self.type_of)
        ]
        self.overwritten: frozenset[Var] = frozenset()
        if not written:
            return  # most functions: what they hold stays as it is
        for statement in walk(body):
            match statement:
                case Let(target, rhs, _):
                    self.enter(target, rhs, sharing)
                case Region():
                    for way in statement.edges():
                        if way.how == COLLECTED:
                            self.hold([(way.target, way.source)])
                        else:
                            self.hand([(way.target, way.source)], way.hands_on)
        self.overwritten = self.find(written)

    def enter(self, target: Var, rhs: Rhs, sharing: Sharing) -> None:
        """Enter what one right-hand side tells about storage."""
        old = written_operand(rhs)
        if old is None:
            if not is_mutable(self.type_of(target)):
                return
            for operand, how in sharing.of(target, rhs):
                if how == "same":
                    self.hand([(target, operand)])
                elif how == "holds":
                    self.hold([(target, operand)])
                else:
                    self.hand([(target, operand)], same=how == "may")
            return
        self.hand([(target, old)])
        self.hold((target, value) for value in sharing.entered(rhs))

    def hand(self, pairs: Iterable[tuple[Atom, Atom]], same: bool = True) -> None:
        """Note values that may share storage; ``same`` if one may be the other."""
        for one, two in pairs:
            if self.has_storage(one) and self.has_storage(two):
                self.near.join(one, two)
                if same:
                    self.same.join(one, two)

    def hold(self, pairs: Iterable[tuple[Atom, Atom]]) -> None:
        """Note containers and what they hold."""
        for container, value in pairs:
            if self.has_storage(value):
                self.near.join(container, value)
                self.entered.append(value)

    def has_storage(self, atom: Atom) -> bool:
        return isinstance(atom, Var) and is_mutable(self.type_of(atom))

    def find(self, written: list[Atom]) -> frozenset[Var]:
        """Return the values in the classes of ``written``."""
        if not written or not self.entered:
            return frozenset()
        classes = set(map(self.near.root, written)) & set(map(self.near.root, self.entered))
        held = {self.same.root(atom) for atom in self.entered}
        return frozenset(
            atom for atom in self.near.parent
            if isinstance(atom, Var) and self.near.root(atom) in classes
            and (not is_container(self.type_of(atom)) or self.same.root(atom) in held)
        )


def is_written_inside(rhs: Rhs, type_of: TypeOf) -> bool:
    """Say whether ``rhs`` writes into what a container holds, not only into its slots.

    Arrays that a container holds are written into through it alone: others are copied first.
    """
    return isinstance(rhs, Update) and is_container(type_of(rhs.obj)) and (
        rhs.adds or len(rhs.steps) != 1
    )

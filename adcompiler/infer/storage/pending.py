"""What iterators read when they are run through, which a write before that would change."""

from __future__ import annotations

from collections.abc import Iterable

from adcompiler.analyses.storage import reads_later
from adcompiler.ir.nodes import Atom, Closure, Star, Var, unstar
from adcompiler.infer.storage.aliases import Storage


class Pending:
    """The iterators of one function that read storage later.

    ``derived`` holds for each root those that read it, and whether only its slots matter;
    ``derived_of`` the roots that each of them reads.
    """

    def __init__(self, heap: Storage) -> None:
        self.heap, self.unit = heap, heap.s.unit
        self.derived: dict[Var, dict[Var, bool]] = {}
        self.derived_of: dict[Atom, set[Var]] = {}

    def derive(self, made: Atom, sources: Iterable[Atom | Star], slots: bool = False) -> None:
        """Note what an iterator reads when it is run through: written before, it has another end.

        Emitted code computes the items, or takes what they are computed of, when it is made. With
        ``slots`` it takes the items themselves, so that a write into these does no harm.
        """
        if not isinstance(made, Var):
            return
        mine = self.heap.reference(made).root
        for source in map(unstar, sources):
            rhs = self.unit.definition(source)
            if isinstance(rhs, Closure):
                self.derive(made, rhs.captures, slots)
            if reads_later(rhs):
                self.derive(made, rhs.args, slots)
            for root in (*self.heap.roots(source), *self.derived_of.get(source, ())):
                if root is not mine:
                    self.derived.setdefault(root, {})[mine] = slots
                    self.derived_of.setdefault(mine, set()).add(root)

    def derive_alike(self, made: Var, other: Var) -> None:
        """Note that ``made`` reads, when it is run through, what ``other`` reads then."""
        for root in tuple(self.derived_of.get(other, ())):
            self.derived[root][made] = self.derived[root][other]
            self.derived_of.setdefault(made, set()).add(root)

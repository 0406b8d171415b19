"""Where control flow joins: what two arms left, and values that come from several places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir.nodes import UNDEF, Atom, Var
from adcompiler.specialise.storage.state import Choice, Invalidated, State
from adcompiler.specialise.storage.writing import Writing


class Joining(Writing):
    """The join of states."""

    def adopt(self, var: Var, sources: Iterable[Atom], owned: bool = True) -> None:
        """Enter a value that is one of ``sources``, which are not referred to any more.

        ``owned`` says that each was nobody else's where it came from.
        """
        self.levels[var] = self.level
        if not is_mutable(self.s.unit.type(var)):
            return
        exclusive = owned
        roots: dict[Var, None] = {}
        for source in sources:
            if source is UNDEF or not isinstance(source, Var):
                exclusive = exclusive and (
                    source is UNDEF or not is_mutable(self.s.unit.type(source))
                )
                continue
            exclusive = exclusive and self.owns(source)
            self.may_be_one(var, self.reference(source).root)
            roots.update(dict.fromkeys(self.roots(source)))
        for root in roots:
            for other in list(self.state.may_alias.get(root, ())):
                if self.is_outer(other) and other not in roots:
                    self.pair(var, other)
            self.alias(var, root)
        self.state.exclusive[var] = exclusive

    def merge(self, a: State, b: State) -> dict[Var, tuple[Atom, Atom]]:
        """Return the roots that differ after two arms; what else is known of both is joined."""
        lost = Invalidated({**a.invalidated, **b.invalidated}, a.invalidated.asked)
        merged = State(dict(a.latest), {}, lost, {**a.exclusive})
        for state in (a, b):
            for root, others in state.may_alias.items():
                merged.may_alias.setdefault(root, set()).update(others)
        for atom, exclusive in b.exclusive.items():
            merged.exclusive[atom] = exclusive and merged.exclusive.get(atom, True)
        for root, choice in a.choices.items():
            if root in b.choices and self.is_outer(root):
                merged.choices[root] = Choice(choice.condition, choice.alternatives)
        differing = {}
        for root in dict.fromkeys((*a.latest, *b.latest)):
            if not self.is_outer(root) or root in merged.choices:
                merged.latest.pop(root, None)
                continue
            one, two = a.value(root), b.value(root)
            base = self.written_value(one)
            if one is not two and base is self.written_value(two):
                merged.latest[root] = base
            elif one is not two:
                differing[root] = (one, two)
        self.state = merged
        return differing

    def join_root(self, root: Var, var: Var, start: Atom, values: Sequence[Atom]) -> None:
        """Make ``var`` the latest value of a root: ``start`` before a region, then ``values``."""
        exclusive = all(map(self.is_exclusive, values))
        self.state.latest[root] = start
        self.advance(
            root, var, self.rebound_between(start, values),
            grown=self.grown_between(start, values),
            content=self.content_between(start, values),
        )
        for value in values:
            self.hold_parts(root, value)
        self.state.exclusive[var] = exclusive

"""Where control flow joins: what two arms left, and values that come from several places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir.nodes import UNDEF, Atom, Var
from adcompiler.specialise.storage.state import Choice, Invalidated, State
from adcompiler.specialise.storage.writing import Writing


class Joining(Writing):
    """The join of states."""

    def adopt(
        self, var: Var, sources: Sequence[Atom], owned: bool = True,
        aliases: Sequence[Mapping[Var, set[Var]]] | None = None,
    ) -> None:
        """Enter a value that is one of ``sources``, which are not referred to any more.

        ``owned`` says that each was nobody else's where it came from, ``aliases`` for each what
        might share storage there, where that is not what may by now.
        """
        self.levels[var] = self.level
        for source in sources:
            if isinstance(source, Var):
                self.derive_alike(var, self.reference(source).root)
        if not is_mutable(self.s.unit.type(var)):
            return
        exclusive = owned
        roots: dict[Var, None] = {}
        others: dict[Var, None] = {}
        for k, source in enumerate(sources):
            if source is UNDEF or not isinstance(source, Var):
                exclusive = exclusive and (
                    source is UNDEF or not is_mutable(self.s.unit.type(source))
                )
                continue
            exclusive = exclusive and self.owns(source)
            self.may_be_one(var, self.reference(source).root)
            known = self.state.may_alias if aliases is None else aliases[k]
            for root in self.roots(source):
                roots[root] = None
                others.update(dict.fromkeys(known.get(root, ())))
        for other in others:
            if self.is_outer(other) and other not in roots:
                self.pair(var, other)
        for root in roots:
            self.alias(var, root)
        self.state.exclusive[var] = exclusive

    def derive_alike(self, made: Var, other: Var) -> None:
        """Note that ``made`` reads, when it is run through, what ``other`` reads then."""
        for root in tuple(self.derived_of.get(other, ())):
            self.derived[root][made] = self.derived[root][other]
            self.derived_of.setdefault(made, set()).add(root)

    def merge(self, a: State, b: State) -> dict[Var, tuple[Atom, Atom]]:
        """Return the roots that differ after two arms; what else is known of both is joined."""
        lost = Invalidated({**a.invalidated, **b.invalidated}, a.invalidated.asked)
        merged = State(dict(a.latest), {}, lost, {**a.exclusive}, a.spines & b.spines)
        for state, other in ((a, b), (b, a)):
            merged.spines |= {value for value in state.spines if other.exclusive.get(value)}
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
        spine = all(map(self.owns_spine, values))
        self.state.latest[root] = start
        self.advance(
            root, var, self.rebound_between(start, values),
            grown=self.grown_between(start, values),
            content=self.content_between(start, values),
            copied=bool(self.copies_between(start, values)),
        )
        self.state.exclusive[var] = exclusive
        self.state.spines -= {var}
        self.state.spines |= {var} if spine else set()

    def aliases_when_held(self, state: State, roots: Iterable[Var]) -> dict[Var, set[Var]]:
        """Return what may share storage in a state once some roots are not known by their parts."""
        now, self.state = self.state, state.copy()
        for root in roots:
            self.hold_parts(root, self.state.value(root))
        found, self.state = self.state.may_alias, now
        return found

    def hold_parts_in(self, states: Iterable[State], roots: Iterable[Var]) -> None:
        """Note in each of some arms what those roots hold that the arms leave different.

        Behind the region their parts are not known. Who had the roots alone still has.
        """
        now = self.state
        for self.state in states:
            for root in roots:
                value = self.state.value(root)
                if self.parts(value) is not None:
                    exclusive = self.is_exclusive(value)
                    self.hold_parts(root, value)
                    self.state.exclusive[value] = exclusive
        self.state = now

    def differing(self, a: State, b: State) -> list[Var]:
        """Return the roots outside of a branch that have different values after its arms."""
        kept = {root for root in a.choices if root in b.choices and self.is_outer(root)}
        return [
            root for root in dict.fromkeys((*a.latest, *b.latest))
            if self.is_outer(root) and root not in kept
            and self.written_value(a.value(root)) is not self.written_value(b.value(root))
        ]

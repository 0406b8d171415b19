"""Where control flow joins: what two arms left, and values that come from several places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir.nodes import UNDEF, Atom, Var
from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.kill_sets import Changes
from adcompiler.infer.storage.pending import Pending
from adcompiler.infer.storage.state import Choice, Invalidated, State

Name = TypeVar("Name")


class Joining:
    """The join of states."""

    def __init__(self, heap: Storage, changes: Changes, pending: Pending) -> None:
        self.heap, self.unit, self.changes, self.pending = heap, heap.s.unit, changes, pending

    def adopt(
        self, var: Var, sources: Sequence[Atom], owned: bool = True,
        aliases: Sequence[Mapping[Var, set[Var]]] | None = None,
    ) -> None:
        """Enter a value that is one of ``sources``, which are not referred to any more.

        ``owned`` says that each was nobody else's where it came from, ``aliases`` for each what
        might share storage there, where that is not what may by now.
        """
        self.heap.levels[var] = self.heap.level
        for source in sources:
            if isinstance(source, Var):
                self.pending.derive_alike(var, self.heap.reference(source).root)
        if not is_mutable(self.unit.type(var)):
            return
        exclusive = owned
        roots: dict[Var, None] = {}
        others: dict[Var, None] = {}
        for k, source in enumerate(sources):
            if source is UNDEF or not isinstance(source, Var):
                exclusive = exclusive and (
                    source is UNDEF or not is_mutable(self.unit.type(source))
                )
                continue
            exclusive = exclusive and self.heap.owns(source)
            self.heap.may_be_one(var, self.heap.reference(source).root)
            known = self.heap.state.may_alias if aliases is None else aliases[k]
            for root in self.heap.roots(source):
                roots[root] = None
                others.update(dict.fromkeys(known.get(root, ())))
        for other in others:
            if self.heap.is_outer(other) and other not in roots:
                self.heap.pair(var, other)
        for root in roots:
            self.heap.alias(var, root)
        self.heap.state.exclusive[var] = exclusive

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
            if root in b.choices and self.heap.is_outer(root):
                merged.choices[root] = Choice(choice.condition, choice.alternatives)
        differing = {}
        for root in dict.fromkeys((*a.latest, *b.latest)):
            if not self.heap.is_outer(root) or root in merged.choices:
                merged.latest.pop(root, None)
                continue
            one, two = a.value(root), b.value(root)
            base = self.heap.history.written_value(one)
            if one is not two and base is self.heap.history.written_value(two):
                merged.latest[root] = base
            elif one is not two:
                differing[root] = (one, two)
        self.heap.state = merged
        return differing

    def join_root(self, root: Var, var: Var, start: Atom, values: Sequence[Atom]) -> None:
        """Make ``var`` the latest value of a root: ``start`` before a region, then ``values``."""
        exclusive = all(map(self.heap.is_exclusive, values))
        spine = all(map(self.heap.owns_spine, values))
        self.heap.state.latest[root] = start
        self.changes.advance(
            root, var, self.heap.history.rebound_between(start, values),
            grown=self.heap.history.grown_between(start, values),
            content=self.heap.history.content_between(start, values),
            copied=bool(self.heap.history.copies_between(start, values)),
        )
        self.heap.state.exclusive[var] = exclusive
        self.heap.state.spines -= {var}
        self.heap.state.spines |= {var} if spine else set()

    def aliases_when_held(self, state: State, roots: Iterable[Var]) -> dict[Var, set[Var]]:
        """Return what may share storage in a state once some roots are not known by their parts."""
        now, self.heap.state = self.heap.state, state.copy()
        for root in roots:
            self.heap.hold_parts(root, self.heap.state.value(root))
        found, self.heap.state = self.heap.state.may_alias, now
        return found

    def hold_parts_in(self, states: Iterable[State], roots: Iterable[Var]) -> None:
        """Note in each of some arms what those roots hold that the arms leave different.

        Behind the region their parts are not known. Who had the roots alone still has.
        """
        now = self.heap.state
        for self.heap.state in states:
            for root in roots:
                value = self.heap.state.value(root)
                if self.heap.parts(value) is not None:
                    exclusive = self.heap.is_exclusive(value)
                    self.heap.hold_parts(root, value)
                    self.heap.state.exclusive[value] = exclusive
        self.heap.state = now

    def differing(self, a: State, b: State) -> list[Var]:
        """Return the roots outside of a branch that have different values after its arms."""
        kept = {root for root in a.choices if root in b.choices and self.heap.is_outer(root)}
        written_value = self.heap.history.written_value
        return [
            root for root in dict.fromkeys((*a.latest, *b.latest))
            if self.heap.is_outer(root) and root not in kept
            and written_value(a.value(root)) is not written_value(b.value(root))
        ]

    def alike(self, made: Sequence[tuple[Name, Sequence[Atom]]]) -> list[tuple[Name, Name]]:
        """Return the pairs among values that a region gives which may share storage.

        ``made`` lists the values with what each way through the region gives for them.
        """
        found = []
        for k, (one, ours) in enumerate(made):
            for other, theirs in made[:k]:
                for mine, his in zip(ours, theirs, strict=False):
                    near = {r for root in self.heap.roots(mine)
                            for r in (root, *self.heap.state.may_alias.get(root, ()))}
                    if near & set(self.heap.roots(his)):
                        found.append((one, other))
        return found

    def alias_alike(self, made: Sequence[tuple[Var, Sequence[Atom]]]) -> None:
        """Entangle values that a region gives, where what they may be shares storage."""
        for one, other in self.alike(made):
            self.heap.pair(one, other)


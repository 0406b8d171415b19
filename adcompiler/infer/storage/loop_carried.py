"""What a loop carries besides its variables: storage that its body writes into.

A loop is specialised on a guess, and again until the guess is right: which roots its body writes
(they become carried values), and which variables keep referring to one object (``x += y``), so
that nothing has to be carried for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir.nodes import Atom, Loop, Var
from adcompiler.infer.storage.loop_summaries import Iteration
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import State
from adcompiler.infer.storage.iterated_storage import Walked
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class Stores:
    """The carried values of a loop that stand for written roots."""

    params: list[Var] = field(default_factory=list)
    inits: list[Atom] = field(default_factory=list)
    yields: list[Atom] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)


class Carried(Walked):
    """What one loop carries: bound in each trial, and written once the guess is confirmed."""

    # -- one trial -----------------------------------------------------------------------------

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """Specialise one trial on a state of its own."""
        heap = self.heap
        if heap is None:
            yield
            return
        for root in self.unwritten:
            del self.roots[root]
        self.unwritten = set()
        before, settled = heap.state, heap.settled_level
        heap.state = self.entry.copy()
        heap.state.invalidated.asked = set()
        heap.settled_level = min(settled, heap.level)
        heap.level += 1
        length = len(heap.iterating)
        heap.iterating += [
            heap.reference(a) for a in self.flat
            if isinstance(a, Var) and is_mutable(self.s.unit.type(a))
        ]
        try:
            yield
        finally:
            before.invalidated.asked |= heap.state.invalidated.asked
            heap.state = before
            heap.settled_level = settled
            heap.level -= 1
            del heap.iterating[length:]

    def enter(self, params: list[Atom], items: tuple[Var, ...]) -> None:
        """Bind the carried values at the start of an iteration."""
        heap, s = self.heap, self.s
        if heap is None:
            return
        self.params = {}
        self.aliases_before = heap.joining.aliases_when_held(self.before, self.roots)
        for root, type_ in self.roots.items():
            start = heap.state.value(root)
            unsure, at = start in s.unit.unsure, self.node.origin
            param = s.joins.joined(Var(root.name, False), type_, unsure, at, (start,))
            s.unit.shapes[param] = s.unit.shape(root)
            self.params[root] = param
            heap.changes.advance(
                root, param, self.rebound.get(root), grown=self.grown.get(root, ()),
                content=root in self.content,
                copied=self.needs_copy(heap, root, start),
            )
            heap.levels[param] = heap.level
            self.own_as_guessed(heap, root, param)
            assert start is not param
        for i, value in enumerate(params):
            if i not in self.same and isinstance(value, Var) and value is not self.first[i]:
                if self.node.params[i] not in heap.live:
                    continue
                guess = self.own_params.setdefault(i, heap.owns(self.first[i]))
                heap.joining.adopt(value, (self.first[i],), aliases=[self.aliases_before])
                for root in self.reached.get(i, ()):
                    heap.alias(value, root)
                heap.state.exclusive[value] = guess
        for i, j in sorted(self.shared_params):
            one, two = params[i], params[j]
            if isinstance(one, Var) and isinstance(two, Var):
                heap.alias(one, two)
        for item in items:
            heap.levels[item] = heap.level

    def check_condition(self, node: Loop) -> None:
        """Refuse a condition that writes into storage."""
        heap = self.heap
        if heap is not None and any(
            heap.state.value(root) is not param for root, param in self.params.items()
        ):
            self.s.reject(
                node.origin, "the test of this loop writes into an array or container",
                "write at the end of the loop's body instead", "aliases",
            )

    def bind_what_was_seen(self) -> None:
        """Carry roots that the only trial of this pass was the first to see written, too."""
        if self.heap is None or self.exit is None:
            return
        for root, type_ in self.roots.items():
            if root not in self.params:
                self.params[root] = self.s.joins.joined(Var(root.name, False), type_, False)
                self.s.unit.shapes[self.params[root]] = self.s.unit.shape(root)

    # -- the loop as it ended up ---------------------------------------------------------------

    def inits(self) -> list[Atom]:
        """Return the initial values of the variables, copied where the body writes into them."""
        s, found = self.s, list(self.first)
        for i in sorted(self.copied):
            type_ = s.unit.type(found[i])
            assert self.heap is not None
            found[i] = self.heap.writing.copy_to_write(
                found[i], type_, self.node.params[i].name, self.node.origin
            )
        return found

    def finish(
        self, attempt: Iteration, results: Sequence[Atom], collects: Sequence[Var]
    ) -> Stores:
        """Return the carried values of written roots; the heap is as after the loop then."""
        heap = self.heap
        if heap is None or self.exit is None:
            return Stores()
        after = heap.state = self.entry.copy()
        after.invalidated, lost = self.lost_before.copy(), after.invalidated
        for root in self.params:
            heap.reading.bring_up_to_date(root, self.node.origin)
            if root in after.invalidated.keys() - self.lost_before.keys():
                # it holds what was written under another name before the loop
                heap.reading.refuse_lost(root, root, self.node.origin)
        after.invalidated = lost
        stores = self.carry_roots(heap, self.exit)
        heap.level += 1
        for root, others in self.exit.may_alias.items():
            for other in others:
                if heap.is_outer(root) and heap.is_outer(other):
                    after.may_alias.setdefault(root, set()).add(other)
        heap.level -= 1
        self.adopt_results(heap, self.exit, attempt.yields or (), results, collects)
        return stores

    def carry_roots(self, heap: Heap, exit_: State) -> Stores:
        """Return the carried values of roots, and make the loop's results their latest values."""
        unit, stores = self.s.unit, Stores()
        for root, param in self.params.items():
            if self.needs_copy(heap, root, heap.state.value(root)):
                heap.writing.copied(root, self.node.origin)
            init = heap.state.value(root)
            last = exit_.value(root)
            unsure = not unit.unsure.isdisjoint((param, last))
            at, arms = self.node.origin, (init, last)
            result = self.s.joins.joined(Var(root.name, False), self.roots[root], unsure, at, arms)
            unit.shapes[result] = unit.shape(root)
            stores.params.append(param)
            stores.inits.append(init)
            stores.yields.append(last)
            stores.results.append(result)
            heap.changes.advance(
                root, result, heap.history.rebound_between(param, (last,)),
                grown=heap.history.grown_between(param, (last,)),
                content=heap.history.content_between(param, (last,)),
                copied=bool(heap.history.copies_between(param, (last,))),
            )
            self.own_as_guessed(heap, root, result)
        return stores

    def needs_copy(self, heap: Heap, root: Var, start: Atom) -> bool:
        """Say whether a root is copied before the loop, which writes into it."""
        if root not in self.not_ours:
            return not heap.is_exclusive(start)
        return root not in self.lent and not heap.owns_spine(start)

    def own_as_guessed(self, heap: Heap, root: Var, value: Var) -> None:
        """Enter who holds the storage of a value that the loop carries for a root, or leaves."""
        heap.state.exclusive[value] = root not in self.not_ours
        heap.state.spines.discard(value)
        if root in self.not_ours - self.lent:
            heap.state.spines.add(value)

    def adopt_results(
        self, heap: Heap, exit_: State, yields: tuple[Atom, ...], results: Sequence[Atom],
        collects: Sequence[Var],
    ) -> None:
        """Enter what the loop gives for its variables, and the lists that it collects."""
        count = len(self.node.params)
        started: list[tuple[Var, tuple[Atom, ...]]] = []
        made: list[tuple[Var, tuple[Atom, ...]]] = []
        for i, value in enumerate(results):
            if isinstance(value, Var) and i not in self.same and value is not self.first[i] and (
                self.node.results[i] in heap.live
            ):
                sources = (self.first[i], yields[i]) if yields else (self.first[i],)
                self.adopt_result(heap, value, sources, self.first[i])
                heap.state.exclusive[value] = self.own_params.get(i, False)
                if yields and is_mutable(self.s.unit.type(value)):
                    started.append((value, (self.first[i],)))
                    made.append((value, (yields[i],)))
        pairs = heap.joining.alike(started)  # there may be no iteration
        before, heap.state = heap.state, exit_
        pairs += heap.joining.alike(made)
        heap.state = before
        for one, other in pairs:
            heap.alias(one, other)
        for collect, value in zip(collects, yields[count:], strict=False):
            self.adopt_result(heap, collect, (value,))

    def adopt_result(
        self, heap: Heap, result: Var, sources: Sequence[Atom], first: Atom | None = None
    ) -> None:
        """Enter a result of the loop, with what is still there of what it may share.

        It is ``first`` where there was no iteration, and nothing was done by it then.
        """
        assert self.exit is not None
        exclusive = all(self.owned(heap, source) for source in sources)
        heap.levels[result] = heap.level
        if not is_mutable(self.s.unit.type(result)):
            return
        heap.level += 1
        for source in sources:
            known = self.aliases_before if source is first else self.exit.may_alias
            for root in heap.roots(source):
                others = {root, *known.get(root, ())}
                for other in others:
                    if heap.is_outer(other) and other is not result:
                        heap.alias(result, other)
        heap.level -= 1
        heap.state.exclusive[result] = exclusive

    def owned(self, heap: Heap, atom: Atom) -> bool:
        """Say whether nobody else held a value at the end of the body."""
        assert self.exit is not None
        before, heap.state = heap.state, self.exit
        try:
            return heap.owns(atom)
        finally:
            heap.state = before

    def read_again(self, results: list[Atom], node: Loop) -> None:
        """Let variables that kept referring to one object refer to it after the loop."""
        heap = self.heap
        if heap is None:
            return
        for i in self.same:
            first = self.first[i]
            assert isinstance(first, Var)
            there = heap.reference(first)
            if there.at is heap.state.value(there.root):
                results[i] = first
            else:
                results[i] = heap.reading.read(
                    there, heap.state.value(there.root), node.origin, node.results[i].name)

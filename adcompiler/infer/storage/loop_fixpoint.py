"""The guess about what a loop writes and carries, and what each trial shows of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Loop, Var
from adcompiler.infer.interface import Env
from adcompiler.infer.storage.loop_summaries import Iteration, Seen, is_reference, rebinds_itself
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import State
from adcompiler.infer.storage.written_by_text import written_by_text
from adcompiler.infer.writer import Writer


class Settling:
    """What one loop carries, as far as the trials so far have shown.

    ``same`` holds the positions of variables that keep referring to one object; ``roots`` the
    roots that the body writes; ``not_ours`` those of them that it cannot write into in place,
    ``lent`` those of these that are no lists and dicts which only it refers to, and ``rebound`` the
    depth at which it gives slots of them other objects; ``grown`` the depths of lists in them whose
    end changes, ``content`` those whose objects change themselves.
    ``said`` are those of them that the text names, ``unwritten`` those of these that the last trial
    did not write. ``reshaped`` are the positions of carried arrays whose shapes may change.
    ``over`` are iterators that the loop runs over and that read storage; ``walked`` the
    positions of iterables that the body writes into: their items are read by position.
    """

    def __init__(
        self, s: Writer, node: Loop, inits: list[Atom], flat: list[Atom], over: list[Var], env: Env
    ) -> None:
        self.s = s
        self.node = node
        self.first = inits
        self.flat = list(flat)
        self.over = over
        self.heap: Heap | None = s.heap
        self.same: set[int] = set()
        self.said: set[Var] = set()
        self.unwritten: set[Var] = set()
        self.roots: dict[Var, t.Type] = {}
        self.not_ours: set[Var] = set()
        self.lent: set[Var] = set()
        self.rebound: dict[Var, int] = {}
        self.grown: dict[Var, set[int]] = {}
        self.content: set[Var] = set()
        self.values_written = False
        self.shared_params: set[tuple[int, int]] = set()
        self.reached: dict[int, dict[Var, None]] = {}
        self.walked: set[int] = set()
        self.position: Var | None = None
        self.params: dict[Var, Var] = {}
        self.own_params: dict[int, bool] = {}
        self.copied: set[int] = set()
        self.never: set[int] = set()
        self.written: set[int] = set()
        self.exit: State | None = None
        self.key = (node, tuple(s.unit.calls.sites))
        self.reshaped: set[int] = s.unit.loops.reshaped.setdefault(self.key, set())
        if self.heap is not None:
            self.entry = self.heap.state.copy()
            self.lost_before = self.entry.invalidated.copy()
            self.before = self.heap.state.copy()
            self.aliases_before: dict[Var, set[Var]] = {}
            memo = s.unit.loops.seen.get((self.heap, *self.key))
            for i, init in enumerate(inits):
                if init is not UNDEF and is_reference(s.unit.type(init)) and (
                    rebinds_itself(node, i)
                ):
                    self.same.add(i)
            if memo is not None:
                self.recall(self.heap, memo)
            else:
                self.read_text(self.heap, env)

    def read_text(self, heap: Heap, env: Env) -> None:
        """Begin with what the text of the body writes into."""
        kept = self.s.unit.loops.written
        written = kept.get(self.node)
        if written is None:
            written = kept[self.node] = written_by_text(self.node)
        named = [value for atom, value in env.items() if atom in written]
        named += [self.first[i] for i in sorted(self.same) if self.node.params[i] in written]
        if not written.isdisjoint(self.node.items):
            named += self.flat
        for atom in named:
            for root in heap.roots(atom):
                type_ = self.s.unit.type(heap.state.value(root))
                if root not in heap.state.choices and isinstance(type_, t.Array):
                    self.roots[root] = type_
        self.said, self.content = set(self.roots), set(self.roots)

    def recall(self, heap: Heap, memo: Seen) -> None:
        """Begin with what the loop was found to write when it was written last."""
        self.same &= memo.same
        for root in memo.roots:
            if heap.levels.get(root, 0) <= heap.settled_level:
                self.roots[root] = self.s.unit.type(heap.state.value(root))
        self.content = memo.content & self.roots.keys()
        self.rebound = {r: n for r, n in memo.rebound.items() if r in self.roots}
        self.grown = {r: n for r, n in memo.grown.items() if r in self.roots}
        self.copied, self.never = set(memo.copied), set(memo.never)
        for i, own in memo.own_params.items():
            if own and i not in memo.copied:
                if heap.owns(self.first[i]) or i not in memo.written:
                    continue  # as it is now
                self.copied.add(i)  # it was nobody else's the last time
            self.own_params[i] = own
        self.shared_params = set(memo.shared_params)
        self.walked = set(memo.walked)
        self.reached = {
            i: dict.fromkeys(self.near(self.first[j] for j in others))
            for i, others in memo.moves.items()
        }

    def guess_shapes(self, carried: Sequence[Atom]) -> None:
        """Let carried arrays have the shapes that they start with."""
        unit = self.s.unit
        for i, (var, init) in enumerate(zip(carried, self.first, strict=True)):
            if i not in self.reshaped and isinstance(var, Var) and var is not init and (
                isinstance(unit.type(var), t.Array) and unit.type(var) == unit.type(init)
            ):
                unit.shapes[var] = unit.shape(init)

    def settled_shapes(self, attempt: Iteration) -> bool:
        """Note which carried arrays have other shapes afterwards; say whether none has."""
        unit = self.s.unit
        changed = {
            i for i, (param, following) in enumerate(
                zip(attempt.params, attempt.yields or (), strict=False))
            if i not in self.reshaped and isinstance(unit.type(param), t.Array)
            and unit.shape(param) != unit.shape(following)
        }
        self.reshaped |= changed
        return not changed

    def settled(self, attempt: Iteration) -> bool:
        """Note what the trial has shown; say whether the guess it was made on is confirmed."""
        heap, s = self.heap, self.s
        if heap is None:
            return True
        self.exit = heap.state
        stable = True
        with s.writing_to(attempt.out):
            for root in self.params:
                heap.reading.bring_up_to_date(root, self.node.origin)
        written_value = heap.history.written_value
        for root, latest in heap.state.latest.items():
            if not heap.is_outer(root) or root in heap.state.choices or (
                written_value(latest) is written_value(self.entry.value(root))
                and root not in self.roots
            ):
                continue
            type_ = s.unit.type(latest)
            if root not in self.roots:
                self.roots[root] = t.join(s.unit.type(self.entry.value(root)), type_)
                stable = False
            elif t.join(self.roots[root], type_) != self.roots[root]:
                self.roots[root] = t.join(self.roots[root], type_)
                stable = False
            elif root in self.params and self.is_held(heap, root, latest):
                stable = False
        self.unwritten = {
            root for root in self.said if heap.state.value(root) is self.params[root]}
        self.said -= self.unwritten
        stable = stable and not self.unwritten
        for root, param in self.params.items():
            depth = heap.history.rebound_between(param, (heap.state.value(root),))
            if depth is not None and depth < self.rebound.get(root, depth + 1):
                self.rebound[root] = depth
                stable = False
            grown = heap.history.grown_between(param, (heap.state.value(root),))
            if not grown <= self.grown.get(root, set()):
                self.grown[root] = grown | self.grown.get(root, set())
                stable = False
            if root not in self.content and heap.history.content_between(
                param, (heap.state.value(root),)
            ):
                self.content.add(root)
                stable = False
        yields = attempt.yields
        if yields is not None:
            stable = self.settle_variables(attempt, yields) and stable
        for i, iterable in enumerate(self.flat):
            if isinstance(iterable, Var) and is_mutable(s.unit.type(iterable)) and (
                heap.reference(iterable).root in self.roots and i not in self.walked
            ) and isinstance(s.unit.type(iterable), (t.Array, t.List)):
                self.walked.add(i)
                stable = False
        stable = self.settle_aliases(heap) and stable
        s.unit.loops.seen[heap, *self.key] = Seen(
            set(self.same), [root for root in self.roots if root not in self.unwritten],
            set(self.content), dict(self.rebound), dict(self.grown), dict(self.own_params),
            set(self.copied), set(self.never), set(self.shared_params), set(self.walked),
            self.moves(heap), set(self.written),
        )
        return stable

    def is_held(self, heap: Heap, root: Var, latest: Atom) -> bool:
        """Note whether somebody else holds a root at the end of an iteration; say if that is new.
        """
        if root not in self.not_ours:
            if heap.is_exclusive(latest):
                return False
            self.not_ours.add(root)
            if not isinstance(self.s.unit.type(latest), (t.List, t.Dict)):
                self.lent.add(root)
            return True
        if root in self.lent or heap.owns_spine(latest):
            return False
        self.lent.add(root)
        return True

    def settle_variables(self, attempt: Iteration, yields: tuple[Atom, ...]) -> bool:
        heap, s = self.heap, self.s
        assert heap is not None
        stable = True
        for i in list(self.same):
            if heap.identity(yields[i]) != heap.identity(self.first[i]):
                self.same.discard(i)
                stable = False
        stable = self.settle_pairs(heap, yields) and stable
        for i, (param, following) in enumerate(zip(attempt.params, yields, strict=False)):
            if i in self.same or not isinstance(param, Var) or not is_mutable(s.unit.type(param)):
                continue
            if self.node.params[i] not in heap.live or i not in self.own_params:
                continue
            reached = self.reached.setdefault(i, {})
            for root in heap.roots(following):
                for other in (root, *heap.state.may_alias.get(root, ())):
                    if heap.is_outer(other) and other not in reached:
                        reached[other] = None
                        if other in heap.alias_sets.get(root, ()):
                            heap.may_be_one(param, other)
                        stable = stable and other in heap.state.may_alias.get(param, ())
            if param in heap.state.latest:
                self.written.add(i)
            guess = self.own_params.get(i, False)
            if not guess and i not in self.never and param in heap.state.latest:
                self.copied.add(i)
                self.own_params[i] = True
                stable = False
            elif guess and not heap.owns(following):
                self.own_params[i] = False
                self.copied.discard(i)
                self.never.add(i)
                stable = False
        return stable

    def near(self, atoms: Iterable[Atom]) -> Iterator[Var]:
        """Iterate over the roots of values in front of the loop, and what may alias them."""
        assert self.heap is not None
        for atom in atoms:
            for root in self.heap.roots(atom):
                yield root
                yield from self.entry.may_alias.get(root, ())

    def moves(self, heap: Heap) -> dict[int, list[int]]:
        """Return for each variable those of which it may refer to the first object later."""
        starts = {
            j: roots for j, first in enumerate(self.first) if (roots := set(heap.roots(first)))
        }
        return {
            i: [j for j, roots in starts.items() if j != i and roots <= reached.keys()]
            for i, reached in self.reached.items()
        }

    def settle_pairs(self, heap: Heap, yields: tuple[Atom, ...]) -> bool:
        """Let variables alias that start, or go on, as what may share storage."""
        carried = [i for i, param in enumerate(self.node.params) if (
            i not in self.same and param in heap.live and i < len(yields))]
        pairs = heap.joining.alike([(i, (yields[i],)) for i in carried])
        state, heap.state = heap.state, self.entry
        pairs += heap.joining.alike([(i, (self.first[i],)) for i in carried])
        heap.state = state
        stable = self.shared_params.issuperset(pairs)
        self.shared_params.update(pairs)
        return stable

    def settle_aliases(self, heap: Heap) -> bool:
        """Carry what may alias or is invalidated at an iteration's end to the start of the next."""
        stable = True
        for root, others in heap.state.may_alias.items():
            for other in others:
                if heap.is_outer(root) and heap.is_outer(other) and (
                    other not in self.entry.may_alias.get(root, ())
                ):
                    self.entry.may_alias.setdefault(root, set()).add(other)
                    stable = False
        for root, where in heap.state.invalidated.items():
            if heap.is_outer(root) and not self.entry.invalidated.holds(root):
                self.entry.invalidated[root] = where
                stable = stable and root not in heap.state.invalidated.asked
        return stable

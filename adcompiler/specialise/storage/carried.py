"""What a loop carries besides its variables: storage that its body writes into.

A loop is specialised on a guess, and again until the guess is right: which roots its body writes
(they become carried values), and which variables keep referring to one object (``x += y``), so
that nothing has to be carried for them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from adcompiler.analyses.storage import IN_PLACE, is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, If, Let, Loop, Origin, Statement, Step, Var,
)
from adcompiler.ir.visit import used
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.specialise.storage.heap import Heap
from adcompiler.specialise.storage.state import Reference, State
from adcompiler.specialise.writer import Writer


@dataclass(frozen=True, slots=True)
class Iteration:
    """One specialised iteration; ``yields`` is None if it always raises."""

    items: tuple[Var, ...]
    params: list[Atom]
    condition: Block | None
    out: list[Statement]
    yields: tuple[Atom, ...] | None


@dataclass(frozen=True, slots=True)
class Seen:
    """What a loop was found to write when it was written last: the first guess of another time.

    A loop inside of another is written once for each guess about the outer one. Without this it
    would begin anew each time, and the trials of loops inside of one another would multiply.
    """

    same: set[int]
    roots: list[Var]
    content: set[Var]
    rebound: dict[Var, int]
    grown: dict[Var, set[int]]


@dataclass(eq=False)
class Stores:
    """The carried values of a loop that stand for written roots."""

    params: list[Var] = field(default_factory=list)
    inits: list[Atom] = field(default_factory=list)
    yields: list[Atom] = field(default_factory=list)
    results: list[Var] = field(default_factory=list)


class Carried:
    """What one loop carries, as far as the trials so far have shown.

    ``same`` holds the positions of variables that keep referring to one object; ``roots`` the
    roots that the body writes; ``not_ours`` those of them that it cannot write into in place, and
    ``rebound`` the depth at which it gives slots of them other objects; ``grown`` the
    depths of lists in them whose end changes, ``content`` those whose objects change themselves.
    ``reshaped`` are the positions of carried arrays whose shapes may change.
    ``over`` are iterators that the loop runs over and that read storage; ``walked`` the
    positions of iterables that the body writes into: their items are read by position.
    """

    def __init__(
        self, s: Writer, node: Loop, inits: list[Atom], flat: list[Atom], over: list[Var]
    ) -> None:
        self.s = s
        self.node = node
        self.first = inits
        self.flat = list(flat)
        self.over = over
        self.heap: Heap | None = s.heap
        self.same: set[int] = set()
        self.roots: dict[Var, t.Type] = {}
        self.not_ours: set[Var] = set()
        self.rebound: dict[Var, int] = {}
        self.grown: dict[Var, set[int]] = {}
        self.content: set[Var] = set()
        self.values_written = False
        self.shared_params: set[int] = set()
        self.reached: dict[int, dict[Var, None]] = {}
        self.walked: set[int] = set()
        self.position: Var | None = None
        self.params: dict[Var, Var] = {}
        self.own_params: dict[int, bool] = {}
        self.copied: set[int] = set()
        self.never: set[int] = set()
        self.exit: State | None = None
        self.key = (node, tuple(s.unit.call_sites))
        self.reshaped: set[int] = s.unit.reshaped.setdefault(self.key, set())
        if self.heap is not None:
            self.entry = self.heap.state.copy()
            self.lost_before = dict(self.entry.invalidated)
            memo = s.unit.loops_seen.get((self.heap, *self.key))
            for i, init in enumerate(inits):
                if init is not UNDEF and is_reference(s.unit.type(init)) and (
                    rebinds_itself(node, i)
                ):
                    self.same.add(i)
            if memo is not None:
                self.same &= memo.same
                for root in memo.roots:
                    if self.heap.levels.get(root, 0) <= self.heap.settled_level:
                        self.roots[root] = s.unit.type(self.heap.state.value(root))
                self.content = memo.content & self.roots.keys()
                self.rebound = {r: n for r, n in memo.rebound.items() if r in self.roots}
                self.grown = {r: n for r, n in memo.grown.items() if r in self.roots}

    # -- one trial -----------------------------------------------------------------------------

    @contextmanager
    def iteration(self) -> Iterator[None]:
        """Specialise one trial on a state of its own."""
        heap = self.heap
        if heap is None:
            yield
            return
        before, settled = heap.state, heap.settled_level
        heap.state = self.entry.copy()
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
        for root, type_ in self.roots.items():
            param = Var(root.name, False)
            s.unit.types[param] = type_
            s.unit.merged.add(param)
            s.unit.shapes[param] = s.unit.shape_class(root)
            self.params[root] = param
            start = heap.state.value(root)
            heap.advance(
                root, param, self.rebound.get(root), grown=self.grown.get(root, ()),
                content=root in self.content,
            )
            heap.levels[param] = heap.level
            heap.state.exclusive[param] = root not in self.not_ours
            assert start is not param
        for i, value in enumerate(params):
            if i not in self.same and isinstance(value, Var) and value is not self.first[i]:
                if self.node.params[i] not in heap.live:
                    continue
                guess = self.own_params.setdefault(i, heap.owns(self.first[i]))
                heap.adopt(value, (self.first[i],))
                for root in self.reached.get(i, ()):
                    heap.alias(value, root)
                heap.state.exclusive[value] = guess
        shared = sorted(self.shared_params)
        for i, j in itertools.combinations(shared, 2):
            one, two = params[i], params[j]
            if isinstance(one, Var) and isinstance(two, Var):
                heap.alias(one, two)
        for item in items:
            heap.levels[item] = heap.level

    def items(self, items: tuple[Var, ...], origin: Origin) -> list[Atom]:
        """Return the items of an iteration: references into what is iterated over."""
        heap, s = self.heap, self.s
        if heap is None:
            return list(items)
        found: list[Atom] = []
        self.check_iterables(heap, origin)
        for i, (item, iterable) in enumerate(zip(items, self.flat, strict=True)):
            found.append(item)
            type_ = s.unit.type(iterable)
            if not isinstance(iterable, Var) or isinstance(type_, (t.Range, t.Text)):
                continue
            if not (i in self.walked or is_mutable(s.unit.type(item))):
                continue
            if not isinstance(type_, (t.Array, t.List, t.Tuple)):
                if is_mutable(s.unit.type(item)) and not isinstance(type_, t.Dict):
                    heap.join(item, iterable)
                continue
            if self.position is None:
                self.position = Var("position", False)
                s.unit.types[self.position] = t.INT
            there = heap.reference(iterable)
            step = Step("item", args=(self.position,))
            if i in self.walked:
                found[i] = heap.read(
                    Reference(there.root, (*there.steps, step), iterable),
                    heap.state.value(there.root), origin, item.name,
                )
            elif heap.parts(iterable) is not None or isinstance(type_, t.Tuple):
                heap.join(item, iterable)
            else:
                heap.references[item] = Reference(
                    there.root, (*there.steps, step), heap.state.value(there.root)
                )
        return found

    def check_iterables(self, heap: Heap, origin: Origin) -> None:
        """Report what the loop runs over if an iteration before this one changed it unseen."""
        for iterable in dict.fromkeys((*self.over, *self.flat)):
            if not isinstance(iterable, Var) or not is_mutable(self.s.unit.type(iterable)):
                continue
            made = self.s.unit.definition(iterable)
            viewed = made.func.value if isinstance(made, Call) and (
                isinstance(made.func, Const)) else None
            if viewed is dict_keys:
                continue  # a loop over a dict may change its values, not its keys
            root = heap.reference(iterable).root
            changed = iterable in self.flat and root in heap.state.invalidated
            for source in (*heap.behind.get(root, ()), *heap.derived_of.get(root, ())):
                if heap.derived.get(source, {}).get(root, False):  # only its slots matter
                    written = source in self.rebound or bool(self.grown.get(source))
                else:
                    written = source in self.roots
                if written:
                    heap.state.invalidated.setdefault(root, (origin, source))
                changed |= written
            self.values_written |= changed and viewed is dict_values
            if changed:
                heap.refuse_lost(iterable, root, origin)

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

    def guess_shapes(self, carried: Sequence[Atom]) -> None:
        """Let carried arrays have the shapes that they start with."""
        unit = self.s.unit
        for i, (var, init) in enumerate(zip(carried, self.first, strict=True)):
            if i not in self.reshaped and isinstance(var, Var) and var is not init and (
                isinstance(unit.type(var), t.Array) and unit.type(var) == unit.type(init)
            ):
                unit.shapes[var] = unit.shape_class(init)

    def settled_shapes(self, attempt: Iteration) -> bool:
        """Note which carried arrays have other shapes afterwards; say whether none has."""
        unit = self.s.unit
        changed = {
            i for i, (param, following) in enumerate(
                zip(attempt.params, attempt.yields or (), strict=False))
            if i not in self.reshaped and isinstance(unit.type(param), t.Array)
            and unit.shape_class(param) != unit.shape_class(following)
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
                heap.bring_up_to_date(root, self.node.origin)
        for root, latest in heap.state.latest.items():
            if not heap.is_outer(root) or root in heap.state.choices or (
                heap.written_value(latest) is heap.written_value(self.entry.value(root))
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
            elif root in self.params and root not in self.not_ours and (
                not heap.is_exclusive(latest)
            ):
                self.not_ours.add(root)
                stable = False
        for root, param in self.params.items():
            depth = heap.rebound_between(param, (heap.state.value(root),))
            if depth is not None and depth < self.rebound.get(root, depth + 1):
                self.rebound[root] = depth
                stable = False
            grown = heap.grown_between(param, (heap.state.value(root),))
            if not grown <= self.grown.get(root, set()):
                self.grown[root] = grown | self.grown.get(root, set())
                stable = False
            if root not in self.content and heap.content_between(param, (heap.state.value(root),)):
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
        s.unit.loops_seen[heap, *self.key] = Seen(
            set(self.same), list(self.roots), set(self.content), dict(self.rebound),
            dict(self.grown),
        )
        return stable

    def settle_variables(self, attempt: Iteration, yields: tuple[Atom, ...]) -> bool:
        heap, s = self.heap, self.s
        assert heap is not None
        stable = True
        for i in list(self.same):
            if heap.identity(yields[i]) != heap.identity(self.first[i]):
                self.same.discard(i)
                stable = False
        seen: dict[object, int] = {}
        stable = self.settle_starts(heap) and stable
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
                if root in seen and seen[root] != i and not {i, seen[root]} <= self.shared_params:
                    self.shared_params |= {i, seen[root]}
                    stable = False
                seen[root] = i
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

    def settle_starts(self, heap: Heap) -> bool:
        """Entangle variables that start as one object, or as what may share storage."""
        seen: dict[Var, int] = {}
        stable = True
        for i, first in enumerate(self.first):
            if i in self.same or self.node.params[i] not in heap.live:
                continue
            for root in heap.roots(first):
                for other in (root, *self.entry.may_alias.get(root, ())):
                    pair = {i, seen.setdefault(other, i)}
                    if not pair <= self.shared_params and len(pair) > 1:
                        self.shared_params |= pair
                        stable = False
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
            if heap.is_outer(root) and root not in self.entry.invalidated:
                self.entry.invalidated[root] = where
                stable = False
        return stable

    # -- the loop as it ended up ---------------------------------------------------------------

    def inits(self) -> list[Atom]:
        """Return the initial values of the variables, copied where the body writes into them."""
        s, found = self.s, list(self.first)
        for i in sorted(self.copied):
            type_ = s.unit.type(found[i])
            assert self.heap is not None
            found[i] = self.heap.copy_to_write(
                found[i], type_, self.node.params[i].name, self.node.origin
            )
        return found

    def sequences(
        self, items: tuple[Var, ...], flat: list[Atom], out: list[Statement],
        yields: tuple[Atom, ...],
    ) -> tuple[tuple[Var, ...], list[Atom]]:
        """Return what the loop runs over: positions where items are read by them."""
        s = self.s
        position = self.position
        if position is None or self.exit is None:
            return items, flat
        if not self.walked and position not in used(Block(tuple(out), yields)):
            return items, flat
        kept_items = [position]
        kept: list[Atom] = []
        origin = self.node.origin
        if self.walked:
            walked = dict.fromkeys(self.flat[i] for i in sorted(self.walked))
            lengths = [s.let(Call(Const(len), (w,)), t.INT, "count", origin) for w in walked]
            length = lengths[0] if len(lengths) == 1 else s.let(
                Call(Const(min), tuple(lengths)), t.INT, "count", origin)
            kept.append(s.let(Call(Const(range), (length,)), t.RANGE, "positions", origin))
        else:
            kept.append(s.let(
                Call(Const(itertools.count), (Const(0),)), t.UNKNOWN, "count", origin))
        for i, (item, sequence) in enumerate(zip(items, flat, strict=True)):
            if i not in self.walked:
                kept_items.append(item)
                kept.append(sequence)
        return tuple(kept_items), kept

    def finish(
        self, attempt: Iteration, results: Sequence[Atom], collects: Sequence[Var]
    ) -> Stores:
        """Return the carried values of written roots; the heap is as after the loop then."""
        heap, s = self.heap, self.s
        stores = Stores()
        if heap is None or self.exit is None:
            return stores
        after = self.entry.copy()
        heap.state = after
        after.invalidated, lost = dict(self.lost_before), after.invalidated
        for root in self.params:
            heap.bring_up_to_date(root, self.node.origin)
            if root in after.invalidated.keys() - self.lost_before.keys():
                # it holds what was written under another name before the loop
                heap.refuse_lost(root, root, self.node.origin)
        after.invalidated = lost
        for root, param in self.params.items():
            if root not in self.not_ours and not heap.is_exclusive(heap.state.value(root)):
                heap.copied(root, self.node.origin)
            init = heap.state.value(root)
            last = self.exit.value(root)
            result = Var(root.name, False)
            s.unit.types[result] = self.roots[root]
            s.unit.merged.add(result)
            s.unit.shapes[result] = s.unit.shape_class(root)
            stores.params.append(param)
            stores.inits.append(init)
            stores.yields.append(last)
            stores.results.append(result)
            heap.advance(
                root, result, heap.rebound_between(param, (last,)),
                grown=heap.grown_between(param, (last,)),
                content=heap.content_between(param, (last,)),
            )
            heap.state.exclusive[result] = root not in self.not_ours
        heap.level += 1
        for root, others in self.exit.may_alias.items():
            for other in others:
                if heap.is_outer(root) and heap.is_outer(other):
                    after.may_alias.setdefault(root, set()).add(other)
        heap.level -= 1
        yields = attempt.yields or ()
        count = len(self.node.params)
        made: list[tuple[Var, tuple[Atom, ...]]] = []
        for i, value in enumerate(results):
            if isinstance(value, Var) and i not in self.same and value is not self.first[i] and (
                self.node.results[i] in heap.live
            ):
                sources = (self.first[i], yields[i]) if yields else (self.first[i],)
                self.adopt_result(heap, value, sources)
                heap.state.exclusive[value] = self.own_params.get(i, False)
                if yields and is_mutable(s.unit.type(value)):
                    made.append((value, (yields[i],)))
        before, heap.state = heap.state, self.exit
        pairs = heap.alike(made)
        heap.state = before
        for one, other in pairs:
            heap.alias(one, other)
        for collect, value in zip(collects, yields[count:], strict=False):
            self.adopt_result(heap, collect, (value,))
        return stores

    def adopt_result(self, heap: Heap, result: Var, sources: Sequence[Atom]) -> None:
        """Enter a result of the loop, with what is still there of what it may share."""
        assert self.exit is not None
        exclusive = all(self.owned(heap, source) for source in sources)
        heap.levels[result] = heap.level
        if not is_mutable(self.s.unit.type(result)):
            return
        heap.level += 1
        for source in sources:
            for root in heap.roots(source):
                others = {root, *self.exit.may_alias.get(root, ())}
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
                results[i] = heap.read(
                    there, heap.state.value(there.root), node.origin, node.results[i].name)


def is_reference(type_: t.Type) -> bool:
    """Say whether in-place operators write into values of this type."""
    return isinstance(type_, (t.Array, t.List, t.Dict, t.Object, t.Unknown))


def rebinds_itself(node: Loop, i: int) -> bool:
    """Say whether the text of a loop's body may leave a variable referring to what it did."""
    if i >= len(node.next_values()):
        return False
    return leads_back(node.next_values()[i], node.params[i], node.body)


def leads_back(atom: Atom, param: Var, body: Block) -> bool:
    if atom is param:
        return True
    for statement in body.statements:
        match statement:
            case Let(target, Call(kwargs=kwargs)) if target is atom and "out" in dict(kwargs):
                return leads_back(dict(kwargs)["out"], param, body)
            case Let(target, Call(Const(function), (old, _)), _) if target is atom:
                return function in IN_PLACE and leads_back(old, param, body)  # type: ignore[arg-type]
            case If(results=results) if atom in results:
                k = results.index(atom)
                return all(
                    arm.diverges or leads_back(
                        arm.yields[k], param, Block((*body.statements, *arm.statements)))
                    for arm in (statement.then, statement.orelse)
                )
            case Loop(results=results) if atom in results:
                k = results.index(atom)
                return leads_back(statement.inits[k], param, body) and leads_back(
                    statement.next_values()[k], statement.params[k], statement.body
                )
    return False

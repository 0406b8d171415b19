"""Branches while specialising: the arm that is known to be taken, or both and what joins them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.try_statements import InParts
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Block, Const, If, Origin, Statement, Var
from adcompiler.runtime.reading import RAISED, attempted
from adcompiler.infer.calls.chosen import one_of_functions
from adcompiler.infer.calls.operator_methods import truth_of_instance
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.joins import same
from adcompiler.infer.storage.selects import (
    Place, handed_out, one_of, places_of_arms, truth_of,
)
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import Reference, State
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class Joined:
    """What the results of a branch are made of.

    ``kept`` are the variables that it defines, with what its arms yield; ``adopted`` those of them
    that the heap has to learn of. Results in ``chosen`` are one of two objects that were there
    before, ``again`` are read again after the branch.
    """

    kept: dict[Var, tuple[Atom, Atom]] = field(default_factory=dict)
    adopted: list[tuple[Var, Atom, Atom]] = field(default_factory=list)
    chosen: dict[int, tuple[tuple[Place, Place], Atom]] = field(default_factory=dict)
    again: dict[int, Reference] = field(default_factory=dict)


class Branches:
    """Writes branches with the operations ``s``."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit

    def branch(self, node: If, env: Env, scope: Scope | None) -> bool:
        """Write a branch, or the arm that its condition is known to choose."""
        condition = self.condition(node, env)
        if isinstance(condition, Const):
            chosen = node.then if condition.value else node.orelse
            yields = self.s.block(chosen, env, scope, True)
            if yields is None:
                return False
            env.update(zip(node.results, yields, strict=True))
            for result, value in zip(node.results, yields, strict=True):
                self.s.check_once(result, value, node.origin)
            return True
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]] = []
        states = []
        for arm in (node.then, node.orelse):
            alone = any(yields is None for _, yields in arms)
            with self.s.writing_to([]) as out, self.s.region_of_heap(alone) as state, (
                self.s.may_not_run()
            ):
                arms.append((out, self.s.block(arm, dict(env), scope, True)))
                states.append(state())
        results = self.merge(node, arms, condition, states)
        if results is None:
            return False
        env.update(zip(node.results, results, strict=True))
        for result, value in zip(node.results, results, strict=True):
            self.s.check_once(result, value, node.origin)
        return True

    def either(
        self, condition: Atom, first: Callable[[], Atom], second: Callable[[], Atom | None],
        origin: Origin, name: str,
    ) -> Atom:
        """Write a branch on ``condition`` of what ``first`` and ``second`` write; its result.

        What raises gives None.
        """
        condition = self.truth(condition, origin)
        if isinstance(condition, Const):
            return (first() if condition.value else second()) or UNDEF
        result = Var(name, True)
        if self.s.heap is not None:
            self.s.heap.live |= {result}
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]] = []
        states = []
        for write in (first, second):
            with self.s.writing_to([]) as out, self.s.region_of_heap() as state:
                value = write()
                if value is not None and self.s.heap is not None:
                    value = self.s.heap.reading.current(value, origin)
                arms.append((out, None if value is None else (value,)))
                states.append(state())
        node = If(condition, Block(()), Block(()), (result,), origin)
        found = self.merge(node, arms, condition, states)
        return UNDEF if found is None else found[0]

    def condition(self, node: If, env: Env) -> Atom:
        """Return the condition of a branch, as a constant if it is known."""
        if isinstance(node.condition, Const) and isinstance(node.condition.value, InParts):
            return Const(node.origin not in self.unit.settings.chosen)
        return self.truth(self.s.value(node.condition, env), node.origin)

    def truth(self, atom: Atom, origin: Origin) -> Atom:
        """Return the condition ``atom`` as a constant if its truth is known."""
        if isinstance(atom, Const):
            known = attempted(bool, atom.value)
            return atom if known is RAISED else Const(known)
        if atom in self.unit.truths:
            return Const(self.unit.truths[atom])
        type_ = self.unit.type(atom)
        if isinstance(type_, (t.FunctionType, t.Method)):
            return Const(True)
        if isinstance(type_, t.Tuple):
            return Const(bool(type_.items))
        if isinstance(type_, t.Object):
            return truth_of_instance(self.s, atom, type_, origin)
        return atom

    def truth_in_arm(self, atom: Atom, condition: Atom, chosen: bool) -> bool | None:
        """Return the truth of a value in an arm of a branch, None if it is not known.

        In its arms the condition itself is true, and false: ``c and False`` is false.
        """
        if atom is condition:
            return chosen
        known = self.unit.truths.get(atom)
        simple = isinstance(atom, Const) and (atom.value is None or type(atom.value) in t.OPTIONS)
        return bool(getattr(atom, "value", None)) if simple else known

    def merge(
        self, node: If, arms: list[tuple[list[Statement], tuple[Atom, ...] | None]],
        condition: Atom, states: Sequence[State | None],
    ) -> list[Atom] | None:
        """Write an If of two specialised arms; return the atoms of its results."""
        (then_out, then), (else_out, orelse) = arms
        heap = self.s.heap
        if heap is not None and (then is None or orelse is None):
            survivor = states[0] if orelse is None else states[1]
            assert survivor is not None
            heap.state = survivor
        if then is None and orelse is not None:  # a guard: what follows it need not be nested
            guard = Block(tuple(then_out), (), True)
            self.s.out.append(If(condition, guard, Block(()), (), node.origin))
            self.s.out.extend(else_out)
            self.s.level_out(else_out)
            return list(orelse)
        if orelse is None and then is not None:
            guard = Block(tuple(else_out), (), True)
            self.s.out.append(If(condition, Block(()), guard, (), node.origin))
            self.s.out.extend(then_out)
            self.s.level_out(then_out)
            return list(then)
        if then is None or orelse is None:
            one, two = (Block(tuple(out), (), True) for out in (then_out, else_out))
            self.s.out.append(If(condition, one, two, (), node.origin))
            return None
        joined = Joined()
        results = [
            self.join_result(node, index, then[index], orelse[index], arms, states, joined)
            for index in range(len(node.results))
        ]
        for result, a, b in zip(results, then, orelse, strict=True):
            pairs = ((a, True), (b, False))
            truths = {self.truth_in_arm(atom, condition, chosen) for atom, chosen in pairs}
            if len(truths) == 1 and None not in truths and isinstance(result, Var):
                self.unit.truths[result] = bool(truths.pop())
        kept = joined.kept
        if heap is not None:
            assert states[0] is not None and states[1] is not None
            kept.update(self.merge_heap(
                heap, states[0], states[1], joined.adopted, then_out, else_out, node.origin))
        self.s.out.append(If(
            condition, Block(tuple(then_out), tuple(a for a, _ in kept.values())),
            Block(tuple(else_out), tuple(b for _, b in kept.values())), tuple(kept), node.origin,
        ))
        for index, (pair, like) in joined.chosen.items():
            assert heap is not None
            condition = truth_of(self.s, condition, node.origin)
            results[index] = one_of(
                self.s, heap, condition, pair, like, node.results[index].name, node.origin)
        for index, there in joined.again.items():
            assert heap is not None
            latest = heap.state.value(there.root)
            results[index] = heap.reading.read(there, latest, node.origin, node.results[index].name)
        return results

    def join_result(
        self, node: If, index: int, a: Atom, b: Atom,
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]],
        states: Sequence[State | None], joined: Joined,
    ) -> Atom:
        """Return the result that is ``a`` or ``b``; what is to be done for it goes to ``joined``.

        What is written after the branch is UNDEF.
        """
        heap, result = self.s.heap, node.results[index]
        if same(a, b):
            return a
        if heap is not None and heap.is_same_object(a, b):
            assert isinstance(a, Var)
            joined.again[index] = heap.reference(a)
            return UNDEF
        type_ = t.join(self.unit.type(a), self.unit.type(b))
        flag = self.s.joins.bound_flag(result, (a, b))
        if flag is not None:
            joined.kept[flag] = self.s.joins.flagged(a), self.s.joins.flagged(b)
            return flag
        if isinstance(type_, t.Static):
            return Const(type_.value)
        unsure = self.s.joins.is_unsure(a) or self.s.joins.is_unsure(b)
        var = self.s.joins.joined(result, type_, unsure, node.origin, (a, b))
        self.s.joins.has_shape_of_arms(var, (a, b))
        if isinstance(type_, (t.Unknown, t.FunctionType)):
            which = one_of_functions(
                self.s, var, [(a, arms[0][0]), (b, arms[1][0])], node.origin)
            if which is not None:
                joined.kept[which[0]] = which[1]
        a = self.s.joins.unflagged(a, var, arms[0][0], node.origin)
        b = self.s.joins.unflagged(b, var, arms[1][0], node.origin)
        if self.unit.iterators.one_shot & {a, b}:
            self.unit.iterators.one_shot.add(var)
        places = self.choice(heap, node, index, (a, b), states)
        if places is not None:
            joined.chosen[index] = places, a
            joined.kept.update(handed_out(places[0], b, self.unit.elements(b), True))
            joined.kept.update(handed_out(places[1], a, self.unit.elements(a), False))
            return var
        joined.kept[var] = (a, b)
        if heap is None or result in heap.live:
            joined.adopted.append((var, a, b))
        return var

    def choice(
        self, heap: Heap | None, node: If, index: int, arms: tuple[Atom, Atom],
        states: Sequence[State | None],
    ) -> tuple[Place, Place] | None:
        """Return where two values lie that a result is one of, None if that is not kept apart.

        That is done where something would be refused otherwise.
        """
        if heap is None or node.results[index] not in heap.live:
            return None
        places = places_of_arms(self.s, heap, arms, states)
        if places is None:
            return None
        key = (node.origin, index)
        self.unit.writes.merges.add(key)
        return places if key in self.unit.settings.chosen else None

    def written_either(
        self, atom: Var, origin: Origin, write: Callable[[Var], object]
    ) -> bool:
        """Write a store into a value that is one of two as a branch; False if it is not."""
        heap = self.s.heap
        if heap is None:
            return False
        there = heap.reference(atom)
        choice = heap.state.choices.get(there.root)
        if choice is None:
            return False
        for root in heap.behind[there.root]:
            if root not in heap.state.choices and root not in heap.state.invalidated:
                heap.writing.exclusive_value(root, origin)
        arms, states = [], []
        for place in choice.alternatives:
            with self.s.writing_to([]) as out, self.s.region_of_heap() as state:
                steps = (*place.steps, *there.steps)
                part = heap.reading.part_again(
                    Reference(place.root, steps, place.at), origin, atom.name)
                if isinstance(part, Var):
                    write(part)
                arms.append(out)
                states.append(state())
        assert states[0] is not None and states[1] is not None
        kept = self.merge_heap(heap, states[0], states[1], [], arms[0], arms[1], origin)
        self.s.out.append(If(
            choice.condition, Block(tuple(arms[0]), tuple(a for a, _ in kept.values())),
            Block(tuple(arms[1]), tuple(b for _, b in kept.values())), tuple(kept), origin,
        ))
        return True

    def merge_heap(
        self, heap: Heap, then: State, orelse: State, adopted: list[tuple[Var, Atom, Atom]],
        then_out: list[Statement], else_out: list[Statement], origin: Origin,
    ) -> dict[Var, tuple[Atom, Atom]]:
        """Join what two arms did to storage; return variables for the roots that differ."""
        before = heap.state
        heap.level += 1
        written = [root for root in {**then.latest, **orelse.latest} if heap.is_outer(root)]
        for state, out in ((then, then_out), (orelse, else_out)):
            heap.state = state
            with self.s.writing_to(out):
                for root in written:
                    heap.reading.bring_up_to_date(root, origin)
        heap.joining.hold_parts_in((then, orelse), heap.joining.differing(then, orelse))
        owned = [
            heap.owned_in(then, a) and heap.owned_in(orelse, b) for _, a, b in adopted
        ]
        differing = heap.joining.merge(then, orelse)
        for (var, a, b), ours in zip(adopted, owned, strict=True):
            heap.joining.adopt(var, (a, b), ours, [then.may_alias, orelse.may_alias])
        heap.joining.alias_alike([
            (var, (a, b)) for var, a, b in adopted if is_mutable(self.unit.type(var))
        ])
        heap.level -= 1
        results: dict[Var, tuple[Atom, Atom]] = {}
        for root, (a, b) in differing.items():
            type_ = t.join(self.unit.type(a), self.unit.type(b))
            var = self.s.joins.joined(root, type_, False)
            self.unit.shapes[var] = self.unit.shape(root)
            heap.joining.join_root(root, var, before.value(root), (a, b))
            results[var] = (a, b)
        for var, _, _ in adopted:
            heap.levels[var] = heap.level
        return results

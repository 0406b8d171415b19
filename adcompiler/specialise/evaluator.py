"""Specialises IR on types: what types decide is decided here, calls of user functions are opened.

The result is again IR, with the type of every variable known (or known to be unknown) in the
tables of the ``Unit``. A branch whose condition is a compile-time value is replaced by its arm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.attempts import InParts
from adcompiler.frontend.rewriting.classes import class_made
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Attribute, Block, Call, Closure, Const, Do, Format, Free, If, Item, Let, Loop,
    Origin, Pack, Raise, Rhs, Slice, Star, Statement, substitute, Try, Unsupported, Var, With,
)
from adcompiler.ir.visit import substitute_statement
from adcompiler.runtime import check_bound, store_global, told
from adcompiler.specialise.access import Access
from adcompiler.specialise.calls.binding import plain_call
from adcompiler.specialise.calls.chosen import one_of_functions
from adcompiler.specialise.calls.dispatch import call
from adcompiler.specialise.calls.libraries import call_of_package, is_of_package
from adcompiler.specialise.calls.telling import is_told
from adcompiler.specialise.displays import Displays
from adcompiler.specialise.early import at_once, refuse_early
from adcompiler.specialise.folds.iterator import computes_items, gives_items, makes_iterator
from adcompiler.specialise.global_state import store
from adcompiler.specialise.interface import Env
from adcompiler.specialise.joined import Joined
from adcompiler.specialise.local_classes import local_class
from adcompiler.specialise.loops import Loops
from adcompiler.specialise.objects import written_super
from adcompiler.specialise.regions import Regions
from adcompiler.specialise.storage.choices import (
    Place, handed_out, one_of, places_of_arms, truth_of,
)
from adcompiler.specialise.storage.heap import Heap
from adcompiler.specialise.storage.state import Reference, State
from adcompiler.specialise.truths import Truths


class Specialiser(Loops, Regions, Displays, Access, Truths):
    """Evaluates IR over types and writes the specialised statements to ``out``."""

    # -- blocks and statements -----------------------------------------------------------------

    def block(
        self, block: Block, env: Env, scope: Scope | None, carried: bool = False
    ) -> tuple[Atom, ...] | None:
        """Write the statements of ``block``; return what it yields, None if it always raises.

        What is ``carried`` on to variables may be unbound.
        """
        for statement in block.statements:
            if not self.statement(statement, env, scope) or self.has_raised():
                return None
        if block.diverges:
            return None
        read = self.carried_value if carried else self.value
        return tuple(read(atom, env) for atom in block.yields)

    def statement(self, statement: Statement, env: Env, scope: Scope | None) -> bool:
        """Write one statement; return False if control never passes it."""
        self.at = getattr(statement, "origin", self.at)
        if self.at is not None:
            sites = self.unit.calls.sites
            entered = call_of_package(sites) if sites and is_of_package(self.at.file) else None
            self.unit.settings.budget.spend(self.at, sites, entered)
        match statement:
            case Let(target, rhs, origin):
                env[target] = self.rhs(rhs, env, scope, origin, target.name, target.temporary)
                self.check_once(target, env[target], origin)
            case Do(Call(Const(function), (name, value)), origin) if function is store_global:
                assert isinstance(name, Const) and not isinstance(value, Star)
                store(self, name.value, self.value(value, env), scope, origin)
            case Do(Call(Const(function), (Var() as variable, *how)), origin) if (
                function is check_bound and env[variable] in self.unit.if_bound
            ):
                flag = env[variable]
                self.out.append(Do(Call(Const(check_bound), (flag, *how)), origin))
                env[variable] = self.unit.if_bound[flag]
            case Do(Call(Const(function), (Var() as variable, *_))) if (
                function is check_bound and self.in_emitted and isinstance(env[variable], Var)
                and env[variable] not in self.unit.unsure
            ):
                pass  # emitted code says itself where a value may be missing; None is one
            case Do(Call(func, args, kwargs), origin) if is_told(self, self.value(func, env)):
                values, named = self.arguments(args, kwargs, env, origin, func)
                parts = [self.value(func, env), *values]
                self.out.append(Do(plain_call(Const(told), parts, named), origin))
            case Do(rhs, origin):
                value = self.rhs(rhs, env, scope, origin, "ignored", True)
                last = self.out[-1] if self.out else None
                if isinstance(last, Let) and last.target is value and not (
                    self.heap is not None and self.heap.is_latest(value)
                ):
                    self.out[-1] = Do(last.rhs, last.origin)
            case Raise(exception, cause, origin):
                self.out.append(Raise(self.value(exception, env), self.value(cause, env), origin))
                return False
            case Unsupported(finding):
                self.report(finding)
            case If():
                return self.branch(statement, env, scope)
            case Loop():
                self.loop(statement, env, scope)
            case With():
                return self.context(statement, env, scope)
            case Try():
                return self.attempt(statement, env, scope)
        return True

    def branch(self, node: If, env: Env, scope: Scope | None) -> bool:
        """Write a branch, or the arm that its condition is known to choose."""
        condition = self.condition(node, env)
        if isinstance(condition, Const):
            chosen = node.then if condition.value else node.orelse
            yields = self.block(chosen, env, scope, True)
            if yields is None:
                return False
            env.update(zip(node.results, yields, strict=True))
            for result, value in zip(node.results, yields, strict=True):
                self.check_once(result, value, node.origin)
            return True
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]] = []
        states = []
        for arm in (node.then, node.orelse):
            alone = any(yields is None for _, yields in arms)
            with self.writing_to([]) as out, self.region_of_heap(alone) as state, (
                self.may_not_run()
            ):
                arms.append((out, self.block(arm, dict(env), scope, True)))
                states.append(state())
        results = self.merge(node, arms, condition, states)
        if results is None:
            return False
        env.update(zip(node.results, results, strict=True))
        for result, value in zip(node.results, results, strict=True):
            self.check_once(result, value, node.origin)
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
        if self.heap is not None:
            self.heap.live |= {result}
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]] = []
        states = []
        for write in (first, second):
            with self.writing_to([]) as out, self.region_of_heap() as state:
                value = write()
                if value is not None and self.heap is not None:
                    value = self.heap.current(value, origin)
                arms.append((out, None if value is None else (value,)))
                states.append(state())
        node = If(condition, Block(()), Block(()), (result,), origin)
        found = self.merge(node, arms, condition, states)
        return UNDEF if found is None else found[0]

    def condition(self, node: If, env: Env) -> Atom:
        """Return the condition of a branch, as a constant if it is known."""
        if isinstance(node.condition, Const) and isinstance(node.condition.value, InParts):
            return Const(node.origin not in self.unit.settings.chosen)
        return self.truth(self.value(node.condition, env), node.origin)

    def merge(
        self, node: If, arms: list[tuple[list[Statement], tuple[Atom, ...] | None]],
        condition: Atom, states: Sequence[State | None],
    ) -> list[Atom] | None:
        """Write an If of two specialised arms; return the atoms of its results."""
        (then_out, then), (else_out, orelse) = arms
        heap = self.heap
        if heap is not None and (then is None or orelse is None):
            survivor = states[0] if orelse is None else states[1]
            assert survivor is not None
            heap.state = survivor
        if then is None and orelse is not None:  # a guard: what follows it need not be nested
            guard = Block(tuple(then_out), (), True)
            self.out.append(If(condition, guard, Block(()), (), node.origin))
            self.out.extend(else_out)
            self.level_out(else_out)
            return list(orelse)
        if orelse is None and then is not None:
            guard = Block(tuple(else_out), (), True)
            self.out.append(If(condition, Block(()), guard, (), node.origin))
            self.out.extend(then_out)
            self.level_out(then_out)
            return list(then)
        if then is None or orelse is None:
            one, two = (Block(tuple(out), (), True) for out in (then_out, else_out))
            self.out.append(If(condition, one, two, (), node.origin))
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
        self.out.append(If(
            condition, Block(tuple(then_out), tuple(a for a, _ in kept.values())),
            Block(tuple(else_out), tuple(b for _, b in kept.values())), tuple(kept), node.origin,
        ))
        for index, (pair, like) in joined.chosen.items():
            assert heap is not None
            condition = truth_of(self, condition, node.origin)
            results[index] = one_of(
                self, heap, condition, pair, like, node.results[index].name, node.origin)
        for index, there in joined.again.items():
            assert heap is not None
            latest = heap.state.value(there.root)
            results[index] = heap.read(there, latest, node.origin, node.results[index].name)
        return results

    def join_result(
        self, node: If, index: int, a: Atom, b: Atom,
        arms: list[tuple[list[Statement], tuple[Atom, ...] | None]],
        states: Sequence[State | None], joined: Joined,
    ) -> Atom:
        """Return the result that is ``a`` or ``b``; what is to be done for it goes to ``joined``.

        What is written after the branch is UNDEF.
        """
        heap, result = self.heap, node.results[index]
        same = self.same_value(a, b)
        if same is not None:
            return same
        if heap is not None and heap.is_same_object(a, b):
            assert isinstance(a, Var)
            joined.again[index] = heap.reference(a)
            return UNDEF
        type_ = t.join(self.unit.type(a), self.unit.type(b))
        flag = self.bound_flag(result, (a, b))
        if flag is not None:
            joined.kept[flag] = self.flagged(a), self.flagged(b)
            return flag
        if isinstance(type_, t.Static):
            return Const(type_.value)
        unsure = self.is_unsure(a) or self.is_unsure(b)
        var = self.joined(result, type_, unsure, node.origin, (a, b))
        self.has_shape_of_arms(var, (a, b))
        if isinstance(type_, (t.Unknown, t.FunctionType)):
            which = one_of_functions(
                self, var, [(a, arms[0][0]), (b, arms[1][0])], node.origin)
            if which is not None:
                joined.kept[which[0]] = which[1]
        a = self.unflagged(a, var, arms[0][0], node.origin)
        b = self.unflagged(b, var, arms[1][0], node.origin)
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
        places = places_of_arms(self, heap, arms, states)
        if places is None:
            return None
        key = (node.origin, index)
        self.unit.writes.merges.add(key)
        return places if key in self.unit.settings.chosen else None

    def written_either(
        self, atom: Var, origin: Origin, write: Callable[[Var], object]
    ) -> bool:
        """Write a store into a value that is one of two as a branch; False if it is not."""
        heap = self.heap
        if heap is None:
            return False
        there = heap.reference(atom)
        choice = heap.state.choices.get(there.root)
        if choice is None:
            return False
        for root in heap.behind[there.root]:
            if root not in heap.state.choices and root not in heap.state.invalidated:
                heap.exclusive_value(root, origin)
        arms, states = [], []
        for place in choice.alternatives:
            with self.writing_to([]) as out, self.region_of_heap() as state:
                steps = (*place.steps, *there.steps)
                part = heap.part_again(Reference(place.root, steps, place.at), origin, atom.name)
                if isinstance(part, Var):
                    write(part)
                arms.append(out)
                states.append(state())
        assert states[0] is not None and states[1] is not None
        kept = self.merge_heap(heap, states[0], states[1], [], arms[0], arms[1], origin)
        self.out.append(If(
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
            with self.writing_to(out):
                for root in written:
                    heap.bring_up_to_date(root, origin)
        heap.hold_parts_in((then, orelse), heap.differing(then, orelse))
        owned = [
            heap.owned_in(then, a) and heap.owned_in(orelse, b) for _, a, b in adopted
        ]
        differing = heap.merge(then, orelse)
        for (var, a, b), ours in zip(adopted, owned, strict=True):
            heap.adopt(var, (a, b), ours, [then.may_alias, orelse.may_alias])
        heap.alias_alike([
            (var, (a, b)) for var, a, b in adopted if is_mutable(self.unit.type(var))
        ])
        heap.level -= 1
        results: dict[Var, tuple[Atom, Atom]] = {}
        for root, (a, b) in differing.items():
            type_ = t.join(self.unit.type(a), self.unit.type(b))
            var = self.joined(root, type_, False)
            self.unit.shapes[var] = self.unit.shape(root)
            heap.join_root(root, var, before.value(root), (a, b))
            results[var] = (a, b)
        for var, _, _ in adopted:
            heap.levels[var] = heap.level
        return results

    @staticmethod
    def same_value(a: Atom, b: Atom) -> Atom | None:
        """Return the atom if both are the same variable or equal constants."""
        if a is b:
            return a
        if isinstance(a, Const) and isinstance(b, Const) and type(a.value) is type(b.value):
            if t.same_static(a.value, b.value):
                return a
            if type(a.value) in (int, float, bool, str) and repr(a.value) == repr(b.value):
                return a
        return None

    # -- right-hand sides ----------------------------------------------------------------------

    def rhs(
        self, rhs: Rhs, env: Env, scope: Scope | None, origin: Origin, name: str, temporary: bool
    ) -> Atom:
        """Write one right-hand side; return the atom that holds its value."""
        before = len(self.out)
        temporary = temporary or (scope is not None and scope.is_rule)
        self.in_rule = scope is not None and scope.is_rule
        self.in_emitted = scope is not None and scope.emitted
        match rhs:
            case Call(func, args, kwargs):
                values, named = self.arguments(args, kwargs, env, origin, func)
                called = self.value(func, env)
                parent = None
                if isinstance(called, Const) and called.value is class_made:
                    return local_class(self, values, named, scope, origin)
                if isinstance(called, Const) and called.value is super:
                    parent = written_super(self, values, env, scope, origin)
                result = parent or self.call(called, values, named, origin, name)
            case Item(obj, index):
                result = self.item(self.value(obj, env), self.value(index, env), origin, name)
            case Attribute(obj, attribute):
                result = self.attribute(self.value(obj, env), attribute, origin, name)
            case Pack(kind, items, keys):
                result = self.display(kind, items, keys, env, origin, name)
                one_shot = self.unit.iterators.one_shot
                if any(
                    not isinstance(i, Star) and self.value(i, env) in one_shot for i in items
                ):
                    one_shot.add(result)
            case Slice(lower, upper, step):
                parts = [self.value(part, env) for part in (lower, upper, step)]
                known = [part.value for part in parts if isinstance(part, Const)]
                if len(known) == len(parts):
                    return Const(slice(*known))
                result = self.let(Slice(*parts), t.SLICE, name, origin)
            case Closure(function, captures, defaults, _):
                closure = Closure(
                    function, tuple(self.carried_value(a, env) for a in captures),
                    tuple(self.value(a, env) for a in defaults), scope,
                )
                for value in closure.defaults:
                    self.check_kept(value, origin)
                return self.let(closure, t.FunctionType(function), name, origin, temporary)
            case Free(free):
                assert scope is not None
                return self.free(free, scope, origin)
            case Format():
                formatted = substitute(rhs, {v: self.value(v, env) for v in env})
                result = self.let(formatted, t.TEXT, name, origin)
            case _:
                result = self.let(rhs, t.UNKNOWN, name, origin)
        if not temporary:
            result = self.named(result, name, before)
        return result

    def named(self, value: Atom, name: str, before: int) -> Atom:
        """Give a temporary that was made since ``before`` the name that the user assigns it to."""
        if value in self.unit.naming.anonymous and isinstance(value, Var):
            self.unit.naming.names.setdefault(value, name)
            return value
        if isinstance(value, Var) and value.temporary:
            for position in range(before, len(self.out)):
                renamed = self.renamed(self.out[position], value, Var(name))
                if renamed is not None:
                    statement, var = renamed
                    self.copy_facts(value, var)
                    later = [
                        substitute_statement(s, {value: var}) for s in self.out[position + 1 :]
                    ]
                    for new, old in zip(later, self.out[position + 1 :], strict=True):
                        if new is not old and isinstance(new, Let):
                            self.unit.defs[new.target] = new.rhs
                    self.out[position:] = [statement, *later]
                    return var
        return value

    @staticmethod
    def renamed(statement: Statement, old: Var, new: Var) -> tuple[Statement, Var] | None:
        """Return a statement that defines ``old`` with ``new`` in its place, None for others."""
        match statement:
            case Let(target, rhs, origin) if target is old:
                return Let(new, rhs, origin), new
            case If(condition, then, orelse, results, origin) if old in results:
                changed = tuple(new if r is old else r for r in results)
                return If(condition, then, orelse, changed, origin), new
        return None

    def copy_facts(self, old: Var, new: Var) -> None:
        """Copy what is known of ``old`` to ``new``."""
        super().copy_facts(old, new)
        if self.heap is not None:
            self.heap.rename(old, new)

    def call(
        self, func: Atom, args: list[Any], kwargs: dict[str, Atom], origin: Origin, name: str
    ) -> Atom:
        """Write a call; functions whose source is read are opened or compiled on their own."""
        function, start = func.value if isinstance(func, Const) else None, len(self.out)
        if self.unit.iterators.early:
            at_once(self, function, args, kwargs)
        result = call(self, func, args, kwargs, origin, name)
        if not isinstance(result, Var) or not isinstance(func, Const):
            return result
        if makes_iterator(function):
            self.unit.iterators.one_shot.add(result)
            if computes_items(function):
                computed = (made for made in self.out[start:] if not (
                    isinstance(made, Let) and made.target is result))
                refuse_early(self, result, computed, origin)
        if self.heap is not None and (gives_items(func.value) or computes_items(func.value)):
            self.heap.derive(result, (*args, *kwargs.values()), gives_items(func.value))
        return result

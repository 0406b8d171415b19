"""Loops while specialising: types of carried values, items of iterables, iterations written out."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

from adcompiler.analyses.storage import is_mutable
from adcompiler.frontend.scope import Scope
from adcompiler.ir import types as t
from adcompiler.ir.nodes import UNDEF, Atom, Block, Call, Const, Loop, Raise, Region, Var
from adcompiler.ir.visit import used, walk
from adcompiler.infer.along_structures import builds_structure, runs_along
from adcompiler.infer.calls.own_iterators import run_over
from adcompiler.infer.generators import consumed
from adcompiler.infer.interface import Env, Operations
from adcompiler.infer.iterables import Build, Iterables, has_values, opened_parts
from adcompiler.infer.storage.loop_carried import Carried
from adcompiler.infer.storage.loop_summaries import Iteration
from adcompiler.infer.unrolling import (
    UNROLLED_TUPLE, Unrolling, becomes_array, keeps_functions, known_numbers, reads_mixed,
)

MAX_TRIALS = 24
MAX_WIDENING = 8
PASSES = 3
"""In how many trials of an outermost loop those inside of it are tried once each."""


class WrittenOut(Exception):
    """A few iterations are to be written out: one makes an array of a number, or a function."""


def raises(node: Loop) -> bool:
    """Say whether the text of a loop's body raises somewhere."""
    return any(isinstance(statement, Raise) for statement in walk(node.body))


class Loops:
    """The part of type inference that writes loops."""

    def __init__(self, s: Operations) -> None:
        self.s = s
        self.unit = s.unit
        self.unrolling = Unrolling(s)
        self.written = 1  # how often loops around, written out, write what is inside
        self.few = False  # whether the loop being written may be written out

    def loop(self, node: Loop, env: Env, scope: Scope | None) -> None:
        """Write a loop, with the types of carried values widened until they are stable."""
        whole, inside = not (node.stops or raises(node)), used(node.body)
        read = [env[atom] for atom in inside if atom in env]
        iterables = [
            consumed(self.s, run_over(
                self.s, self.s.value(atom, env), node.origin, whole and atom not in inside, read,
            ), node.origin, False, whole)
            for atom in node.iterables
        ]
        if self.unrolling.unrolled(node, iterables, env, scope):
            return
        numbers = None if node.stops else known_numbers(self.unit, iterables)
        rows: list[Callable[[], Atom]] | None = None
        if numbers is not None:
            rows = [partial(Const, number) for number in numbers]
        if rows and self.written > 1 and self.with_rows(node, iterables, rows, env, scope):
            return
        if rows is None and not node.stops:
            rows = self.unrolling.rows_known(iterables, node.origin)
        inits = [self.s.carried_value(atom, env) for atom in node.inits]
        if node.condition is not None and (
            self.never_runs(node, inits, env, scope) or runs_along(self.s, node, inits, env, scope)
        ):
            return
        before = len(self.unit.findings)
        few, self.few = self.few, bool(rows) and self.written * len(rows or ()) <= UNROLLED_TUPLE
        try:
            self.run_either(iterables, node, inits, env, scope)
        except WrittenOut:
            del self.unit.findings[before:]
            if rows and self.with_rows(node, iterables, rows, env, scope):
                return
            written, self.written = self.written, UNROLLED_TUPLE + 1
            self.few = False
            self.run_either(iterables, node, inits, env, scope)
            self.written = written
        finally:
            self.few = few

    def never_runs(
        self, node: Loop, inits: list[Atom], env: Env, scope: Scope | None
    ) -> bool:
        """Write the test of a ``while`` that types decide from the start, and no loop."""
        inside = walk(node.condition or Block(()))
        if not any(isinstance(statement, Region) for statement in inside):
            return False
        heap, unit = self.s.heap, self.unit
        before = None if heap is None else (heap.state.copy(), dict(heap.references))
        findings = len(unit.findings)
        with self.s.writing_to([]) as out:
            inner = {**env, **dict(zip(node.params, inits, strict=True))}
            test = self.s.block(node.condition or Block(()), inner, scope)
            known = None if test is None else self.s.truth(test[0], node.origin)
        if isinstance(known, Const) and not known.value and len(unit.findings) == findings:
            self.s.out.extend(out)
            env.update(zip(node.results, inits, strict=True))
            return True
        del unit.findings[findings:]
        if heap is not None and before is not None:
            heap.state, heap.references = before
        return False

    def run_either(
        self, iterables: list[Atom], node: Loop, inits: list[Atom], env: Env, scope: Scope | None
    ) -> None:
        """Write a loop, one over a dict's values by its keys if it writes into these."""
        if not self.run_over(iterables, node, inits, env, scope, False):
            self.run_over(iterables, node, inits, env, scope, True)

    def with_rows(
        self, node: Loop, iterables: list[Atom], rows: list[Callable[[], Atom]], env: Env,
        scope: Scope | None,
    ) -> bool:
        """Write the iterations of a loop over known items one after the other, if they are few.

        So are those of such loops inside of it, unless all together are too many.
        """
        if self.written * len(rows) > UNROLLED_TUPLE:
            return False
        heap, before = self.s.heap, None if self.s.heap is None else self.s.heap.state
        if heap is not None and before is not None:
            heap.state = before.copy()
        self.written *= len(rows)
        found = self.unrolling.written_out(node, iterables[0], env, scope, rows)
        self.written //= len(rows)
        if not found and heap is not None and before is not None:
            heap.state = before
        return found

    def run_over(
        self, iterables: list[Atom], node: Loop, inits: list[Atom], env: Env, scope: Scope | None,
        by_key: bool,
    ) -> bool:
        """Write a loop; False where values of a dict have to be read ``by_key``, as it writes them.
        """
        sequences = Iterables(self.s, node.origin, by_key)
        build = sequences.flatten(iterables[0]) if iterables else None
        flat, item_types = sequences.flat, sequences.types
        self.check_end(node, flat)
        types = [self.unit.type(init) for init in inits]
        known = node, tuple(self.unit.calls.sites), tuple(types), tuple(item_types)
        types = self.unit.loops.types.get(known, types) if self.unit.loops.trial else types
        opened = opened_parts(self.s, iterables)
        over = [v for v in opened if not (by_key and has_values(self.unit, v))]
        carried = Carried(self.s, node, inits, flat, over, env)
        found = self.iterations(node, inits, types, item_types, build, env, scope, carried, by_key)
        if found is None:
            return False
        attempt, self.unit.loops.types[known] = found
        self.write_loop(node, found[1], inits, flat, attempt, carried, env)
        if len(iterables) == 1 and not node.stops and node.condition is None:
            tuple_type = self.unit.type(iterables[0])
            if isinstance(tuple_type, t.Tuple):
                count = len(tuple_type.items)
                self.unit.lengths.update((env[collect], count) for collect in node.collects)
        return True

    def iterations(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None, carried: Carried, by_key: bool,
    ) -> tuple[Iteration, list[t.Type]] | None:
        """Specialise iterations until types are stable; return the last one, and these types.

        None where values of a dict have to be read ``by_key``, and are not.
        """
        loops = self.unit.loops
        outermost = not loops.trial
        for trial in range(MAX_TRIALS):
            before = len(self.unit.findings)
            if outermost:
                loops.first = trial < PASSES
            unsettled, loops.unsettled = loops.unsettled, False
            loops.trial += 1
            with carried.iteration():
                attempt = self.iterate(node, inits, types, item_types, build, env, scope, carried)
                stable = carried.settled(attempt)
            if self.few and (
                (known_numbers(self.unit, carried.flat)
                 and (becomes_array(types, attempt.yields or (), self.unit)
                      or reads_mixed(self.unit, attempt.out)))
                or keeps_functions(self.unit, types, attempt)
                or builds_structure(self.unit, types, attempt.params, attempt.yields or (), carried)
            ):
                loops.unsettled, loops.trial = unsettled, loops.trial - 1
                raise WrittenOut
            stable = carried.settled_shapes(attempt) and stable and not loops.unsettled
            loops.unsettled = unsettled
            loops.trial -= 1
            if carried.values_written and not by_key:
                del self.unit.findings[before:]
                return None
            widened = [
                t.join(type_, self.unit.type(atom))
                for type_, atom in zip(types, attempt.yields or (), strict=False)
            ] or types
            types = self.with_unread(node, types, widened, attempt.params)
            if widened == types and stable:
                break
            del self.unit.findings[before:]
            types = widened if trial < MAX_WIDENING else [
                old if old == new else t.UNKNOWN for old, new in zip(types, widened, strict=True)
            ]
            if loops.first and not outermost:
                loops.unsettled = True  # the loop around is tried again, and this one with it
                carried.bind_what_was_seen()
                break
        else:
            self.s.reject(
                node.origin, "what shares storage with what in this loop is not known",
                "use copies, or one name for one array", "aliases",
            )
        return attempt, types

    def with_unread(
        self, node: Loop, types: list[t.Type], widened: list[t.Type], params: list[Atom]
    ) -> list[t.Type]:
        """Give carried values that no iteration reads their types; nothing depends on these.

        Such are most variables without a value in front of the loop. Return the types.
        """
        if widened == types:
            return types
        read, found = [used(block) for block in node.blocks()], list(types)
        for i, (param, old, new) in enumerate(zip(params, types, widened, strict=True)):
            if old == t.BOTTOM and isinstance(param, Var) and not is_mutable(new) and not (
                isinstance(new, (t.Static, t.FunctionType))
                or any(node.params[i] in block for block in read)
            ):
                self.unit.types[param] = found[i] = new
        return found

    def write_loop(
        self, node: Loop, types: list[t.Type], inits: list[Atom], flat: list[Atom],
        attempt: Iteration, carried: Carried, env: Env,
    ) -> None:
        """Write a loop of which the iterations are as in ``attempt``."""
        results, collects = self.loop_results(node, types, inits, attempt)
        carried.guess_shapes(results)
        diverges = attempt.yields is None
        yields = attempt.yields or (UNDEF,) * len(node.body.yields)
        kept = {i: p for i, p in enumerate(attempt.params) if isinstance(p, Var) and (
            i not in carried.same and p is not inits[i])}
        count = len(node.params)
        items, flat = carried.sequences(attempt.items, flat, attempt.out, yields)
        stores = carried.finish(attempt, results, collects)
        inits = carried.inits()
        flags = {i for i, param in kept.items() if param in self.unit.if_bound}
        inits = [
            self.s.joins.flagged(atom) if i in flags
            else self.s.joins.unflagged(atom, kept[i], self.s.out, node.origin) if i in kept
            else self.s.joins.flagged(atom, False) for i, atom in enumerate(inits)
        ]
        yields = tuple(
            self.s.joins.flagged(atom) if i in flags
            else self.s.joins.unflagged(atom, kept[i], attempt.out, node.origin) if i in kept
            else self.s.joins.flagged(atom, False) for i, atom in enumerate(yields)
        )
        self.s.out.append(Loop(
            items, tuple(flat), attempt.condition,
            (*kept.values(), *stores.params), (*(inits[i] for i in kept), *stores.inits),
            Block(
                tuple(attempt.out),
                (*(yields[i] for i in kept), *stores.yields, *yields[count:]), diverges,
            ),
            (*(r for i in kept if isinstance(r := results[i], Var)), *stores.results),
            node.origin, collects, node.stops,
        ))
        carried.read_again(results, node)
        env.update(zip(node.results, results, strict=True))
        env.update(zip(node.collects, collects, strict=True))

    def check_end(self, node: Loop, flat: list[Atom]) -> None:
        """Report a loop over what never ends, which nothing leaves."""
        made = [self.unit.definition(iterable) for iterable in flat]
        endless = all(
            isinstance(rhs, Call) and isinstance(rhs.func, Const)
            and rhs.func.value in (itertools.count, itertools.cycle, itertools.repeat)
            for rhs in made
        )
        leaves = node.stops or raises(node)
        if flat and endless and not leaves:
            self.s.reject(
                node.origin, "an iterator without end, all of which is asked for",
                "leave a loop over it by `break`, or zip it with a sequence", "iterators",
            )

    def iterate(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None, carried: Carried,
    ) -> Iteration:
        """Specialise one iteration with carried values of the given types."""
        self.unit.loops.around += 1
        try:
            return self.iterated(
                node, inits, types, item_types, build, env, scope, carried
            )
        finally:
            self.unit.loops.around -= 1

    def iterated(
        self, node: Loop, inits: list[Atom], types: list[t.Type], item_types: list[t.Type],
        build: Build | None, env: Env, scope: Scope | None, carried: Carried,
    ) -> Iteration:
        """As ``iterate``, which counts the loops around."""
        inner = dict(env)
        items = self.item_variables(node, len(item_types))
        for item, type_ in zip(items, item_types, strict=True):
            self.unit.types[item] = type_
        for item, sequence in zip(items, carried.flat, strict=False):
            self.s.joins.comes_from(item, node.origin, [sequence])
            self.unit.enter_item(item, sequence)
        if len(items) > 1:
            self.unit.naming.anonymous.update(items)
        params: list[Atom] = []
        for i, (param, init, type_) in enumerate(zip(node.params, inits, types, strict=True)):
            if isinstance(type_, t.Static):
                flag = self.s.joins.bound_flag(param, (init, Const(type_.value)))
                known = isinstance(init, Const) and init is not UNDEF
                params.append(flag or (init if known else Const(type_.value)))
            elif (isinstance(type_, t.FunctionType) and init is not UNDEF) or i in carried.same:
                params.append(init)
            else:
                unsure = self.s.joins.is_unsure(init)
                params.append(self.s.joins.joined(param, type_, unsure, node.origin, (init,)))
        carried.guess_shapes(params)
        carried.enter(params, items)
        inner.update(zip(node.params, params, strict=True))
        self.s.at = node.origin
        condition = None
        if node.condition is not None:
            with self.s.writing_to([]) as test_out:
                test = self.s.block(node.condition, inner, scope)
            condition = Block(tuple(test_out), test or (), test is None)
            carried.check_condition(node)
        with self.s.writing_to([]) as out:
            if build is not None and node.items:
                parts = carried.items(items, node.origin)
                inner[node.items[0]] = build(self.s, iter(parts), node.origin)
            yields = self.s.block(node.body, inner, scope, True)
        return Iteration(items, params, condition, out, yields)

    @staticmethod
    def item_variables(node: Loop, count: int) -> tuple[Var, ...]:
        """Return new variables for what the ``count`` flat sequences of a loop give."""
        if count == 1 and node.items:
            return (Var(node.items[0].name),)
        return tuple(Var("item") for _ in range(count))

    def loop_results(
        self, node: Loop, types: list[t.Type], inits: list[Atom], iteration: Iteration
    ) -> tuple[list[Atom], tuple[Var, ...]]:
        """Return the atoms of a loop's results, and the variables of the lists it collects."""
        yields = iteration.yields
        results: list[Atom] = []
        for index, (result, type_, param, init) in enumerate(
            zip(node.results, types, iteration.params, inits, strict=True)
        ):
            if isinstance(param, Const):
                results.append(param)
            elif param is init:
                results.append(init)
            elif (flag := self.s.joins.bound_flag(result, (param,))) is not None:
                results.append(flag)
            else:
                unsure = self.s.joins.is_unsure(param) or (
                    yields is not None and self.s.joins.is_unsure(yields[index])
                )
                arms = (init,) if yields is None else (init, yields[index])
                results.append(self.s.joins.joined(result, type_, unsure, node.origin, arms))
                if param in self.unit.arms:
                    self.unit.arms[param] = arms
        collects = []
        for index, collect in enumerate(node.collects):
            var = Var(collect.name, collect.temporary)
            item = t.BOTTOM if yields is None else self.unit.type(yields[len(node.params) + index])
            self.unit.types[var] = t.List(item)
            if yields is not None:
                self.s.joins.comes_from(var, node.origin, [yields[len(node.params) + index]])
            collects.append(var)
        return results, tuple(collects)

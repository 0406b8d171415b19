"""The reverse of a loop: a loop backwards over what the iterations saved.

The cotangents of carried values are carried the other way; those of values from outside the loop
are carried by accumulators.
"""

from __future__ import annotations

from adcompiler.derive.reverse.checks import reject_instances
from adcompiler.derive.reverse.cotangents import HAVE_STORAGE, Cotangents, cotangent_type
from adcompiler.derive.reverse.expected_shapes import ExpectedShapes
from adcompiler.derive.reverse.forward_pass import (
    Forward, ForwardPass, Sweep, merged_type, of_one_form,
)
from adcompiler.derive.reverse.open_regions import PendingLoop, finish, region_variables
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.derive.reverse.residuals import ReverseLoop, Saver
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Loop, Origin, Statement, Var
from adcompiler.ir.visit import walk
from adcompiler.runtime import add_at


class LoopReverser:
    """Writes loops and their reverse."""

    def __init__(
        self, forward: ForwardPass, restoring: Restoring, expected: ExpectedShapes, saver: Saver,
        write: Forward,
    ) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.expected = expected
        self.saver = saver
        self.write = write

    def loop(self, node: Loop) -> Sweep | None:
        """Write a loop, left open; return how to reverse it."""
        forward = self.forward
        reject_instances(self.s, forward.active, Call(Const(iter), node.iterables), node.origin)
        iterables = tuple(map(forward.value, node.iterables))
        inits = tuple(map(forward.value, node.inits))
        self.expected.of_loop(node)
        condition = node.condition
        if condition is not None:
            with forward.open_block() as test:
                self.write(condition.statements)
            condition = Block(
                tuple(finish(test)), tuple(map(forward.value, condition.yields)),
                condition.diverges,
            )
        with forward.open_region(is_loop=True) as (out, region):
            forward.home.update(dict.fromkeys((*node.items, *node.params), region))
            self.restoring.keep((*node.items, *node.params), node.origin)
            sweeps = self.write(node.body.statements)
        stop = node.stop()
        pending = PendingLoop(
            node, iterables, inits, condition, out, tuple(map(forward.value, node.next_values())),
            [forward.value(a) for a in node.collected()], list(node.collects),
            None if stop is None else forward.value(stop), region,
        )
        forward.write_region(pending)
        if not sweeps and not any(
            map(forward.is_active, (*node.results, *node.params, *node.collects))
        ):
            return None
        return lambda cotangents: self.sweep(pending, sweeps, cotangents)

    def sweep(
        self, pending: PendingLoop, sweeps: list[Sweep], cotangents: Cotangents
    ) -> None:
        """Write the reverse loop, and hand its results on."""
        node, s = pending.node, self.s
        at = node.origin.reversed()
        shadows = self.shadows(node, cotangents, at)
        given = {r: cotangents.take(r, at) for r in (*node.results, *node.collects)
                 if self.forward.is_active(r)}
        kept = [i for i, p in enumerate(node.params) if p in self.restoring.versions.destroyed]
        if all(g is None for g in given.values()) and not kept:
            return
        carried = [i for i, p in enumerate(node.params)
                   if self.forward.is_active(p) or self.forward.is_active(node.results[i])]
        made = {*node.params, *node.items, *region_variables(pending.body, node.body)}
        loop = ReverseLoop(pending, Cotangents(s, cotangents, made, is_loop=True), at, shadows)
        with s.writing_to(loop.out), self.restoring.within(pending.region) as table:
            storage = self.storage_before(loop, kept, table)
            self.sweep_body(loop, sweeps, carried, given)
            before = [self.restoring.rebuilt(node.params[i], at) for i in kept]
            restored = dict(table)
        loop.inits = [
            g if (g := given.get(node.results[i])) is not None else cotangents.zero_of(
                node.results[i], s.unit.type(node.results[i]), at)
            for i in carried
        ]
        accumulators = list(loop.inner.accumulators.items())
        for var, accumulator in accumulators:
            loop.params.append(accumulator)
            loop.yields.append(loop.inner.table[var])
            loop.inits.append(self.initial(var, loop, cotangents))
        loop.params += storage
        loop.yields += before
        loop.inits += [self.restoring.rebuilt(node.results[i], at) for i in kept]
        self.saver.save_from_loop(loop, restored)
        results = self.write_loop(loop)
        for (var, accumulator), init, result in zip(
            accumulators, loop.inits[len(carried):], results[len(carried):], strict=False
        ):
            cotangents.table[var] = result
            if cotangents.owns(init) and isinstance(
                s.unit.type(accumulator), HAVE_STORAGE
            ):
                cotangents.own(result)
        for i, result in zip(carried, results, strict=False):
            if self.forward.is_active(node.inits[i]):
                if i in shadows:
                    cotangents.own(result)
                cotangents.accumulate(node.inits[i], result, at)
        for i, result in zip(kept, results[len(results) - len(kept):], strict=True):
            init = self.forward.value(node.inits[i])
            if isinstance(init, Var):
                self.restoring.table[init] = result

    def shadows(self, node: Loop, cotangents: Cotangents, at: Origin) -> set[int]:
        """Make the cotangents of written storage the sweep's own; return which these are."""
        found = set()
        for i, (param, result) in enumerate(zip(node.params, node.results, strict=True)):
            if param in self.restoring.versions.destroyed and isinstance(
                self.s.unit.type(param), (t.Array, t.List, t.Dict)
            ) and (self.forward.is_active(param) or self.forward.is_active(result)):
                found.add(i)
                if self.forward.is_active(result) and cotangents.get(result, at) is not None:
                    cotangents.table[result] = cotangents.buffer(result, at)
        return found

    def storage_before(
        self, loop: ReverseLoop, kept: list[int], table: dict[Var, Atom]
    ) -> list[Var]:
        """Carry written storage backwards; return the variables that hold it in an iteration."""
        node, s = loop.pending.node, self.s
        carried = []
        for i in kept:
            param = Var(node.params[i].name, False)
            s.copy_facts(node.params[i], param)
            s.unit.defs.pop(param, None)
            carried.append(param)
            following = self.forward.value(node.next_values()[i])
            if isinstance(following, Var):
                table[following] = param
        self.restoring.keep_apart(node.body, loop.at)
        return carried

    def sweep_body(
        self, loop: ReverseLoop, sweeps: list[Sweep], carried: list[int],
        given: dict[Var, Atom | None],
    ) -> None:
        """Write the reverse of an iteration; ``carried`` are the positions of active params."""
        node, inner, at = loop.pending.node, loop.inner, loop.at
        for i in carried:
            loop.params.append(self.carried_cotangent(loop, i))
        for collect, value in zip(node.collects, node.collected(), strict=True):
            g = given.get(collect)
            if g is not None:
                self.collected_cotangent(loop, collect, value, g)
        for sweep in reversed(sweeps):
            sweep(inner)
        self.item_cotangents(loop)
        for i in carried:
            param = node.params[i]
            if i in loop.shadows:
                loop.yields.append(inner.buffer(param, at))
            elif (g := inner.get(param, at)) is not None:
                loop.yields.append(g)
            else:
                value = inner.value(param)
                loop.yields.append(inner.zero_of(value, self.s.unit.type(param), at))

    def write_loop(self, loop: ReverseLoop) -> list[Var]:
        """Write the reverse loop as it ended up; return its results."""
        unit = self.s.unit
        handed_on = [unit.type(atom) for atom in (*loop.inits, *loop.yields)]
        results = []
        for param, *given in zip(loop.params, loop.inits, loop.yields, strict=True):
            result = Var(param.name, False)
            if not of_one_form(unit.type(param), given, unit):
                unit.types[param] = t.UNKNOWN
            type_ = merged_type(loop.before.get(param, unit.type(param)), handed_on)
            unit.types[result] = type_ if of_one_form(type_, given, unit) else t.UNKNOWN
            unit.shapes[result] = unit.shape(param)
            results.append(result)
        self.s.out.append(Loop(
            tuple(loop.items), tuple(loop.iterables), None, tuple(loop.params), tuple(loop.inits),
            Block(tuple(loop.out), tuple(loop.yields)), tuple(results), loop.at,
        ))
        return results

    # -- cotangents that enter and leave an iteration ------------------------------------------

    def carried_cotangent(self, loop: ReverseLoop, i: int) -> Var:
        """Bind the cotangent of a carried value after the iteration being reversed."""
        unit, node = self.s.unit, loop.pending.node
        param = Var(self.s.bar(node.params[i]), False)
        unit.types[param] = loop.before[param] = cotangent_type(unit.type(node.params[i]))
        following = node.next_values()[i]
        if isinstance(following, Var):
            unit.shapes[param] = unit.shape(loop.inner.value(following))
            if i in loop.shadows:
                loop.inner.own(param)
            if self.forward.is_active(following):
                loop.inner.accumulate(following, param, loop.at)
        return param

    def collected_cotangent(self, loop: ReverseLoop, collect: Var, value: Atom, g: Atom) -> None:
        """Bind the cotangent of what an iteration appended to a list."""
        unit = self.s.unit
        list_type = unit.type(collect)
        item = Var(self.s.bar(value) if isinstance(value, Var) else "item_bar", False)
        unit.types[item] = (
            cotangent_type(list_type.item) if isinstance(list_type, t.List) else t.UNKNOWN
        )
        if isinstance(value, Var):
            unit.shapes[item] = unit.shape(loop.inner.value(value))
        loop.items.append(item)
        name = f"reversed_{self.s.bar(collect)}"
        loop.iterables.append(self.saver.before_loop(loop, Call(Const(reversed), (g,)), name))
        loop.inner.accumulate(value, item, loop.at)

    def item_cotangents(self, loop: ReverseLoop) -> None:
        """Add the cotangents of the loop's items to the sequences they come from."""
        node, inner = loop.pending.node, loop.inner
        index: Var | None = None
        for item, iterable in zip(node.items, node.iterables, strict=True):
            if not self.forward.is_active(item) or not isinstance(iterable, Var):
                continue
            g = inner.take(item, loop.at)
            if g is None:
                continue
            if index is None:
                index = Var("index", False)
                self.s.unit.types[index] = t.INT
                loop.items.append(index)
                loop.iterables.append(self.saver.reversed_positions(loop))
            inner.accumulate_item(iterable, index, g, loop.at)

    def initial(self, var: Var, loop: ReverseLoop, cotangents: Cotangents) -> Atom:
        """Return the value with which the accumulator of ``var`` enters the reverse loop."""
        type_ = self.s.unit.type(var)
        old = cotangents.get(var, loop.at)
        if old is None:
            zero = cotangents.zero_of(cotangents.value(var), type_, loop.at)
            cotangents.own(zero)
            return zero
        if adds_in_place(loop.out) and not isinstance(type_, t.Scalar):
            return cotangents.buffer(var, loop.at)
        return old


def adds_in_place(statements: list[Statement]) -> bool:
    """Say whether statements add to a part of a cotangent in place."""
    for statement in walk(Block(tuple(statements))):
        match statement:
            case Let(rhs=Call(func=Const(value=function))) if function is add_at:
                return True
    return False

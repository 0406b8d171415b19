"""The reverse of branches, ``with`` and ``try``: of the arm that was completed.

The reverse of a branch is a branch on the same condition. Only what was completed has a reverse: a
body that an exception left gave nothing to the result. The sweep runs after a context has been
left; NumPy's error handling is entered again around it. The arms of the forward pass yield what
those of the sweep read of them.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from adcompiler.derive.region_checks import check_region
from adcompiler.derive.reverse.cotangents import HAVE_STORAGE, Cotangents
from adcompiler.derive.reverse.forward_pass import (
    Forward, ForwardPass, Sweep, merged_type, of_one_form,
)
from adcompiler.derive.reverse.open_regions import PendingArms, region_variables
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.derive.reverse.residuals import Saver
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, If, Origin, Statement, Try, Var, With, substitute,
)
from adcompiler.ir.visit import bound_inside, direct_uses


class RegionReverser:
    """Writes regions of which one arm gives the results, and their reverse."""

    def __init__(
        self, forward: ForwardPass, restoring: Restoring, saver: Saver, write: Forward
    ) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.saver = saver
        self.write = write

    def region(self, node: If | With | Try) -> Sweep | None:
        """Write a region, left open; return how to reverse it."""
        forward = self.forward
        head = {v: forward.value(v) for v in direct_uses(node) if isinstance(v, Var)}
        check_region(self.s, forward.varied, node)
        if isinstance(node, If):
            head = {v: self.kept_test(value, node.origin) for v, value in head.items()}
        nothing = NONE if self.restoring.split or forward.loops_around(forward.region) else UNDEF
        pending = PendingArms(node, head, nothing, [], [], list(node.results), [])
        sweeps = []
        for arm in node.arms():
            with forward.open_region() as (out, region):
                forward.home.update(dict.fromkeys(bound_inside(node), region))
                sweeps.append(self.write(arm.statements))
            pending.arms.append(out)
            pending.yields.append([forward.value(atom) for atom in arm.yields])
            pending.regions.append(region)
        forward.write_region(pending)
        if not any(sweeps) and not any(map(forward.is_active, node.results)):
            return None
        return lambda cotangents: self.sweep(pending, sweeps, cotangents)

    def kept_test(self, value: Atom, origin: Origin) -> Atom:
        """Return a condition as it is by now, where it may be written into from here on."""
        if isinstance(value, Var) and self.restoring.is_destroyed(value):
            return self.s.let(Call(Const(bool), (value,)), t.BOOL, "test", origin)
        return value

    def sweep(
        self, pending: PendingArms, sweeps: list[list[Sweep]], cotangents: Cotangents
    ) -> None:
        """Write the reverse of the arms that may be completed, and choose among them."""
        node, s = pending.node, self.s
        at = node.origin.reversed()
        blocks = node.arms()
        completed = [k for k, block in enumerate(blocks) if not block.diverges]
        given, owned_before = self.given_results(node.results, cotangents, at)
        versions = self.version_results(node.results, blocks)
        if not completed or (not given and not versions):
            return
        cotangents.merge_all_parts(at)
        tables: list[Cotangents] = []
        outs: list[list[Statement]] = []
        restored: list[dict[Var, Atom]] = []
        made = [region_variables(pending.arms[k], blocks[k]) for k in completed]
        for k, inside in zip(completed, made, strict=True):
            inner = Cotangents(s, cotangents, inside)
            for g in owned_before:
                inner.own(g)
            with s.writing_to([]) as out, self.restoring.within(pending.regions[k]) as table:
                self.enter_arm(blocks[k], node.results, versions, table, at)
                self.sweep_arm(blocks[k], given, sweeps[k], inner, at)
                restored.append(dict(table))
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged(tables, outs, cotangents, at)
        back = self.restored_outside(made, restored)
        for k, out, row, known in zip(completed, outs, yields, restored, strict=True):
            with s.writing_to(out):
                row.extend(known.get(var) or self.restoring.rebuilt(var, at) for var in back)
            self.saver.save_from_arm(pending, k, out, row, known)
        results = self.chosen(pending, completed, names, back, outs, yields, cotangents)
        self.restoring.table.update(zip(back, results[len(names):], strict=True))
        for position, (var, result) in enumerate(zip(names, results, strict=False)):
            before = cotangents.get(var, at)  # what an arm gives that does not change it
            owned = all(table.owns(table.table.get(var, before)) for table in tables)
            renewed = result is not yields[0][position]
            cotangents.table[var] = result
            if owned and isinstance(s.unit.type(result), HAVE_STORAGE) and (
                renewed or tables[0].owns(result)
            ):
                cotangents.own(result)

    # -- arms ----------------------------------------------------------------------------------

    def given_results(
        self, results: tuple[Var, ...], cotangents: Cotangents, at: Origin
    ) -> tuple[list[tuple[int, Atom]], set[Atom]]:
        """Return the cotangents of a region's results by position, and which the sweep owns."""
        given: list[tuple[int, Atom]] = []
        owned: set[Atom] = set()
        for i, var in enumerate(results):
            if not self.forward.is_active(var):
                continue
            if var in self.restoring.versions.all and cotangents.get(var, at) is not None:
                cotangents.table[var] = buffer = cotangents.buffer(var, at)
                owned.add(buffer)
            if (g := cotangents.take(var, at)) is not None:
                given.append((i, g))
        return given, owned

    def version_results(self, results: tuple[Var, ...], arms: Sequence[Block]) -> list[int]:
        """Return the positions of results that hold storage which is written."""
        return [i for i in range(len(results)) if any(
            arm.yields[i] in self.restoring.versions.all for arm in arms if not arm.diverges
        )]

    def enter_arm(
        self, arm: Block, results: tuple[Var, ...], versions: list[int], table: dict[Var, Atom],
        at: Origin,
    ) -> None:
        """Begin the sweep of an arm: its last values are the results of the region.

        A value from outside that was written into later was put back under its own name.
        """
        restoring = self.restoring
        for i in versions:
            found = self.forward.value(arm.yields[i])
            if isinstance(found, Var) and (
                results[i] in restoring.versions.destroyed or restoring.available(found) is found
            ):
                table[found] = restoring.available(results[i])
        restoring.keep_apart(arm, at)

    def restored_outside(
        self, inside: Sequence[set[Var]], restored: Sequence[dict[Var, Atom]]
    ) -> list[Var]:
        """Return the values from outside a region that an arm restored."""
        destroyed = self.restoring.destroyed_values()
        return list(dict.fromkeys(
            var for made, table in zip(inside, restored, strict=True) for var in table
            if var not in made and var in destroyed
        ))

    def sweep_arm(
        self, arm: Block, given: list[tuple[int, Atom]], sweeps: list[Sweep], inner: Cotangents,
        at: Origin,
    ) -> None:
        """Write the reverse of an arm from the cotangents ``given`` of the region's results."""
        for i, g in given:
            if self.forward.is_active(arm.yields[i]):
                if isinstance(g, Var) and isinstance(self.s.unit.type(g), t.Unknown):
                    self.s.unit.of_many_types.add(g)
                inner.accumulate(arm.yields[i], g, at)
        for sweep in reversed(sweeps):
            sweep(inner)

    # -- results -------------------------------------------------------------------------------

    def merged(
        self, tables: list[Cotangents], outs: list[list[Statement]], cotangents: Cotangents,
        at: Origin,
    ) -> tuple[list[Var], list[list[Atom]]]:
        """Return the outer variables that an arm changed, and their cotangents in each arm."""
        names = list(dict.fromkeys(
            v for table in tables for v in table.table if v not in table.inner))
        yields: list[list[Atom]] = [[] for _ in tables]
        for var in names:
            before = cotangents.get(var, at)
            for table, out, row in zip(tables, outs, yields, strict=True):
                g = table.table.get(var, before)
                if g is None:
                    with self.s.writing_to(out):
                        g = table.zero_of(cotangents.value(var), self.s.unit.type(var), at)
                    table.own(g)
                    table.table[var] = g
                row.append(g)
        return names, yields

    def chosen(
        self, pending: PendingArms, completed: list[int], names: list[Var], back: list[Var],
        outs: list[list[Statement]], yields: list[list[Atom]], cotangents: Cotangents,
    ) -> list[Atom]:
        """Write the reverse of the arm that was completed; return the cotangents it gives."""
        node, s = pending.node, self.s
        at = node.origin.reversed()
        if len(completed) == 1:
            context = self.entered_again(node)
            if context is None:
                s.out.extend(outs[0])
                return yields[0]
            again = s.let(context, t.UNKNOWN, "context", at)
            results = self.all_results(names, back, (yields[0], yields[0]), cotangents)
            body = Block(tuple(outs[0]), tuple(yields[0]))
            s.out.append(With(again, None, body, tuple(results), at))
            return list(results)
        tests = self.tests(pending, completed, at)
        rest = Block(tuple(outs[-1]), tuple(yields[-1]))
        row = yields[-1]
        for k in range(len(completed) - 2, -1, -1):
            found = self.all_results(names, back, (yields[k], row), cotangents)
            then = Block(tuple(outs[k]), tuple(yields[k]))
            branch = If(tests[k], then, rest, tuple(found), at)
            rest, row = Block((branch,), tuple(found)), list(found)
        s.out.extend(rest.statements)
        return row

    def all_results(
        self, names: list[Var], back: list[Var], yields: tuple[list[Atom], list[Atom]],
        cotangents: Cotangents,
    ) -> list[Var]:
        """Return new variables for the cotangents and storage that a reverse region gives."""
        unit = self.s.unit
        results = []
        for var, *arms in zip(names, *yields, strict=False):  # what is restored comes after
            result = Var(self.s.bar(var), False)
            type_ = merged_type(cotangents.type_of_cotangent(var), map(unit.type, arms))
            unit.types[result] = type_ if of_one_form(type_, arms, unit) else t.UNKNOWN
            unit.shapes[result] = unit.shape(cotangents.value(var))
            results.append(result)
        for var in back:
            result = Var(var.name, False)
            self.s.copy_facts(var, result)
            unit.defs.pop(result, None)
            results.append(result)
        return results

    def tests(self, pending: PendingArms, completed: list[int], at: Origin) -> list[Atom]:
        """Return the tests for all completed arms but the last; a ``try`` gives what they ask."""
        s, node = self.s, pending.node
        if isinstance(node, If):
            return [next(iter(pending.head.values()), node.condition)]
        two = len(completed) == 2
        flag = Var("completed" if two else "arm", False)
        s.unit.types[flag] = t.BOOL if two else t.INT
        pending.results.append(flag)
        for k, row in enumerate(pending.yields):
            row.append(Const(k == completed[0] if two else k))
        if two:
            return [flag]
        return [
            s.let(Call(Const(operator.eq), (flag, Const(k))), t.BOOL, "test", at)
            for k in completed[:-1]
        ]

    def entered_again(self, node: If | With | Try) -> Call | None:
        """Return the call that makes the context of the reverse, None if it has none."""
        made = self.s.unit.definition(node.context) if isinstance(node, With) else None
        if isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value is np.errstate
        ):
            new = substitute(made, self.forward.env)
            assert isinstance(new, Call)
            return new
        return None

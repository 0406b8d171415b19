"""The reverse of a branch: a branch on the same condition.

The arms of the forward branch yield what the arms of the reverse one read of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from adcompiler.derive.reverse.base import Sweep, merged_type, of_one_form, rename
from adcompiler.derive.reverse.cotangents import HAVE_STORAGE, Cotangents
from adcompiler.derive.reverse.pending_regions import (
    PendingIf, hoist_metadata, region_variables, top_level,
)
from adcompiler.derive.reverse.recomputing import Recomputer
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Block, Call, Const, If, Origin, Statement, Var
from adcompiler.ir.visit import defined, free_variables


class BranchReverser(Recomputer):
    """Writes branches and their reverse."""

    def forward_if(self, node: If) -> Sweep | None:
        """Write a branch, left open; return how to reverse it."""
        condition = self.value(node.condition)
        destroyed = self.destroyed_values()
        if isinstance(condition, Var) and (
            condition in destroyed or self.is_stale(condition, destroyed)
        ):  # it may be written into from here on
            condition = self.s.let(
                Call(Const(bool), (condition,)), t.BOOL, "test", node.origin
            )
        with self.forward_pass() as then, self.inside():
            regions = [self.region]
            then_sweeps = self.forward(node.then.statements)
        then_yields = [self.value(a) for a in node.then.yields]
        with self.forward_pass() as orelse, self.inside():
            regions.append(self.region)
            else_sweeps = self.forward(node.orelse.statements)
        else_yields = [self.value(a) for a in node.orelse.yields]
        pending = PendingIf(
            node, condition, (then, orelse), (then_yields, else_yields),
            list(node.results), self.depth > 0, tuple(regions),
        )
        self.write_region(pending)
        sweeps = (then_sweeps, else_sweeps)
        if not any(sweeps) and not any(map(self.is_active, node.results)):
            return None
        return lambda cotangents: self.sweep_if(pending, sweeps, cotangents)

    def sweep_if(
        self, pending: PendingIf, sweeps: tuple[list[Sweep], list[Sweep]], cotangents: Cotangents
    ) -> None:
        """Write the reverse branch, whose results are the cotangents that an arm changes."""
        node, s = pending.node, self.s
        at = node.origin.reversed()
        arms = (node.then, node.orelse)
        given, owned = self.given_results(node.results, cotangents, at)
        versions = self.version_results(node.results, arms)
        if not given and not versions:
            return
        cotangents.merge_all_parts(at)
        tables: list[Cotangents] = []
        outs: list[list[Statement]] = []
        restored: list[dict[Var, Atom]] = []
        for side, arm in enumerate(arms):
            inner = Cotangents(s, cotangents, region_variables(pending.arms[side], arm))
            for g in owned:
                inner.own(g)
            with s.writing_to([]) as out, self.restoring(pending.regions[side]) as table:
                if not arm.diverges:
                    self.enter_arm(arm, node.results, versions, table, at)
                    self.sweep_arm(arm, given, sweeps[side], inner, at)
                restored.append(dict(table))
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged(node, tables, outs, cotangents, at)
        back = self.restored_outside(
            [region_variables(pending.arms[side], arms[side]) for side in (0, 1)], restored
        )
        for side, arm in enumerate(arms):
            with s.writing_to(outs[side]):
                yields[side].extend(
                    UNDEF if arm.diverges else restored[side].get(var) or self.rebuilt(var, at)
                    for var in back
                )
            with self.restoring(pending.regions[side]) as table:
                table.update(restored[side])
                self.read_restored(outs[side], yields[side])
            self.save_from_arm(pending, side, outs[side], yields[side])
        results = self.all_results(names, back, yields, cotangents)
        self.restored[-1].update(zip(back, results[len(names):], strict=True))
        then, orelse = (
            Block(tuple(outs[k]), tuple(yields[k]), (node.then, node.orelse)[k].diverges)
            for k in (0, 1)
        )
        s.out.append(If(pending.condition, then, orelse, tuple(results), at))
        for var, result in zip(names, results, strict=False):
            before = cotangents.get(var, at)  # what an arm gives that does not change it
            owned_now = all(table.owns(table.table.get(var, before)) for table in tables)
            cotangents.table[var] = result
            if owned_now and isinstance(s.unit.type(result), HAVE_STORAGE):
                cotangents.own(result)

    def given_results(
        self, results: tuple[Var, ...], cotangents: Cotangents, at: Origin
    ) -> tuple[list[tuple[int, Atom]], set[Atom]]:
        """Return the cotangents of a region's results by position, and which the sweep owns."""
        given: list[tuple[int, Atom]] = []
        owned: set[Atom] = set()
        for i, var in enumerate(results):
            if not self.is_active(var):
                continue
            if var in self.versions.all and cotangents.get(var, at) is not None:
                cotangents.table[var] = buffer = cotangents.buffer(var, at)
                owned.add(buffer)
            if (g := cotangents.take(var, at)) is not None:
                given.append((i, g))
        return given, owned

    def version_results(self, results: tuple[Var, ...], arms: Sequence[Block]) -> list[int]:
        """Return the positions of results that hold storage which is written."""
        return [i for i in range(len(results)) if any(
            arm.yields[i] in self.versions.all for arm in arms if not arm.diverges
        )]

    def enter_arm(
        self, arm: Block, results: tuple[Var, ...], versions: list[int], table: dict[Var, Atom],
        at: Origin,
    ) -> None:
        """Begin the sweep of an arm: its last values are the results of the region.

        A value from outside that was written into later was put back under its own name.
        """
        for i in versions:
            found = self.value(arm.yields[i])
            if isinstance(found, Var) and (
                results[i] in self.versions.destroyed or self.available(found) is found
            ):
                table[found] = self.available(results[i])
        if self.split:
            self.keep_apart([v for st in arm.statements for v in defined(st)], at)

    def restored_outside(
        self, inside: Sequence[set[Var]], restored: Sequence[dict[Var, Atom]]
    ) -> list[Var]:
        """Return the values from outside a region that an arm restored."""
        destroyed = self.destroyed_values()
        return list(dict.fromkeys(
            var for made, table in zip(inside, restored, strict=True) for var in table
            if var not in made and var in destroyed
        ))

    def all_results(
        self, names: list[Var], back: list[Var], yields: Sequence[list[Atom]],
        cotangents: Cotangents,
    ) -> list[Var]:
        """Return new variables for the cotangents and storage that a reverse region gives."""
        results = self.branch_results(names, (yields[0], yields[1]), cotangents)
        for var in back:
            result = Var(var.name, False)
            self.s.copy_facts(var, result)
            self.s.unit.defs.pop(result, None)
            results.append(result)
        return results

    def sweep_arm(
        self, arm: Block, given: list[tuple[int, Atom]], sweeps: list[Sweep], inner: Cotangents,
        at: Origin,
    ) -> None:
        """Write the reverse of an arm from the cotangents ``given`` of the branch's results."""
        for i, g in given:
            if self.is_active(arm.yields[i]):
                if isinstance(g, Var) and isinstance(self.s.unit.type(g), t.Unknown):
                    self.s.unit.of_many_types.add(g)
                inner.accumulate(arm.yields[i], g, at)
        for sweep in reversed(sweeps):
            sweep(inner)

    def merged(
        self, node: If, tables: list[Cotangents], outs: list[list[Statement]],
        cotangents: Cotangents, at: Origin,
    ) -> tuple[list[Var], tuple[list[Atom], list[Atom]]]:
        """Return the outer variables that an arm changed, and their cotangents in each arm."""
        names: list[Var] = []
        for table in tables:
            for var in list(table.parts):
                if var not in table.inner:
                    table.merge_parts(var, at)
            names += [v for v in table.table if v not in table.inner and v not in names]
        yields: tuple[list[Atom], list[Atom]] = ([], [])
        for var in names:
            before = cotangents.get(var, at)
            for side, table in enumerate(tables):
                g = table.table.get(var, before)
                if g is None:
                    with self.s.writing_to(outs[side]):
                        type_ = self.s.unit.type(var)
                        g = table.zero_of(cotangents.value(var), type_, at)
                        table.own(g)
                        table.table[var] = g
                diverges = (node.then, node.orelse)[side].diverges
                yields[side].append(UNDEF if diverges else g)
        return names, yields

    def branch_results(
        self, names: list[Var], yields: tuple[list[Atom], list[Atom]], cotangents: Cotangents
    ) -> list[Var]:
        """Return new variables for the cotangents that a reverse branch results in."""
        unit = self.s.unit
        results = []
        for var, *arms in zip(names, *yields, strict=False):  # what is restored comes after
            result = Var(self.s.bar(var), False)
            type_ = merged_type(cotangents.type_of_cotangent(var), map(unit.type, arms))
            unit.types[result] = type_ if of_one_form(type_, arms, unit) else t.UNKNOWN
            unit.shapes[result] = unit.shape(cotangents.value(var))
            results.append(result)
        return results

    def save_from_arm(
        self, pending: PendingIf, side: int, out: list[Statement], yields: list[Atom]
    ) -> None:
        """Let the branch yield what the reverse arm reads of values made in the forward arm."""
        arm = pending.arms[side]
        hoist_metadata(out, arm, set(top_level(arm)), self.s.unit.unsure)
        made = set(top_level(arm))
        self.recompute_integers(out, yields, arm, made, pending.regions[side])
        needed = [v for v in free_variables(Block(tuple(out), tuple(yields))) if v in made]
        mapping: dict[Var, Atom] = {}
        for var in needed:
            saved = self.copy_of(var)
            pending.results.append(saved)
            pending.yields[side].append(var)
            pending.yields[1 - side].append(NONE if self.split or pending.in_loop else UNDEF)
            mapping[var] = saved
        rename(out, yields, mapping)

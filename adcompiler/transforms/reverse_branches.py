"""The reverse of a branch: a branch on the same condition.

The arms of the forward branch yield what the arms of the reverse one read of them.
"""

from __future__ import annotations

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Block, If, Origin, Statement, Var
from adcompiler.ir.visit import defined, free_variables
from adcompiler.transforms.cotangents import Cotangents, bar
from adcompiler.transforms.regions import PendingIf, hoist_metadata, region_variables, top_level
from adcompiler.transforms.reverse_base import ReverserBase, Sweep, merged_type, rename


class BranchReverser(ReverserBase):
    """Writes branches and their reverse."""

    def forward_if(self, node: If) -> Sweep | None:
        """Write a branch, left open; return how to reverse it."""
        with self.forward_pass() as then, self.inside():
            regions = [self.region]
            then_sweeps = self.forward(node.then.statements)
        then_yields = [self.value(a) for a in node.then.yields]
        with self.forward_pass() as orelse, self.inside():
            regions.append(self.region)
            else_sweeps = self.forward(node.orelse.statements)
        else_yields = [self.value(a) for a in node.orelse.yields]
        pending = PendingIf(
            node, self.value(node.condition), (then, orelse), (then_yields, else_yields),
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
        given: list[tuple[int, Atom]] = []
        owned: set[Atom] = set()
        for i, var in enumerate(node.results):
            if not self.is_active(var):
                continue
            if var in self.versions.all and cotangents.get(var, at) is not None:
                cotangents.table[var] = buffer = cotangents.buffer(var, at)
                owned.add(buffer)
            if (g := cotangents.take(var, at)) is not None:
                given.append((i, g))
        versions = [i for i, r in enumerate(node.results) if any(
            arm.yields[i] in self.versions.all
            for arm in (node.then, node.orelse) if not arm.diverges
        )]
        if not given and not versions:
            return
        cotangents.merge_all_parts(at)
        tables: list[Cotangents] = []
        outs: list[list[Statement]] = []
        restored: list[dict[Var, Atom]] = []
        for side, arm in enumerate((node.then, node.orelse)):
            made = region_variables(pending.arms[side], arm)
            inner = Cotangents(s, cotangents, made)
            inner.owned |= owned
            with s.writing_to([]) as out, self.restoring(pending.regions[side]) as table:
                if not arm.diverges:
                    for i in versions:
                        found = self.value(arm.yields[i])
                        if isinstance(found, Var):
                            table[found] = self.available(node.results[i])
                    if self.split:
                        self.keep_apart([v for st in arm.statements for v in defined(st)], at)
                    self.sweep_arm(arm, given, sweeps[side], inner, at)
                restored.append(dict(table))
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged(node, tables, outs, cotangents, at)
        back = self.restored_outside(pending, restored)
        for side in (0, 1):
            arm = (node.then, node.orelse)[side]
            yields[side].extend(UNDEF if arm.diverges else restored[side].get(
                var, self.available(var)) for var in back)
            with self.restoring(pending.regions[side]) as table:
                table.update(restored[side])
                self.read_restored(outs[side], yields[side])
            self.save_from_arm(pending, side, outs[side], yields[side])
        results = self.branch_results(names, yields, cotangents)
        for var in back:
            result = Var(var.name, False)
            s.copy_facts(var, result)
            s.unit.defs.pop(result, None)
            self.restored[-1][var] = result
            results.append(result)
        then, orelse = (
            Block(tuple(outs[k]), tuple(yields[k]), (node.then, node.orelse)[k].diverges)
            for k in (0, 1)
        )
        s.out.append(If(pending.condition, then, orelse, tuple(results), at))
        for var, result in zip(names, results, strict=False):
            owned_now = all(
                (g := table.table.get(var)) is None or g in table.owned for table in tables
            )
            cotangents.table[var] = result
            if owned_now and isinstance(s.unit.type(result), t.Array):
                cotangents.owned.add(result)

    def restored_outside(
        self, pending: PendingIf, restored: list[dict[Var, Atom]]
    ) -> list[Var]:
        """Return the values from outside the branch that an arm restored."""
        inside = [
            region_variables(pending.arms[side], arm)
            for side, arm in enumerate((pending.node.then, pending.node.orelse))
        ]
        destroyed = self.destroyed_values()
        return list(dict.fromkeys(
            var for side in (0, 1) for var in restored[side]
            if var not in inside[side] and var in destroyed
        ))

    def sweep_arm(
        self, arm: Block, given: list[tuple[int, Atom]], sweeps: list[Sweep], inner: Cotangents,
        at: Origin,
    ) -> None:
        """Write the reverse of an arm from the cotangents ``given`` of the branch's results."""
        for i, g in given:
            if self.is_active(arm.yields[i]):
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
                        table.owned.add(g)
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
            result = Var(bar(var), False)
            unit.types[result] = merged_type(
                cotangents.type_of_cotangent(var), map(unit.type, arms)
            )
            unit.shapes[result] = unit.shape_class(cotangents.value(var))
            results.append(result)
        return results

    def save_from_arm(
        self, pending: PendingIf, side: int, out: list[Statement], yields: list[Atom]
    ) -> None:
        """Let the branch yield what the reverse arm reads of values made in the forward arm."""
        arm = pending.arms[side]
        hoist_metadata(out, arm, set(top_level(arm)))
        made = set(top_level(arm))
        needed = [v for v in free_variables(Block(tuple(out), tuple(yields))) if v in made]
        mapping: dict[Var, Atom] = {}
        for var in needed:
            saved = self.copy_of(var)
            pending.results.append(saved)
            pending.yields[side].append(var)
            pending.yields[1 - side].append(NONE if self.split or pending.in_loop else UNDEF)
            mapping[var] = saved
        rename(out, yields, mapping)

"""The reverse of a branch: a branch on the same condition.

The arms of the forward branch yield what the arms of the reverse one read of them.
"""

from __future__ import annotations

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, UNDEF, Atom, Block, If, Origin, Statement, Var
from adcompiler.ir.visit import free_variables
from adcompiler.transforms.cotangents import Cotangents, bar
from adcompiler.transforms.regions import PendingIf, hoist_metadata, region_variables, top_level
from adcompiler.transforms.reverse_base import ReverserBase, Sweep, merged_type, rename


class BranchReverser(ReverserBase):
    """Writes branches and their reverse."""

    def forward_if(self, node: If) -> Sweep | None:
        """Write a branch, left open; return how to reverse it."""
        with self.forward_pass() as then, self.inside():
            then_sweeps = self.forward(node.then.statements)
        then_yields = [self.value(a) for a in node.then.yields]
        with self.forward_pass() as orelse, self.inside():
            else_sweeps = self.forward(node.orelse.statements)
        else_yields = [self.value(a) for a in node.orelse.yields]
        pending = PendingIf(
            node, self.value(node.condition), (then, orelse), (then_yields, else_yields),
            list(node.results), self.depth > 0,
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
        for i, var in enumerate(node.results):
            if self.is_active(var) and (g := cotangents.take(var, at)) is not None:
                given.append((i, g))
        if not given:
            return
        cotangents.merge_all_parts(at)
        tables: list[Cotangents] = []
        outs: list[list[Statement]] = []
        for side, arm in enumerate((node.then, node.orelse)):
            inner = Cotangents(s, cotangents, region_variables(pending.arms[side], arm))
            with s.writing_to([]) as out:
                if not arm.diverges:
                    self.sweep_arm(arm, given, sweeps[side], inner, at)
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged(node, tables, outs, cotangents, at)
        for side in (0, 1):
            self.save_from_arm(pending, side, outs[side], yields[side])
        results = self.branch_results(names, yields, cotangents)
        then, orelse = (
            Block(tuple(outs[k]), tuple(yields[k]), (node.then, node.orelse)[k].diverges)
            for k in (0, 1)
        )
        s.out.append(If(pending.condition, then, orelse, tuple(results), at))
        for var, result in zip(names, results, strict=True):
            owned = all(
                (g := table.table.get(var)) is None or g in table.owned for table in tables
            )
            cotangents.table[var] = result
            if owned and isinstance(s.unit.type(result), t.Array):
                cotangents.owned.add(result)

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
        for var, *arms in zip(names, *yields, strict=True):
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

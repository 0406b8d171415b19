"""The reverse of ``with`` and ``try``: of the arm that was completed, and outside of the region.

Only what was completed has a reverse: a body that an exception left gave nothing to the result. The
sweep runs after the context has been left; NumPy's error handling is entered again around it.
"""

from __future__ import annotations

import operator

import numpy as np

from adcompiler.derive.region_checks import check_context, check_exceptions
from adcompiler.derive.reverse.base import Sweep, rename
from adcompiler.derive.reverse.branches import BranchReverser
from adcompiler.derive.reverse.cotangents import HAVE_STORAGE, Cotangents
from adcompiler.derive.reverse.pending_regions import (
    PendingRegion, hoist_metadata, region_variables, top_level,
)
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    NONE, UNDEF, Atom, Block, Call, Const, If, Origin, Statement, Try, Var,
    With, substitute,
)
from adcompiler.ir.visit import bound_inside, direct_uses, free_variables


class RegionReverser(BranchReverser):
    """Writes ``with`` and ``try`` and their reverse."""

    def forward_region(self, node: With | Try) -> Sweep | None:
        """Write a region, left open; return how to reverse it."""
        if isinstance(node, With):
            check_context(self.s, self.varied, node)
        else:
            check_exceptions(self.s, self.varied, node)
        arms, yields, sweeps, regions = [], [], [], []
        for arm in node.arms():
            with self.forward_pass() as out, self.inside():
                regions.append(self.region)
                self.home.update(dict.fromkeys(bound_inside(node), self.region))
                sweeps.append(self.forward(arm.statements))
            arms.append(out)
            yields.append([self.value(atom) for atom in arm.yields])
        head = {v: self.value(v) for v in direct_uses(node) if isinstance(v, Var)}
        pending = PendingRegion(
            node, head, arms, yields, list(node.results), self.depth > 0, regions
        )
        self.write_region(pending)
        if not any(sweeps) and not any(map(self.is_active, node.results)):
            return None
        return lambda cotangents: self.sweep_region(pending, sweeps, cotangents)

    def sweep_region(
        self, pending: PendingRegion, sweeps: list[list[Sweep]], cotangents: Cotangents
    ) -> None:
        """Write the reverse of the arms that may be completed, and choose among them."""
        node, s = pending.node, self.s
        at = node.origin.reversed()
        blocks = node.arms()
        given, owned_before = self.given_results(node.results, cotangents, at)
        versions = self.version_results(node.results, blocks)
        if not given and not versions:
            return
        cotangents.merge_all_parts(at)
        completed = [k for k, block in enumerate(blocks) if not block.diverges]
        tables: list[Cotangents] = []
        outs: list[list[Statement]] = []
        restored: list[dict[Var, Atom]] = []
        for k in completed:
            inner = Cotangents(s, cotangents, region_variables(pending.arms[k], blocks[k]))
            for g in owned_before:
                inner.own(g)
            with s.writing_to([]) as out, self.restoring(pending.regions[k]) as table:
                self.enter_arm(blocks[k], node.results, versions, table, at)
                self.sweep_arm(blocks[k], given, sweeps[k], inner, at)
                restored.append(dict(table))
            tables.append(inner)
            outs.append(out)
        names, yields = self.merged_arms(tables, outs, cotangents, at)
        back = self.restored_outside(
            [region_variables(pending.arms[k], blocks[k]) for k in completed], restored
        )
        for k, out, row, known in zip(completed, outs, yields, restored, strict=True):
            with self.s.writing_to(out):
                row.extend(known.get(var) or self.rebuilt(var, at) for var in back)
            with self.restoring(pending.regions[k]) as table:
                table.update(known)
                self.read_restored(out, row)
            self.save_from_region(pending, k, out, row)
        results = self.chosen(pending, completed, names, back, outs, yields, cotangents)
        for var, atom in zip(back, results[len(names):], strict=True):
            self.restored[-1][var] = atom
        for position, (var, result) in enumerate(zip(names, results, strict=False)):
            before = cotangents.get(var, at)  # what an arm gives that does not change it
            owned = all(table.owns(table.table.get(var, before)) for table in tables)
            renewed = result is not yields[0][position]
            cotangents.table[var] = result
            if owned and isinstance(s.unit.type(result), HAVE_STORAGE) and (
                renewed or tables[0].owns(result)
            ):
                cotangents.own(result)

    def merged_arms(
        self, tables: list[Cotangents], outs: list[list[Statement]], cotangents: Cotangents,
        at: Origin,
    ) -> tuple[list[Var], list[list[Atom]]]:
        """Return the outer variables that an arm changed, and their cotangents in each arm."""
        names: list[Var] = []
        for table, out in zip(tables, outs, strict=True):
            for var in list(table.parts):
                if var not in table.inner:
                    with self.s.writing_to(out):
                        table.merge_parts(var, at)
            names += [v for v in table.table if v not in table.inner and v not in names]
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
        self, pending: PendingRegion, completed: list[int], names: list[Var], back: list[Var],
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

    def tests(self, pending: PendingRegion, completed: list[int], at: Origin) -> list[Atom]:
        """Let the region say which arm was completed; return the tests for all but the last."""
        s = self.s
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

    def entered_again(self, node: With | Try) -> Call | None:
        """Return the call that makes the context of the reverse, None if it has none."""
        made = self.s.unit.definition(node.context) if isinstance(node, With) else None
        if isinstance(made, Call) and isinstance(made.func, Const) and (
            made.func.value is np.errstate
        ):
            new = substitute(made, self.env)
            assert isinstance(new, Call)
            return new
        return None

    def save_from_region(
        self, pending: PendingRegion, k: int, out: list[Statement], yields: list[Atom]
    ) -> None:
        """Let an arm yield what its reverse reads of values made in it."""
        arm = pending.arms[k]
        made = set(top_level(arm)) | set(bound_inside(pending.node))
        hoist_metadata(out, arm, made, self.s.unit.unsure)
        made |= set(top_level(arm))
        mapping: dict[Var, Atom] = {}
        for var in free_variables(Block(tuple(out), tuple(yields))):
            if var not in made:
                continue
            saved = self.copy_of(var)
            pending.results.append(saved)
            for other, row in enumerate(pending.yields):
                nothing = NONE if self.split or pending.in_loop else UNDEF
                row.append(var if other == k else nothing)
            mapping[var] = saved
        rename(out, yields, mapping)

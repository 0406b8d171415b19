"""Gives variables their names in the emitted code: out of single assignment, back to plain Python.

Variables that hand a value on (a carried value and its next value, the result of a branch and what
its arms yield) share a name where their lifetimes allow, so that ``x = f(x)`` reads as it was
written; others may share a name only if they have the same base name and never live together.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable
from itertools import count

from adcompiler.analyses.storage import written_operand
from adcompiler.emit.fusion import Fusion
from adcompiler.emit.tapes import Tapes, saved_at
from adcompiler.ir.nodes import (
    Atom, Block, Const, Function, If, Item, Let, Loop, Statement, Try, Var, With,
)
from adcompiler.ir.visit import arms_of, bound_inside, defined, direct_uses, walk
from adcompiler.transforms.unit import Unit

WRITTEN = frozenset({
    "np", "math", "reversed", "range", "len", "zip", "enumerate", "slice", "float", "int",
    "complex", "list", "tuple", "dict",
})
"""Names that emitted code uses whatever the user's function is like."""

RESERVED = frozenset({*keyword.kwlist, *dir(builtins), "np", "math"})


class Names:
    """The name of each variable of one function."""

    def __init__(
        self, function: Function, unit: Unit, tapes: Tapes, fusion: Fusion,
        taken: Iterable[str] = (),
    ) -> None:
        self.unit = unit
        self.fusion = fusion
        self.tapes = tapes
        self.taken = RESERVED | frozenset(taken)
        self.written = WRITTEN | frozenset(taken)
        self.edges: dict[Var, set[Var]] = {}
        self.links: list[tuple[Var, Var]] = []
        self.order: dict[Var, None] = {p.var: None for p in function.params}
        self.params = [p.var for p in function.params]
        self.unpacked: dict[Var, list[Var]] = {}
        for statement in walk(function.body):
            match statement:
                case Let(target, Item(Var() as obj, Const())) if obj in unit.opened:
                    self.unpacked.setdefault(obj, []).append(target)
        live = self.read(function.body.yields)
        self.visit_block(function.body, live)
        for var in self.params:
            self.define(var, {*live, *self.params})
        self.group: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}
        self.coalesce()
        self.names: dict[Var, str] = {}
        self.assign()

    def __getitem__(self, var: Var) -> str:
        return self.names[self.leader(var)]

    def read(self, atoms: Iterable[Atom]) -> set[Var]:
        """Return the variables that are read when ``atoms`` are written."""
        return self.fusion.read_through(tuple(atoms))

    # -- interference --------------------------------------------------------------------------

    def define(self, var: Var, live: Iterable[Var]) -> None:
        self.order.setdefault(var)
        mine = self.edges.setdefault(var, set())
        for other in live:
            if other is not var:
                mine.add(other)
                self.edges.setdefault(other, set()).add(var)

    def visit_block(self, block: Block, live: set[Var]) -> None:
        """Walk backwards; ``live`` is what is read after the block and becomes what before it."""
        for statement in reversed(block.statements):
            self.visit(statement, live)

    def visit(self, statement: Statement, live: set[Var]) -> None:
        if any(self.fusion.is_fused(v) for v in defined(statement)):
            return
        match statement:
            case If() if statement in self.fusion.conditionals:
                self.define(statement.results[0], live)
                live.discard(statement.results[0])
                arms = (*statement.then.yields, *statement.orelse.yields, statement.condition)
                live |= self.read(arms)
            case If():
                self.visit_if(statement, live)
            case Loop() if statement in self.fusion.comprehensions:
                self.define(statement.collects[0], live)
                live.discard(statement.collects[0])
                inside = self.read(statement.body.yields)
                for item in statement.items:
                    self.define(item, (live | inside | set(statement.items)) - {item})
                live |= inside - set(statement.items)
                live |= self.read(statement.iterables)
            case Loop():
                self.visit_loop(statement, live)
            case With() | Try():
                self.visit_region(statement, live)
            case _:
                for var in defined(statement):
                    self.define(var, {*live, *self.beside(statement)})
                live.difference_update(defined(statement))
                match statement:
                    case Let(target, rhs) if (written := written_operand(rhs)) is not None:
                        self.link(target, written)
                        # with another name, it is assigned before the rest is read
                        self.define(target, self.read(direct_uses(statement)) - {written})
                live |= self.read(direct_uses(statement))

    def beside(self, statement: Statement) -> Iterable[Var]:
        """Return the variables that unpacking assigns together with that of a statement."""
        match statement:
            case Let(_, Item(Var() as obj, Const())):
                return self.unpacked.get(obj, ())
        return ()

    def link(self, a: Atom, b: Atom) -> None:
        """Wish that two variables share a name, as a value moves from one to the other."""
        if isinstance(a, Var) and isinstance(b, Var):
            self.links.append((a, b))

    def visit_if(self, node: If, live: set[Var]) -> None:
        for result in node.results:
            self.define(result, {*live, *node.results})
        after = live - set(node.results)
        before: set[Var] = set()
        for arm in (node.then, node.orelse):
            inner = set(after)
            inner |= self.read(arm.yields)
            self.keep_results_apart(node.results, arm, after)
            self.visit_block(arm, inner)
            before |= inner
            for result, value in zip(node.results, arm.yields, strict=False):
                self.link(result, value)
        live.clear()
        live.update(before)
        live |= self.read((node.condition,))

    def visit_region(self, node: With | Try, live: set[Var]) -> None:
        """Walk a region backwards; what its handlers read lives all through its body."""
        for result in node.results:
            self.define(result, {*live, *node.results})
        after = live - set(node.results)
        bound = bound_inside(node)
        handlers: set[Var] = set()
        before: set[Var] = set()
        for arm in reversed(arms_of(node)):
            around = after | (handlers if isinstance(node, Try) and arm is node.body else set())
            inner = around | self.read(() if arm.diverges else arm.yields)
            self.keep_results_apart(node.results, arm, around)
            self.visit_block(arm, inner)
            for var in bound:
                self.define(var, inner | after)
                if isinstance(node, Try):  # the name of an exception is unbound behind its handler
                    self.define(var, node.results)
            inner -= set(bound)
            handlers |= inner
            before |= inner
            for result, value in zip(node.results, arm.yields, strict=False):
                self.link(result, value)
        live.clear()
        live.update(before)
        live |= self.read(direct_uses(node))

    def keep_results_apart(self, results: tuple[Var, ...], arm: Block, after: set[Var]) -> None:
        """A result must not take the name of a variable that outlives the arm's end."""
        for result in results:
            self.define(result, after)

    def visit_loop(self, node: Loop, live: set[Var]) -> None:
        produced = (*node.results, *node.collects)
        for result in produced:
            self.define(result, {*live, *produced})
        after = live - set(produced)
        bound = {*node.params, *node.items}
        at_end = (*node.next_values(), *(() if node.stop() is None else (node.stop(),)))
        yields = self.read(at_end)
        inside = set(after) | set(node.collects)
        while True:
            before = set(inside)
            body_live = inside | yields
            self.visit_body(node, body_live)
            for var in (*node.items, *node.params):
                self.define(var, body_live | bound)
            entry = set(body_live) | set(node.params)
            if node.condition is not None:
                entry |= self.read(node.condition.yields)
                self.visit_block(node.condition, entry)
            for param in node.params:
                self.define(param, (entry | after) - {param})
            inside |= (entry | body_live) - bound
            if inside == before:
                break
        iterated = self.read(node.iterables)  # once the carried values have been initialised
        for var in node.collects:
            self.define(var, inside | bound | iterated)
        for param, init in zip(node.params, node.inits, strict=True):
            self.define(param, iterated - {init})
        for param, following, init, result in zip(
            node.params, node.next_values(), node.inits, node.results, strict=True
        ):
            self.define(result, after)
            self.link(param, following)
            self.link(param, result)
            self.link(param, init)
        live.clear()
        live.update(inside - set(node.collects))
        live |= self.read((*node.iterables, *node.inits))

    def visit_body(self, node: Loop, live: set[Var]) -> None:
        """Walk a loop's body backwards, where what it saves is read when it is saved."""
        values = dict(zip(node.collects, node.collected(), strict=True))
        places = saved_at(node, self.tapes.of_loop[node])
        statements = node.body.statements
        for position in range(len(statements), -1, -1):
            if position < len(statements):
                self.visit(statements[position], live)
            for tape in places.get(position, ()):
                live |= self.read([values[c] for c in tape.collects])

    # -- coalescing ----------------------------------------------------------------------------

    def leader(self, var: Var) -> Var:
        while self.group.get(var, var) is not var:
            var = self.group[var]
        return var

    def coalesce(self) -> None:
        for var in self.order:
            self.members[var] = [var]
        for a, b in self.links:
            if a not in self.order or b not in self.order:
                continue
            one, two = self.leader(a), self.leader(b)
            if one is two or (one in self.params and two in self.params):
                continue
            if any(self.edges[x] & set(self.members[two]) for x in self.members[one]):
                continue
            if two in self.params:
                one, two = two, one
            self.group[two] = one
            self.members[one] += self.members.pop(two)

    # -- names ---------------------------------------------------------------------------------

    def base(self, leader: Var) -> str:
        """Return the name that a group of variables would like to have."""
        if leader in self.params:
            return leader.name
        members = self.members[leader]
        named = [v for v in members if v in self.unit.names or not v.temporary]
        best = (named or members)[0]
        for var in named:
            if not var.name.endswith("_bar"):
                best = var
                break
        return self.unit.names.get(best) or self.unit.hints.get(best) or best.name

    def assign(self) -> None:
        by_name: dict[str, list[Var]] = {}
        leaders = [v for v in self.order if self.leader(v) is v]
        for leader in sorted(leaders, key=lambda v: v not in self.params):
            base = self.base(leader)
            for candidate in candidates(base):
                if candidate in (self.written if leader in self.params else self.taken):
                    continue
                holders = by_name.setdefault(candidate, [])
                if not any(self.interfere(leader, holder) for holder in holders):
                    holders.append(leader)
                    self.names[leader] = candidate
                    break

    def interfere(self, a: Var, b: Var) -> bool:
        others = set(self.members[b])
        return any(self.edges[x] & others for x in self.members[a])


def candidates(base: str) -> Iterable[str]:
    """Return the names to try: the base name, then numbered ones."""
    yield base
    for number in count(1):
        yield f"{base}_{number}"

"""Decides which values become part of the expression that uses them.

A temporary that is read once, by a later statement of its own block, is written in place of that
read, unless something in between writes into storage that it reads. Names are chosen afterwards:
what such an expression reads lives until the expression is written.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeGuard

from adcompiler.analyses.purity import Purity, is_destructive, is_writer
from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, Do, Function, If, Item, Let, Loop, Pack, Region, Rhs, Slice,
    Statement, Var, With, operands, unstar,
)
from adcompiler.ir.visit import (
    bound_inside, count_uses, defined, direct_uses, is_short_circuit, loops_in, walk,
)
from adcompiler.ops.queries import meaning
from adcompiler.typed.unit import Unit

MAX_WEIGHT = 12
MAX_CONDITIONAL = 4
MAX_COMPREHENSION = 6


class Fusion:
    """The values of one function that are written where they are used.

    ``conditionals`` are the branches that become conditional expressions, ``comprehensions`` the
    loops that become list comprehensions; the values made inside those are all fused.
    """

    def __init__(self, function: Function, unit: Unit, purity: Purity) -> None:
        self.unit = unit
        self.purity = purity
        self.uses = count_uses(function.body)
        self.buffers = {
            written_operand(s.rhs) for s in walk(function.body) if isinstance(s, Let)
        }
        self.definitions = {
            s.target: s.rhs for s in walk(function.body) if isinstance(s, Let)
        }
        self.sharing = Sharing(unit.type, self.definitions.get)  # type: ignore[arg-type]
        self.joined = joined_values(function.body)
        self.carried = carried_values(function.body)
        self.inside = variables_inside(function.body)
        self.viewed: dict[Var, set[Var]] = {}
        self.fused: set[Var] = set()
        self.doubled: set[Var] = set()
        self.reads: dict[Var, set[Var]] = {}
        self.weight: dict[Var, int] = {}
        self.conditionals: set[If] = set()
        self.comprehensions: set[Loop] = set()
        self.block(function.body.statements, function.body.yields)

    def is_fused(self, var: Var) -> bool:
        """Say whether ``var`` is written in place of its use."""
        return var in self.fused

    def read_through(self, atoms: Sequence[Atom]) -> set[Var]:
        """Return the variables that an expression of ``atoms`` reads when it is written."""
        found: set[Var] = set()
        for atom in atoms:
            if isinstance(atom, Var):
                found |= self.reads[atom] if atom in self.fused else {atom}
        return found

    # -- blocks --------------------------------------------------------------------------------

    def block(self, statements: Sequence[Statement], yields: Sequence[Atom]) -> None:
        direct = direct_counts(statements, yields)
        self.doubled.update(doubled_values(statements, self.unit.naming.names))
        for position, statement in enumerate(statements):
            following = statements[position + 1] if position + 1 < len(statements) else None
            if isinstance(following, With) and isinstance(statement, Let) and (
                following.context is statement.target and self.uses[statement.target] == 1
            ):
                self.fuse(statement.target, statement.rhs)
            else:
                self.statement(statement, direct)
        self.separate(statements)

    def statement(self, statement: Statement, direct: dict[Var, int]) -> None:
        match statement:
            case Let(target, rhs, _):
                if not is_destructive(rhs) and self.may_fuse(target, rhs, direct):
                    self.fuse(target, rhs)
            case If():
                self.branch(statement, direct)
            case Loop():
                self.loop(statement)
            case Region():
                for arm in statement.arms():
                    self.block(arm.statements, arm.yields)

    def fuse(self, target: Var, rhs: Rhs) -> None:
        atoms = operands(rhs)
        self.weight[target] = 1 + sum(self.weight.get(a, 0) for a in atoms if isinstance(a, Var))
        self.reads[target] = self.read_through(atoms)
        self.fused.add(target)

    def may_fuse(self, target: Var, rhs: Rhs, direct: dict[Var, int]) -> bool:
        if self.uses.get(target, 0) != 1 or direct.get(target, 0) != 1:
            return False
        if target in self.buffers:
            return False
        if isinstance(rhs, Item) and rhs.obj in self.unit.naming.opened:
            return False
        if isinstance(rhs, Slice) or isinstance(self.unit.type(target), t.Method):
            return True
        if target not in self.doubled and (
            not target.temporary or target in self.unit.naming.names
        ):
            return False
        weight = 1 + sum(self.weight.get(a, 0) for a in operands(rhs) if isinstance(a, Var))
        return weight <= MAX_WEIGHT and self.purity.is_pure(rhs)

    def separate(self, statements: Sequence[Statement]) -> None:
        """Keep what reads a buffer in front of a statement that writes into it."""
        reader: dict[Var, tuple[int, Statement]] = {}
        for position, statement in enumerate(statements):
            for atom in direct_uses(statement):
                if isinstance(atom, Var) and atom in self.fused:
                    reader.setdefault(atom, (position, statement))
        waiting: dict[Var, None] = {}  # to be written further down than where they are made
        for position, statement in enumerate(statements):
            written = written_buffers(statement)
            for var in reversed(list(waiting)) if written else ():  # what reads views, before these
                if self.place(var, reader, len(statements)) <= position:
                    del waiting[var]
                elif self.shares(self.reads[var], written):
                    self.fused.discard(var)
                    del waiting[var]
                    self.refresh(var, reader)
            waiting.update((var, None) for var in defined(statement) if var in self.fused)

    def place(
        self, var: Var, reader: dict[Var, tuple[int, Statement]], end: int
    ) -> int:
        """Return the position of the statement that a fused value becomes part of."""
        while var in reader:
            position, statement = reader[var]
            into = next((v for v in defined(statement) if v in self.fused), None)
            if into is None:
                return position
            var = into
        return end

    def shares(self, read: set[Var], written: set[Atom]) -> bool:
        """Say whether one of the variables read may share storage with one that is written."""
        into = {base for var in written if isinstance(var, Var) for base in self.bases(var)}
        return any(not into.isdisjoint(self.bases(var)) for var in read)

    def bases(self, var: Var) -> set[Var]:
        """Return the variables whose storage ``var`` may share, itself and what it is a view of.

        With each goes the outermost loop around it of which an earlier iteration made it: what the
        body defines is something else by now.
        """
        if var not in self.viewed:
            seen: set[tuple[Var, Loop | None]] = set()
            waiting: list[tuple[Atom, Loop | None]] = [(var, None)]
            while waiting:
                base, earlier = waiting.pop()
                if not isinstance(base, Var):
                    continue
                if earlier is not None and base not in self.inside[earlier][1]:
                    earlier = None
                if (base, earlier) not in seen:
                    seen.add((base, earlier))
                    waiting += [(atom, earlier) for atom in self.shared(base)]
                    if base in self.carried:
                        value, loop = self.carried[base]
                        waiting.append((value, earlier or loop))
            self.viewed[var] = {
                base for base, earlier in seen
                if earlier is None or base not in self.inside[earlier][0]
            }
        return self.viewed[var]

    def shared(self, var: Var) -> Sequence[Atom]:
        """Return what ``var`` is directly made of, as far as it has its storage there."""
        rhs = self.definitions.get(var)
        if rhs is None:
            return self.joined.get(var, ()) if is_mutable(self.unit.type(var)) else ()
        written = written_operand(rhs)
        if written is not None:
            return (written, *self.sharing.entered(rhs))
        return [atom for atom, _ in self.sharing.of(var, rhs)]

    def refresh(self, var: Var | None, reader: dict[Var, tuple[int, Statement]]) -> None:
        """Recompute what the fused expressions read that ``var`` was part of."""
        while var in reader:
            statement = reader[var][1]
            var = next((v for v in defined(statement) if v in self.fused), None)
            if var is not None:
                self.reads[var] = self.read_through(written_with(statement))

    # -- branches and loops --------------------------------------------------------------------

    def branch(self, node: If, direct: dict[Var, int]) -> None:
        if self.is_conditional(node):
            self.conditionals.add(node)
            for arm in (node.then, node.orelse):
                for statement in arm.statements:
                    assert isinstance(statement, Let)
                    self.fuse(statement.target, statement.rhs)
            result = node.results[0]
            if self.uses.get(result, 0) == 1 and direct.get(result, 0) == 1 and (
                result.temporary and result not in self.unit.naming.names
            ):
                arms = [*node.then.yields, *node.orelse.yields, node.condition]
                self.reads[result] = self.read_through(arms)
                self.weight[result] = MAX_WEIGHT // 2
                self.fused.add(result)
            return
        if is_short_circuit(node) and isinstance(node.condition, Var):
            self.fused.discard(node.condition)  # read as the condition and as the result
        for arm in (node.then, node.orelse):
            self.block(arm.statements, arm.yields)

    def is_conditional(self, node: If) -> bool:
        """Say whether a branch only chooses between two pure expressions."""
        if len(node.results) != 1:
            return False
        for arm in (node.then, node.orelse):
            if arm.diverges or len(arm.statements) > MAX_CONDITIONAL or arm.yields[0] is UNDEF:
                return False
            if not all(self.is_simple(s, arm) for s in arm.statements):
                return False
        return True

    def is_simple(self, statement: Statement, block: Block) -> bool:
        if not isinstance(statement, Let) or is_destructive(statement.rhs):
            return False
        named = not statement.target.temporary and block.yields[0] is not statement.target
        return (
            self.uses.get(statement.target, 0) == 1 and not named
            and self.purity.is_pure(statement.rhs)
        )

    def loop(self, node: Loop) -> None:
        if self.is_comprehension(node):
            self.comprehensions.add(node)
            for statement in node.body.statements:
                assert isinstance(statement, Let)
                self.fuse(statement.target, statement.rhs)
            return
        if node.condition is not None:
            self.block(node.condition.statements, node.condition.yields)
        stop = node.stop()
        self.block(
            node.body.statements, (*node.next_values(), *(() if stop is None else (stop,)))
        )
        for value in node.collected():  # a tuple is written where it is saved, at once
            if isinstance(value, Var) and value.temporary and self.uses.get(value) == 1 and (
                any(value in defined(s) for s in node.body.statements)
            ) and is_tuple(rhs := self.definitions.get(value)):
                self.fuse(value, rhs)

    def is_comprehension(self, node: Loop) -> bool:
        """Say whether a loop only collects one expression of its items, not taken apart."""
        if node.params or len(node.collects) != 1 or node.stops or node.condition is not None:
            return False
        if any(item in self.unit.naming.opened for item in node.items):
            return False
        body = node.body
        return not body.diverges and len(body.statements) <= MAX_COMPREHENSION and all(
            isinstance(s, Let) and self.uses.get(s.target, 0) == 1 and not is_destructive(s.rhs)
            and self.purity.is_pure(s.rhs) for s in body.statements
        )


def is_tuple(rhs: Rhs | None) -> TypeGuard[Pack]:
    """Say whether ``rhs`` makes a tuple."""
    return isinstance(rhs, Pack) and rhs.kind == "tuple"


def written_buffers(statement: Statement) -> set[Atom]:
    """Return the storage that a statement, or anything inside it, may write into."""
    found: set[Atom] = set()
    for inner in walk(Block((statement,))):
        if isinstance(inner, Let) and (written := written_operand(inner.rhs)) is not None:
            found.add(written)
        elif isinstance(inner, Do) and is_writer(inner.rhs):
            found.add(unstar(inner.rhs.args[0]))
        elif isinstance(inner, Loop):
            found.update(inner.inits)
    return found


def doubled_values(statements: Sequence[Statement], names: Mapping[Var, str]) -> Iterator[Var]:
    """Yield cotangents that are made to be doubled, under one name and by one line.

    Those are of ``x * x``, which sends one cotangent back twice.
    """
    made: dict[Atom, Let] = {}
    for statement in statements:
        if not isinstance(statement, Let):
            continue
        rhs, target = statement.rhs, statement.target
        if statement.origin.reverse and isinstance(rhs, Call) and meaning(rhs) == "multiply":
            for number, value in itertools.permutations(map(unstar, rhs.args)):
                first = made.get(value) if isinstance(number, Const) else None
                if first is not None and first.origin.line == statement.origin.line and (
                    names.get(first.target, first.target.name) == names.get(target, target.name)
                ):
                    yield first.target
        made[target] = statement


def joined_values(block: Block) -> dict[Var, list[Atom]]:
    """Return what the variables that regions define may be: results, and a loop's first values.

    What a loop leaves is what its last iteration has made, or what it began with.
    """
    found: dict[Var, list[Atom]] = {}
    for statement in walk(block):
        if isinstance(statement, Loop):
            found.update((p, [v]) for p, v in zip(statement.params, statement.inits, strict=True))
            found.update((r, [p]) for r, p in zip(statement.results, statement.params, strict=True))
            for result, value in zip(statement.results, statement.next_values(), strict=False):
                found[result].append(value)
            found.update((list_, [v]) for list_, v in zip(
                statement.collects, statement.collected(), strict=True))
            found.update((item, [*statement.iterables]) for item in statement.items)
        elif isinstance(statement, Region):
            for arm in statement.arms():
                for var, value in zip(statement.results, arm.yields, strict=False):
                    found.setdefault(var, []).append(value)
    return found


def carried_values(block: Block) -> dict[Var, tuple[Atom, Loop]]:
    """Return what a loop's params are after the first iteration, with the loop."""
    return {
        param: (value, loop) for loop in loops_in(block)
        for param, value in zip(loop.params, loop.next_values(), strict=True)
    }


def variables_inside(block: Block) -> dict[Loop, tuple[set[Var], set[Var]]]:
    """Return what the body of each loop defines, and all that is bound in the loop.

    What the body defines is something else in another iteration; what is bound, a carried value,
    may be made of what was there before.
    """
    found: dict[Loop, tuple[set[Var], set[Var]]] = {}
    for loop in loops_in(block):
        if loop.params:
            inside = {var for inner in walk(loop.body) for var in defined(inner)}
            bound = {var for inner in walk(Block((loop,))) for var in bound_inside(inner)}
            test = loop.condition or Block((), ())
            bound.update(var for inner in walk(test) for var in defined(inner))
            found[loop] = inside, inside | bound
    return found


def written_with(statement: Statement) -> Sequence[Atom]:
    """Return the atoms of the expression that a fused statement is written as."""
    if isinstance(statement, If):
        return (*statement.then.yields, *statement.orelse.yields, statement.condition)
    return direct_uses(statement)


def direct_counts(statements: Sequence[Statement], yields: Sequence[Atom]) -> dict[Var, int]:
    """Return how often each variable is read by these statements themselves and by ``yields``."""
    counts: dict[Var, int] = {}
    for statement in statements:
        for atom in direct_uses(statement):
            if isinstance(atom, Var):
                counts[atom] = counts.get(atom, 0) + 1
    for atom in yields:
        if isinstance(atom, Var):
            counts[atom] = counts.get(atom, 0) + 1
    return counts

"""Which sums and products of arrays may be written as ``x += y``: into one that nobody else holds.

Such an array was made by the code itself, and nothing reads it after the sum. Loops hand it on from
one iteration to the next. A copy of one is that array itself.
"""

from __future__ import annotations

from collections import Counter

from adcompiler.analyses.storage import written_operand
from adcompiler.backends.python.fusion import Fusion
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Function, If, Item, Let, Loop, Pack, Region, Rhs,
    Statement, Var, operands,
)
from adcompiler.ir.regions import COLLECTED
from adcompiler.ir.visit import blocks_of, direct_uses, free_variables, is_plain_region, walk
from adcompiler.ops.facts import IN_C
from adcompiler.ops.queries import known, meaning
from adcompiler.typed.unit import Unit


class LastUses:
    """Where the statements of a block read variables for the last time, as text is written.

    ``held`` are variables of which something else may hold the storage.
    """

    def __init__(self, block: Block, fusion: Fusion) -> None:
        self.last: dict[Atom, int] = {}
        self.held: set[Atom] = set()
        self.counts: list[Counter[Atom]] = []
        for position, statement in enumerate(block.statements):
            read = direct_uses(statement)
            self.counts.append(Counter(read))
            self.held.update(held_by(statement, fusion))
            if not (isinstance(statement, Let) and fusion.is_fused(statement.target)):
                read = (*read, *free_variables(Block((statement,))))
                for atom in (*read, *fusion.read_through(read)):
                    self.last[atom] = position
        self.end = len(block.statements)
        self.counts.append(Counter(block.yields))
        for atom in (*block.yields, *fusion.read_through(block.yields)):
            self.last[atom] = self.end
        for position, statement in enumerate(block.statements):  # a result may be what went in
            self.held.update(
                atom for atom in handed_on(statement) if self.last.get(atom) != position)

    def is_last(self, atom: Atom, position: int, count: int = 1) -> bool:
        """Say whether a statement reads a variable so often, and nothing does after it."""
        return self.last.get(atom) == position and self.counts[position][atom] == count and (
            atom not in self.held)


def handed_on(statement: Statement) -> set[Atom]:
    """Return what a loop or branch is given that may be what it gives."""
    return {edge.source for edge in statement.edges()} if isinstance(statement, Region) else set()


def held_by(statement: Statement, fusion: Fusion) -> set[Atom]:
    """Return variables of which a statement, or one inside of it, may hold the storage.

    A write into an array copies what it writes; one into a container holds it. A call of which
    more is not known may hold whatever it is given.
    """
    if isinstance(statement, Region):
        inside = [one for block in statement.blocks() for one in block.statements]
        found = set().union(*(held_by(one, fusion) | handed_on(one) for one in inside))
        if not is_plain_region(statement):
            return found | handed_on(statement)
        return found | {edge.source for edge in statement.edges() if edge.how == COLLECTED}
    if not isinstance(statement, Let):
        return {*direct_uses(statement)}
    rhs = statement.rhs
    written = written_operand(rhs)
    if written is not None:
        is_array = isinstance(fusion.unit.type(statement.target), t.Array)
        return set() if is_array else {*operands(rhs)} - {written}
    if is_copy(rhs):
        return set()
    if isinstance(rhs, Item | Attribute | Pack) or fusion.purity.is_pure(rhs):
        return {atom for atom, _ in fusion.sharing.of(statement.target, rhs)}
    return {*operands(rhs)}


def is_copy(rhs: Rhs) -> bool:
    """Say whether an array is copied as it lies in memory."""
    return meaning(rhs) == "copy" and isinstance(rhs, Call) and len(rhs.args) == 1 and (
        not rhs.kwargs and known(rhs).order != IN_C)


class SumsInPlace:
    """The sums of one function: ``into`` has the array that each of them is written into.

    ``moved`` are copies, each with the array that it is a copy of, and may be.
    """

    def __init__(
        self, function: Function, unit: Unit, fusion: Fusion, wanted: bool = True
    ) -> None:
        self.unit = unit
        self.fusion = fusion
        self.into: dict[Var, Var] = {}
        self.moved: dict[Var, Var] = {}
        self.uses: dict[Block, LastUses] = {}
        if not wanted:
            return
        self.block(function.body, set())
        for statement in walk(function.body):
            if not is_plain_region(statement):
                for inner in blocks_of(statement):
                    self.block(inner, set())

    def block(self, block: Block, given: set[Atom]) -> set[Atom]:
        """Note the sums of a block, and the loops in it; return what it owns at its end.

        ``given`` are variables from outside that it may write into.
        """
        owned = set(given)
        if block not in self.uses:
            self.uses[block] = LastUses(block, self.fusion)
        uses = self.uses[block]
        for position, statement in enumerate(block.statements):
            mine = {
                atom for atom in uses.counts[position]
                if atom in owned and uses.is_last(atom, position)
            }
            if isinstance(statement, Loop):  # each iteration may read what goes into the first
                inside = [var for one in blocks_of(statement) for var in free_variables(one)]
                mine -= {*inside, *self.fusion.read_through(inside)}
                owned |= self.loop(statement, mine)
            elif isinstance(statement, If):
                owned |= self.branch(statement, {
                    var for arm in statement.arms() for var in free_variables(arm)
                    if var in owned and uses.is_last(var, position, 0)
                })
            elif isinstance(statement, Let) and self.definition(statement, mine):
                owned.add(statement.target)
        return {atom for atom in block.yields if atom in owned and uses.is_last(atom, uses.end)}

    def definition(self, statement: Let, mine: set[Atom]) -> bool:
        """Note a sum or a copy; say whether the array that is defined is nobody else's.

        ``mine`` are the arrays that may be written into, as nothing reads them afterwards.
        """
        target, rhs = statement.target, statement.rhs
        written = written_operand(rhs)
        if written is not None:
            return written in mine
        if not self.is_new(target, rhs):
            return False
        if not self.fusion.is_fused(target) and isinstance(rhs, Call):
            for operand in self.summands(rhs):
                if operand in mine and isinstance(operand, Var) and self.is_like(target, operand):
                    self.into[target] = operand
                    break
            if is_copy(rhs) and isinstance(rhs.args[0], Var) and rhs.args[0] in mine:
                self.moved[target] = rhs.args[0]
        return True

    def loop(self, loop: Loop, mine: set[Atom]) -> set[Atom]:
        """Note the sums in a loop; return its results that are nobody else's.

        What an iteration hands on to the next one has to be its own, whichever came before.
        """
        carried: set[Atom] = {
            param for param, init in zip(loop.params, loop.inits, strict=True) if init in mine
        }
        before = dict(self.into), dict(self.moved)
        while True:
            inside = self.block(loop.body, carried)
            kept: set[Atom] = {
                param for param, following in zip(loop.params, loop.next_values(), strict=False)
                if param in carried and following in inside
            }
            if kept == carried:
                break
            carried = kept
            self.into, self.moved = dict(before[0]), dict(before[1])
        return {
            result for param, result in zip(loop.params, loop.results, strict=True)
            if param in carried
        }

    def branch(self, node: If, mine: set[Atom]) -> set[Atom]:
        """Note the sums in the arms of a branch; return its results that are nobody else's."""
        found: set[Atom] = set(node.results)
        for arm in node.arms():
            inside = self.block(arm, mine)
            if not arm.diverges:
                found &= {
                    result for result, atom in zip(node.results, arm.yields, strict=False)
                    if atom in inside
                }
        return found

    def is_new(self, target: Var, rhs: Rhs) -> bool:
        """Say whether a call makes an array that shares storage with no other one."""
        type_ = self.unit.type(target)
        return isinstance(type_, t.Array) and type_.ndim > 0 and isinstance(rhs, Call) and (
            isinstance(rhs.func, Const) and not getattr(rhs.func.value, "callee", None)
            and known(rhs).gives_own_arrays
        )

    @staticmethod
    def summands(rhs: Call) -> tuple[object, ...]:
        """Return the operands that a sum or product may be written into."""
        word = meaning(rhs)
        if rhs.kwargs or len(rhs.args) != 2:
            return ()
        if word in ("subtract", "divide"):
            return rhs.args[:1]
        return rhs.args if word in ("add", "multiply") else ()

    def is_like(self, one: Var, other: Var) -> bool:
        """Say whether arrays have one type and shape."""
        return self.unit.type(one) == self.unit.type(other) and (
            self.unit.shape(one) == self.unit.shape(other))

"""Which sums of arrays may be written as ``x += y``: into an array that nobody else holds.

Such an array was made by the code itself, and the sum is the only one that reads it. Loops hand it
on from one iteration to the next.
"""

from __future__ import annotations

from collections.abc import Mapping

from adcompiler.analyses.storage import written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Function, Let, Loop, Rhs, Var
from adcompiler.ir.visit import blocks_of, count_uses, walk
from adcompiler.ops.queries import known, meaning
from adcompiler.typed.unit import Unit


class SumsInPlace:
    """The sums of one function: ``into`` has the array that each of them is written into."""

    def __init__(self, function: Function, unit: Unit) -> None:
        self.unit = unit
        self.uses: Mapping[Atom, int] = dict(count_uses(function.body).items())
        self.into: dict[Var, Var] = {}
        self.block(function.body, set())
        for statement in walk(function.body):
            if not isinstance(statement, Loop):
                for inner in blocks_of(statement):
                    self.block(inner, set())

    def block(self, block: Block, owned: set[Atom]) -> set[Atom]:
        """Note the sums of a block, and the loops in it; return what it owns at its end.

        ``owned`` are variables from outside that it may write into, once each.
        """
        owned = set(owned)
        for statement in block.statements:
            if isinstance(statement, Loop):
                owned |= self.loop(statement, owned)
            elif isinstance(statement, Let):
                written = written_operand(statement.rhs)
                if self.is_new(statement.target, statement.rhs) or (
                    written in owned and self.uses.get(written) == 1
                ):
                    owned.add(statement.target)
                operand = self.summand(statement.target, statement.rhs, owned)
                if operand is not None:
                    self.into[statement.target] = operand
        return owned

    def loop(self, loop: Loop, owned: set[Atom]) -> set[Atom]:
        """Note the sums in a loop; return its results that are new, or were and were written into.

        What an iteration hands on to the next one has to be its own, whichever came before.
        """
        carried: set[Atom] = {
            param for param, init in zip(loop.params, loop.inits, strict=True)
            if init in owned and self.uses.get(init) == 1
        }
        before = dict(self.into)
        while True:
            inside = self.block(loop.body, carried)
            kept: set[Atom] = {
                param for param, following in zip(loop.params, loop.next_values(), strict=False)
                if param in carried and following in inside and self.uses.get(following) == 1
            }
            if kept == carried:
                break
            carried, self.into = kept, dict(before)
        return {
            result for param, result in zip(loop.params, loop.results, strict=True)
            if param in carried
        }

    def is_new(self, target: Var, rhs: Rhs) -> bool:
        """Say whether a call makes an array that shares storage with no other one."""
        type_ = self.unit.type(target)
        return isinstance(type_, t.Array) and type_.ndim > 0 and isinstance(rhs, Call) and (
            isinstance(rhs.func, Const) and not getattr(rhs.func.value, "callee", None)
            and known(rhs).gives_own_arrays
        )

    def summand(self, target: Var, rhs: Rhs, owned: set[Atom]) -> Var | None:
        """Return the operand of a sum that may be written into, None without one."""
        word = meaning(rhs)
        if word not in ("add", "subtract") or not isinstance(rhs, Call) or len(rhs.args) != 2:
            return None
        type_, shape = self.unit.type(target), self.unit.shape(target)
        if rhs.kwargs or not isinstance(type_, t.Array) or not type_.ndim:
            return None
        for operand in rhs.args[: 2 if word == "add" else 1]:
            if isinstance(operand, Var) and operand in owned and self.uses.get(operand) == 1 and (
                self.unit.type(operand) == type_ and self.unit.shape(operand) == shape
            ):
                return operand
        return None

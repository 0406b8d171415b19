"""Arrays that loops carry and write into, beside a part of them that is read in the next iteration.

``h[t] = step(row)`` and then ``row = h[t]``: the row is a view, which keeps its value by a copy of
the whole array in each iteration, before the write. A copy of the row does that, too. Variables of
this code have one value each, which no copy changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from adcompiler.analyses.purity import Purity, checks
from adcompiler.analyses.storage import Sharing, is_mutable, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, If, Let, Loop, Region, Statement, Update, Var, operands,
)
from adcompiler.ir.visit import (
    count_uses, definitions, substitute_block, used, walk, with_blocks,
)
from adcompiler.optimise.copies import copied
from adcompiler.optimise.dead_code import dead_code
from adcompiler.typed.unit import Unit


def with_rows_copied(
    unit: Unit, statements: Sequence[Statement], yields: Sequence[Atom]
) -> tuple[Statement, ...]:
    """Return statements of which loops copy parts of arrays that they carry, not whole arrays.

    ``yields`` are the values that are read behind them.
    """
    if not any(isinstance(one, Let) and copied(one.rhs) is not None
               for loop in walk(Block(tuple(statements))) if isinstance(loop, Loop)
               for one in loop.body.statements):
        return tuple(statements)
    whole = Block(tuple(statements), tuple(yields))
    return Rows(unit, whole).block(whole).statements


class Rows:
    """Rewrites the loops of a function."""

    def __init__(self, unit: Unit, whole: Block) -> None:
        self.unit = unit
        self.purity = Purity(unit.type, unit.definition)
        self.sharing = Sharing(unit.type, unit.definition)
        self.needed = definitions(dead_code(whole, self.purity))

    def block(self, block: Block) -> Block:
        """Return a block with its loops rewritten, and those inside of loops and branches."""
        found: list[Statement] = []
        for i, statement in enumerate(block.statements):
            if isinstance(statement, (Loop, If)):
                statement = with_blocks(statement, self.block)
            if isinstance(statement, Loop):
                after = used(Block(block.statements[i + 1 :], block.yields))
                for param in statement.params:
                    more, statement = self.rewritten(found, statement, param, set(after))
                    found += more
            found.append(statement)
        return replace(block, statements=tuple(found))

    def rewritten(
        self, before: Sequence[Statement], loop: Loop, param: Var, after: set[Var]
    ) -> tuple[list[Statement], Loop]:
        """Return a loop that writes into the array it carries as ``param``, and what is before it.

        It stays as it is where anything but the next values of what it carries may share storage
        with that array.
        """
        kept: tuple[list[Statement], Loop] = [], loop
        body, place = loop.body, loop.params.index(param)
        copy = next((one for one in body.statements if isinstance(one, Let)
                     and copied(one.rhs) is param), None)
        init, last = loop.inits[place], body.yields[place] if body.yields else None
        if copy is None or not isinstance(init, Var) or copy.target in self.unit.layouts.read or (
            self.unit.type(param) != self.unit.type(copy.target)
            or count_uses(body).get(param, 0) != 1
            or (loop.condition is not None and param in used(loop.condition))
        ):
            return kept
        held = self.holders(before, init)
        inside = self.holders(body.statements, copy.target)
        if held is None or inside is None or not self.is_made_in(before, init) or (
            param in inside or last not in inside
        ):
            return kept
        read = set(used(Block((replace(loop, inits=()),)))) | {
            a for i, a in enumerate(loop.inits) if a == init and i != place and isinstance(a, Var)}
        if (held & (read | after)) or init in (read | after):
            return kept
        rows = [a if isinstance(a, Var) and a in inside and i != place else None
                for i, a in enumerate(body.yields)]
        firsts = [a if isinstance(a, Var) and a in held and i != place else None
                  for i, a in enumerate(loop.inits)]
        if any(row is last for row in rows) or any(rows[len(loop.params):]) or not all(
            self.may_be_copied(a) for a in (*rows, *firsts) if a is not None
        ):
            return kept
        start, ends = (
            self.copies(firsts, before, copy), self.copies(rows, body.statements, copy))
        statements = tuple(one for one in body.statements if one is not copy)
        made = replace(body, statements=(*statements, *ends[0]), yields=tuple(
            a if new is None else new for a, new in zip(body.yields, ends[1], strict=True)))
        inits = tuple(
            a if new is None else new for a, new in zip(loop.inits, start[1], strict=True))
        return start[0], replace(
            loop, inits=inits, body=substitute_block(made, {copy.target: param}))

    def may_be_copied(self, value: Var) -> bool:
        """Say whether a value is an array for sure, of which nobody asks how it lies in memory."""
        return isinstance(self.unit.type(value), t.Array) and value not in self.unit.unsure and (
            value not in self.unit.layouts.read)

    def copies(
        self, values: Sequence[Var | None], made: Sequence[Statement], at: Let
    ) -> tuple[list[Statement], list[Var | None]]:
        """Return statements that copy values, where they are ``made``, and the copies in places."""
        origins = {one.target: one.origin for one in made if isinstance(one, Let)}
        statements: list[Statement] = []
        found: list[Var | None] = []
        for value in values:
            new = None
            if value is not None:
                new, rhs = Var(value.name, value.temporary), Call(Const(np.copy), (value,))
                self.unit.record(new, rhs, self.unit.type(value))
                self.unit.shapes[new] = self.unit.shape(value)
                statements.append(Let(new, rhs, origins.get(value, at.origin)))
            found.append(new)
        return statements, found

    def is_made_in(self, statements: Sequence[Statement], array: Atom) -> bool:
        """Say whether an array is made by some statements, as storage of its own."""
        made = {one.target: one.rhs for one in statements if isinstance(one, Let)}
        while isinstance(array, Var) and array in made:
            rhs = made[array]
            if not isinstance(rhs, Update):
                return isinstance(rhs, Call) and isinstance(rhs.func, Const) and (
                    written_operand(rhs) is None and self.purity.is_pure(rhs)
                    and not list(self.sharing.of(array, rhs)))
            array = rhs.obj
        return False

    def holders(self, statements: Sequence[Statement], array: Var) -> set[Var] | None:
        """Return all that may share storage with an array, itself and what it is made of included.

        None where something that is not made by the statements may, or what they call may keep it.
        """
        near: dict[Atom, list[Atom]] = {}
        escaped: set[Atom] = set()

        def join(one: Atom, other: Atom) -> None:
            near.setdefault(one, []).append(other)
            near.setdefault(other, []).append(one)

        block = Block(tuple(statements))
        for statement in walk(block):
            match statement:
                case Let(target, rhs):
                    written = written_operand(rhs)
                    if target not in self.needed and self.purity.is_pure(rhs):
                        continue
                    if written is not None:
                        join(target, written)
                    elif not self.purity.is_pure(rhs):
                        escaped.update(operands(rhs))
                        escaped.add(target)
                    for operand, _ in self.sharing.of(target, rhs):
                        join(target, operand)
                case Do(rhs) if not checks(rhs):
                    escaped.update(operands(rhs))
                case Region():
                    for edge in statement.edges():
                        if is_mutable(self.unit.type(edge.target)):
                            join(edge.target, edge.source)
        found: set[Atom] = {array}
        waiting: list[Atom] = [array]
        while waiting:
            for other in near.get(waiting.pop(), ()):
                if other not in found:
                    found.add(other)
                    waiting.append(other)
        here = definitions(block)
        if found & escaped or not all(isinstance(one, Var) and one in here for one in found):
            return None
        return {one for one in found if isinstance(one, Var)}


__all__ = ["with_rows_copied"]

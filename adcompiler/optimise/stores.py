"""Stores: ``x[i] = 0.0`` and later ``x[i] += g`` becomes ``x[i] = g``.

The cotangent of what a statement overwrites is zeroed before the statement hands back what it read
there. What is added to other parts in between is added afterwards: sums commute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from adcompiler.analyses.storage import Sharing, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Let, Pack, Slice, Statement, Step, Update, Var, unstar,
)
from adcompiler.ir.visit import count_uses, substitute_statement, walk, with_blocks
from adcompiler.runtime import add_at
from adcompiler.transforms.unit import Unit


def direct_stores(block: Block, unit: Unit) -> Block:
    """Return ``block`` with values stored that are added to a part that has just been zeroed."""
    return _Stores(block, unit).block(block)


@dataclass(frozen=True)
class Write:
    """A statement that writes into a part of an array: ``target`` is ``source`` with that done."""

    let: Let
    source: Var
    index: Atom
    value: Atom
    adds: bool


class _Stores:
    def __init__(self, block: Block, unit: Unit) -> None:
        self.unit = unit
        self.uses = count_uses(block)
        self.made = {s.target: s.rhs for s in walk(block) if isinstance(s, Let)}
        self.sharing = Sharing(unit.type, self.made.get)  # type: ignore[arg-type]

    def block(self, block: Block) -> Block:
        statements = [with_blocks(statement, self.block) for statement in block.statements]
        yields = list(block.yields)
        while self.join(statements, yields):
            pass
        return replace(block, statements=tuple(statements), yields=tuple(yields))

    def join(self, statements: list[Statement], yields: list[Atom]) -> bool:
        """Join one zero and what is added to it; say whether there were such."""
        place = {s.target: i for i, s in enumerate(statements) if isinstance(s, Let)}
        readers = self.readers(statements)
        for first, statement in enumerate(statements):
            zero = self.write(statement)
            if zero is None or zero.adds or not is_zero(zero.value):
                continue
            links: list[Let] = []
            var = zero.let.target
            while self.uses.get(var) == 1 and var in readers:
                added = self.write(statements[readers[var]])
                if added is None or not added.adds or added.source is not var:
                    break
                last = place[added.let.target]
                if self.key(added.index) == self.key(zero.index):
                    start = place[links[0].target] if links else last
                    if self.writes_between(statements, start, last, links):
                        break
                    self.store(statements, yields, first, last, zero, added, links)
                    return True
                links.append(added.let)
                var = added.let.target
        return False

    def store(
        self, statements: list[Statement], yields: list[Atom], first: int, last: int, zero: Write,
        added: Write, links: Sequence[Let],
    ) -> None:
        """Write the value where it was added, and then what was added to other parts before."""
        target = zero.let.target
        rhs = Update(zero.source, (Step("item", args=(zero.index,)),), added.value)
        self.unit.defs[target] = self.made[target] = rhs
        for table in (self.unit.names, self.unit.hints):
            table.pop(target, None)
        new = [Let(target, rhs, added.let.origin), *links]
        mapping: dict[Var, Atom] = {added.let.target: new[-1].target}
        gone = {id(statements[first]), id(added.let), *map(id, links)}
        head = [s for s in statements[:last] if id(s) not in gone]
        tail = [substitute_statement(s, mapping) for s in statements[last + 1 :]]
        statements[:] = [*head, *new, *tail]
        yields[:] = [mapping.get(a, a) if isinstance(a, Var) else a for a in yields]

    def readers(self, statements: Sequence[Statement]) -> dict[Var, int]:
        """Return which statement writes into the storage that each variable names."""
        found = {}
        for position, statement in enumerate(statements):
            if isinstance(statement, Let) and isinstance(
                source := written_operand(statement.rhs), Var
            ):
                found[source] = position
        return found

    def writes_between(
        self, statements: Sequence[Statement], first: int, last: int, links: Sequence[Let]
    ) -> bool:
        """Say whether other storage is written meanwhile, of which what is added may be a view."""
        return any(
            isinstance(inner, Let) and written_operand(inner.rhs) is not None
            for statement in statements[first:last] if not any(statement is x for x in links)
            for inner in walk(Block((statement,)))
        )

    def write(self, statement: Statement) -> Write | None:
        """Return the write of a statement into a part of an array that a view may be made of."""
        match statement:
            case Let(_, Update(Var() as source, (Step("item", args=(index,)),), value, adds)):
                found = Write(statement, source, index, value, adds)
            case Let(_, Call(Const(function), (source, index, value), ())) if (
                function is add_at and isinstance(unstar(source), Var)
            ):
                buffer = unstar(source)
                assert isinstance(buffer, Var)
                found = Write(statement, buffer, unstar(index), unstar(value), True)
            case _:
                return None
        is_array = isinstance(self.unit.type(found.source), t.Array)
        return found if is_array and self.sharing.is_basic(found.index) else None

    def key(self, index: Atom) -> Any:
        """Return a value that is equal for subscripts of the same part."""
        if isinstance(index, Const):
            return (type(index.value), repr(index.value))
        match self.made.get(index):
            case Pack("tuple", items):
                return ("tuple", *(self.key(unstar(item)) for item in items))
            case Slice(lower, upper, step):
                return ("slice", self.key(lower), self.key(upper), self.key(step))
        return index


def is_zero(atom: Atom) -> bool:
    """Say whether an atom is the constant 0.0."""
    return isinstance(atom, Const) and type(atom.value) is float and atom.value == 0.0


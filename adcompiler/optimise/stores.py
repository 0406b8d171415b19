"""Stores: ``x[i] = 0.0`` and later ``x[i] += g`` becomes ``x[i] = g``; others are not needed.

The cotangent of what a statement overwrites is zeroed before the statement hands back what it read
there. What is added to other parts in between is added afterwards: sums commute.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adcompiler.analyses.storage import Sharing, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Loop, Pack, Slice, Star, Statement, Step, Update, Var,
    unstar,
)
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import count_uses, substitute_statement, walk, with_blocks
from adcompiler.ops.queries import meaning
from adcompiler.runtime import add_at
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


def direct_stores(block: Block, unit: Unit) -> Block:
    """Return ``block`` with values stored that are added to a part that has just been zeroed."""
    writes = any(
        isinstance(s, Let) and written_operand(s.rhs) is not None for s in walk(block)
    )
    return _Stores(block, unit).block(block) if writes else block


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
        statements = [
            self.first_stores(with_blocks(statement, self.block)) for statement in block.statements
        ]
        yields = list(block.yields)
        if any(map(self.write, statements)):
            everywhere = self.uses
            self.count(statements, yields)
            while self.join(statements, yields):
                self.count(statements, yields)
            while self.drop_unread(statements):
                self.count(statements, yields)
            while self.drop_idle(statements, yields):
                pass
            self.uses = everywhere
        return altered(block, statements=tuple(statements), yields=tuple(yields))

    def count(self, statements: Sequence[Statement], yields: Sequence[Atom]) -> None:
        """Count how often variables are read in a block as it is now."""
        self.uses = count_uses(Block(tuple(statements), tuple(yields)))

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

    def drop_unread(self, statements: list[Statement]) -> bool:
        """Drop one store that the next one overwrites unread; say whether there was such."""
        stores = {w.let.target: w for s in statements if (w := self.write(s)) and not w.adds}
        for position, statement in enumerate(statements):
            later = self.write(statement)
            if later is None or later.adds or later.source not in stores:
                continue
            earlier = stores[later.source]
            if self.uses.get(later.source) != 1 or (
                self.key(earlier.index) != self.key(later.index)
            ) or not self.is_number(later.value):
                continue
            self.replace(statements, position, later, earlier.source, later.value)
            statements.remove(earlier.let)
            return True
        return False

    def drop_idle(self, statements: list[Statement], yields: list[Atom]) -> bool:
        """Drop one store of the number that is there already; say whether there was such."""
        for position, statement in enumerate(statements):
            write = self.write(statement)
            if write is None or write.adds or not self.is_number(write.value):
                continue
            read = self.made.get(write.value)  # type: ignore[arg-type]
            if isinstance(read, Item) and read.obj is write.source and (
                self.key(read.index) == self.key(write.index)
            ):
                mapping: dict[Var, Atom] = {write.let.target: write.source}
                statements[position:] = [
                    substitute_statement(later, mapping) for later in statements[position + 1 :]
                ]
                yields[:] = [mapping.get(a, a) if isinstance(a, Var) else a for a in yields]
                return True
        return False

    def replace(
        self, statements: list[Statement], position: int, write: Write, source: Var, value: Atom
    ) -> None:
        """Make a write a store of a value."""
        rhs = Update(source, (Step("item", args=(write.index,)),), value)
        self.unit.defs[write.let.target] = self.made[write.let.target] = rhs
        statements[position] = Let(write.let.target, rhs, write.let.origin)

    def is_number(self, value: Atom) -> bool:
        """Say whether a value that is stored is no array, which might not fit where it goes."""
        return isinstance(value, Const) or isinstance(self.unit.type(value), t.Scalar)

    # -- loops over elements -------------------------------------------------------------------

    def first_stores(self, statement: Statement) -> Statement:
        """Store what a loop adds to an array of zeros, where no iteration meets another's."""
        if not isinstance(statement, Loop):
            return statement
        indices = [
            item for item, iterable in zip(statement.items, statement.iterables, strict=False)
            if self.counts_up_from_zero(iterable)
        ]
        statements = list(statement.body.statements)
        for param, init, following in zip(
            statement.params, statement.inits, statement.next_values(), strict=False
        ):
            rhs = self.made.get(init)  # type: ignore[arg-type]
            if meaning(rhs) == "zeros_like" and self.uses.get(init) == 1:  # type: ignore[arg-type]
                self.first_store(statements, param, following, indices)
        return replace(
            statement, body=replace(statement.body, statements=tuple(statements))
        )

    def first_store(
        self, statements: list[Statement], param: Var, following: Atom, indices: Sequence[Var]
    ) -> None:
        """Store the first thing that an iteration adds, if it adds to one element of its own."""
        var, first = param, None
        for position, statement in enumerate(statements):
            found = self.write(statement)
            if found is None or found.source is not var:
                continue
            if not found.adds or found.index not in indices or self.uses.get(var) != 1 or (
                getattr(self.unit.type(param), "ndim", 0) != 1 or not self.is_number(found.value)
            ):
                return
            first = first or (position, found)
            if first[1].index is not found.index:
                return
            var = found.let.target
        if first is not None and var is following and self.uses.get(var) == 1:
            self.replace(statements, first[0], first[1], param, first[1].value)

    def counts_up_from_zero(self, iterable: Atom) -> bool:
        """Say whether a loop runs over different natural numbers, in whatever order."""
        rhs = self.made.get(iterable)  # type: ignore[arg-type]
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return False
        args = [arg for arg in rhs.args if not isinstance(arg, Star)]
        if not args or len(args) != len(rhs.args):
            return False
        if rhs.func.value is reversed:
            return self.counts_up_from_zero(args[0])
        if rhs.func.value is not range:
            return False
        start, stop = (Const(0), args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else Const(1)
        if not isinstance(step, Const) or type(step.value) is not int:
            return False
        least, bound = (start, 0) if step.value > 0 else (stop, -1)
        return isinstance(least, Const) and type(least.value) is int and least.value >= bound

    def store(
        self, statements: list[Statement], yields: list[Atom], first: int, last: int, zero: Write,
        added: Write, links: Sequence[Let],
    ) -> None:
        """Write the value where it was added, and then what was added to other parts before."""
        target = zero.let.target
        rhs = Update(zero.source, (Step("item", args=(zero.index,)),), added.value)
        self.unit.defs[target] = self.made[target] = rhs
        for table in (self.unit.naming.names, self.unit.naming.hints):
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


"""Derivative code of constant seeds, parted: what is computed once, and what at every point.

A sparse derivative is evaluated along the same seeds every time, for arguments of the same shapes
and the same values of what is not differentiated. Whatever depends on nothing else (rolled and
joined seeds, say, and what they are multiplied with by numbers) is computed by one function; the
other one reads it, and does what depends on the point.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from adcompiler.analyses.purity import Purity, checks, is_destructive
from adcompiler.analyses.storage import written_operand
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import fixpoint
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Free, Global, Item, Let, Pack, Rhs,
    Slice, Statement, Update, Var, operands,
)
from adcompiler.ir.visit import defined, free_variables, is_plain_region, walk
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.optimise.dead_code import dead_code
from adcompiler.products.ownership import shared_storage, storage_of
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

SHAPES = frozenset({"shape", "size", "ndim", "dtype"})


@dataclass(frozen=True)
class Parted:
    """The two halves of a block: ``constants`` yields what ``rest`` reads of it, ``kept``."""

    constants: Block
    kept: tuple[Var, ...]
    rest: Block


def parted(
    block: Block, unit: Unit, seeds: Collection[Var], fixed: Collection[Var],
    shaped: Collection[Var],
) -> Parted | None:
    """Part ``block`` at what only ``seeds``, ``fixed`` and the shapes of ``shaped`` decide.

    ``fixed`` are parameters whose values do not change, ``shaped`` those that keep their structure.
    None if nothing is gained, or if the block does anything but compute.
    """
    return Hoisting(block, unit, seeds, fixed, shaped).run()


class Hoisting:
    """Finds what is constant in one block, and parts it there."""

    def __init__(
        self, block: Block, unit: Unit, seeds: Collection[Var], fixed: Collection[Var],
        shaped: Collection[Var],
    ) -> None:
        self.whole = block
        self.unit = unit
        self.purity = Purity(unit.type, unit.definition)
        self.given = {*seeds, *fixed}
        self.of_seeds: set[Var] = set(seeds)
        self.shaped: set[Var] = set(shaped)
        self.constant: set[Var] = set()
        self.shared = shared_storage(block, unit)
        self.written: set[Atom] = set()

    def run(self) -> Parted | None:
        """Return the halves, None if nothing is gained."""
        if any(isinstance(st, Do) and not checks(st.rhs) for st in walk(self.whole)):
            return None
        self.note_seeds()
        fixpoint(self.excludes)  # what is written depends on where the whole block is parted
        first, rest, kept = self.split()
        if not any(self.is_array(var) for var in kept):
            return None
        yields = tuple(kept)
        constants = dead_code(Block(tuple(first), yields), self.purity)
        remaining = replace(self.whole, statements=tuple(rest))
        return Parted(constants, yields, dead_code(remaining, self.purity))

    def excludes(self) -> bool:
        """Find what is constant; say if some of that is written into, which is excluded then."""
        self.find_constant(self.written)
        first, rest, kept = self.split()
        more = (self.written_later() | self.overwritten(first, rest, kept)) - self.written
        self.written |= more
        return bool(more)

    def note_seeds(self) -> None:
        """Find what is computed from seeds."""
        for statement in self.whole.statements:
            if not self.of_seeds.isdisjoint(reads(statement)):
                self.of_seeds.update(defined(statement))

    # -- what is constant ----------------------------------------------------------------------

    def find_constant(self, written: set[Atom]) -> None:
        """Find the variables that have one value at all points; none of those ``written``."""
        self.constant = {var for var in self.given if not self.shares(var, written)}
        for statement in self.whole.statements:
            if isinstance(statement, Let) and self.is_part(statement.rhs):
                self.shaped.add(statement.target)
            elif self.is_constant(statement) and not any(
                self.shares(var, written) for var in defined(statement)
            ):
                self.constant.update(defined(statement))

    def is_part(self, rhs: Rhs) -> bool:
        """Say whether a value is a part of an argument that keeps its structure."""
        match rhs:
            case Item(obj, Const()):
                return obj in self.shaped and isinstance(
                    self.unit.type(obj), (t.Tuple, t.List, t.Dict))
            case Attribute(obj):
                return obj in self.shaped and isinstance(self.unit.type(obj), t.Object)
        return False

    def is_constant(self, statement: Statement) -> bool:
        """Say whether what a statement defines is the same at all points."""
        if isinstance(statement, Let):
            return self.is_constant_value(statement.rhs)
        return is_plain_region(statement) and all(map(self.known, reads(statement))) and all(
            is_plain_region(inner) or (
                isinstance(inner, Let) and self.purity.is_pure(inner.rhs)
                and not isinstance(inner.rhs, (Closure, Free, Global))
                and not is_destructive(inner.rhs)
            ) for inner in walk(Block((statement,)))
        )

    def is_constant_value(self, rhs: Rhs) -> bool:
        """Say whether a value is the same at all points."""
        if not self.purity.is_pure(rhs):
            return False
        match rhs:
            case Attribute(obj, name) if obj in self.shaped and name in SHAPES:
                return True
            case Call(Const(function), (first, *others)) if hashable(function) and (
                REGISTRY.facts(function).of_form and first in self.shaped
            ):
                return all(map(self.known, (*others, *(atom for _, atom in rhs.kwargs))))
            case Call() | Pack() | Item() | Slice() | Attribute() | Update():
                return all(map(self.known, operands(rhs)))
        return False

    def known(self, atom: Any) -> bool:
        """Say whether an operand has one value at all points."""
        return isinstance(atom, Const) or atom in self.constant

    def shares(self, var: Var, written: set[Atom]) -> bool:
        """Say whether a value may share storage with any of ``written``."""
        return bool(written) and not written.isdisjoint(storage_of(var, self.shared))

    def written_later(self) -> set[Atom]:
        """Return the storage that is written into at every point, or that impure code gets."""
        found: set[Atom] = set()
        for statement in walk(self.whole):
            if not isinstance(statement, Let):
                continue
            rhs = statement.rhs
            if is_destructive(rhs) and statement.target in self.constant:
                continue
            if is_destructive(rhs) or not self.purity.is_pure(rhs):
                found |= self.written_by(rhs)
        return found

    def written_by(self, rhs: Rhs) -> set[Atom]:
        """Return the storage that ``rhs`` may write into, or hand to others that do."""
        atoms = operands(rhs)
        obj = written_operand(rhs)
        if isinstance(obj, Var) and isinstance(self.unit.type(obj), t.Array):
            atoms = (obj,)
        found: set[Atom] = set()
        for atom in atoms:
            if isinstance(atom, Var):
                found |= {each for each in storage_of(atom, self.shared) if isinstance(each, Var)}
        return found

    def overwritten(
        self, first: Iterable[Statement], rest: Iterable[Statement], kept: Iterable[Var]
    ) -> set[Atom]:
        """Return the storage of what is kept that is written into later, or is an argument's."""
        found: set[Atom] = set()
        known: set[Atom] = set()
        handed = set(kept)
        arguments = self.given - self.of_seeds
        for statement in first:
            if isinstance(statement, Let) and is_destructive(statement.rhs):
                found |= self.written_by(statement.rhs) & known
            for var in handed.intersection(defined(statement)):
                storage = storage_of(var, self.shared)
                known |= storage
                if not storage.isdisjoint(arguments):
                    found |= storage
        for statement in walk(Block(tuple(rest))):
            if isinstance(statement, Let) and is_destructive(statement.rhs):
                found |= self.written_by(statement.rhs) & known
        return {atom for atom in found if isinstance(atom, Var)}

    # -- parting -------------------------------------------------------------------------------

    def split(self) -> tuple[list[Statement], list[Statement], list[Var]]:
        """Return the statements of both halves, and what the second one reads of the first.

        Numbers, shapes, subscripts and bound methods are not handed over but written in both.
        """
        first: list[Statement] = []
        rest: list[Statement] = []
        kept: dict[Var, None] = {}
        needed = {atom for atom in self.whole.yields if isinstance(atom, Var)}
        for statement in reversed(self.whole.statements):
            wanted = [var for var in defined(statement) if var in needed]
            if self.is_first(statement):
                first.append(statement)
                if all(map(self.is_kept, wanted)):
                    kept.update(dict.fromkeys(wanted))
                    continue
            rest.append(statement)
            needed.update(reads(statement))
        for var in self.of_seeds & needed & self.given:
            kept[var] = None
        return first[::-1], rest[::-1], list(kept)[::-1]

    def is_first(self, statement: Statement) -> bool:
        """Say whether a statement can be run ahead: all that it defines is constant."""
        if isinstance(statement, Let) and self.is_part(statement.rhs):
            return True
        made = defined(statement)
        return bool(made) and self.constant.issuperset(made)

    def is_kept(self, var: Var) -> bool:
        """Say whether a constant is worth handing from one function to the other, and can be."""
        return var in self.constant and var in self.of_seeds and isinstance(
            self.unit.type(var), (t.Array, t.Scalar))

    def is_array(self, var: Var) -> bool:
        """Say whether a value is an array."""
        return isinstance(self.unit.type(var), t.Array)


def reads(statement: Statement) -> Iterable[Var]:
    """Return what a statement reads that it does not define."""
    return free_variables(Block((statement,)))

"""Views of storage that was put back, read anew in the sweep; what only tells a shape is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from adcompiler.analyses.storage import METADATA, written_operand
from adcompiler.derive.reverse.forward_pass import ForwardPass, rename
from adcompiler.derive.reverse.undo import Restoring
from adcompiler.errors import InternalError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Let, Region, Rhs, Statement, Var, operands, substitute,
    unstar,
)
from adcompiler.ir.visit import (
    defined, free_variables, substitute_block, substitute_statement, used,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.shaping import laid_out_as


class Rereader:
    """Lets the sweep of a region read what it restored, and views of that anew."""

    def __init__(self, forward: ForwardPass, restoring: Restoring) -> None:
        self.s = forward.s
        self.forward = forward
        self.restoring = restoring
        self.versions = restoring.versions

    def read_restored(self, out: list[Statement], yields: list[Atom]) -> None:
        """Let the sweep of a region read what it restored, and views of that anew."""
        if not self.versions.destroyed:
            return
        if self.restoring.kept:
            rename(out, yields, self.restoring.kept)
        self.read_metadata(out)
        self.refresh(out, yields)
        table = self.restoring.table
        block = Block(tuple(out), tuple(yields))
        if any(var in table for var in used(block)):
            there = dict.fromkeys(v for st in out for v in defined(st))
            for position, st in enumerate(out):
                for var in defined(st):
                    there.pop(var, None)
                mapping = {var: atom for var, atom in table.items() if atom not in defined(st)}
                early = {var for var, atom in mapping.items() if atom in there}
                if early and not early.isdisjoint(used(Block((st,)))):
                    read = used(self.content(Block((st,))))
                    mapping = {v: a for v, a in mapping.items() if v not in early or v in read}
                out[position] = substitute_statement(st, mapping)
            yields[:] = [table.get(a, a) if isinstance(a, Var) else a for a in yields]

    def refresh(self, out: list[Statement], yields: list[Atom]) -> None:
        """Read views of destroyed values anew, once what they are views of is there again."""
        destroyed = self.restoring.destroyed_values()
        made = {var for st in out for var in defined(st)}
        anew: dict[Var, Atom] = {}

        def is_due(var: Var) -> bool:
            return var not in anew and var not in made and self.is_refreshed_here(var) and (
                self.restoring.is_stale(var, destroyed))

        def read_again(var: Var) -> None:
            rhs = self.s.unit.definition(var)
            assert rhs is not None
            new = self.forward.copy_of(var)
            anew[var] = new = Var(var.name, True) if var.temporary else new
            for operand in operands(rhs):
                if isinstance(operand, Var) and is_due(operand):
                    read_again(operand)
            rhs = substitute(rhs, anew)
            self.s.copy_facts(var, new)
            self.s.unit.defs[new] = rhs
            position = self.position_after(out, rhs)
            origin = getattr(out[min(position, len(out) - 1)], "origin", None) if out else None
            origin = origin or self.s.at
            assert origin is not None
            head, tail = out[:position], out[position:]
            block = substitute_block(Block(tuple(tail), tuple(yields)), {var: new})
            out[:] = [*head, Let(new, rhs, origin.reversed()), *block.statements]
            yields[:] = block.yields
            made.add(new)

        while waiting := [
            var for var in free_variables(self.content(Block(tuple(out), tuple(yields))))
            if is_due(var)
        ]:
            for var in waiting:
                if is_due(var):
                    read_again(var)

        left = free_variables(self.content(Block(tuple(out), tuple(yields))))
        if any(var in left for var in anew):
            raise InternalError("the sweep reads storage before it has been put back")

    def is_refreshed_here(self, var: Var) -> bool:
        """Say whether a view is read anew in this region, rather than in one around it."""
        if self.forward.home.get(var, self.restoring.region) == self.restoring.region:
            return True
        return any(base in self.restoring.table for base in self.bases(var))

    def content(self, block: Block) -> Block:
        """Return a block without the statements that only read shapes and dtypes."""
        kept: list[Statement] = []
        for statement in block.statements:
            match statement:
                case Let(rhs=rhs) if self.described(rhs) is not None:
                    if isinstance(rhs, Call) and rhs.func.value in (  # type: ignore[union-attr]
                        project, laid_out_as
                    ):
                        kept.append(replace(statement, rhs=Call(rhs.func, rhs.args[:1])))
                case Region():
                    kept.append(statement.with_bodies(self.content))
                case _:
                    kept.append(statement)
        return replace(block, statements=tuple(kept))

    def described(self, rhs: Rhs) -> Atom | None:
        """Return the array of which only the shape and dtype are read, None for other values."""
        match rhs:
            case Attribute(obj, name) if name in METADATA:
                return obj
            case Call(Const(function), (_, x), ()) if function in (project, laid_out_as):
                return unstar(x) if isinstance(self.s.unit.type(unstar(x)), t.Array) else None
            case Call(Const(function), (x,), ()) if REGISTRY.facts(function).of_form:
                return unstar(x) if self.keeps_form(unstar(x)) else None
        return None

    def keeps_form(self, atom: Atom) -> bool:
        """Say whether writes into what a value shares storage with leave its form as it is.

        It is an array, or holds nothing but arrays and is not written into itself.
        """
        match self.s.unit.type(atom):
            case t.Array():
                return True
            case t.List(item):
                held: tuple[t.Type, ...] = (item,)
            case t.Tuple(items):
                held = items
            case _:
                return False
        return all(isinstance(type_, t.Array) for type_ in held) and (
            atom not in self.restoring.destroyed_values())

    def position_after(self, out: Sequence[Statement], rhs: Rhs) -> int:
        """Return where in a sweep everything that ``rhs`` reads is there again."""
        wanted = {
            atom for operand in operands(rhs) if isinstance(operand, Var)
            for atom in (operand, self.restoring.table.get(operand))
        }
        wanted |= {
            self.restoring.table.get(base) for operand in operands(rhs) if isinstance(operand, Var)
            for base in self.bases(operand)
        }
        position = 0
        for index, statement in enumerate(out):
            if wanted & set(defined(statement)):
                position = index + 1
        return position

    def bases(self, var: Var) -> Iterable[Var]:
        """Yield the values whose storage ``var`` shares, through views of views."""
        rhs = self.s.unit.definition(var)
        if rhs is None or written_operand(rhs) is not None:
            return
        for operand, _ in self.restoring.sharing.of(var, rhs):
            if isinstance(operand, Var):
                yield operand
                yield from self.bases(operand)

    def read_metadata(self, out: list[Statement]) -> None:
        """Let shapes and dtypes be read of the last value in a storage: it need not be restored."""
        out[:] = [self.with_metadata(statement) for statement in out]

    def with_metadata(self, statement: Statement) -> Statement:
        def within(block: Block) -> Block:
            return replace(
                block, statements=tuple(self.with_metadata(st) for st in block.statements)
            )

        match statement:
            case Let(target, rhs, origin) if (array := self.described(rhs)) is not None:
                found = self.latest(array)
                return statement if found is array or not isinstance(array, Var) else Let(
                    target, substitute(rhs, {array: found}), origin)
            case Region():
                return statement.with_bodies(within)
        return statement

    def latest(self, atom: Atom) -> Atom:
        """Return the last value in the storage of ``atom``, if that is one of the same shape."""
        if not isinstance(atom, Var) or not isinstance(self.s.unit.type(atom), t.Array):
            return atom
        primal = self.restoring.primal_of.get(atom, atom)
        if primal not in self.versions.destroyed:
            return atom
        shape, type_ = self.s.unit.shape(atom), self.s.unit.type(atom)
        found: Atom = atom
        around = self.forward.regions_around(self.restoring.region)
        seen_from = {self.forward.home.get(primal, 0), *around}
        for later in self.versions.chain(primal):
            value = self.forward.value(later)
            if not isinstance(value, Var) or self.s.unit.type(value) != type_ or (
                self.s.unit.shape(value) != shape
            ):
                break
            home = self.forward.home.get(later, 0)
            if home in seen_from and self.versions.in_scope(later, primal):
                found = value
        return found

"""What the sweep reads of storage that was overwritten: restored values, and views of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from adcompiler.analyses.held import Held
from adcompiler.analyses.storage import METADATA, Sharing, is_mutable, type_of_view, written_operand
from adcompiler.analyses.versions import Versions, exposed_values
from adcompiler.derive.reverse.base import ReverserBase, rename
from adcompiler.errors import InternalError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, If, Item, Let, Loop, Origin, Rhs, Statement, Step, Var,
    operands, substitute, unstar,
)
from adcompiler.ir.visit import (
    defined, definitions, free_variables, substitute_block, substitute_statement, used,
)
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import own, project
from adcompiler.runtime.adjoints.shaping import laid_out_as
from adcompiler.specialise.evaluator import Specialiser
from adcompiler.specialise.storage.layouts import copy_with_strides


def lead(s: Specialiser, obj: Atom, steps: Sequence[Step], origin: Origin) -> Atom:
    """Write the reading of the part that ``steps`` lead to."""
    for step in steps:
        match step.kind:
            case "item":
                obj = s.let(
                    Item(obj, step.args[0]), s.types.of_item(s.unit.type(obj), step.args[0]),
                    "part", origin,
                )
            case "attr":
                obj = s.attribute(obj, step.name, origin, "part")
            case _ if found := type_of_view(s.unit.type(obj), step, s.unit.type):
                obj = s.let(
                    Call(Const(step.function), (obj, *step.args), step.kwargs), found, "part",
                    origin,
                )
            case _:
                obj = s.call(
                    Const(step.function), [obj, *step.args], dict(step.kwargs), origin, "part"
                )
    return obj


def copied(s: Specialiser, atom: Atom, name: str, origin: Origin) -> Var:
    """Write a copy of a value with storage; of one that may not be bound, if it is."""
    type_, unsure = s.unit.type(atom), atom in s.unit.unsure
    plain: Any = np.copy if isinstance(type_, t.Array) and not unsure else own
    copy = Call(Const(plain), (atom,))
    if atom in s.unit.layouts.read:
        copy = copy_with_strides(copy)
    new = s.let(copy, type_, name, origin)
    if atom in s.unit.layouts.read:
        s.unit.layouts.read.add(new)
    if unsure:
        s.unit.unsure.add(new)
    if isinstance(type_, t.Array):
        s.unit.shapes[new] = s.unit.shape(atom)
    return new


class Restoring(ReverserBase):
    """Knows which values are there again in the sweep, and reads views of them anew."""

    versions: Versions

    def prepare_writes(self, body: Block) -> None:
        """Find out which storage the function writes into."""
        self.versions = Versions(body)
        self.sharing = Sharing(self.s.unit.type, self.s.unit.definition)
        destroyed = self.versions.destroyed
        self.held = frozenset(
            var for var in Held(body, self.sharing).overwritten
            if var not in destroyed and not self.is_stale(var, destroyed)
        )
        self.restored: list[dict[Var, Atom]] = [{}]
        self.stale: dict[Var, bool] = {}
        self.primal_of: dict[Atom, Var] = {}
        self.region_of_sweep = 0
        self.reads_again = self.s.unit.settings.reads_again and not self.split and not self.apart
        self.body = body

    @cached_property
    def bound(self) -> frozenset[Atom]:
        """The variables of the primal code."""
        return frozenset((*self.given, *definitions(self.body)))

    @cached_property
    def lasting(self) -> frozenset[Atom]:
        """Values that nobody writes into after they are read, where the sweep may read them."""
        if self.split or self.apart:
            return frozenset()
        exposed = exposed_values(self.body, self.sharing)
        return frozenset(
            var for var in self.bound if var not in exposed and var not in self.s.unit.unsure)

    def available(self, var: Var) -> Atom:
        """Return the atom that holds a forward value at this point of the sweep."""
        value = self.value(var)
        for table in reversed(self.restored):
            for key in (value, var):
                if isinstance(key, Var) and key in table:
                    return table[key]
        return value

    def rebuilt(self, var: Var, at: Origin) -> Atom:
        """Return the atom that holds a forward value in storage that the sweep may write into.

        A split sweep leaves what the forward pass handed over as it is: it may be run again.
        """
        found = self.available(var)
        if self.split and found is self.value(var) and is_mutable(self.s.unit.type(found)):
            return copied(self.s, found, var.name, at)
        return found

    @contextmanager
    def restoring(self, region: int) -> Iterator[dict[Var, Atom]]:
        """Restore what is read in the sweep of a region; yields the region's table."""
        outer, self.region_of_sweep = self.region_of_sweep, region
        self.restored.append({})
        try:
            yield self.restored[-1]
        finally:
            self.restored.pop()
            self.region_of_sweep = outer

    def keep_apart(self, made: Iterable[Var], at: Origin) -> None:
        """Write copies of what a split sweep would write into: it may be run again."""
        s = self.s
        for var in made:
            value = self.value(var)
            if var in self.versions.all and var not in self.versions.destroyed and isinstance(
                value, Var
            ) and value not in self.restored[-1]:
                type_ = s.unit.type(value)
                if not is_mutable(type_):
                    continue
                self.restored[-1][value] = copied(s, value, value.name, at)

    def read_restored(self, out: list[Statement], yields: list[Atom]) -> None:
        """Let the sweep of a region read what it restored, and views of that anew."""
        if not self.versions.destroyed:
            return
        if self.kept:
            rename(out, yields, self.kept)
        self.read_metadata(out)
        self.refresh(out, yields)
        table = self.restored[-1]
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

    def destroyed_values(self) -> set[Var]:
        """Return the forward values whose storage goes on to hold others."""
        found = set(self.versions.destroyed)
        found.update(v for p in self.versions.destroyed if isinstance(v := self.value(p), Var))
        return found

    def is_stale(self, var: Var, destroyed: set[Var]) -> bool:
        """Say whether a value shares storage with a destroyed one, so that it must be read anew."""
        if var in self.stale:
            return self.stale[var]
        if var in self.s.unit.writes.taken_out:  # a write into the container does not reach it
            return False
        rhs = self.s.unit.definition(var)
        self.stale[var] = False
        if isinstance(rhs, Item) and self.is_element_of_outer(var, rhs):
            obj = rhs.obj
            self.stale[var] = isinstance(obj, Var) and (
                obj in destroyed or self.is_stale(obj, destroyed)
            )
        elif rhs is not None and var not in destroyed and written_operand(rhs) is None and (
            is_mutable(self.s.unit.type(var)) or isinstance(self.s.unit.type(var), t.Method)
        ):
            self.stale[var] = any(
                isinstance(a, Var) and (a in destroyed or self.is_stale(a, destroyed))
                for a, how in self.sharing.of(var, rhs) if not self.stays(a, how)
            )
        return self.stale[var]

    def is_element_of_outer(self, var: Var, rhs: Item) -> bool:
        """Say whether a loop reads a number out of an array that was there before the loop.

        It is read as often as the loop runs, so that putting the array back costs less than keeping
        what was read.
        """
        s, obj, index = self.s, rhs.obj, rhs.index
        if not self.reads_again or not isinstance(obj, Var) or obj in s.unit.unsure:
            return False
        if not isinstance(s.unit.type(var), t.Scalar) or not isinstance(
            s.unit.type(obj), t.Array
        ) or obj not in self.home or not is_position(s.unit.type(index)):
            return False
        for region in self.regions_around(self.home.get(var, 0)):
            if region == self.home[obj]:
                return False
            if region in self.loops:
                return True
        return False

    def stays(self, container: Atom, how: Step | str) -> bool:
        """Say whether what was taken out of a container stays as it was when that is written."""
        type_ = self.s.unit.type(container)
        return isinstance(how, Step) and not self.versions.inside and isinstance(
            type_, (t.List, t.Dict, t.Object)
        )

    def refresh(self, out: list[Statement], yields: list[Atom]) -> None:
        """Read views of destroyed values anew, once what they are views of is there again."""
        destroyed = self.destroyed_values()
        made = {var for st in out for var in defined(st)}
        anew: dict[Var, Atom] = {}

        def is_due(var: Var) -> bool:
            return var not in anew and var not in made and self.is_stale(var, destroyed) and (
                self.is_refreshed_here(var)
            )

        def read_again(var: Var) -> None:
            rhs = self.s.unit.definition(var)
            assert rhs is not None
            new = self.copy_of(var)
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
        if self.home.get(var, self.region_of_sweep) == self.region_of_sweep:
            return True
        return any(base in self.restored[-1] for base in self.bases(var))

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
                case If() | Loop():
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
            atom not in self.destroyed_values())

    def position_after(self, out: Sequence[Statement], rhs: Rhs) -> int:
        """Return where in a sweep everything that ``rhs`` reads is there again."""
        wanted = {
            atom for operand in operands(rhs) if isinstance(operand, Var)
            for atom in (operand, self.restored[-1].get(operand))
        }
        wanted |= {
            self.restored[-1].get(base) for operand in operands(rhs) if isinstance(operand, Var)
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
        for operand, _ in self.sharing.of(var, rhs):
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
            case If() | Loop():
                return statement.with_bodies(within)
        return statement

    def latest(self, atom: Atom) -> Atom:
        """Return the last value in the storage of ``atom``, if that is one of the same shape."""
        if not isinstance(atom, Var) or not isinstance(self.s.unit.type(atom), t.Array):
            return atom
        primal = self.primal_of.get(atom, atom)
        if primal not in self.versions.destroyed:
            return atom
        shape, type_ = self.s.unit.shape(atom), self.s.unit.type(atom)
        found: Atom = atom
        seen_from = {self.home.get(primal, 0), *self.regions_around(self.region_of_sweep)}
        for later in self.versions.chain(primal):
            value = self.value(later)
            if not isinstance(value, Var) or self.s.unit.type(value) != type_ or (
                self.s.unit.shape(value) != shape
            ):
                break
            if self.home.get(later, 0) in seen_from and self.versions.in_scope(later, primal):
                found = value
        return found


def is_position(type_: t.Type) -> bool:
    """Say whether a subscript is an integer, or several of them."""
    if isinstance(type_, t.Tuple):
        return all(map(is_position, type_.items))
    return isinstance(type_, t.Scalar) and type_.kind == "int"

"""Writing specialised statements: what each part of the specialiser builds on."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from adcompiler.errors import Finding
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, If, Let, Origin, Raise, Rhs, Statement, Var,
)
from adcompiler.ir.visit import definitions
from adcompiler.specialise.interface import Interface
from adcompiler.specialise.unknowns import explained, holds_functions, is_lost
from adcompiler.typed.builder import Builder, refuse_large
from adcompiler.typed.unit import Unit

if TYPE_CHECKING:
    from adcompiler.specialise.storage.heap import Heap
    from adcompiler.specialise.storage.state import State


def moved(finding: Finding, site: Origin) -> Finding:
    """Return a finding that points to another place."""
    return replace(
        finding, file=site.file, line=site.line, column=site.column, text=site.text,
        width=site.width,
    )


class Writer(Builder, Interface):
    """Writes specialised statements to ``out``, and what they do with storage to ``heap``.

    ``conditions`` counts the branches and ``try`` around, ``lacking`` what was written of which
    less is known than of the value of the call that it belongs to, if that is static, ``caught``
    the ``try`` around whose handlers catch whatever there is.
    """

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.in_rule = False
        self.in_emitted = False
        self.heap: Heap | None = None
        self.lacks_heap = False
        self.conditions = self.lacking = self.caught = 0
        self.written = 1  # how often loops around, written out, write what is inside
        self.few = False  # whether the loop being written may be written out
        self.at: Origin | None = None

    def let(
        self, rhs: Rhs, type_: t.Type, name: str, origin: Origin, temporary: bool = True
    ) -> Var:
        """Write ``name = rhs`` and return the new variable."""
        refuse_large(type_, origin)
        var = Var(name, temporary)
        self.unit.record(var, rhs, type_)
        self.unit.places[var] = (*self.unit.calls.sites, origin)
        if self.heap is not None:
            self.heap.note(var, rhs)
        self.out.append(Let(var, rhs, origin))
        return var

    def reject(
        self, origin: Origin, problem: str, hint: str = "", anchor: str = "",
        unknown: Atom = UNDEF,
    ) -> Atom:
        """Record that the code at ``origin`` cannot be compiled.

        Where that is so as the type of a value is ``unknown``, the message tells where it was lost.
        """
        finding = explained(self.unit, origin.finding(problem, hint, anchor), unknown)
        reached = origin.via is not None and is_users(origin.via.file)
        if origin.via is not None and reached and not is_users(origin.file):
            finding = moved(finding, origin.via)
        elif origin.via is not None and reached and not self.unit.calls.sites:
            finding = replace(finding, callers=(origin.via.call,))
        self.report(finding)
        return UNDEF

    def raise_(self, error: type[BaseException], problem: str, origin: Origin) -> Atom:
        """Write what raises an error; the block that it is in ends there."""
        made = self.let(Call(Const(error), (Const(problem),)), t.UNKNOWN, "error", origin)
        self.out.append(Raise(made, Const(None), origin))
        return UNDEF

    @contextmanager
    def may_not_run(self) -> Iterator[None]:
        """Say that what is written meanwhile need not be reached, or is caught if it raises."""
        self.conditions += 1
        try:
            yield
        finally:
            self.conditions -= 1

    def raise_if_reached(
        self, error: type[Exception], problem: str, hint: str, anchor: str, origin: Origin
    ) -> Atom:
        """Write what raises an error as Python does; report it where it would be in any case."""
        if self.conditions:
            self.lacking += 1
            return self.raise_(error, problem, origin)
        return self.reject(origin, problem, hint, anchor)

    def has_raised(self) -> bool:
        """Say whether what was written last raises, in each of its arms if it is a branch."""
        last = self.out[-1] if self.out else None
        return isinstance(last, Raise) or (
            isinstance(last, If) and last.then.diverges and last.orelse.diverges
        )

    def report(self, finding: Finding) -> None:
        """Record a finding, with the calls that lead to it; once.

        One in code that the compiler has written is told of the user's line that calls that.
        """
        if not is_users(finding.file):
            users = [site for site in self.unit.calls.sites if is_users(site.file)]
            if users:
                finding = moved(finding, users[-1])
        if not finding.callers:
            sites = dict.fromkeys(
                site.call for site in reversed(self.unit.calls.sites)
                if is_users(site.file)
            )
            finding = replace(finding, callers=tuple(sites))
        if finding not in self.unit.findings:
            self.unit.findings.append(finding)

    def check_once(self, name: Var, value: Atom, origin: Origin) -> None:
        """Report a name that is read more than once of an iterator, which can be only once."""
        if name in self.unit.iterators.reused:
            self.check_kept(value, origin)

    def check_kept(self, value: Atom, origin: Origin) -> None:
        """Report an iterator that is kept where it may be read more than once."""
        iterators = self.unit.iterators
        if value in iterators.one_shot and value not in iterators.generators:
            self.reject(
                origin, "an iterator that is used in more than one place",
                "make a list of it, by list(...) or a comprehension", "iterators",
            )

    def joined(
        self, like: Var, type_: t.Type, unsure: bool, origin: Origin | None = None,
        arms: tuple[Atom, ...] = (),
    ) -> Var:
        """Return a new variable named as ``like`` for a value that comes from several places.

        ``arms`` are the values that it has there, as far as they are known, and ``origin`` is where
        they meet.
        """
        var = Var(like.name, like.temporary)
        self.unit.types[var] = type_
        if origin is not None:
            self.comes_from(var, origin, arms)
        self.unit.merged.add(var)
        if unsure:
            self.unit.unsure.add(var)
        return var

    def has_shape_of_arms(self, var: Var, values: Sequence[Atom]) -> None:
        """Note the shape of what is one of some values, if they all have it."""
        shapes = {self.unit.shape(value) for value in values}
        if isinstance(self.unit.type(var), t.Array) and len(shapes) == 1:
            self.unit.shapes[var] = shapes.pop()

    def comes_from(self, var: Var, origin: Origin, values: Sequence[Atom]) -> None:
        """Note where a variable gets its values, which are ``values``; messages tell of it."""
        if is_lost(self.unit, var) or holds_functions(self.unit, var):
            self.unit.places[var] = (*self.unit.calls.sites, origin)
            self.unit.arms[var] = tuple(values)

    @contextmanager
    def region_of_heap(self, alone: bool = False) -> Iterator[Callable[[], State | None]]:
        """Let what is written meanwhile change a copy of the heap's state; yields how to get it.

        If the region stands ``alone``, as all others beside it raise, what follows is inside of it.
        """
        heap = self.heap
        if heap is None:
            yield lambda: None
            return
        before = heap.state
        heap.state = before.copy()
        heap.level += not alone
        try:
            yield lambda: heap.state
        finally:
            heap.state = before
            heap.level -= not alone

    def level_out(self, statements: Sequence[Statement]) -> None:
        """Let what statements of a region make belong to the region around it: they move there."""
        heap = self.heap
        for var in definitions(Block(tuple(statements))) if heap is not None else ():
            assert heap is not None
            if heap.levels.get(var, 0) > heap.level:
                heap.levels[var] = heap.level

    def value(self, atom: Atom, env: Mapping[Var, Atom]) -> Atom:
        """Return the specialised atom of ``atom``: of what it refers to now."""
        found = env[atom] if isinstance(atom, Var) else atom
        found = self.unit.if_bound.get(found, found)
        if self.heap is None or self.at is None:
            return found
        return self.heap.current(found, self.at)

    def carried_value(self, atom: Atom, env: Mapping[Var, Atom]) -> Atom:
        """Return the specialised atom that a region hands on: of whether a variable is bound."""
        found = env[atom] if isinstance(atom, Var) else atom
        return found if found in self.unit.if_bound else self.value(atom, env)

    def bound_flag(self, like: Var, atoms: Sequence[Atom]) -> Var | None:
        """Return a variable that tells whether ``like`` is bound, as one of ``atoms`` each way.

        None if its value is not known here, or if it is bound on all ways.
        """
        known = [self.unit.if_bound.get(atom, atom) for atom in atoms if atom is not UNDEF]
        types = [self.unit.type(atom) for atom in known]
        unsure = any(atom is UNDEF or atom in self.unit.if_bound for atom in atoms)
        if like.temporary or not unsure or not known or not isinstance(
            types[0], t.Static
        ) or any(type_ != types[0] for type_ in types):
            return None
        flag = self.joined(like, types[0], True)
        self.unit.if_bound[flag] = Const(types[0].value)
        return flag

    def is_unsure(self, atom: Atom) -> bool:
        """Say whether ``atom`` is a variable's that may have no value."""
        return atom in self.unit.unsure or atom in self.unit.if_bound

    def flagged(self, atom: Atom, flag: bool = True) -> Atom:
        """Return what the code carries of a variable that is bound to a known value or to none.

        That is the value if it is not taken for a ``flag``.
        """
        if flag:
            return atom if atom is UNDEF or atom in self.unit.if_bound else Const(True)
        return self.unit.if_bound.get(atom, atom)

    def unflagged(
        self, atom: Atom, variable: Var, out: list[Statement], origin: Origin | None
    ) -> Atom:
        """Return what ``variable`` gets of ``atom``: of a flag the known value, or none.

        A branch that tells is added to ``out``.
        """
        if atom not in self.unit.if_bound:
            return atom
        assert origin is not None
        found = self.joined(variable, self.unit.type(atom), True)
        known, none = Block((), (self.unit.if_bound[atom],)), Block((), (UNDEF,))
        test = Var("test", True)
        self.unit.types[test] = t.BOOL
        out.append(Let(test, Call(Const(operator.is_), (atom, Const(True))), origin))
        out.append(If(test, known, none, (found,), origin))
        return found

    # -- what the parts use of each other ------------------------------------------------------

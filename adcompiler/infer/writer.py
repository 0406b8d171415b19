"""Writing specialised statements: what each part of type inference builds on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adcompiler.errors import Finding
from adcompiler.frontend.sources.places import is_users
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    UNDEF, Atom, Block, Call, Const, If, Let, Origin, Pack, Raise, Rhs, Star, Statement, Var,
    unstar,
)
from adcompiler.ir.visit import definitions, substitute_statement
from adcompiler.infer.joins import Joins
from adcompiler.infer.result_types import ResultTypes, item_type
from adcompiler.infer.lost_types import explained
from adcompiler.typed.builder import Builder, refuse_large
from adcompiler.typed.unit import Unit
from adcompiler.typed.values import simple

if TYPE_CHECKING:
    from adcompiler.infer.storage.heap import Heap
    from adcompiler.infer.storage.state import State


def moved(finding: Finding, site: Origin) -> Finding:
    """Return a finding that points to another place."""
    return replace(
        finding, file=site.file, line=site.line, column=site.column, text=site.text,
        width=site.width,
    )


def renamed(statement: Statement, old: Var, new: Var) -> tuple[Statement, Var] | None:
    """Return a statement that defines ``old`` with ``new`` in its place, None for others."""
    match statement:
        case Let(target, rhs, origin) if target is old:
            return Let(new, rhs, origin), new
        case If(condition, then, orelse, results, origin) if old in results:
            changed = tuple(new if r is old else r for r in results)
            return If(condition, then, orelse, changed, origin), new
    return None


class Writer(Builder):
    """Writes specialised statements to ``out``, and what they do with storage to ``heap``.

    ``conditions`` counts the branches and ``try`` around, ``lacking`` what was written of which
    less is known than of the value of the call that it belongs to, if that is static, ``caught``
    the ``try`` around whose handlers catch whatever there is.
    """

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.types = ResultTypes(unit)
        self.joins = Joins(unit)
        self.in_rule = False
        self.in_emitted = False
        self.heap: Heap | None = None
        self.lacks_heap = False
        self.conditions = self.lacking = self.caught = 0
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
        return self.heap.reading.current(found, self.at)

    def carried_value(self, atom: Atom, env: Mapping[Var, Atom]) -> Atom:
        """Return the specialised atom that a region hands on: of whether a variable is bound."""
        found = env[atom] if isinstance(atom, Var) else atom
        return found if found in self.unit.if_bound else self.value(atom, env)

    def named(self, value: Atom, name: str, before: int) -> Atom:
        """Give a temporary that was made since ``before`` the name that the user assigns it to."""
        if value in self.unit.naming.anonymous and isinstance(value, Var):
            self.unit.naming.names.setdefault(value, name)
            return value
        if isinstance(value, Var) and value.temporary:
            for position in range(before, len(self.out)):
                found = renamed(self.out[position], value, Var(name))
                if found is not None:
                    statement, var = found
                    self.copy_facts(value, var)
                    later = [
                        substitute_statement(s, {value: var}) for s in self.out[position + 1 :]
                    ]
                    for new, old in zip(later, self.out[position + 1 :], strict=True):
                        if new is not old and isinstance(new, Let):
                            self.unit.defs[new.target] = new.rhs
                    self.out[position:] = [statement, *later]
                    return var
        return value

    def copy_facts(self, old: Var, new: Var) -> None:
        """Copy what is known of ``old`` to ``new``."""
        super().copy_facts(old, new)
        if self.heap is not None:
            self.heap.changes.rename(old, new)

    def pack_dict(self, entries: list[tuple[Atom, Atom]], origin: Origin, name: str) -> Atom:
        """Write a dict of ``(key, value)`` atoms; later entries win, as in Python."""
        if not all(isinstance(key, Const) for key, _ in entries):
            rhs = Pack("dict", tuple(v for _, v in entries), tuple(k for k, _ in entries))
            item: t.Type = t.BOTTOM
            for _, value in entries:
                item = t.join(item, self.unit.type(value))
            return self.let(rhs, t.Dict(None, (item,)), name, origin)
        table: dict[Any, tuple[Atom, Atom]] = {}
        for key, value in entries:
            assert isinstance(key, Const)
            table[key.value] = (key, value)
        rhs = Pack("dict", tuple(v for _, v in table.values()), tuple(k for k, _ in table.values()))
        types = tuple(self.unit.type(v) for _, v in table.values())
        return self.let(rhs, t.Dict(tuple(table), types), name, origin)

    def pack(
        self, kind: str, values: tuple[Atom | Star, ...], name: str, origin: Origin,
        cls: type = tuple,
    ) -> Atom:
        """Write a tuple, list or set of ``values``."""
        literals = [v.value for v in values if isinstance(v, Const) and simple(v.value)]
        if kind == "tuple" and values and len(literals) == len(values):
            return Const(tuple(literals))
        types = [self.unit.type(unstar(v)) for v in values]
        known = not any(isinstance(v, Star) for v in values)
        type_: t.Type = t.UNKNOWN
        if kind == "tuple" and known:
            type_ = t.Tuple(tuple(types), cls)
        elif kind == "list":
            item: t.Type = t.BOTTOM
            for v, vt in zip(values, types, strict=True):
                item = t.join(item, item_type(vt) if isinstance(v, Star) else vt)
            type_ = t.List(t.UNKNOWN if isinstance(item, t.Static) else item)
        return self.let(Pack(kind, values), type_, name, origin)

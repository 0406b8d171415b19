"""Objects that were there before the code runs: those of modules, classes, functions, cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Global, Item, Let, Origin, Rhs, Statement, Var, substitute,
)
from adcompiler.runtime import own, paired
from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.reading import Reading
from adcompiler.infer.storage.state import Reference
from adcompiler.typed.callee import Callee, Place, Read

Made = tuple[Var, Rhs, t.Type]


class Outside:
    """Objects that were there before the code runs, and are no arguments.

    ``reads`` tells how each is read. Those ``to_copy`` are copied at the start, in the
    ``prologue``: ``working`` has the copies, and what they are copies of.
    """

    def __init__(self, heap: Storage, reading: Reading) -> None:
        self.heap, self.unit, self.reading = heap, heap.s.unit, reading
        self.reads: dict[Place, Read] = {}
        self.to_copy: frozenset[Place] = frozenset()
        self.working: dict[Var, tuple[Var, Var]] = {}
        self.prologue: list[Statement] = []

    def global_value(self, rhs: Global, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for an object that a global name refers to, read at the start."""
        return self.value((rhs.module, rhs.path), [(Var(name), rhs, type_)], origin)

    def value_of_names(
        self, function: Const, names: Mapping[str, Any], name: str, type_: t.Type, origin: Origin
    ) -> Var:
        """Return the variable for a global of a function whose names belong to no module.

        Those of a notebook or of a text that was executed are such.
        """
        holder, var = Var("names"), Var(name)
        return self.value((f"globals {id(names)}", name), [
            (holder, Attribute(function, "__globals__"), t.UNKNOWN),
            (var, Item(holder, Const(name)), type_),
        ], origin)

    def cell_value(self, cell: Any, read: Call, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for what a cell of a closure holds, read at the start."""
        return self.value((f"cell {id(cell)}", name), [(Var(name), read, type_)], origin)

    def held_value(
        self, owner: Const, kind: str, key: str, type_: t.Type, origin: Origin
    ) -> Var:
        """Return the variable for what a function object holds, which is read at the start.

        ``kind`` is the attribute of the function that has it, and ``key`` where it is there.
        """
        holder, var = Var(kind), Var("default")
        return self.value((f"{kind} of {id(owner.value)}", str(key)), [
            (holder, Attribute(owner, kind), t.UNKNOWN), (var, Item(holder, Const(key)), type_),
        ], origin)

    def attribute_value(
        self, owner: Const, name: str, type_: t.Type, hint: str, origin: Origin
    ) -> Var:
        """Return the variable for an attribute of a class or function, read at the start."""
        rhs = Attribute(owner, name)
        place = (f"attributes of {id(owner.value)}", name)
        return self.value(place, [(Var(hint), rhs, type_)], origin)

    def value(self, place: Place, reads: Iterable[Made], origin: Origin) -> Var:
        """Return the variable for an object that was there before the code ran, and is no argument.

        The first time ``reads`` are written at the start; the last of them is the object.
        """
        if place not in self.heap.globals:
            self.reads[place] = tuple(reads)
            for var, rhs, type_ in self.reads[place]:
                self.unit.record(var, rhs, type_)
                self.prologue.append(Let(var, rhs, origin))
            var = self.heap.globals[place] = self.reads[place][-1][0]
            self.heap.references[var] = Reference(var, (), var)
            self.heap.foreign |= {var}
        return self.working_copy(place, self.heap.globals[place], origin)

    def working_copy(self, place: Place, var: Var, origin: Origin) -> Var:
        """Return what the code works on in place of an object outside: itself, or a copy of it.

        A container that is written into is copied at the start, so that what it holds can be given
        back to the objects that it held.
        """
        if place not in self.to_copy:
            return var
        if var not in self.working:
            copy, pairs = Var(var.name), Var(f"{var.name}_copies")
            for made, rhs, type_ in (
                (copy, Call(Const(own), (var,)), self.unit.type(var)),
                (pairs, Call(Const(paired), (var, copy)), t.UNKNOWN),
            ):
                self.unit.record(made, rhs, type_)
                self.prologue.append(Let(made, rhs, origin))
            self.working[var] = copy, pairs
            self.heap.callers.add(copy)
        return self.working[var][0]

    def roots(self) -> set[Var]:
        """Return the roots of all objects that were there before and are no arguments."""
        there = {*self.unit.relied.captured.values(), *self.heap.globals.values()}
        return there | {copy for copy, _ in self.working.values()}

    def place_of(self, var: Var) -> Place | None:
        """Return what tells an object outside from others, None for arguments."""
        captured = {one: ("captured", name) for name, one in self.unit.relied.captured.items()}
        return captured.get(var) or next(
            (place for place, one in self.heap.globals.items() if one is var), None)

    def again(self, place: Place, reads: Iterable[Made], origin: Origin) -> Var:
        """Return the variable for an object outside that another function reads as ``reads`` do."""
        again = {var: Var(var.name) for var, _, _ in reads}
        return self.value(place, (
            (again[var], substitute(rhs, again), type_) for var, rhs, type_ in reads
        ), origin)

    def enter_reads(self, callee: Callee, origin: Origin) -> Var | None:
        """Enter the objects outside that a function compiled on its own refers to.

        Returns one that has been written since, which that function would not see.
        """
        stale = None
        for place, reads in callee.reads.items():
            var = self.again(place, reads, origin)
            latest = self.heap.history.written_value(self.heap.state.value(var))
            if latest is not var or var in self.heap.state.invalidated:
                stale = var
        return stale

    def bring_all_up_to_date(self, given: Iterable[Var], origin: Origin) -> None:
        """Bring up to date what was there before the code ran: ``given`` and what is outside."""
        for root in dict.fromkeys((*given, *self.roots())):
            if root in self.heap.state.latest:
                self.reading.bring_up_to_date(root, origin)

    def written(
        self, params: Iterable[Var], copies: Mapping[Var, Var] | None = None
    ) -> list[tuple[Var, Atom]]:
        """Return what was there before the code ran and is written, with what it has become.

        ``copies`` are what the code works on in place of parameters.
        """
        there = [*params, *self.unit.relied.captured.values(), *self.heap.globals.values()]
        roots = {var: (copies or {}).get(var, var) for var in there}
        return [
            (var, self.heap.state.latest[root]) for var, root in roots.items()
            if root in self.heap.state.latest
        ]

"""Storage while specialising: writes become new values, references follow them.

The specialised code is functional: ``x[i] = v`` makes a new value of x, an ``Update``. What Python
means by it, that every name and container which refers to the storage of x sees the write, is kept
here. A *root* is the variable that a piece of storage was first known by; a reference leads to a
part of it, by ``Step`` after ``Step``. The heap holds the latest value of every root that has been
written. Reading a variable gives its latest value: itself if nothing was written since, otherwise
its part of the root's latest value, read anew.

Where two roots may share storage in a way that is not known exactly, they *may alias*: a write to
one *invalidates* the other, and reading that is refused; but if emitted code gives only slots of a
container other objects, only what may be that container or hold it. A value is *exclusive* if no
other root can refer to its storage and the caller has none of it; writes to other values copy
first, so that the writes of emitted code never reach what somebody else holds.

Each part builds on the ones before it: ``state`` (what is known at one point), ``aliases`` (which
roots may share storage), ``changes`` (the values of a root, and what a write invalidates),
``ownership``, ``reading``, ``alternatives`` (one of two objects), ``writing`` and ``joining``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Global, Item, Let, Origin, Rhs, Var, substitute,
)
from adcompiler.runtime import own, paired
from adcompiler.specialise.storage.joining import Joining
from adcompiler.specialise.storage.state import Reference
from adcompiler.typed.callee import Callee, Place

Made = tuple[Var, Rhs, t.Type]


class Heap(Joining):
    """The storage of one function while it is specialised, with all that is done with it."""

    def global_value(self, rhs: Global, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for an object that a global name refers to, read at the start."""
        return self.outside((rhs.module, rhs.path), [(Var(name), rhs, type_)], origin)

    def value_of_names(
        self, function: Const, names: Mapping[str, Any], name: str, type_: t.Type, origin: Origin
    ) -> Var:
        """Return the variable for a global of a function whose names belong to no module.

        Those of a notebook or of a text that was executed are such.
        """
        holder, var = Var("names"), Var(name)
        return self.outside((f"globals {id(names)}", name), [
            (holder, Attribute(function, "__globals__"), t.UNKNOWN),
            (var, Item(holder, Const(name)), type_),
        ], origin)

    def cell_value(self, cell: Any, read: Call, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for what a cell of a closure holds, read at the start."""
        return self.outside((f"cell {id(cell)}", name), [(Var(name), read, type_)], origin)

    def held_value(
        self, owner: Const, kind: str, key: str, type_: t.Type, origin: Origin
    ) -> Var:
        """Return the variable for what a function object holds, which is read at the start.

        ``kind`` is the attribute of the function that has it, and ``key`` where it is there.
        """
        holder, var = Var(kind), Var("default")
        return self.outside((f"{kind} of {id(owner.value)}", str(key)), [
            (holder, Attribute(owner, kind), t.UNKNOWN), (var, Item(holder, Const(key)), type_),
        ], origin)

    def attribute_value(
        self, owner: Const, name: str, type_: t.Type, hint: str, origin: Origin
    ) -> Var:
        """Return the variable for an attribute of a class or function, read at the start."""
        rhs = Attribute(owner, name)
        place = (f"attributes of {id(owner.value)}", name)
        return self.outside(place, [(Var(hint), rhs, type_)], origin)

    def outside(self, place: Place, reads: Iterable[Made], origin: Origin) -> Var:
        """Return the variable for an object that was there before the code ran, and is no argument.

        The first time ``reads`` are written at the start; the last of them is the object.
        """
        if place not in self.globals:
            self.reads[place] = tuple(reads)
            for var, rhs, type_ in self.reads[place]:
                self.s.unit.record(var, rhs, type_)
                self.prologue.append(Let(var, rhs, origin))
            var = self.globals[place] = self.reads[place][-1][0]
            self.references[var] = Reference(var, (), var)
            self.foreign |= {var}
        return self.working_copy(place, self.globals[place], origin)

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
                (copy, Call(Const(own), (var,)), self.s.unit.type(var)),
                (pairs, Call(Const(paired), (var, copy)), t.UNKNOWN),
            ):
                self.s.unit.record(made, rhs, type_)
                self.prologue.append(Let(made, rhs, origin))
            self.working[var] = copy, pairs
            self.callers.add(copy)
        return self.working[var][0]

    def outside_roots(self) -> set[Var]:
        """Return the roots of all objects that were there before and are no arguments."""
        there = {*self.s.unit.relied.captured.values(), *self.globals.values()}
        return there | {copy for copy, _ in self.working.values()}

    def place_of(self, var: Var) -> Place | None:
        """Return what tells an object outside from others, None for arguments."""
        captured = {one: ("captured", name) for name, one in self.s.unit.relied.captured.items()}
        return captured.get(var) or next(
            (place for place, one in self.globals.items() if one is var), None)

    def outside_again(self, place: Place, reads: Iterable[Made], origin: Origin) -> Var:
        """Return the variable for an object outside that another function reads as ``reads`` do."""
        again = {var: Var(var.name) for var, _, _ in reads}
        return self.outside(place, (
            (again[var], substitute(rhs, again), type_) for var, rhs, type_ in reads
        ), origin)

    def enter_reads(self, callee: Callee, origin: Origin) -> Var | None:
        """Enter the objects outside that a function compiled on its own refers to.

        Returns one that has been written since, which that function would not see.
        """
        stale = None
        for place, reads in callee.reads.items():
            var = self.outside_again(place, reads, origin)
            latest = self.written_value(self.state.value(var))
            if latest is not var or var in self.state.invalidated:
                stale = var
        return stale

    def bring_all_up_to_date(self, given: Iterable[Var], origin: Origin) -> None:
        """Bring up to date what was there before the code ran: ``given`` and what is outside."""
        for root in dict.fromkeys((*given, *self.outside_roots())):
            if root in self.state.latest:
                self.bring_up_to_date(root, origin)

    def written(
        self, params: Iterable[Var], copies: Mapping[Var, Var] | None = None
    ) -> list[tuple[Var, Atom]]:
        """Return what was there before the code ran and is written, with what it has become.

        ``copies`` are what the code works on in place of parameters.
        """
        there = [*params, *self.s.unit.relied.captured.values(), *self.globals.values()]
        roots = {var: (copies or {}).get(var, var) for var in there}
        return [
            (var, self.state.latest[root]) for var, root in roots.items()
            if root in self.state.latest
        ]

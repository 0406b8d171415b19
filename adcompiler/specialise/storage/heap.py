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
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Global, Item, Let, Origin, Var
from adcompiler.specialise.storage.joining import Joining
from adcompiler.specialise.storage.state import Reference


class Heap(Joining):
    """The storage of one function while it is specialised, with all that is done with it."""

    def global_value(self, rhs: Global, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for an object that a global name refers to, read at the start."""
        key = (rhs.module, rhs.path)
        var = self.globals.get(key)
        if var is None:
            var = self.globals[key] = Var(name)
            self.s.unit.record(var, rhs, type_)
            self.prologue.append(Let(var, rhs, origin))
        return var

    def cell_value(self, cell: Any, read: Call, type_: t.Type, name: str, origin: Origin) -> Var:
        """Return the variable for what a cell of a closure holds, read at the start."""
        key = (f"cell {id(cell)}", name)
        var = self.globals.get(key)
        if var is None:
            var = self.globals[key] = Var(name)
            self.s.unit.record(var, read, type_)
            self.references[var] = Reference(var, (), var)
            self.state.exclusive[var] = False
            self.prologue.append(Let(var, read, origin))
        return var

    def held_value(
        self, owner: Const, kind: str, key: Any, type_: t.Type, origin: Origin
    ) -> Var:
        """Return the variable for what a function object holds, which is read at the start.

        ``kind`` is the attribute of the function that has it, and ``key`` where it is there; with
        the kind ``attr`` it is the attribute named ``key``, such as the owner of a bound method.
        """
        place = (f"{kind} of {id(owner.value)}", str(key))
        var = self.globals.get(place)
        if var is None:
            holder, var = Var(kind), Var("default" if kind != "attr" else "owner")
            self.globals[place] = var
            for target, rhs, its_type in (
                ((var, Attribute(owner, str(key)), type_),) if kind == "attr" else (
                    (holder, Attribute(owner, kind), t.UNKNOWN),
                    (var, Item(holder, Const(key)), type_),
                )
            ):
                self.s.unit.record(target, rhs, its_type)
                self.prologue.append(Let(target, rhs, origin))
        return var

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

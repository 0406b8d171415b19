"""Ownership: which storage nobody else refers to, and copies of what somebody does."""

from __future__ import annotations

import numpy as np

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Closure, Const, Global, Item, Origin, Update, Var,
)
from adcompiler.runtime import own
from adcompiler.specialise.storage.changes import Changes
from adcompiler.specialise.storage.state import Reference, State


class Ownership(Changes):
    """Who holds the storage of values."""

    def is_exclusive(self, atom: Atom) -> bool:
        """Say whether the storage of a value is nobody else's."""
        if atom in self.foreign:
            return False
        if atom in self.state.exclusive:
            return self.state.exclusive[atom]
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return isinstance(atom, Const) and not is_mutable(self.s.unit.type(atom))
        parts = self.parts(atom)
        if parts is not None:
            return all(
                self.reference(part).steps == ()
                and self.is_exclusive(self.state.value(self.reference(part).root))
                for part in parts
                if isinstance(part, Var) and is_mutable(self.s.unit.type(part))
            )
        rhs = self.s.unit.definition(atom)
        if rhs is None or isinstance(rhs, (Global, Attribute, Item, Closure)):
            return False
        if isinstance(rhs, Update):
            return True
        return not any(True for _ in self.sharing.of(atom, rhs)) and isinstance(
            rhs, Call) and isinstance(rhs.func, Const)

    def owns(self, atom: Atom) -> bool:
        """Say whether what a value refers to now is nobody else's, as a whole."""
        if not isinstance(atom, Var) or not is_mutable(self.s.unit.type(atom)):
            return True
        if self.parts(atom) is not None:
            return self.is_exclusive(atom)
        there = self.reference(atom)
        return there.steps == () and self.is_exclusive(self.state.value(there.root))

    def owned_in(self, state: State, atom: Atom) -> bool:
        """Say whether a value is nobody else's at the end of an arm."""
        before, self.state = self.state, state
        try:
            return not is_mutable(self.s.unit.type(atom)) or self.owns(atom)
        finally:
            self.state = before

    def exclusive_value(self, root: Var, origin: Origin) -> Atom:
        """Return the latest value of a root in storage that nobody else refers to."""
        base = self.state.value(root)
        if self.is_exclusive(base):
            return base
        return self.copied(root, origin)

    def spine_value(self, root: Var, origin: Origin) -> Atom:
        """Return the latest value of a root that can be given another item, or one more."""
        base = self.state.value(root)
        return base if self.owns_spine(base) else self.exclusive_value(root, origin)

    def copied(self, root: Var, origin: Origin) -> Atom:
        """Write a copy of a root's latest value, and make that the latest one."""
        base = self.state.value(root)
        type_ = self.s.unit.type(base)
        new = self.copy_to_write(base, type_, root.name, origin)
        self.copies.add(root)
        self.copied_in[new] = self.s.out
        if isinstance(type_, t.Array):
            self.s.unit.shapes[new] = self.s.unit.shape(base)
        exclusive = dict(self.state.exclusive)
        self.advance(root, new, None, content=False, copied=True)
        self.references[new] = Reference(root, (), new)
        self.state.exclusive = {**exclusive, new: True}  # a copy: parts are held by nobody more
        return new

    def copy_to_write(self, value: Atom, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a copy of a value, which will be written into; see ``layouts``."""
        function = np.copy if isinstance(type_, t.Array) else own
        new = self.s.let(Call(Const(function), (value,)), type_, name, origin, False)
        assert isinstance(new, Var)
        self.s.unit.writes.copied_for_writes.add(new)
        return new

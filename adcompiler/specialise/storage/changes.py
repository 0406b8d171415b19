"""The values that a root has had, one after the other, and what each write leaves unreadable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adcompiler.analyses.purity import is_destructive
from adcompiler.analyses.storage import is_container
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Origin, Update, Var
from adcompiler.specialise.storage.aliases import Aliases, rhs_is_record
from adcompiler.specialise.storage.state import Change, Reference
from adcompiler.specialise.storage.stored_types import may_hold


class Changes(Aliases):
    """The latest values of roots, and what made them of the values before."""

    def advance(
        self, root: Var, new: Atom, rebound: int | None, origin: Origin | None = None,
        grown: Iterable[int] = (), content: bool = True, copied: bool = False,
    ) -> None:
        """Make ``new`` the latest value of a root; roots that may alias it are invalidated."""
        before = self.state.value(root)
        if root in self.s.unit.writes.kept_results and origin is not None:
            self.s.reject(
                origin, "this writes into the result of a function under a cache, "
                "which later calls of it return as well", "write into a copy", "memos",
            )
        if self.parts(new) is None:
            self.hold_parts(root, before)
        self.state.latest[root] = new
        self.changes[new] = Change(
            before, rebound, frozenset(grown), content, origin is not None, copied)
        if isinstance(new, Var):
            self.references[new] = Reference(root, (), new)
            self.levels.setdefault(new, self.level)
        if before in self.state.exclusive:
            self.state.exclusive[new] = self.state.exclusive[before]
        if before in self.state.spines:
            self.state.spines.add(new)
        if origin is None:
            return
        self.refuse_foreign(root, origin)
        if self.state.choices.pop(root, None) is not None:
            for other in self.behind[root]:
                self.state.invalidated.note(other, origin, root)
        written = self.written_slots(new, rebound)
        if written is None:
            self.filled.add(root)
        own_slots = self.is_slot_written(new, rebound)
        for made, slots in self.derived.get(root, {}).items():
            if not slots or rebound is not None or self.changes[new].grown:
                self.state.invalidated.note(made, origin, root)
        for other in self.state.may_alias.get(root, ()):
            if own_slots and (
                not self.may_reach(other, root)
                or (written is not None and self.is_apart(other, root, written))
            ):
                continue
            if written is None or may_hold(self.s.unit.type(other), written):
                for lost in (other, *self.derived.get(other, ())):
                    self.state.invalidated.note(lost, origin, root)

    def refuse_foreign(self, root: Var, origin: Origin) -> None:
        """Report a write into what is handed out already, or would not be given back."""
        near = (root, *self.state.may_alias.get(root, ()))
        name, stored = next((self.handed[o] for o in near if o in self.handed), ("", origin))
        if name:
            self.s.reject(
                origin, f"this writes into what the global `{name}` is assigned at line "
                f"{stored.line}", "assign the global when all has been written", "global-nonlocal",
            )
        match self.s.unit.definition(root):
            case Attribute(Const(), name) if root not in self.globals.values():
                self.s.reject(
                    origin, f"this writes into the attribute `{name}` of what is no instance, "
                    "class or module of Python", "keep the value in a dict of the module, or in an "
                    "attribute of an instance", "unknown-writes",
                )

    def is_apart(self, other: Var, root: Var, written: t.Type) -> bool:
        """Say whether a root is another instance than the one written, and cannot hold that."""
        made = self.s.unit.definition(root), self.s.unit.definition(other)
        if not all(rhs is not None and rhs_is_record(rhs) for rhs in made):
            return False
        types = [self.s.unit.type(value) for value in (other, self.state.value(other))]
        return all(isinstance(type_, t.Object) and not any(
            may_hold(field, written) for _, field in type_.fields) for type_ in types)

    def is_slot_written(self, new: Atom, rebound: int | None) -> bool:
        """Say whether a container's own slots were written, and nothing that it holds."""
        rhs = self.s.unit.definition(new)
        if isinstance(rhs, Update):
            return rebound == 0
        return isinstance(rhs, Call) and is_container(self.s.unit.type(new)) and is_destructive(rhs)

    def written_slots(self, new: Atom, rebound: int | None) -> t.Type | None:
        """Return the type of the container of which a slot was written, None for arrays."""
        type_ = self.s.unit.type(new)
        rhs = self.s.unit.definition(new)
        if not isinstance(rhs, Update):
            return type_ if is_container(type_) else None
        if rebound is None:
            return None
        for step in rhs.steps[:rebound]:
            match type_:
                case t.List(item):
                    type_ = item
                case t.Dict(None, (item,)):
                    type_ = item
                case t.Object() if step.kind == "attr":
                    type_ = type_.field(step.name) or t.UNKNOWN
                case _:
                    return t.UNKNOWN
        return type_

    def written_value(self, value: Atom) -> Atom:
        """Return the value of a root that ``value`` is, but for parts with roots of their own."""
        while value in self.repackings:
            value = self.changes[value].before
        return value

    def is_latest(self, value: Atom) -> bool:
        """Say whether a value is what a root that was written refers to now."""
        return any(latest is value for latest in self.state.latest.values())

    def grown_between(self, before: Atom, after: Iterable[Atom]) -> set[int]:
        """Return the depths of lists whose end has changed on the way to one of ``after``."""
        found: set[int] = set()
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                found |= self.changes[step].grown
                step = self.changes[step].before
        return found

    def content_between(self, before: Atom, after: Iterable[Atom]) -> bool:
        """Say whether objects in slots may have changed on the way to one of ``after``."""
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                if self.changes[step].content:
                    return True
                step = self.changes[step].before
        return False

    def copies_between(self, before: Atom, after: Iterable[Atom]) -> list[Atom]:
        """Return the values at which what a root holds was copied on the way to ``after``."""
        found = []
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                if self.changes[step].copied:
                    found.append(step)
                step = self.changes[step].before
        return found

    def rebound_between(self, before: Atom, after: Iterable[Atom]) -> int | None:
        """Return the least depth at which slots were rebound on the way to one of ``after``."""
        found: int | None = None
        for atom in after:
            step = atom
            while step is not before and step in self.changes:
                rebound = self.changes[step].rebound
                if rebound is not None:
                    found = rebound if found is None else min(found, rebound)
                step = self.changes[step].before
        return found

    def rename(self, old: Var, new: Var) -> None:
        """Know ``new`` for all that is known of ``old``, which it takes the place of."""
        def other(atom: Atom) -> Atom:
            return new if atom is old else atom

        if old in self.levels:
            self.levels[new] = self.levels[old]
        if old in self.references:
            there = self.references[old]
            root = new if there.root is old else there.root
            self.references[new] = Reference(root, there.steps, other(there.at))
        if old in self.taken_from:
            self.taken_from[new] = self.taken_from[old]
        if old in self.holds:
            self.holds[new] = self.holds[old]
        for held in self.holds.values():
            if old in held:
                held[new] = held[old]
        if old in self.derived_of:
            self.derived_of[new] = self.derived_of[old]
        if old in self.derived:
            self.derived[new] = self.derived[old]
        for made in self.derived.values():
            if old in made:
                made[new] = made[old]
        if old in self.changes:
            self.changes[new] = self.changes[old]
        state = self.state
        tables: tuple[dict[Any, Any], ...] = (
            state.latest, state.invalidated, state.exclusive, state.may_alias
        )
        for table in tables:
            if old in table:
                table[new] = table.pop(old)
        for root, latest in state.latest.items():
            if latest is old:
                state.latest[root] = new
        if old in state.spines:
            state.spines.add(new)
        for others in state.may_alias.values():
            if old in others:
                others.discard(old)
                others.add(new)

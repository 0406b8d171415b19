"""The values that a root has had, one after the other, and what each write leaves unreadable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from adcompiler.analyses.purity import is_destructive
from adcompiler.analyses.storage import is_container
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Origin, Update, Var
from adcompiler.infer.storage.aliases import Storage, rhs_is_record
from adcompiler.infer.storage.pending import Pending
from adcompiler.infer.storage.state import Change, Reference
from adcompiler.infer.storage.stored_types import may_hold


class Changes:
    """What becomes the latest value of a root; writes leave ``pending`` iterators unreadable."""

    def __init__(self, heap: Storage, pending: Pending) -> None:
        self.heap, self.s, self.unit, self.pending = heap, heap.s, heap.s.unit, pending

    def advance(
        self, root: Var, new: Atom, rebound: int | None, origin: Origin | None = None,
        grown: Iterable[int] = (), content: bool = True, copied: bool = False,
    ) -> None:
        """Make ``new`` the latest value of a root; roots that may alias it are invalidated."""
        before = self.heap.state.value(root)
        if root in self.unit.writes.kept_results and origin is not None:
            self.s.reject(
                origin, "this writes into the result of a function under a cache, "
                "which later calls of it return as well", "write into a copy", "memos",
            )
        if self.heap.parts(new) is None:
            self.heap.hold_parts(root, before)
        self.heap.state.latest[root] = new
        self.heap.history.changes[new] = Change(
            before, rebound, frozenset(grown), content, origin is not None, copied)
        if isinstance(new, Var):
            self.heap.references[new] = Reference(root, (), new)
            self.heap.levels.setdefault(new, self.heap.level)
        if before in self.heap.state.exclusive:
            self.heap.state.exclusive[new] = self.heap.state.exclusive[before]
        if before in self.heap.state.spines:
            self.heap.state.spines.add(new)
        if origin is None:
            return
        self.refuse_foreign(root, origin)
        if self.heap.state.choices.pop(root, None) is not None:
            for other in self.heap.behind[root]:
                self.heap.state.invalidated.note(other, origin, root)
        written = self.written_slots(new, rebound)
        if written is None:
            self.heap.filled.add(root)
        own_slots = self.is_slot_written(new, rebound)
        for made, slots in self.pending.derived.get(root, {}).items():
            if not slots or rebound is not None or self.heap.history.changes[new].grown:
                self.heap.state.invalidated.note(made, origin, root)
        for other in self.heap.state.may_alias.get(root, ()):
            if own_slots and (
                not self.heap.may_reach(other, root)
                or (written is not None and self.is_apart(other, root, written))
            ):
                continue
            if written is None or may_hold(self.unit.type(other), written):
                for lost in (other, *self.pending.derived.get(other, ())):
                    self.heap.state.invalidated.note(lost, origin, root)

    def refuse_foreign(self, root: Var, origin: Origin) -> None:
        """Report a write into what is handed out already, or would not be given back."""
        near, handed = (root, *self.heap.state.may_alias.get(root, ())), self.heap.handed
        name, stored = next((handed[other] for other in near if other in handed), ("", origin))
        if name:
            self.s.reject(
                origin, f"this writes into what the global `{name}` is assigned at line "
                f"{stored.line}", "assign the global when all has been written", "global-nonlocal",
            )
        match self.unit.definition(root):
            case Attribute(Const(), name) if root not in self.heap.globals.values():
                self.s.reject(
                    origin, f"this writes into the attribute `{name}` of what is no instance, "
                    "class or module of Python", "keep the value in a dict of the module, or in an "
                    "attribute of an instance", "unknown-writes",
                )

    def is_apart(self, other: Var, root: Var, written: t.Type) -> bool:
        """Say whether a root is another instance than the one written, and cannot hold that."""
        made = self.unit.definition(root), self.unit.definition(other)
        if not all(rhs is not None and rhs_is_record(rhs) for rhs in made):
            return False
        types = [self.unit.type(value) for value in (other, self.heap.state.value(other))]
        return all(isinstance(type_, t.Object) and not any(
            may_hold(field, written) for _, field in type_.fields) for type_ in types)

    def is_slot_written(self, new: Atom, rebound: int | None) -> bool:
        """Say whether a container's own slots were written, and nothing that it holds."""
        rhs = self.unit.definition(new)
        if isinstance(rhs, Update):
            return rebound == 0
        return isinstance(rhs, Call) and is_container(self.unit.type(new)) and is_destructive(rhs)

    def written_slots(self, new: Atom, rebound: int | None) -> t.Type | None:
        """Return the type of the container of which a slot was written, None for arrays."""
        type_ = self.unit.type(new)
        rhs = self.unit.definition(new)
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

    def is_latest(self, value: Atom) -> bool:
        """Say whether a value is what a root that was written refers to now."""
        return any(latest is value for latest in self.heap.state.latest.values())

    def rename(self, old: Var, new: Var) -> None:
        """Know ``new`` for all that is known of ``old``, which it takes the place of."""
        def other(atom: Atom) -> Atom:
            return new if atom is old else atom

        if old in self.heap.levels:
            self.heap.levels[new] = self.heap.levels[old]
        if old in self.heap.references:
            there = self.heap.references[old]
            root = new if there.root is old else there.root
            self.heap.references[new] = Reference(root, there.steps, other(there.at))
        if old in self.heap.taken_from:
            self.heap.taken_from[new] = self.heap.taken_from[old]
        if old in self.heap.holds:
            self.heap.holds[new] = self.heap.holds[old]
        for held in self.heap.holds.values():
            if old in held:
                held[new] = held[old]
        if old in self.pending.derived_of:
            self.pending.derived_of[new] = self.pending.derived_of[old]
        if old in self.pending.derived:
            self.pending.derived[new] = self.pending.derived[old]
        for made in self.pending.derived.values():
            if old in made:
                made[new] = made[old]
        if old in self.heap.history.changes:
            self.heap.history.changes[new] = self.heap.history.changes[old]
        state = self.heap.state
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

"""Writing into a part of a root: an update, which becomes its latest value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adcompiler.analyses.storage import is_container, part_type
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Step, Update, Var, step_with
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import own
from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.kill_sets import Changes
from adcompiler.infer.storage.reading import Reading
from adcompiler.infer.storage.state import Reference
from adcompiler.infer.storage.stored_types import stored


class Writing:
    """Stores, and copies of what somebody else refers to as well."""

    def __init__(self, heap: Storage, changes: Changes, reading: Reading) -> None:
        self.heap, self.s, self.unit = heap, heap.s, heap.s.unit
        self.changes, self.reading = changes, reading

    def write(
        self, atom: Var, steps: tuple[Step, ...], value: Atom, origin: Origin, adds: bool = False,
        rebound: int | None = None, grown: Iterable[int] = (),
    ) -> Atom:
        """Write a store of ``value`` to the part of what ``atom`` refers to that ``steps`` lead to.

        ``rebound`` says after how many steps from ``atom`` a slot of a container is given another
        object. Returns the latest value of the root.
        """
        there = self.heap.reference(atom)
        root = there.root
        if root in self.heap.state.invalidated:
            return self.reading.refuse_lost(atom, root, origin)
        if (made := self.made_overlapping(root, there.steps)) is not None:
            return self.s.reject(
                origin, f"this writes into what {made}() gives, of which several elements may lie "
                "in one place", "write into the array itself, or into a copy", "array-writes",
            )
        if isinstance(part_type(self.unit.type(root), (*there.steps, *steps)[:-1]), t.Tuple):
            return self.s.reject(
                origin, "this gives a list or dict inside of a tuple another length, or other keys",
                "keep it in a list, a dict or an attribute", "in-place-containers",
            )
        steps = tuple(
            step_with(step, lambda index: self.apart_from(atom, index, origin)) for step in steps
        )
        whose = self.spine_value if rebound == 0 and not there.steps else self.exclusive_value
        base = whose(root, origin)
        type_ = self.written_type(base, (*there.steps, *steps), value)
        new = self.s.let(
            Update(base, (*there.steps, *steps), value, adds), type_, root.name, origin, False
        )
        if isinstance(type_, t.Array):
            self.unit.shapes[new] = self.unit.shape(base)
        else:
            self.unit.writes.written_inside |= adds or len(there.steps) + len(steps) != 1
        if rebound is not None:
            rebound += len(there.steps)
        self.changes.advance(root, new, rebound, origin, grown, rebound is None and not grown)
        return new

    def made_overlapping(self, root: Var, steps: tuple[Step, ...]) -> str | None:
        """Return the name of the function that made a view of which elements may overlap.

        Views of others that are read-only say so themselves when the code runs.
        """
        for step in steps:
            if step.kind == "call" and "writeable" in dict(step.kwargs):
                return step.name
        made = self.unit.definition(root)
        if not isinstance(made, Call) or not isinstance(made.func, Const) or not (
            REGISTRY.facts(made.func.value).read_only
        ):
            return None
        shares = any(True for _ in self.heap.sharing.of(root, made))
        return str(getattr(made.func.value, "__name__", root.name)) if shares else None

    def apart_from(self, atom: Var, index: Atom, origin: Origin) -> Atom:
        """Return a subscript of ``atom`` that is no part of what is written there: a copy if it is.

        The sweep needs it to put that back.
        """
        if self.heap.reads_from(index, atom):
            return self.s.call(Const(np.copy), [index], {}, origin, "index")
        parts = self.unit.elements(index) if isinstance(index, Var) else None
        if parts is None or not any(self.heap.reads_from(part, atom) for part in parts):
            return index
        parts = tuple(self.apart_from(atom, part, origin) for part in parts)
        return self.s.pack("tuple", parts, "index", origin)

    def written_type(self, base: Atom, steps: tuple[Step, ...], value: Atom) -> t.Type:
        """Return the type of a value after a store."""
        type_ = self.unit.type(base)
        if not is_container(type_):
            return type_
        return stored(type_, steps, self.unit.type(value))

    def exclusive_value(self, root: Var, origin: Origin) -> Atom:
        """Return the latest value of a root in storage that nobody else refers to."""
        base = self.heap.state.value(root)
        if self.heap.is_exclusive(base):
            return base
        return self.copied(root, origin)

    def spine_value(self, root: Var, origin: Origin) -> Atom:
        """Return the latest value of a root that can be given another item, or one more."""
        base = self.heap.state.value(root)
        return base if self.heap.owns_spine(base) else self.exclusive_value(root, origin)

    def copied(self, root: Var, origin: Origin) -> Atom:
        """Write a copy of a root's latest value, and make that the latest one."""
        base = self.heap.state.value(root)
        type_ = self.unit.type(base)
        new = self.copy_to_write(base, type_, root.name, origin)
        self.heap.copies.add(root)
        self.heap.copied_in[new] = self.s.out
        if isinstance(type_, t.Array):
            self.unit.shapes[new] = self.unit.shape(base)
        exclusive = dict(self.heap.state.exclusive)
        self.changes.advance(root, new, None, content=False, copied=True)
        self.heap.references[new] = Reference(root, (), new)
        # Of a copy, parts are held by nobody more.
        self.heap.state.exclusive = {**exclusive, new: True}
        return new

    def copy_to_write(self, value: Atom, type_: t.Type, name: str, origin: Origin) -> Var:
        """Write a copy of a value, which will be written into; see ``layouts``."""
        function = np.copy if isinstance(type_, t.Array) else own
        new = self.s.let(Call(Const(function), (value,)), type_, name, origin, False)
        assert isinstance(new, Var)
        self.unit.writes.copied_for_writes.add(new)
        return new


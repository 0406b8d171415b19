"""Writing into a part of a root: an update, which becomes its latest value."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from adcompiler.analyses.storage import is_container, part_type
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Step, Update, Var, step_with
from adcompiler.ops.registry import REGISTRY
from adcompiler.specialise.storage.alternatives import Alternatives
from adcompiler.specialise.storage.stored_types import stored


class Writing(Alternatives):
    """Stores."""

    def write(
        self, atom: Var, steps: tuple[Step, ...], value: Atom, origin: Origin, adds: bool = False,
        rebound: int | None = None, grown: Iterable[int] = (),
    ) -> Atom:
        """Write a store of ``value`` to the part of what ``atom`` refers to that ``steps`` lead to.

        ``rebound`` says after how many steps from ``atom`` a slot of a container is given another
        object. Returns the latest value of the root.
        """
        there = self.reference(atom)
        root = there.root
        if root in self.state.invalidated:
            return self.refuse_lost(atom, root, origin)
        if (made := self.made_overlapping(root, there.steps)) is not None:
            return self.s.reject(
                origin, f"this writes into what {made}() gives, of which several elements may lie "
                "in one place", "write into the array itself, or into a copy", "array-writes",
            )
        if isinstance(part_type(self.s.unit.type(root), (*there.steps, *steps)[:-1]), t.Tuple):
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
            self.s.unit.shapes[new] = self.s.unit.shape(base)
        else:
            self.s.unit.writes.written_inside |= adds or len(there.steps) + len(steps) != 1
        if rebound is not None:
            rebound += len(there.steps)
        self.advance(root, new, rebound, origin, grown, rebound is None and not grown)
        return new

    def made_overlapping(self, root: Var, steps: tuple[Step, ...]) -> str | None:
        """Return the name of the function that made a view of which elements may overlap.

        Views of others that are read-only say so themselves when the code runs.
        """
        for step in steps:
            if step.kind == "call" and "writeable" in dict(step.kwargs):
                return step.name
        made = self.s.unit.definition(root)
        if not isinstance(made, Call) or not isinstance(made.func, Const) or not (
            REGISTRY.facts(made.func.value).read_only
        ):
            return None
        shares = any(True for _ in self.sharing.of(root, made))
        return str(getattr(made.func.value, "__name__", root.name)) if shares else None

    def apart_from(self, atom: Var, index: Atom, origin: Origin) -> Atom:
        """Return a subscript of ``atom`` that is no part of what is written there: a copy if it is.

        The sweep needs it to put that back.
        """
        if self.reads_from(index, atom):
            return self.s.call(Const(np.copy), [index], {}, origin, "index")
        parts = self.s.unit.elements(index) if isinstance(index, Var) else None
        if parts is None or not any(self.reads_from(part, atom) for part in parts):
            return index
        parts = tuple(self.apart_from(atom, part, origin) for part in parts)
        return self.s.pack("tuple", parts, "index", origin)

    def written_type(self, base: Atom, steps: tuple[Step, ...], value: Atom) -> t.Type:
        """Return the type of a value after a store."""
        type_ = self.s.unit.type(base)
        if not is_container(type_):
            return type_
        return stored(type_, steps, self.s.unit.type(value))

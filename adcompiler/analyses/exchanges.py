"""Slots of a container that are given what other slots of it had: exchanges, rotations, moves.

``s[i], s[j] = s[j], s[i]`` and ``o.old = o.new; o.new = fresh`` leave every object in one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Let, Rhs, Update, Step, Var
from adcompiler.ir.nodes import operands, unstar
from adcompiler.ir.operators import WHOLE
from adcompiler.runtime import own


class Exchanges:
    """Answers for one typed function.

    ``made`` defines its variables, ``stored_copies`` tells of what containers got copies;
    ``rebinds`` are the slots that are rebound one after the other, without anything between.
    """

    def __init__(
        self, type_of: Callable[[Atom], t.Type], made: Mapping[Var, Rhs],
        stored_copies: Mapping[Var, Var], rebinds: Sequence[Sequence[Let]],
    ) -> None:
        self.type_of = type_of
        self.made = made
        self.stored_copies = stored_copies
        self.rebinds = rebinds
        self.found = {*self.find_swaps(), *self.find_moves()}

    def find_swaps(self) -> Iterator[tuple[Atom, Atom]]:
        """Yield the containers and values of ``s[i], s[j] = s[j], s[i]``."""
        for target, rhs in self.made.items():
            if not isinstance(rhs, Update) or not isinstance(rhs.obj, Var):
                continue
            before = self.made.get(rhs.obj)
            if not isinstance(before, Update) or not is_slot(rhs) or not is_slot(before):
                continue
            first, second = self.stored(before), self.stored(rhs)
            if self.is_part(first, before.obj, rhs.steps[0]) and self.is_part(
                second, before.obj, before.steps[0]
            ):
                yield rhs.obj, first
                yield target, second

    def stored(self, update: Update) -> Atom:
        """Return what an update stores, or what that is a copy of."""
        value = update.value
        return self.stored_copies.get(value, value) if isinstance(value, Var) else value

    def copy_source(self, atom: Atom) -> Atom | None:
        """Return what a container is a copy of, as a whole."""
        made = self.made.get(atom) if isinstance(atom, Var) else None
        return unstar(made.args[0]) if isinstance(made, Call) and is_copy(made) else None

    def find_moves(self) -> Iterator[tuple[Atom, Atom]]:
        """Yield the containers and values of slots that are given what other slots had before.

        ``o.old = o.new; o.new = fresh`` and rotations: nothing is held twice when they are done.
        """
        for chain in self.rebinds:
            first = chain[0].rhs
            assert isinstance(first, Update)
            versions: dict[Atom, dict[object, object]] = {first.obj: {}}
            copied_from = self.copy_source(first.obj)
            if copied_from is not None:
                versions[copied_from] = {}
            moved: list[tuple[Atom, Atom]] = []
            for let in chain:
                assert isinstance(let.rhs, Update)
                value = self.stored(let.rhs)
                read = self.read(value)
                slot = None if read is None else slot_read(read)
                had: object = let.rhs
                if read is not None and slot is not None and read.obj in versions:
                    had = versions[read.obj].get(slot, slot)
                    moved.append((let.target, value))
                versions[let.target] = {**versions[let.rhs.obj], slot_of(let.rhs): had}
            final = versions[chain[-1].target]
            former = [had for had in final.values() if isinstance(had, tuple)]
            if len(set(former)) == len(former) and final.keys() >= set(former):
                yield from moved

    def is_part(self, value: Atom, obj: Atom, step: Step) -> bool:
        """Say whether a value is what a container, or what that copies, has at ``step``."""
        read = self.read(value)
        if read is None:
            return False
        if read.obj is not obj and read.obj is not self.copy_source(obj):
            return False
        if isinstance(read, Attribute):
            return step.kind == "attr" and step.name == read.name
        return step.kind == "item" and self.is_same(read.index, step.args[0])

    def read(self, value: Atom) -> Item | Attribute | None:
        """Return how a value is read out of a container, None if it is not."""
        rhs = self.made.get(value) if isinstance(value, Var) else None
        return rhs if isinstance(rhs, (Item, Attribute)) else None

    def is_same(self, one: Atom, two: Atom) -> bool:
        """Say whether two subscripts are the same number for sure."""
        if one is two:
            return True
        if isinstance(one, Const) and isinstance(two, Const):
            return type(one.value) is type(two.value) in (int, str) and one.value == two.value
        a, b = self.made.get(one), self.made.get(two)  # type: ignore[arg-type]
        if not isinstance(a, Call) or not isinstance(b, Call) or not isinstance(a.func, Const):
            return False
        return isinstance(b.func, Const) and a.func.value is b.func.value and (
            a.func.value in WHOLE
        ) and (
            self.type_of(one) == self.type_of(two) == t.INT and len(operands(a)) == len(operands(b))
        ) and all(map(self.is_same, operands(a)[1:], operands(b)[1:]))


def is_copy(rhs: Rhs) -> bool:
    """Say whether a right-hand side copies a container and all that it holds."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is own


def is_slot(update: Update) -> bool:
    """Say whether an update gives one slot of a container another object."""
    return not update.adds and len(update.steps) == 1 and update.steps[0].kind in ("item", "attr")


def slot_of(update: Update) -> tuple[str, object] | None:
    """Return what stands for the slot that an update gives another object, None if unknown."""
    if not is_slot(update):
        return None
    step = update.steps[0]
    return ("attr", step.name) if step.kind == "attr" else known_slot(step.args[0])


def slot_read(read: Item | Attribute) -> tuple[str, object] | None:
    """Return what stands for the slot that is read, None if it is not known."""
    return ("attr", read.name) if isinstance(read, Attribute) else known_slot(read.index)


def known_slot(index: Atom) -> tuple[str, object] | None:
    """Return what stands for the slot of a key or position: others are other slots."""
    if isinstance(index, Const) and (
        type(index.value) is str or (type(index.value) is int and index.value >= 0)
    ):
        return ("item", index.value)
    return None

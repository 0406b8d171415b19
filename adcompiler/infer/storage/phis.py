"""Values that are one of two objects which were there before, told apart by a condition."""

from __future__ import annotations

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Origin, Pack, Var, unstar
from adcompiler.runtime import choose
from adcompiler.infer.storage.aliases import Storage
from adcompiler.infer.storage.reading import Reading
from adcompiler.infer.storage.state import Choice, Reference


class Alternatives:
    """The results of arms that are known objects."""

    def __init__(self, heap: Storage, reading: Reading) -> None:
        self.heap, self.s, self.unit, self.reading = heap, heap.s, heap.s.unit, reading

    def of(self, atom: Atom) -> Reference | None:
        """Return where the result of an arm lies, if it was there before and can be read again."""
        if not isinstance(atom, Var):
            return None
        there = self.heap.reference(atom)
        if self.heap.is_inner(there.root) or there.root in self.heap.state.invalidated:
            return None
        if there.root not in self.heap.state.choices and there.root in self.heap.behind:
            return None
        type_ = self.unit.type(there.root)
        for step in there.steps:
            if any(isinstance(a, Var) and self.heap.is_inner(a) for a in step.atoms):
                return None
            if step.kind != "item":
                if step.kind == "attr" and isinstance(type_, t.Object):
                    type_ = type_.field(step.name) or t.UNKNOWN
                continue
            key = step.args[0].value if isinstance(step.args[0], Const) else None
            match type_:
                case t.Tuple(items) if isinstance(key, int):
                    type_ = items[key]
                case t.Dict(keys, items) if keys is not None and key in keys:
                    type_ = items[keys.index(key)]
                case t.Array() if not self.picks(step.args[0]):
                    pass
                case _:
                    return None
        return Reference(there.root, there.steps, self.heap.state.value(there.root))

    def picks(self, index: Atom) -> bool:
        """Say whether a subscript of an array may name what is not there: it has an int."""
        if isinstance(index, Const):
            parts = index.value if isinstance(index.value, tuple) else (index.value,)
            return any(isinstance(part, int) for part in parts)
        rhs = self.unit.definition(index)
        if isinstance(rhs, Pack):
            return any(self.picks(unstar(item)) for item in rhs.items)
        return not isinstance(self.unit.type(index), t.SliceType)

    def chosen(
        self, condition: Atom, alternatives: tuple[Reference, Reference], name: str, type_: t.Type,
        origin: Origin,
    ) -> Var:
        """Write a value that is one of two, and keep it apart which."""
        values = [self.reading.part_again(there, origin, name) for there in alternatives]
        rhs = Call(Const(choose), (condition, *values))
        var = self.s.let(rhs, type_, name, origin, False)
        self.heap.behind[var] = tuple(dict.fromkeys(
            root for there in alternatives
            for root in (there.root, *self.heap.behind.get(there.root, ()))
        ))
        for root in self.heap.behind[var]:
            for other in list(self.heap.state.may_alias.get(root, ())):
                self.heap.alias(var, other)
        self.heap.state.exclusive[var] = False
        self.heap.state.choices[var] = Choice(condition, alternatives, self.reading.seen(var))
        return var

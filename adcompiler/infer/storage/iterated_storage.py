"""What a loop runs over: items that are references, and read by position where it is written into.
"""

from __future__ import annotations

import itertools

from adcompiler.analyses.storage import is_mutable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Block, Call, Const, Origin, Statement, Step, Var
from adcompiler.ir.visit import used
from adcompiler.runtime import dict_keys, dict_values
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.loop_fixpoint import Settling
from adcompiler.infer.storage.state import Reference


class Walked(Settling):
    """The iterables of one loop, in each trial and as they ended up."""

    def items(self, items: tuple[Var, ...], origin: Origin) -> list[Atom]:
        """Return the items of an iteration: references into what is iterated over."""
        heap, s = self.heap, self.s
        if heap is None:
            return list(items)
        found: list[Atom] = []
        self.check_iterables(heap, origin)
        for i, (item, iterable) in enumerate(zip(items, self.flat, strict=True)):
            found.append(item)
            type_ = s.unit.type(iterable)
            if not isinstance(iterable, Var) or isinstance(type_, (t.Range, t.Text)):
                continue
            if not (i in self.walked or is_mutable(s.unit.type(item))):
                continue
            if not isinstance(type_, (t.Array, t.List, t.Tuple)):
                if is_mutable(s.unit.type(item)) and not isinstance(type_, t.Dict):
                    heap.join(item, iterable)
                continue
            if self.position is None:
                self.position = Var("position", False)
                s.unit.types[self.position] = t.INT
            there = heap.reference(iterable)
            step = Step("item", args=(self.position,))
            if i in self.walked:
                found[i] = heap.reading.read(
                    Reference(there.root, (*there.steps, step), iterable),
                    heap.state.value(there.root), origin, item.name,
                )
            elif (parts := heap.parts(iterable)) is not None:
                for part in parts:
                    heap.join(item, part)
            elif isinstance(type_, t.Tuple):
                heap.join(item, iterable)
            else:
                heap.references[item] = Reference(
                    there.root, (*there.steps, step), heap.state.value(there.root)
                )
        return found

    def check_iterables(self, heap: Heap, origin: Origin) -> None:
        """Report what the loop runs over if an iteration before this one changed it unseen."""
        for iterable in dict.fromkeys((*self.over, *self.flat)):
            if not isinstance(iterable, Var) or not is_mutable(self.s.unit.type(iterable)):
                continue
            made = self.s.unit.definition(iterable)
            viewed = made.func.value if isinstance(made, Call) and (
                isinstance(made.func, Const)) else None
            if viewed is dict_keys:
                continue  # a loop over a dict may change its values, not its keys
            root = heap.reference(iterable).root
            changed = iterable in self.flat and root in heap.state.invalidated
            for source in (*heap.behind.get(root, ()), *heap.pending.derived_of.get(root, ())):
                if heap.pending.derived.get(source, {}).get(root, False):  # only its slots matter
                    written = source in self.rebound or bool(self.grown.get(source))
                else:
                    written = source in self.roots
                if written:
                    heap.state.invalidated.note(root, origin, source)
                changed |= written
            self.values_written |= changed and viewed is dict_values
            if changed:
                heap.reading.refuse_lost(iterable, root, origin)

    def sequences(
        self, items: tuple[Var, ...], flat: list[Atom], out: list[Statement],
        yields: tuple[Atom, ...],
    ) -> tuple[tuple[Var, ...], list[Atom]]:
        """Return what the loop runs over: positions where items are read by them."""
        s = self.s
        position = self.position
        if position is None or self.exit is None:
            return items, flat
        if not self.walked and position not in used(Block(tuple(out), yields)):
            return items, flat
        kept_items = [position]
        kept: list[Atom] = []
        origin = self.node.origin
        if self.walked:
            walked = dict.fromkeys(self.flat[i] for i in sorted(self.walked))
            lengths = [s.let(Call(Const(len), (w,)), t.INT, "count", origin) for w in walked]
            length = lengths[0] if len(lengths) == 1 else s.let(
                Call(Const(min), tuple(lengths)), t.INT, "count", origin)
            kept.append(s.let(Call(Const(range), (length,)), t.RANGE, "positions", origin))
        else:
            kept.append(s.let(
                Call(Const(itertools.count), (Const(0),)), t.UNKNOWN, "count", origin))
        for i, (item, sequence) in enumerate(zip(items, flat, strict=True)):
            if i not in self.walked:
                kept_items.append(item)
                kept.append(sequence)
        return tuple(kept_items), kept

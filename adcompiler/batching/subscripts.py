"""Subscripts of many seeds: behind the leading axis, read and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from adcompiler.batching.values import WHOLE, Part
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Call, Const, Item, Origin, Pack, Rhs, Star, Step, Update, Var
from adcompiler.runtime import add_at

MISSING = object()


class Subscripts(Part):
    """Subscripts, and writes into parts."""

    def item(self, obj: Atom, index: Atom, origin: Origin) -> Rhs:
        if index in self.batched:
            raise NotBatchable
        type_ = self.logical.get(obj) if isinstance(obj, Var) else None
        if isinstance(type_, t.Array):
            return Item(obj, self.behind_seeds(index, origin)[0])
        if isinstance(type_, (t.Tuple, t.List, t.Dict)):
            return Item(obj, index)
        raise NotBatchable

    def parts(self, index: Atom, origin: Origin) -> list[Atom]:
        """Return the parts of a subscript."""
        made = self.values.written_as.get(index) or self.s.unit.definition(index)
        if isinstance(made, Pack) and made.kind == "tuple":
            if any(isinstance(item, Star) for item in made.items):
                raise NotBatchable
            return [item for item in made.items if not isinstance(item, Star)]
        if isinstance(index, Const):
            values = index.value if isinstance(index.value, tuple) else (index.value,)
            return [Const(value) for value in values]
        type_ = self.s.unit.type(index)
        if isinstance(type_, t.Unknown):
            raise NotBatchable
        if isinstance(type_, t.Tuple):
            return [
                self.s.let(Item(index, Const(i)), part, "part", origin)
                for i, part in enumerate(type_.items)
            ]
        return [index]

    def behind_seeds(self, index: Atom, origin: Origin) -> tuple[Atom, Callable[[int], int]]:
        """Return a subscript behind the leading axis, and how many axes it leaves of so many."""
        parts = self.parts(index, origin)
        taken = left = 0
        gathered: int | None = None
        places = []
        integers = []
        for place, part in enumerate(parts):
            type_ = self.s.unit.type(part)
            value = part.value if isinstance(part, Const) else MISSING
            if value is None:
                left += 1
            elif value is Ellipsis:
                continue
            elif isinstance(value, slice) or isinstance(type_, t.SliceType):
                taken += 1
                left += 1
            elif isinstance(type_, t.Scalar) and type_.kind == "int":
                taken += 1
                integers.append(place)
            elif isinstance(type_, t.Array) and type_.kind in ("int", "bool"):
                mask = type_.kind == "bool"
                taken += type_.ndim if mask else 1
                gathered = max(gathered or 0, 1 if mask else type_.ndim)
                places.append(place)
            elif isinstance(type_, t.List) and isinstance(type_.item, t.Scalar):
                taken += 1
                gathered = max(gathered or 0, 1)
                places.append(place)
            else:
                raise NotBatchable
        if places:
            several = sorted([*places, *integers])
            if several[-1] - several[0] + 1 != len(several):
                raise NotBatchable  # NumPy moves the axes of separated index arrays to the front
        made: Atom
        if all(isinstance(part, Const) for part in parts):
            made = Const((WHOLE, *(part.value for part in parts)))  # type: ignore[union-attr]
        else:
            items = (Const(WHOLE), *parts)
            made = self.s.let(
                Pack("tuple", items), t.Tuple(tuple(map(self.s.unit.type, items))), "index", origin
            )
        return made, lambda rank: rank - taken + left + (gathered or 0)

    def value_for(self, value: Atom, rank: int, origin: Origin) -> Atom:
        """Return a value so that it can be stored in a part of ``rank`` axes."""
        if self.values.rank(value) > rank:
            raise NotBatchable
        return self.values.aligned(value, rank, origin)

    def update(self, rhs: Update, origin: Origin) -> Rhs:
        obj = self.values.expanded(rhs.obj, origin)
        assert isinstance(obj, Var)
        steps: list[Step] = []
        type_: t.Type = self.logical[obj]
        in_array = False
        for step in rhs.steps:
            if any(a in self.batched for a in step.atoms):
                raise NotBatchable
            in_array = isinstance(type_, t.Array)
            found, type_ = self.step(step, type_, origin)
            steps += found
        if isinstance(type_, t.Array) and (in_array or rhs.adds):
            value = self.value_for(rhs.value, type_.ndim, origin)
        else:
            value = self.values.expanded(rhs.value, origin)
        return replace(rhs, obj=obj, steps=tuple(steps), value=value)

    def step(self, step: Step, type_: t.Type, origin: Origin) -> tuple[list[Step], t.Type]:
        """Return what leads to a part of a value of many seeds, and the type of one seed's part."""
        if step.kind == "attr" and step.name == "T" and isinstance(type_, t.Array):
            axes = Const((0, *range(type_.ndim, 0, -1)))
            turned = Step("call", args=(axes,), function=np.transpose)
            return ([turned] if type_.ndim > 1 else []), type_
        if step.kind == "item" and isinstance(type_, t.Array):
            index, left = self.behind_seeds(step.args[0], origin)
            return [replace(step, args=(index,))], t.Array(type_.dtype, left(type_.ndim))
        if step.kind == "item" and isinstance(type_, t.List):
            return [step], type_.item
        raise NotBatchable

    def add_at(self, args: tuple[Atom, ...], origin: Origin) -> Rhs:
        buffer = self.values.expanded(args[0], origin)
        assert isinstance(buffer, Var)
        type_ = self.logical[buffer]
        if isinstance(type_, t.Array):
            index, left = self.behind_seeds(args[1], origin)
            value = self.value_for(args[2], left(type_.ndim), origin)
            return Call(Const(add_at), (buffer, index, value))
        if isinstance(type_, (t.List, t.Tuple)):
            return Call(Const(add_at), (buffer, args[1], self.values.expanded(args[2], origin)))
        raise NotBatchable

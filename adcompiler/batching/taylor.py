"""Code of one order made code of all: coefficients along a leading axis.

What ``derive.taylor`` writes is linear in the coefficients of each order alike, but for
functions of coefficients, which take those of all orders at once. Functions that are called by name
return their value, which has no leading axis, and its coefficients.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.batching.arrays import Arrays
from adcompiler.batching.batcher import Batcher
from adcompiler.batching.calls import Calls
from adcompiler.batching.kinds import carries, lifted
from adcompiler.batching.subscripts import Subscripts
from adcompiler.batching.values import Values
from adcompiler.derive.supported_mutations import is_call_of
from adcompiler.derive.primal_and_pullback import CalleePart
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.dataflow import Flow
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Edge, Item, Let, Origin, Rhs, Star, Step, Var, operands,
    substitute, unstar,
)
from adcompiler.ir.visit import walk
from adcompiler.ops.registry import REGISTRY, hashable
from adcompiler.runtime import as_tangent, record
from adcompiler.runtime.adjoints.shaping import (
    complex_viewed, copy_as_laid_out, in_place_of, parts_viewed, reshape_view, viewed,
)
from adcompiler.runtime.batches import as_tangent_each, count_seeds, elementwise_each
from adcompiler.runtime.series import COEFFICIENTS, first_rate, multilinear_series
from adcompiler.typed.builder import Builder

SEQUENCES = ("add", "concat", "mul")
"""Transfers of functions that put lists or tuples together."""

CONTAINERS = (t.List, t.Tuple)
OF_LAYOUT: frozenset[Any] = frozenset({
    complex_viewed, copy_as_laid_out, in_place_of, parts_viewed, reshape_view, viewed,
})
"""Functions of the layout of an array in memory, which coefficients do not share."""


class SeriesSubscripts(Subscripts):
    """Subscripts of coefficients."""

    def __init__(self, values: Values, arrays: Arrays) -> None:
        super().__init__(values)
        self.arrays = arrays

    def step(self, step: Step, type_: t.Type, origin: Origin) -> tuple[list[Step], t.Type]:
        if step.kind == "attr" and isinstance(type_, t.Object):
            field = type_.field(step.name)
            if field is not None:
                return [step], field
        if step.kind == "item" and isinstance(type_, t.Dict):
            (key,) = step.args
            if type_.keys is None:
                return [step], type_.items[0]
            if isinstance(key, Const):
                known = dict(zip(type_.keys, type_.items, strict=True))
                return [step], known.get(key.value, t.UNKNOWN)
            if len(set(type_.items)) == 1:
                return [step], type_.items[0]
        if step.kind == "item" and isinstance(type_, t.Tuple) and isinstance(step.args[0], Const):
            return [step], type_.items[step.args[0].value]
        return super().step(step, type_, origin)

    def value_for(self, value: Atom, rank: int, origin: Origin) -> Atom:
        type_ = self.logical.get(value) if isinstance(value, Var) else None
        if isinstance(type_, t.Tuple) and all(isinstance(i, t.Scalar) for i in type_.items):
            columns = Call(Const(np.stack), (value, Const(1)))
            value = self.values.write(columns, t.Array("float64", 1), "items", origin)
        return super().value_for(self.arrays.as_array(value, origin), rank, origin)


class SeriesArrays(Arrays):
    """Functions of arrays of coefficients."""

    def elementwise(self, target: Var, function: Any, args: list[Any], origin: Origin) -> Rhs:
        types = list(map(self.values.type, args))
        if not any(isinstance(type_, t.Unknown) for type_ in types):
            return super().elementwise(target, function, args, origin)
        args = [
            self.values.expanded(a, origin) if isinstance(type_, t.Unknown) else a
            for a, type_ in zip(args, types, strict=True)
        ]
        each = Const(tuple(a in self.batched for a in args))
        return Call(Const(elementwise_each), (Const(function), each, *args))


class SeriesCalls(Calls):
    """Right-hand sides of coefficients."""

    def call(self, target: Var, function: Any, rhs: Call, origin: Origin) -> Rhs | Var:
        if function is multilinear_series:
            return self.of_coefficients(rhs, range(3, len(rhs.args)), origin)
        if hashable(function) and function in COEFFICIENTS:
            return self.of_coefficients(rhs, COEFFICIENTS[function], origin)
        if REGISTRY.facts(function).transfer in SEQUENCES and not rhs.kwargs and any(
            a in self.batched and not self.values.is_array(a) for a in operands(rhs)
        ):
            return Call(rhs.func, tuple(
                self.values.expanded(a, origin)
                if isinstance(self.s.unit.type(unstar(a)), CONTAINERS) else a for a in rhs.args
            ))
        if hashable(function) and function in OF_LAYOUT:
            raise NotBatchable
        if function is as_tangent:
            if any(a in self.batched for a in rhs.args[1:]):
                raise NotBatchable
            return Call(Const(as_tangent_each), rhs.args)
        if function is record and not rhs.args:
            return Call(rhs.func, (), tuple(
                (name, self.values.expanded(a, origin) if carries(self.s.unit.type(a)) else a)
                for name, a in rhs.kwargs
            ))
        return super().call(target, function, rhs, origin)

    def of_coefficients(self, rhs: Call, positions: Iterable[int], origin: Origin) -> Rhs:
        """Return the call of a function that takes coefficients of all orders at once."""
        args: list[Atom | Star] = list(rhs.args)
        for i in positions:
            args[i] = self.values.expanded(args[i], origin)
        rest = [a for i, a in enumerate(rhs.args) if i not in set(positions)]
        if any(a in self.batched for a in (*rest, *(a for _, a in rhs.kwargs))):
            raise NotBatchable
        return Call(rhs.func, tuple(args), rhs.kwargs)

    def attribute(self, obj: Atom, name: str) -> Rhs | Var:
        if obj in self.batched and isinstance(self.logical[obj], t.Object):
            return Attribute(obj, name)
        return super().attribute(obj, name)


class SeriesBatcher(Batcher):
    """Rewrites one block of code of coefficients.

    ``pairs`` are variables that hold a value and its coefficients.
    """

    def __init__(self, values: Values, calls: Calls) -> None:
        super().__init__(values, calls)
        self.pairs: set[Var] = set()

    def mark(self, block: Block) -> None:
        self.pairs |= {  # also of zeros, which are no coefficients yet
            statement.target for statement in walk(block)
            if isinstance(statement, Let) and is_called(statement.rhs)
        }
        self.batched |= self.pairs
        super().mark(block)
        self.batched -= self.pairs

    def follow(self, flow: Flow, edge: Edge) -> None:
        if edge.source in self.pairs:
            raise NotBatchable
        super().follow(flow, edge)

    def carrying(self, rhs: Rhs) -> tuple[Atom, ...]:
        match rhs:
            case Item(obj, Const(index)) if obj in self.pairs:
                return (obj,) if index == 1 else ()
            case Call(Const(function)) if is_called(rhs) or function in (first_rate, count_seeds):
                return ()
            case Call(Const(function), args) if function is as_tangent:
                return (unstar(args[0]),)
        return tuple(atom for atom in super().carrying(rhs) if atom not in self.pairs)

    def let(self, target: Var, rhs: Rhs, origin: Origin) -> None:
        if target in self.pairs:
            rhs = self.called(substitute(rhs, self.values.mapping), origin)
            first, second = self.s.unit.type(target).items  # type: ignore[attr-defined]
            self.s.unit.types[target] = t.Tuple((first, lifted(second)))
        elif isinstance(rhs, Item) and rhs.obj in self.pairs:
            pass
        elif any(a in self.pairs for a in operands(rhs)):
            raise NotBatchable
        elif is_call_of(count_seeds, rhs):
            self.values.mapping[target] = self.values.count()
            return
        elif is_call_of(first_rate, rhs):
            rhs = Call(Const(first_rate), (self.values.expanded(operands(rhs)[1], origin),))
        else:
            super().let(target, rhs, origin)
            return
        self.s.unit.defs[target] = rhs
        self.s.out.append(Let(target, rhs, origin))

    def called(self, rhs: Rhs, origin: Origin) -> Rhs:
        """Return the call of a function by name, with coefficients, and the number of orders."""
        assert isinstance(rhs, Call) and isinstance(rhs.func, Const)
        function = rhs.func.value.callee.function
        count = len(function.params)
        if any(a in self.batched for a in rhs.args[:count]):
            raise NotBatchable
        coefficients = (self.values.expanded(a, origin) for a in rhs.args[count:])
        return Call(rhs.func, (*rhs.args[:count], *coefficients, self.values.count()))


def is_called(rhs: Rhs) -> bool:
    """Say whether a right-hand side calls a function's pushforward by name."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and isinstance(
        rhs.func.value, CalleePart
    )


def series_block(
    s: Builder, block: Block, seeded: Sequence[Var], wanted: Sequence[int], origin: Origin,
    orders: Var | None = None,
) -> Block:
    """Return code for the coefficients of all orders, which ``seeded`` hold for the arguments.

    ``orders`` is the number of orders, None where it is that of what ``seeded`` hold. The yields at
    ``wanted`` have the leading axis for sure. Raises NotBatchable.
    """
    values = Values(s, seeded, origin, orders=orders)
    arrays = SeriesArrays(values)
    calls = SeriesCalls(values, SeriesSubscripts(values, arrays), arrays)
    return SeriesBatcher(values, calls).run(block, wanted)


__all__ = ["series_block"]

"""Functions of arrays whose axes lie behind that of the seeds: products, sums, shapes, joining."""

from __future__ import annotations

import operator
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.batching.kinds import carries
from adcompiler.batching.library import axes_of, axis_of
from adcompiler.batching.values import Part
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Call, Const, Item, Origin, Pack, Rhs, Star, Var,
)
from adcompiler.ops.facts import ALONG_ALL, IN_ORDER, IN_ROWS


class Arrays(Part):
    """Each method writes one kind of function for all seeds at once."""

    def elementwise(self, target: Var, function: Any, args: list[Atom], origin: Origin) -> Rhs:
        rank = max(self.values.rank(a) for a in args)
        if t.is_number(self.logical[target]) and rank != self.values.rank(target):
            raise NotBatchable  # some type is wrong; one seed by itself needs none
        return Call(Const(function), tuple(self.values.aligned(a, rank, origin) for a in args))

    def matmul(self, args: tuple[Any, ...], origin: Origin) -> Rhs | None:
        a, b = args
        if isinstance(a, Star) or isinstance(b, Star):
            return None
        if a in self.batched and b in self.batched:
            return None
        first, second = self.values.rank(a), self.values.rank(b)
        if a in self.batched:
            if second > 2 and first != second:
                return None
            return Call(Const(operator.matmul), (a, b))
        if second == 1:
            if first > 2:
                return None
            made = self.values.written_as.get(a)
            if first == 2 and isinstance(made, Attribute) and made.name == "T":
                a = made.obj
            elif first == 2:
                dtype = getattr(self.s.unit.type(a), "dtype", "float64")
                a = self.s.let(Attribute(a, "T"), t.Array(dtype, 2), "turned", origin)
            return Call(Const(operator.matmul), (b, a))
        return None if first > 2 and first != second else Call(Const(operator.matmul), (a, b))

    def outer(self, a: Atom, b: Atom, origin: Origin) -> Rhs:
        """Return the outer products of vectors, of which one or both have a leading axis."""
        dtype = getattr(self.s.unit.type(a), "dtype", "float64")
        standing = Item(a, Const((Ellipsis, None)))
        if a in self.batched:
            column: Atom = self.values.write(standing, t.Array(dtype, 2), "column", origin)
        else:
            column = self.s.let(standing, t.Array(dtype, 2), "column", origin)
        return Call(Const(operator.mul), (column, self.values.aligned(b, 2, origin)))

    def solved(self, rhs: Call, origin: Origin) -> Rhs | None:
        """Return the solutions for vectors of many seeds, as columns of one right-hand side."""
        if len(rhs.args) != 2 or any(isinstance(a, Star) for a in rhs.args):
            return None
        matrix, right = rhs.args
        if matrix in self.batched or not isinstance(right, Var) or (
            not isinstance(self.s.unit.type(right), t.Array) or self.values.rank(right) != 1
        ):
            return None
        type_ = self.s.unit.type(right)
        columns = self.s.let(Attribute(right, "T"), type_, "columns", origin)
        call = replace(rhs, args=(matrix, columns))
        return Attribute(self.s.let(call, type_, "solved", origin), "T")

    def in_order(self, atom: Any, origin: Origin) -> Any:
        """Return what a loop runs over: for an array its rows, each with all seeds."""
        if isinstance(atom, Star):
            raise NotBatchable
        if atom in self.batched and isinstance(self.logical[atom], t.Array):
            made = Call(Const(np.swapaxes), (atom, Const(0), Const(1)))
            rows = self.s.let(made, self.s.unit.type(atom), "rows", origin)
            if self.values.rank(atom) > 1 or not self.values.writes:
                return rows
            copied = Call(Const(np.copy), (rows,))
            return self.s.let(copied, self.s.unit.type(atom), "rows", origin)
        if atom in self.batched and not self.values.is_container(atom):
            match self.s.unit.definition(atom):
                case Call(Const(function)) if axes_of(function) == IN_ROWS:
                    return atom  # made of what is in order
            raise NotBatchable
        return atom

    def reshaped(self, x: Atom, shape: Atom, origin: Origin) -> Rhs:
        if not self.values.is_array(x) or shape in self.batched:
            raise NotBatchable
        s, type_ = self.s, self.s.unit.type(shape)
        behind: tuple[Atom, ...] = ()
        known = shape.value if isinstance(shape, Const) else None
        if isinstance(known, int | tuple):
            behind = tuple(map(Const, known if isinstance(known, tuple) else (known,)))
        elif isinstance(type_, t.Scalar):
            behind = (shape,)
        elif isinstance(type_, t.List | t.Array):
            shape = s.let(Call(Const(tuple), (shape,)), t.UNKNOWN, "shape", origin)
        elif not isinstance(type_, t.Tuple):
            raise NotBatchable
        is_whole = isinstance(known, int | tuple) or isinstance(type_, t.Scalar)
        sizes = (self.values.count(), *behind)
        whole = s.let(
            Pack("tuple", sizes), t.Tuple(tuple(map(s.unit.type, sizes))),
            "shape" if is_whole else "front", origin,
        )
        if not is_whole:
            call = Call(Const(operator.add), (whole, shape))
            whole = s.let(call, t.UNKNOWN, "shape", origin)
        return Call(Const(np.reshape), (x, whole))

    def of_items(self, items: Any, rhs: Call, origin: Origin) -> Rhs:
        """Return the array of a list of values of many seeds."""
        depth, type_ = 0, self.logical[items]
        while isinstance(type_, t.List):
            depth, type_ = depth + 1, type_.item
        if not isinstance(type_, (t.Scalar, t.Array)) or not carries(type_):
            raise NotBatchable
        inside = self.s.let(rhs, t.UNKNOWN, "items", origin)
        return Call(Const(np.moveaxis), (inside, Const(depth), Const(0)))

    def joined(self, function: Any, rhs: Call, origin: Origin) -> Rhs | None:
        """Return a concatenation behind the leading axis; None if it is not of known arrays."""
        items, *rest = rhs.args
        named = dict(rhs.kwargs)
        axis = rest[0] if rest else named.get("axis", Const(0))
        if isinstance(items, Star) or len(rest) > 1 or set(named) - {"axis"} or not (
            isinstance(axis, Const) and isinstance(axis.value, int)
        ):
            return None
        behind = Const(axis.value + 1 if axis.value >= 0 else axis.value)
        if self.is_list_of_arrays(items):
            return Call(Const(function), (items, behind))
        parts = self.s.unit.elements(items)
        if parts is None:
            return None
        arrays = tuple(self.as_array(self.values.expanded(part, origin), origin) for part in parts)
        if not all(map(self.values.is_array, arrays)):
            return None
        packed = Pack("tuple", arrays)
        types = t.Tuple(tuple(map(self.s.unit.type, arrays)))
        return Call(Const(function), (self.s.let(packed, types, "parts", origin), behind))

    def is_list_of_arrays(self, atom: Atom) -> bool:
        """Say whether a value is a list of arrays of many seeds, as many as there are."""
        if not isinstance(atom, Var) or atom not in self.batched:
            return False
        type_ = self.logical[atom]
        return isinstance(type_, t.List) and isinstance(type_.item, t.Array) and (
            carries(type_.item))

    def as_array(self, atom: Atom, origin: Origin) -> Atom:
        """Return a list of floats, for many seeds, as an array; anything else as it is."""
        type_ = self.logical.get(atom) if isinstance(atom, Var) else None
        if not isinstance(type_, t.List) or not isinstance(type_.item, t.Scalar) or (
            type_.item.kind != "float"
        ):
            return atom
        made = self.of_items(atom, Call(Const(np.array), (atom,)), origin)
        return self.values.write(made, t.Array(type_.item.dtype or "float64", 1), "items", origin)

    def along_axis(self, function: Any, rhs: Call) -> Rhs | None:
        """Return a call with its axes counted behind the leading one; None if they are not known.
        """
        x, *rest = rhs.args
        named = dict(rhs.kwargs)
        position, default = axis_of(function)
        given = named.get("axis", Const(default))
        if not self.values.is_array(x) or len(rest) >= position or any(
            isinstance(a, Star) or a in self.batched for a in rest
        ) or not isinstance(given, Const) or set(named) - {"axis", "keepdims"}:
            return None
        axis = self.behind(given.value, self.values.rank(x), axes_of(function))
        if axis is None:
            return None
        named["axis"] = Const(axis)
        return Call(Const(function), (x, *rest), tuple(named.items()))

    def behind(self, axis: Any, rank: int, axes: str | None) -> int | tuple[int, ...] | None:
        """Return axes of an array of ``rank`` axes, counted behind the leading one.

        None stands for axes that there are not, or that are not known.
        """
        if axis is None and axes == ALONG_ALL:
            return tuple(range(1, rank + 1))
        if axis is None and axes == IN_ORDER and rank == 1:
            return 1
        given = axis if isinstance(axis, tuple) else (axis,)
        if not all(type(a) is int and -rank <= a < rank for a in given):
            return None
        counted = tuple(a + 1 if a >= 0 else a for a in given)
        return counted if isinstance(axis, tuple) else counted[0]

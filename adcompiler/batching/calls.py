"""Calls, attributes and methods of many seeds: at once where that is known, else seed by seed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.analyses.purity import CHECKS
from adcompiler.batching.arrays import Arrays
from adcompiler.batching.kinds import lifted
from adcompiler.batching.library import (
    ALONG, SIZES, axes_of, is_elementwise,
)
from adcompiler.batching.subscripts import Subscripts
from adcompiler.batching.values import Part, Values
from adcompiler.errors import NotBatchable
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Const, Item, Loop, Origin, Pack, Rhs, Star, Update, Var,
    operands, substitute, arguments,
)
from adcompiler.ops.facts import ALIKE, COLUMNS, IN_ROWS, JOINS, VECTORS
from adcompiler.ops.queries import meaning
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import (
    add, add_at, append, as_gradient, drop_last, project, unbroadcast, zeros_like,
)
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out
from adcompiler.runtime.batches import (
    as_gradient_each, project_each, seed_of, stacked, unbroadcast_each,
)
from adcompiler.runtime.checking import check_shape, check_shape_each
from adcompiler.typed.callee import Callee


class Calls(Part):
    """Right-hand sides."""

    def __init__(self, values: Values, subscripts: Subscripts, arrays: Arrays) -> None:
        super().__init__(values)
        self.subscripts = subscripts
        self.arrays = arrays

    def rhs(self, target: Var, rhs: Rhs, origin: Origin) -> Rhs | Var:
        """Return a right-hand side for many seeds, or the variable that holds the value."""
        match rhs:
            case Item(obj, index):
                read = self.subscripts.item(obj, index, origin)
                if self.values.is_array(obj) and isinstance(self.logical[target], t.Scalar) and (
                    self.values.writes and obj not in self.values.constant
                ):  # numbers stay what they are when the array is written; columns are views
                    column = self.s.let(read, self.s.unit.type(target), target.name, origin)
                    return Call(Const(np.copy), (column,))
                return read
            case Attribute(obj, name):
                return self.attribute(obj, name)
            case Pack(kind, items, keys) if kind != "set":
                if any(isinstance(item, Star) for item in items):
                    raise NotBatchable
                carries, type_of = self.values.carries, self.s.unit.type
                return Pack(kind, tuple(
                    self.values.expanded(item, origin) if carries(type_of(item)) else item
                    for item in items if not isinstance(item, Star)
                ), keys)
            case Update():
                return self.subscripts.update(rhs, origin)
            case Call(Const(function)):
                return self.call(target, REGISTRY.resolve(function), rhs, origin)
        raise NotBatchable

    def metadata(self, rhs: Rhs, origin: Origin) -> Rhs:
        """Return what reads the shape of one seed's value."""
        match rhs:
            case Attribute(x, "shape" | "size" | "ndim" as name) if self.values.is_array(x):
                return self.size_behind(x, name, origin)
            case Call(Const(function), (x,), ()) if self.values.is_array(x) and (
                size := REGISTRY.facts(function).transfer
            ) in SIZES:
                return self.size_behind(x, str(size), origin)
            case Attribute(_, "dtype"):
                return rhs
            case Call(Const(function), (x,), ()) if self.values.is_container(x) and (
                REGISTRY.facts(function).transfer == "len"
            ):
                return rhs
        raise NotBatchable

    def size_behind(self, x: Any, name: str, origin: Origin) -> Rhs:
        """Return the shape of one seed's value, its number of elements, or of axes."""
        if name == "ndim":
            return Call(Const(int), (Const(self.values.rank(x)),))
        whole = self.s.let(Call(Const(np.shape), (x,)), t.UNKNOWN, "shape", origin)
        if name == "len":
            return Item(whole, Const(1))
        behind = Item(whole, Const(slice(1, None)))
        if name == "shape":
            return behind
        return Call(Const(math.prod), (self.s.let(behind, t.UNKNOWN, "shape", origin),))

    def attribute(self, obj: Atom, name: str) -> Rhs | Var:
        if not isinstance(obj, Var) or not self.values.is_array(obj):
            raise NotBatchable
        if name in ("real", "imag"):
            return Attribute(obj, name)
        if name == "T" and self.values.rank(obj) < 2:
            return obj
        if name == "T":
            axes = (0, *range(self.values.rank(obj), 0, -1))
            return Call(Const(np.transpose), (obj, Const(axes)))
        if name == "mT":
            return Attribute(obj, name)
        raise NotBatchable

    def call(self, target: Var, function: Any, rhs: Call, origin: Origin) -> Rhs | Var:
        """Return a call of ``function`` for all seeds."""
        args = rhs.args
        found: Rhs | Var | None = None
        if not rhs.kwargs and not any(isinstance(arg, Star) for arg in args):
            if is_elementwise(function):
                return self.arrays.elementwise(target, function, arguments(rhs), origin)
            if axes_of(function) == VECTORS and all(map(self.values.is_array, args)):
                return self.arrays.elementwise(target, function, arguments(rhs), origin)
            found = self.of_derivatives(function, rhs, origin)
            if found is None:
                found = self.of_array(target, function, rhs, origin)
        axes = axes_of(function)
        if found is None and axes == JOINS:
            found = self.arrays.joined(function, rhs, origin)
        if found is None and axes == COLUMNS:
            found = self.arrays.solved(rhs, origin)
        if found is None and axes in ALONG:
            found = self.arrays.along_axis(function, rhs)
        return self.one_by_one(target, rhs, origin) if found is None else found

    def of_derivatives(
        self, function: Callable[..., Any] | Callee, rhs: Call, origin: Origin
    ) -> Rhs | None:
        """Return a call of a function that the compiler writes for derivatives; None if not one."""
        args: tuple[Any, ...] = rhs.args
        if function is add:
            if self.values.differ_in_rank(args):
                raise NotBatchable
            return rhs
        if function is add_at:
            return self.subscripts.add_at(args, origin)
        if function is unbroadcast:
            return Call(Const(unbroadcast_each), args)
        if function is project:
            return Call(Const(project_each), args)
        if function is as_gradient:
            return Call(Const(as_gradient_each), (*args, self.values.count()))
        if function is append:
            return Call(rhs.func, tuple(self.values.expanded(a, origin) for a in args))
        return rhs if function is drop_last else None

    def of_array(
        self, target: Var, function: Callable[..., Any], rhs: Call, origin: Origin
    ) -> Rhs | Var | None:
        """Return a call of a function of arrays or sequences; None if nothing is known of it."""
        args: tuple[Any, ...] = rhs.args
        means = meaning(rhs)
        match args:
            case (x,) if function in (float, complex) and self.values.is_array(x):
                return self.number(x, function)
            case (x,) if axes_of(function) == ALIKE and (
                self.values.is_array(x) or function is zeros_like
            ):
                return rhs
            case (x,) if function is copy_as_laid_out and self.values.is_array(x):
                return Call(Const(np.copy), args)
            case (x,) if means in ("array", "asarray"):
                return self.arrays.of_items(x, rhs, origin)
            case (x,) if means == "ravel":
                flat = self.arrays.reshaped(x, Const(-1), origin)
                if not REGISTRY.facts(function).gives_own_arrays:
                    return flat
                type_ = lifted(self.s.unit.type(target))
                return Call(Const(np.copy), (self.s.let(flat, type_, "flat", origin),))
            case (x, shape) if means == "reshape":
                return self.arrays.reshaped(x, shape, origin)
            case (x, value) if means == "full_like" and self.values.is_array(x) and (
                value not in self.batched and self.values.rank(value) == 0
            ):
                return rhs
            case (a, b) if means == "outer" and self.values.rank(a) == self.values.rank(b) == 1:
                return self.arrays.outer(a, b, origin)
        if means == "matmul":
            return self.arrays.matmul(args, origin)
        if axes_of(function) == IN_ROWS:
            return Call(rhs.func, tuple(self.arrays.in_order(a, origin) for a in args))
        return None

    def number(self, x: Var, function: Callable[..., Any]) -> Rhs | Var:
        """Return numbers converted to float or complex, those of all seeds in one array."""
        if self.values.rank(x):
            raise NotBatchable
        kind = "float64" if function is float else "complex128"
        if getattr(self.s.unit.type(x), "dtype", None) == kind:
            return x
        return Call(Const(np.asarray), (x, Const(function)))

    def one_by_one(self, target: Var, rhs: Call, origin: Origin) -> Rhs:
        """Return the results of a call for each seed, put together."""
        if not self.values.purity.is_pure(rhs) or not isinstance(rhs.func, Const) or (
            rhs.func.value in CHECKS or getattr(rhs.func.value, "primal_name", None) is not None
        ):
            raise NotBatchable
        s = self.s
        seeds = s.let(Call(Const(range), (self.values.count(),)), t.Range(), "range", origin)
        i = Var("i", False)
        s.unit.types[i] = t.INT
        with s.writing_to([]) as out:
            changed: dict[Var, Atom] = {}
            for atom in operands(rhs):
                if isinstance(atom, Var) and atom in self.batched and atom not in changed:
                    changed[atom] = self.one_of(atom, i, origin)
            result = s.let(substitute(rhs, changed), self.logical[target], target.name, origin)
        found = Var("each")
        s.unit.types[found] = t.List(self.logical[target])
        s.out.append(Loop(
            (i,), (seeds,), None, (), (), Block(tuple(out), (result,)), (), origin, (found,)
        ))
        return Call(Const(stacked), (found,))

    def one_of(self, atom: Var, i: Var, origin: Origin) -> Atom:
        """Write the value of one seed."""
        read: Rhs = Item(atom, i) if self.values.is_array(atom) else Call(Const(seed_of), (atom, i))
        return self.s.let(read, self.logical[atom], atom.name, origin)

    def effect(self, rhs: Rhs) -> Rhs:
        """Return what is run for all seeds in place of a call that nobody reads the result of."""
        match rhs:
            case Call(Const(function), (g, shape, place)) if function is check_shape and (
                g in self.batched and shape not in self.batched
            ):
                return Call(Const(check_shape_each), (g, shape, place))
        if any(a in self.batched for a in operands(rhs)):
            raise NotBatchable
        return rhs

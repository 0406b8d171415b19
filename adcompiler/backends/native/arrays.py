"""Statements about whole arrays as loop nests: new arrays, element by element, sums."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Assign, Binary, Element, Expr, Extent, Make, Name, Number, Part, Store, Total,
)
from adcompiler.backends.native.scalars import TABLE
from adcompiler.backends.native.values import (
    LENGTH, Buffer, Declined, Known, Method, Num, Several,
)
from adcompiler.backends.native.writer import Writer
from adcompiler.ir import types as t
from adcompiler.runtime import zeros_like

MACHINE = (FLOAT, INT, BOOL)
GIVEN = "given"
PREFIXES: dict[Any, Any] = {np.zeros: 0, np.ones: 1, np.empty: None, np.full: GIVEN}
LIKE: dict[Any, Any] = {np.zeros_like: 0, zeros_like: 0, np.ones_like: 1, np.empty_like: None,
        np.full_like: GIVEN}
PRODUCTS = (operator.matmul, np.matmul, np.dot)


class Arrays:
    """Writes what makes arrays."""

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.hint = "array"
        self.makers = {
            *PREFIXES, *LIKE, *PRODUCTS, np.broadcast_to, np.copy, np.array, np.asarray, np.sum,
        }

    def made(self, function: Any, args: list[Any], named: dict[str, Any], type_: t.Type) -> Any:
        """Return what a function that makes an array, or sums one, gives."""
        name = function.__name__
        if set(named) - {"dtype"}:
            raise Declined(f"`{name}` with options")
        if function is np.sum:
            if len(args) != 1 or named or not isinstance(args[0], Buffer):
                raise Declined("`sum` with options, or of what is no array")
            return self.total(args[0])
        if function is np.broadcast_to:
            if len(args) != 2 or named or not isinstance(args[0], Num):
                raise Declined("an array is stretched")
            return self.new(self.lengths(args[1]), args[0].dtype, args[0])
        if function in PRODUCTS:
            if named or len(args) != 2 or not all(isinstance(arg, Buffer) for arg in args):
                raise Declined("a product with options, or of what are no arrays")
            return self.dot(*args)
        if function in (np.copy, np.array, np.asarray):
            if len(args) != 1 or named or not isinstance(args[0], Buffer):
                raise Declined(f"`{name}` with options, or of what is no array")
            return args[0] if function is np.asarray else self.copy(args[0])
        fill = {**PREFIXES, **LIKE}[function]
        if function is zeros_like and isinstance(args[0], Num):
            return Num(Number(0.0), FLOAT)
        if len(args) != (2 if fill == GIVEN else 1) or not isinstance(type_, t.Array):
            raise Declined(f"`{name}` with options, or of what is no array")
        if function in LIKE:
            if not isinstance(args[0], Buffer):
                raise Declined(f"`{name}` of what is no array")
            shape = args[0].shape
        else:
            shape = self.lengths(args[0])
        if len(shape) != type_.ndim:
            raise Declined(f"`{name}` of a shape that is not known")
        value = args[1] if fill == GIVEN else None if fill is None else Num(Number(fill), INT, 1)
        return self.new(shape, type_.dtype, value)

    def new(self, shape: Sequence[Expr], dtype: str, fill: Num | None) -> Buffer:
        """Return a new array."""
        if dtype not in MACHINE:
            raise Declined(f"an array of {dtype}")
        expr = None
        if fill is not None:
            if not isinstance(fill, Num):
                raise Declined("an array filled with what is no number")
            if dtype == FLOAT:
                expr = self.w.as_float(fill).expr
            elif isinstance(fill.expr, Number):
                expr = Number(int(fill.expr.value) if dtype == INT else bool(fill.expr.value))
            else:
                raise Declined("an array of integers filled with a number")
        buffer = Buffer(self.w.fresh(self.hint), dtype, tuple(shape))
        self.w.write(Make(buffer.name, buffer.shape, dtype, expr))
        return buffer

    def lengths(self, shape: Any) -> tuple[Expr, ...]:
        """Return the lengths of axes that a shape tells, none of them negative."""
        parts = shape.items if isinstance(shape, Several) else (shape,)
        lengths = []
        for part in parts:
            if not isinstance(part, Num) or part.dtype != INT:
                raise Declined("a shape of what are no integers")
            expr = self.w.named("length", self.w.narrowed(part, LENGTH).expr)
            least = self.w.least(expr)
            if least is None or least < 0:
                self.w.leave_if(Binary("<", expr, Number(0)))
            lengths.append(expr)
        return tuple(lengths)

    def part(self, of: Buffer, parts: Sequence[Any], hint: str) -> Buffer:
        """Return a part of an array, which shares its storage."""
        places: list[Any] = []
        for part, length in zip(parts, of.shape, strict=False):
            if isinstance(part, Num):
                places.append(self.w.position(part, length))
            else:
                ends = (part.lower, part.upper)
                places.append(tuple(None if end is None else end.expr for end in ends))
        name = self.w.fresh(hint)
        self.w.write(Part(name, of.name, tuple(places)))
        axes = [axis for axis, place in enumerate(places) if isinstance(place, tuple)]
        axes += range(len(places), of.ndim)
        return Buffer(name, of.dtype, tuple(
            of.shape[axis] if axis >= len(places) or places[axis] == (None, None)
            else Extent(name, i) for i, axis in enumerate(axes)
        ))

    def fill(self, of: Buffer, value: Any, adds: bool, apart: bool) -> None:
        """Write a number, or an array, into all of an array.

        ``apart`` tells that they share no storage for sure.
        """
        w = self.w
        if isinstance(value, Num):
            value = Num(w.named("number", value.expr), value.dtype, value.bound)
        else:
            if value.ndim > of.ndim:
                raise Declined("an array is put into one of fewer axes")
            self.agree(value, of.shape)
            if not apart:
                value = self.copy(value)
        with w.over(of.shape) as places:
            item = value
            if isinstance(value, Buffer):
                place = places[len(places) - value.ndim :]
                item = Num(w.assign("item", Element(value.name, place)), value.dtype)
            w.store(of, places, item, adds)

    def dot(self, a: Buffer, b: Buffer) -> Any:
        """Return a product in which at most one factor is a matrix; terms are added in order."""
        if sorted((a.ndim, b.ndim)) not in ([1, 1], [1, 2]) or not a.dtype == b.dtype == FLOAT:
            raise Declined("a product of matrices")
        w = self.w
        inner = a.shape[-1]
        if not w.same_length(inner, b.shape[0]):
            w.leave_if(Binary("!=", inner, b.shape[0]))
        outer = (*a.shape[:-1], *b.shape[1:])
        new = self.new(outer, FLOAT, None) if outer else None
        total = w.fresh("dot")
        with w.over(outer) as places:
            w.write(Assign(total, Number(0.0)))
            with w.over((inner,)) as (k,):
                left = Element(a.name, (*places, k) if a.ndim == 2 else (k,))
                right = Element(b.name, (k, *places) if b.ndim == 2 else (k,))
                w.write(Assign(total, Binary("+", Name(total), Binary("*", left, right))))
            if new is not None:
                w.write(Store(new.name, places, Name(total)))
        return Num(Name(total), FLOAT) if new is None else new

    def copy(self, of: Buffer) -> Buffer:
        """Return a copy of an array."""
        new = self.new(of.shape, of.dtype, None)
        with self.w.over(of.shape) as places:
            self.w.write(Store(new.name, places, Element(of.name, places)))
        return new

    def total(self, of: Buffer) -> Num:
        """Return the sum of all elements, added in the order that NumPy adds them."""
        if of.dtype != FLOAT:
            raise Declined(f"the sum of an array of {of.dtype}")
        name = self.w.fresh(self.hint)
        self.w.write(Total(name, of.name))
        return Num(Name(name), FLOAT)

    def gradient(self, bar: Any, var: Buffer) -> Buffer:
        """Return a cotangent as the gradient of an array, which nobody else holds."""
        if isinstance(bar, Known) and bar.value is None:
            return self.new(var.shape, FLOAT, Num(Number(0.0), FLOAT))
        if not isinstance(bar, Buffer) or bar.ndim != var.ndim or bar.dtype != FLOAT:
            raise Declined("a gradient that is to be spread over an array")
        self.agree(bar, var.shape)
        return self.copy(bar)

    def agree(self, buffer: Buffer, shape: Sequence[Expr]) -> None:
        """Leave shapes that NumPy would stretch, or refuse, to Python."""
        for mine, wanted in zip(reversed(buffer.shape), reversed(shape), strict=False):
            if not self.w.same_length(mine, wanted):
                self.w.leave_if(Binary("!=", mine, wanted))

    def method(self, method: Method, args: list[Any], named: dict[str, Any]) -> Any:
        """Return what a method of an array gives."""
        if not args and not named:
            if method.name == "copy":
                return self.copy(method.of)
            if method.name == "sum":
                return self.total(method.of)
        raise Declined(f"the method {method.name} of an array")

    def elementwise(self, function: Callable[..., Any], args: list[Any], type_: t.Type) -> Buffer:
        """Return what a function of numbers makes of arrays, element by element."""
        buffers = [arg for arg in args if isinstance(arg, Buffer)]
        if not all(isinstance(arg, (Buffer, Num)) for arg in args):
            raise Declined("an array and what is no array or number")
        if not isinstance(type_, t.Array) or type_.ndim != max(b.ndim for b in buffers):
            raise Declined("an operation whose result is not known to be an array")
        if function in (min, max, float, int, bool):
            raise Declined(f"`{function.__name__}` of an array")
        widest = max(buffers, key=lambda buffer: buffer.ndim)
        for buffer in buffers:
            self.agree(buffer, widest.shape)
        w = self.w
        numbers = [
            Num(w.named("number", arg.expr), arg.dtype, arg.bound) if isinstance(arg, Num) else arg
            for arg in args
        ]
        new = self.new(widest.shape, type_.dtype, None)
        with w.over(widest.shape) as places:
            parts = []
            for arg in numbers:
                if isinstance(arg, Buffer):
                    place = places[len(places) - arg.ndim :]
                    arg = Num(w.assign("item", Element(arg.name, place)), arg.dtype)
                parts.append(arg)
            w.store(new, places, TABLE[function](w, *parts), adds=False)
        return new

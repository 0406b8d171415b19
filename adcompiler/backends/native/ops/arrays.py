"""Statements about whole arrays as loop nests: new arrays, parts, copies, element by element."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, SINGLE, Assign, Binary, Body, Element, Ends, Expr, Extent, Flat, Name,
    Number, Part, Place, Store, Turn, Use, View, When,
)
from adcompiler.backends.native.ops.lazy_arrays import Fusing
from adcompiler.backends.native.ops.scalars import OF_EACH, TABLE
from adcompiler.backends.native.ops.singles import computed_in, concerns
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Buffer, Cut, Declined, Fused, Key, Known, Num, Several,
)
from adcompiler.ir import types as t

ZERO, ONE = Number(0), Number(1)
FOR_BLAS = 1024
"""The numbers in a matrix from which on BLAS takes less time for a product with a vector."""


class Arrays(Fusing):
    """Writes what makes arrays."""

    # -- storage -------------------------------------------------------------------------------

    def lengths(self, shape: Num | Several) -> tuple[Expr, ...]:
        """Return the lengths of axes that a shape tells, none of them negative."""
        parts = shape.items if isinstance(shape, Several) else (shape,)
        lengths = []
        for part in parts:
            if not isinstance(part, Num) or part.dtype != INT:
                raise Declined("a shape of what are no integers")
            expr = self.w.named("length", self.w.narrowed(part, LENGTH).expr)
            least = self.w.least(expr)
            if least is None or least < 0:
                self.w.leave_if(Binary("<", expr, ZERO))
            lengths.append(expr)
        return tuple(lengths)

    def own(self, of: Buffer) -> Buffer:
        """Return an array that is not on a tape: itself, or a copy."""
        return self.copy(of) if of.borrowed else of

    def part(self, of: Buffer, parts: Sequence[Any], hint: str) -> Buffer:
        """Return a part of an array, which shares its storage; None makes a new axis."""
        places: list[Place] = []
        axes: list[Expr | None] = []
        rest = list(of.shape)
        for part in parts:
            if part is None:
                places.append(None)
                axes.append(ONE)
                continue
            length = rest.pop(0)
            if isinstance(part, Num):
                places.append(self.w.position(part, length))
                continue
            lower, upper = (None if end is None else end.expr for end in (part.lower, part.upper))
            places.append(Ends(lower, upper, part.step))
            axes.append(length if part == Cut(None, None) else None)
        axes += rest
        while len(places) > 1 and places[-1] == Ends():
            places.pop()
        name = self.w.fresh(hint)
        self.w.write(Part(name, of.name, tuple(places)))
        return Buffer(name, of.dtype, tuple(
            Extent(name, i) if length is None else length for i, length in enumerate(axes)
        ), borrowed=of.borrowed)

    def turned(self, of: Buffer, axes: tuple[int, ...]) -> Buffer:
        """Return an array with its axes in another order, which shares its storage."""
        if axes == tuple(range(of.ndim)):
            return of
        name = self.w.fresh(self.hint)
        self.w.write(Turn(name, of.name, axes))
        if axes == (1, 0):
            self.turns[name] = of
        shape = tuple(of.shape[axis] for axis in axes)
        return Buffer(name, of.dtype, shape, borrowed=of.borrowed)

    def shaped(self, of: Buffer, shape: Sequence[Expr]) -> Buffer:
        """Return the elements of an array, in C order, in another shape of as many elements."""
        if of.ndim == 1 and len(shape) == 1:
            return self.copy(of)
        flat = self.copy(of)
        name = self.w.fresh(self.hint)
        row = self.w.fresh(f"{self.hint}_flat")
        self.w.write(View(row, Flat(flat.name), ZERO, (self.size(of.shape),)))
        self.w.write(View(name, row, ZERO, tuple(shape)))
        return Buffer(name, of.dtype, tuple(shape))

    def size(self, shape: Sequence[Expr]) -> Expr:
        """Return the number of elements of an array."""
        size, *rest = [length for length in shape if length != ONE] or [ONE]
        for length in rest:
            size = Binary("*", size, length)
        return self.w.named("size", size)

    def copy(self, of: Buffer) -> Buffer:
        """Return a copy of an array."""
        new = self.new(of.shape, of.dtype, None)
        with self.w.over(of.shape) as places:
            self.w.write(Store(new.name, places, Element(of.name, places)))
        return new

    def helped(self, helper: str, of: Buffer, numbers: tuple[Expr, ...], dtype: str,
               shape: Sequence[Expr]) -> Buffer:
        """Return what a helper makes of the elements of an array, in a shape."""
        name = self.w.fresh(self.hint)
        if len(shape) == 1:
            self.w.write(Use(name, helper, (Flat(of.name), *numbers)))
            return Buffer(name, dtype, tuple(shape))
        flat = self.w.fresh(f"{self.hint}_flat")
        self.w.write(Use(flat, helper, (Flat(of.name), *numbers)))
        self.w.write(View(name, flat, ZERO, tuple(shape)))
        return Buffer(name, dtype, tuple(shape))

    # -- element by element --------------------------------------------------------------------

    def elementwise(
        self, function: Key, args: Sequence[Buffer | Fused | Num], type_: t.Type,
        types: Sequence[t.Type]
    ) -> Fused:
        """Return what a function of ``TABLE`` makes of arrays, element by element.

        ``types`` are those of the arguments.
        """
        buffers = [arg for arg in args if isinstance(arg, (Buffer, Fused))]
        if not isinstance(type_, t.Array) or type_.ndim != max(b.ndim for b in buffers):
            raise Declined("an operation whose result is not known to be an array")
        if function in (min, max, float, int, bool) and not isinstance(function, str):
            raise Declined(f"`{function.__name__}` of an array")
        function, args = simpler(function, args)
        if concerns(args) or type_.dtype == SINGLE:
            return self.fused(
                computed_in(self.w, function, function, types, type_ if self.has_types else None,
                            self.of_each), args, type_.dtype)
        write = OF_EACH.get(function, TABLE[function]) if self.of_each else TABLE[function]
        return self.fused(lambda *items: write(self.w, *items), args, type_.dtype)

    def mapped(self, write: Callable[..., Num], args: list[Buffer | Num], dtype: str) -> Buffer:
        """Return an array of what ``write`` makes of the elements of others."""
        made: Buffer = self.settled(self.fused(write, args, dtype))
        return made

    def fill(self, of: Buffer, value: Buffer | Fused | Num, adds: bool, apart: bool) -> None:
        """Write a number, or an array, into all of an array.

        ``apart`` tells that they share no storage for sure.
        """
        value = self.operand(self.fitting(value, of.shape))
        if isinstance(value, Fused) and value.buffer is None:
            self.agree(value, of.shape)
            if not self.reads(value, of):
                with self.computing(value, stores=False) as places:
                    self.w.store(of, places, self.item(value, places), adds)
                return
            apart = True
        value = self.settled(value)
        if isinstance(value, Buffer):
            if value.ndim > of.ndim:
                raise Declined("an array is put into one of fewer axes")
            self.agree(value, of.shape)
            if not apart and self.w.root(of.name) == self.w.root(value.name):
                value = self.copy(value)
        with self.w.over(of.shape) as places:
            self.w.store(of, places, self.item(value, places), adds)

    # -- products and gradients ----------------------------------------------------------------

    def dot(self, a: Buffer, b: Buffer) -> Any:
        """Return a product; terms are added in order where at most one factor is a matrix."""
        if min(a.ndim, b.ndim) < 1 or not a.dtype == b.dtype == FLOAT:
            raise Declined("a product of integers, or of numbers")
        if max(a.ndim, b.ndim) > 2:
            return self.stacked(a, b)
        w = self.w
        inner = a.shape[-1]
        w.expect_length(inner, b.shape[0])
        outer = (*a.shape[:-1], *b.shape[1:])
        if a.ndim == b.ndim == 2:
            name = w.fresh(self.hint)
            w.write(Use(name, "matrix_product", (a.name, b.name)))
            return Buffer(name, FLOAT, outer)
        if outer and self.of_seeds:
            name = w.fresh(self.hint)
            w.write(Use(name, f"{'matrix' if a.ndim == 2 else 'row'}_times", (a.name, b.name)))
            return Buffer(name, FLOAT, outer)
        if outer and (self.lies_across(a) if a.ndim == 2 else not self.lies_across(b)):
            return self.added_products(a, b)
        new = self.new(outer, FLOAT, None) if outer else None
        if new is None or a.ndim == 1 or not self.of_each:
            return self.products_in_order(a, b, new)
        small, large = Body(), Body()
        with w.inside(small):
            self.products_in_order(a, b, new)
        with w.inside(large):
            made = w.fresh("large")
            w.write(Use(made, "large_times", (a.name, b.name)))
            with w.over(outer) as places:
                w.write(Store(new.name, places, Element(made, places)))
        size = Binary("*", *a.shape)
        w.write(When(Binary(">", size, Number(FOR_BLAS)), large, small))
        return new

    def products_in_order(self, a: Buffer, b: Buffer, new: Buffer | None) -> Any:
        """Write a product of which one factor is a vector, number by number."""
        w, outer = self.w, () if new is None else new.shape
        total = w.fresh("dot")
        with w.over(outer) as places:
            w.write(Assign(total, Number(0.0)))
            with w.over(a.shape[-1:]) as (k,):
                left = Element(a.name, (*places, k) if a.ndim == 2 else (k,))
                right = Element(b.name, (k, *places) if b.ndim == 2 else (k,))
                w.write(Assign(total, Binary("+", Name(total), Binary("*", left, right))))
            if new is not None:
                w.write(Store(new.name, places, Name(total)))
        return Num(Name(total), FLOAT) if new is None else new

    def lies_across(self, of: Buffer) -> bool:
        """Say whether neighbouring elements of a matrix are those of a column."""
        return of.name in self.turns

    def added_products(self, a: Buffer, b: Buffer) -> Buffer:
        """Return the product of a vector and a matrix, whose terms for all elements of it lie side
        by side: each is computed in order."""
        matrix, vector = (self.turns[a.name], b) if a.ndim == 2 else (b, a)
        new = self.new(matrix.shape[1:], FLOAT, Num(Number(0.0), FLOAT))
        with self.w.over(matrix.shape) as (k, at):
            term = Binary("*", Element(matrix.name, (k, at)), Element(vector.name, (k,)))
            self.w.write(Store(new.name, (at,), term, True))
        return new

    def stacked(self, a: Buffer, b: Buffer) -> Buffer:
        """Return the products of stacked matrices and as many others, or of all and one matrix."""
        w, name = self.w, self.w.fresh(self.hint)
        if (a.ndim, b.ndim) == (3, 3):
            w.expect_length(a.shape[0], b.shape[0])
            w.expect_length(a.shape[2], b.shape[1])
            w.write(Use(name, "stacked_product", (a.name, b.name)))
            return Buffer(name, FLOAT, (*a.shape[:2], b.shape[2]))
        if (a.ndim, b.ndim) == (3, 2):
            rows = self.shaped(a, (self.size(a.shape[:2]), a.shape[2]))
            made = self.dot(rows, b)
            return self.shaped(made, (*a.shape[:2], b.shape[1]))
        raise Declined("a product of stacked matrices and a vector, or of several stacks")

    def total(self, of: Buffer) -> Num:
        """Return the sum of all elements, added in the order that NumPy adds them."""
        name = self.w.fresh(self.hint)
        if of.dtype in (FLOAT, SINGLE):
            helper = "total_sum" if of.dtype == FLOAT else "short_total_sum"
            self.w.write(Use(name, helper, (Flat(of.name),)))
            return Num(Name(name), of.dtype)
        sums = self.helped("whole_sums_along", of, (ONE, self.size(of.shape), ONE), INT, (ONE,))
        self.w.write(Assign(name, Element(sums.name, (ZERO,))))
        return Num(Name(name), INT, LENGTH if of.dtype == BOOL else WIDE)

    def gradient(self, bar: Any, var: Buffer) -> Buffer:
        """Return a cotangent as the gradient of an array, which nobody else holds."""
        if isinstance(bar, Known) and bar.value is None:
            return self.new(var.shape, floating(var), Num(Number(0.0), FLOAT))
        if isinstance(bar, Num):
            return self.new(var.shape, floating(var), bar)
        if not isinstance(bar, Buffer) or bar.ndim != var.ndim or bar.dtype != floating(var):
            raise Declined("a gradient that is to be spread over an array")
        self.agree(bar, var.shape)
        return self.copy(bar)


def floating(of: Buffer) -> str:
    """Return the dtype of cotangents of an array."""
    return SINGLE if of.dtype == SINGLE else FLOAT


def simpler(
    function: Key, args: Sequence[Buffer | Fused | Num]
) -> tuple[Any, Sequence[Buffer | Fused | Num]]:
    """Return what is computed for a power of an array: a root, a quotient, a cube."""
    if function == "power" and len(args) == 2 and isinstance(args[1], Num):
        exponent = args[1].expr
        if args[0].dtype in (FLOAT, SINGLE) if isinstance(args[0], (Buffer, Fused)) else False:
            if exponent in (Number(0.5),):
                return "sqrt", args[:1]
            if exponent in (Number(3.0), Number(3)):
                return "cube", args[:1]
            if exponent in (Number(-1.0), Number(-1)):
                return "divide", [Num(Number(1.0), FLOAT), args[0]]
    return function, args

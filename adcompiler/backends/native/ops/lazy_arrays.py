"""Arrays that are computed where they are read: one loop for all that is computed together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from adcompiler.backends.native.loops import (
    ARRAYS, FLOAT, INT, SINGLE, Element, Expr, Make, Number, children,
)
from adcompiler.backends.native.values import Buffer, Declined, Fused, Num, Value
from adcompiler.backends.native.writer import Writer, as_double, single

ZERO, ONE = Number(0), Number(1)
SHORT = 9
"""Expressions of more names and operators than this are given names."""


class Fusing:
    """Writes loops over elements; ``waiting`` are arrays that no loop has computed yet.

    ``turns`` tells of which matrix each other one is the transpose.

    With ``of_seeds`` helpers multiply vectors too, for which there are others of many seeds; with
    ``of_each`` helpers compute functions in steps that vectors of numbers take too. Without
    ``has_types`` the precision of numbers of Python's is not told by their types.
    """

    def __init__(self, w: Writer) -> None:
        self.w = w
        self.hint = "array"
        self.waiting: list[Fused] = []
        self.memo: dict[Fused | Element, Num] | None = None  # of the loop that is written
        self.count = 0
        self.of_seeds = False
        self.turns: dict[str, Buffer] = {}
        self.of_each = True
        self.has_types = True

    def new(self, shape: Sequence[Expr], dtype: str, fill: Num | None) -> Buffer:
        """Return a new array."""
        if dtype not in ARRAYS:
            raise Declined(f"an array of {dtype}")
        expr = None
        if fill is not None:
            if not isinstance(fill, Num):
                raise Declined("an array filled with what is no number")
            if dtype in (FLOAT, SINGLE):
                expr = (single if dtype == SINGLE else as_double)(self.w, fill).expr
            elif isinstance(fill.expr, Number):
                expr = Number(int(fill.expr.value) if dtype == INT else bool(fill.expr.value))
            elif fill.dtype == dtype:
                expr = fill.expr
            else:
                raise Declined("an array of integers filled with a number")
        buffer = Buffer(self.w.fresh(self.hint), dtype, tuple(shape))
        self.w.write(Make(buffer.name, buffer.shape, dtype, expr))
        return buffer

    def new_for(self, value: Fused) -> Buffer:
        """Return a new array for one that will be computed."""
        hint, self.hint = self.hint, value.hint
        new = self.new(value.shape, value.dtype, None)
        self.hint = hint
        return new

    def fused(
        self, write: Callable[..., Num], args: Sequence[Buffer | Fused | Num], dtype: str
    ) -> Fused:
        """Return the same, to be computed where it is read.

        What is stretched to it would be computed more than once, and is computed here.
        """
        if dtype not in ARRAYS:
            raise Declined(f"an array of {dtype}")
        shape = self.common_shape([arg for arg in args if isinstance(arg, (Buffer, Fused))])
        operands = [self.operand(self.fitting(arg, shape)) for arg in args]
        leaves: set[str] = set()
        for operand in operands:
            if isinstance(operand, Buffer):
                leaves.add(operand.name)
            elif isinstance(operand, Fused):
                leaves |= operand.leaves

        self.count += 1
        return Fused(
            dtype, shape, write, tuple(operands), frozenset(leaves), self.hint, self.count)

    def moved(self, of: Buffer, at: Callable[[tuple[Expr, ...]], tuple[Expr, ...]]) -> Fused:
        """Return the elements of an array at other positions, to be read where they are wanted."""
        self.count += 1
        return Fused(of.dtype, of.shape, lambda item: item, (of,), frozenset({of.name}), self.hint,
                     self.count, at=at)

    def settled(self, value: Value) -> Any:
        """Return an array that was to be computed where it is read, computed here."""
        if not isinstance(value, Fused):
            return value
        if value.buffer is None:
            with self.computing(value, stores=True):
                pass
        return value.buffer

    def settle(self, of: Buffer | None = None) -> None:
        """Compute all arrays that wait for it: those that read storage of one that is written."""
        for one in tuple(self.waiting):
            if of is None or self.reads(one, of):
                self.settled(one)

    def reads(self, value: Fused, of: Buffer) -> bool:
        """Say whether an array that is to be computed reads storage of another one.

        What it is computed of may have been stored meanwhile.
        """
        stored = [operand.buffer for one in closure([value]) for operand in one.operands
                  if isinstance(operand, Fused)]
        names = {*value.leaves, *(one.name for one in stored if one is not None)}
        return self.w.root(of.name) in map(self.w.root, names)

    @contextmanager
    def computing(self, value: Fused, stores: bool) -> Iterator[tuple[Expr, ...]]:
        """Write a loop that computes an array, and stores it or not, around what is written.

        What it is computed of is stored too if it will be read again, and so is what will be needed
        as a whole and has anything in common with it: nothing is computed twice.
        """
        inside = closure([value])
        inside |= closure([
            one for one in self.waiting if one.lasts and inside & closure([one])
        ])
        kept = [one for one in self.waiting if one in inside and (one.at is None or one.lasts)]
        kept += [value] if stores and value not in kept else []
        kept.sort(key=lambda one: one.order)
        news = [self.new_for(one) for one in kept]
        outer, self.memo = self.memo, {}
        late = all(is_floating(one) for one in inside)
        visits = stores and all(one.at is None for one in inside)
        with self.w.failing(late), self.w.over(value.shape, visits) as places:
            for one, new in zip(kept, news, strict=True):
                self.w.store(new, places, self.item(one, places), adds=False)
            yield places
        self.memo = outer
        for one, new in zip(kept, news, strict=True):
            one.buffer = new
        self.waiting = [one for one in self.waiting if one.buffer is None]

    def computed(self, value: Fused, places: tuple[Expr, ...]) -> Num:
        """Return the element of an array at a position, computed here once."""
        memo = {} if self.memo is None else self.memo
        if value.at is not None:
            return self.item(value.operands[0], value.at(places))
        if value not in memo:
            made = value.write(*(self.item(operand, places) for operand in value.operands))
            if value.dtype == FLOAT:
                made = self.w.as_float(made)
            elif made.dtype != value.dtype:
                raise Declined(f"a {made.dtype} is put into an array of {value.dtype}")
            expr = made.expr
            if value.shared or nodes(expr) > SHORT:
                expr = self.w.named(value.hint, expr)
            memo[value] = Num(expr, value.dtype)
        return memo[value]

    def item(self, value: Buffer | Fused | Num, places: tuple[Expr, ...]) -> Num:
        """Return the element of an operand for a position of the result."""
        if isinstance(value, Num):
            return value
        if isinstance(value, Fused):
            if value.buffer is None:
                return self.computed(value, places)
            value = value.buffer
        mine = places[len(places) - value.ndim :]
        place = tuple(
            ZERO if length == ONE else here for here, length in zip(mine, value.shape, strict=True)
        )
        found = Element(value.name, place)
        memo = {} if self.memo is None else self.memo
        if found not in memo:
            memo[found] = Num(self.w.assign("item", found), value.dtype)
        return memo[found]

    def operand(self, value: Buffer | Fused | Num) -> Any:
        """Return an operand that is read often: a number under a name."""
        if isinstance(value, Num):
            return Num(self.w.named("number", value.expr), value.dtype, value.bound)
        if not isinstance(value, (Buffer, Fused)):
            raise Declined("an array and what is no array or number")
        return value

    def fitting(self, value: Buffer | Fused | Num, shape: Sequence[Expr]) -> Any:
        """Return an operand of this shape, or an array that is stretched to it."""
        if isinstance(value, Fused) and (value.ndim != len(shape) or any(
            mine == ONE != wanted for mine, wanted in zip(value.shape, shape, strict=True)
        )):
            return self.settled(value)
        return value

    def common_shape(self, buffers: Sequence[Buffer | Fused]) -> tuple[Expr, ...]:
        """Return the shape of what is made of arrays element by element.

        Axes that have length 1 for sure are stretched. Others are to be equal.
        """
        ndim = max(buffer.ndim for buffer in buffers)
        shape: list[Expr] = [ONE] * ndim
        for buffer in buffers:
            for axis, length in enumerate(buffer.shape, ndim - buffer.ndim):
                if length != ONE and shape[axis] == ONE:
                    shape[axis] = length
        for buffer in buffers:
            self.agree(buffer, shape)
        return tuple(shape)

    def agree(self, buffer: Buffer | Fused, shape: Sequence[Expr]) -> None:
        """Leave shapes that NumPy would stretch, or refuse, to Python."""
        for mine, wanted in zip(reversed(buffer.shape), reversed(shape), strict=False):
            if mine != ONE:
                self.w.expect_length(mine, wanted)


def closure(values: Sequence[Fused]) -> set[Fused]:
    """Return arrays that are not computed yet, and those that they are computed of."""
    found: set[Fused] = set()
    waiting = list(values)
    while waiting:
        one = waiting.pop()
        if one.buffer is None and one not in found:
            found.add(one)
            waiting += [operand for operand in one.operands if isinstance(operand, Fused)]
    return found


def nodes(expr: Expr) -> int:
    """Return of how many names, literals and operators an expression is made."""
    return 1 + sum(map(nodes, children(expr)))


def is_floating(value: Fused) -> bool:
    """Say whether an array is computed of floats alone."""
    return all(one.dtype in (FLOAT, SINGLE) for one in (value, *value.operands))

"""Sums, and extremes, along axes of arrays as loops over the rows of these.

They add in the order of the helpers in whose place they are: along the last axis as NumPy adds what
lies in a row, along others from first to last. An array of which the axes behind those that are
summed have length 1 lies in a row, too: that is known only when the loops run, and asked there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from adcompiler.backends.native.loops import (
    FLOAT, Assign, Binary, Body, Choose, Element, Ends, Expr, Extent, Flat, For, LoopFunction, Make,
    Name, Number, Part, Row, Store, Use, View, When, rows_of,
)
from adcompiler.backends.native.passes.row_loops import Flattened, RowLoop
from adcompiler.backends.native.writer import Writer

ZERO, ONE = Number(0), Number(1)
IN_A_ROW = {"sums_along": "sum_in_a_row", "max_along": "largest", "min_along": "smallest"}
"""What each helper is of numbers that lie in a row."""
SHORT = 8
"""NumPy adds fewer numbers than this from first to last."""


class Reductions:
    """Writes reductions along axes as loops; ``readers`` tells how many statements read a buffer.

    ``flat`` are the names of the flat arrays that the loops read, for which they have rows.
    """

    def __init__(self, w: Writer, function: LoopFunction, readers: Counter[str]) -> None:
        self.w = w
        self.readers = readers
        self.flat: dict[str, Flattened] = {}
        self.arrays: dict[str, tuple[tuple[Expr, ...], str]] = {
            one.name: (tuple(Extent(one.name, axis) for axis in range(one.ndim)), one.dtype)
            for one in function.parameters if one.ndim
        }
        for row in rows_of(function.body):
            if isinstance(row, Make):
                self.arrays[row.name] = (row.shape, row.dtype)

    def loop(self, row: Row, following: Row | None) -> RowLoop | None:
        """Return a reduction, the result of which may be viewed by the next statement, as a loop.

        None if it is none, or not one along axes of rows.
        """
        match row:
            case Use(flat, helper, (Flat(of), outer, count, inner)) if (
                helper in IN_A_ROW and of in self.arrays
            ):
                pass
            case _:
                return None
        shape, dtype = self.arrays[of]
        axes = self.axes(shape, outer, count, inner)
        if axes is None:
            return None
        result, ndim = flat, 1
        rows: tuple[Row, ...] = (row,)
        match following:
            case View(name, buffer, start, lengths) if buffer == flat and start == ZERO:
                if self.readers[flat] != 1:
                    return None
                result, rows, ndim = name, (row, following), len(lengths)
        first, after = axes
        ones = ndim - (len(shape) - (after - first))
        if ones not in (0, after - first):
            return None
        found = Reduction(self, helper, of, shape, (first, after), result, ones, dtype)
        return found.written(rows)

    def axes(
        self, shape: Sequence[Expr], outer: object, count: object, inner: object
    ) -> tuple[int, int] | None:
        """Return the first of the axes that are reduced, and the one behind these."""
        wanted = [self.factors(one) for one in (outer, count, inner)]
        for first in range(len(shape)):
            for after in range(first + 1, len(shape) + 1):
                parts = (shape[:first], shape[first:after], shape[after:])
                found = [[one for length in part for one in self.factors(length)]
                         for part in parts]
                if found == wanted:
                    return first, after
        return None

    def factors(self, size: object) -> list[object]:
        """Return the lengths of which a size is the product."""
        match size:
            case Name(name) if name in self.w.defined:
                of = self.w.defined[name]
                return self.factors(of) if isinstance(of, (Name, Extent, Binary)) else [size]
            case Binary("*", left, right):
                return self.factors(left) + self.factors(right)
        return [] if size == ONE else [size]


class Reduction:
    """One reduction of an array along neighbouring axes, into another one."""

    def __init__(
        self, all_of_them: Reductions, helper: str, of: str, shape: tuple[Expr, ...],
        axes: tuple[int, int], result: str, ones: int, dtype: str,
    ) -> None:
        self.w, self.flat, self.helper = all_of_them.w, all_of_them.flat, helper
        self.of, self.shape, self.dtype = of, shape, dtype
        self.first, self.after = axes
        self.name, self.ones = result, ones
        self.result = self.w.fresh(f"{result}_found") if ones else result
        self.here = self.w.fresh("row")

    def written(self, rows: tuple[Row, ...]) -> RowLoop | None:
        """Return it as a loop over rows, in place of statements."""
        in_a_row = all(length == ONE for length in self.shape[self.after :])
        if (self.first == 0) if in_a_row else (self.helper != "sums_along"):
            return None
        fill, behind = None, list[Row]()
        if in_a_row:
            body = self.along_row()
        elif self.first:
            body = self.along_middle()
        else:
            fill, (body, behind) = Number(0.0), self.along_columns()
        made = Make(self.result, (*self.shape[: self.first], *self.shape[self.after :]),
                    self.dtype, fill)
        places = (*[Ends()] * self.first, *[None] * self.ones,
                  *[Ends()] * (len(self.shape) - self.after))
        named = [Part(self.name, self.result, places)] * bool(self.ones)
        self.w.may_share(self.name, self.result)
        loop = For(self.here, ZERO, self.shape[0], Body(self.opening + body))
        return RowLoop(loop, (made, *named, *self.front), tuple(behind), rows, reduces=True)

    opening: list[Row]
    front: list[Row]

    def along_row(self) -> list[Row]:
        """Return the statements of a row that reduce numbers that lie in a row."""
        w, count = self.w, product(self.shape[self.first : self.after])
        flat, base = w.fresh(f"{self.of}_in_a_row"), w.fresh("first")
        self.flat[flat] = Flattened(self.of, base)
        w.may_share(flat, self.of)
        self.front = [View(flat, Flat(self.of), ZERO, (product(self.shape),))]
        self.opening = [Assign(base, times(Name(self.here), product(self.shape[1:])))]
        names, places = self.names(self.shape[1 : self.first], "at")
        at: Expr = ZERO
        for place, length in zip(places, self.shape[1 : self.first], strict=True):
            at = place if at == ZERO else Binary("+", Binary("*", at, length), place)
        start, found = w.fresh("start"), w.fresh("reduced")
        begin = Name(base) if at == ZERO else Binary("+", Name(base), times(at, count))
        rows: list[Row] = [
            Assign(start, begin),
            Use(found, IN_A_ROW[self.helper], (
                flat, Name(start), Binary("+", Name(start), count))),
        ]
        if self.helper == "sums_along":
            rows, found = self.at_once_if_short(places, rows, found)
        behind = (ZERO,) * (len(self.shape) - self.after)
        rows.append(Store(self.result, (Name(self.here), *places, *behind), Name(found)))
        return nested(names, self.shape[1 : self.first], rows)

    def at_once_if_short(
        self, outer: tuple[Expr, ...], rows: list[Row], found: str
    ) -> tuple[list[Row], str]:
        """Return statements that sum few numbers without a call, and the name of the sum."""
        lengths = self.shape[self.first : self.after]
        total = self.w.fresh("total")
        names, places = self.names(lengths, "at")
        behind = (ZERO,) * (len(self.shape) - self.after)
        element = Element(self.of, (Name(self.here), *outer, *places, *behind))
        short = nested(names, lengths, [Assign(total, Binary("+", Name(total), element))])
        is_short = Binary("<", product(lengths), Number(SHORT))
        return [
            Assign(total, Number(0.0)),
            When(is_short, Body(short), Body([*rows, Assign(total, Name(found))])),
        ], total

    def along_middle(self) -> list[Row]:
        """Return the statements of a row that add numbers from first to last."""
        outer, inner = self.shape[1 : self.first], self.shape[self.after :]
        again = self.along_row()
        rows = []
        names, places = self.names((*outer, *inner), "at")
        to = (Name(self.here), *places)
        rows += nested(names, (*outer, *inner), [Store(self.result, to, Number(0.0))])
        rows += self.added(len(outer))
        rows.append(When(Binary("==", product(inner), ONE), Body(again), Body()))
        return rows

    def added(self, outer: int) -> list[Row]:
        """Return loops that add the elements of a row, of which the result has ``outer`` axes."""
        names, places = self.names(self.shape[1:], "at")
        left = places[: outer]
        right = places[self.after - 1 :]
        mine = (Name(self.here),) if self.first else ()
        element = Element(self.of, (Name(self.here), *places))
        store = Store(self.result, (*mine, *left, *right), element, True)
        rows = nested(names, self.shape[1:], [store])
        if len(left) + len(right) == len(places) > 1:
            return [replace(row, visits=self.shape[1:]) for row in rows if isinstance(row, For)]
        return rows

    def along_columns(self) -> tuple[list[Row], list[Row]]:
        """Return the statements of a row that add it to the others."""
        w = self.w
        self.front, self.opening = [], []
        each, inner = self.shape[1 : self.after], self.shape[self.after :]
        alone = Binary("==", product(inner), ONE)
        column, size = w.fresh(f"{self.of}_column"), product(self.shape[: self.after])
        names, places = self.names(each, "at")
        at: Expr = Name(self.here)
        for place, length in zip(places, each, strict=True):
            at = Binary("+", Binary("*", at, length), place)
        zeros = (ZERO,) * len(inner)
        copied = nested(names, each, [
            Store(column, (at,), Element(self.of, (Name(self.here), *places, *zeros)))])
        rows = [*self.added(0), When(alone, Body(copied), Body())]
        total = w.fresh("total")
        last: list[Row] = [
            Use(total, "total_sum", (column,)),
            Store(self.result, zeros, Name(total)),
        ]
        self.front.append(Make(column, (Choose(alone, size, ZERO),), FLOAT))
        return rows, [When(alone, Body(last), Body())]

    def names(self, lengths: Sequence[Expr], hint: str) -> tuple[list[str], tuple[Expr, ...]]:
        """Return new names of positions, and the positions."""
        names = [self.w.fresh(f"{hint}_{letter}") for letter, _ in zip(
            "jklmno", lengths, strict=False)]
        return names, tuple(map(Name, names))


def nested(names: Sequence[str], lengths: Sequence[Expr], rows: Sequence[Row]) -> list[Row]:
    """Return loops around statements."""
    found = list(rows)
    for name, length in reversed(list(zip(names, lengths, strict=True))):
        found = [For(name, ZERO, length, Body(found))]
    return found


def product(lengths: Sequence[Expr]) -> Expr:
    """Return the product of lengths."""
    size: Expr = ONE
    for length in lengths:
        size = times(size, length)
    return size


def times(a: Expr, b: Expr) -> Expr:
    """Return a product of integers."""
    return b if a == ONE else a if b == ONE else Binary("*", a, b)


__all__ = ["Reductions"]

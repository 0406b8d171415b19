"""Arrays that are joined are computed where they end up.

``np.concatenate`` makes an array and copies others into it, one behind the other. Where nothing
names one of these afterwards, it is a part of the array from the beginning.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from adcompiler.backends.native.loops import (
    Assign, Binary, Bind, Body, Break, Element, Expr, Extent, Flat, Forever, Leave,
    LoopFunction, Make, Name, Note, Number, Row, Spread, Store, View, children, rows_of,
)
from adcompiler.backends.native.passes.element_loops import FARTHEST, Nest, nest_of
from adcompiler.backends.native.passes.sharing import Sharing
from adcompiler.backends.native.passes.unused import all_needed, source_of
from adcompiler.backends.native.reading import names_in, read_by
from adcompiler.backends.native.writer import Writer
from adcompiler.support.structs import dataclass

ZERO, ONE = Number(0), Number(1)
MOST_TERMS = 12
"""Sums of more products are not compared."""

Sum = Counter[tuple[Expr, ...]]
"""A sum of products of lengths: how often each product is in it."""


def with_pieces_in_place(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function that computes arrays which are only joined where they end up."""
    pieces = Pieces(w, Sharing(w, function), function.body)
    found = pieces.block(function.body)
    return all_needed(replace(function, body=found)) if pieces.found else function


@dataclass(frozen=True)
class Piece:
    """An array that is copied into another one, at which of its elements in C order, and the
    statement that does."""

    make: Make
    start: Sum
    at: int


class Pieces:
    """Finds arrays that are joined in the blocks of a function."""

    def __init__(self, w: Writer, sharing: Sharing, body: Body) -> None:
        self.w = w
        self.sharing = sharing
        self.found = False
        self.defined: dict[str, Expr] = {}
        self.shapes: dict[str, tuple[Expr, ...]] = {}
        self.aliases: dict[str, Bind | View] = {}
        for row in rows_of(body):
            if isinstance(row, Assign):
                self.defined[row.name] = row.value
            elif isinstance(row, (Make, View)):
                self.shapes[row.name] = row.shape
            if isinstance(row, Bind) or (isinstance(row, View) and row.start == ZERO):
                self.aliases[row.name] = row

    # -- lengths -------------------------------------------------------------------------------

    def sum_of(self, length: Expr) -> Sum | None:
        """Return a length as a sum of products of others, None if it may change."""
        found: Sum | None = None
        match length:
            case Number(int() as value) if value >= 0:
                return Counter({(): value} if value else {})
            case Name(name) if self.sharing.counts[name] == 1 and name in self.defined:
                found = self.sum_of(self.defined[name])
            case Extent(name, axis) if self.sharing.counts[name] == 1 and name in self.shapes:
                found = self.sum_of(self.shapes[name][axis])
            case Binary("+" | "*" as sign, left, right):
                one, other = self.sum_of(left), self.sum_of(right)
                if one is not None and other is not None:
                    found = one + other if sign == "+" else self.product_of(one, other)
        if found is None and self.sharing.is_fixed(length) and not has_element(length):
            found = Counter({(length,): 1})
        return found

    def product_of(self, one: Sum, other: Sum) -> Sum | None:
        """Return a product of sums; None if it has many terms."""
        if len(one) * len(other) > MOST_TERMS:
            return None
        found: Sum = Counter()
        for a, n in one.items():
            for b, m in other.items():
                found[tuple(sorted(a + b, key=repr))] += n * m
        return found

    def size_of(self, shape: Sequence[Expr]) -> Sum | None:
        """Return the product of lengths."""
        found: Sum | None = Counter({(): 1})
        for length in shape:
            other = self.sum_of(length)
            found = None if found is None or other is None else self.product_of(found, other)
        return found

    def are_same(self, one: Sequence[Expr], other: Sequence[Expr]) -> bool:
        """Say whether two shapes are the same for sure."""
        return len(one) == len(other) and all(
            a == b or ((found := self.sum_of(a)) is not None and found == self.sum_of(b))
            for a, b in zip(one, other, strict=True))

    def written(self, length: Sum) -> Expr:
        """Return a sum of products of lengths as an expression."""
        found: Expr | None = None
        for factors, count in length.items():
            term: Expr = Number(count)
            for factor in factors:
                term = factor if term == ONE else Binary("*", term, factor)
            found = term if found is None else Binary("+", found, term)
        return found or ZERO

    # -- statements ----------------------------------------------------------------------------

    def block(self, body: Body) -> Body:
        """Return a block, which begins with the next statement."""
        rows, starts = self.sharing.numbered(body, self.block)
        makes = {row.name: i for i, row in enumerate(rows)
                 if isinstance(row, Make) and self.sharing.counts[row.name] == 1}
        front: dict[int, list[Row]] = {}
        for name, i in makes.items():
            whole = rows[i]
            if not isinstance(whole, Make):  # it is a piece itself by now
                continue
            pieces = self.pieces_of(whole, i, rows, starts, makes)
            first = min([i, *(makes[piece.make.name] for piece in pieces)])
            shape = self.early(whole, pieces, rows[first:i], starts[first])
            if not pieces or shape is None:
                continue
            self.found = True
            rows[i] = Note("")
            front.setdefault(first, []).append(replace(whole, shape=shape))
            for piece in pieces:
                rows[piece.at] = Note("")
                rows[makes[piece.make.name]] = self.part(whole, piece)
                self.sharing.join(piece.make.name, name)
                self.w.may_share(piece.make.name, name)
        found = [one for i, row in enumerate(rows) for one in (*front.get(i, []), row)]
        return Body([row for row in found if row != Note("")])

    def pieces_of(
        self, whole: Make, i: int, rows: Sequence[Row], starts: Sequence[int],
        makes: dict[str, int],
    ) -> list[Piece]:
        """Return the arrays that are copied into one right after it was made, and may be parts."""
        found: list[Piece] = []
        start, inner = Counter[tuple[Expr, ...]](), self.size_of(whole.shape[1:])
        for at, row in enumerate(rows[i + 1 : i + FARTHEST], i + 1):
            if whole.name not in {name for one in rows_of(Body([row])) for name in read_by(one)}:
                if any(isinstance(one, (Leave, Break, Forever, Spread))
                       for one in rows_of(Body([row]))):
                    break
                continue
            nest = nest_of(row)
            copied = None if nest is None else self.copied(nest, whole, start)
            if nest is None or copied is None or inner is None:
                break
            make, first = self.made(copied, nest, rows, makes), self.product_of(start, inner)
            if make is not None and make.dtype == whole.dtype and first is not None:
                group = self.sharing.group(make.name)
                if starts[makes[make.name]] <= group.first and group.last < starts[at + 1]:
                    found.append(Piece(make, first, at))
            more = self.sum_of(nest.lengths[0])
            if more is None:
                break
            start += more
        return found

    def copied(self, nest: Nest, whole: Make, start: Sum) -> str | None:
        """Return the array that loops copy to where the part of another one begins; or None."""
        match nest.rows:
            case (Store(whole.name, (first, *rest), Element(of, read), False),) if (
                read == nest.here and tuple(rest) == nest.here[1:]
                and self.are_same(nest.lengths[1:], whole.shape[1:])
            ):
                offset = ZERO if first == nest.here[0] else first
                match first:
                    case Binary("+", begin, last) if last == nest.here[0]:
                        offset = begin
                    case _ if first != nest.here[0]:
                        return None
                return of if self.sum_of(offset) == start else None
        return None

    def made(self, of: str, nest: Nest, rows: Sequence[Row], makes: dict[str, int]) -> Make | None:
        """Return the statement that makes an array of which loops visit all elements in order."""
        shape: tuple[Expr, ...] | None = None
        while of not in makes:
            row = self.aliases.get(of)
            if row is None or self.sharing.counts[of] > 1:
                return None
            if shape is None and isinstance(row, View):
                shape = row.shape
            of = source_of(row)
        make = rows[makes[of]]
        if not isinstance(make, Make) or make.fill is not None:
            return None
        size = self.size_of(nest.lengths)
        is_all = size is not None and size == self.size_of(make.shape) and self.are_same(
            (shape or make.shape)[1:], nest.lengths[1:])
        return make if is_all else None

    def early(
        self, whole: Make, pieces: Sequence[Piece], between: Sequence[Row], start: int
    ) -> tuple[Expr, ...] | None:
        """Return the shape of an array that is made in front of the statement ``start``.

        None if it cannot be made there: what a length is made of has no value yet, or one may be
        negative, which statements ``between`` there and where it is made may ask.
        """
        shape = [self.sum_of(length) for length in whole.shape]
        leaves = {leaf for found in (*shape, *(piece.start for piece in pieces))
                  for term in found or () for leaf in term}
        if None in shape or any(self.sharing.bound.get(name, -1) >= start
                                for leaf in leaves for name in names_in(leaf)):
            return None
        may_leave = any(isinstance(row, (Leave, Break, Forever, Spread))
                        for row in rows_of(Body(list(between))))
        if may_leave and not all(isinstance(leaf, Extent) for leaf in leaves):
            return None
        return tuple(
            length if all(self.sharing.bound.get(name, -1) < start for name in names_in(length))
            else self.written(found or Counter())
            for length, found in zip(whole.shape, shape, strict=True))

    def part(self, whole: Make, piece: Piece) -> View:
        """Return the statement that takes a piece out of the array that it is a part of."""
        of = whole.name if len(whole.shape) == 1 else Flat(whole.name)
        return View(piece.make.name, of, self.written(piece.start), piece.make.shape)


def has_element(expr: Expr) -> bool:
    """Say whether an expression reads from an array."""
    return isinstance(expr, Element) or any(map(has_element, children(expr)))


__all__ = ["with_pieces_in_place"]

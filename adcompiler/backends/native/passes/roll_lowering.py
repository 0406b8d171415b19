"""``np.roll``: what leaves an array at one end comes in at the other.

Rolled by a small number, elements are read where something is computed of them, at a position that
is wrapped around. A loop over such positions is taken apart: in the middle, which is most of it,
nothing is wrapped, so that compilers make vectors of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adcompiler.backends.native.loops import (
    INT, Binary, Body, Choose, Element, Expr, For, Number, Name, Row, Store,
    When, children,
)
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.reductions import array, known, options
from adcompiler.backends.native.passes.bounds_checks import shifted
from adcompiler.backends.native.reading import exprs_of
from adcompiler.backends.native.rewriting import replaced, with_exprs
from adcompiler.backends.native.values import LENGTH, WIDE, Args, Buffer, Cut, Declined, Fused, Num
from adcompiler.backends.native.writer import Writer, whole
from adcompiler.ir import types as t

ZERO = Number(0)
NEAREST = 4
"""Elements are read where they stand if they are moved by no more than this."""


def rolled(arrays: Arrays, args: Args, named: dict[str, Any], type_: t.Type) -> Any:
    """Write ``np.roll`` along an axis: what leaves it at one end comes in at the other."""
    of, shift, axis = options("roll", args, named, "a shift axis")
    of, at = array(of, "roll"), known(axis)
    at = 0 if at is None and of.ndim == 1 else at
    if not isinstance(shift, Num) or shift.dtype != INT or type(at) is not int or not (
        -of.ndim <= at < of.ndim
    ):
        raise Declined("`roll` of all elements, or along several axes")
    w, at = arrays.w, at % of.ndim
    if isinstance(shift.expr, Number) and 0 < abs(int(shift.expr.value)) <= NEAREST:
        return read_around(arrays, of, int(shift.expr.value), at)
    length = w.named("length", of.shape[at])
    w.leave_if(Binary("==", length, ZERO))
    by = w.assign("shift", Binary("%", w.narrowed(shift, WIDE - 1).expr, length))
    rest = w.assign("rest", Binary("-", length, by))
    new = arrays.new(of.shape, of.dtype, None)
    for start, count, first in ((ZERO, rest, by), (rest, by, ZERO)):
        before = [Cut(None, None)] * at
        taken, put_ = (
            arrays.part(one, [*before, Cut(whole(begin, LENGTH), whole(end, LENGTH))], "part")
            for one, begin, end in (
                (of, start, w.assign("end", Binary("+", start, count))),
                (new, first, w.assign("end", Binary("+", first, count)))))
        with w.over(taken.shape) as places:
            w.write(Store(put_.name, places, Element(taken.name, places)))
    return new


def read_around(arrays: Arrays, of: Buffer, by: int, axis: int) -> Fused:
    """Return an array rolled by a number of places, to be read where it is computed with."""
    w, length = arrays.w, arrays.w.named("length", of.shape[axis])
    w.leave_if(Binary("<", length, Number(abs(by))))

    def at(places: tuple[Expr, ...]) -> tuple[Expr, ...]:
        here, end = places[axis], length
        if isinstance(here, Name) and here.name in w.spans:
            start, stop = w.spans[here.name]
            end = stop if start == ZERO and w.same_length(length, stop) else length
        return (*places[:axis], wrapped(here, by, end), *places[axis + 1 :])

    return arrays.moved(of, at)


def wrapped(place: Expr, by: int, length: Expr) -> Expr:
    """Return the position before a place by some elements; in front of the first comes the last."""
    moved = shifted(place, -by)
    if by > 0:
        return Choose(Binary("<", place, Number(by)), Binary("+", moved, length), moved)
    return Choose(Binary("<", moved, length), moved, Binary("-", moved, length))


def unwrapped(expr: Expr, name: str) -> tuple[int, Expr, Expr] | None:
    """Return by how much a position of a loop is moved, what it is in the middle, and the length.

    None for any other expression.
    """
    here = Name(name)
    match expr:
        case Choose(Binary("<", place, Number(int() as by)), Binary("+", _, length), moved) if (
            place == here and expr == wrapped(here, by, length)
        ):
            return by, moved, length
        case Choose(Binary("<", Binary("+", place, Number(int() as by)), length), moved, _) if (
            place == here and expr == wrapped(here, -by, length)
        ):
            return -by, moved, length
    return None


def in_parts(w: Writer, loop: For) -> list[Row]:
    """Return an innermost loop, or three: for its first positions, the middle, and the last ones.

    It is taken apart where positions are wrapped around an axis that it runs along from end to end.
    """
    found = [
        one for row in loop.body.rows for expr in exprs_in(row) for one in around(expr, loop.name)
    ]
    if loop.start != ZERO or loop.down or not found or any(
        not w.same_length(length, loop.stop) for _, _, length in found
    ):
        return [loop]
    first = max(0, *(by for by, _, _ in found))
    last = max(0, *(-by for by, _, _ in found))

    def middle(expr: Expr) -> Expr:
        one = unwrapped(expr, loop.name)
        return expr if one is None else one[1]

    body = Body([with_exprs(row, lambda expr: replaced(expr, middle)) for row in loop.body.rows])
    end = shifted(loop.stop, -last)
    rows: list[Row] = [replace(loop, start=Number(first), stop=end, body=body)]
    if first:
        least = Choose(Binary("<", loop.stop, Number(first)), loop.stop, Number(first))
        rows.insert(0, replace(loop, stop=least))
    if last:
        begin = Choose(Binary("<", end, Number(first)), Number(first), end)
        rows.append(replace(loop, start=begin))
    return rows


def around(expr: Expr, name: str) -> list[tuple[int, Expr, Expr]]:
    """Return what ``unwrapped`` tells of positions in an expression that are wrapped around."""
    found = unwrapped(expr, name)
    if found is not None:
        return [found]
    return [one for child in children(expr) for one in around(child, name)]


def exprs_in(row: Row) -> list[Expr]:
    """Return the expressions of a statement, and of those in it."""
    found = exprs_of(row)
    if isinstance(row, When):
        found += [expr for one in (*row.then.rows, *row.orelse.rows) for expr in exprs_in(one)]
    return found

"""Arrays joined along an axis, and the cotangents of what was joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adcompiler.backends.native.loops import FLOAT, INT, Binary, Element, Expr, Number, Store
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.reductions import known, options
from adcompiler.backends.native.values import (
    Args, Buffer, Declined, Known, Named, Num, Rows, Several, literal,
)
from adcompiler.ir import types as t

ZERO = Number(0)
DEFAULTS = (None, "same_kind")


def joined(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.concatenate`` of a tuple or a list of arrays of one dtype, or lists of numbers."""
    given, axis = plain_options("concatenate", args, named, "arrays axis dtype casting")
    return end_to_end(arrays, given, axis, type_)


def plain_options(name: str, args: Args, named: Named, wanted: str) -> list[Any]:
    """Return the first two of the ``wanted`` arguments, of which all others are left out."""
    first, second, *others = options(name, args, named, wanted)
    if not all(isinstance(one, Known) and one.value in DEFAULTS for one in others):
        raise Declined(f"`{name}` with options")
    return [first, second]


def end_to_end(arrays: Arrays, given: Rows, axis: Any, type_: t.Type) -> Any:
    """Return arrays and lists of numbers joined along an axis."""
    pieces, at = parts_of(arrays, given, axis)
    parts = [as_buffer(arrays, piece, pieces) for piece in pieces]
    total: Expr = parts[0].shape[at]
    for part in parts[1:]:
        total = Binary("+", total, part.shape[at])
        agree_beside(arrays, part, parts[0], at)
    shape = [*parts[0].shape]
    shape[at] = arrays.w.named("length", total)
    if not isinstance(type_, t.Array) or (type_.dtype, type_.ndim) != (parts[0].dtype, len(shape)):
        raise Declined("`concatenate` to an array that is not known")
    new = arrays.new(shape, parts[0].dtype, None)
    for part, start in starting(arrays, parts, at):
        with arrays.w.over(part.shape) as places:
            there = list(places)
            there[at] = places[at] if start == ZERO else Binary("+", start, places[at])
            arrays.w.write(Store(new.name, tuple(there), Element(part.name, places)))
    return new


def stacked(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.stack`` of a tuple or a list of arrays of one shape, or of numbers."""
    given, axis = plain_options("stack", args, named, "arrays axis out dtype casting")
    return side_by_side(arrays, given, known(axis, 0), type_)


def side_by_side(arrays: Arrays, given: Any, at: Any, type_: t.Type) -> Any:
    """Return arrays of one shape, or numbers, as the parts of one with an axis more."""
    parts = given.items if isinstance(given, Several) else ()
    first: Any = parts[0] if parts else None
    kind = type(first)
    if kind not in (Buffer, Num) or any(type(one) is not kind for one in parts) or (
        not isinstance(type_, t.Array) or {one.dtype for one in parts} != {type_.dtype}
    ):
        raise Declined("what is stacked is not known to be arrays of one dtype")
    inner = [] if isinstance(first, Num) else [*first.shape]
    if type(at) is not int or not -1 - len(inner) <= at <= len(inner):
        raise Declined("`stack` along an axis that is not known")
    at %= len(inner) + 1
    new = arrays.new([*inner[:at], Number(len(parts)), *inner[at:]], type_.dtype, None)
    for i, part in enumerate(parts):
        if isinstance(part, Num):
            arrays.w.store(new, (Number(i),), part, adds=False)
            continue
        for mine, wanted in zip(part.shape, inner, strict=True):
            arrays.w.expect_length(mine, wanted)
        with arrays.w.over(part.shape) as places:
            there = (*places[:at], Number(i), *places[at:])
            arrays.w.write(Store(new.name, there, Element(part.name, places)))
    return new


def stacked_by(name: str, of_vectors: int | None, of_others: int) -> Any:
    """Return what writes ``np.vstack`` and its like.

    Vectors get a second axis, as the part at ``of_vectors`` of that, or are joined if it is None;
    arrays of more axes are joined along the axis ``of_others``.
    """
    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        given, _ = plain_options(name, args, named, "tup dtype casting")
        ndims = {1 if isinstance(one, Several) else getattr(one, "ndim", 0)
                 for one in getattr(given, "items", ())}
        if ndims == {1} and of_vectors is not None:
            return side_by_side(arrays, given, of_vectors, type_)
        if len(ndims) != 1 or 0 in ndims:
            raise Declined(f"`{name}` of what are no arrays of as many axes")
        return end_to_end(arrays, given, literal(0 if ndims == {1} else of_others), type_)

    return write


def cut_apart(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write the cotangents of what ``np.concatenate`` joined: parts of that of the result."""
    g, given, axis = options("concatenate", args, named, "g arrays axis")
    pieces, at = parts_of(arrays, given, axis)
    first = next(one for one in pieces if isinstance(one, Buffer))
    if not isinstance(g, Buffer) or {g.dtype, first.dtype} != {FLOAT} or g.ndim != first.ndim:
        raise Declined("a cotangent of joined arrays that is no such array")
    found: list[Any] = []
    for part, start in starting(arrays, pieces, at):
        if isinstance(part, Several):
            found.append(Several(tuple(
                Num(Element(g.name, (Binary("+", start, Number(i)),)), FLOAT)
                for i in range(len(part.items)))))
            continue
        arrays.hint = "piece"
        new = arrays.new(part.shape, FLOAT, None)
        with arrays.w.over(part.shape) as places:
            there = list(places)
            there[at] = places[at] if start == ZERO else Binary("+", start, places[at])
            arrays.w.write(Store(new.name, places, Element(g.name, tuple(there))))
        found.append(new)
    return Several(tuple(found))


def cut_apart_beside(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write the cotangents of what ``np.hstack`` joined."""
    g, given = options("hstack", args, named, "g arrays")
    beside = isinstance(g, Buffer) and g.ndim > 1
    return cut_apart(arrays, [g, given, Num(Number(int(beside)), INT, int(beside))], {}, type_)


Piece = Buffer | Several


def parts_of(arrays: Arrays, given: Any, axis: Known | Num) -> tuple[list[Piece], int]:
    """Return the arrays that are joined, and the axis: of one dtype and number of axes.

    Beside arrays of one axis there may be numbers, which stand in lists.
    """
    at = 0 if isinstance(axis, Known) and axis.value is None else known(axis)
    items = list(given.items) if isinstance(given, Several) else []
    parts = [item for item in items if isinstance(item, Buffer) and item.ndim]
    lists = [item for item in items if isinstance(item, Several) and all(
        isinstance(one, Num) and one.isset is None for one in item.items)]
    if not parts or len(parts) + len(lists) < len(items) or type(at) is not int:
        raise Declined("what is joined is not known to be arrays")
    ndim = parts[0].ndim
    if len({(part.dtype, part.ndim) for part in parts}) > 1 or not -ndim <= at < ndim or (
        lists and ndim > 1
    ):
        raise Declined("arrays of different kinds are joined")
    return items, at % ndim


def dtypes_of(piece: Piece) -> set[str]:
    """Return the dtypes of an array, or of numbers."""
    return {piece.dtype} if isinstance(piece, Buffer) else {one.dtype for one in piece.items}


def as_buffer(arrays: Arrays, piece: Piece, pieces: Sequence[Piece]) -> Buffer:
    """Return one of some pieces as an array: numbers in one of the dtype of the others."""
    if isinstance(piece, Buffer):
        return piece
    dtype = next(one.dtype for one in pieces if isinstance(one, Buffer))
    if not dtypes_of(piece) <= {dtype, INT} or dtype not in (FLOAT, INT):
        raise Declined("numbers are joined to arrays of another kind")
    arrays.hint = "numbers"
    new: Buffer = arrays.new((Number(len(piece.items)),), dtype, None)
    for i, one in enumerate(piece.items):
        arrays.w.store(new, (Number(i),), one, adds=False)
    return new


def agree_beside(arrays: Arrays, part: Buffer, first: Buffer, at: int) -> None:
    """Leave arrays to Python that differ in the length of another axis."""
    for axis, (mine, wanted) in enumerate(zip(part.shape, first.shape, strict=True)):
        if axis != at:
            arrays.w.expect_length(mine, wanted)


def starting(arrays: Arrays, parts: Sequence[Any], at: int) -> Iterator[tuple[Any, Expr]]:
    """Yield arrays, each with where it stands among all of them."""
    start: Expr = ZERO
    for part in parts:
        yield part, start
        length = part.shape[at] if isinstance(part, Buffer) else Number(len(part.items))
        start = length if start == ZERO else arrays.w.assign("start", Binary("+", start, length))

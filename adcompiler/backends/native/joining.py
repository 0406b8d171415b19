"""Arrays joined along an axis, and the cotangents of what was joined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from adcompiler.backends.native.arrays import Arrays
from adcompiler.backends.native.loops import FLOAT, Binary, Element, Expr, Number, Store
from adcompiler.backends.native.reductions import known, options
from adcompiler.backends.native.values import Buffer, Declined, Known, Several
from adcompiler.ir import types as t

ZERO = Number(0)
DEFAULTS = (None, "same_kind")


def joined(arrays: Arrays, args: list[Any], named: dict[str, Any], type_: t.Type) -> Any:
    """Write ``np.concatenate`` of a tuple or a list of arrays of one dtype."""
    given, axis, dtype, casting = options("concatenate", args, named, "arrays axis dtype casting")
    if not all(isinstance(one, Known) and one.value in DEFAULTS for one in (dtype, casting)):
        raise Declined("`concatenate` with a dtype or casting")
    parts, at = parts_of(arrays, given, axis)
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


def cut_apart(arrays: Arrays, args: list[Any], named: dict[str, Any], type_: t.Type) -> Any:
    """Write the cotangents of what ``np.concatenate`` joined: parts of that of the result."""
    g, given, axis = options("concatenate", args, named, "g arrays axis")
    parts, at = parts_of(arrays, given, axis)
    if not isinstance(g, Buffer) or g.dtype != FLOAT or g.ndim != parts[0].ndim or any(
        part.dtype != FLOAT for part in parts
    ):
        raise Declined("a cotangent of joined arrays that is no such array")
    found = []
    for part, start in starting(arrays, parts, at):
        arrays.hint = "piece"
        new = arrays.new(part.shape, FLOAT, None)
        with arrays.w.over(part.shape) as places:
            there = list(places)
            there[at] = places[at] if start == ZERO else Binary("+", start, places[at])
            arrays.w.write(Store(new.name, places, Element(g.name, tuple(there))))
        found.append(new)
    return Several(tuple(found))


def parts_of(arrays: Arrays, given: Any, axis: Any) -> tuple[list[Buffer], int]:
    """Return the arrays that are joined, and the axis: of one dtype and number of axes."""
    at = 0 if isinstance(axis, Known) and axis.value is None else known(axis)
    items = list(given.items) if isinstance(given, Several) else []
    parts = [item for item in items if isinstance(item, Buffer) and item.ndim]
    if not parts or len(parts) < len(items) or type(at) is not int:
        raise Declined("what is joined is not known to be arrays")
    ndim = parts[0].ndim
    if len({(part.dtype, part.ndim) for part in parts}) > 1 or not -ndim <= at < ndim:
        raise Declined("arrays of different kinds are joined")
    return parts, at % ndim


def agree_beside(arrays: Arrays, part: Buffer, first: Buffer, at: int) -> None:
    """Leave arrays to Python that differ in the length of another axis."""
    for axis, (mine, wanted) in enumerate(zip(part.shape, first.shape, strict=True)):
        if axis != at:
            arrays.w.expect_length(mine, wanted)


def starting(
    arrays: Arrays, parts: Sequence[Buffer], at: int
) -> Iterator[tuple[Buffer, Expr]]:
    """Yield arrays, each with where it stands among all of them."""
    start: Expr = ZERO
    for part in parts:
        yield part, start
        length = part.shape[at]
        start = length if start == ZERO else arrays.w.assign("start", Binary("+", start, length))

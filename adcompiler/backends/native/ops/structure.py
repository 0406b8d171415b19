"""Functions that only arrange: ranges, lengths, zip, tuples, checks of shapes, gradients."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import FLOAT, INT, NAUGHT, SHORT, SINGLE, Binary, Number
from adcompiler.backends.native.lower.sources import lengths_of
from adcompiler.backends.native.ops import lists
from adcompiler.backends.native.ops.indexing import cut, last_written, read
from adcompiler.backends.native.ops.list_functions import gradient
from adcompiler.backends.native.ops.array_constructors import diagonal_bar
from adcompiler.backends.native.ops.reductions import projected, seeded, unstretched
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.backends.native.values import (
    LENGTH, POSITION, Backwards, Buffer, Complex, Cut, Declined, Endless, Fused, Kept, Keyed, Known,
    Num, Rows, Several, Span, Together, Value, literal,
)
from adcompiler.backends.native.writer import Writer, as_double, single
from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Star, Update, Var
from adcompiler.runtime import (
    as_gradient, check_count, keeps_shape, note_value, noted_value, paired, project, repack,
    same_extent, same_length, same_shape, same_trailing_shape, seed, unbroadcast, unpack,
)
from adcompiler.runtime import last_written as last_written_
from adcompiler.runtime.adjoints.products import in_space
from adcompiler.runtime.adjoints.shaping import diagonal_adjoint
from adcompiler.runtime.containers import positions
from adcompiler.runtime.structure import add


def span(low: Context, *args: Any) -> Any:
    """Return a range."""
    if not all(isinstance(arg, Num) and arg.dtype == "int64" for arg in args):
        raise Declined("a range of what are no integers")
    w = low.w
    ends = [w.narrowed(arg, POSITION) for arg in args]
    ends = [Num(w.named("end", end.expr), end.dtype, end.bound) for end in ends]
    start, stop = (Num(Number(0), "int64", 0), ends[0]) if len(ends) == 1 else ends[:2]
    step = ends[2].expr if len(ends) == 3 else Number(1)
    if not isinstance(step, Number):
        least = w.least(step)
        w.leave_if(Binary("<=", step, Number(0)) if least is None or least < 0
                   else Binary("==", step, Number(0)))
        return Span(start, stop, step)
    if step.value == 0:
        raise Declined("a range with a step of 0")
    if step.value == -1:
        return Backwards(Span(after(w, stop), after(w, start)))
    return Span(start, stop, int(step.value))


def after(w: Writer, number: Num) -> Num:
    """Return an integer and one."""
    if isinstance(number.expr, Number):
        return literal(int(number.expr.value) + 1)  # type: ignore[return-value]
    return Num(w.assign("end", Binary("+", number.expr, Number(1))), "int64", number.bound + 1)


def backwards(low: Context, of: Any) -> Any:
    """Return ``reversed(of)``."""
    if isinstance(of, Endless):
        raise Declined("reversed of what has no end")
    return of.of if isinstance(of, Backwards) else Backwards(of)


def length(low: Context, of: Any) -> Num:
    """Return ``len(of)``."""
    if isinstance(of, Buffer) and of.ndim:
        return Num(of.shape[0], "int64", LENGTH)
    if isinstance(of, (Span, Backwards)):
        return Num(lengths_of(low.w, of)[0], "int64", LENGTH)
    if isinstance(of, Several):
        return literal(len(of.items))  # type: ignore[return-value]
    if isinstance(of, (Kept, Rows)):
        return Num(of.length, "int64", LENGTH)
    raise Declined("the length of what is no array")


def taken(low: Context, of: Kept | Rows, part: Any) -> Span | Backwards:
    """Return the positions of the items of a sequence that a slice takes."""
    if isinstance(part, Known) and isinstance(part.value, slice):
        part = lists.as_cut(low, part.value)
    if not isinstance(part, Cut):
        raise Declined("positions of what is no slice")
    first, step, count = lists.positions(low, part, length(low, of).expr)
    size = count if abs(step) == 1 else low.w.assign("size", Binary("*", count, Number(abs(step))))
    near, far = (Num(expr, "int64", 2 * LENGTH) for expr in (first, low.w.assign(
        "end", Binary("+" if step > 0 else "-", first, size))))
    if step > 0:
        return Span(near, far, step)
    if step < -1:
        raise Declined("positions of a slice in steps that lead back")
    return Backwards(Span(after(low.w, far), after(low.w, near)))


def together(low: Context, *parts: Any) -> Together:
    """Return ``zip(*parts)``."""
    return Together(parts)


def counted(low: Context, of: Kept | Rows) -> Together:
    """Return ``enumerate(of)``."""
    return Together((None, of))


def endless(low: Context, *args: Any) -> Endless:
    """Return ``itertools.count(start)``."""
    start = args[0] if args else literal(0)
    if len(args) > 1 or not isinstance(start, Num) or start.dtype != "int64":
        raise Declined("a count in steps, or of what are no integers")
    start = low.w.narrowed(start, POSITION)
    return Endless(replace(start, expr=low.w.named("first", start.expr)))


def equal_shapes(low: Context, a: Several, b: Several) -> Known:
    """Leave shapes to Python that differ where code was compiled for equal ones."""
    if isinstance(a, Several) and isinstance(b, Several) and len(a.items) != len(b.items):
        raise Declined("arrays of different numbers of axes are expected to have one shape")
    return equal_ends(low, a, b)


def stretched_shape(low: Context, *shapes: Any) -> Several:
    """Return ``np.broadcast_shapes(*shapes)``; axes that are stretched are known to be."""
    if not shapes or not all(isinstance(shape, Several) for shape in shapes):
        raise Declined("shapes that are not known")
    found: list[Any] = []
    for back in range(1, max(len(shape.items) for shape in shapes) + 1):
        given = [shape.items[-back] for shape in shapes if len(shape.items) >= back]
        longer = [one for one in given if one.expr != Number(1)] or given
        for one in longer[1:]:
            if not low.w.same_length(longer[0].expr, one.expr):
                low.w.leave_if(Binary("!=", longer[0].expr, one.expr))
        found.insert(0, longer[0])
    return Several(tuple(found))


def of_three(low: Context, a: Any, b: Any) -> Known:
    """Leave vectors to Python that have not three components where that was expected."""
    for one in (a, b):
        if not isinstance(one, (Buffer, Fused)) or not one.ndim:
            raise Declined("vectors that are not known")
        if one.shape[-1] != Number(3):
            low.w.leave_if(Binary("!=", one.shape[-1], Number(3)))
    return Known(None)


def equal_ends(low: Context, a: Several, b: Several) -> Known:
    """Leave shapes to Python of which one does not end in the other where that was expected."""
    if not isinstance(a, Several) or not isinstance(b, Several) or len(a.items) < len(b.items):
        raise Declined("shapes that are not known")
    for mine, other in zip(a.items[len(a.items) - len(b.items) :], b.items, strict=True):
        low.w.expect_length(mine.expr, other.expr)
    return Known(None)


def equal_extents(low: Context, first: Any, *others: Any) -> Known:
    """Leave extents to Python that differ where code was compiled for equal ones."""
    for other in others:
        low.w.expect_length(first.expr, other.expr)
    return Known(None)


def equal_lengths(low: Context, *given: Any) -> Known:
    """Leave sequences of different lengths, as ``zip(..., strict=True)`` refuses, to Python."""
    first, *rest = (length(low, one) for one in given)
    for other in rest:
        low.w.expect_length(first.expr, other.expr)
    return Known(None)


def counted_right(low: Context, of: Kept | Rows, count: Any) -> Known:
    """Leave a sequence that has another number of items than are unpacked to Python."""
    return equal_lengths(low, of, Several((None,) * int(count.expr.value)))


def unpacked(low: Context, of: Any, count: Any, star: Any) -> Several:
    """Return the items of an array or a tuple that has as many as are unpacked, without a star."""
    if not isinstance(star.expr, Number) or int(star.expr.value) >= 0:
        raise Declined("a sequence is unpacked with a star")
    number = int(count.expr.value)
    if isinstance(of, Several) and len(of.items) == number:
        return of
    if not isinstance(of, Buffer):
        raise Declined("what is unpacked is no array")
    low.w.expect_length(of.shape[0], Number(number))
    return Several(tuple(
        read(low, of, literal(i), "part") for i in range(number)
    ))


def repacked(low: Context, parts: Any, of: Any, star: Any = None) -> Any:
    """Return the cotangents of what was unpacked as that of the array, or of the tuple."""
    if star is not None and (not isinstance(star.expr, Number) or int(star.expr.value) >= 0):
        raise Declined("a sequence is unpacked with a star")
    if not isinstance(parts, Several) or not isinstance(of, Buffer) or of.dtype != "float64":
        raise Declined("what is unpacked is no array of floats")
    if of.ndim != 1 or not all(isinstance(part, Num) for part in parts.items):
        raise Declined("an array of several axes is unpacked")
    number = Number(len(parts.items))
    low.w.expect_length(of.shape[0], number)
    new = low.arrays.new(of.shape, "float64", None)
    for i, part in enumerate(parts.items):
        low.w.store(new, (Number(i),), part, adds=False)
    return new


def as_given(low: Context, of: Any) -> Any:
    """Return ``tuple(of)`` of a tuple."""
    if not isinstance(of, Several):
        raise Declined("a tuple of what is no tuple")
    return of


def finished(low: Context, bar: Any, var: Any) -> Any:
    """Return a cotangent as the gradient of an argument."""
    if isinstance(var, Num) and var.dtype == "float64":
        if isinstance(bar, Known) and bar.value is None:
            return Num(Number(0.0), "float64")
        if isinstance(bar, Num):
            return as_double(low.w, bar)
    if isinstance(var, Num) and var.dtype in SHORT:
        if isinstance(bar, Known) and bar.value is None:
            return Num(Number(0.0), SINGLE if var.dtype == SINGLE else NAUGHT)
        if isinstance(bar, Num) and (var.dtype == SINGLE or bar.dtype in SHORT):
            return single(low.w, bar) if var.dtype == SINGLE else bar
    if isinstance(var, Buffer) and var.dtype in (FLOAT, SINGLE):
        return low.arrays.gradient(bar, var)
    if isinstance(var, (Rows, Kept)):
        return gradient(low, [bar, var], t.UNKNOWN)
    if isinstance(var, Several):
        bars = bar.items if isinstance(bar, Several) else (bar,) * len(var.items)
        return Several(tuple(finished(low, *pair) for pair in zip(bars, var.items, strict=True)))
    if isinstance(var, Keyed) and isinstance(bar, Keyed) and var.position is not None:
        return replace(bar, position=var.position)
    raise Declined("a gradient of what is no number or array")


def noted(low: Context, place: Value, value: Value) -> Any:
    """Write the number that a variable has got where a handler finds it."""
    if not isinstance(value, Num):
        raise Declined("what is no number is kept for a handler of exceptions")
    return low.stored(place, Num(Number(0), INT, 0), value, False, NONE)


def noted_last(low: Context, place: Value) -> Any:
    """Return the number that a variable had when an exception was raised."""
    return low.item(Var("noted"), place, Num(Number(0), INT, 0))


def copies_in(low: Context, of: Kept | Rows, copy: Value) -> Known:
    """Return what stands for the arrays and containers that a list of numbers holds, and copies."""
    if not isinstance(of, (Rows, Kept)):
        raise Declined("an argument that holds arrays is written into")
    return Known("the numbers of a list")


def keyed(
    low: Context, parts: Mapping[Any, Any], is_record: bool = False, cls: type | None = None
) -> Keyed:
    """Return a dict, or the attributes of an instance, that is made."""
    if any(isinstance(part, Star) for part in parts.values()):
        raise Declined("a starred item")
    return Keyed(
        {key: low.arrays.settled(low.value(part)) for key, part in parts.items()}, is_record,
        {key: low.unit.type(part) for key, part in parts.items()}, made=True, cls=cls,
    )


def with_part(low: Context, obj: Keyed, rhs: Update) -> Keyed:
    """Return a dict or an instance with a part of it replaced, or increased."""
    step, *rest = rhs.steps
    if (step.kind, obj.is_record) not in (("item", False), ("attr", True)):
        raise Declined("a write into a dict or an instance by what it is not known by")
    if low.w.attempts:
        raise Declined("a dict or an instance is written into in `try`")
    key = step.name if obj.is_record else key_of(low.value(step.args[0]))
    type_ = obj.types.get(key, t.UNKNOWN)
    if rest:
        new = low.updated(replace(rhs, steps=tuple(rest)), obj.part(key))
    else:
        new, type_ = low.arrays.settled(low.value(rhs.value)), low.unit.type(rhs.value)
        if rhs.adds:
            new, type_ = added(low, obj.part(key), new), t.UNKNOWN
    return replace(obj, parts={**obj.parts, key: new}, types={**obj.types, key: type_})


def added(low: Context, a: Value, b: Value) -> Any:
    """Return the sum of two cotangents; None is that of what carries no derivative."""
    match a, b:
        case (Known(None), other) | (other, Known(None)):
            return other
        case Num(), Num():
            return TABLE["add"](low.w, a, b)
        case Buffer(dtype=dtype, ndim=ndim), Buffer() if (b.dtype, b.ndim) == (dtype, ndim):
            return low.arrays.settled(low.arrays.elementwise(
                "add", [a, b], t.Array(dtype, ndim), (t.Array(dtype, ndim),) * 2))
        case Several(), Several() if len(a.items) == len(b.items):
            return Several(tuple(added(low, *pair) for pair in zip(a.items, b.items, strict=True)))
        case Keyed(), Keyed() if a.is_record == b.is_record:
            keys, none = dict.fromkeys((*a.parts, *b.parts)), Known(None)
            return Keyed(
                {key: added(low, a.parts.get(key, none), b.parts.get(key, none)) for key in keys},
                a.is_record, {**b.types, **a.types}, made=True)
    raise Declined("a cotangent of what is no number or array")


def key_of(index: Cut | Known | Num | Several) -> Any:
    """Return the key of a dict that a subscript is."""
    if isinstance(index, Known) and isinstance(index.value, str):
        return index.value
    if isinstance(index, Num) and isinstance(index.expr, Number):
        return index.expr.value
    raise Declined("a key that is computed")


def attribute(low: Context, obj: Any, name: str) -> Any:
    """Return ``obj.name``."""
    if isinstance(obj, Keyed) and obj.is_record:
        return obj.part(name)
    if isinstance(obj, (Rows, Kept)):
        return Known(f"the method {name} of a list")
    if isinstance(obj, Complex) and name in ("real", "imag"):
        return obj.re if name == "real" else obj.im
    if isinstance(obj, (Several, Complex)):
        return Known(f"the attribute {name} of what is no array")
    if not isinstance(obj, Buffer):
        raise Declined(f"the attribute {name} of what is no array")
    lengths = [Num(length, "int64", LENGTH) for length in obj.shape]
    if name == "shape":
        return Several(tuple(lengths))
    if name == "T":
        return low.arrays.turned(obj, tuple(reversed(range(obj.ndim))))
    if name == "ndim":
        return literal(obj.ndim)
    if name == "size" and lengths:
        return functools.reduce(lambda a, b: TABLE["multiply"](low.w, a, b), lengths)
    raise Declined(f"the attribute {name} of an array")


STRUCTURE: dict[Any, Callable[..., Any]] = {
    range: span, reversed: backwards, len: length, zip: together, enumerate: counted,
    slice: cut, itertools.count: endless, tuple: as_given, as_gradient: finished,
    unbroadcast: unstretched, project: projected, seed: seeded, last_written_: last_written,
    diagonal_adjoint: diagonal_bar, same_length: equal_lengths, check_count: counted_right,
    unpack: unpacked, repack: repacked, paired: copies_in,
    note_value: noted, noted_value: noted_last, add: added,
    positions: taken, same_extent: equal_extents, same_shape: equal_shapes,
    same_trailing_shape: equal_ends,
    keeps_shape: equal_shapes, in_space: of_three, "broadcast_shapes": stretched_shape,
}
"""What is written for functions that only arrange."""
CHECKS = (same_extent, same_shape, same_trailing_shape, keeps_shape, same_length, check_count)
"""Functions that raise where what they are given is not as expected."""

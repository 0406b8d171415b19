"""What loops do with functions of lists: the table, and how each one is written."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Apply, Assign, Binary, Body, Choose, Expr, For, Name, Number,
    Reserve, Use,
)
from adcompiler.backends.native.lower.sources import Source
from adcompiler.backends.native.ops.array_items import ArrayForm
from adcompiler.backends.native.ops.array_items import of_zeros as arrays_of_zeros
from adcompiler.backends.native.ops.held import (
    count_of, deep, differ, grown, item_at, new, put, shared,
)
from adcompiler.backends.native.ops.held import shortened as shorter
from adcompiler.backends.native.ops.list_arrays import as_array, concatenated, from_array, stacked
from adcompiler.backends.native.ops.lists import (
    as_rows, copied, form_of, form_of_list, holds, is_in_sight, layout_of, packed, place_of, slots,
)
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Args, Buffer, Declined, Fused, Held, HeldForm, Kept, Known, Num, Rows, Several,
    Slot, Value, integer, list_of, number_of,
)
from adcompiler.backends.native.writer import Writer
from adcompiler.ir import types as t
from adcompiler.ir.operators import BY_SIGN
from adcompiler.runtime import append, as_gradient, check_position, drop_last, unpack, zeros_like
from adcompiler.runtime import add as add_cotangents
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.adjoints.joining import stack_adjoint
from adcompiler.runtime.adjoints.sequences import like as like_items
from adcompiler.runtime.adjoints.sequences import share, sort_order, spread, sum_repeats, unsort
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.aliases import holds_once

ZERO, ONE = Number(0), Number(1)


def appended(low: Context, args: Args, type_: t.Type) -> Rows | Held:
    """Write ``append``: the list has one item more."""
    rows, value = args
    is_in_sight(low, layout_of(rows))
    value = low.ready(value)
    if isinstance(rows, Kept) and rows.held is not None:
        return grown(low, rows, value)
    rows = as_rows(low, rows, form_of_list(type_, value))
    longer = low.w.assign("count", Binary("+", rows.length, ONE))
    for slot in slots(rows.layout):
        low.w.write(Reserve(slot.buffer, longer))
    put(low, rows.layout, rows.length, value)
    return Rows(rows.layout, longer)


def shortened(low: Context, args: Args, type_: t.Type) -> Rows | Held:
    """Write ``drop_last``."""
    if isinstance(args[0], Kept) and args[0].held is not None:
        return shorter(low, args[0])
    rows = as_rows(low, args[0])
    is_in_sight(low, rows.layout)
    low.w.leave_if(Binary("<=", rows.length, ZERO))
    return Rows(rows.layout, low.w.assign("count", Binary("-", rows.length, ONE)))


def zeros(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``zeros_like``: a list of zeros as long as another one."""
    length = count_of(args[0])
    if layout_of(args[0]) is None:
        return Rows(None, ZERO)
    return of_zeros(low, form_of_list(type_, layout_of(args[0])), length, args[0])


def of_zeros(low: Context, form: Any, length: Expr, of: Value) -> Rows:
    """Return a list of zeros as long as ``of``; those that are arrays have the shapes of those."""
    if not is_deep(form):
        return new(low, form, length, True)
    made = new(low, form, length)
    if isinstance(form, ArrayForm):
        arrays_of_zeros(low, made.layout, list_of(of), item_at, length)
        return made
    with low.w.over((length,)) as (at,):
        put(low, made.layout, at, deep(low, made.layout, item_at(low, of, at), zeros=True))
    return made


def is_deep(form: Any) -> bool:
    """Say whether there are arrays or lists in items of a form."""
    return isinstance(form, (ArrayForm, HeldForm)) or (
        isinstance(form, tuple) and any(map(is_deep, form)))


def filled(low: Context, form: Any, length: Expr, value: Buffer) -> Rows:
    """Return a list that has one value everywhere."""
    made = new(low, form, length)
    with low.w.over((length,)) as (at,):
        put(low, made.layout, at, value)
    return made


def spread_out(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``spread``: a cotangent for every item."""
    g, of = args
    if not isinstance(g, (Num, Buffer, Fused)):
        raise Declined("a cotangent of what is no number or array")
    return filled(low, form_of_list(type_, None), count_of(of), low.arrays.operand(g))


def joined(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``a + b`` of two lists."""
    left, right = args
    form = form_of_list(type_, layout_of(left) or layout_of(right))
    size = low.w.assign("count", Binary("+", count_of(left), count_of(right)))
    made = new(low, form, size)
    for value, start in ((left, ZERO), (right, count_of(left))):
        if made.layout is None or (isinstance(value, Rows) and value.layout is None):
            continue
        with low.w.over((count_of(value),)) as (at,):
            put(low, made.layout, place_of(low, start, 1, at), item_at(low, value, at))
    return made


def repeated(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``a * n`` of a list."""
    of, times = args if isinstance(args[0], (Rows, Kept)) else reversed(args)
    if not isinstance(times, Num) or times.dtype != INT:
        raise Declined("a list times what is no integer")
    (times_,) = low.arrays.lengths(
        TABLE[max](low.w, times, Num(ZERO, INT, 0)))
    length = count_of(of)
    total = TABLE["multiply"](low.w, Num(length, INT, LENGTH), Num(times_, INT, LENGTH))
    size = low.w.assign("count", low.w.narrowed(total, LENGTH).expr)
    made = new(low, form_of_list(type_, None), size)
    with low.w.over((times_,)) as (outer,):
        start = low.w.assign("start", Binary("*", outer, length))
        with low.w.over((length,)) as (at,):
            put(low, made.layout, place_of(low, start, 1, at), item_at(low, of, at))
    return made


def added(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write the sum of two cotangents of a list."""
    left, right = args
    if isinstance(right, Known) and right.value is None:
        return as_rows(low, left)
    made = copied(low, left, form_of_list(type_, None))
    differ(low, made.length, count_of(right))
    with low.w.over((made.length,)) as (at,):
        put(low, made.layout, at, item_at(low, right, at), True)
    return made


def collected(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``list(of)``."""
    (of,) = args
    if isinstance(of, Several):
        return packed(low, list(of.items), type_)
    if isinstance(of, (Rows, Kept)):
        return copied(low, of, form_of_list(type_, None))
    w, outside = low.w, low.w.body
    with w.inside(Body()) as inner:
        source = Source(low, [of], False, ["item"])
    outside.rows += source.outside.rows
    made = new(low, form_of_list(type_, None), source.count)
    with w.inside(inner):
        start = source.start
        place = Name(source.name) if start == ZERO else w.assign(
            "place", Binary("-", Name(source.name), start))
        put(low, made.layout, place, source.items[0])
    w.write(For(source.name, start, source.stop, inner))
    return made


def owned(low: Context, args: Args, type_: t.Type) -> Rows | Kept:
    """Write ``own(of)``; what a loop collected is never written into where it is."""
    of = low.ready(args[0])
    if holds(of, Held):
        made = new(low, form_of_list(type_, layout_of(of)), count_of(of))
        with low.w.over((made.length,)) as (at,):
            put(low, made.layout, at, deep(low, made.layout, item_at(low, of, at)))
        return made
    is_fixed = isinstance(of, Kept) and of.held is None
    return of if is_fixed else collected(low, [of], type_)


def gradient(low: Context, args: Args, type_: t.Type) -> Rows | Buffer:
    """Write ``as_gradient`` or ``like``: a cotangent of a list, as a list of its own.

    That of a list of the elements of an array is an array.
    """
    bar, of = args
    if isinstance(of, Buffer) and isinstance(bar, (Rows, Kept)):
        differ(low, count_of(bar), of.shape[0])
        if of.ndim != 1 or of.dtype != FLOAT or layout_of(bar) is None:
            raise Declined("the cotangent of an array is a list")
        return as_array(low, [as_rows(low, bar, FLOAT)], t.Array(FLOAT, 1))
    form = form_of_list(type_, None)
    if isinstance(bar, Known) and bar.value is None:
        return of_zeros(low, form, count_of(of), of)
    if isinstance(bar, Buffer):
        return from_array(low, bar, form, count_of(of))
    if isinstance(bar, Several):
        bar = packed(low, list(bar.items), type_)
    differ(low, count_of(bar), count_of(of))
    return copied(low, bar, form)


def unstacked(low: Context, args: Args, type_: t.Type) -> Rows | Buffer:
    """Write the cotangents of what ``np.stack`` made along the first axis of a list."""
    g, of, *rest = args
    if rest and not (len(rest) == 1 and isinstance(rest[0], Num) and rest[0].expr == ZERO):
        raise Declined("the cotangents of `stack` of a list with options")
    return gradient(low, [g, of], type_)


def summed(low: Context, args: Args, type_: t.Type) -> Num:
    """Write ``sum(of)``, added in order as Python adds."""
    of, *start = args
    first = start[0] if start else Num(ZERO, INT, 0)
    layout = layout_of(of)
    if not isinstance(first, Num) or first.dtype == BOOL:
        raise Declined("a sum that starts with what is no number")
    if layout is None:
        return first
    dtype = form_of(layout)
    if dtype not in (FLOAT, INT):
        raise Declined("a sum of what are no numbers")
    w, name = low.w, low.w.fresh("total")
    kind = INT if dtype == first.dtype == INT else FLOAT
    w.write(Assign(name, first.expr if kind == INT else w.as_float(first).expr))
    lost = w.fresh("lost") if kind == FLOAT and compensates(low.types[0]) else ""
    if lost:
        w.write(Assign(lost, Number(0.0)))
    with w.over((count_of(of),)) as (at,):
        item = item_at(low, of, at)
        if kind == INT:
            w.narrowed(Num(Name(name), INT), WIDE // 4)
            value = w.narrowed(item, WIDE // 4).expr
        else:
            value = w.as_float(item).expr
        if lost:
            keep_lost(w, name, lost, value)
        else:
            w.write(Assign(name, Binary("+", Name(name), value)))
    if lost:
        given = Apply("isfinite", (Name(lost),))
        w.write(Assign(name, Choose(given, Binary("+", Name(name), Name(lost)), Name(name))))
    return Num(Name(name), kind)


def compensates(type_: t.Type) -> bool:
    """Say whether Python adds the items of a list of a type with the errors made before."""
    if sys.version_info < (3, 12):
        return False
    item = type_.item if isinstance(type_, t.List) else type_
    if not isinstance(item, t.Scalar) or len({dtype is None for _, dtype in item.classes}) > 1:
        raise Declined("a sum of Python's floats and NumPy's")
    return item.dtype is None


def keep_lost(w: Writer, total: str, lost: str, item: Expr) -> None:
    """Write an addition, and what it rounds off, as CPython's ``sum`` does."""
    value, before = w.assign("item", item), Name(total)
    after = w.assign("after", Binary("+", before, value))
    larger = Binary(">=", Apply("fabs", (before,)), Apply("fabs", (value,)))
    error = Choose(larger, Binary("+", Binary("-", before, after), value),
                   Binary("+", Binary("-", value, after), before))
    w.write(Assign(lost, Binary("+", Name(lost), error)))
    w.write(Assign(total, after))


def unpacked(low: Context, args: Args, type_: t.Type) -> Several:
    """Write ``unpack``: the items of a list, which has as many as are wanted."""
    of, count, star = args
    number, after = integer(count), integer(star)
    if number is None or after is None or after >= 0:
        raise Declined("a list is unpacked with a star")
    differ(low, count_of(of), Number(number))
    found = Several(tuple(item_at(low, of, Number(i)) for i in range(number)))
    shared(low, found)
    return found


def in_bounds(low: Context, args: Args, type_: t.Type) -> Known:
    """Write ``check_position``."""
    of, index = args
    low.w.position(number_of(index), count_of(of))
    return Known(None)


def extreme(sign: str) -> Callable[..., Num]:
    """Return what writes ``min`` or ``max`` of a list: the first of equal ones."""

    def write_extreme(low: Context, args: Args, type_: t.Type) -> Num:
        (of,) = args
        w, layout = low.w, layout_of(of)
        if layout is None or form_of(layout) not in (FLOAT, INT):
            raise Declined("the extreme of what are no numbers")
        w.leave_if(Binary("<=", count_of(of), ZERO))
        best = w.fresh("best")
        w.write(Assign(best, item_at(low, of, ZERO).expr))
        with w.over((count_of(of),)) as (at,):
            item = item_at(low, of, at)
            w.write(Assign(best, Choose(Binary(sign, item.expr, Name(best)), item.expr,
                                        Name(best))))
        return Num(Name(best), form_of(layout))

    return write_extreme


def summed_repeats(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``sum_repeats``: what the items of ``of * n`` receive, for those of ``of``."""
    g, of = args
    count = low.w.named("count", count_of(of))
    low.w.leave_if(Binary("<=", count, ZERO))
    made = of_zeros(low, form_of_list(type_, layout_of(of)), count, of)
    with low.w.over((count_of(g),)) as (at,):
        place = low.w.assign("place", Binary("%", at, count))
        put(low, made.layout, place, item_at(low, g, at), True)
    return made


def held_once(low: Context, args: Args, type_: t.Type) -> Known:
    """Write ``holds_once``: where one list stands in another one twice, Python raises."""
    of = args[1]
    layout, w = layout_of(of), low.w
    if not isinstance(layout, Held) or is_deep(layout.heap.form):
        raise Declined("whether one list stands in another one twice")
    made = new(low, INT, count_of(of))
    with w.over((made.length,)) as (at,):
        put(low, made.layout, at, item_at(low, of, at).at)
    places = order(low, [made], type_)
    with w.over((made.length,)) as (at,):
        one, other = (item_at(low, made, item_at(low, places, place).expr).expr for place in (
            at, Choose(Binary(">", at, ZERO), Binary("-", at, ONE), ZERO)))
        w.leave_if(Binary("and", Binary(">", at, ZERO), Binary("==", one, other)))
    return Known(None)


def shares(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``share`` for a list: items that are the extreme share its cotangent evenly."""
    of, w = args[1], low.w
    g, y = (w.named("number", w.as_float(number_of(args[i])).expr) for i in (0, 2))
    ties = w.fresh("ties")
    w.write(Assign(ties, Number(0.0)))
    with w.over((count_of(of),)) as (at,):
        equal = Binary("==", w.as_float(item_at(low, of, at)).expr, y)
        w.write(Assign(ties, Binary("+", Name(ties), Choose(
            equal, Number(1.0), Number(0.0)))))
    one = Number(1.0)
    part = w.assign("part", Binary("/", g, Choose(
        Binary(">", Name(ties), one), Name(ties), one)))
    made = new(low, form_of_list(type_, None), count_of(of))
    with w.over((made.length,)) as (at,):
        equal = Binary("==", w.as_float(item_at(low, of, at)).expr, y)
        put(low, made.layout, at, Num(Choose(equal, part, Number(0.0)), FLOAT))
    return made


def order(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``sort_order``: the positions of the items of a list in ascending order."""
    of, *rest = args
    w, layout = low.w, layout_of(of)
    if rest or layout is None or form_of(layout) not in (FLOAT, INT):
        raise Declined("an order of what are no numbers, or a descending one")
    values = copied(low, of)
    if form_of(layout) == FLOAT:
        with w.over((values.length,)) as (at,):
            item = item_at(low, values, at)
            w.leave_if(Binary("!=", item.expr, item.expr))
    name = w.fresh("order")
    w.write(Use(name, "ascending", (values.layout.buffer,)))
    return Rows(Slot(name, INT, LENGTH), values.length)


def ascending(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``sorted(of)`` of a list of numbers."""
    (of,) = args
    places = order(low, [of], type_)
    made = new(low, form_of(layout_of(of)), places.length)
    with low.w.over((made.length,)) as (at,):
        put(low, made.layout, at, item_at(low, of, item_at(low, places, at).expr))
    return made


def unsorted(low: Context, args: Args, type_: t.Type) -> Rows:
    """Write ``unsort``: each item goes where an order has it from."""
    g, places, of = args
    differ(low, count_of(g), count_of(places))
    made = new(low, form_of_list(type_, None), count_of(of), True)
    with low.w.over((count_of(g),)) as (at,):
        place = low.w.position(item_at(low, places, at), made.length)
        put(low, made.layout, place, item_at(low, g, at))
    return made


LISTS: dict[Any, Callable[..., Any]] = {
    append: appended, drop_last: shortened, zeros_like: zeros, spread: spread_out,
    BY_SIGN["+"]: joined, BY_SIGN["*"]: repeated, add_cotangents: added,
    list: collected, own: owned, as_gradient: gradient, like: gradient, like_items: gradient,
    sum: summed, unpack: unpacked, check_position: in_bounds, "array": as_array,
    "asarray": as_array, "concatenate": concatenated, "stack": stacked,
    stack_adjoint: unstacked, min: extreme("<"), max: extreme(">"),
    share: shares, sum_repeats: summed_repeats, holds_once: held_once, sort_order: order,
    sorted: ascending, unsort: unsorted,
}
"""What is written for functions of lists: Python's operators are others there."""

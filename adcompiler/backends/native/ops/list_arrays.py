"""Arrays of lists, and lists of arrays: what makes one of the other."""

from __future__ import annotations

from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import Binary, Element, Expr, Number, Store
from adcompiler.backends.native.ops.array_items import ArrayForm, as_one, end_to_end, put_elements
from adcompiler.backends.native.ops.held import (
    count_of, differ, item_at, made as made_held, new, put,
)
from adcompiler.backends.native.ops.lists import form_of, layout_of
from adcompiler.backends.native.values import (
    Args, Buffer, Declined, Flattened, HeldForm, Kept, Num, Rows, Several, integer, list_of,
)
from adcompiler.ir import types as t

ZERO = Number(0)


def from_array(low: Context, of: Buffer, form: Any, length: Expr) -> Rows:
    """Return the rows of an array as a list of numbers, of tuples of these, or of arrays."""
    if isinstance(form, (ArrayForm, HeldForm)):
        return rows_of(low, of, form, length)
    inner = form if isinstance(form, tuple) else ()
    if of.ndim != 1 + bool(inner) or of.dtype != (inner or (form,))[0]:
        raise Declined("an array is taken apart into a list of another structure")
    differ(low, of.shape[0], length)
    if inner:
        differ(low, of.shape[1], Number(len(inner)))
    made = new(low, form, length)
    with low.w.over((length,)) as (at,):
        items = [Num(low.w.assign("item", Element(of.name, (at, Number(i)) if inner else (at,))),
                     of.dtype) for i in range(len(inner) or 1)]
        put(low, made.layout, at, Several(tuple(items)) if inner else items[0])
    return made


def rows_of(low: Context, of: Buffer, form: ArrayForm | HeldForm, length: Expr) -> Rows:
    """Return the parts of an array along its first axis as a list of arrays, or of lists."""
    wanted = (form.dtype, 1 + form.ndim) if isinstance(form, ArrayForm) else (form.item, 2)
    if (of.dtype, of.ndim) != wanted:
        raise Declined("an array is taken apart into a list of another structure")
    differ(low, of.shape[0], length)
    made = new(low, form, length)
    with low.w.over((length,)) as (at,):
        if isinstance(form, HeldForm):
            put(low, made.layout, at, made_held(
                low, made.layout.heap, of.shape[1],
                lambda i: Num(Element(of.name, (at, i)), of.dtype)))
        else:
            put_elements(low, made.layout, at, of.shape[1:],
                         lambda places: Element(of.name, (at, *places)))
    return made


def as_array(low: Context, args: Args, type_: t.Type) -> Buffer:
    """Write ``np.array(of)`` of a list of numbers, or of tuples of these."""
    of, *rest = args
    layout = layout_of(of)
    if rest or not isinstance(type_, t.Array) or layout is None:
        raise Declined("an array of a list that is empty, or with options")
    if isinstance(layout, Flattened):
        form = form_of(layout)
        if (type_.dtype, type_.ndim) != (form.dtype, 1 + form.ndim):
            raise Declined("an array of items of another kind")
        return as_one(low, list_of(of), form, item_at, count_of(of))
    if isinstance(form_of(layout), HeldForm):
        return as_matrix(low, list_of(of), type_)
    parts = layout.items if isinstance(layout, Several) else (layout,)
    forms = form_of(layout)
    forms = forms if isinstance(forms, tuple) else (forms,)
    inner = (Number(len(parts)),) if isinstance(layout, Several) else ()
    if type_.ndim != 1 + len(inner) or any(form != type_.dtype for form in forms):
        raise Declined("an array of items of another kind")
    made: Buffer = low.arrays.new((count_of(of), *inner), type_.dtype, None)
    if inner:
        low.w.leave_if(Binary("<=", count_of(of), ZERO))
    with low.w.over((count_of(of),)) as (at,):
        item = item_at(low, of, at)
        for i, one in enumerate(item.items if inner else (item,)):
            place = (at, Number(i)) if inner else (at,)
            low.w.write(Store(made.name, place, one.expr))
    return made


def as_matrix(low: Context, of: Kept | Rows, type_: t.Array) -> Buffer:
    """Return a list of lists of numbers, which are as long as one another, as an array."""
    if (form_of(layout_of(of)).item, type_.ndim) != (type_.dtype, 2):
        raise Declined("an array of items of another kind")
    low.w.leave_if(Binary("<=", count_of(of), ZERO))
    length = count_of(low.ready(item_at(low, of, ZERO)))
    made: Buffer = low.arrays.new((count_of(of), length), type_.dtype, None)
    with low.w.over((count_of(of),)) as (at,):
        item = low.ready(item_at(low, of, at))
        differ(low, count_of(item), length)
        with low.w.over((length,)) as (i,):
            low.w.write(Store(made.name, (at, i), item_at(low, item, i).expr))
    return made


def stacked(low: Context, args: Args, type_: t.Type) -> Buffer:
    """Write ``np.stack(of)`` of a list of arrays or numbers, along the first axis."""
    of, *rest = args
    if rest and not (len(rest) == 1 and isinstance(rest[0], Num) and rest[0].expr == ZERO):
        raise Declined("`stack` of a list with options")
    low.w.leave_if(Binary("<=", count_of(of), ZERO))
    return as_array(low, [of], type_)


def concatenated(low: Context, args: Args, type_: t.Type) -> Buffer:
    """Write ``np.concatenate(of)`` of a list of arrays, along the first axis or another one."""
    of, *rest = args
    layout = layout_of(of)
    at = integer(rest[0]) if rest else 0
    if len(rest) > 1 or not isinstance(layout, Flattened) or at is None:
        raise Declined("`concatenate` of a list of what are no arrays, or with options")
    form = form_of(layout)
    if not isinstance(type_, t.Array) or (type_.dtype, type_.ndim) != (form.dtype, form.ndim) or (
        not -form.ndim <= at < form.ndim
    ):
        raise Declined("`concatenate` to an array that is not known")
    return end_to_end(low, list_of(of), form, item_at, count_of(of), at % form.ndim)

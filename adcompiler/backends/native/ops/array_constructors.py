"""Library functions that make arrays: filled ones, counted ones, copies, products, other shapes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, SINGLE, Apply, Binary, Choose, Element, Expr, Number, Store,
)
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.three_vectors import vector_product
from adcompiler.backends.native.ops.joining import (
    cut_apart, cut_apart_beside, joined, stacked, stacked_by,
)
from adcompiler.backends.native.ops.reductions import (
    NONE, REDUCTIONS, array, floats, known, options,
)
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.backends.native.ops.singles import dtype_of
from adcompiler.backends.native.passes.roll_lowering import rolled
from adcompiler.backends.native.values import (
    Args, Buffer, Cut, Declined, Kept, Keyed, Known, Named, Num, Record, Several, Span, Value,
)
from adcompiler.backends.native.writer import as_double, single
from adcompiler.ir import types as t
from adcompiler.runtime import zeros_like
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.adjoints.joining import concatenate_adjoint, hstack_adjoint
from adcompiler.runtime.adjoints.products import crossed
from adcompiler.runtime.adjoints.shaping import copy_as_laid_out

ZERO, ONE = Number(0), Number(1)
PREFIXES: dict[str, Any] = {"zeros": 0, "ones": 1, "empty": None}
Write = Callable[[Arrays, Args, Named, t.Type], Any]


def made_as(type_: t.Type, name: str) -> str:
    """Return the dtype of an array that is made."""
    if not isinstance(type_, t.Array):
        raise Declined(f"`{name}` of what is no array")
    return type_.dtype


def filled(name: str) -> Write:
    """Return what writes ``np.zeros`` and the like."""

    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        shape, _ = options(name, args, named, "shape dtype")
        fill = PREFIXES[name]
        value = None if fill is None else Num(Number(fill), INT, 1)
        if shape == Several(()) and value is not None and made_as(type_, name) == FLOAT:
            return arrays.w.as_float(value)  # what takes a number takes it, nothing else does
        return of_shape(arrays, arrays.lengths(shape), value, type_, name)

    return write


def of_shape(
    arrays: Arrays, shape: Sequence[Expr], value: Num | Buffer | None, type_: t.Type, name: str
) -> Buffer:
    """Return a new array of a shape that is as long as its type tells."""
    dtype = made_as(type_, name)
    if not isinstance(type_, t.Array) or len(shape) != type_.ndim or not shape:
        raise Declined(f"`{name}` of a shape that is not known")
    if not isinstance(value, Buffer):
        return arrays.new(shape, dtype, value)
    if value.dtype != dtype:
        raise Declined(f"`{name}` of an array of another dtype")
    return stretched(arrays, value, shape)


def full(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.full``."""
    shape, value, _ = options("full", args, named, "shape fill_value dtype")
    return of_shape(arrays, arrays.lengths(shape), value, type_, "full")


def full_like(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.full_like``."""
    of, value = options("full_like", args, named, "a fill_value")
    return of_shape(arrays, array(of, "full_like").shape, value, type_, "full_like")


def filled_like(prefix: str, of_numbers: bool = False) -> Write:
    """Return what writes ``np.zeros_like`` and the like; that of the runtime takes numbers, too."""

    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        name = f"{prefix}_like"
        (of,) = options(name, args, named, "a")
        if of_numbers and isinstance(of, Num):
            return Num(Number(0.0), FLOAT)
        fill = PREFIXES[prefix]
        value = None if fill is None else Num(Number(fill), INT, 1)
        return of_shape(arrays, array(of, name).shape, value, type_, name)

    return write


def broadcast(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.broadcast_to``: of a number, or of an array along axes that have length 1."""
    value, shape = options("broadcast_to", args, named, "array shape")
    lengths = arrays.lengths(shape)
    if isinstance(value, Num):
        return arrays.new(lengths, value.dtype, value)
    return stretched(arrays, array(value, "broadcast_to"), lengths)


def stretched(arrays: Arrays, value: Buffer, lengths: Any) -> Buffer:
    """Write an array stretched along axes on which it has length 1."""
    if value.ndim > len(lengths):
        raise Declined("an array is stretched to fewer axes")
    arrays.agree(value, lengths)
    new = arrays.new(lengths, value.dtype, None)
    with arrays.w.over(lengths) as places:
        arrays.w.store(new, places, arrays.item(value, places), adds=False)
    return new


def product(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``a @ b``, or ``np.dot``."""
    match args:
        case [Buffer() as a, Buffer() as b] if not named:
            return arrays.dot(a, b)
    raise Declined("a product with options, or of what are no arrays")


def copied(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.copy``."""
    if len(args) != 1 or named:
        raise Declined("a copy with options")
    return owned(arrays, args[0])


def owned(arrays: Arrays, value: Value) -> Any:
    """Return a copy of arrays, of tuples, dicts and instances with such too.

    What a loop collected is never written into where it is.
    """
    if isinstance(value, Several):
        return Several(tuple(owned(arrays, item) for item in value.items))
    if isinstance(value, Keyed):
        return replace(value, parts={
            key: part if isinstance(part, Declined) else owned(arrays, part)
            for key, part in value.parts.items()})
    if isinstance(value, Buffer):
        return replace(arrays.copy(value), isset=value.isset)
    if isinstance(value, Record):
        return replace(value, arrays=tuple(owned(arrays, one) for one in value.arrays))
    if isinstance(value, (Num, Known, Span, Kept)):
        return value
    raise Declined("a copy of what is no array")


def converted(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``astype``, ``np.float32`` and ``np.float64``: numbers in another precision."""
    of = args[0] if args else NONE
    found = dtype_of(type_) if isinstance(type_, t.Scalar) else made_as(type_, "astype")
    if named or len(args) > 2 or found not in (FLOAT, SINGLE) or not (
        isinstance(of, (Num, Buffer)) and of.dtype != BOOL
    ):
        raise Declined("a conversion with options, or of what are no floats or integers")
    write = functools.partial(single if found == SINGLE else as_double, arrays.w)
    return write(of) if isinstance(of, Num) else arrays.mapped(write, [of], found)


def array_of(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.array``: a copy of an array, or numbers in a row."""
    of, _ = options("array", args, named, "object dtype")
    if isinstance(of, Buffer) and made_as(type_, "array") == of.dtype:
        return arrays.copy(of)
    if not isinstance(of, Several) or not isinstance(type_, t.Array):
        raise Declined("`array` of what is neither an array nor numbers")
    return array_of_items(arrays, of, type_)


def array_of_items(arrays: Arrays, of: Several, type_: t.Type) -> Buffer:
    """Return a new array of the numbers and arrays in tuples or lists."""
    new = of_shape(arrays, shape_of(of), None, type_, "array")
    put(arrays, new, (), of)
    return new


def shape_of(of: Any) -> tuple[Expr, ...]:
    """Return the shape of an array of tuples of numbers."""
    if isinstance(of, Num):
        return ()
    if isinstance(of, Buffer):
        return of.shape
    if not isinstance(of, Several) or not of.items:
        raise Declined("`array` of what is neither an array nor numbers")
    shapes = {shape_of(item) for item in of.items}
    if len(shapes) > 1:
        raise Declined("`array` of rows of different lengths")
    return (Number(len(of.items)), *shapes.pop())


def put(arrays: Arrays, new: Buffer, at: tuple[Expr, ...], of: Any) -> None:
    """Store the numbers of tuples of tuples."""
    if isinstance(of, Num):
        arrays.w.store(new, at, of, adds=False)
    elif isinstance(of, Buffer):
        with arrays.w.over(of.shape) as places:
            arrays.w.store(new, (*at, *places), arrays.item(of, places), adds=False)
    else:
        for i, item in enumerate(of.items):
            put(arrays, new, (*at, Number(i)), item)


def as_array(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.asarray``."""
    if len(args) == 1 and not named and isinstance(args[0], Buffer):
        return args[0]
    return array_of(arrays, args, named, type_)


def outer(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.outer`` of arrays of one axis."""
    a, b = (floats(of, "outer") for of in options("outer", args, named, "a b"))
    if (a.ndim, b.ndim) != (1, 1):
        raise Declined("`outer` of matrices")
    column = arrays.part(a, [Cut(None, None), None], "column")
    return arrays.mapped(
        lambda x, y: Num(Binary("*", x.expr, y.expr), FLOAT), [column, b], FLOAT)


def eye(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.eye``."""
    n, m, k, _ = options("eye", args, named, "N M k dtype")
    offset = known(k, 0)
    rows = arrays.lengths(n)
    new = arrays.new((*rows, *(rows if m == NONE else arrays.lengths(m))),
                     made_as(type_, "eye"), None)
    one, none = (Number(1.0), Number(0.0)) if new.dtype == FLOAT else (ONE, ZERO)
    if new.dtype == BOOL or type(offset) is not int:
        raise Declined("`eye` with options")
    with arrays.w.over(new.shape) as (i, j):
        test = Binary("==", j, Binary("+", i, Number(offset)) if offset else i)
        arrays.w.write(Store(new.name, (i, j), Choose(test, one, none)))
    return new


def triangle(keeps: str) -> Write:
    """Return what writes ``np.tril`` or ``np.triu`` of a matrix."""

    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        of, k = options("tril", args, named, "m k")
        of, offset = floats(of, "tril"), known(k, 0)
        if of.ndim != 2 or type(offset) is not int:
            raise Declined("a triangle of stacked matrices")
        new = arrays.new(of.shape, FLOAT, None)
        with arrays.w.over(of.shape) as (i, j):
            test = Binary(keeps, j, Binary("+", i, Number(offset)) if offset else i)
            item = Choose(test, Element(of.name, (i, j)), Number(0.0))
            arrays.w.write(Store(new.name, (i, j), item))
        return new

    return write


def diagonal(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.diagonal`` of a square matrix, the main one."""
    (of,) = options("diagonal", args, named, "a")
    of = array(of, "diagonal")
    if of.ndim != 2:
        raise Declined("a diagonal of stacked matrices")
    square(arrays, of.shape)
    new = arrays.new(of.shape[:1], of.dtype, None)
    with arrays.w.over(new.shape) as (i,):
        arrays.w.write(Store(new.name, (i,), Element(of.name, (i, i))))
    return new


def square(arrays: Arrays, shape: tuple[Expr, ...]) -> None:
    """Leave matrices that are not square to Python."""
    arrays.w.expect_length(*shape)


def diag(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.diag``: the diagonal of a matrix, or a matrix of a diagonal."""
    (of,) = options("diag", args, named, "v")
    if isinstance(of, Buffer) and of.ndim == 2:
        return diagonal(arrays, [of], {}, type_)
    of = floats(of, "diag")
    if of.ndim != 1:
        raise Declined("`diag` of stacked matrices")
    return on_diagonal(arrays, of, (of.shape[0], of.shape[0]))


def on_diagonal(arrays: Arrays, of: Buffer, shape: tuple[Expr, ...]) -> Buffer:
    """Return a matrix that has these numbers on its diagonal, and zeros."""
    new = arrays.new(shape, FLOAT, Num(Number(0.0), FLOAT))
    with arrays.w.over(of.shape) as (i,):
        arrays.w.write(Store(new.name, (i, i), Element(of.name, (i,))))
    return new


def diagonal_bar(low: Context, g: Any, shape: Any) -> Buffer:
    """Write ``diagonal_adjoint`` of a square matrix."""
    lengths = low.arrays.lengths(shape)
    if not isinstance(g, Buffer) or g.ndim != 1 or len(lengths) != 2 or g.dtype != FLOAT:
        raise Declined("a diagonal of stacked matrices")
    square(low.arrays, lengths)
    low.arrays.agree(g, lengths[:1])
    return on_diagonal(low.arrays, g, lengths)


def counted(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.arange`` of integers."""
    first, stop, step = options("arange", args, named, "start stop step")
    if stop == NONE:
        first, stop = Num(ZERO, INT, 0), first
    by = known(step, 1)
    if not all(isinstance(one, Num) and one.dtype == INT for one in (first, stop)):
        raise Declined("`arange` of what are no integers")
    if by != 1 or type(by) is not int or not isinstance(type_, t.Array):
        raise Declined("`arange` in steps")
    w = arrays.w
    start = w.named("start", w.narrowed(first, 2**40).expr)
    size = w.narrowed(stop, 2**40).expr
    if start != ZERO:
        size = Binary("-", size, start)
    size = w.named("size", size)
    length = w.assign("length", Choose(Binary(">", size, ZERO), size, ZERO))
    new = arrays.new((length,), made_as(type_, "arange"), None)
    with w.over(new.shape) as (i,):
        value = i if start == ZERO else Binary("+", start, i)
        w.store(new, (i,), Num(value, INT, 2**41), adds=False)
    return new


def spaced(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.linspace`` of at least two numbers."""
    first, last, count = options("linspace", args, named, "start stop num")
    w = arrays.w
    if not all(isinstance(one, Num) for one in (first, last)) or made_as(type_, "") != FLOAT:
        raise Declined("`linspace` of arrays")
    count = Num(Number(50), INT, 50) if count == NONE else count
    (length,) = arrays.lengths(count)
    w.leave_if(Binary("<", length, Number(2)))
    start, stop = (w.named(hint, w.as_float(one).expr)
                   for hint, one in (("start", first), ("stop", last)))
    by = w.assign("step", Binary("/", Binary("-", stop, start), Apply("float", (
        Binary("-", length, ONE),))))
    w.leave_if(Binary("==", by, Number(0.0)))
    new = arrays.new((length,), FLOAT, None)
    with w.over(new.shape) as (i,):
        w.write(Store(new.name, (i,), Binary("+", Binary("*", Apply("float", (i,)), by), start)))
    w.write(Store(new.name, (Binary("-", length, ONE),), stop))
    return new


def transposed(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.transpose``."""
    of, axes = options("transpose", args, named, "a axes")
    of = array(of, "transpose")
    order = known(axes)
    if order is None:
        order = tuple(reversed(range(of.ndim)))
    if sorted(axis % of.ndim for axis in order) != list(range(of.ndim)):
        raise Declined("`transpose` by axes that the array does not have")
    return arrays.turned(of, tuple(axis % of.ndim for axis in order))


def expanded(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.expand_dims``: axes of length 1 at places among those of the result."""
    of, axis = options("expand_dims", args, named, "a axis")
    given = known(axis)
    given = given if isinstance(given, tuple) else (given,)
    if isinstance(of, Num) and isinstance(type_, t.Array) and type_.ndim == len(given):
        return arrays.new((ONE,) * type_.ndim, type_.dtype, of)
    of = array(of, "expand_dims")
    ndim = of.ndim + len(given)
    if not all(type(one) is int and -ndim <= one < ndim for one in given):
        raise Declined("an axis that an array does not have")
    places = {one % ndim for one in given}
    if len(places) < len(given):
        raise Declined("an axis is made twice")
    return arrays.part(
        of, [None if i in places else Cut(None, None) for i in range(ndim)], arrays.hint)


def swapped(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.swapaxes``."""
    of, one, other = options("swapaxes", args, named, "a axis1 axis2")
    of = array(of, "swapaxes")
    order = list(range(of.ndim))
    a, b = known(one), known(other)
    if not all(type(axis) is int and -of.ndim <= axis < of.ndim for axis in (a, b)):
        raise Declined("an axis that an array does not have")
    order[a], order[b] = order[b], order[a]
    return arrays.turned(of, tuple(order))


def reshaped(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.reshape``: the same elements in another shape; one length may be -1."""
    of = array(args[0], "reshape")
    if named or len(args) != 2:
        raise Declined("`reshape` with options")
    shape = args[1]
    parts = list(shape.items) if isinstance(shape, Several) else [shape]
    w, size = arrays.w, arrays.size(of.shape)
    open_ = [i for i, part in enumerate(parts)
             if isinstance(part, Num) and part.expr == Number(-1)]
    given = arrays.lengths(Several(tuple(p for i, p in enumerate(parts) if i not in open_)))
    if len(open_) > 1:
        raise Declined("`reshape` with several lengths of -1")
    lengths = list(given)
    rest = arrays.size(given)
    if open_:
        w.leave_if(Binary("==", rest, ZERO))
        w.leave_if(Binary("!=", Binary("%", size, rest), ZERO))
        whole = size if rest == ONE else w.assign("length", Binary("//", size, rest))
        lengths.insert(open_[0], whole)
    else:
        w.expect_length(rest, size)
    if not lengths:
        return w.element(of, [Num(ZERO, INT, 0)] * of.ndim, arrays.hint)
    return arrays.shaped(of, lengths)


def flattened(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.ravel``."""
    (of,) = options("ravel", args, named, "a")
    of = array(of, "ravel")
    return arrays.shaped(of, (arrays.size(of.shape),))


def differences(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.diff`` of an array of one axis."""
    of, _, _, before, after = options("diff", args, named, "a n axis prepend append")
    of = floats(of, "diff")
    if of.ndim != 1 or len(args) > 1 or not {*named} <= {"prepend", "append"}:
        raise Declined("`diff` along an axis")
    w = arrays.w
    if named:
        return differences_between(arrays, of, before, after)
    less = w.assign("length", Binary("-", of.shape[0], ONE))
    length = w.assign("length", Choose(Binary(">", less, ZERO), less, ZERO))
    new = arrays.new((length,), FLOAT, None)
    with w.over(new.shape) as (i,):
        change = Binary("-", Element(of.name, (Binary("+", i, ONE),)), Element(of.name, (i,)))
        w.write(Store(new.name, (i,), change))
    return new


def differences_between(arrays: Arrays, of: Buffer, before: Any, after: Any) -> Buffer:
    """Return the differences of numbers, of which others stand before and after the array."""
    if not isinstance(before, Num) or not isinstance(after, Num):
        raise Declined("`diff` with options")
    w, count = arrays.w, of.shape[0]
    first, last = (w.named("end", w.as_float(one).expr) for one in (before, after))
    w.leave_if(Binary("<", count, ONE))
    new = arrays.new((w.assign("length", Binary("+", count, ONE)),), FLOAT, None)
    w.write(Store(new.name, (ZERO,), Binary("-", Element(of.name, (ZERO,)), first)))
    with w.over((w.assign("inner", Binary("-", count, ONE)),)) as (i,):
        after_it = Binary("+", i, ONE)
        change = Binary("-", Element(of.name, (after_it,)), Element(of.name, (i,)))
        w.write(Store(new.name, (after_it,), change))
    at = Binary("-", count, ONE)
    w.write(Store(new.name, (count,), Binary("-", last, Element(of.name, (at,)))))
    return new


def clipped(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.clip`` between two numbers."""
    of, low, high = options("clip", args, named, "a a_min a_max")
    if not all(isinstance(one, (Num, Buffer)) for one in (of, low, high)):
        raise Declined("`clip` with one bound")
    w = arrays.w

    def write(value: Num, least: Num, most: Num) -> Num:
        return TABLE["minimum"](w, TABLE["maximum"](w, value, least), most)  # type: ignore[no-any-return]

    if all(isinstance(one, Num) for one in (of, low, high)):
        return write(of, low, high)
    return arrays.mapped(write, [of, low, high], made_as(type_, "clip"))


FUNCTIONS: dict[Any, Write] = {
    **REDUCTIONS,
    **{prefix: filled(prefix) for prefix in PREFIXES},
    **{f"{prefix}_like": filled_like(prefix) for prefix in PREFIXES},
    zeros_like: filled_like("zeros", of_numbers=True),
    "full": full, "full_like": full_like, "broadcast_to": broadcast,
    **dict.fromkeys(("matmul", "dot"), product), "outer": outer, crossed: vector_product,
    **dict.fromkeys(("astype", "float32", "float64"), converted),
    "copy": copied, own: copied, copy_as_laid_out: copied, "array": array_of, "asarray": as_array,
    "eye": eye, "tril": triangle("<="), "triu": triangle(">="), "diagonal": diagonal,
    "diag": diag, "arange": counted, "linspace": spaced, "transpose": transposed,
    "swapaxes": swapped, "expand_dims": expanded, "reshape": reshaped,
    "ravel": flattened, "diff": differences, "clip": clipped, "roll": rolled,
    "concatenate": joined, concatenate_adjoint: cut_apart, "stack": stacked,
    "vstack": stacked_by("vstack", 0, 0), "hstack": stacked_by("hstack", None, 1),
    "column_stack": stacked_by("column_stack", 1, 1), hstack_adjoint: cut_apart_beside,
}
"""What is written for functions that make arrays or reduce them, by what they mean."""

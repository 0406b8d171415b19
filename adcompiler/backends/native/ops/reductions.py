"""Sums, means, extremes and their places over all of an array or along axes of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, SINGLE, Apply, Assign, Binary, Choose, Element, Expr, Name, Number,
)
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.backends.native.values import (
    LENGTH, WIDE, Args, Buffer, Declined, Fused, Kept, Known, Named, Num, Rows, Several, Value,
)
from adcompiler.backends.native.writer import Writer, as_double, single
from adcompiler.ir import types as t

ZERO, ONE = Number(0), Number(1)
NONE = Known(None)


def options(name: str, args: Args, named: Named, wanted: str) -> list[Any]:
    """Return the arguments of a library function by their names; None where one is left out."""
    names = wanted.split()
    if len(args) > len(names) or set(named) - set(names[len(args) :]):
        raise Declined(f"`{name}` with options")
    return [*args, *(named.get(one, NONE) for one in names[len(args) :])]


def known(value: Value, default: Any = None) -> Any:
    """Return an option that is known when compiling."""
    if isinstance(value, Known):
        return default if value.value is None else value.value
    if isinstance(value, Num) and isinstance(value.expr, Number):
        return value.expr.value
    if isinstance(value, Several):
        return tuple(map(known, value.items))
    raise Declined("an option that is not known when compiling")


def axes_of(of: Buffer, axis: Known | Num) -> tuple[int, ...]:
    """Return the axes that an option ``axis`` names; Declined unless they are neighbours."""
    given = known(axis)
    if given is None:
        return tuple(range(of.ndim))
    axes = given if isinstance(given, tuple) else (given,)
    if not all(type(one) is int and -of.ndim <= one < of.ndim for one in axes):
        raise Declined("an axis that an array does not have")
    found = sorted({one % of.ndim for one in axes})
    if len(found) < len(axes) or not found or found[-1] - found[0] != len(found) - 1:
        raise Declined("axes that are not neighbours")
    return tuple(found)


def along(
    arrays: Arrays, helper: str, of: Buffer, axes: tuple[int, ...], keepdims: bool, dtype: str
) -> Buffer:
    """Return what a helper makes of an array along axes."""
    shape = of.shape
    first, after = axes[0], axes[-1] + 1
    numbers = tuple(
        arrays.size(part) for part in (shape[:first], shape[first:after], shape[after:])
    )
    kept = [ONE] * len(axes) if keepdims else []
    return arrays.helped(helper, of, numbers, dtype, (*shape[:first], *kept, *shape[after:]))


def array(value: Value, name: str) -> Buffer:
    """Return an operand that is an array."""
    if not isinstance(value, Buffer) or not value.ndim:
        raise Declined(f"`{name}` of what is no array")
    return value


def first_element(arrays: Arrays, of: Buffer, bound: int = WIDE) -> Num:
    """Return the only element of an array."""
    name = arrays.w.assign(arrays.hint, Element(of.name, (ZERO,) * of.ndim))
    return Num(name, of.dtype, bound)


SUMS = {FLOAT: ("sums_along", FLOAT), SINGLE: ("short_sums_along", SINGLE)}
"""The helpers that add along an axis, and the dtypes of what they give; integers have another."""


def total(arrays: Arrays, of: Buffer, axes: tuple[int, ...], keepdims: bool) -> Any:
    """Return sums along axes."""
    if len(axes) == of.ndim and not keepdims:
        return arrays.total(of)
    helper, dtype = SUMS.get(of.dtype, ("whole_sums_along", INT))
    return along(arrays, helper, of, axes, keepdims, dtype)


def sums(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.sum``."""
    of, axis, keepdims = options("sum", args, named, "a axis keepdims")
    of = array(of, "sum")
    return total(arrays, of, axes_of(of, axis), bool(known(keepdims)))


def count(arrays: Arrays, of: Buffer, axes: tuple[int, ...]) -> Num:
    """Return how many elements go into each mean; none is left to Python."""
    size = arrays.size([of.shape[axis] for axis in axes])
    arrays.w.leave_if(Binary("<=", size, ZERO))
    return Num(Apply("float", (size,)), FLOAT)


def divided(arrays: Arrays, sums_: Buffer | Num, by: Num) -> Any:
    """Return sums, each divided by a number."""
    if sums_.dtype == SINGLE:
        by = single(arrays.w, by)

    def write(item: Num, number: Num) -> Num:
        found = Num(Binary("/", item.expr, number.expr), FLOAT)
        return single(arrays.w, found) if item.dtype == SINGLE else found

    if isinstance(sums_, Num):
        return write(sums_, by)
    return arrays.mapped(write, [sums_, by], sums_.dtype)


def floats(of: Buffer, name: str, short: bool = False) -> Buffer:
    """Return an operand that is an array of floats, ``short`` ones too."""
    given = array(of, name)
    if given.dtype != FLOAT and not (short and given.dtype == SINGLE):
        raise Declined(f"`{name}` of an array of {given.dtype}")
    return given


def means(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.mean``."""
    of, axis, keepdims = options("mean", args, named, "a axis keepdims")
    of = floats(of, "mean", short=True)
    axes = axes_of(of, axis)
    number = count(arrays, of, axes)
    return divided(arrays, total(arrays, of, axes, bool(known(keepdims))), number)


def variances(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.var``: the mean of the squares of what is above the mean."""
    of, axis, ddof, keepdims = options("var", args, named, "a axis ddof keepdims")
    of = floats(of, "var")
    axes, less = axes_of(of, axis), known(ddof, 0)
    if type(less) is not int or less < 0:
        raise Declined("`var` with options")
    number = count(arrays, of, axes)
    mean = divided(arrays, total(arrays, of, axes, True), number)

    def square(item: Num, middle: Num) -> Num:
        above = arrays.w.assign("above", Binary("-", item.expr, middle.expr))
        return Num(Binary("*", above, above), FLOAT)

    squares = arrays.mapped(square, [of, mean], FLOAT)
    if less:
        number = Num(arrays.w.assign("count", Binary("-", number.expr, Number(float(less)))), FLOAT)
        arrays.w.leave_if(Binary("<=", number.expr, Number(0.0)))
    return divided(arrays, total(arrays, squares, axes, bool(known(keepdims))), number)


def deviations(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.std``."""
    squared = variances(arrays, args, named, type_)
    if isinstance(squared, Num):
        return TABLE["sqrt"](arrays.w, squared)
    return arrays.mapped(functools.partial(TABLE["sqrt"], arrays.w), [squared], FLOAT)


def extremes(helper: str) -> Callable[..., Any]:
    """Return what writes ``np.max`` or ``np.min``."""

    def write(arrays: Arrays, args: list[Buffer], named: Named, type_: t.Type) -> Any:
        of, axis, keepdims = options(helper, args, named, "a axis keepdims")
        of = array(of, helper)
        if of.dtype == BOOL:
            raise Declined("the largest of truth values")
        axes = axes_of(of, axis)
        nothing_left(arrays, of, axes)
        if len(axes) == of.ndim and not known(keepdims):
            return first_element(arrays, along(arrays, helper, of, axes, True, of.dtype))
        return along(arrays, helper, of, axes, bool(known(keepdims)), of.dtype)

    return write


def nothing_left(arrays: Arrays, of: Buffer, axes: tuple[int, ...]) -> None:
    """Leave extremes of nothing to Python."""
    arrays.w.leave_if(Binary("<=", arrays.size([of.shape[axis] for axis in axes]), ZERO))


def places(helper: str) -> Callable[..., Any]:
    """Return what writes ``np.argmax`` or ``np.argmin``."""

    def write(arrays: Arrays, args: list[Buffer], named: Named, type_: t.Type) -> Any:
        of, axis = options(helper, args, named, "a axis")
        of = floats(of, helper, short=True)
        axes = axes_of(of, axis)
        nothing_left(arrays, of, axes)
        if len(axes) == of.ndim:
            found = along(arrays, helper, of, axes, True, INT)
            return first_element(arrays, found, LENGTH)
        return along(arrays, helper, of, axes, False, INT)

    return write


def tests(name: str) -> Callable[..., Any]:
    """Return what writes ``np.all`` or ``np.any`` of all elements."""

    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        (of,) = options(name, args, named, "a")
        of = array(of, name)
        w = arrays.w
        found = w.fresh(arrays.hint)
        w.write(Assign(found, Number(name == "all")))
        with w.over(of.shape) as at:
            item = TABLE[bool](w, Num(Element(of.name, at), of.dtype)).expr
            w.write(Assign(found, Binary("and" if name == "all" else "or", Name(found), item)))
        return Num(Name(found), BOOL)

    return write


def counts(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.count_nonzero``."""
    of, axis, keepdims = options("count_nonzero", args, named, "a axis keepdims")
    of = array(of, "count_nonzero")
    if of.dtype != BOOL:
        of = arrays.mapped(functools.partial(TABLE[bool], arrays.w), [of], BOOL)
    axes = axes_of(of, axis)
    found = total(arrays, of, axes, bool(known(keepdims)))
    return Num(found.expr, INT, LENGTH) if isinstance(found, Num) else found


def running(sign: str, start: Expr) -> Callable[..., Any]:
    """Return what writes ``np.cumsum`` or ``np.cumprod`` of an array of one axis."""

    def write(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        of, axis = options("cumsum", args, named, "a axis")
        of = floats(of, "cumsum")
        if of.ndim != 1 or known(axis) not in (None, 0, -1):
            raise Declined("running sums along an axis")
        w = arrays.w
        new = arrays.new(of.shape, FLOAT, None)
        name = w.fresh("running")
        w.write(Assign(name, start))
        with w.over(of.shape) as (at,):
            item = Element(of.name, (at,))
            value: Expr = Binary(sign, Name(name), item)
            w.write(Assign(name, Choose(Binary("==", at, ZERO), item, value)))
            w.store(new, (at,), Num(Name(name), FLOAT), adds=False)
        return new

    return write


def norms(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
    """Write ``np.linalg.norm``: the root of the sum of the squares, added in order."""
    (of,) = options("norm", args, named, "x")
    of = floats(of, "norm")
    w = arrays.w
    name = w.fresh("squares")
    w.write(Assign(name, Number(0.0)))
    with w.over(of.shape) as at:
        item = w.assign("item", Element(of.name, at))
        w.write(Assign(name, Binary("+", Name(name), Binary("*", item, item))))
    return TABLE["sqrt"](w, Num(Name(name), FLOAT))


def or_number(write: Callable[..., Any]) -> Callable[..., Any]:
    """Return what writes a reduction that gives a number as it is."""

    def written(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Any:
        if len(args) == 1 and not named and isinstance(args[0], Num) and (
            args[0].dtype in (FLOAT, SINGLE)
        ):
            return args[0]
        return write(arrays, args, named, type_)

    return written


REDUCTIONS: dict[Any, Callable[..., Any]] = {
    "sum": or_number(sums), "mean": or_number(means), "var": variances, "std": deviations,
    "max": or_number(extremes("max_along")), "min": or_number(extremes("min_along")),
    "argmax": places("place_of_max_along"), "argmin": places("place_of_min_along"),
    "all": tests("all"), "any": tests("any"), "count_nonzero": counts,
    "cumsum": running("+", Number(0.0)), "cumprod": running("*", Number(1.0)),
    "norm": norms,
}
"""What is written for functions that reduce arrays, by what they mean."""


def unstretched(low: Context, g: Any, shape: Any) -> Any:
    """Write ``unbroadcast``: sums over the axes that are known to have been stretched."""
    arrays: Arrays = low.arrays
    if not isinstance(shape, Several):
        raise Declined("a cotangent is summed to a shape that is not known")
    lengths = [length.expr for length in shape.items]
    if isinstance(g, Num) and g.dtype == SINGLE and lengths:
        return arrays.new(lengths, SINGLE, g)
    if isinstance(g, Num):
        return arrays.new(lengths, FLOAT, low.w.as_float(g)) if lengths else g
    if not isinstance(g, Buffer) or g.ndim < len(lengths) or g.dtype not in (FLOAT, SINGLE):
        raise Declined("a cotangent is summed over axes")
    extra = g.ndim - len(lengths)
    if extra:
        g = total(arrays, g, tuple(range(extra)), False)
        if isinstance(g, Num):
            return g
    stretched = [
        axis for axis, (mine, wanted) in enumerate(zip(g.shape, lengths, strict=True))
        if wanted == ONE and mine != ONE
    ]
    if stretched:
        if stretched[-1] - stretched[0] != len(stretched) - 1:
            raise Declined("a cotangent is summed over axes that are not neighbours")
        g = total(arrays, g, tuple(stretched), True)
    arrays.agree(g, lengths)
    return g


def projected(low: Context, g: Any, of: Any) -> Any:
    """Write ``project``: a cotangent in the shape of what it belongs to."""
    if isinstance(of, Num):
        if isinstance(g, Buffer):
            g = low.arrays.total(g)
        return {SINGLE: single, FLOAT: as_double}.get(of.dtype, Writer.as_float)(low.w, g)
    if isinstance(of, (Rows, Kept)) and isinstance(g, Buffer) and g.ndim == 1:
        low.arrays.agree(g, (of.length,))
        return low.arrays.copy(g)  # a list of floats, of which elements are read
    dtypes = {getattr(one, "dtype", None) for one in (of, g)}
    if isinstance(of, Buffer) and (of.dtype == FLOAT or SINGLE in dtypes) and (
        dtypes == {SINGLE} or SINGLE not in dtypes
    ):
        return unstretched(low, g, Several(tuple(Num(one, INT, LENGTH) for one in of.shape)))
    raise Declined("a cotangent of what is no number or array")


def seeded(low: Context, value: Buffer | Fused | Num, *_: Any) -> Any:
    """Write ``seed``: 1 for a number, for an array of one element, else what Python raises."""
    if isinstance(value, Num) and value.dtype != BOOL:
        return Num(Number(1.0), FLOAT)
    if isinstance(value, Buffer) and value.dtype in (FLOAT, SINGLE):
        size = functools.reduce(lambda a, b: Binary("*", a, b), value.shape)
        low.w.leave_if(Binary("!=", size, ONE))
        return low.arrays.new(value.shape, value.dtype, Num(Number(1.0), FLOAT))
    raise Declined("a result that is neither a number nor an array of floats")

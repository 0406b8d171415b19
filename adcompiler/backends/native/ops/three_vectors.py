"""Products of vectors of three components."""

from __future__ import annotations


from adcompiler.backends.native.loops import FLOAT, Binary, Element, Expr, Number, Store
from adcompiler.backends.native.ops.arrays import Arrays
from adcompiler.backends.native.ops.reductions import options
from adcompiler.backends.native.values import Args, Buffer, Declined, Named
from adcompiler.ir import types as t


def vector_product(arrays: Arrays, args: Args, named: Named, type_: t.Type) -> Buffer:
    """Write ``np.cross`` of arrays of vectors of three components, of one shape or one vector."""
    a, b = options("crossed", args, named, "a b")
    if not all(isinstance(one, Buffer) and one.dtype == FLOAT and one.ndim for one in (a, b)):
        raise Declined("`cross` of what are no arrays of floats")
    w, longer = arrays.w, a if a.ndim >= b.ndim else b
    if min(a.ndim, b.ndim) not in (1, longer.ndim):
        raise Declined("`cross` of arrays of different numbers of axes")
    for one in (a, b):
        if one.ndim == longer.ndim:
            arrays.agree(one, (*longer.shape[:-1], Number(3)))
        elif one.shape[-1] != Number(3):
            w.leave_if(Binary("!=", one.shape[-1], Number(3)))
    new: Buffer = arrays.new((*longer.shape[:-1], Number(3)), FLOAT, None)

    def components(places: tuple[Expr, ...]) -> None:
        x, y = ([
            w.assign("item", Element(one.name, (*places[: one.ndim - 1], Number(k))))
            for k in range(3)
        ] for one in (a, b))
        for k, i, j in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            w.write(Store(new.name, (*places, Number(k)), Binary(
                "-", Binary("*", x[i], y[j]), Binary("*", x[j], y[i]))))

    if longer.ndim == 1:
        components(())
    else:
        with w.over(longer.shape[:-1]) as places:
            components(tuple(places))
    return new

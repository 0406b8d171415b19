"""Arrays of one number, stretched arrays, and shapes: computed from less, or not at all.

The cotangent of a sum is an array filled with one number. What uses it can mostly use the number.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Call, Const, Item, Rhs, Var
from adcompiler.ir.operators import SIGNS
from adcompiler.ops.facts import IN_C, REDUCED
from adcompiler.ops.queries import known, meaning
from adcompiler.optimise.values import Values, Written, arithmetic, plain, times
from adcompiler.runtime import add_at


class Spreads:
    """The rewrites of calls that make or reshape arrays; ``value`` writes arithmetic in front."""

    def __init__(self, values: Values, value: Written, last: bool) -> None:
        self.values, self.unit, self.value, self.last = values, values.unit, value, last

    def rewrite(self, call: Call) -> Rhs | Atom | None:
        """Return what replaces a call without keywords, None to leave it."""
        if isinstance(call.func, Const) and call.func.value is add_at:
            return self.scattered(call)
        match meaning(call), call.args:
            case ("broadcast_to", (_, _)):
                return self.stretched(call)
            case ("expand_dims", (x, axis)):
                return self.new_axis(plain(x), plain(axis))
            case ("sum", (x,)):
                return self.sum_of_equal(plain(x))
        return None

    # -- shapes --------------------------------------------------------------------------------

    def measure(self, target: Var, rhs: Attribute) -> Rhs:
        """(a + b).size -> a.size where a has the shape of the sum; sum(m, axis=1).size likewise."""
        closer = rhs
        while (found := self.metadata(target, closer)) is not None:
            closer = found
        return self.reduced_size(closer) or closer

    def metadata(self, target: Var, rhs: Attribute) -> Attribute | None:
        """Return the same attribute of an operand of the expression, if that must be equal."""
        if rhs.name not in ("shape", "size") or not isinstance(rhs.obj, Var):
            return None
        if target in self.unit.writes.checks:
            return None  # what is compared must not be rewritten by what the comparison shows
        closer = self.closer(rhs.obj)
        return None if closer is None else Attribute(closer, rhs.name)

    def reduced_size(self, rhs: Attribute) -> Item | None:
        """sum(m, axis=1).size -> m.shape[0] for a matrix m."""
        sized = rhs.obj if rhs.name == "size" and isinstance(rhs.obj, Var) else None
        call = self.values.calls.get(sized) if sized is not None else None
        if call is None or known(call).shape != REDUCED:
            return None
        kwargs = dict(call.kwargs)
        axis = kwargs.pop("axis", None)
        matrix = plain(call.args[0])
        type_ = self.unit.type(matrix)
        if kwargs or len(call.args) > 1 or not isinstance(axis, Const) or not (
            type(axis.value) is int and isinstance(type_, t.Array) and type_.ndim == 2
        ):
            return None
        shape = self.values.first("shape", Attribute(matrix, "shape"), t.Tuple((t.INT, t.INT)))
        return Item(shape, Const(1 - axis.value))

    def alike(self, call: Call) -> Call | None:
        """full_like(a + b, s) -> full_like(a, s) where a has the shape and dtype of the sum."""
        like = found = plain(call.args[0])
        while isinstance(found, Var):
            closer = self.closer(found, self.unit.type(found))
            if closer is None:
                break
            found = closer
        return None if found is like else Call(call.func, (found, *call.args[1:]))

    def closer(self, var: Var, type_: t.Type | None = None) -> Var | None:
        """Return an operand of the expression for a value that has its shape (and ``type_``).

        What a copy in C order is of may lie in memory in another way, and be somebody else's.
        """
        copy = self.values.made_by(var, "copy")
        if copy is not None and known(copy).order == IN_C:
            return None
        return self.unit.same_shape_operand(var, type_)

    def new_axis(self, x: Atom, axis: Atom) -> Item | None:
        """expand_dims(a, 1) -> a[:, newaxis], once nothing else is to be said of it."""
        type_ = self.unit.type(x)
        if not self.last or not isinstance(type_, t.Array) or not isinstance(axis, Const):
            return None
        if type(axis.value) is not int or not -type_.ndim - 1 <= axis.value <= type_.ndim:
            return None
        before = axis.value % (type_.ndim + 1)
        after: tuple[Any, ...] = (slice(None),) * (type_.ndim - before)
        if before == 0:
            after = (Ellipsis,) if type_.ndim else ()
        return Item(x, Const((*(slice(None),) * before, None, *after)))

    # -- one number ----------------------------------------------------------------------------

    def scattered(self, call: Call) -> Call | None:
        """a[i] += full_like(b, s) -> a[i] += s."""
        made = self.values.filled(call.args[2])
        if made is None or not isinstance(self.unit.type(plain(call.args[0])), t.Array):
            return None
        return Call(call.func, (*call.args[:2], made[1]))

    def stretched(self, call: Call) -> Call | None:
        """broadcast_to(expand_dims(full_like(a, s)), x.shape) -> full_like(x, s)."""
        source, shape = (plain(a) for a in call.args)
        while (made := self.values.made_by(source, "expand_dims")) is not None:
            source = plain(made.args[0])
        found = self.values.filled(source)
        target = self.unit.definition(shape)
        if found is None or not isinstance(target, Attribute) or target.name != "shape" or (
            not isinstance(self.unit.type(found[1]), t.Scalar)
        ):
            return None
        have, wanted = self.unit.type(found[0]), self.unit.type(target.obj)
        if isinstance(have, t.Array) and isinstance(wanted, t.Array) and have.dtype == wanted.dtype:
            return Call(Const(np.full_like), (target.obj, found[1]))
        return None

    def sum_of_equal(self, x: Atom) -> Call | None:
        """sum(full_like(a, c)) -> c * a.size for a constant c."""
        made = self.values.filled(x)
        if made is None or not self.values.sweep:
            return None
        like, fill = made
        type_ = self.unit.type(x)
        if not isinstance(fill, Const) or type(fill.value) is not float or not (
            isinstance(type_, t.Array) and type_.kind == "float"
        ):
            return None
        if not isinstance(self.unit.type(like), t.Array):
            return None  # a Python number has no size
        rhs = Attribute(like, "size")
        size = self.values.first("size", rhs, t.INT)
        while (closer := self.metadata(size, rhs)) is not None:
            rhs = closer
        self.values.pending[-1] = (size, rhs)
        return times(fill, size)

    def of_arrays(self, call: Call, function: Any, x: Atom, y: Atom) -> Rhs | Atom | None:
        """Return what replaces arithmetic with an array that is filled or stretched."""
        for position, (one, other) in enumerate(((x, y), (y, x))):
            small = self.number_for(one, other)
            if small is not None:
                return Call(call.func, (small, other) if position == 0 else (other, small))
            narrow = self.narrowed(call, one, other)
            if narrow is not None:
                return Call(call.func, (narrow, other) if position == 0 else (other, narrow))
        return self.scaled_fill(function, x, y)

    def narrowed(self, call: Call, one: Atom, other: Atom) -> Atom | None:
        """Return s * b for (full_like(a, s) * b) * c, where a and c have the shape of the result.
        """
        made = self.values.made_by(one, "multiply") if meaning(call) == "multiply" else None
        if made is None or not self.values.sweep or not self.values.read_once(one) or (
            self.unit.type(one) != self.unit.type(other) or not self.values.same_shape(one, other)
        ):
            return None
        for x, b in itertools.permutations(map(plain, made.args)):
            found = self.values.filled(x)
            part = self.unit.type(b)
            if found is None or not isinstance(part, t.Array) or not (
                self.values.same_shape(x, one) and self.values.keeps_dtype(found[1], part)
            ):
                continue
            return self.values.first("product", Call(made.func, (found[1], b)), part)
        return None

    def number_for(self, one: Atom, other: Atom) -> Atom | None:
        """Return what ``one`` may be replaced by in arithmetic with ``other``.

        full_like(a, s) * b -> s * b where b has the shape and dtype of a;
        broadcast_to(a, b.shape) * b -> a * b.
        """
        type_ = self.unit.type(other)
        if not isinstance(type_, t.Array):
            return None
        made = self.values.made_by(one, "broadcast_to")
        if made is not None and self.unit.type(one) == type_ and self.values.same_shape(one, other):
            return plain(made.args[0])
        found = self.values.filled(one)
        if found is None or getattr(self.unit.type(one), "dtype", None) != type_.dtype:
            return None
        like, fill = found
        return fill if self.fits(fill, type_) and self.values.same_shape(like, other) else None

    def fits(self, fill: Atom, array: t.Type) -> bool:
        """Say whether a number, row or column has the dtype of an array that it fills."""
        part = self.unit.type(fill)
        return self.values.keeps_dtype(fill, array) or (
            isinstance(part, t.Array) and isinstance(array, t.Array) and part.dtype == array.dtype)

    def scaled_fill(self, function: Callable[..., Any], x: Atom, y: Atom) -> Call | None:
        """full_like(a, s) * c -> full_like(a, s * c), and likewise for quotients, c a number."""
        sign = SIGNS[function]
        if sign == "*" and self.values.filled(x) is None:
            x, y = y, x
        found = self.values.filled(x)
        if sign not in "*/" or found is None:
            return None
        like, fill = found
        type_ = self.unit.type(x)
        if not (self.values.keeps_dtype(y, type_) and self.fits(fill, type_)):
            return None
        return Call(Const(np.full_like), (like, self.value(arithmetic(function, fill, y))))

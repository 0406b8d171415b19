"""Numbers of float32: computed with in float64, and rounded once after each operation.

A sum, product, quotient or root of numbers of float32 that is rounded to float64 and then to
float32 is what rounding once gives [Figueroa, When is double rounding innocuous?, 1995]: float64
has more than twice the digits. Compilers know that too, and compute in float32. Functions such as
`exp` are rounded from float64, where NumPy has ones of float32 that are wrong in the last bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from adcompiler.backends.native.loops import (
    BOOL, EITHER, FLOAT, KINDS, NAUGHT, SHORT, SINGLE, Apply, Number,
)
from adcompiler.backends.native.ops.scalars import (
    C_FUNCTIONS, COMPARISONS, OF_EACH, TABLE, as_truth, negation,
)
from adcompiler.backends.native.values import Buffer, Declined, Fused, Key, Num, Several
from adcompiler.backends.native.writer import Writer, as_double, single
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Var
from adcompiler.runtime import stays_real
from adcompiler.runtime.adjoints.masked import masked_product, masked_quotient, zero_product
from adcompiler.typed.unit import Unit

ONCE = frozenset({
    "add", "subtract", "multiply", "divide", "negative", "positive", "absolute", "square", "where",
    "minimum", "maximum", "sign", "floor", "ceil", "rint", "trunc", "conjugate", "real", "sqrt",
    "copysign", stays_real, masked_product, masked_quotient, zero_product,
})
"""What is rounded once: the same bits as NumPy's."""
FINITE = frozenset({*C_FUNCTIONS, "power", "cube", "logaddexp", "float_power"})
"""What is rounded from float64, and left to Python where it is not finite."""
EXACT = frozenset({
    *COMPARISONS, "isfinite", "isnan", "logical_not", "int_floor", "int_ceil", bool, int, float,
})
"""What gives no short float: of comparisons both operands are of one precision."""
OF_ZERO = frozenset({
    "multiply", "divide", "negative", masked_product, masked_quotient, zero_product,
})
"""What gives zero of zero, whether that is a short float yet or Python's own."""
BY_VALUE = np.lib.NumpyVersion(np.__version__) < "2.0.0b1"
STEPS = FINITE - {"sqrt"}
"""What is computed in several steps, all of them of float64."""


def dtype_of(type_: t.Scalar) -> str | None:
    """Return the machine type of numbers of a type; None if there is none."""
    dtypes = {dtype for _, dtype in type_.classes}
    if type_.kind == "float" and SINGLE in dtypes:
        return SINGLE if dtypes == {SINGLE} else EITHER
    return KINDS.get(type_.kind)


def short_of(type_: t.Type, *given: Any) -> str | None:
    """Return the machine type of a number that short floats and zeros of Python's are assigned to.

    Sums begin as such zeros, and so do cotangents and tangents. None if it is no such number.
    """
    numbers = [one for one in given if isinstance(one, Num)]
    dtypes = {NAUGHT if is_naught(one) else one.dtype for one in numbers}
    is_short = isinstance(type_, t.Scalar) and (dtype_of(type_) in SHORT or (
        type_ == t.FLOAT and any(one.dtype in SHORT for one in numbers)))
    return NAUGHT if is_short and NAUGHT in dtypes <= {SINGLE, NAUGHT} else None


def is_naught(value: Buffer | Num) -> bool:
    """Say whether a value is a literal zero of Python's."""
    return isinstance(value, Num) and value.expr == Number(0.0) and value.dtype == FLOAT


def concerns(given: Sequence[Buffer | Fused | Num | Several]) -> bool:
    """Say whether short floats are among operands."""
    return any(
        isinstance(one, (Num, Buffer, Fused)) and one.dtype in SHORT for one in given)


def check_precisions(unit: Unit, read: Iterable[Var]) -> None:
    """Raise Declined for derivatives that read numbers of several precisions of NumPy's.

    Where a cotangent is a literal zero at first, its type does not tell what it is: a number of
    Python's takes the precision of what it meets, and there may be only one such.
    """
    dtypes = set[str | None]()
    for type_ in map(unit.type, read):
        if isinstance(type_, t.Array):
            dtypes.add(type_.dtype)
        elif isinstance(type_, t.Scalar):
            dtypes.update(dtype for _, dtype in type_.classes)
    if SINGLE in dtypes and BY_VALUE:
        raise Declined("numbers of float32, of which NumPy 1 finds the precision by value")
    if not unit.settings.as_it_is and {SINGLE, FLOAT} <= dtypes:
        raise Declined("a derivative of what computes with float32 and with float64")


def computed_in(
    w: Writer, key: Key, function: Key, types: Sequence[t.Type],
    type_: t.Type | None, of_each: bool = False
) -> Callable[..., Num]:
    """Return what writes a function of ``TABLE`` of short floats and others.

    ``types`` are those of the operands, ``type_`` is that of the result: they tell the precision
    that NumPy computes in. Without that type there are no numbers of NumPy's but short floats.
    Raises Declined where the precision is not known.
    """
    write = OF_EACH.get(key, TABLE[key]) if of_each else TABLE[key]
    is_exact = key in EXACT or write in (as_truth, negation)
    if not is_exact and key not in ONCE and key not in FINITE:
        name = key if isinstance(key, str) else getattr(key, "__name__", str(key))
        raise Declined(f"`{name}` of float32")
    precision = SINGLE
    if getattr(function, "__module__", "") == "math" or key in (int, float):
        precision = FLOAT
    elif type_ is not None and any(map(is_strong, types)):
        precision = common(types) if is_exact else result_of(type_)

    def rounded(*items: Num) -> Num:
        if precision == FLOAT:
            items = tuple(one if one.dtype == BOOL else as_double(w, one) for one in items)
        else:
            found = dtype_with(key, {one.dtype for one in items})
            items = tuple(operand(w, one, key in STEPS) for one in items)
        made: Num = write(w, *items)
        if precision == FLOAT or is_exact:
            return made
        short = single(w, made).expr
        return Num(w.finite("short", short).expr if key in FINITE else short, found)

    return rounded


def dtype_with(key: Key, dtypes: set[str]) -> str:
    """Return the machine type of a result of operands that are short floats, or Python's numbers.

    What is Python's takes the precision of a short float that it meets. Where a number may be
    either, and meets none, there is no telling; zero is zero in both.
    """
    if SINGLE in dtypes:
        return SINGLE
    if EITHER in dtypes or key not in OF_ZERO:
        raise Declined("an operation of float32 that gives a number of a precision not known")
    return NAUGHT


def operand(w: Writer, item: Num, in_steps: bool) -> Num:
    """Return an operand as it counts in an operation of short floats."""
    if item.dtype == BOOL:
        return item
    expr = single(w, item).expr
    if in_steps and not isinstance(expr, Number):
        expr = Apply("float", (expr,))
    return Num(expr, FLOAT)


def result_of(type_: t.Type) -> str:
    """Return the precision of a result of an operation."""
    if isinstance(type_, t.Array):
        found: str | None = type_.dtype
    else:
        found = dtype_of(type_) if isinstance(type_, t.Scalar) else None
    if found not in (SINGLE, FLOAT):
        raise Declined(f"an operation of float32 that gives a {type_}")
    return found


def common(types: Sequence[t.Type]) -> str:
    """Return the precision in which NumPy compares numbers and arrays of these types."""
    found = np.result_type(*map(stand_in, types))
    if found not in (np.float32, np.float64):
        raise Declined(f"a comparison of {found}")
    return SINGLE if found == np.float32 else FLOAT


def stand_in(type_: t.Type) -> Any:
    """Return a number or an array of a type."""
    if isinstance(type_, t.Array):
        return np.ones((1,) * type_.ndim, type_.dtype)
    if not isinstance(type_, t.Scalar) or not type_.exact:
        raise Declined("a comparison of float32 with a number of a precision not known")
    return np.dtype(type_.dtype).type(1) if type_.dtype else {
        "bool": True, "int": 1, "float": 1.0, "complex": 1j}[type_.kind]


def refuse_short_floats(unit: Unit, where: str) -> None:
    """Raise Declined if anything that is computed is of float32."""
    if any(SINGLE in str(type_) for type_ in unit.types.values()):
        raise Declined(f"numbers of float32 {where}")


def is_strong(type_: t.Type) -> bool:
    """Say whether an operand keeps a precision of its own beside short floats."""
    dtypes = {type_.dtype} if isinstance(type_, t.Array) else {
        dtype for _, dtype in type_.classes} if isinstance(type_, t.Scalar) else set()
    return bool(dtypes - {None, SINGLE, "bool"})


def is_weak(type_: t.Type) -> bool:
    """Say whether a number takes the precision of a short float that it meets.

    It is Python's for sure, or will be a short float once it has met one.
    """
    return isinstance(type_, t.Scalar) and all(
        dtype in (None, SINGLE) for _, dtype in type_.classes)

"""Complex numbers, as two floats: the table of functions, and how each one is written.

All are computed in the steps of CPython, or of NumPy where an operand is NumPy's: they differ in
how they divide. What is not finite, or not here, is left to Python.
"""

from __future__ import annotations

import cmath
import functools
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.backends.native.context import Context
from adcompiler.backends.native.loops import (
    BOOL, FLOAT, Apply, Assign, Binary, Body, Choose, Expr, Name, Number, Unary, When,
)
from adcompiler.backends.native.ops.function_table import key_in
from adcompiler.backends.native.values import Complex, Declined, Num, number_parts, Value
from adcompiler.backends.native.writer import Writer
from adcompiler.ir import types as t
from adcompiler.runtime.adjoints.elementwise import phase

ZERO, ONE = Number(0.0), Number(1.0)
Pair = tuple[Expr, Expr]
LARGEST_POWER = 16
"""The largest exponent of which the products are written out."""


def pair(w: Writer, value: Value) -> Pair:
    """Return the parts of a number, which are named: a float is one without an imaginary part."""
    found = number_parts(value)
    if found is None:
        raise Declined("a complex number and what is no number")
    re, im = (w.as_float(part).expr for part in found)
    return w.named("re", re), w.named("im", im)


def made(w: Writer, re: Expr, im: Expr) -> Complex:
    """Return a complex number of which the parts are named."""
    return Complex(Num(w.named("re", re), FLOAT), Num(w.named("im", im), FLOAT))


def finite(w: Writer, *exprs: Expr) -> None:
    """Leave numbers to Python that are not finite."""
    for expr in exprs:
        w.leave_if(Unary("not", Apply("isfinite", (expr,))))


def times(a: Expr, b: Expr) -> Expr:
    """Return a product."""
    return Binary("*", a, b)


def product(w: Writer, a: Pair, b: Pair) -> Pair:
    """Write ``a * b``."""
    re = w.assign("re", Binary("-", times(a[0], b[0]), times(a[1], b[1])))
    im = w.assign("im", Binary("+", times(a[0], b[1]), times(a[1], b[0])))
    finite(w, re, im)  # of a float that stands for a complex number Python may have another one
    return re, im


def quotient(w: Writer, a: Pair, b: Pair, of_numpy: bool) -> Pair:
    """Write ``a / b``: the part of ``b`` that is larger in size divides the other one."""
    finite(w, *b)
    w.leave_if(Binary("and", Binary("==", b[0], ZERO), Binary("==", b[1], ZERO)))
    re, im = w.fresh("re"), w.fresh("im")

    def arm(large: Expr, small: Expr, turned: bool) -> Body:
        with w.inside(Body()) as body:
            ratio = w.assign("ratio", Binary("/", small, large))
            size = w.assign("size", Binary("+", large, times(small, ratio)))
            if turned:
                tops = (Binary("+", times(a[0], ratio), a[1]),
                        Binary("-", times(a[1], ratio), a[0]))
            else:
                tops = (Binary("+", a[0], times(a[1], ratio)),
                        Binary("-", a[1], times(a[0], ratio)))
            if of_numpy:
                scale = w.assign("scale", Binary("/", ONE, size))
            for name, top in zip((re, im), tops, strict=True):
                w.write(Assign(name, times(top, scale) if of_numpy else Binary("/", top, size)))
        return body

    w.write(When(Binary(">=", Apply("fabs", (b[0],)), Apply("fabs", (b[1],))),
                 arm(b[0], b[1], False), arm(b[1], b[0], True)))
    return Name(re), Name(im)


def size_of(w: Writer, a: Pair) -> Expr:
    """Write ``abs(a)``."""
    return w.finite("size", Apply("np.hypot", a)).expr


def power(w: Writer, a: Pair, exponent: Any, of_numpy: bool) -> Pair:
    """Write ``a ** exponent``, of a small integer that is known."""
    number = exponent.expr.value if isinstance(exponent, Num) and isinstance(
        exponent.expr, Number) else None
    if not isinstance(number, (int, float)) or number != int(number) or not (
        2 <= number <= (3 if of_numpy else LARGEST_POWER)
    ):
        raise Declined("a power of a complex number")
    found: Pair = (ONE, ZERO)
    if of_numpy:
        found = product(w, a, a)
        return found if number == 2 else product(w, a, found)
    factor, bit = a, 1
    while bit <= number:
        factor = product(w, factor, factor) if bit > 1 else factor
        found = product(w, found, factor) if int(number) & bit else found
        bit *= 2
    return found


def conjugate(w: Writer, a: Pair) -> Pair:
    """Write ``a.conjugate()``."""
    return a[0], Unary("-", a[1])


def exponential(w: Writer, a: Pair) -> Pair:
    """Write ``cmath.exp(a)``."""
    finite(w, *a)
    w.leave_if(Binary(">", a[0], Number(700.0)))
    size = w.assign("size", Apply("exp", (a[0],)))
    return times(size, Apply("cos", (a[1],))), times(size, Apply("sin", (a[1],)))


def root(w: Writer, a: Pair) -> Pair:
    """Write ``cmath.sqrt(a)``; of numbers that are too small for CPython's steps it is Python's."""
    finite(w, *a)
    re, im = (w.assign("size", Apply("fabs", (part,))) for part in a)
    w.leave_if(Binary("and", Binary("<", re, Number(1e-300)), Binary("<", im, Number(1e-300))))
    eighth = w.assign("eighth", Binary("/", re, Number(8.0)))
    s = w.assign("root", times(Number(2.0), Apply("sqrt", (Binary(
        "+", eighth, Apply("np.hypot", (eighth, Binary("/", im, Number(8.0))))),))))
    d = w.assign("rest", Binary("/", im, times(Number(2.0), s)))
    right = Binary(">=", a[0], ZERO)
    return (Choose(right, s, d), Choose(
        right, Apply("copysign", (d, a[1])), Apply("copysign", (s, a[1]))))


def logarithm(w: Writer, a: Pair) -> Pair:
    """Write ``cmath.log(a)``; near the ends of what floats are it is Python's."""
    finite(w, *a)
    re, im = (w.assign("size", Apply("fabs", (part,))) for part in a)
    most = w.assign("most", Choose(Binary(">", re, im), re, im))
    least = w.assign("least", Choose(Binary(">", re, im), im, re))
    w.leave_if(Binary("or", Binary("<", most, Number(1e-300)), Binary(">", most, Number(1e300))))
    size = w.assign("size", Apply("np.hypot", (re, im)))
    near = Binary("and", Binary("<=", Number(0.71), size), Binary("<=", size, Number(1.73)))
    inside = Binary("+", times(Binary("-", most, ONE), Binary("+", most, ONE)),
                    times(least, least))
    return (Choose(near, Binary("/", Apply("log1p", (inside,)), Number(2.0)),
                   Apply("log", (size,))), Apply("atan2", (a[1], a[0])))


def as_complex(w: Writer, args: Sequence[Any]) -> Complex:
    """Write ``complex(re, im)`` or ``complex(z)``."""
    if any(isinstance(one, Complex) for one in args) and len(args) > 1:
        raise Declined("a complex number of complex parts")
    if len(args) == 1 and isinstance(args[0], Complex):
        return args[0]
    given = [w.as_float(one) for one in args if isinstance(one, Num)]
    if len(given) < len(args):
        raise Declined("a complex number of what are no numbers")
    parts = [*given, Num(ZERO, FLOAT), Num(ZERO, FLOAT)]
    return made(w, parts[0].expr, parts[1].expr)


def as_phase(w: Writer, a: Pair) -> Pair:
    """Write ``phase``: a number divided by its size, as NumPy does."""
    size = size_of(w, a)
    size = w.assign("size", Choose(Binary("==", size, ZERO), ONE, size))
    return quotient(w, a, (size, ZERO), True)


def angle(w: Writer, a: Pair) -> Expr:
    """Write ``cmath.phase(a)``; ``np.angle`` has steps of its own."""
    finite(w, *a)
    return Apply("atan2", (a[1], a[0]))


ONE_PART: dict[Any, Callable[[Writer, Pair], Expr]] = {
    "real": lambda w, a: a[0], "imag": lambda w, a: a[1], np.imag: lambda w, a: a[1],
    "absolute": size_of, cmath.phase: angle,
}
OF_ONE: dict[Any, Callable[[Writer, Pair], Pair]] = {
    "negative": lambda w, a: (Unary("-", a[0]), Unary("-", a[1])), "positive": lambda w, a: a,
    "conjugate": conjugate, complex.conjugate: conjugate, phase: as_phase,
    cmath.exp: exponential, cmath.sqrt: root, cmath.log: logarithm,
}
"""Those of ``cmath`` are computed in CPython's steps; NumPy's are others."""
OF_TWO: dict[Any, Callable[[Writer, Pair, Pair], Pair]] = {
    "add": lambda w, a, b: (Binary("+", a[0], b[0]), Binary("+", a[1], b[1])),
    "subtract": lambda w, a, b: (Binary("-", a[0], b[0]), Binary("-", a[1], b[1])),
    "multiply": product,
}
COMPLEX = dict.fromkeys((
    *ONE_PART, *OF_ONE, *OF_TWO, "divide", "power", "equal", "not_equal", complex, np.complex128))
"""What there is for complex numbers, by what it means, or itself."""


def of_complex(
    low: Context, function: Any, types: Sequence[t.Type], given: Sequence[Any], kwargs: Any
) -> Complex | Num:
    """Return the value of a call that takes or gives complex numbers; ``types`` are the operands'.
    """
    w, key = low.w, key_in(COMPLEX, function)
    if key is None or kwargs:
        raise Declined(f"`{getattr(function, '__name__', function)}` of complex numbers")
    for one in types:
        dtypes_of(one)
    if not rounds_each():
        raise Declined("complex numbers, which this Python rounds in another way")
    if key in (complex, np.complex128):
        return as_complex(w, given)
    if key == "power":
        return made(w, *power(w, pair(w, given[0]), given[1], are_numpy(types)))
    operands: list[Any] = [pair(w, one) for one in given]
    if key == "absolute" and getattr(function, "__module__", "") != "builtins":
        raise Declined("the size of a complex number, which NumPy computes in steps of its own")
    if key in ONE_PART:
        return Num(w.named("part", ONE_PART[key](w, *operands)), FLOAT)
    if key in OF_ONE:
        return made(w, *OF_ONE[key](w, *operands))
    if key in OF_TWO:
        return made(w, *OF_TWO[key](w, *operands))
    if key == "divide":
        return made(w, *quotient(w, operands[0], operands[1], are_numpy(types)))
    assert key in ("equal", "not_equal")
    same = Binary("and", *(Binary("==", a, b) for a, b in zip(*operands, strict=True)))
    return Num(w.named("same", same if key == "equal" else Unary("not", same)), BOOL)


def are_numpy(types: Sequence[t.Type]) -> bool:
    """Say whether NumPy divides two numbers, or takes a power; Python does that in other steps.

    ``np.float64`` is a float: of a complex number of Python's and one Python takes it.
    """
    left, *others = map(dtypes_of, types)
    if left == {None} and all(other <= {None, "float64"} for other in others):
        return False
    kinds = [{dtype is None for dtype in dtypes_of(type_)} for type_ in types]
    if any(len(kind) > 1 for kind in kinds):
        raise Declined("a complex number that may be Python's or NumPy's")
    return {False} in kinds


def dtypes_of(type_: t.Type) -> set[str | None]:
    """Return the dtypes that a number may have, None for one of Python's."""
    dtypes: set[str | None] = {"?"}
    if isinstance(type_, t.Scalar):
        dtypes = {dtype for _, dtype in type_.classes}
    if not dtypes <= {None, "complex128", "float64", "int64", "bool"}:
        raise Declined(f"complex numbers and a {type_}")
    return dtypes


def is_nonzero(value: Complex) -> Num:
    """Return whether a number is true."""
    return Num(Binary("or", *(Binary("!=", part.expr, ZERO) for part in (value.re, value.im))),
               BOOL)


@functools.cache
def rounds_each() -> bool:
    """Say whether Python rounds each product in one of complex numbers, and then the sum.

    Some C compilers round the sum of a product and a number once.
    """
    number = random.Random(0).random
    samples = [[number() - 0.5 for _ in range(4)] for _ in range(64)]
    return all(
        complex(a, b) * complex(c, d) == complex(a * c - b * d, a * d + b * c)
        for a, b, c, d in samples)


__all__ = ["COMPLEX", "is_nonzero", "of_complex"]

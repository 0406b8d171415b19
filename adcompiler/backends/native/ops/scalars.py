"""What the loop IR does with functions of numbers: the table, and how each one is written.

A function that is not here stays in Python. Where Python would raise, warn of a division by zero,
or return a number that machines do not have, a check in front leaves the call to Python.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from adcompiler.backends.native.loops import (
    BOOL, FLOAT, INT, Apply, Binary, Choose, Expr, Number, Unary,
)
from adcompiler.backends.native.values import EXACT, WIDE, Declined, Num, Several
from adcompiler.backends.native.writer import Raising, Writer
from adcompiler.runtime import stays_real
from adcompiler.runtime.adjoints.masked import masked_product, masked_quotient, zero_product
from adcompiler.runtime.adjoints.sequences import share

ONE = Number(1.0)
SQUARE_ROOT_OF_WIDE = 2**31

COMPARISONS = {
    "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==",
    "not_equal": "!=",
}
C_FUNCTIONS: dict[str, str] = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "arctan2": "atan2", "float_power": "pow",
    **{name: name for name in (
        "sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log1p", "log2",
        "log10", "sqrt", "copysign", "hypot", "erf", "erfc", "gamma", "lgamma",
    )},
}
"""Functions of the C library, by what calls them mean."""
NOTHING = Raising()
OF_MATH = {
    **{name: Raising(outside=(("<=", 0.0),)) for name in ("log", "log2", "log10")},
    "log1p": Raising(outside=(("<=", -1.0),)), "sqrt": Raising(outside=(("<", 0.0),)),
    **{name: Raising(outside=(("<", -1.0), (">", 1.0))) for name in ("arcsin", "arccos")},
    "arccosh": Raising(outside=(("<", 1.0),)),
    "arctanh": Raising(outside=(("<=", -1.0), (">=", 1.0))),
    **{name: Raising(overflow=True) for name in ("exp", "expm1", "sinh", "cosh")},
}
"""What functions of ``math`` raise, by what they mean."""
TWO = ("atan2", "pow", "copysign", "hypot")


def arithmetic(sign: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``+`` or ``-``."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        a, b = numbers(a, b)
        if a.dtype == b.dtype == INT:
            if a.bound + b.bound >= WIDE:
                a, b = w.narrowed(a, WIDE // 4), w.narrowed(b, WIDE // 4)
            return Num(Binary(sign, a.expr, b.expr), INT, a.bound + b.bound)
        return Num(Binary(sign, w.as_float(a).expr, w.as_float(b).expr), FLOAT)

    return write


def product(w: Writer, a: Num, b: Num) -> Num:
    """Write ``a * b``."""
    a, b = numbers(a, b)
    if a.dtype == b.dtype == INT:
        if a.bound * b.bound >= WIDE:
            if min(a.bound, b.bound) < SQUARE_ROOT_OF_WIDE:
                most = (WIDE - 1) // max(min(a.bound, b.bound), 1)
            else:
                most = SQUARE_ROOT_OF_WIDE
            a, b = w.narrowed(a, most), w.narrowed(b, most)
        return Num(Binary("*", a.expr, b.expr), INT, a.bound * b.bound)
    return Num(Binary("*", w.as_float(a).expr, w.as_float(b).expr), FLOAT)


def numbers(a: Num, b: Num) -> tuple[Num, Num]:
    """Return two operands of which one may be a truth value: that counts as 0 or 1."""
    if a.dtype == b.dtype == BOOL:
        raise Declined("truth values are used as numbers")
    return as_number(a, b.dtype), as_number(b, a.dtype)


def as_number(a: Num, other: str) -> Num:
    """Return a truth value as a number of another machine type; other numbers as they are."""
    if a.dtype != BOOL:
        return a
    if other == FLOAT:
        return Num(Choose(a.expr, Number(1.0), Number(0.0)), FLOAT)
    return Num(Choose(a.expr, Number(1), Number(0)), INT, 1)


def divisor(w: Writer, b: Num) -> Num:
    """Return a divisor that is not zero: Python raises, NumPy warns."""
    if isinstance(b.expr, Number) and b.expr.value != 0:
        return b
    named = Num(w.named("divisor", b.expr), b.dtype, b.bound)
    w.leave_if(Binary("==", named.expr, Number(0.0 if b.dtype == FLOAT else 0)),
               w.raising.zero)
    return named


def quotient(w: Writer, a: Num, b: Num) -> Num:
    """Write ``a / b``."""
    a, b = numbers(a, b)
    b = divisor(w, b)
    return Num(Binary("/", w.as_float(a).expr, w.as_float(b).expr), FLOAT)


def masked(write: Callable[..., Num], both: bool = False) -> Callable[..., Num]:
    """Return what writes a product or quotient that is 0 where its first operand is.

    Or where either of ``both`` is.
    """

    def masked_write(w: Writer, a: Num, b: Num) -> Num:
        a, b = (Num(w.named("factor", w.as_float(one).expr), FLOAT) for one in numbers(a, b))
        zero: Expr = Binary("==", a.expr, Number(0.0))
        if both:
            zero = Binary("or", zero, Binary("==", b.expr, Number(0.0)))
        return Num(Choose(zero, Number(0.0), write(w, a, b).expr), FLOAT)

    return masked_write


def floored(sign: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``//`` or ``%``."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        a, b = numbers(a, b)
        if not a.dtype == b.dtype == INT:
            return floored_floats(w, sign, w.as_float(a), w.as_float(divisor(w, b)))
        a, b = w.narrowed(a, WIDE - 1), divisor(w, w.narrowed(b, WIDE - 1))
        return Num(Binary(sign, a.expr, b.expr), INT, a.bound if sign == "//" else b.bound)

    return write


def floored_floats(w: Writer, sign: str, a: Num, b: Num) -> Num:
    """Write ``//`` or ``%`` of floats, in the steps of Python and NumPy: the same bits."""
    none = Number(0.0)
    over, by = w.named("value", a.expr), w.named("divisor", b.expr)
    rest = w.finite("rest", Apply("fmod", (over, by))).expr
    other_side = Binary("and", Binary("!=", rest, none), Binary(
        "!=", Binary("<", by, none), Binary("<", rest, none)))
    if sign == "%":
        moved = Choose(other_side, Binary("+", rest, by), rest)
        zero = Apply("copysign", (none, by))
        return Num(Choose(Binary("==", rest, none), zero, moved), FLOAT)
    whole = Binary("/", Binary("-", over, rest), by)
    ratio = w.assign("ratio", Choose(other_side, Binary("-", whole, ONE), whole))
    floor = w.assign("whole", Apply("np.floor", (ratio,)))
    above = Binary(">", Binary("-", ratio, floor), Number(0.5))
    zero = Apply("copysign", (none, Binary("/", over, by)))
    return Num(Choose(Binary("==", ratio, none), zero,
                      Choose(above, Binary("+", floor, ONE), floor)), FLOAT)


def power(w: Writer, a: Num, b: Num) -> Num:
    """Write ``a ** b``; where the result is not finite Python raises, or it is complex."""
    constant = b.expr.value if isinstance(b.expr, Number) else None
    if a.dtype == INT and b.dtype == INT:
        return whole_power(w, a, b)
    a, b = w.as_float(a), w.as_float(b)
    if constant == 1:
        return a
    if constant == 2:
        base = w.named("base", a.expr)
        return w.finite("square", Binary("*", base, base))
    return w.finite("power", Apply("pow", (a.expr, b.expr)))


def whole_power(w: Writer, a: Num, b: Num) -> Num:
    """Write ``a ** b`` of integers: small ones, and those of -1, 2, 4, 8."""
    match a.expr, b.expr:
        case _, Number(1 | 2 | 3 | 4 as times):
            base = Num(w.named("base", a.expr), INT, a.bound)
            found = base
            for _ in range(int(times) - 1):
                found = product(w, found, base)
            return found
        case (Number(-1) | Unary("-", Number(1))), _:
            exponent = w.named("exponent", b.expr)
            w.leave_if(Binary("<", exponent, Number(0)))
            odd = Binary("!=", Binary("%", exponent, Number(2)), Number(0))
            return Num(Choose(odd, Number(-1), Number(1)), INT, 1)
        case Number(int() as base), _ if base > 1 and base.bit_count() == 1:
            places = product(w, b, Num(Number(base.bit_length() - 1), INT, base.bit_length()))
            return shifted("left")(w, Num(Number(1), INT, 1), places)
    raise Declined("a power of integers")


def real_power(w: Writer, a: Num, b: Num) -> Num:
    """Leave powers of negative numbers to Python, which may have complex ones."""
    named = Num(w.named("base", w.as_float(a).expr), FLOAT)
    w.leave_if(Binary("<", named.expr, Number(0.0)))
    return named


def negative(w: Writer, a: Num) -> Num:
    """Write ``-a``."""
    if a.dtype == BOOL:
        raise Declined("a truth value is used as a number")
    a = w.narrowed(a, WIDE - 1)
    return Num(Unary("-", a.expr), a.dtype, a.bound)


def absolute(w: Writer, a: Num) -> Num:
    """Write ``abs(a)``."""
    if a.dtype == INT:
        a = w.narrowed(a, WIDE - 1)
        named = w.named("whole", a.expr)
        return Num(Choose(Binary("<", named, Number(0)), Unary("-", named), named), INT, a.bound)
    return Num(Apply("fabs", (w.as_float(a).expr,)), FLOAT)


def float_size(w: Writer, a: Num) -> Num:
    """Write ``math.fabs(a)``."""
    return absolute(w, w.as_float(a))


def square(w: Writer, a: Num) -> Num:
    """Write ``a * a``."""
    named = Num(w.named("base", a.expr), a.dtype, a.bound)
    return product(w, named, named)


def cube(w: Writer, a: Num) -> Num:
    """Write ``a ** 3`` of an element of an array: within two bits of what the C library gives."""
    base = w.named("base", w.as_float(a).expr)
    return w.finite("cube", Binary("*", Binary("*", base, base), base))


def sign(w: Writer, a: Num) -> Num:
    """Write ``np.sign``: of what is not a number it is that."""
    if a.dtype == BOOL:
        raise Declined("a truth value is used as a number")
    one, none = (Number(1.0), Number(0.0)) if a.dtype == FLOAT else (Number(1), Number(0))
    value = w.named("value", a.expr)
    rest = Choose(Binary("==", value, none), none, value)
    below = Choose(Binary("<", value, none), Unary("-", one), rest)
    return Num(Choose(Binary(">", value, none), one, below), a.dtype, 1)


def rounded(name: str) -> Callable[[Writer, Num], Num]:
    """Return what writes ``np.floor`` and the like: the result is a float."""

    def write(w: Writer, a: Num) -> Num:
        if a.dtype != FLOAT:
            raise Declined(f"`{name}` of what is no float")
        return Num(Apply(f"np.{name}", (a.expr,)), FLOAT)

    return write


def finite_test(w: Writer, a: Num) -> Num:
    """Write ``np.isfinite``."""
    return Num(Apply("isfinite", (w.as_float(a).expr,)), BOOL)


def nan_test(w: Writer, a: Num) -> Num:
    """Write ``np.isnan``."""
    named = w.named("value", w.as_float(a).expr)
    return Num(Binary("!=", named, named), BOOL)


def log_of_sum(base: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``np.logaddexp``, as NumPy computes it."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        a, b = alike(w, [w.as_float(a), w.as_float(b)])
        apart = w.assign("difference", Binary("-", a.expr, b.expr))
        size = Unary("-", Apply("fabs", (apart,)))
        rest = Apply("log1p", (Apply("exp", (size,)),))
        above = Choose(Binary(">", apart, Number(0.0)), a.expr, b.expr)
        equal = Choose(Binary("==", a.expr, b.expr), Number(math.log(2.0)), rest)
        return w.finite(base, Binary("+", w.assign("greater", above), w.assign("rest", equal)))

    return write


def truth(w: Writer, a: Num) -> Expr:
    """Return a test of whether a number is true."""
    if a.dtype == BOOL:
        return a.expr
    return Binary("!=", a.expr, Number(0.0 if a.dtype == FLOAT else 0))


def negation(w: Writer, a: Num) -> Num:
    """Write ``not a``."""
    return Num(Unary("not", truth(w, a)), BOOL)


def comparison(sign: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what compares two numbers."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        if a.dtype != b.dtype:
            a, b = (w.as_float(one) for one in numbers(a, b))
        return Num(Binary(sign, a.expr, b.expr), BOOL)

    return write


def bits(sign: str, function: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``&``, ``|`` or ``^``: of truth values, or of the bits of integers."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        if a.dtype == b.dtype == BOOL:
            return Num(Binary(sign, a.expr, b.expr), BOOL)
        a, b = as_number(a, INT), as_number(b, INT)
        if not a.dtype == b.dtype == INT:
            raise Declined("an operator on the bits of floats")
        most = 1 << max(a.bound, b.bound).bit_length()
        return Num(Apply(f"np.bitwise_{function}", (a.expr, b.expr)), INT, min(most, WIDE))

    return write


def shifted(function: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``<<`` or ``>>`` of integers."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        a, b = as_number(a, INT), as_number(b, INT)
        if not a.dtype == b.dtype == INT:
            raise Declined("a shift of floats")
        count = w.named("count", b.expr)
        w.leave_if(Binary("or", Binary("<", count, Number(0)), Binary(">", count, Number(62))))
        if function == "right":
            return Num(Apply("np.right_shift", (a.expr, count)), INT, a.bound)
        most = w.named("most", Apply("np.right_shift", (Number(2**62), count)))
        number = w.named("whole", a.expr)
        w.leave_if(Binary("or", Binary("<", number, Unary("-", most)), Binary(">", number, most)))
        return Num(Apply("np.left_shift", (number, count)), INT, 2**62)

    return write


def inverted(w: Writer, a: Num) -> Num:
    """Write ``~`` of an integer, or of a truth value of NumPy's."""
    if a.dtype == BOOL:
        return negation(w, a)
    if a.dtype != INT:
        raise Declined("an operator on the bits of floats")
    a = w.narrowed(a, WIDE - 1)
    return Num(Binary("-", Unary("-", a.expr), Number(1)), INT, min(a.bound + 1, WIDE))


def where(w: Writer, test: Num, a: Num, b: Num) -> Num:
    """Write ``np.where(test, a, b)``."""
    a, b = alike(w, (a, b))
    return Num(Choose(truth(w, test), a.expr, b.expr), a.dtype, max(a.bound, b.bound))


def alike(w: Writer, numbers: Sequence[Num]) -> list[Num]:
    """Return numbers as ones of one machine type, each with a name."""
    if len({number.dtype for number in numbers}) > 1:
        numbers = [w.as_float(number) for number in numbers]
    return [Num(w.named("item", n.expr), n.dtype, n.bound) for n in numbers]


def extreme(sign: str) -> Callable[..., Num]:
    """Return what writes ``min`` or ``max`` of several numbers: the first of equal ones."""

    def write(w: Writer, *given: Any) -> Num:
        items = given[0].items if len(given) == 1 and isinstance(given[0], Several) else given
        if len(items) < 2 or not all(isinstance(item, Num) for item in items):
            raise Declined("min or max of what is no few numbers")
        first, *rest = alike(w, items)
        best = first.expr
        for item in rest:
            best = w.assign("best", Choose(Binary(sign, item.expr, best), item.expr, best))
        return Num(best, first.dtype, max(item.bound for item in items))

    return write


def elementwise_extreme(sign: str) -> Callable[[Writer, Num, Num], Num]:
    """Return what writes ``np.minimum`` or ``np.maximum``: not a number wins."""

    def write(w: Writer, a: Num, b: Num) -> Num:
        a, b = alike(w, (a, b))
        wins = Binary(sign, a.expr, b.expr)
        if a.dtype == FLOAT:
            wins = Binary("or", wins, Binary("!=", a.expr, a.expr))
        return Num(Choose(wins, a.expr, b.expr), a.dtype, max(a.bound, b.bound))

    return write


def shares(w: Writer, g: Num, items: Several, y: Num) -> Several:
    """Write the cotangents of the items of ``max`` or ``min``: ties share ``g`` evenly."""
    if not isinstance(items, Several):
        raise Declined("min or max of what is no few numbers")
    g, y = w.as_float(g), w.as_float(y)
    reached = w.named("extreme", y.expr)
    ties = [
        w.assign("tie", Binary("==", w.as_float(item).expr, reached)) for item in items.items
    ]
    count: Expr = Number(0.0)
    for tie in ties:
        count = Binary("+", count, Choose(tie, ONE, Number(0.0)))
    count = w.assign("ties", count)
    part = w.assign("part", Binary("/", g.expr, Choose(Binary(">", count, ONE), count, ONE)))
    return Several(tuple(Num(Choose(tie, part, Number(0.0)), FLOAT) for tie in ties))


def library(name: str, called: str = "") -> Callable[..., Num]:
    """Return what calls a function of the C library, or a helper that is ``called`` otherwise."""

    def write(w: Writer, *args: Num) -> Num:
        if len(args) != (2 if name in TWO else 1):
            raise Declined(f"`{name}` with {len(args)} arguments")
        floats = tuple(w.as_float(arg).expr for arg in args)
        if w.attempts and w.raising != NOTHING:
            return or_raised(w, name, called or name, w.named("value", *floats))
        return w.finite(name, Apply(called or name, floats))

    return write


def or_raised(w: Writer, name: str, called: str, of: Expr) -> Num:
    """Return the value of a function of one number, in a ``try``: tests tell what it raises."""
    for sign, bound in w.raising.outside:
        w.leave_if(Binary(sign, of, Number(bound)), ValueError)
    found = w.assign(name, Apply(called, (of,)))
    wrong = Unary("not", Apply("isfinite", (found,)))
    if w.raising.overflow:
        w.leave_if(Binary("and", wrong, Apply("isfinite", (of,))), OverflowError)
    w.leave_if(wrong)
    return Num(found, FLOAT)


def as_integer(rounding: str) -> Callable[[Writer, Num], Num]:
    """Return what writes ``int``, ``math.floor`` or ``math.ceil``."""

    def write(w: Writer, a: Num) -> Num:
        if a.dtype == INT:
            return a
        if a.dtype == BOOL:
            raise Declined("a truth value is used as a number")
        named = w.named("value", a.expr)
        inside = Binary("<", Apply("fabs", (named,)), Number(float(EXACT)))
        w.leave_if(Unary("not", inside))
        rounded = named if rounding == "int" else Apply(rounding, (named,))
        return Num(Apply("int", (rounded,)), INT, EXACT)

    return write


def identity(w: Writer, a: Num) -> Num:
    """Write ``+a``."""
    return a


def one_number(w: Writer, *args: Num) -> Num:
    """Write ``float(a)``."""
    return w.as_float(args[0]) if args else Num(Number(0.0), FLOAT)


def as_truth(w: Writer, a: Num) -> Num:
    """Write ``bool(a)``."""
    return Num(truth(w, a), BOOL)


TABLE: dict[Any, Callable[..., Any]] = {
    **{meaning: comparison(sign) for meaning, sign in COMPARISONS.items()},
    **{meaning: library(name) for meaning, name in C_FUNCTIONS.items()},
    "add": arithmetic("+"), "subtract": arithmetic("-"), "multiply": product, "divide": quotient,
    "floor_divide": floored("//"), "remainder": floored("%"), "power": power,
    "negative": negative, "positive": identity, "absolute": absolute, "fabs": float_size,
    "square": square, "cube": cube, "where": where, "minimum": elementwise_extreme("<="),
    "maximum": elementwise_extreme(">="), "sign": sign, "floor": rounded("floor"),
    "ceil": rounded("ceil"), "rint": rounded("rint"), "trunc": rounded("trunc"),
    "isfinite": finite_test, "isnan": nan_test, "logaddexp": log_of_sum("logaddexp"),
    "conjugate": identity, "real": identity, "logical_not": negation,
    "int_floor": as_integer("floor"), "int_ceil": as_integer("ceil"),
    operator.not_: negation, operator.truth: as_truth, bool: as_truth,
    operator.and_: bits("and", "and"), operator.or_: bits("or", "or"),
    operator.xor: bits("!=", "xor"), operator.lshift: shifted("left"),
    operator.rshift: shifted("right"), operator.invert: inverted, float: one_number,
    int: as_integer("int"), min: extreme("<"), max: extreme(">"),
    share: shares, stays_real: real_power, masked_product: masked(product),
    masked_quotient: masked(quotient), zero_product: masked(product, both=True),
}
"""What is written for each function of numbers, by what it means, or itself."""
OF_EACH: dict[Any, Callable[..., Any]] = {
    name: library(name, f"{name}_of_each") for name in ("exp", "log", "tanh")
}
"""What is written in place of that for the elements of arrays: what is computed in vectors."""

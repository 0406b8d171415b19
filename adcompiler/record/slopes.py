"""Slopes of the commonest operations, written by hand: of a result by each argument.

Each takes the arguments and the result, numbers or arrays. All others have their rules, see
``record.single``.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.record.protocols import UFUNCS
from adcompiler.record.tape import Numeric

Slope = Callable[..., Any]


LOG2, LOG10, SQUARE = math.log(2.0), math.log(10.0), 2.0 / math.sqrt(math.pi)


def one(*_: Any) -> float:
    """Return 1."""
    return 1.0


def minus_one(*_: Any) -> float:
    """Return -1."""
    return -1.0


def inverse(b: Any) -> Any:
    """Return ``1 / b``, infinite where NumPy's quotients by one of Python's zeros are."""
    return math.copysign(math.inf, b) if type(b) in (float, int, bool) and not b else 1.0 / b


def by_base(a: Numeric, b: Any, r: Numeric) -> Any:
    """Return the slope of a power by its base."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(all="ignore"):
            return np.where(b == 0, 0.0, b * np.power(a, np.where(b == 0, 1, b) - 1.0))
    if b == 0:
        return 0.0
    try:
        found = b * a ** (b - 1)
        is_complex = isinstance(found, complex) and not isinstance(r, complex)
        return math.nan if is_complex else found  # of Python's negative numbers
    except ZeroDivisionError:
        return math.inf
    except OverflowError:
        return math.copysign(math.inf, b)


def by_exponent(a: Numeric, b: Numeric, r: Numeric) -> Any:
    """Return the slope of a power by its exponent."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        with np.errstate(all="ignore"):
            return np.where(a == 0, 0.0, r * np.log(a))
    if a == 0:
        return 0.0 if (b.real if isinstance(b, complex) else b) > 0 else math.nan
    if isinstance(a, complex) or isinstance(b, complex):
        return r * cmath.log(a)
    return r * math.log(a) if a > 0 else math.nan


BINARY: dict[Any, tuple[Slope, Slope]] = {
    np.add: (one, one),
    np.subtract: (one, minus_one),
    np.multiply: (lambda a, b, r: b, lambda a, b, r: a),
    np.divide: (lambda a, b, r: inverse(b), lambda a, b, r: -r * inverse(b)),
    np.power: (by_base, by_exponent),
}
"""Slopes of operators, for real and complex numbers and arrays of these."""

UNARY: dict[Any, Slope] = {
    np.negative: lambda a, r: -1.0, np.positive: lambda a, r: 1.0,
    np.exp: lambda a, r: r, np.expm1: lambda a, r: r + 1.0,
    np.log: lambda a, r: 1.0 / a, np.log1p: lambda a, r: 1.0 / (1.0 + a),
    np.sin: lambda a, r: np.cos(a), np.cos: lambda a, r: -np.sin(a),
    np.tan: lambda a, r: 1.0 + r * r, np.sinh: lambda a, r: np.cosh(a),
    np.cosh: lambda a, r: np.sinh(a), np.tanh: lambda a, r: 1.0 - r * r,
    np.sqrt: lambda a, r: 0.5 / r, np.square: lambda a, r: 2.0 * a,
    np.arctan: lambda a, r: 1.0 / (1.0 + a * a),
    np.reciprocal: lambda a, r: -r * r,
}
"""Slopes of functions, for real and complex numbers and arrays of these."""

BINARY |= {getattr(operator, op): BINARY[f] for op, f in UFUNCS.items() if f in BINARY}
UNARY |= {getattr(operator, op): UNARY[f] for op, f in UFUNCS.items() if f in UNARY}


def quiet(slope: Callable[[float, float], float]) -> Callable[[float, float], float]:
    """Return a slope of a function of Python's numbers that is infinite where it divides by 0."""
    def found(a: float, r: float) -> float:
        try:
            return slope(a, r)
        except ZeroDivisionError:
            return math.inf
    return found


OF_MATH: dict[Any, Callable[[float, float], float]] = {
    math.exp: lambda a, r: r, math.expm1: lambda a, r: r + 1.0, math.log: lambda a, r: 1.0 / a,
    math.log1p: lambda a, r: 1.0 / (1.0 + a), math.sin: lambda a, r: math.cos(a),
    math.cos: lambda a, r: -math.sin(a), math.tan: lambda a, r: 1.0 + r * r,
    math.sinh: lambda a, r: math.cosh(a), math.cosh: lambda a, r: math.sinh(a),
    math.tanh: lambda a, r: 1.0 - r * r, math.sqrt: quiet(lambda a, r: 0.5 / r),
    math.atan: lambda a, r: 1.0 / (1.0 + a * a),
    math.asin: quiet(lambda a, r: 1.0 / math.sqrt(1.0 - a * a)),
    math.acos: quiet(lambda a, r: -1.0 / math.sqrt(1.0 - a * a)),
    math.log2: lambda a, r: 1.0 / (a * LOG2), math.log10: lambda a, r: 1.0 / (a * LOG10),
    math.erf: lambda a, r: SQUARE * math.exp(-a * a),
    math.erfc: lambda a, r: -SQUARE * math.exp(-a * a),
    math.fabs: lambda a, r: float(a > 0) - float(a < 0), abs: lambda a, r: float(a > 0) - (a < 0),
}
"""Slopes of functions of one of Python's real numbers."""

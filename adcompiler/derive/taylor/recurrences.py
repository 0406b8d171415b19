"""Which functions have recurrences for the coefficients of truncated Taylor series."""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.ir.nodes import NONE, Atom, Const
from adcompiler.runtime.series import (
    cos_series, cosh_series, exp_series, exponent_series, hypot_series, log_series, modulus_series,
    power_series, product_series, quotient_series, sin_series, sinh_series, tan_series,
)
from adcompiler.runtime.series_algebra import (
    cholesky_series, cumprod_series, det_series, polyval_series, prod_series, solution_series,
)

Found = tuple[Any, list[Any]]
"""A function of coefficients, and its arguments: atoms, or tuples of them."""

LOG_2, LOG_10 = math.log(2.0), math.log(10.0)

UNARY: dict[Any, tuple[Any, ...]] = {
    math.exp: (exp_series,), np.exp: (exp_series,),
    math.exp2: (exp_series, LOG_2), np.exp2: (exp_series, LOG_2),
    math.expm1: (exp_series, 1.0, 1.0), np.expm1: (exp_series, 1.0, 1.0),
    np.log: (log_series,), np.log2: (log_series, 1.0 / LOG_2), np.log10: (log_series, 1.0 / LOG_10),
    math.log2: (log_series, 1.0 / LOG_2), math.log10: (log_series, 1.0 / LOG_10),
    math.log: (log_series,),
    math.log1p: (log_series, 1.0, 1.0), np.log1p: (log_series, 1.0, 1.0),
    math.sin: (sin_series,), np.sin: (sin_series,), math.cos: (cos_series,), np.cos: (cos_series,),
    math.sinh: (sinh_series,), np.sinh: (sinh_series,),
    math.cosh: (cosh_series,), np.cosh: (cosh_series,),
    math.tan: (tan_series,), np.tan: (tan_series,),
    math.tanh: (tan_series, -1.0), np.tanh: (tan_series, -1.0),
    cmath.exp: (exp_series,), cmath.log: (log_series,), cmath.log10: (log_series, 1.0 / LOG_10),
    cmath.sin: (sin_series,), cmath.cos: (cos_series,), cmath.tan: (tan_series,),
    cmath.sinh: (sinh_series,), cmath.cosh: (cosh_series,), cmath.tanh: (tan_series, -1.0),
}
"""Functions of one argument with a recurrence, and the constants that it takes besides."""

ROOTS: dict[Any, float] = {
    math.sqrt: 0.5, np.sqrt: 0.5, cmath.sqrt: 0.5, math.cbrt: 1.0 / 3.0, np.cbrt: 1.0 / 3.0,
    np.reciprocal: -1.0,
}
"""Functions of one argument that are powers."""

PRODUCTS = frozenset({operator.mul, np.multiply})
QUOTIENTS = frozenset({operator.truediv, np.divide})
POWERS = frozenset({operator.pow, math.pow, np.power, np.float_power})
HYPOTENUSES = frozenset({math.hypot, np.hypot})
OF_NUMBERS = frozenset({*UNARY, *ROOTS, *PRODUCTS, *QUOTIENTS, *POWERS})
"""Functions that, where their arguments vary, are of numbers and arrays for sure."""

MODULI = frozenset({operator.abs, abs, np.absolute})
OF_MATRICES: dict[Any, Any] = {np.linalg.cholesky: cholesky_series, np.linalg.det: det_series}
ALONG_AXIS: dict[Any, Any] = {np.prod: prod_series, np.cumprod: cumprod_series}
SPECIAL = frozenset({
    "gamma", "lgamma", "gammaln", "psi", "polygamma", "zeta", "sinc", "i0", "i1", "j0", "j1", "y0",
    "y1", "k0", "k1", "jv", "yv", "iv", "kv", "kn", "yn", "hyp0f1", "hyp1f1", "hyp2f1",
    "hyperu", "det", "expit", "xlogy", "xlog1py",
})
"""Names of functions among which SciPy has some whose derivatives of every order are known."""

RESULT: Any = Const("the result")
"""Stands for the value of a call among the arguments of a recurrence."""


def recurrence(
    function: Any, values: Sequence[Atom], duals: Sequence[Atom | None],
    named: Mapping[str, Atom], types: Sequence[t.Type],
) -> Found | None:
    """Return the function that gives the coefficients of a call, and its arguments, if any.

    ``types`` are those of the ``values`` and of the result.
    """
    if function in ALONG_AXIS:
        return along_axis(function, values, duals, named)
    if named:
        return None
    if getattr(function, "__name__", "") in SPECIAL and (
        found := special(function, values, duals, types)
    ) is not None:
        return found
    if len(values) == 1 and duals[0] is not None:
        if function in MODULI and getattr(types[0], "kind", "") == "complex":
            return modulus_series, [values[0], duals[0], RESULT]
        if function in OF_MATRICES and isinstance(types[0], t.Array):
            return OF_MATRICES[function], [values[0], duals[0], RESULT]
        if function in UNARY:
            series, *constants = UNARY[function]
            return series, [values[0], duals[0], RESULT, *map(Const, constants)]
        if function in ROOTS:
            return power_series, [values[0], duals[0], Const(ROOTS[function]), RESULT]
        if function is np.square:
            return product_series, [values[0], duals[0], values[0], duals[0]]
        return None
    if len(values) != 2:
        return None
    (x, y), (dx, dy) = values, duals
    if function in PRODUCTS and dx is not None and dy is not None:
        return product_series, [x, dx, y, dy]
    if function in QUOTIENTS and dy is not None:
        return quotient_series, [x, dx or NONE, y, dy, RESULT]
    if function in POWERS:
        if dy is None and dx is not None:
            return power_series, [x, dx, y, RESULT]
        if dy is not None:
            return exponent_series, [x, dx or NONE, y, dy, RESULT]
    if function in HYPOTENUSES:
        return hypot_series, [x, dx or NONE, y, dy or NONE, RESULT]
    if function is np.linalg.solve:
        return solution_series, [x, dx or NONE, y, dy or NONE, RESULT]
    if function is np.polyval and dy is not None and isinstance(types[0], t.Array):
        return polyval_series, [x, dx or NONE, y, dy, RESULT]
    return None


def along_axis(
    function: Any, values: Sequence[Atom], duals: Sequence[Atom | None], named: Mapping[str, Atom]
) -> Found | None:
    """Return what gives the coefficients of products along an axis that is known."""
    axis = values[1] if len(values) == 2 else named.get("axis", NONE)
    if len(values) > 2 or set(named) - {"axis"} or not isinstance(axis, Const) or not (
        axis.value is None or type(axis.value) is int
    ) or duals[0] is None:
        return None
    return ALONG_AXIS[function], [values[0], duals[0], axis]


def special(
    function: Any, values: Sequence[Atom], duals: Sequence[Atom | None], types: Sequence[t.Type]
) -> Found | None:
    """Return what gives the coefficients of a special function of real numbers."""
    from adcompiler.runtime.scipy_series import (
        DERIVATIVES, DETERMINANTS, GAMMAS, LOGARITHMS, SIGMOIDS, composed_series, expit_series,
        gamma_series, xlogy_series,
    )

    if function in DETERMINANTS and len(values) == 1 and isinstance(types[0], t.Array):
        return DETERMINANTS[function], [values[0], duals[0], RESULT]
    if any(getattr(type_, "kind", "") == "complex" for type_ in types):
        return None
    if function in LOGARITHMS:
        (x, y), (dx, dy) = values, duals
        return xlogy_series, [x, dx or NONE, y, dy or NONE, RESULT, Const(LOGARITHMS[function])]
    varying = [(i, d) for i, d in enumerate(duals) if d is not None]
    if len(varying) != 1:
        return None
    place, d = varying[0]
    if function in SIGMOIDS:
        return expit_series, [values[0], d, RESULT]
    if function in GAMMAS:
        return gamma_series, [values[0], d, RESULT]
    wanted, derivative = DERIVATIVES.get(function, (None, None))
    if place != wanted:
        return None
    return composed_series, [Const(derivative), Const(place), tuple(values), d, RESULT]


__all__ = ["OF_NUMBERS", "RESULT", "recurrence"]

"""Recurrences for the coefficients of Taylor series of Python's and NumPy's functions."""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from adcompiler.rulekit import Recurrence, facts
from adcompiler_rules.kernels.series import (
    cos_series, cosh_series, exp_series, exponent_series, hypot_series, log_series,
    modulus_series, power_series, product_series, quotient_series, sin_series, sinh_series,
    tan_series,
)
from adcompiler_rules.kernels.array_series import (
    cholesky_series, cumprod_series, det_series, polyval_series, prod_series, solution_series,
)

LOG_2, LOG_10 = math.log(2.0), math.log(10.0)


def unary(series: Any, *constants: float) -> Recurrence:
    """Return the recurrence of a function of one argument, which takes constants besides."""
    return Recurrence(series, ("x", "dx", "result", *constants))


def root(exponent: float) -> Recurrence:
    """Return the recurrence of a power of one argument."""
    return Recurrence(power_series, ("x", "dx", exponent, "result"))


BINARY = ("x", "dx?", "y", "dy", "result")
EITHER = ("x", "dx?", "y", "dy?", "result")

facts(math.exp, np.exp, cmath.exp, recurrence=exp_series)
facts(math.exp2, np.exp2, recurrence=unary(exp_series, LOG_2))
facts(math.expm1, np.expm1, recurrence=unary(exp_series, 1.0, 1.0))
facts(math.log, np.log, cmath.log, recurrence=log_series)
facts(math.log2, np.log2, recurrence=unary(log_series, 1.0 / LOG_2))
facts(math.log10, np.log10, cmath.log10, recurrence=unary(log_series, 1.0 / LOG_10))
facts(math.log1p, np.log1p, recurrence=unary(log_series, 1.0, 1.0))
facts(math.sin, np.sin, cmath.sin, recurrence=sin_series)
facts(math.cos, np.cos, cmath.cos, recurrence=cos_series)
facts(math.sinh, np.sinh, cmath.sinh, recurrence=sinh_series)
facts(math.cosh, np.cosh, cmath.cosh, recurrence=cosh_series)
facts(math.tan, np.tan, cmath.tan, recurrence=tan_series)
facts(math.tanh, np.tanh, cmath.tanh, recurrence=unary(tan_series, -1.0))
facts(math.sqrt, np.sqrt, cmath.sqrt, recurrence=root(0.5))
facts(math.cbrt, np.cbrt, recurrence=root(1.0 / 3.0))
facts(np.reciprocal, recurrence=root(-1.0))
facts(np.square, recurrence=Recurrence(product_series, ("x", "dx", "x", "dx")))
facts(operator.mul, np.multiply, recurrence=Recurrence(product_series, ("x", "dx", "y", "dy")))
facts(operator.truediv, np.divide, recurrence=Recurrence(quotient_series, BINARY))
facts(operator.pow, math.pow, np.power, np.float_power, recurrence=(
    Recurrence(power_series, ("x", "dx", "y", "result")), Recurrence(exponent_series, BINARY),
))
facts(math.hypot, np.hypot, recurrence=Recurrence(hypot_series, EITHER))
facts(operator.abs, abs, np.absolute, recurrence=Recurrence(modulus_series, first="complex"))
facts(np.linalg.cholesky, recurrence=Recurrence(cholesky_series, first="array"))
facts(np.linalg.det, recurrence=Recurrence(det_series, first="array"))
facts(np.linalg.solve, recurrence=Recurrence(solution_series, EITHER))
facts(np.polyval, recurrence=Recurrence(polyval_series, BINARY, first="array"))
facts(np.prod, recurrence=Recurrence(prod_series, ("x", "dx", "axis")))
facts(np.cumprod, recurrence=Recurrence(cumprod_series, ("x", "dx", "axis")))

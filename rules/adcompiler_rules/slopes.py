"""Functions of Python and NumPy whose slopes, or values, are finite; beside linear ones."""

from __future__ import annotations

import cmath
import math
import operator

import numpy as np

from adcompiler.rulekit import facts
from adcompiler.runtime import append
from adcompiler.runtime.adjoints.masked import zero_product
from adcompiler_rules.kernels.products import einsum_adjoint, einsum_adjoints
from adcompiler_rules.kernels.sequences import scale, scale_other_products

if hasattr(np, "trapezoid"):  # NumPy 2
    facts(np.trapezoid, finite=True)

facts(
    operator.abs, abs, max, min, sorted,
    math.asinh, math.atan, math.copysign, math.cos, math.cosh, math.dist, math.erf, math.erfc,
    math.exp, math.exp2, math.expm1, math.fabs, math.hypot, math.prod, math.sin, math.sinh,
    math.tan, math.tanh,
    cmath.cos, cmath.cosh, cmath.exp, cmath.sin, cmath.sinh,
    np.absolute, np.amax, np.amin, np.arcsinh, np.arctan, np.clip, np.copysign, np.cos, np.cumprod,
    np.einsum, np.fabs, np.fmax, np.fmin, np.hypot,
    np.max, np.maximum, np.median, np.min, np.minimum, np.modf, np.multiply, np.nancumsum,
    np.nanmax, np.nanmean, np.nanmin, np.nansum, np.partition, np.percentile, np.polyval, np.prod,
    np.ptp, np.quantile, np.sign, np.sin, np.sort, np.square, np.tan,
    np.tanh, np.var,
    np.linalg.det, np.linalg.multi_dot, np.linalg.norm,
    append, einsum_adjoint, einsum_adjoints, scale, scale_other_products, zero_product,
    finite=True,
)
facts(
    math.sqrt, math.cbrt, math.asin, math.acos, math.acosh, math.atan2, math.atanh, math.log,
    math.log2, math.log10, math.log1p, math.lgamma, math.gamma, np.sqrt, np.cbrt, np.arcsin,
    np.arccos, np.arccosh, np.arctan2, bounded=True,
)

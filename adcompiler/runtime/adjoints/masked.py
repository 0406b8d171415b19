"""Products of derivatives with slopes that may be infinite: a derivative that is 0 stays 0.

IEEE arithmetic has ``0 * inf = nan``. The chain rule means another thing by it: what does not move
does not move anything else, however steep that is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np


NUMBERS = (int, float, complex, np.generic)


def masked_product(d: Any, slope: Any) -> Any:
    """Return ``d * slope``, and 0 where ``d`` is 0."""
    if type(d) is not np.ndarray and type(slope) is not np.ndarray:
        return d * slope if d else d * type(slope)(1)
    return d * slope if is_finite_array(slope) else d * where_not_zero(d, slope)


def masked_quotient(d: Any, divisor: Any) -> Any:
    """Return ``d / divisor``, and 0 where ``d`` is 0."""
    if type(d) is not np.ndarray and type(divisor) is not np.ndarray:
        return d / divisor if d else d / type(divisor)(1)
    if is_finite_array(divisor) and np.count_nonzero(divisor) == divisor.size:
        return d / divisor
    return d / where_not_zero(d, divisor)


def zero_product(a: Any, b: Any) -> Any:
    """Return ``a * b``, and 0 where either is 0."""
    if type(a) is not np.ndarray and type(b) is not np.ndarray:
        numbers = isinstance(a, NUMBERS) and isinstance(b, NUMBERS)
        if not numbers or (a and b):  # tables and lists have products of their own
            return a * b
        return (a if b else type(a)(0)) * (b if a else type(b)(0))
    if is_finite_array(a) and is_finite_array(b):
        return a * b
    return where_not_zero(b, a, 0) * where_not_zero(a, b, 0)


def is_finite_array(x: Any) -> bool:
    """Say whether a value is an array of finite floats; sometimes not, if they are large."""
    if not isinstance(x, np.ndarray) or x.dtype.kind != "f":
        return False
    return math.isfinite(x.dot(x) if x.ndim == 1 else np.vdot(x, x))


def where_not_zero(d: Any, factor: Any, other: int = 1) -> Any:
    """Return ``factor`` where ``d`` is not 0, and elsewhere a number of its class.

    It has the shape of both, one of which is an array.
    """
    known = isinstance(factor, (np.ndarray, np.generic))
    kind = factor.dtype if known else np.result_type(d, factor)
    return np.where(d != 0, factor if known else kind.type(factor), kind.type(other))


__all__ = ["masked_product", "masked_quotient", "zero_product"]

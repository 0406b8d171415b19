"""What functions of ``numpy.polynomial`` do to coefficients: matrices in the precision of ``y``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def derivative_of(der: Callable[..., Any], n: int, m: int, y: Any) -> Any:
    """Return the matrix that takes ``n`` coefficients to those of the derivative of order ``m``."""
    return as_precise(der(np.eye(n), m), y)


def integral_of(
    integral: Callable[..., Any], n: int, m: int, lbnd: Any, scl: Any, y: Any
) -> Any:
    """Return the matrix that takes ``n`` coefficients to those of an integral without constants."""
    return as_precise(integral(np.eye(n), m, [], lbnd, scl), y)


def constants_of(
    integral: Callable[..., Any], n: int, m: int, lbnd: Any, scl: Any, y: Any
) -> Any:
    """Return the matrix that takes the ``m`` constants of integration to ``n`` coefficients."""
    found = np.zeros((n, m))
    for i in range(m):
        column = integral(np.ones(1), m - 1 - i, [], lbnd, scl)
        found[: len(column), i] = column
    return as_precise(found, y)


def basis_slopes(der: Callable[..., Any], count: int, y: Any) -> Any:
    """Return the coefficients of the derivatives of the first polynomials, in columns."""
    found = np.zeros((count, count))
    if count > 1:
        found[: count - 1] = der(np.eye(count))
    return as_precise(found, y)


def product_with_x(mulx: Callable[..., Any], n: int, count: int, y: Any) -> Any:
    """Return the matrix that takes ``n`` coefficients to ``count`` of those of the product."""
    found = np.zeros((n + 1, n))
    for j, unit in enumerate(np.eye(n)):
        column = mulx(unit)
        found[: len(column), j] = column
    return as_precise(found[:count], y)


def as_precise(matrix: Any, y: Any) -> Any:
    """Return a matrix of real numbers in the precision of ``y``."""
    dtype = np.real(y).dtype
    return matrix.astype(dtype) if dtype.kind == "f" else matrix

"""Coefficients of Taylor series of masked products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.masked import masked_product, masked_quotient, zero_product
from adcompiler.runtime.series import of_coefficients
from adcompiler_rules.kernels.series import from_first, orders_of, quotient_with, silent


def product_with(
    times: Callable[[Any, Any], Any], x: Any, dx: Any, y: Any, dy: Any
) -> np.ndarray:
    """Return the coefficients of a product of which ``times`` are the terms in the value ``y``."""
    a, b = orders_of(x, dx), orders_of(y, dy)
    found = [sum(
        (times if j == 0 else zero_product)(a[k - j], b[j]) for j in range(k + 1)
    ) for k in range(len(a))]
    return from_first(found, np.result_type(dx, dy))


@of_coefficients(1, 3)
@silent
def masked_product_series(x: Any, dx: Any, y: Any, dy: Any) -> np.ndarray:
    """Return the coefficients of ``masked_product(x, y)``, both of which vary."""
    return product_with(masked_product, x, dx, y, dy)


@of_coefficients(1, 3)
@silent
def zero_product_series(x: Any, dx: Any, y: Any, dy: Any) -> np.ndarray:
    """Return the coefficients of ``zero_product(x, y)``, both of which vary."""
    return product_with(zero_product, x, dx, y, dy)


@of_coefficients(1, 3)
@silent
def masked_quotient_series(x: Any, dx: Any, y: Any, dy: Any, z: Any) -> np.ndarray:
    """Return the coefficients of ``z = masked_quotient(x, y)``, where ``y`` varies."""
    return quotient_with(masked_quotient, masked_fold, x, dx, y, dy, z)


def masked_fold(b: list[Any], c: list[Any]) -> Any:
    """Return the sum of ``b[j] c[k - j]`` for ``j`` from 1 on, ``k`` being the next order of ``c``.
    """
    return sum(zero_product(c[-j], b[j]) for j in range(1, len(c) + 1))

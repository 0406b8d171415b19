"""Rules of products in which a derivative that is 0 stays 0: of the same kind themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import Recurrence, call, facts, rrule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.masked import masked_product, masked_quotient, zero_product
from adcompiler_rules.kernels.masked_series import (
    masked_product_series, masked_quotient_series, zero_product_series,
)

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 3.0)


@rrule(masked_product, bilinear=(0, 1), domain=(ANY, ANY))
def masked_product_rule(d: Any, slope: Any) -> Any:
    """``dd = dz slope``, ``dslope = dz d``."""

    def masked_product_pullback(dz: Any) -> Any:
        dd = masked_product(dz, np.conj(slope))
        return project(dd, d), project(zero_product(dz, np.conj(d)), slope)

    return masked_product(d, slope), masked_product_pullback


@rrule(masked_quotient, linear=(0,), domain=(ANY, POSITIVE))
def masked_quotient_rule(d: Any, divisor: Any) -> Any:
    """``dd = dz / divisor``, ``ddivisor = -dz z / divisor``."""
    z = masked_quotient(d, divisor)

    def masked_quotient_pullback(dz: Any) -> Any:
        dd = masked_quotient(dz, np.conj(divisor))
        along = masked_quotient(zero_product(dz, np.conj(z)), np.conj(divisor))
        return project(dd, d), project(-along, divisor)

    return z, masked_quotient_pullback


@rrule(zero_product, bilinear=(0, 1), domain=lambda rng: [
    call(0.7, -1.3), call(rng.normal(size=(2, 3)), rng.normal(size=3)),
    call(rng.normal(size=3), 0.7), call(1.5 - 0.5j, rng.normal(size=3) + 1j),
])
def zero_product_rule(a: Any, b: Any) -> Any:
    """``da = dz b``, ``db = dz a``."""

    def zero_product_pullback(dz: Any) -> Any:
        da = zero_product(dz, np.conj(b))
        return project(da, a), project(zero_product(dz, np.conj(a)), b)

    return zero_product(a, b), zero_product_pullback


facts(
    masked_product, masked_quotient, zero_product, pure=True, shares="none", writes=(), tried=True,
    fresh=False, elementwise=True, axes="each",
)
facts(masked_product, recurrence=Recurrence(masked_product_series, ("x", "dx", "y", "dy")))
facts(zero_product, recurrence=Recurrence(zero_product_series, ("x", "dx", "y", "dy")))
facts(masked_quotient, recurrence=Recurrence(
    masked_quotient_series, ("x", "dx?", "y", "dy", "result")))

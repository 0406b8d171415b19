"""Which functions of Python's numbers and containers raise for some values, by their own doing."""

from __future__ import annotations

import math
import operator
from typing import Any
from collections.abc import Callable

DERIVED = frozenset({operator.truediv, operator.pow, operator.getitem})
"""Functions whose derivatives raise what they raise themselves."""
RAISING = frozenset({
    *(operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.getitem, divmod),
    *(int, float, complex, round, max, min, next, chr, ord, list.index, tuple.index, str.index),
})
"""Those of the functions that operators and builtins are which raise for some values."""
TOTAL = frozenset({
    *(math.exp, math.expm1, math.sinh, math.cosh, math.tanh, math.sin, math.cos, math.tan),
    *(math.atan, math.atan2, math.asinh, math.erf, math.erfc, math.hypot, math.fabs),
    *(math.fsum, math.isnan, math.isinf, math.isfinite, math.copysign, math.degrees, math.radians),
})
"""Functions of numbers without errors of their domain, or whose derivatives raise these too."""
OF_NUMBERS = ("math", "cmath", "statistics")
"""Modules of functions of Python's numbers, which raise where they are not defined."""
POWERS = frozenset({operator.pow})
"""Functions of a base and an exponent, which raise for no natural exponent."""


def raises_for_values(function: Callable[..., Any], has_natural_exponent: bool = False) -> bool:
    """Say whether a function of Python's numbers and containers raises for some of them."""
    if function in POWERS and has_natural_exponent:
        return False
    home = getattr(function, "__module__", None)
    return function in RAISING or (home in OF_NUMBERS and function not in TOTAL)

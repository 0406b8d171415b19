"""A test of finished derivatives: is any of them nan or infinite?"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adcompiler.runtime.records import is_record, state_of

SHORT = 8192
"""How many numbers of an array are looked at together."""


class NotFinite(Exception):
    """A derivative is nan or infinite: masked code is to compute it."""


def is_finite(found: Any) -> bool:
    """Say whether a number, an array, or all that a container holds is neither nan nor infinite."""
    if type(found) is tuple:  # of numbers, mostly: a call for each would take longer than they do
        for part in found:
            if part - part != 0.0 if type(part) is float else not is_finite(part):
                return False
        return True
    if type(found) is np.ndarray and found.dtype == np.float64:
        # The sum of squares takes a fourth of what a test of each number takes. Where it overflows
        # `dot` warns, `vdot` does not; for longer sums BLAS takes threads, and waits for them.
        flat = found.ravel("K")
        for start in range(0, flat.size, SHORT):
            part = flat[start : start + SHORT]
            if not math.isfinite(np.vdot(part, part)):
                break
        else:
            return True
    if isinstance(found, np.ndarray):
        return found.dtype.kind not in "fc" or bool(np.isfinite(found).all())
    if type(found) is float:
        return found - found == 0.0
    if isinstance(found, (np.inexact, complex)):
        return bool(np.isfinite(found))
    if isinstance(found, dict):
        return all(map(is_finite, found.values()))
    if isinstance(found, (tuple, list)):
        return all(map(is_finite, found))
    return not is_record(found) or is_finite(state_of(found))

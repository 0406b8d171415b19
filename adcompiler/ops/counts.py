"""How many arguments functions take."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.support.signatures import signature as signature_of

COUNTS: dict[Any, range] = {
    bool: range(2), str: range(2), list: range(2), tuple: range(2), type: range(1, 2),
    iter: range(1, 2), reversed: range(1, 2), enumerate: range(1, 3), range: range(1, 3),
}
"""How many arguments functions without a signature take, if these are no more than numbers."""


@functools.lru_cache(maxsize=1024)
def takes(function: Callable[..., Any], count: int) -> bool:
    """Say whether a function can be called with so many arguments by position, for sure."""
    if function in COUNTS:
        return count in COUNTS[function]
    if isinstance(function, np.ufunc):
        return count == function.nin
    try:
        signature = signature_of(function)
    except (TypeError, ValueError):
        return function is zip
    try:
        signature.bind(*[None] * count)
    except TypeError:
        return False
    return True

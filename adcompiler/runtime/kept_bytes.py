"""The bytes of values, and of what a derivative keeps, for arguments at hand."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np


def size_in_bytes(value: Any) -> int:
    """Return the size of the numbers and arrays in nested containers, 8 bytes a number."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (tuple, list)):
        return sum(map(size_in_bytes, value))
    if isinstance(value, dict):
        return sum(map(size_in_bytes, value.values()))
    return 8 if isinstance(value, (int, float, complex, np.generic)) else 0


def free_bytes() -> int:
    """Return how much memory is free, as far as the system tells that; 16 GiB if it does not."""
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError, AttributeError):
        return 1 << 34


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": abs, "ceil": math.ceil, "float": float, "floor": math.floor, "int": int, "len": len,
    "max": max, "min": min, "range": range, "round": round, "size_in_bytes": size_in_bytes,
    "sqrt": math.sqrt, "sum": sum,
}
"""What the texts of sizes may call."""


NAME = re.compile(r"(?<![.\w])[^\W\d]\w*(?=\.)")
"""A name before a dot that is no attribute itself."""


def size_told(text: str, checks: Sequence[str], values: Mapping[str, Any]) -> int | None:
    """Return the size that a text tells for arguments, None where it does not hold for them."""
    names = {**FUNCTIONS, **values, "__builtins__": {}}
    for one in (text, *checks):  # variables of modules are read from these
        names = {**{name: sys.modules[name] for name in NAME.findall(one) if name in sys.modules},
                 **names}
    try:
        if not all(eval(check, names) for check in checks):
            return None
        return max(int(eval(text, names)), 0)
    except Exception:  # an argument has no such part, or none of this type
        return None

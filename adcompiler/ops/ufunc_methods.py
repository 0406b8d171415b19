"""Facts about the methods of ufuncs, ``np.add.reduce`` and its like, which are the same for all."""

from __future__ import annotations

from typing import Any

from adcompiler.ops.facts import OWN, UNKNOWN, Facts

METHODS: dict[str, Facts] = {
    "reduce": Facts(pure=True, shares=OWN, output=("out", 3), writes=(), tried=True),
    "accumulate": Facts(pure=True, shares=OWN, output=("out", 3), writes=(), tried=True),
    "reduceat": Facts(pure=True, shares=OWN, output=("out", 4), writes=(), tried=True),
    "outer": Facts(pure=True, shares=OWN, output=("out", None), writes=(), tried=True),
    "at": Facts(pure=False, shares=OWN, writes=("a",), tried=False),
}

def facts_of_ufunc_method(method: Any) -> Facts:
    """Return what is known of a bound method of a ufunc."""
    return METHODS.get(getattr(method, "__name__", ""), UNKNOWN)

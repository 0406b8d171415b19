"""Facts about ufuncs, and their methods as ``np.add.reduce``, which are the same for all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from adcompiler.ops.facts import ELEMENTWISE, OF_ARRAY, OWN, UNKNOWN, Facts

METHODS: dict[str, Facts] = {
    "reduce": Facts(pure=True, shares=OWN, output=("out", 3), writes=(), tried=True),
    "accumulate": Facts(pure=True, shares=OWN, output=("out", 3), writes=(), tried=True),
    "reduceat": Facts(pure=True, shares=OWN, output=("out", 4), writes=(), tried=True),
    "outer": Facts(pure=True, shares=OWN, output=("out", None), writes=(), tried=True),
    "at": Facts(pure=False, shares=OWN, writes=("a",), tried=False, changes=OF_ARRAY),
}


def facts_of_ufunc(function: np.ufunc) -> Facts:
    """Return what is known of a ufunc by its class: what one of Python's functions does is not."""
    if all(set(loop) <= set("O->") for loop in function.types):
        return UNKNOWN
    single = function.signature is None and function.nout == 1
    return ELEMENTWISE if single else replace(ELEMENTWISE, elementwise=None)


def facts_of_ufunc_method(method: Callable[..., Any]) -> Facts:
    """Return what is known of a bound method of a ufunc."""
    return METHODS.get(getattr(method, "__name__", ""), UNKNOWN)

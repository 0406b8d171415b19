"""What is known of library functions when their arguments get a leading axis."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.facts import ALONG_ALL, ALONG_ONE, EACH, IN_ORDER
from adcompiler.ops.registry import REGISTRY
from adcompiler.support.signatures import signature as signature_of
from adcompiler.typed.callee import Callee

ALONG = (ALONG_ONE, ALONG_ALL, IN_ORDER)
SIZES = ("shape", "size", "ndim", "len")
"""Transfers of functions that tell how many numbers there are."""

def axes_of(function: Callable[..., Any] | Callee) -> str | None:
    """Return the word for what a function makes of a leading axis, None if it is not known."""
    return REGISTRY.facts(function).axes


def is_elementwise(function: Callable[..., Any] | Callee) -> bool:
    """Say whether a function works on each element of arrays, with any axes, by itself."""
    if isinstance(function, np.ufunc):
        return function.signature is None and function.nout == 1
    return axes_of(function) == EACH


@functools.lru_cache(maxsize=256)
def axis_of(function: Callable[..., Any]) -> tuple[int, Any]:
    """Return the position of a function's parameter ``axis``, and its default."""
    parameters = signature_of(REGISTRY.resolve(function)).parameters
    return list(parameters).index("axis"), parameters["axis"].default

"""Calls of functions of numbers in all lanes, where no number depends on the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.ops.registry import REGISTRY
from adcompiler.sparsity.dependences.values import Dependent, Value

LARGE = 2.0**61

EXACT = frozenset({
    "add", "subtract", "multiply", "floor_divide", "remainder", "negative", "positive", "absolute",
    "less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "maximum", "minimum",
})
"""Functions of integers that are NumPy's of these names, where these do not overflow."""
EXTREMES = {max: "maximum", min: "minimum"}

DIVIDING = ("floor_divide", "remainder")


def is_number(value: Value) -> bool:
    """Say whether a value is a number, known or not."""
    if isinstance(value, Dependent):
        return value.shape == ()
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def computed(function: Callable[..., Any], values: tuple[Value, ...], size: int) -> Any:
    """Return the results of a function of numbers in ``size`` lanes, as Python computes them."""
    means = EXTREMES.get(function) or REGISTRY.facts(function).means
    arrays = [np.asarray(value) for value in values]
    if means in EXACT and len(arrays) <= 2 and all(a.dtype.kind in "iu" for a in arrays) and not (
        means in DIVIDING and np.any(arrays[1] == 0)
    ):
        bound = max((float(np.abs(a.astype(float)).max(initial=0.0)) for a in arrays), default=0.0)
        if bound * max(bound, 2.0) < LARGE:
            return np.broadcast_to(getattr(np, str(means))(*arrays), (size,))
    if getattr(function, "__module__", "") not in ("math", "_operator", "builtins", "cmath"):
        raise TypeError(f"{function} of numbers in lanes")
    lists = [np.broadcast_to(a, (size,)).tolist() for a in arrays]
    found = np.array([function(*row) for row in zip(*lists, strict=True)])
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{function} does not give numbers")
    return found



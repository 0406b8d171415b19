"""Calls of functions of numbers in all lanes, where no number depends on the inputs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adcompiler.sparsity.dependences.values import Dependent

LARGE = 2.0**61

EXACT = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply,
    operator.floordiv: np.floor_divide, operator.mod: np.remainder, operator.neg: np.negative,
    operator.pos: np.positive, operator.lt: np.less, operator.le: np.less_equal,
    operator.gt: np.greater, operator.ge: np.greater_equal, operator.eq: np.equal,
    operator.ne: np.not_equal, max: np.maximum, min: np.minimum, abs: np.absolute,
}
"""Operators of Python, and functions that do the same to arrays of moderate integers."""

DIVIDING = (operator.floordiv, operator.mod)


def is_number(value: Any) -> bool:
    """Say whether a value is a number, known or not."""
    if isinstance(value, Dependent):
        return value.shape == ()
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def computed(function: Any, values: tuple[Any, ...], size: int) -> Any:
    """Return the results of a function of numbers in ``size`` lanes, as Python computes them."""
    wide = EXACT.get(function)
    arrays = [np.asarray(value) for value in values]
    if wide is not None and len(arrays) <= 2 and all(a.dtype.kind in "iu" for a in arrays) and not (
        function in DIVIDING and np.any(arrays[1] == 0)
    ):
        bound = max((float(np.abs(a.astype(float)).max(initial=0.0)) for a in arrays), default=0.0)
        if bound * max(bound, 2.0) < LARGE:
            return np.broadcast_to(wide(*arrays), (size,))
    if getattr(function, "__module__", "") not in ("math", "_operator", "builtins", "cmath"):
        raise TypeError(f"{function} of numbers in lanes")
    lists = [np.broadcast_to(a, (size,)).tolist() for a in arrays]
    found = np.array([function(*row) for row in zip(*lists, strict=True)])
    if found.dtype.kind not in "biuf":
        raise TypeError(f"{function} does not give numbers")
    return found



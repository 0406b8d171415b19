"""What of a value is structure: all but its floating numbers, and where a matrix is zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences.values import Value

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array


def is_real(value: Value) -> bool:
    """Say whether a value is a floating or complex number, or an array of such."""
    if type(value) is np.ndarray:
        return value.dtype.kind in "fc"
    return isinstance(value, (float, complex, np.inexact))


def mapped(change: Callable[[Any], Any], value: Any) -> Any:
    """Return a value with each floating number or array in it replaced."""
    if is_real(value):
        return change(value)
    if isinstance(value, (list, tuple)):
        items = [mapped(change, item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: mapped(change, item) for key, item in value.items()}
    if is_record(value):
        return record(type(value), **{
            name: mapped(change, item) for name, item in state_of(value).items()})
    return value


def kept_zeros(value: Array) -> np.ndarray | None:
    """Return which elements of an array are zero if that is structure, else None."""
    if not isinstance(value, np.ndarray) or value.ndim < 2:
        return None
    zeros = value == 0
    return None if zeros.all() or not zeros.any() else zeros


def structure_of(value: Array | str) -> Any:
    """Return a value with what generic numbers keep of it in place of its numbers."""

    def change(one: Array) -> Any:
        zeros = kept_zeros(one)
        return () if zeros is None else np.packbits(zeros)

    return mapped(change, value)

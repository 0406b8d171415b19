"""Arguments to be differentiated, made real: integers count as floats, bools are refused."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_real(value: Any, name: str) -> Any:
    """Return an argument to be differentiated with integers made floats; refuse bools.

    Arrays of other things than numbers are refused too: objects, records, text, dates.
    """
    if isinstance(value, (bool, np.bool_)) or (
        isinstance(value, np.ndarray) and value.dtype.kind not in "iufc"
    ):
        raise TypeError(
            f"cannot differentiate with respect to {name}, which is {described(value)}; "
            "argnums chooses other arguments"
        )
    if isinstance(value, int):
        return float(value)
    if isinstance(value, np.integer):
        return np.float64(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.astype(np.float64)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(real_item(item, name) for item in value))
    if type(value) in (tuple, list):
        if any(needs_real(item) for item in value):
            return type(value)(real_item(item, name) for item in value)
    elif type(value) is dict and any(needs_real(item) for item in value.values()):
        return {key: real_item(item, name) for key, item in value.items()}
    elif isinstance(value, (str, bytes)) or value is None:
        raise TypeError(
            f"cannot differentiate with respect to {name}, which is {described(value)}; "
            "argnums chooses other arguments"
        )
    return value


def real_item(value: Any, name: str) -> Any:
    """As ``as_real`` for an item of a container, where other things than numbers may stand."""
    other = value is None or isinstance(value, (str, bytes, bool, np.bool_))
    return value if other else as_real(value, name)


def described(value: Any) -> str:
    """Return what an argument is, for messages."""
    if isinstance(value, np.ndarray):
        return f"an array of dtype {value.dtype} and shape {value.shape}"
    return "None" if value is None else f"a {type(value).__name__}"


def needs_real(value: Any) -> bool:
    """Say whether ``as_real`` changes anything in ``value``."""
    if isinstance(value, (list, tuple)):
        return any(map(needs_real, value))
    if isinstance(value, dict):
        return any(map(needs_real, value.values()))
    return (isinstance(value, (int, np.integer)) and not isinstance(value, bool)) or (
        isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    )

"""Numbers and arrays as the text that makes them again, to the last bit."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

SHORT = 64
"""Arrays of up to so many numbers are written as lists."""
WIDTH = 88
PLAIN = (bool, int, float)
NUMPY = (np.float64, np.float32, np.int64, np.int32, np.bool_)
KINDS = "biuf"


def text_of_value(value: Any) -> tuple[str, set[str]] | None:
    """Return the expression of a number or an array, and the imports that it needs; else None."""
    if type(value) in PLAIN:
        return (repr(value) if is_literal(value) else f'float("{value!r}")'), set()
    if type(value) in NUMPY:
        inner = text_of_value(value.item())
        assert inner is not None
        return f"np.{value.dtype.name}({inner[0]})".replace("np.bool(", "np.bool_("), set()
    if type(value) is np.ndarray and value.dtype.kind in KINDS and value.dtype.isnative:
        return text_of_array(value)
    return None


def is_literal(value: float) -> bool:
    """Say whether the text of a number is one of Python's literals."""
    return not isinstance(value, float) or bool(np.isfinite(value))


def text_of_array(array: np.ndarray) -> tuple[str, set[str]]:
    """Return the expression of an array, and the imports that it needs."""
    if not array.size:
        return f'np.zeros({array.shape}, "{array.dtype.name}")', set()
    if array.size <= SHORT and np.all(np.isfinite(array)):
        return f'np.array({array.tolist()}, dtype="{array.dtype.name}")', set()
    text = base64.b85encode(zlib.compress(np.ascontiguousarray(array).tobytes(), 9)).decode()
    lines = "\n".join(f'    "{text[i : i + WIDTH]}"' for i in range(0, len(text), WIDTH))
    packed = f"zlib.decompress(base64.b85decode(\n{lines}\n))"
    made = f'np.frombuffer({packed}, "{array.dtype.str}").reshape({array.shape}).copy()'
    return made, {"import base64", "import zlib"}


__all__ = ["text_of_value"]

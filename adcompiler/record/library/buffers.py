"""Arrays of the module ``array``: where an active number is stored, they are arrays of NumPy's."""

from __future__ import annotations

import array
from collections.abc import Iterator
from typing import Any

from adcompiler.record.functions import HOOKS
from adcompiler.record.tape import LEFT_BUFFERS, RECORDING, refused, view_of


def stored(obj: array.array[float], index: int | slice, value: Any) -> None:
    """Do ``obj[index] = value``."""
    view = view_of(obj, RECORDING.tape.holds(value))
    if view is None and not RECORDING.tape.holds(value):
        obj[index] = value
    elif view is None or isinstance(index, slice):
        raise refused(
            f"a value that carries a derivative, stored into a `{type(obj).__name__}`",
            "store it in a list, a dict or an array", "recording")
    else:
        HOOKS["setitem"](value, view, index)
        LEFT_BUFFERS[id(obj)] = obj


def item(obj: array.array[float], index: int | slice) -> Any:
    """Return ``obj[index]``."""
    view = view_of(obj)
    if view is None:
        return obj[index]
    if isinstance(index, slice):
        raise refused("a part of an `array` that carries a derivative", "use a list", "recording")
    number = HOOKS["getitem"](view, index)
    return HOOKS["renewed"](float(number), number)


def items(obj: array.array[float]) -> Iterator[Any]:
    """Iterate over what an array holds then."""
    index = 0
    while index < len(obj):
        yield item(obj, index)
        index += 1

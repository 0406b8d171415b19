"""Arrays of the module ``array``: where an active number is stored, they are arrays of NumPy's."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.record.functions import HOOKS
from adcompiler.record.tape import RECORDING, refuse_escaped, refused

if TYPE_CHECKING:
    pass

LEFT: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""Arrays in which an earlier recording has left active values, by identity."""


def view_of(obj: Any, makes: bool = False) -> np.ndarray | None:
    """Return the view of an array in which active values were stored; ``makes`` makes one."""
    if LEFT.get(id(obj)) is obj and (RECORDING.tape.buffers.get(id(obj)) is None):
        refuse_escaped()
    found = RECORDING.tape.buffers.get(id(obj))
    if found is None and makes and obj.typecode in "fd" and len(obj):
        found = RECORDING.tape.buffers[id(obj)] = obj, np.frombuffer(obj, obj.typecode)
    return None if found is None else found[1]


def stored(obj: Any, index: Any, value: Any) -> None:
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
        LEFT[id(obj)] = obj


def item(obj: Any, index: Any) -> Any:
    """Return ``obj[index]``."""
    view = view_of(obj)
    if view is None:
        return obj[index]
    if isinstance(index, slice):
        raise refused("a part of an `array` that carries a derivative", "use a list", "recording")
    number = HOOKS["getitem"](view, index)
    return HOOKS["renewed"](float(number), number)


def items(obj: Any) -> Iterator[Any]:
    """Iterate over what an array holds then."""
    index = 0
    while index < len(obj):
        yield item(obj, index)
        index += 1

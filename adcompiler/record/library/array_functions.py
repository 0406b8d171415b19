"""Functions of NumPy that have hooks of their own: they make, sum, repeat and choose."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np

from adcompiler.record.functions import HOOKS
from adcompiler.record.items import Broadcast, getitem, iterate, setitem
from adcompiler.record.library.arrays import as_array
from adcompiler.record.library.derived import derived
from adcompiler.record.library.methods import average, put, total
from adcompiler.record.library.outputs import into, is_recorded, without_out
from adcompiler.record.protocols import is_derived, natively
from adcompiler.record.single import recorded
from adcompiler.record.tape import RECORDING


def apply_broadcast_to(array: Any, shape: int | tuple[int, ...], subok: bool = False) -> Any:
    """Return a view of an array in which elements are repeated."""
    if not RECORDING.tape.holds(array):
        return natively(np.broadcast_to, array, shape, subok)
    view = np.broadcast_to(as_array(array), shape)
    return derived(view, type(array), array) if subok and is_derived(array) else view


def apply_broadcast(*args: Any) -> Any:
    """Return the shape that arrays have together."""
    return Broadcast(*args) if RECORDING.tape.holds(args) else natively(np.broadcast, *args)


def of_array_sum(function: Callable[..., Any], method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the hook of ``np.sum`` or ``np.mean``, fast in plain calls."""

    def apply(a: Any, *args: Any, **kwargs: Any) -> Any:
        tape = RECORDING.tape
        if type(a) is np.ndarray and len(args) + len(kwargs) <= 1 and set(kwargs) <= {"axis"} and (
            tape.is_active_array(a)
        ):
            axis = args[0] if args else kwargs.get("axis")
            found = method(a, axis)
            if found is not None:
                return found
        if isinstance(a, (list, tuple)) and tape.holds(a):
            a = HOOKS["gathered"](a)
        (_, *plain), named, out = without_out(function, (a, *args), kwargs)
        if is_recorded((a, *plain), named, out):
            return into(out, apply(a, *plain, **named))
        if not tape.holds((a, args, kwargs)):
            return natively(function, a, *args, **kwargs)
        return recorded(function, (a, *args), kwargs)

    return apply


def apply_dot(a: Any, b: Any, out: np.ndarray | None = None) -> Any:
    """Return ``np.dot``."""
    tape = RECORDING.tape
    if out is not None and is_recorded((a, b), {}, out):
        return into(out, apply_dot(a, b))
    if not tape.holds((a, b)):
        return natively(np.dot, a, b, out)
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.ndim in (1, 2) and (
        b.ndim in (1, 2)
    ):
        return HOOKS["matmul"](a, b)
    return recorded(np.dot, (a, b), {})


def apply_copyto(
    dst: np.ndarray, src: object, casting: str = "same_kind", where: Any = True
) -> None:
    """Do ``np.copyto``."""
    if where is True:
        setitem(src, dst, ...)
    else:
        chosen = np.broadcast_to(where, dst.shape)
        shaped = HOOKS["call"](np.broadcast_to, src, dst.shape)
        setitem(getitem(shaped, chosen), dst, chosen)


def apply_fromiter(items: Iterable[object], dtype: type, count: int = -1) -> Any:
    """Return an array of what an iterator gives."""
    rows = list(iterate(items)) if count < 0 else list(itertools.islice(iterate(items), count))
    return HOOKS["gathered"](rows, dtype)


OF_ARRAYS: dict[Any, Callable[..., Any]] = {
    np.fromiter: apply_fromiter, np.broadcast_to: apply_broadcast_to,
    np.broadcast: apply_broadcast, np.sum: of_array_sum(np.sum, total),
    np.mean: of_array_sum(np.mean, average), np.dot: apply_dot, np.copyto: apply_copyto,
    np.put: put,
    np.array: lambda object, *a, **k: as_array(object, *a, always=True, **k),
    np.asarray: as_array, np.asanyarray: partial(as_array, own=np.asanyarray, subok=True),
    np.ascontiguousarray: partial(as_array, own=np.ascontiguousarray),
}
"""Hooks by function."""

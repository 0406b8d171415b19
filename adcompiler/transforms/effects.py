"""Calls that are refused by name: those that write into their arguments or read scopes as text.

Compiled code keeps arrays by reference for the reverse sweep, and follows values from definition
to use; a call that changes one behind its back would make gradients silently wrong.
"""

from __future__ import annotations

import bisect
import builtins
import functools
import heapq
import inspect
import operator
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.transforms.writer import Writer

USE_THE_RESULT = "use functions that return a new array: np.where, np.concatenate, np.sort, np.full"
NEW_CONTAINER = (
    "make a new one, by a comprehension or a display: [*items, item], {**table, key: value}"
)
USE_ARGUMENTS = "write out what the text means, and pass values as arguments"

ARRAY_WRITERS: frozenset[Any] = frozenset({
    np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis,
    np.random.shuffle, np.ndarray.sort, np.ndarray.fill, np.ndarray.put, np.ndarray.partition,
    np.ndarray.resize, np.ndarray.setfield, np.ndarray.setflags, np.ndarray.__setitem__,
})
CONTAINER_WRITERS: frozenset[Any] = frozenset({
    operator.setitem, operator.delitem, operator.iconcat, setattr, delattr, random.shuffle,
    heapq.heapify, heapq.heappush, heapq.heappop, heapq.heappushpop, heapq.heapreplace,
    bisect.insort_left, bisect.insort_right,
    list.append, list.extend, list.insert, list.pop, list.remove, list.clear, list.sort,
    list.reverse, list.__setitem__, list.__delitem__, dict.__setitem__, dict.__delitem__,
    dict.update, dict.pop, dict.popitem, dict.setdefault, dict.clear,
})
SCOPE_READERS: frozenset[Any] = frozenset({
    builtins.eval, builtins.exec, builtins.locals, builtins.vars, builtins.globals,
})


def refused(
    s: Writer, function: Any, args: list[Any], kwargs: Mapping[str, Atom], origin: Origin,
    shown: str,
) -> bool:
    """Report a call that must not be compiled because of what else it does; say whether it is."""
    if _among(function, SCOPE_READERS):
        s.reject(
            origin, f"{shown}() sees variables by name, which compiled code does not keep",
            USE_ARGUMENTS, "dynamic-names",
        )
    elif _among(function, ARRAY_WRITERS) or is_ufunc_at(function):
        shown = f"{function.__self__.__name__}.at" if is_ufunc_at(function) else shown
        s.reject(
            origin, f"{shown}() writes into an array, which is not supported yet", USE_THE_RESULT,
            "array-writes",
        )
    elif _among(function, CONTAINER_WRITERS):
        s.reject(
            origin, f"{shown}() changes its argument in place, which is not supported yet",
            NEW_CONTAINER, "in-place-containers",
        )
    elif writes_to_out(function, args, kwargs):
        s.reject(
            origin, f"{shown}() with `out=` writes into an array, which is not supported yet",
            "use the result of the plain call", "ufunc-out-where",
        )
    else:
        return False
    return True


def is_ufunc_at(function: Any) -> bool:
    """Say whether ``function`` is ``np.add.at`` or its like."""
    return (
        getattr(function, "__name__", "") == "at"
        and isinstance(getattr(function, "__self__", None), np.ufunc)
    )


def writes_to_out(function: Any, args: list[Any], kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a call of a NumPy function is given an array for its result."""
    given: list[Any] = [kwargs["out"]] if "out" in kwargs else []
    if isinstance(function, np.ufunc):
        given += args[function.nin :]
    elif len(args) > 1 and str(getattr(function, "__module__", "")).startswith("numpy"):
        position = out_position(function)
        if position is not None:
            given += args[position : position + 1]
    return any(not (isinstance(atom, Const) and is_nothing(atom.value)) for atom in given)


def is_nothing(value: Any) -> bool:
    """Say whether a value given for ``out=`` means that there is none."""
    return value is None or (isinstance(value, tuple) and all(part is None for part in value))


@functools.lru_cache(maxsize=1024)
def out_position(function: Any) -> int | None:
    """Return the position of the parameter ``out`` of a NumPy function, None without one."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return None
    if "out" not in parameters or parameters["out"].kind is inspect.Parameter.KEYWORD_ONLY:
        return None
    return list(parameters).index("out")


def _among(function: Any, functions: frozenset[Any]) -> bool:
    try:
        return function in functions
    except TypeError:
        return False



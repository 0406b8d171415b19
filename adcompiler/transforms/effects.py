"""Calls that are refused by name: those that write into their arguments or read scopes as text.

Compiled code keeps arrays by reference for the reverse sweep, and follows values from definition
to use; a call that changes one behind its back would make gradients silently wrong.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from adcompiler.frontend.replacements import REPLACEMENTS
from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.rulekit.homes import root_module
from adcompiler.transforms.writer import Writer

USE_THE_RESULT = "use functions that return a new array: np.where, np.concatenate, np.sort, np.full"
NEW_CONTAINER = (
    "make a new one, by a comprehension or a display: [*items, item], {**table, key: value}"
)
USE_ARGUMENTS = "write out what the text means, and pass values as arguments"

ARRAY_WRITERS: frozenset[Any] = frozenset({
    np.random.shuffle, np.ndarray.resize,
    np.ndarray.setfield, np.ndarray.setflags, np.ndarray.__setitem__, np.ndarray.byteswap,
})
CONTAINER_WRITERS: frozenset[Any] = frozenset({
    operator.iconcat, delattr, random.shuffle,
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
    elif _among(function, ARRAY_WRITERS) or (
        is_ufunc_at(function) and function not in REPLACEMENTS
    ):
        shown = f"{function.__self__.__name__}.at" if is_ufunc_at(function) else shown
        s.reject(
            origin, f"{shown}() writes into an array in a way that is not supported",
            "write x[index] = value, or use np.add.at", "array-writes",
        )
    elif _among(function, CONTAINER_WRITERS):
        s.reject(
            origin, f"{shown}() changes its argument in place in a way that is not supported",
            NEW_CONTAINER, "in-place-containers",
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


def without_overwriting(function: Any, kwargs: dict[str, Atom]) -> dict[str, Atom]:
    """Return the keyword arguments of a call without leave to destroy the contents of others.

    SciPy's ``overwrite_x=True``, NumPy's ``overwrite_input=True`` and their like save memory; the
    reverse sweep may read the array.
    """
    root = root_module(function)
    if not any(key.startswith("overwrite_") for key in kwargs) or root not in ("numpy", "scipy"):
        return kwargs
    return {
        key: Const(False) if key.startswith("overwrite_") else value
        for key, value in kwargs.items() if key != "overwrite_input"
    }


def without_out(
    function: Any, args: list[Any], kwargs: Mapping[str, Atom]
) -> tuple[list[Any], dict[str, Atom], list[Atom]]:
    """Return the arguments of a NumPy call without the arrays for its results, and these."""
    rest, named = list(args), dict(kwargs)
    given: list[Any] = [named.pop("out")] if "out" in named else []
    if isinstance(function, np.ufunc):
        given += rest[function.nin :]
        del rest[function.nin :]
    elif len(args) > 1 and str(getattr(function, "__module__", "")).startswith("numpy"):
        position = out_position(function)
        if position is not None and position < len(rest):
            given += rest[position : position + 1]
            if len(rest) == position + 1:
                del rest[position]
    found = [a for a in given if not (isinstance(a, Const) and is_nothing(a.value))]
    return rest, named, found


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



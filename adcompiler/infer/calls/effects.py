"""Calls that are refused by name: those that write into their arguments or read scopes as text.

Compiled code keeps arrays by reference for the reverse sweep, and follows values from definition
to use; a call that changes one behind its back would make gradients silently wrong.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from adcompiler.prelude.replacements import replacement_of
from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.ops.facts import OF_ARRAY, OF_CONTAINER
from adcompiler.ops.qualified_names import home_module, root_module
from adcompiler.ops.registry import REGISTRY
from adcompiler.infer.writer import Writer

USE_THE_RESULT = "use functions that return a new array: np.where, np.concatenate, np.sort, np.full"
NEW_CONTAINER = (
    "make a new one, by a comprehension or a display: [*items, item], {**table, key: value}"
)
USE_ARGUMENTS = "write out what the text means, and pass values as arguments"

SCOPE_READERS: frozenset[Any] = frozenset({
    builtins.eval, builtins.exec, builtins.locals, builtins.vars, builtins.globals,
})


def refused(
    s: Writer, function: Any, args: list[Atom], kwargs: Mapping[str, Atom], origin: Origin,
    shown: str,
) -> bool:
    """Report a call that must not be compiled because of what else it does; say whether it is."""
    changes = None if replacement_of(function) else REGISTRY.facts(function).changes
    if _among(function, SCOPE_READERS):
        s.reject(
            origin, f"{shown}() sees variables by name, which compiled code does not keep",
            USE_ARGUMENTS, "dynamic-names",
        )
    elif changes == OF_ARRAY:
        shown = f"{function.__self__.__name__}.at" if is_ufunc_at(function) else shown
        s.reject(
            origin, f"{shown}() writes into an array in a way that is not supported",
            "write x[index] = value, or use np.add.at", "array-writes",
        )
    elif changes == OF_CONTAINER:
        s.reject(
            origin, f"{shown}() changes its argument in place in a way that is not supported",
            NEW_CONTAINER, "in-place-containers",
        )
    else:
        return False
    return True


def is_ufunc_at(function: Callable[..., Any]) -> bool:
    """Say whether ``function`` is ``np.add.at`` or its like."""
    return (
        getattr(function, "__name__", "") == "at"
        and isinstance(getattr(function, "__self__", None), np.ufunc)
    )


def without_overwriting(function: Callable[..., Any], kwargs: dict[str, Atom]) -> dict[str, Atom]:
    """Return the keyword arguments of a call without leave to destroy the contents of others.

    SciPy's ``overwrite_x=True``, NumPy's ``overwrite_input=True`` and their like save memory; the
    reverse sweep may read the array. BLAS keeps such arguments: code reads its result there.
    """
    root = root_module(function)
    if not any(key.startswith("overwrite_") for key in kwargs) or root not in ("numpy", "scipy"):
        return kwargs
    if home_module(function) == "scipy.linalg.blas":
        return kwargs
    return {
        key: Const(False) if key.startswith("overwrite_") else value
        for key, value in kwargs.items() if key != "overwrite_input"
    }


def _among(function: Callable[..., Any], functions: frozenset[Any]) -> bool:
    try:
        return function in functions
    except TypeError:
        return False



"""What is found out about a function's IR is kept as long as the function is, and no longer."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from adcompiler.ir.nodes import Function

T = TypeVar("T")


def remembered(find: Callable[[Function], T]) -> Callable[[Function], T]:
    """Return ``find``, called once for each function; what it returns must not hold that."""
    known: weakref.WeakKeyDictionary[Function, T] = weakref.WeakKeyDictionary()

    @functools.wraps(find)
    def finding(function: Function) -> T:
        if function not in known:
            known[function] = find(function)
        return known[function]

    return finding

"""What is known of a value that is one of two: the union of what is known of both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adcompiler.ir.nodes import UNDEF, Undefined
from adcompiler.runtime.records import is_record, record, state_of
from adcompiler.sparsity.dependences.values import (
    NOTHING, DType, Dependent, Either, Relation, UnknownList, Value, all_sets, dtype_of,
    equal, is_float, unite,
)

if TYPE_CHECKING:
    from adcompiler.sparsity.dependences.index_sets import Array

NUMBERS = (bool, int, float, complex, np.generic, np.ndarray)


def join(a: Any, b: Any) -> Any:
    """Return what is known of a value that is ``a`` or ``b``."""
    if a is b or isinstance(b, Undefined):
        return a
    if isinstance(a, Undefined):
        return b
    numbers = (Dependent, *NUMBERS)
    if isinstance(a, numbers) and isinstance(b, numbers):
        return join_numbers(a, b)
    if isinstance(a, (list, tuple)) and type(a) is type(b) and len(a) == len(b):
        items = [join(x, y) for x, y in zip(a, b, strict=True)]
        return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
    if isinstance(a, (list, UnknownList)) and isinstance(b, (list, UnknownList)):
        return UnknownList(join_all((*items_of(a), *items_of(b))))
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        return {key: join(item, b[key]) for key, item in a.items()}
    if is_record(a) and type(a) is type(b):
        state, other = state_of(a), state_of(b)
        if state.keys() == other.keys():
            return record(type(a), **{name: join(state[name], other[name]) for name in state})
    if same_value(a, b):
        return a
    return Either()


def join_all(values: Iterable[Value]) -> Any:
    """Return what is known of a value that is one of several; of none, that it is undefined."""
    found: Any = UNDEF.value
    for value in values:
        found = join(found, value)
    return found


def items_of(a: UnknownList | Sequence[Value]) -> tuple[Any, ...]:
    """Return what the items of a list may be."""
    return (a.item,) if isinstance(a, UnknownList) else tuple(a)


def same_value(a: Dependent, b: Dependent | Array) -> bool:
    """Say whether two values of other kinds than numbers are equal."""
    try:
        return type(a) is type(b) and bool(a == b)
    except Exception:  # whatever the comparison of foreign objects raises
        return False


def join_numbers(a: Any, b: Any) -> Any:
    """Return what is known of a number or array that is ``a`` or ``b``."""
    if not isinstance(a, Dependent) and same_numbers(a, b):
        return a
    if (dtype_of(a) is str) != (dtype_of(b) is str):
        return Either()
    shapes = [x.shape if isinstance(x, Dependent) else np.shape(x) for x in (a, b)]
    dtype = wider(dtype_of(a), dtype_of(b))
    parts = [x for x in (a, b) if isinstance(x, Dependent)]
    for part in parts:
        part.shared = True
    if shapes[0] != shapes[1] or shapes[0] is None:
        first, second = all_sets(parts)
        return Dependent(None, dtype, Relation(first, None), Relation(second, None))
    firsts = unite([x.first for x in parts] or [NOTHING], shapes[0])
    seconds = unite([x.second for x in parts] or [NOTHING], shapes[0])
    return Dependent(shapes[0], dtype, firsts, seconds)


def same_numbers(a: Any, b: Any) -> bool:
    """Say whether two numbers or arrays are the same in every respect."""
    return type(a) is type(b) and np.shape(a) == np.shape(b) and dtype_of(a) == dtype_of(b) and (
        bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc"))
    )


def wider(a: DType, b: DType) -> Any:
    """Return a dtype that numbers of either have: one of floats if one of them is."""
    if a == b:
        return a
    if is_float(a) != is_float(b):
        return a if is_float(a) else b
    return np.promote_types(np.dtype(a), np.dtype(b))


def same_zeros(a: Array | None, b: Array | None) -> bool:
    """Say whether the same elements of two arrays are known to be zero."""
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def covers(a: Any, b: Any) -> bool:
    """Say whether two joined values have the same first relations, and zeros.

    Numbers are not looked at.
    """
    if a is b:
        return True
    if isinstance(a, Dependent) and isinstance(b, Dependent):
        return a.shape == b.shape and a.dtype == b.dtype and equal(
            a.first, b.first, a.shape) and same_zeros(a.zeros, b.zeros)
    if isinstance(a, (list, tuple)) and type(a) is type(b):
        return len(a) == len(b) and all(map(covers, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return list(a) == list(b) and all(covers(a[k], b[k]) for k in a)
    if isinstance(a, NUMBERS) and isinstance(b, NUMBERS):
        return same_numbers(a, b)
    if isinstance(a, Either) and isinstance(b, Either):
        return True
    if isinstance(a, UnknownList) and isinstance(b, UnknownList):
        return covers(a.item, b.item)
    if is_record(a) and type(a) is type(b):
        return covers(state_of(a), state_of(b))
    return same_value(a, b)

"""Arguments to be differentiated, made real: integers count as floats, bools are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.analyses.array_libraries import foreign_class, instead_of
from adcompiler.errors import ArgumentsError, limitations
from adcompiler.runtime.records import carries_derivative, is_record, record, state_of


def as_real(value: Any, name: str) -> Any:
    """Return an argument to be differentiated with integers made floats; refuse bools.

    Whatever else is not known to be a number, an array or a structure of these is refused too:
    arrays of objects, records, text and dates; functions; deques, sets, buffers, iterators.
    """
    if not has_derivative(value):
        raise ArgumentsError(
            f"cannot differentiate with respect to {name}, which is {described(value)}; "
            f"argnums chooses other arguments\n  see {limitations()}#argument-types"
        )
    if isinstance(value, int):
        return float(value)
    if isinstance(value, np.integer):
        return np.float64(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        return value.astype(np.float64)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(real_item(item, name) for item in value))
    if type(value) in (tuple, list, dict):
        try:
            return real_items(value, name)
        except RecursionError:
            refuse_cycles(value, name)
            raise
    if is_record(value):
        refuse_cycles(value, name)
        if not carries_derivative(value):
            raise ArgumentsError(
                f"cannot differentiate with respect to {name}, which is {described(value)} without "
                "a float among its attributes; integers in an instance do not count as floats"
            )
    return value


def has_derivative(value: Any) -> bool:
    """Say whether there is a derivative with respect to a value: it is known what it holds."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "iufc"
    structure = isinstance(value, tuple | list | dict) or is_record(value)
    number = isinstance(value, int | float | complex) and not isinstance(value, bool)
    return number or structure


def real_items(value: Any, name: str) -> Any:
    """As ``as_real`` for a tuple, list or dict."""
    if type(value) is dict:
        if any(needs_real(item) for item in value.values()):
            return {key: real_item(item, name) for key, item in value.items()}
    elif any(needs_real(item) for item in value):
        return type(value)(real_item(item, name) for item in value)
    return value


def refuse_foreign(value: Callable[..., Any], name: str, differentiated: bool) -> None:
    """Raise ArgumentsError for values of other array libraries, which are never looked into.

    Of an argument that is ``differentiated`` attributes of instances count as well, and tables; in
    others these are data.
    """
    cls = foreign_class(value, deep=differentiated, tables=differentiated)
    if cls is not None:
        root = cls.__module__.partition(".")[0]
        where = name if type(value) is cls else f"a part of {name}"
        shown = name if name.startswith("argument ") else f"argument {name}"
        raise ArgumentsError(
            f"the {shown}: {where} is a {root} {cls.__name__}, and derivatives go through "
            f"NumPy's arrays and Python's numbers; pass {instead_of(cls)}\n"
            f"  see {limitations()}#array-classes"
        )


def real_at(value: Any, steps: Sequence[Any], name: str) -> Any:
    """As ``as_real`` for the part of an argument that ``steps`` lead to; the rest stays."""
    if not steps:
        return as_real(value, name)
    step, *rest = steps
    shown = f"{name}.{step}"
    parts = parts_of(value)
    if parts is None:
        raise TypeError(
            f"argnums: {name} is {described(value)}, of which no part can be named; parts have "
            "names in tuples, dicts and instances of Python classes"
        )
    key = step
    if isinstance(value, tuple) and step in getattr(value, "_fields", ()):
        key = list(getattr(value, "_fields", ())).index(step)
    elif step not in parts and isinstance(step, str) and step.isdigit():
        key = int(step)
    if key not in parts:
        has = ", ".join(map(str, parts)) or "nothing"
        raise TypeError(f"argnums: {name} has no part {step!r}; it has {has}")
    new = real_at(parts[key], rest, shown)
    if new is parts[key]:
        return value
    parts[key] = new
    if isinstance(value, dict):
        return parts
    if is_record(value):
        return record(type(value), **parts)
    return type(value)(*parts.values()) if hasattr(value, "_fields") else tuple(parts.values())


def part_at(value: object, steps: Sequence[str | int]) -> Any:
    """Return the part of an argument that ``steps``, which ``real_at`` has gone, lead to."""
    for step in steps:
        if isinstance(step, str) and step in getattr(value, "_fields", ()):
            value = getattr(value, step)
            continue
        parts = parts_of(value) or {}
        value = parts[step if step in parts else int(step)]
    return value


def parts_of(value: Any) -> dict[Any, Any] | None:
    """Return the named parts of a tuple, dict or instance; None for other values."""
    if isinstance(value, tuple):
        return dict(enumerate(value))
    if type(value) is dict:
        return dict(value)
    return state_of(value) if is_record(value) else None


def refuse_cycles(value: Any, name: str, around: tuple[int, ...] = ()) -> None:
    """Raise TypeError if a value contains itself."""
    if id(value) in around:
        raise TypeError(
            f"cannot differentiate with respect to {name}, which contains itself: a gradient "
            "would have no end"
        )
    around = (*around, id(value))
    if isinstance(value, (tuple, list)):
        for item in value:
            refuse_cycles(item, name, around)
    elif isinstance(value, dict):
        for item in value.values():
            refuse_cycles(item, name, around)
    elif is_record(value):
        for item in state_of(value).values():
            refuse_cycles(item, name, around)


def real_item(value: Callable[..., Any], name: str) -> Any:
    """As ``as_real`` for an item of a container, where other things than numbers may stand.

    What is of an unknown class is refused where the function reads it.
    """
    return as_real(value, name) if has_derivative(value) and not is_record(value) else value


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

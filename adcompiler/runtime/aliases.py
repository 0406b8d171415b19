"""Arguments that share storage, where one of them is written into."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.runtime.records import state_of


class AliasedError(ADError, ValueError):
    """Arguments share storage, and one of them is written into.

    ``same`` lists the positions of arguments that are one object, later and earlier, if sharing is
    no more than that: code for this case can be compiled.
    """

    def __init__(self, message: str, same: tuple[tuple[int, int], ...] = ()) -> None:
        super().__init__(message)
        self.same = same


def apart(
    names: tuple[str, ...], places: tuple[int, ...], written: tuple[int, ...], *values: Any
) -> None:
    """Raise AliasedError if a value that is written shares storage with another one.

    ``names`` are those of ``values``, ``places`` their positions among the arguments (-1 for what
    is none), ``written`` which of them are written into.
    """
    same: list[tuple[int, int]] = []
    for j, value in enumerate(values):
        for i in range(j):
            if i not in written and j not in written:
                continue
            if value is values[i] and isinstance(value, (np.ndarray, list, dict)) and (
                min(places[i], places[j]) >= 0
            ):
                same.append((places[j], places[i]))
            elif overlap(values[i], value):
                raise AliasedError(
                    f"the arguments `{names[i]}` and `{names[j]}` share memory, and one of them is "
                    "written into; pass a copy of one of them"
                )
    for i in written:
        parts = list(storage(values[i]))
        if len(parts) > 1 and any(
            one is two or may_share(one, two)
            for k, two in enumerate(parts) for one in parts[:k]
        ):
            raise AliasedError(
                f"the argument `{names[i]}` holds arrays that share memory, and is written into; "
                "make them separate arrays"
            )
    if same:
        shown = [f"`{names[places.index(k)]}`" for k in same[0]]
        raise AliasedError(
            f"the arguments {shown[1]} and {shown[0]} are one object, and it is written into",
            tuple(same),
        )


def holds_once(where: str, value: Any) -> None:
    """Raise AliasedError if a container holds an array, list or dict twice, or arrays that overlap.

    It is about to be written into at ``where``, or copied for that.
    """
    parts = list(storage(value))
    repeated = len({id(part) for part in parts}) < len(parts)
    buffers: dict[int, list[Any]] = {}
    for part in parts:
        if isinstance(part, np.ndarray):
            buffers.setdefault(id(buffer_of(part)), []).append(part)
    for arrays in buffers.values():
        repeated = repeated or any(
            may_share(one, two) for k, two in enumerate(arrays) for one in arrays[:k]
        )
    if repeated:
        raise AliasedError(
            f"{where} writes into what a list or another container holds, and this holds one "
            "array in two places, or arrays that overlap; put a copy into one of them"
        )


ITS_OWN_COPY = (
    int, float, complex, str, np.generic, type, types.FunctionType, types.BuiltinFunctionType,
    types.ModuleType,
)


def copied_apart(where: str, value: Any) -> None:
    """Raise AliasedError if a value that is deeply copied at ``where`` holds one object twice.

    A deep copy holds one copy of it in both places; code that is compiled has two.
    """
    parts = [id(part) for part in mutable_parts(value, ())]
    if len(set(parts)) < len(parts):
        raise AliasedError(
            f"{where} makes a deep copy of what holds one array, list, dict or instance in two "
            "places; put a copy into one of them"
        )


def mutable_parts(value: Any, inside: tuple[int, ...]) -> Iterator[Any]:
    """Yield all that a value holds and that may be written into, what holds itself once more."""
    if value is None or isinstance(value, ITS_OWN_COPY):
        return
    if not isinstance(value, tuple):
        yield value
    if id(value) in inside or isinstance(value, np.ndarray):
        return
    inside = (*inside, id(value))
    if isinstance(value, dict):
        parts: Any = value.values()
    else:
        parts = value if isinstance(value, (list, tuple)) else state_of(value).values()
    for part in parts:
        yield from mutable_parts(part, inside)


def buffer_of(array: Any) -> Any:
    """Return the array that the memory of ``array`` was allocated for."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else array.base


def overlap(a: Any, b: Any) -> bool:
    """Say whether two values hold storage in common."""
    others = list(storage(b))
    return any(one is two or may_share(one, two) for one in storage(a) for two in others)


def may_share(a: Any, b: Any) -> bool:
    """Say whether two objects share memory; arrays by the bounds of theirs where that is hard."""
    if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
        return False
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=1000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def storage(value: Any, inside: tuple[int, ...] = ()) -> Iterator[Any]:
    """Yield the arrays, lists and dicts that a value holds, what holds itself once more.

    ``inside`` are the identities of what the value lies in.
    """
    if isinstance(value, np.ndarray):
        yield value
        return
    if isinstance(value, (list, dict)):
        yield value
    if id(value) in inside:
        return
    inside = (*inside, id(value))
    if isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            if not isinstance(item, (int, float, str)):
                yield from storage(item, inside)
    elif isinstance(value, tuple):
        for item in value:
            yield from storage(item, inside)
    elif hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type):
        for item in vars(value).values():
            if isinstance(item, (np.ndarray, list, dict, tuple)):
                yield from storage(item, inside)

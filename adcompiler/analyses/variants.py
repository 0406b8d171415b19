"""Stand-ins of other signs, sizes and classes: results whose type depends on values are found so.

``2 ** n`` is a float for negative n, ``max(1, x)`` whichever is greater, ``sum([])`` an int. What a
call gives for one value of each argument says nothing of that, so it is tried on others as well.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from adcompiler.ir import types as t
from adcompiler.support.budget import quiet
from adcompiler.typed.values import CannotStandInError, stand_in, type_of

VALUES: dict[str, tuple[Any, ...]] = {
    "bool": (True, False), "int": (1, 0, -1, 2), "float": (0.5, 0.0, -0.5, 2.0),
    "complex": (0.5 + 0.25j, 0j, -1.0 + 0j),
}
"""Values of each kind; the first one is that of plain stand-ins."""

MOST_CALLS = 64
"""How many calls all combinations may take; of more, those are tried that differ in one place."""


def variants(type_: t.Type, n: int, by_value: bool) -> list[Any]:
    """Return values of ``type_``: of each class that it admits, and (``by_value``) others of each.

    The first is the plain stand-in.
    """
    match type_:
        case t.Scalar():
            return [
                value if one.dtype is None else np.dtype(one.dtype).type(value)
                for one in reversed(type_.alternatives)
                for value in VALUES[one.kind][: None if by_value else 1]
            ]
        case t.Text():
            return ["a", "", "ab"] if by_value else ["a"]
        case t.List(item) if item != t.BOTTOM and has_number(item):
            items = variants(item, n, by_value)
            mixed = [items[:: -1]] if len(items) > 1 and not exact(item) else []
            return [*([value] * n for value in items), *mixed, *([[]] if by_value else [])]
        case t.Tuple(items, cls) if has_number(type_):
            parts = combined([variants(item, n, by_value) for item in items])
            return [tuple(part) if cls is tuple else cls(*part) for part in parts]
        case t.Dict(keys, items) if keys is not None and has_number(type_):
            parts = combined([variants(item, n, by_value) for item in items])
            return [dict(zip(keys, part, strict=True)) for part in parts]
    return [stand_in(type_, n)]


def has_number(type_: t.Type) -> bool:
    """Say whether values of a type are numbers or may hold some."""
    match type_:
        case t.Scalar():
            return True
        case t.List(item):
            return has_number(item)
        case t.Tuple(items) | t.Dict(_, items):
            return any(map(has_number, items))
    return False


def has_tuple(type_: t.Type) -> bool:
    """Say whether values of a type are tuples or hold some, whose lengths values may decide."""
    match type_:
        case t.Tuple():
            return True
        case t.List(item):
            return has_tuple(item)
        case t.Dict(_, items):
            return any(map(has_tuple, items))
    return False


def exact(type_: t.Type) -> bool:
    """Say whether the classes of all numbers in values of a type are known."""
    match type_:
        case t.Scalar():
            return type_.exact
        case t.List(item):
            return exact(item)
        case t.Tuple(items) | t.Dict(_, items):
            return all(map(exact, items))
        case t.Object(_, fields):
            return all(exact(field) for _, field in fields)
    return True


def combined(choices: Sequence[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """Yield combinations of values: all if they are few, else those that differ in one place."""
    count = 1
    for values in choices:
        count *= len(values)
    if count <= MOST_CALLS:
        yield from itertools.product(*choices)
        return
    first = [values[0] for values in choices]
    yield tuple(first)
    for position, values in enumerate(choices):
        for value in values[1:]:
            yield (*first[:position], value, *first[position + 1:])
    for row in range(1, max(map(len, choices))):
        yield tuple(values[min(row, len(values) - 1)] for values in choices)


def widened(
    function: Callable[..., Any], found: t.Type, choices: Sequence[list[Any]],
    keywords: Sequence[str],
) -> t.Type:
    """Return the join of ``found`` and of the types that other combinations of arguments give.

    ``choices`` has the values to be tried for each argument, those by keyword last. A combination
    that raises gives no value at all.
    """
    count = len(choices) - len(keywords)
    with quiet(), np.errstate(all="ignore"):
        for values in combined(choices):
            named = dict(zip(keywords, values[count:], strict=True))
            try:
                other = type_of(function(*values[:count], **named))
            except CannotStandInError:
                return t.UNKNOWN
            except Exception:
                continue
            found = t.join(found, other)
            if isinstance(found, t.Unknown):
                return found
    return found

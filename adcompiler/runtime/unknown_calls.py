"""Calls of functions of which it is not known what they write into."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.errors import ADError
from adcompiler.runtime.adjoints.indexing import own

Place = int | str


class WrittenError(ADError, RuntimeError):
    """A function that is not compiled wrote into something that it was not expected to write."""


def call_on_copies(
    function: Callable[..., Any], stored: tuple[Place, ...], kept: tuple[Place, ...], /,
    *args: Any, **kwargs: Any,
) -> tuple[Any, ...]:
    """Return the result of a call, and the arrays at ``stored`` as the call leaves them.

    Arguments are named by their positions, or by the names they are given by. The function gets
    copies of these arrays, so that what was computed of them before still holds, and of what is
    ``kept``. Raises WrittenError if it writes into that.
    """
    given: dict[Place, Any] = dict(enumerate(args))
    given.update(kwargs)
    before = dict(given)
    copies: dict[int, Any] = {}
    for place in (*stored, *kept):
        given[place] = copies.setdefault(id(given[place]), own(given[place]))
    result = function(
        *(given[i] for i in range(len(args))), **{key: given[key] for key in kwargs}
    )
    for place in kept:
        if not is_unchanged(before[place], given[place]):
            name = getattr(function, "__name__", "a function")
            raise WrittenError(
                f"{name}() wrote into argument {place}, which is a container, or belongs to the "
                "module; derivatives are compiled for functions that write into arrays of their "
                "own or of the caller: give it a copy"
            )
    return (result, *(given[place] for place in stored))


def is_unchanged(a: Any, b: Any) -> bool:
    """Say whether a copy ``b`` of ``a`` is still the same, nan for nan."""
    if isinstance(a, np.ndarray):
        return a.shape == b.shape and a.dtype == b.dtype and bool(np.all((a == b) | (a != a)))
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(is_unchanged, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(is_unchanged, a.values(), b.values()))
    if hasattr(a, "__dict__") and a is not b:
        return type(a) is type(b) and is_unchanged(vars(a), vars(b))
    return a is b or bool(a == b) or bool(a != a)

"""Checks of types that were observed in a run, not found when compiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.errors import ADError


class ObservedTypeError(ADError, TypeError):
    """A value is of another type than it was in the run that code was compiled by."""


class Unfit(BaseException):
    """The code was not compiled for what a value is here.

    It is no ``Exception``, so that no handler of the program takes it for one of its own. What
    calls emitted code has other code compiled, or raises ``ObservedTypeError`` in its place.
    """


PLAIN = (bool, int, float, complex, str, range)


def described(value: Any) -> str:
    """Return what a value is, as ``check_type`` is told: ``float64[:, :]`` or ``(int, float)``."""
    cls = type(value)
    if cls in PLAIN:
        return cls.__name__
    if cls is np.ndarray:
        return f"{value.dtype.name}[{', '.join(':' * value.ndim)}]"
    if isinstance(value, np.generic):
        return f"np.{value.dtype.name}"
    if cls is tuple:
        inner = ", ".join(map(described, value))
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if cls is list:
        inner = " | ".join(dict.fromkeys(map(described, value)))
        return f"list[{inner}]"
    if cls is dict and all(type(key) is str for key in value):
        return "{" + ", ".join(f"{key!r}: {described(item)}" for key, item in value.items()) + "}"
    return "None" if value is None else f"{cls.__module__}.{cls.__qualname__}"


def check_type(value: Any, observed: str, place: str) -> None:
    """Raise Unfit unless ``value`` is of the type that was ``observed``."""
    found = described(value)
    if found != observed and not (found == "list[]" and observed.startswith("list[")):
        raise Unfit(
            f"{place}: this is of type {found}, and was of type {observed} in the run that the "
            "derivative was compiled by, as its type cannot be told without running\n"
            "  instead: make it of one type in every call"
        )

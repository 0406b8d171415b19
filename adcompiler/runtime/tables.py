"""Tables of pandas and xarray: their operators go by an index, and their methods pass over NaN.

Nothing is imported for it: a value is told by the module of its class.
"""

from __future__ import annotations

import functools
from typing import Any

from adcompiler.errors import ADError, limitations
from adcompiler.runtime.reading import unless_it_raises

LIBRARIES = frozenset({"pandas", "xarray"})


class TableError(ADError, TypeError):
    """A derivative meets a table, which turns out when the code runs."""


@unless_it_raises("")
@functools.lru_cache(maxsize=512)
def library_of(cls: Any) -> str:
    """Return the library of tables that a class, or one of its bases, is of; "" if there is none.
    """
    roots = (base.__module__.partition(".")[0] for base in cls.__mro__)
    return next((root for root in roots if root in LIBRARIES), "")


def is_table(cls: Any) -> bool:
    """Say whether a class is one of pandas or xarray, which give arrays of NumPy where asked."""
    return bool(library_of(cls))


def described_table(cls: Any) -> str:
    """Return what messages call a table of a class."""
    return f"a {cls.__name__} of {library_of(cls)}"


def no_table(value: Any, place: str) -> None:
    """Raise TableError if ``value``, at a place that a derivative goes through, is a table."""
    cls = type(value)
    if is_table(cls):
        where, _, expression = place.partition("\n")
        shown = f"{where}: " if where else ""
        text = f"\n    {expression}" if expression else ""
        raise TableError(
            f"{shown}an operand is {described_table(cls)}, which goes by its index and passes over "
            f"NaN{text}\n  instead: take its array, or number, first: `np.asarray(x)`, `float(x)`\n"
            f"  see {limitations()}#array-classes"
        )

"""Methods of tables of pandas and xarray: those that change their table are refused.

Tables are data: what they hold is not followed, so that a write could not be seen by what was read
of one before.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Const, Origin
from adcompiler.ir.operators import IN_PLACE
from adcompiler.runtime.tables import described_table, is_table, library_of
from adcompiler.infer.writer import Writer

WRITES = frozenset({
    "__setitem__", "__delitem__", "__setattr__", "__delattr__", "update", "insert", "pop",
    "setflags", "isetitem", "_set_value",
    *(f"__{function.__name__}__" for function in IN_PLACE),
})


def refuse_change(
    s: Writer, cls: type, method: str, kwargs: Mapping[str, Atom], origin: Origin
) -> Atom | None:
    """Report the call of a method that changes a table; None if it does not."""
    if not changes(method, kwargs):
        return None
    how = f"`{method}(inplace=...)`" if "inplace" in kwargs else f"`{method}`"
    return s.reject(
        origin, f"{how} changes {described_table(cls)}, which is data here and not followed",
        "make a new one, before the function or by `assign`, and use that", "array-classes",
    )


def changes(method: str, kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a method of a table changes it."""
    inplace = kwargs.get("inplace", Const(False))
    return method in WRITES or not (isinstance(inplace, Const) and inplace.value is False)


def reads_of_table(method: str, holders: list[t.Type], kwargs: Mapping[str, Atom]) -> bool:
    """Say whether a method of something that comes from tables is one of theirs, and only reads.

    ``holders`` are the types of what may hold its owner: tables, and what holds these.
    """
    tables = [cls for holder in holders for cls in tables_in(holder)]
    if changes(method, kwargs) or not all(map(tables_in, holders)):
        return False
    return any(
        hasattr(cls, method) for table in tables for cls in (table, *columns(library_of(table)))
    )


def columns(library: str) -> list[type]:
    """Return the classes of what the tables of a library are made of."""
    module = sys.modules.get(library)
    return [getattr(module, name) for name in ("Series", "DataArray") if hasattr(module, name)]


def tables_in(type_: t.Type) -> list[type]:
    """Return the classes of tables that a value of a type is of, or holds."""
    match type_:
        case t.Object(cls, fields):
            own = [cls] if is_table(cls) else []
            return own + [found for _, field in fields for found in tables_in(field)]
        case t.Tuple(items) | t.Dict(_, items):
            return [found for item in items for found in tables_in(item)]
        case t.List(item):
            return tables_in(item)
    return []

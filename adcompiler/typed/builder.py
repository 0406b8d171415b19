"""Writing statements whose types are known: what later stages build code with."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adcompiler.errors import TooLargeError
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Let, Origin, Rhs, Statement, Var
from adcompiler.typed.unit import Unit

CONTAINERS = (t.Tuple, t.Dict, t.Object)
MAX_PARTS = 50_000


def refuse_large(type_: t.Type, origin: Origin) -> None:
    """Raise TooLargeError if a value of a type holds too much: `t = (t, t)` doubles it."""
    if isinstance(type_, CONTAINERS) and t.has_more_parts(type_, MAX_PARTS):
        raise TooLargeError([origin.finding(
            f"this value holds more than {MAX_PARTS:,} others, whose types are all told apart",
            "write numbers into an array, or values of one kind into a list", "budget",
        )])


class Builder:
    """Writes statements to ``out``, and what is known of their values to ``unit``."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.out: list[Statement] = []

    def let(
        self, rhs: Rhs, type_: t.Type, name: str, origin: Origin, temporary: bool = True
    ) -> Var:
        """Write ``name = rhs`` and return the new variable."""
        refuse_large(type_, origin)
        var = Var(name, temporary)
        self.unit.record(var, rhs, type_)
        self.out.append(Let(var, rhs, origin))
        return var

    def bar(self, var: Var) -> str:
        """Return the name of the cotangent of a variable, by the name that the user gives it."""
        name = self.unit.naming.names.get(var, var.name)
        return name if name.endswith("_bar") else f"{name}_bar"

    @contextmanager
    def writing_to(self, out: list[Statement]) -> Iterator[list[Statement]]:
        """Write statements to ``out`` meanwhile."""
        before, self.out = self.out, out
        try:
            yield out
        finally:
            self.out = before

    def copy_facts(self, old: Var, new: Var) -> None:
        """Copy what is known of ``old`` to ``new``."""
        unit = self.unit
        tables: tuple[dict[Any, Any], ...] = (
            unit.types, unit.defs, unit.shapes, unit.writes.taken_out, unit.writes.stored_copies,
            unit.writes.rearranged, unit.layouts.unknown, unit.lengths, unit.places, unit.arms,
        )
        for table in tables:
            if old in table:
                table[new] = table[old]
        for marked in (
            unit.unsure, unit.writes.detached, unit.writes.in_place, unit.writes.popped,
            unit.writes.copied_for_writes, unit.writes.replacing, unit.layouts.read,
            unit.writes.kept_results,
        ):
            if old in marked:
                marked.add(new)
        if old in self.unit.iterators.one_shot:
            self.unit.iterators.one_shot.add(new)
        if isinstance(self.unit.types.get(new), t.Array):
            self.unit.shapes.setdefault(new, self.unit.shape(old))

"""What the values of one run were: types to rely on, with a check, where none can be told."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from adcompiler.ir import types as t
from adcompiler.ir.atoms import Origin, Var
from adcompiler.structs import dataclass

if TYPE_CHECKING:
    from adcompiler.ir.nodes import If

Sites = tuple[tuple[str, int, int], ...]
"""The places of the calls through which a statement was reached, outermost first."""


def places(sites: list[Origin]) -> Sites:
    """Return where calls stand."""
    return tuple((site.file, site.line, site.column) for site in sites)


@dataclass(eq=False)
class Observed:
    """The types that the variables of parsed functions had in a run of the function.

    ``reached`` tells of each call by which a variable was reached, ``anywhere`` of all together;
    ``arms`` holds the branches that were come to, each with the arm that was taken. With ``taken``
    code is compiled for these arms alone. ``relied`` lists what it relies on, for ``explain``.
    """

    reached: dict[tuple[Sites, Var], t.Type] = field(default_factory=dict)
    anywhere: dict[Var, t.Type] = field(default_factory=dict)
    arms: set[tuple[If, bool]] = field(default_factory=set)
    taken: bool = False
    relied: list[str] = field(default_factory=list)

    def note(self, sites: Sites, var: Var, type_: t.Type) -> None:
        """Note that a variable had a value of a type."""
        known: tuple[tuple[dict[Any, t.Type], Any], ...] = (
            (self.reached, (sites, var)), (self.anywhere, var))
        for table, key in known:
            table[key] = alike(table.get(key, t.BOTTOM), type_)

    def with_others(self, other: Observed | None, taken: bool) -> Observed:
        """Return what was seen in this run and another one, to be relied on."""
        both = Observed(taken=taken)
        for one in (self, *(() if other is None else (other,))):
            for (sites, var), type_ in one.reached.items():
                both.note(sites, var, type_)
            both.arms |= one.arms
        return both

    def never(self, node: If, arm: bool) -> bool:
        """Say whether an arm was never taken of a branch that was come to."""
        return (node, arm) not in self.arms and (node, not arm) in self.arms

    def type(self, var: Var, sites: list[Origin], apart: bool) -> t.Type:
        """Return what a variable always was; in code kept ``apart``, by whomever it is called."""
        if apart:
            return self.anywhere.get(var, t.UNKNOWN)
        return self.reached.get((places(sites), var), t.UNKNOWN)


def alike(a: t.Type, b: t.Type) -> t.Type:
    """Return the type of values that are all of one, and unknown if they are not."""
    return b if isinstance(a, t.Bottom) else a if a == b else t.UNKNOWN


def text_of(type_: t.Type) -> str | None:
    """Return how a check names a type, as ``runtime.described`` does; None if none can be made."""
    match type_:
        case t.Scalar() if type_.exact:
            return str(type_)
        case t.Array() | t.Text() | t.Range():
            return str(type_)
        case t.Static(None):
            return "None"
        case t.Tuple(items, cls) if cls is tuple:
            parts = [text_of(item) for item in items]
            if None not in parts:
                inner = ", ".join(map(str, parts))
                return f"({inner},)" if len(parts) == 1 else f"({inner})"
        case t.List(item):
            part = text_of(item)
            return None if part is None else f"list[{part}]"
        case t.Dict(keys, items) if keys is not None and all(type(k) is str for k in keys):
            entries = [(key, text_of(item)) for key, item in zip(keys, items, strict=True)]
            if all(part is not None for _, part in entries):
                return "{" + ", ".join(f"{key!r}: {part}" for key, part in entries) + "}"
    return None

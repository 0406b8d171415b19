"""Functions that are called by name where a derivative is wanted: two halves, or a pushforward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import Any, TypeVar

from adcompiler.support.structs import dataclass
from adcompiler.typed.callee import Callee


@dataclass(eq=False)
class Pair:
    """The augmented primal and pullback of a called function, for some active parameters.

    ``apart`` says that what is saved has storage of its own: the caller goes on to write into what
    it gives to the function, or gets from it.
    """

    callee: Callee
    active: tuple[bool, ...]
    apart: bool = False
    augmented: CalleePart = field(init=False)
    pullback: CalleePart = field(init=False)

    def __post_init__(self) -> None:
        self.augmented = CalleePart(self.callee, "augmented", self.suffix)
        self.pullback = CalleePart(self.callee, "pullback", self.suffix)

    @property
    def suffix(self) -> str:
        """Tells the pairs of one function from one another."""
        return mask_text(self.active) + ("_apart" if self.apart else "")


@dataclass(eq=False)
class Push:
    """The pushforward of a called function, for some active parameters; in one part or in two."""

    callee: Callee
    active: tuple[bool, ...]
    pushforward: CalleePart = field(init=False)
    linearized: CalleePart = field(init=False)
    tangent: CalleePart = field(init=False)

    def __post_init__(self) -> None:
        suffix = mask_text(self.active)
        self.pushforward = CalleePart(self.callee, "pushforward", suffix)
        self.linearized = CalleePart(self.callee, "linearized", suffix)
        self.tangent = CalleePart(self.callee, "tangent", suffix)


Part = TypeVar("Part", Pair, Push)


def as_added(called: Mapping[Any, Part]) -> Iterator[Part]:
    """Iterate over the functions that are called, those included that are added meanwhile."""
    done = 0
    while done < len(called):
        yield list(called.values())[done]
        done += 1


def mask_text(active: tuple[bool, ...]) -> str:
    """Return what tells derivatives of one function for other parameters from one another."""
    return "" if all(active) else "_" + "".join("1" if a else "0" for a in active)


@dataclass(frozen=True, eq=False)
class CalleePart:
    """A compile-time reference to one function made of a called one."""

    callee: Callee
    role: str
    suffix: str

    @property
    def name(self) -> str:
        """The name under which the function is emitted."""
        return f"{self.callee.name}_{self.role}{self.suffix}"

    __name__ = name


Pairs = dict[tuple[Callee, tuple[bool, ...], bool], Pair]
"""The pairs that are called, by function, active parameters, and whether they are apart."""

Pushes = dict[tuple[Callee, tuple[bool, ...]], Push]
"""The pushforwards that are called, by function and active parameters."""

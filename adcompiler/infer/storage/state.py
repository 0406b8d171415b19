"""What is known of storage at one point of the code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from adcompiler.ir.nodes import Atom, Origin, Step, Var
from adcompiler.support.structs import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Where a value lies: the part of ``root`` that ``steps`` lead to, as it was in ``at``."""

    root: Var
    steps: tuple[Step, ...]
    at: Atom


@dataclass(frozen=True, slots=True)
class Change:
    """What made a value of a root of the value ``before``.

    ``rebound`` is the number of steps after which a slot of a container was given another object,
    None if only the content of arrays, or the end of a list, has changed. ``grown`` holds
    the depths of lists whose end has: subscripts counted from the end lead to other items then.
    ``content`` says that objects which slots held before may have changed as well, ``stored`` that
    it is a write of the program, not a value that was read anew, copied, or joined; ``copied`` that
    what the value holds are, or may be, copies of what the value before holds.
    """

    before: Atom
    rebound: int | None
    grown: frozenset[int] = frozenset()
    content: bool = True
    stored: bool = False
    copied: bool = False

    def reaches(self, depth: int) -> bool:
        """Say whether an object that as many steps lead to may have changed itself."""
        return self.content or any(k >= depth for k in self.grown) or (
            self.rebound is not None and self.rebound >= depth
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """A root that is one of two others: the first if ``condition`` is true.

    ``seen`` are the values of these roots that its latest value was read from.
    """

    condition: Atom
    alternatives: tuple[Reference, Reference]
    seen: tuple[Atom, ...] = ()


class Invalidated(dict[Var, tuple[Origin, Var]]):
    """Roots that may have been written through another one, with the place and the other one.

    ``asked`` holds the roots that were asked after and are not among them: only these tell code
    that follows from what it would be if they were. Copies share it, as far as a loop's trial goes.
    """

    __slots__ = ("asked",)

    def __init__(
        self, items: Mapping[Var, tuple[Origin, Var]] | None = None, asked: set[Var] | None = None
    ) -> None:
        super().__init__(items or {})
        self.asked: set[Var] = set() if asked is None else asked

    def __contains__(self, root: object) -> bool:
        found = super().__contains__(root)
        if not found and isinstance(root, Var):
            self.asked.add(root)
        return found

    def get(self, root: Var, default: Any = None) -> Any:
        """Return the place of a root, or ``default``."""
        if root not in self:
            return default
        return self[root]

    def holds(self, root: Var) -> bool:
        """Say whether a root is invalidated, to what does not follow from it."""
        return super().__contains__(root)

    def note(self, root: Var, place: Origin, through: Var) -> None:
        """Add a root, without asking whether it is there."""
        super().setdefault(root, (place, through))

    def copy(self) -> Invalidated:
        """Return a copy that notes in the same set what is asked."""
        return Invalidated(self, self.asked)


@dataclass(eq=False)
class State:
    """What is known at one point of the code; copied where control flow parts.

    ``latest`` is the latest value of each root that was written; ``may_alias`` the roots that may
    share storage; ``invalidated`` those that may have been written through another one, with the
    place.
    ``exclusive`` says of values whether nobody else holds their storage, where that is not clear
    from how they were made; ``spines`` are lists and dicts that nobody else refers to, though
    somebody may refer to what they hold. ``choices`` are the roots that are one of two others.
    """

    latest: dict[Var, Atom] = field(default_factory=dict)
    may_alias: dict[Var, set[Var]] = field(default_factory=dict)
    invalidated: Invalidated = field(default_factory=Invalidated)
    exclusive: dict[Atom, bool] = field(default_factory=dict)
    spines: set[Atom] = field(default_factory=set)
    choices: dict[Var, Choice] = field(default_factory=dict)

    def copy(self) -> State:
        """Return an independent copy."""
        return State(
            dict(self.latest), {root: set(others) for root, others in self.may_alias.items()},
            self.invalidated.copy(), dict(self.exclusive), set(self.spines), dict(self.choices),
        )

    def value(self, root: Var) -> Atom:
        """Return the latest value of a root."""
        return self.latest.get(root, root)

"""What is known of storage at one point of the code."""

from __future__ import annotations

from dataclasses import dataclass, field

from adcompiler.ir.nodes import Atom, Origin, Step, Var


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
    ``content`` says that objects which slots held before may have changed as well.
    """

    before: Atom
    rebound: int | None
    grown: frozenset[int] = frozenset()
    content: bool = True

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


@dataclass(eq=False)
class State:
    """What is known at one point of the code; copied where control flow parts.

    ``latest`` is the latest value of each root that was written; ``may_alias`` the roots that may
    share storage; ``invalidated`` those that may have been written through another one, with the
    place.
    ``exclusive`` says of values whether nobody else holds their storage, where that is not clear
    from how they were made. ``choices`` are the roots that are one of two others.
    """

    latest: dict[Var, Atom] = field(default_factory=dict)
    may_alias: dict[Var, set[Var]] = field(default_factory=dict)
    invalidated: dict[Var, tuple[Origin, Var]] = field(default_factory=dict)
    exclusive: dict[Atom, bool] = field(default_factory=dict)
    choices: dict[Var, Choice] = field(default_factory=dict)

    def copy(self) -> State:
        """Return an independent copy."""
        return State(
            dict(self.latest), {root: set(others) for root, others in self.may_alias.items()},
            dict(self.invalidated), dict(self.exclusive), dict(self.choices),
        )

    def value(self, root: Var) -> Atom:
        """Return the latest value of a root."""
        return self.latest.get(root, root)

"""The values that a root has had, one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adcompiler.ir.nodes import Atom
from adcompiler.infer.storage.state import Change


class History:
    """The values that roots have had, one after the other: ``changes`` tells what made each.

    ``repackings`` are containers made anew as something that they refer to was written.
    """

    def __init__(self) -> None:
        self.changes: dict[Atom, Change] = {}
        self.repackings: set[Atom] = set()

    def written_value(self, value: Atom) -> Atom:
        """Return the value of a root that ``value`` is, but for parts with roots of their own."""
        while value in self.repackings:
            value = self.changes[value].before
        return value

    def between(self, before: Atom, after: Iterable[Atom]) -> Iterator[tuple[Atom, Change]]:
        """Yield the values on the way from one to each of ``after``, with what made them."""
        for step in after:
            while step is not before and step in self.changes:
                yield step, self.changes[step]
                step = self.changes[step].before

    def grown_between(self, before: Atom, after: Iterable[Atom]) -> set[int]:
        """Return the depths of lists whose end has changed on the way to one of ``after``."""
        return {depth for _, change in self.between(before, after) for depth in change.grown}

    def content_between(self, before: Atom, after: Iterable[Atom]) -> bool:
        """Say whether objects in slots may have changed on the way to one of ``after``."""
        return any(change.content for _, change in self.between(before, after))

    def copies_between(self, before: Atom, after: Iterable[Atom]) -> list[Atom]:
        """Return the values at which what a root holds was copied on the way to ``after``."""
        return [value for value, change in self.between(before, after) if change.copied]

    def rebound_between(self, before: Atom, after: Iterable[Atom]) -> int | None:
        """Return the least depth at which slots were rebound on the way to one of ``after``."""
        return min((
            change.rebound for _, change in self.between(before, after)
            if change.rebound is not None), default=None)

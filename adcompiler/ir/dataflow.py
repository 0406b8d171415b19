"""The solver of dataflow: what is marked marks what follows from it, until nothing is added.

Each variable is defined once, so what an analysis finds is a set of variables, and its rules are
steps from one variable to another: from operands to what is computed of them, along the edges of
regions (see ``regions``). Every step is taken once, however deep regions are nested. What has no
such steps, as it is known only of whole blocks or arrays, is a ``fixpoint``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from adcompiler.ir.nodes import Atom


class Flow:
    """Steps between atoms, which are followed forward or backward."""

    def __init__(self, steps: Iterable[tuple[Atom, Atom]] = ()) -> None:
        self.steps = list(steps)

    def add(self, target: Atom, sources: Iterable[Atom]) -> None:
        """Add steps to ``target`` from each of ``sources``."""
        self.steps += [(target, source) for source in sources]

    def forward(
        self, start: Iterable[Atom], admits: Callable[[Atom], bool] | None = None,
        also: Callable[[Atom], Iterable[Atom]] | None = None,
    ) -> set[Atom]:
        """Return ``start`` and all that it leads to, by way of what is admitted.

        ``also`` gives further steps from an atom, asked for when it is reached.
        """
        following: dict[Atom, list[Atom]] = {}
        for target, source in self.steps:
            following.setdefault(source, []).append(target)
        return reached(start, following, admits, also)

    def backward(
        self, start: Iterable[Atom], admits: Callable[[Atom], bool] | None = None,
        also: Callable[[Atom], Iterable[Atom]] | None = None,
    ) -> set[Atom]:
        """Return ``start`` and all that leads to it, by way of what is admitted.

        ``also`` gives what else leads to an atom, asked for when that is reached.
        """
        before: dict[Atom, list[Atom]] = {}
        for target, source in self.steps:
            before.setdefault(target, []).append(source)
        return reached(start, before, admits, also)


def reached(
    start: Iterable[Atom], following: dict[Atom, list[Atom]],
    admits: Callable[[Atom], bool] | None = None,
    also: Callable[[Atom], Iterable[Atom]] | None = None,
) -> set[Atom]:
    """Return ``start`` and what follows from it, step by step."""
    found = set(start)
    waiting = list(found)
    while waiting:
        last = waiting.pop()
        steps: Iterable[Atom] = following.get(last, ())
        for atom in steps if also is None else (*steps, *also(last)):
            if atom not in found and (admits is None or admits(atom)):
                found.add(atom)
                waiting.append(atom)
    return found


def fixpoint(step: Callable[[], bool]) -> None:
    """Take a step until it says that it has added nothing."""
    while step():
        pass

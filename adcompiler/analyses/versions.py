"""Values that follow one another in one piece of storage.

Emitting an ``Update`` writes into the storage of the value that it starts from, which is *destroyed*
by that: its storage holds the next value from then on. Branches and loops hand storage on.
"""

from __future__ import annotations

from collections.abc import Iterator

from adcompiler.analyses.storage import written_operand
from adcompiler.ir.nodes import Atom, Block, If, Let, Loop, Try, Update, Var, With
from adcompiler.ir.visit import arms_of, walk


class Versions:
    """The versions of storage in one typed function.

    ``destroyed`` are the values whose storage goes on to hold another one, ``all`` these and what
    they become. ``following`` maps a value to one that has its storage later. ``inside`` says that
    some update writes into what a container holds, not only into its slots.
    """

    def __init__(self, body: Block) -> None:
        self.destroyed: set[Var] = set()
        self.all: set[Var] = set()
        self.following: dict[Var, Var] = {}
        self.inside = False
        backward: list[tuple[Atom, Atom]] = []
        forward: list[tuple[Atom, Var]] = []
        for statement in walk(body):
            match statement:
                case Let(target, rhs, _):
                    old = written_operand(rhs)
                    if isinstance(old, Var):
                        self.destroyed.add(old)
                        self.all |= {old, target}
                        self.following[old] = target
                    if isinstance(rhs, Update):
                        self.inside |= rhs.adds or len(rhs.steps) != 1
                case If(results=results) | With(results=results) | Try(results=results):
                    for arm in arms_of(statement):
                        pairs = list(zip(results, arm.yields, strict=False))
                        backward += pairs
                        forward += [(atom, result) for result, atom in pairs]
                case Loop(params=params, inits=inits, results=results):
                    for param, init, following, result in zip(
                        params, inits, statement.next_values(), results, strict=False
                    ):
                        backward += [
                            (param, init), (param, following), (result, following),
                            (result, init), (result, param),
                        ]
                        forward += [(following, param), (param, result)]
        if self.destroyed:
            self.close(backward, forward)

    def close(self, backward: list[tuple[Atom, Atom]], forward: list[tuple[Atom, Var]]) -> None:
        """Follow storage through branches and loops until nothing is added."""
        size = -1
        while size != len(self.destroyed) + len(self.all):
            size = len(self.destroyed) + len(self.all)
            for later, earlier in backward:
                if later in self.destroyed and isinstance(earlier, Var):
                    self.destroyed.add(earlier)
            self.all |= self.destroyed
            for earlier, later in forward:
                if earlier in self.all:
                    self.all.add(later)
        for earlier, later in forward:
            if isinstance(earlier, Var) and earlier in self.all:
                self.following.setdefault(earlier, later)
        for later, earlier in backward:
            if isinstance(later, Var) and isinstance(earlier, Var) and earlier in self.destroyed:
                self.following.setdefault(earlier, later)

    def chain(self, var: Var) -> Iterator[Var]:
        """Yield the values that the storage of ``var`` holds later, one after the other."""
        seen = {var}
        while var in self.following and self.following[var] not in seen:
            var = self.following[var]
            seen.add(var)
            yield var

"""Gives variables their names in the emitted code: out of single assignment, back to plain Python.

Variables that hand a value on (a carried value and its next value, the result of a branch and what
its arms yield) share a name where their lifetimes allow, so that ``x = f(x)`` reads as it was
written; others may share a name only if they have the same base name and never live together.
"""

from __future__ import annotations

import builtins
import keyword
from collections.abc import Iterable, Iterator
from itertools import count

from adcompiler.backends.python.fusion import Fusion
from adcompiler.backends.python.lifetimes import Lifetimes, bits, symmetric
from adcompiler.backends.python.tapes import Tapes
from adcompiler.ir.nodes import Function, Var
from adcompiler.typed.unit import Unit

WRITTEN = frozenset({
    "np", "math", "reversed", "range", "len", "zip", "enumerate", "slice", "float", "int",
    "complex", "list", "tuple", "dict",
})
"""Names that emitted code uses whatever the user's function is like."""

RESERVED = frozenset({*keyword.kwlist, *dir(builtins), "np", "math"})


class Names:
    """The name of each variable of one function.

    With ``keeps_parameters``, those of parameters stay as they are, also if the code needs a name
    of the module that they hide. ``discard`` is the name of what nobody reads.
    """

    def __init__(
        self, function: Function, unit: Unit, tapes: Tapes, fusion: Fusion,
        taken: Iterable[str] = (), keeps_parameters: bool = False,
    ) -> None:
        self.unit = unit
        self.taken = RESERVED | frozenset(taken)
        self.written = frozenset() if keeps_parameters else WRITTEN | frozenset(taken)
        self.params = [p.var for p in function.params]
        lives = Lifetimes(function, unit, tapes, fusion)
        self.order = lives.order
        self.index = lives.index
        self.near = symmetric(lives.rows)
        self.group: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}
        self.mask: dict[Var, int] = {}
        self.coalesce(lives.links)
        self.names: dict[Var, str] = {}
        self.assign()
        read = {self.names[self.leader(v)] for v in self.order if fusion.uses.get(v, 0)}
        read.update(self.names[self.leader(v)] for v in self.params)
        self.discard = "_"
        while self.discard in read:
            self.discard += "_"

    def __getitem__(self, var: Var) -> str:
        return self.names[self.leader(var)]

    # -- coalescing ----------------------------------------------------------------------------

    def leader(self, var: Var) -> Var:
        found = var
        while self.group.get(found, found) is not found:
            found = self.group[found]
        while var is not found:
            self.group[var], var = found, self.group[var]
        return found

    def coalesce(self, links: Iterable[tuple[Var, Var]]) -> None:
        for var in self.order:
            self.members[var] = [var]
            self.mask[var] = 1 << self.index[var]
        params = set(self.params)
        for a, b in links:
            if a not in self.order or b not in self.order:
                continue
            one, two = self.leader(a), self.leader(b)
            if one is two or (one in params and two in params):
                continue
            if self.near[self.index[one]] & self.mask[two]:
                continue
            if two in params:
                one, two = two, one
            self.group[two] = one
            self.members[one] += self.members.pop(two)
            self.mask[one] |= self.mask.pop(two)
            self.near[self.index[one]] |= self.near[self.index[two]]

    # -- names ---------------------------------------------------------------------------------

    def base(self, leader: Var) -> str:
        """Return the name that a group of variables would like to have."""
        if leader in self.params:
            return leader.name
        members = self.members[leader]
        named = [v for v in members if v in self.unit.naming.names or not v.temporary]
        best = (named or members)[0]
        for var in named:
            if not var.name.endswith("_bar"):
                best = var
                break
        return self.unit.naming.names.get(best) or self.unit.naming.hints.get(best) or best.name

    def assign(self) -> None:
        """Give each group the first name of its own that none of its neighbours has."""
        holders: dict[str, int] = {}
        series: dict[str, Series] = {}
        params = set(self.params)
        leaders = [v for v in self.order if self.leader(v) is v]
        for leader in sorted(leaders, key=lambda v: v not in params):
            base = self.base(leader)
            refused = self.written if leader in params else self.taken
            near, mask = self.near[self.index[leader]], self.mask[leader]
            mine = series.setdefault(base, Series())
            for number in mine.candidates(near):
                name = numbered(base, number)
                if name not in refused and not holders.get(name, 0) & near:
                    holders[name] = holders.get(name, 0) | mask
                    mine.give(number, [self.index[v] for v in self.members[leader]], mask)
                    self.names[leader] = name
                    break


class Series:
    """The numbered names of one base name, and which variables have them."""

    def __init__(self) -> None:
        self.held = 0
        self.numbers: dict[int, int] = {}
        self.unheld: set[int] = set()
        self.next = 0

    def candidates(self, near: int) -> Iterator[int]:
        """Return the numbers that may be free for a variable with neighbours ``near``, in order.

        A number that has holders may be free only if one of these is no neighbour.
        """
        free, others = self.held & ~near, self.held & near
        if free.bit_count() < others.bit_count():
            yield from sorted(self.unheld.union(self.numbers[i] for i in bits(free)))
        else:
            yield from range(self.next)
        yield from count(self.next)

    def give(self, number: int, indices: Iterable[int], mask: int) -> None:
        """Note that the variables of ``mask``, at ``indices``, have a number."""
        self.unheld.update(range(self.next, number))
        self.unheld.discard(number)
        self.next = max(self.next, number + 1)
        self.held |= mask
        self.numbers.update(dict.fromkeys(indices, number))


def numbered(base: str, number: int) -> str:
    """Return the name to try: the base name first, then numbered ones."""
    return f"{base}_{number}" if number else base

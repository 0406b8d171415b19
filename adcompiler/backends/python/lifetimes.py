"""Which variables of a function are read later where another one is assigned: lifetimes.

The walk goes backwards. Sets of variables are the bits of an int, so that a function of thousands
of values that live together costs no more than its text. What a loop reads of values from outside
is found first, once for each loop: these live all through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from adcompiler.analyses.storage import written_operand
from adcompiler.backends.python.fusion import Fusion
from adcompiler.backends.python.tapes import Tapes, saved_at
from adcompiler.ir.nodes import (
    Atom, Block, Const, Function, If, Item, Let, Loop, Region, Statement, Try, Var, With,
)
from adcompiler.ir.visit import bound_inside, defined, direct_uses, walk
from adcompiler.typed.unit import Unit


class Lifetimes:
    """The lifetimes in one function.

    ``index`` numbers the variables, ``rows`` hold for each what lives where it is assigned, and
    ``order`` the assigned ones, last first. ``links`` are pairs that should share a name.
    """

    def __init__(self, function: Function, unit: Unit, tapes: Tapes, fusion: Fusion) -> None:
        self.fusion = fusion
        self.tapes = tapes
        self.index: dict[Var, int] = {}
        self.rows: list[int] = []
        self.links: list[tuple[Var, Var]] = []
        self.order: dict[Var, None] = {p.var: None for p in function.params}
        self.entering: dict[Loop, int] = {}
        self.noting = True
        self.unpacked: dict[Var, list[Var]] = {}
        for statement in walk(function.body):
            match statement:
                case Let(target, Item(Var() as obj, Const())) if obj in unit.naming.opened:
                    self.unpacked.setdefault(obj, []).append(target)
        live = self.block(function.body, self.read(function.body.yields))
        params = [p.var for p in function.params]
        for var in params:
            self.define(var, live | self.mask(params))

    # -- sets ----------------------------------------------------------------------------------

    def bit(self, var: Var) -> int:
        """Return the set of one variable."""
        if var not in self.index:
            self.index[var] = len(self.rows)
            self.rows.append(0)
        return 1 << self.index[var]

    def mask(self, atoms: Iterable[Atom]) -> int:
        """Return the set of the variables among ``atoms``."""
        found = 0
        for atom in atoms:
            if isinstance(atom, Var):
                found |= self.bit(atom)
        return found

    def read(self, atoms: Iterable[Atom]) -> int:
        """Return the variables that are read when ``atoms`` are written."""
        return self.mask(self.fusion.read_through(tuple(atoms)))

    def define(self, var: Var, live: int) -> None:
        """Note what lives where ``var`` is assigned."""
        if self.noting:
            self.order.setdefault(var)
            bit = self.bit(var)
            self.rows[self.index[var]] |= live & ~bit

    def link(self, a: Atom, b: Atom) -> None:
        """Wish that two variables share a name, as a value moves from one to the other."""
        if self.noting and isinstance(a, Var) and isinstance(b, Var):
            self.links.append((a, b))

    # -- statements ----------------------------------------------------------------------------

    def block(self, block: Block, live: int) -> int:
        """Walk backwards: ``live`` is what is read after a block; return what is before it."""
        for statement in reversed(block.statements):
            live = self.statement(statement, live)
        return live

    def statement(self, statement: Statement, live: int) -> int:
        """As ``block``, for one statement."""
        if any(self.fusion.is_fused(v) for v in defined(statement)):
            return live
        match statement:
            case If() if statement in self.fusion.conditionals:
                (result,) = statement.results
                self.define(result, live)
                arms = (*statement.then.yields, *statement.orelse.yields, statement.condition)
                return live & ~self.bit(result) | self.read(arms)
            case If():
                return self.branch(statement, live)
            case Loop() if statement in self.fusion.comprehensions:
                return self.comprehension(statement, live)
            case Loop():
                return self.loop(statement, live)
            case Region():
                return self.region(statement, live)
        for var in defined(statement):
            self.define(var, live | self.mask(self.beside(statement)))
        live &= ~self.mask(defined(statement))
        match statement:
            case Let(target, rhs) if (written := written_operand(rhs)) is not None:
                self.link(target, written)
                # with another name, it is assigned before the rest is read
                self.define(target, self.read(direct_uses(statement)) & ~self.mask((written,)))
        return live | self.read(direct_uses(statement))

    def beside(self, statement: Statement) -> Iterable[Var]:
        """Return the variables that unpacking assigns together with that of a statement."""
        match statement:
            case Let(_, Item(Var() as obj, Const())):
                return self.unpacked.get(obj, ())
        return ()

    def branch(self, node: If, live: int) -> int:
        """As ``block``, for a branch."""
        results = self.mask(node.results)
        for result in node.results:
            self.define(result, live | results)
        after = live & ~results
        before = 0
        for arm in (node.then, node.orelse):
            inner = after | self.read(arm.yields)
            self.keep_results_apart(node.results, after)
            before |= self.block(arm, inner)
            for result, value in zip(node.results, arm.yields, strict=False):
                self.link(result, value)
        return before | self.read((node.condition,))

    def region(self, node: With | Try, live: int) -> int:
        """As ``block``, for a region; what its handlers read lives all through its body."""
        results = self.mask(node.results)
        for result in node.results:
            self.define(result, live | results)
        after = live & ~results
        bound = bound_inside(node)
        handlers = before = 0
        for arm in reversed(node.arms()):
            around = after | (handlers if arm in node.watched() else 0)
            self.keep_results_apart(node.results, around)
            inner = self.block(arm, around | self.read(() if arm.diverges else arm.yields))
            for var in bound:
                self.define(var, inner | after)
                if isinstance(node, Try):  # the name of an exception is unbound behind its handler
                    self.define(var, results)
            inner &= ~self.mask(bound)
            handlers |= inner
            before |= inner
            for result, value in zip(node.results, arm.yields, strict=False):
                self.link(result, value)
        return before | self.read(direct_uses(node))

    def keep_results_apart(self, results: tuple[Var, ...], after: int) -> None:
        """A result must not take the name of a variable that outlives the arm's end."""
        for result in results:
            self.define(result, after)

    # -- loops ---------------------------------------------------------------------------------

    def comprehension(self, node: Loop, live: int) -> int:
        """As ``block``, for a loop that is written as a comprehension."""
        self.define(node.collects[0], live)
        live &= ~self.bit(node.collects[0])
        inside, items = self.read(node.body.yields), self.mask(node.items)
        for item in node.items:
            self.define(item, live | inside | items)
        return live | inside & ~items | self.read(node.iterables)

    def loop(self, node: Loop, live: int) -> int:
        """As ``block``, for a loop."""
        produced = self.mask((*node.results, *node.collects))
        for result in (*node.results, *node.collects):
            self.define(result, live | produced)
        after = live & ~produced
        inside = after | self.mask(node.collects) | self.entering_loop(node)
        if self.noting:
            self.body(node, inside, after)
        bound = self.mask((*node.params, *node.items))
        iterated = self.read(node.iterables)  # once the carried values have been initialised
        for item in node.items:
            for var in (item, *self.unpacked.get(item, ())):
                self.define(var, iterated)  # no tape is the item of one
        for var in node.collects:
            self.define(var, inside | bound | iterated)
        for param, init in zip(node.params, node.inits, strict=True):
            self.define(param, iterated & ~self.mask((init,)))
        for param, following, init, result in zip(
            node.params, node.next_values(), node.inits, node.results, strict=True
        ):
            self.define(result, after)
            self.link(param, following)
            self.link(param, result)
            self.link(param, init)
        return inside & ~self.mask(node.collects) | self.read((*node.iterables, *node.inits))

    def entering_loop(self, node: Loop) -> int:
        """Return what an iteration reads of values from outside: these live all through the loop.
        """
        if node not in self.entering:
            noting, self.noting = self.noting, False
            self.entering[node] = self.body(node, 0, 0)
            self.noting = noting
        return self.entering[node]

    def body(self, node: Loop, inside: int, after: int) -> int:
        """Walk an iteration backwards; return what it reads of values from outside of it."""
        bound = self.mask((*node.params, *node.items))
        at_end = (*node.next_values(), *(() if node.stop() is None else (node.stop(),)))
        live = self.saving(node, inside | self.read(at_end))
        for var in (*node.items, *node.params):
            self.define(var, live | bound)
        entry = live | self.mask(node.params)
        if node.condition is not None:
            entry = self.block(node.condition, entry | self.read(node.condition.yields))
        for param in node.params:
            self.define(param, entry | after)
        return (entry | live) & ~bound

    def saving(self, node: Loop, live: int) -> int:
        """Walk a loop's body backwards, where what it saves is read when it is saved."""
        values = dict(zip(node.collects, node.collected(), strict=True))
        places = saved_at(node, self.tapes.of_loop[node])
        statements = node.body.statements
        for position in range(len(statements), -1, -1):
            if position < len(statements):
                live = self.statement(statements[position], live)
            for tape in places.get(position, ()):
                live |= self.read([values[c] for c in tape.collects])
        return live


def bits(mask: int) -> Iterator[int]:
    """Return the positions of the bits of ``mask`` that are set, in order."""
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest


BITS = [np.uint8(1 << place) for place in range(8)]


def symmetric(rows: list[int]) -> list[int]:
    """Return the rows of a relation made symmetric: each with its column."""
    width = (len(rows) + 7) // 8
    packed = np.frombuffer(
        b"".join(row.to_bytes(width, "little") for row in rows), np.uint8
    ).reshape(len(rows), width)
    found = []
    for start in range(0, width, 64):  # a few rows of bytes at a time lie beside one another
        for eight in np.ascontiguousarray(packed[:, start:start + 64].T):
            found += [np.packbits(eight & bit, bitorder="little").tobytes() for bit in BITS]
    return [
        row | int.from_bytes(column, "little") for row, column in zip(rows, found, strict=False)
    ]

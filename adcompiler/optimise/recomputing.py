"""What loops save for their sweep is as little as gives the rest of it by cheap operations.

Sums, products, comparisons and neighbours of values are computed again in the sweep from fewer
values, which are saved in their place. Where machine loops compute these together with what reads
them, that costs less than memory does. Which values are fewest is a minimum cut (Ford and
Fulkerson, Canadian Journal of Mathematics 8, 1956) between what a loop is given and what the sweep
wants, nearest to the latter.
"""

from __future__ import annotations

import itertools
from dataclasses import field, replace
from typing import Any

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing, is_mutable
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Loop, Rhs, Star, Statement, Var, operands, substitute,
    unstar,
)
from adcompiler.ir.visit import (
    count_uses, defined, definitions, loops_in, substitute_block, with_blocks,
)
from adcompiler.ops.queries import meaning
from adcompiler.optimise.common_subexpressions import common_subexpressions
from adcompiler.optimise.dead_code import dead_code
from adcompiler.optimise.tapes import turned_round
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit

CHEAP = frozenset((
    "add", "subtract", "multiply", "divide", "negative", "positive", "square", "absolute", "where",
    "maximum", "minimum", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
))
"""What functions mean that cost less than memory does; quotients do where they are of arrays."""
WEIGHTS = {"float": 1_000, "complex": 2_000, "int": 1_000, "bool": 125}
"""What an array that is saved costs; numbers cost 1."""


def saved_less(block: Block, unit: Unit, purity: Purity) -> Block:
    """Return ``block`` with loops that save less, and sweeps that compute the rest of it again."""
    if not unit.settings.reads_again or not any(loop.collects for loop in loops_in(block)):
        return block
    again = _Again(block, unit)
    made = again.block(block)
    return dead_code(common_subexpressions(made, purity), purity) if again.changed else block


@dataclass(eq=False)
class Saved:
    """A list that a loop collects: the value that it is of, and what its one reader calls an item.

    ``backwards`` is the list in the order of the sweep.
    """

    tape: Var
    value: Var
    backwards: Var
    item: Var


@dataclass
class Pair:
    """A loop and the one that reads what it saves, later in the same block."""

    loop: Loop
    reader: Loop
    saved: list[Saved]
    lets: dict[Var, Let] = field(default_factory=dict)


class _Again:
    """Rewrites the loops of a block; ``changed`` says whether any of them saves less."""

    def __init__(self, block: Block, unit: Unit) -> None:
        self.unit = unit
        self.exposed = exposed_values(block, Sharing(unit.type, unit.definition))
        self.uses = count_uses(block)
        self.changed = False

    def block(self, block: Block) -> Block:
        """Return a block with the pairs of loops in it rewritten."""
        statements = [with_blocks(statement, self.block) for statement in block.statements]
        for pair in self.pairs(statements):
            chosen = self.chosen(pair)
            if chosen is not None:
                statements = self.rewritten(statements, pair, chosen)
                self.changed = True
        if all(new is old for new, old in zip(statements, block.statements, strict=False)):
            return block
        return replace(block, statements=tuple(statements))

    # -- which loops ---------------------------------------------------------------------------

    def pairs(self, statements: list[Statement]) -> list[Pair]:
        """Return the loops of a block that are read by one loop each, with what is read there."""
        backwards = turned_round(statements)
        readers = {
            iterable: (loop, item) for loop in statements if isinstance(loop, Loop)
            for item, iterable in zip(loop.items, loop.iterables, strict=True)
            if isinstance(iterable, Var)
        }
        found = []
        for loop in statements:
            if not isinstance(loop, Loop) or not loop.collects or loop.body.diverges:
                continue
            by_reader: dict[Loop, list[Saved]] = {}
            for tape, value in zip(loop.collects, loop.collected(), strict=True):
                turned = backwards.get(tape)
                if turned is None or self.uses[tape] != 1 or self.uses[turned] != 1 or (
                    turned not in readers or not isinstance(value, Var)
                    or readers[turned][1] in self.unit.naming.opened or value in self.unit.unsure
                ):
                    continue
                reader, item = readers[turned]
                by_reader.setdefault(reader, []).append(Saved(tape, value, turned, item))
            found += [Pair(loop, reader, saved, lets_of(loop))
                      for reader, saved in by_reader.items()]
        return found

    # -- what is saved -------------------------------------------------------------------------

    def chosen(self, pair: Pair) -> list[Var] | None:
        """Return the values to be saved in place of those that are; None to leave it so."""
        made = {*pair.loop.params, *pair.loop.items, *definitions(pair.loop.body)}
        stay = [one.value for one in pair.saved if one.value not in self.exposed]
        wanted = [value for value in stay if value in made]
        flow = _Cut()
        waiting, seen = list(wanted), set(wanted)
        while waiting:
            value = waiting.pop()
            weight = self.weight(value)
            flow.link((value, "in"), (value, "out"), weight)
            inside = self.again(pair, value, made)
            if inside is None:
                flow.link("given", (value, "in"), None)
                continue
            for atom in inside:
                flow.link((atom, "out"), (value, "in"), None)
                if atom not in seen:
                    seen.add(atom)
                    waiting.append(atom)
        for value in wanted:
            flow.link((value, "out"), "wanted", None)
        before = sum(self.weight(value) for value in dict.fromkeys(wanted))
        if (not wanted or flow.run("given", "wanted") >= before) and wanted == stay:
            return None
        least = {node[0] for node in flow.cut("wanted")} if wanted else set()
        body = (var for statement in pair.loop.body.statements for var in defined(statement))
        found = [var for var in (*pair.loop.params, *pair.loop.items, *body) if var in least]
        if not found and len(stay) == len(pair.reader.items):
            return None  # something has to tell how often the sweep runs
        return found

    def weight(self, value: Var) -> int:
        """Return what it costs to save a value."""
        type_ = self.unit.type(value)
        return WEIGHTS.get(type_.kind, 2_000) if isinstance(type_, t.Array) else 1

    def again(self, pair: Pair, value: Var, made: set[Var]) -> list[Var] | None:
        """Return the values of the iteration of which one can be computed again; None if not."""
        let = pair.lets.get(value)
        if let is None or value in self.exposed or not self.is_cheap(let.rhs):
            return None
        found = []
        for atom in operands(let.rhs):
            if isinstance(atom, Const):
                continue
            if atom in self.exposed or atom in self.unit.unsure:
                return None
            if atom in made:
                found.append(atom)
            elif is_mutable(self.unit.type(atom)) and not isinstance(self.unit.type(atom), t.Array):
                return None
        return list(dict.fromkeys(found))

    def is_cheap(self, rhs: Rhs) -> bool:
        """Say whether a right-hand side costs less than memory does."""
        numeric = [self.unit.type(atom) for atom in operands(rhs) if isinstance(atom, Var)]
        if not all(isinstance(type_, (t.Scalar, t.Array)) for type_ in numeric):
            return False
        match rhs:
            case Item(obj, Const()):
                return isinstance(self.unit.type(obj), t.Array)
            case Call(_, args, kwargs) if not any(isinstance(a, Star) for a in args):
                word = meaning(rhs)
                if word == "roll":
                    rest = (*args[1:], *(atom for _, atom in kwargs))
                    return all(isinstance(unstar(atom), Const) for atom in rest)
                if word == "divide" and not any(isinstance(k, t.Array) for k in numeric):
                    return False
                if word == "power":
                    exponent = unstar(args[1])
                    return not kwargs and isinstance(exponent, Const) and (
                        type(exponent.value) is int and exponent.value in (2, 3))
                return not kwargs and word in CHEAP
        return False

    # -- rewriting -----------------------------------------------------------------------------

    def rewritten(
        self, statements: list[Statement], pair: Pair, chosen: list[Var]
    ) -> list[Statement]:
        """Return the statements of a block in which a pair of loops saves other values."""
        dropped = [one for one in pair.saved
                   if one.value not in chosen and one.value not in self.exposed]
        there = {one.value: one.item for one in pair.saved if one not in dropped}
        added = [self.added(value) for value in chosen if value not in there]
        there |= {one.value: one.item for one in added}
        loop = self.saving(pair.loop, {one.tape for one in dropped}, added)
        gone = {one.item for one in dropped}
        ways = [(item, iterable) for item, iterable in zip(
            pair.reader.items, pair.reader.iterables, strict=True) if item not in gone]
        ways += [(one.item, one.backwards) for one in added]
        lets, mapping = self.computed(pair, there, dropped)
        body = substitute_block(pair.reader.body, mapping)
        reader = replace(
            pair.reader, items=tuple(item for item, _ in ways),
            iterables=tuple(iterable for _, iterable in ways),
            body=replace(body, statements=(*lets, *body.statements)),
        )
        turned = {one.backwards for one in dropped}
        found: list[Statement] = []
        for statement in statements:
            if statement is pair.loop:
                found.append(loop)
            elif statement is pair.reader:
                found += [self.turned(one, pair.reader) for one in added]
                found.append(reader)
            elif turned.isdisjoint(defined(statement)):
                found.append(statement)
        return found

    def added(self, value: Var) -> Saved:
        """Return a new list for a value."""
        unit = self.unit
        item = self.copied(value)
        tape, backwards = Var(f"{value.name}_tape", True), Var(f"reversed_{value.name}", True)
        unit.types[tape], unit.types[backwards] = t.List(unit.type(value)), t.UNKNOWN
        return Saved(tape, value, backwards, item)

    def turned(self, one: Saved, reader: Loop) -> Let:
        """Return the statement that turns a list round for the sweep."""
        rhs = Call(Const(reversed), (one.tape,))
        self.unit.defs[one.backwards] = rhs
        return Let(one.backwards, rhs, reader.origin)

    def saving(self, loop: Loop, dropped: set[Var], added: list[Saved]) -> Loop:
        """Return a loop that collects other lists."""
        kept = [(tape, value) for tape, value in zip(loop.collects, loop.collected(), strict=True)
                if tape not in dropped]
        kept += [(one.tape, one.value) for one in added]
        stop = loop.stop()
        yields = (*loop.next_values(), *(value for _, value in kept),
                  *(() if stop is None else (stop,)))
        return replace(loop, collects=tuple(tape for tape, _ in kept),
                       body=replace(loop.body, yields=yields))

    def computed(
        self, pair: Pair, there: dict[Var, Var], dropped: list[Saved]
    ) -> tuple[list[Let], dict[Var, Atom]]:
        """Return what the sweep computes of what is saved, and what stands for the items dropped.

        ``there`` are the items of values that are saved; values from in front of the loop are
        there, too.
        """
        wanted = {one.value for one in dropped}
        order: dict[Var, None] = {}
        for value, let in reversed(pair.lets.items()):
            if value in wanted and value not in there:
                order[value] = None
                wanted.update(atom for atom in operands(let.rhs) if isinstance(atom, Var))
        known: dict[Var, Atom] = {**{one.value: one.value for one in dropped}, **there}
        lets = []
        for value in reversed(order):
            let = pair.lets[value]
            known[value] = new = self.copied(value)
            rhs = substitute(let.rhs, known)
            self.unit.defs[new] = rhs
            lets.append(Let(new, rhs, let.origin.reversed()))
        return lets, {one.item: known[one.value] for one in dropped}

    def copied(self, var: Var) -> Var:
        """Return another variable of which the same is known."""
        new, unit = Var(var.name, var.temporary), self.unit
        unit.types[new] = unit.type(var)
        if isinstance(unit.types[new], t.Array):
            unit.shapes[new] = unit.shape(var)
        for table in (unit.naming.names, unit.naming.hints):
            if var in table:
                table[new] = table[var]
        return new


class _Cut:
    """A network of nodes with capacities between them, None where there is no limit."""

    def __init__(self) -> None:
        self.left: dict[Any, dict[Any, float]] = {}

    def link(self, source: Any, target: Any, capacity: int | None) -> None:
        """Let so much flow from one node to another."""
        most = float("inf") if capacity is None else capacity
        self.left.setdefault(source, {})[target] = most
        self.left.setdefault(target, {}).setdefault(source, 0)

    def run(self, source: str, goal: str) -> float:
        """Let as much flow as can, and return how much that is."""
        total = 0.0
        while (way := self.way(source, goal)) is not None:
            steps = list(itertools.pairwise(way))
            much = min(self.left[a][b] for a, b in steps)
            if much == float("inf"):
                return much
            for a, b in steps:
                self.left[a][b] -= much
                self.left[b][a] += much
            total += much
        return total

    def way(self, source: str, goal: str) -> list[Any] | None:
        """Return a shortest way on which more can flow."""
        before: dict[Any, Any] = {source: None}
        waiting = [source]
        for node in waiting:
            if node == goal:
                found = [goal]
                while (node := before[node]) is not None:
                    found.append(node)
                return found[::-1]
            for other, left in self.left.get(node, {}).items():
                if left > 0 and other not in before:
                    before[other] = node
                    waiting.append(other)
        return None

    def cut(self, goal: str) -> list[Any]:
        """Return the nodes in front of the links that limit the flow, nearest to the goal."""
        side = {goal}
        waiting = [goal]
        for node in waiting:
            for other in self.left[node]:
                if other not in side and self.left[other][node] > 0:
                    side.add(other)
                    waiting.append(other)
        return [a for a, links in self.left.items() if a not in side for b in links
                if b in side and self.is_link(a, b)]

    @staticmethod
    def is_link(source: tuple[Atom | str, ...], target: tuple[Atom | str, ...]) -> bool:
        """Say whether a value stands between two nodes."""
        return isinstance(source, tuple) and source[1] == "in" and target == (source[0], "out")


def lets_of(loop: Loop) -> dict[Var, Let]:
    """Return the definitions of an iteration, in order, without those of inner regions."""
    return {one.target: one for one in loop.body.statements if isinstance(one, Let)}

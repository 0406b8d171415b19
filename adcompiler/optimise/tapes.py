"""What a loop saves for one reverse loop becomes one list of tuples, wherever that list goes.

The lists of inner loops are saved by the loops around them, or handed to another function. Where
values of an iteration go the same way to the same reverse loop, they are put into one tuple. What
is saved twice is saved once. What is a sum or product of values that are saved anyway is not saved
but computed anew: that costs as much as an addition, where keeping it costs memory for as long as
the loop runs. Where more than ten values are saved, so are products of matrices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing, is_mutable
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Item, Let, Loop, Origin, Pack, Rhs, Statement, Var, operands,
    substitute, unstar,
)
from adcompiler.ir.operators import RING
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import (
    count_uses, defined, definitions, loops_in, substitute_block, walk, with_blocks,
)
from adcompiler.ops.queries import meaning
from adcompiler.optimise.common_subexpressions import common_subexpressions
from adcompiler.optimise.dead_code import dead_code
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


MOST = 10
"""How many values of an iteration are saved, if the rest is products of them."""


def join_tapes(block: Block, unit: Unit, purity: Purity) -> Block:
    """Return ``block`` with the lists that loops fill joined where one loop reads them."""
    if not any(len(loop.collects) > 1 for loop in loops_in(block)):
        return block
    joined = _Tapes(block, unit)
    if not joined.packs and not joined.gone:
        return block
    block = substitute_block(joined.block(block), dict(joined.fresh))
    return dead_code(common_subexpressions(block, purity), purity) if joined.anew else block


@dataclass(frozen=True)
class Way:
    """How a list comes to the loop that reads it: the variables that hold it, last first.

    ``loops`` are the reverse loops on the way, the reader last; ``item`` is what it calls an entry.
    """

    reader: Loop
    item: Var
    names: tuple[Var, ...]
    loops: tuple[Loop, ...]


@dataclass
class _Tapes:
    body: Block
    unit: Unit
    packs: dict[Loop, list[list[Var]]] = field(default_factory=dict)
    entries: dict[Var, list[Var]] = field(default_factory=dict)
    gone: set[Var] = field(default_factory=set)
    renamed: dict[Var, Atom] = field(default_factory=dict)
    instead: dict[Var, Atom] = field(default_factory=dict)
    fresh: dict[Var, Var] = field(default_factory=dict)
    anew: dict[Loop, list[Let]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        statements = self.body.statements
        self.inner = definitions(self.body) - {v for s in statements for v in defined(s)}
        self.exposed = exposed_values(self.body, Sharing(self.unit.type, self.unit.definition))
        self.uses = count_uses(self.body)
        for statement in walk(self.body):  # how long a list is they all tell
            if isinstance(statement, Let) and is_length(statement.rhs):
                (measured,) = operands(statement.rhs)[1:]
                if isinstance(measured, Var):
                    self.uses[measured] -= 1
        loops = list(loops_in(self.body))
        self.reversed = turned_round(walk(self.body))
        self.read: dict[Var, tuple[Loop, Var]] = {}
        self.collected: dict[Var, Var] = {}
        for loop in loops:
            for item, iterable in zip(loop.items, loop.iterables, strict=False):
                if isinstance(iterable, Var):
                    self.read[iterable] = (loop, item)
            for collect, value in zip(loop.collects, loop.collected(), strict=True):
                if isinstance(value, Var):
                    self.collected[value] = collect
        for loop in reversed(loops):  # inner ones first
            self.plan(loop)

    # -- who reads what ------------------------------------------------------------------------

    def way(self, tape: Var) -> Way | None:
        """Return how a list comes to the one loop that reads it, None if others read it too."""
        if self.uses.get(tape) != 1:
            return None
        if tape in self.collected:
            outer = self.way(self.collected[tape])
            if outer is None:
                return None
            inner = self.reading(outer.item)
            if inner is None:
                return None
            loop, item, backwards = inner
            return Way(
                loop, item, (*outer.names, self.collected[tape], outer.item, backwards),
                (*outer.loops, loop),
            )
        found = self.reading(tape)
        return None if found is None else Way(found[0], found[1], (found[2],), (found[0],))

    def reading(self, tape: Var) -> tuple[Loop, Var, Var] | None:
        """Return the loop that runs backwards over a list and does nothing else with it."""
        backwards = self.reversed.get(tape)
        if backwards is None or self.uses.get(tape) != 1 or self.uses.get(backwards) != 1 or (
            backwards not in self.read
        ):
            return None
        return (*self.read[backwards], backwards)

    def plan(self, loop: Loop) -> None:
        """Decide which lists of a loop become one."""
        groups: dict[tuple[Loop, ...], list[tuple[Var, Atom, Way]]] = {}
        for collect, value in zip(loop.collects, loop.collected(), strict=True):
            way = self.way(collect) if collect not in self.gone else None
            if way is not None and way.item not in self.unit.naming.opened:
                groups.setdefault(way.loops, []).append((collect, value, way))
        for group in groups.values():
            kept: dict[Atom, tuple[Var, Way]] = {}
            for collect, value, way in group:
                tape, first = kept.setdefault(value, (collect, way))
                if first is not way:
                    self.drop(collect, way, tape, first)
                    self.gone.add(way.item)
                    self.renamed[way.item] = first.item
            self.compute_anew(loop, kept)
            (tape, first), *others = kept.values()
            if not others:
                continue
            self.packs.setdefault(loop, []).append([tape, *(other for other, _ in others)])
            for other, way in others:
                self.drop(other, way, tape, first)
                self.gone.add(way.item)
            self.entries[first.item] = [way.item for _, way in kept.values()]
            self.fresh[tape] = joined = Var("tape", True)
            saved = (self.fresh.get(v, v) if isinstance(v, Var) else v for v in kept)
            self.unit.types[joined] = t.List(t.Tuple(tuple(map(self.unit.type, saved))))
            self.hold(tape, self.unit.types[joined])
            self.name(joined, first)

    def hold(self, tape: Var, type_: t.Type) -> None:
        """Let lists that a list is put into, and their entries, be others, of what they hold."""
        outer = self.collected.get(tape)
        way = None if outer is None else self.way(outer)
        if outer is not None and way is not None:
            for var, held in ((outer, t.List(type_)), (way.item, type_)):
                self.fresh[var] = new = Var(var.name, var.temporary)
                self.unit.types[new] = held
                if var in self.unit.naming.names:
                    self.unit.naming.names[new] = self.unit.naming.names[var]
            self.hold(outer, t.List(type_))

    def compute_anew(self, loop: Loop, kept: dict[Atom, tuple[Var, Way]]) -> None:
        """Take out of ``kept`` what the reverse loop can compute of the rest at little cost."""
        for statement in reversed(loop.body.statements):
            if not isinstance(statement, Let) or statement.target not in kept or len(kept) == 1:
                continue
            value, rhs = statement.target, statement.rhs
            many = len(kept) > MOST and self.is_product(rhs)
            if value in self.exposed or not (many or self.is_cheap(rhs)) or not all(
                (atom in kept and atom not in self.exposed and atom is not value)
                or isinstance(atom, Const) or (atom not in self.inner and (
                    not is_mutable(self.unit.type(atom)) or (many and atom not in self.exposed)))
                for atom in operands(rhs)
            ):
                continue
            tape, way = kept.pop(value)
            first, its = next(iter(kept.values()))
            self.drop(tape, way, first, its)
            self.gone.add(way.item)
            mapping = {
                atom: kept[atom][1].item for atom in operands(rhs) if isinstance(atom, Var)
                and atom in kept
            }
            new = Let(way.item, substitute(rhs, mapping), statement.origin.reversed())
            self.unit.defs[way.item] = new.rhs
            self.anew.setdefault(way.reader, []).insert(0, new)

    def is_product(self, rhs: Rhs) -> bool:
        """Say whether a right-hand side is the product of two arrays, matrices or vectors."""
        return isinstance(rhs, Call) and meaning(rhs) == "matmul" and not rhs.kwargs and all(
            isinstance(self.unit.type(unstar(arg)), t.Array) for arg in rhs.args)

    def is_cheap(self, rhs: Rhs) -> bool:
        """Say whether a right-hand side is a sum, a product or the like of numbers or arrays."""
        return isinstance(rhs, Call) and isinstance(rhs.func, Const) and not rhs.kwargs and (
            rhs.func.value in RING
        ) and all(
            isinstance(self.unit.type(unstar(arg)), (t.Scalar, t.Array)) for arg in rhs.args
        )

    def drop(self, tape: Var, way: Way, kept: Var, its: Way) -> None:
        """Let one list, and what holds it on its way, stand for another."""
        self.gone.update((tape, *way.names))
        self.instead.update(zip((tape, *way.names), (kept, *its.names), strict=True))

    def name(self, tape: Var, way: Way) -> None:
        """Call a list of tuples ``tape``, and a list of those ``tapes``."""
        outer = set(self.collected.values())
        self.unit.naming.names[tape] = "tape"
        for var in way.names:
            if var in outer or var not in self.read:
                name = "tapes" if var in outer else "tape"
                names = self.unit.naming.names
                names[var] = names[self.fresh.get(var, var)] = name

    # -- rewriting -----------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        statements: list[Statement] = []
        for statement in block.statements:
            if isinstance(statement, Let) and statement.target in self.gone:
                continue
            if isinstance(statement, Let) and is_length(statement.rhs):
                rhs = statement.rhs
                while (changed := substitute(rhs, self.instead)) is not rhs:
                    rhs = changed
                statement = Let(statement.target, rhs, statement.origin)
            elif isinstance(statement, Loop):
                statement = self.loop(statement)
            else:
                statement = with_blocks(statement, self.block)
            statements.append(statement)
        return altered(block, statements=tuple(statements))

    def loop(self, node: Loop) -> Loop:
        body = self.block(node.body)
        statements = [*self.anew.get(node, ()), *body.statements]
        values = dict(zip(node.collects, node.collected(), strict=True))
        for tapes in self.packs.get(node, ()):
            saved = tuple(
                self.fresh.get(value, value) if isinstance(value, Var) else value
                for value in (values[tape] for tape in tapes)
            )
            pair = Var("saved", True)
            types = tuple(map(self.unit.type, saved))
            self.unit.record(pair, Pack("tuple", saved), t.Tuple(types))
            position = last_definition(statements, saved)
            origin = getattr(statements[position - 1], "origin", None) if position else None
            statements.insert(position, Let(pair, Pack("tuple", saved), origin or node.origin))
            values[tapes[0]] = pair
        opened: list[Statement] = []
        items: list[Var] = []
        iterables: list[Atom] = []
        for item, iterable in zip(node.items, node.iterables, strict=True):
            if item in self.gone:
                continue
            items.append(self.opened(item, opened, node.origin))
            iterables.append(iterable)
        collects = [c for c in node.collects if c not in self.gone]
        stop = node.stop()
        yields = (
            *node.next_values(), *(values[c] for c in collects), *(() if stop is None else (stop,))
        )
        mapping = {v: a for v, a in self.renamed.items() if v in node.items}
        new = substitute_block(replace(body, statements=tuple(statements), yields=yields), mapping)
        return replace(
            node, items=tuple(items), iterables=tuple(iterables),
            collects=tuple(self.fresh.get(c, c) for c in collects),
            body=replace(new, statements=(*opened, *new.statements)),
        )

    def opened(self, item: Var, out: list[Statement], origin: Origin) -> Var:
        """Return what a loop calls an entry; write how that is taken apart if it is a tuple."""
        if item not in self.entries:
            return self.fresh.get(item, item)
        parts = [self.fresh.get(part, part) for part in self.entries[item]]
        entry = Var("saved", True)
        self.unit.types[entry] = t.Tuple(tuple(map(self.unit.type, parts)))
        self.unit.naming.opened[entry] = len(parts)
        for i, part in reversed([*enumerate(parts)]):  # the first is named first, backwards
            rhs = Item(entry, Const(i))
            self.unit.defs[part] = rhs
            out.append(Let(part, rhs, origin))
        return entry


def turned_round(statements: Iterable[Statement]) -> dict[Var, Var]:
    """Return the variables that stand for lists backwards, by those lists."""
    found: dict[Var, Var] = {}
    for statement in statements:
        match statement:
            case Let(target, Call(Const(function), (source,), ())) if function is reversed:
                if isinstance(atom := unstar(source), Var):
                    found[atom] = target
    return found


def is_length(rhs: Rhs) -> bool:
    """Say whether a right-hand side is ``len(x)``."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is len


def last_definition(statements: Sequence[Statement], atoms: Sequence[Atom]) -> int:
    """Return the position behind the last statement that defines one of ``atoms``."""
    places = (i + 1 for i, s in enumerate(statements) if any(v in atoms for v in defined(s)))
    return max(places, default=0)

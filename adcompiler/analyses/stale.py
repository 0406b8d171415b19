"""Reads of values whose storage holds another value by then.

In the typed IR of a function a write makes a new value, and whoever refers to the storage refers to
that. Emitted code writes in place: where a former value is read again, what is known of storage has
been lost on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from adcompiler.analyses.storage import METADATA, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import Atom, Attribute, Block, Do, Let, Region, Statement, Var
from adcompiler.ir.regions import ENTERS, Edge
from adcompiler.ir.visit import direct_uses, edges, walk

TypeOf = Callable[[Atom], t.Type]


def stale_reads(body: Block, type_of: TypeOf) -> Iterator[tuple[Statement, Var]]:
    """Yield the statements that read what has been written into before, with that value.

    What a region hands on and nobody reads is no read.
    """
    found: list[tuple[Statement, Var]] = []
    _Reads(type_of, found, read_at_last(body)).block(body, set())
    yield from found


def read_at_last(body: Block) -> set[Var]:
    """Return the variables that are read, by way of what regions hand on too."""
    handed_on: dict[Var, list[Atom]] = {}
    for edge in edges(body):
        handed_on.setdefault(edge.target, []).append(edge.source)
    waiting = list(body.yields)
    for statement in walk(body):
        used = list(direct_uses(statement))
        for edge in entering(statement):
            used.remove(edge.source)
        waiting += used
    found: set[Var] = set()
    while waiting:
        atom = waiting.pop()
        if isinstance(atom, Var) and atom not in found:
            found.add(atom)
            waiting += handed_on.get(atom, ())
    return found


def entering(statement: Statement | Region) -> list[Edge]:
    """Return how values get into a loop as those that it carries."""
    found = statement.edges() if isinstance(statement, Region) else ()
    return [edge for edge in found if edge.how == ENTERS]


class _Reads:
    def __init__(
        self, type_of: TypeOf, found: list[tuple[Statement, Var]], read: set[Var]
    ) -> None:
        self.type_of = type_of
        self.found = found
        self.read = read

    def block(
        self, block: Block, former: set[Var], wanted: set[Atom] | None = None
    ) -> set[Var]:
        """Check a block before which ``former`` were written; return what is written after it.

        Of what it hands on it has to be right what is ``wanted``, None: all.
        """
        former = set(former)
        for statement in block.statements:
            if not isinstance(statement, (Let, Do)) or self.reads_content(statement):
                self.check(statement, self.uses(statement), former)
            if isinstance(statement, Let):
                old = written_operand(statement.rhs)
                if isinstance(old, Var):
                    former.add(old)
            elif isinstance(statement, Region):
                former |= self.region(statement, former)
        if not block.diverges and block.statements:
            given = [one for one in block.yields if wanted is None or one in wanted]
            self.check(block.statements[-1], given, former)
        return former

    def region(self, region: Region, former: set[Var]) -> set[Var]:
        """Check a region; return what it has written."""
        written: set[Var] = set()
        wanted = {edge.source for edge in region.edges() if edge.target in self.read}
        for inner in region.blocks():
            after = self.block(inner, former, wanted)
            if not inner.diverges:
                written |= after
        return written | {
            edge.source for edge in entering(region)
            if edge.target in written and isinstance(edge.source, Var)
        }

    def uses(self, statement: Statement) -> list[Atom]:
        """Return what a statement reads, a loop of what it starts from what is read in it."""
        used = list(direct_uses(statement))
        for edge in entering(statement):
            if edge.target not in self.read:
                used.remove(edge.source)
        return used

    def check(self, statement: Statement, atoms: Iterable[Atom], former: set[Var]) -> None:
        for atom in atoms:
            if isinstance(atom, Var) and atom in former:
                self.found.append((statement, atom))

    def reads_content(self, statement: Let | Do) -> bool:
        """Say whether a statement reads more of a value than what no write changes."""
        rhs = statement.rhs
        return not isinstance(rhs, Attribute) or rhs.name not in METADATA

"""How loops keep what they save: lists read by one reverse loop become one list of tuples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adcompiler.ir.nodes import Atom, Block, Call, Const, Let, Loop, Statement, Var, unstar
from adcompiler.ir.visit import blocks_of, defined, direct_uses, loops_in, walk
from adcompiler.support.structs import dataclass
from adcompiler.typed.unit import Unit


@dataclass(frozen=True, slots=True)
class Tape:
    """One list that a loop fills: with the values of one collect, or tuples of several."""

    collects: tuple[Var, ...]

    @property
    def name(self) -> Var:
        """The variable under whose name the list is emitted."""
        return self.collects[0]


class Tapes:
    """The lists of every loop of a function, and which list a sequence comes from."""

    def __init__(self, body: Block, unit: Unit) -> None:
        self.definitions = {s.target: s.rhs for s in walk(body) if isinstance(s, Let)}
        self.of_loop: dict[Loop, tuple[Tape, ...]] = {}
        self.of_collect: dict[Var, Tape] = {}
        loops = list(loops_in(body))
        readers = self.readers(body, loops)
        for loop in loops:
            grouped: dict[object, list[Var]] = {}
            for collect in loop.collects:
                reader = readers.get(collect)
                grouped.setdefault(reader if reader is not None else collect, []).append(collect)
            tapes = tuple(Tape(tuple(group)) for group in grouped.values())
            self.of_loop[loop] = tapes
            for tape in tapes:
                if len(tape.collects) > 1:
                    unit.naming.names[tape.name] = "tape"
                for collect in tape.collects:
                    self.of_collect[collect] = tape

    def readers(self, body: Block, loops: Sequence[Loop]) -> dict[Var, Loop]:
        """Return the one reverse loop that reads each collect and nothing else does."""
        reads: dict[Var, int] = {}
        for statement in walk(body):
            if isinstance(statement, Let) and is_length(statement.rhs):
                continue
            for atom in direct_uses(statement):
                if isinstance(atom, Var):
                    reads[atom] = reads.get(atom, 0) + 1
            for block in blocks_of(statement):
                for atom in block.yields:
                    if isinstance(atom, Var):
                        reads[atom] = reads.get(atom, 0) + 1
        for atom in body.yields:
            if isinstance(atom, Var):
                reads[atom] = reads.get(atom, 0) + 1
        found: dict[Var, Loop] = {}
        for loop in loops:
            for iterable in loop.iterables:
                tape = self.source(iterable)
                if tape is not None and reads.get(tape) == 1 and (
                    isinstance(iterable, Var) and reads.get(iterable) == 1
                ):
                    found[tape] = loop
        return found

    def source(self, iterable: Atom) -> Var | None:
        """Return the list that ``reversed(list)`` runs over."""
        rhs = self.definitions.get(iterable) if isinstance(iterable, Var) else None
        if isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is reversed:
            inner = unstar(rhs.args[0])
            return inner if isinstance(inner, Var) else None
        return None

    def groups(self, loop: Loop) -> list[list[int]]:
        """Return the positions of a loop's items, those from one list of tuples together."""
        groups: dict[object, list[int]] = {}
        for position, iterable in enumerate(loop.iterables):
            source = self.source(iterable)
            tape = self.of_collect.get(source) if source is not None else None
            key: object = position if tape is None or len(tape.collects) == 1 else tape
            groups.setdefault(key, []).append(position)
        ordered = []
        for key, positions in groups.items():
            if isinstance(key, Tape):
                by_collect = {self.source(loop.iterables[p]): p for p in positions}
                ordered.append([by_collect[c] for c in key.collects])
            else:
                ordered.append(positions)
        return ordered


def is_length(rhs: object) -> bool:
    """Say whether a right-hand side is ``len(x)``."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is len


def append_position(statements: Sequence[Statement], values: Iterable[Atom]) -> int:
    """Return before which statement of a loop's body ``values`` can be saved, at the earliest."""
    position = 0
    wanted = set(values)
    for index, statement in enumerate(statements):
        if wanted & set(defined(statement)):
            position = index + 1
    return position


def saved_at(loop: Loop, tapes: Sequence[Tape]) -> dict[int, list[Tape]]:
    """Return the tapes of a loop by the statement of its body before which they are appended to."""
    values = dict(zip(loop.collects, loop.collected(), strict=True))
    places: dict[int, list[Tape]] = {}
    for tape in tapes:
        position = append_position(loop.body.statements, [values[c] for c in tape.collects])
        places.setdefault(position, []).append(tape)
    return places



"""Copies that nobody could tell from the original: of arrays that nothing reads any more, and of
parts that nothing writes into before the last reading of the copy.

Both need to know what may share storage. Variables whose values may are put into one class;
what is known to have storage of its own starts a class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence


from adcompiler.analyses.purity import Purity, checks
from adcompiler.analyses.storage import METADATA, Sharing, is_mutable, written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, Call, Closure, Const, Do, Let, Region, Rhs, Statement, Update, Var,
    operands, substitute, unstar,
)
from adcompiler.ir.regions import LAST, SKIPS, altered
from adcompiler.ir.visit import bound_inside, defined, substitute_statement, used, walk, with_blocks
from adcompiler.ops.facts import IN_C, LAYOUT
from adcompiler.ops.queries import known, meaning
from adcompiler.optimise.stores import is_zero
from adcompiler.runtime import add_at, unbroadcast
from adcompiler.typed.unit import Unit


def needless_copies(block: Block, unit: Unit, purity: Purity) -> Block:
    """Return ``block`` with the original in place of every ``np.copy`` that is not needed."""
    if not any(isinstance(s, Let) and copied(s.rhs) is not None for s in walk(block)):
        return block
    return _Copies(block, unit, purity).block(block)


class _Copies:
    def __init__(self, block: Block, unit: Unit, purity: Purity) -> None:
        self.unit = unit
        self.purity = purity
        self.made = {s.target: s.rhs for s in walk(block) if isinstance(s, Let)}
        self.sharing = Sharing(unit.type, self.made.get)  # type: ignore[arg-type]
        self.parent: dict[Atom, Atom] = {}
        self.derived: dict[Atom, list[Var]] = {}
        self.handed: dict[Var, list[Atom]] = {}
        self.sweep: set[Var] = set()
        self.written: set[Atom] = set()
        self.escaped: set[Atom] = set()
        for statement in walk(block):
            self.note(statement)
        self.members: dict[Atom, list[Atom]] = {}
        for atom in list(self.parent):
            self.members.setdefault(self.root(atom), []).append(atom)

    # -- who shares storage with whom ----------------------------------------------------------

    def note(self, statement: Statement) -> None:
        """Enter what a statement tells about storage."""
        origin = getattr(statement, "origin", None)
        if origin is not None and origin.reverse:
            self.sweep.update((*defined(statement), *bound_inside(statement)))
        match statement:
            case Let(target, rhs, _):
                if (written := written_operand(rhs)) is not None:
                    self.written.add(written)
                elif not self.purity.is_pure(rhs):
                    self.escaped.update(operands(rhs))
                for operand in self.operands(target, rhs):
                    self.join(target, operand)
            case Do(rhs, _) if not checks(rhs):
                self.escaped.update(operands(rhs))
            case Region():
                for edge in statement.edges():
                    if not edge.hands_on:
                        self.join(edge.target, edge.source)
                    elif edge.how not in (LAST, SKIPS):
                        self.hand(edge.target, edge.source)

    def operands(self, target: Var, rhs: Rhs) -> list[Atom]:
        """Return what the value of ``rhs`` may share storage with, or read it from later."""
        match rhs:
            case Call(Const(function), (buffer, *_)) if function is add_at and isinstance(
                self.unit.type(target), t.Array
            ):
                return [unstar(buffer)]
            case Attribute(obj, name) if name not in METADATA:
                return [obj]  # a method, it may be
            case Closure():
                return list(operands(rhs))
        return [operand for operand, _ in self.sharing.of(target, rhs)]

    def hand(self, target: Var, atom: Atom) -> None:
        if is_mutable(self.unit.type(target)):
            self.handed.setdefault(target, []).append(atom)
            self.join(target, atom)

    def join(self, target: Var, operand: Atom) -> None:
        if not is_mutable(self.unit.type(operand)) and operand not in self.parent:
            return
        self.derived.setdefault(operand, []).append(target)
        one, two = self.root(target), self.root(operand)
        self.parent.setdefault(one, one)
        self.parent.setdefault(two, two)
        self.parent[one] = two

    def root(self, atom: Atom) -> Atom:
        while self.parent.get(atom, atom) is not atom:
            atom = self.parent[atom]
        return atom

    def relatives(self, atom: Atom) -> list[Atom]:
        """Return all that may share storage with ``atom``, itself included."""
        return self.members.get(self.root(atom), [atom])

    def heirs(self, var: Var) -> set[Var]:
        """Return ``var`` and what may be, hold or be a view of it."""
        found: set[Var] = set()
        waiting = [var]
        while waiting:
            found.add(one := waiting.pop())
            waiting += [v for v in self.derived.get(one, ()) if v not in found]
        return found

    # -- blocks --------------------------------------------------------------------------------

    def block(self, block: Block) -> Block:
        statements = [with_blocks(statement, self.block) for statement in block.statements]
        yields = block.yields
        position = 0
        while position < len(statements):
            statement = statements[position]
            position += 1
            if not isinstance(statement, Let):
                continue
            original = copied(statement.rhs)
            copy = statement.target
            if copy in self.unit.layouts.read:
                continue  # it may lie in memory in another way
            if original is None or self.unit.type(original) != self.unit.type(copy):
                continue
            if not self.may_take(statements, position, yields, original, copy) and not (
                self.may_read(statements, position, yields, original, copy)
            ):
                continue
            position -= 1
            self.replace(statements, position, original, copy)
            yields = tuple(original if a is copy else a for a in yields)
        return altered(block, statements=tuple(statements), yields=yields)

    def replace(
        self, statements: list[Statement], position: int, original: Var, copy: Var
    ) -> None:
        """Drop a copy; from now on the two are one array."""
        statements[position:] = [
            substitute_statement(s, {copy: original}) for s in statements[position + 1 :]
        ]
        for table in (self.unit.naming.names, self.unit.naming.hints):
            if copy in table:
                table.setdefault(original, table[copy])
        if not copy.temporary and original.temporary:
            self.unit.naming.names.setdefault(original, copy.name)
        heirs, relatives = self.members.get(self.root(copy), [copy]), self.relatives(original)
        self.derived.setdefault(original, []).extend(self.derived.get(copy, ()))
        for atoms in self.handed.values():
            atoms[:] = [original if a is copy else a for a in atoms]
        for target, rhs in list(self.made.items()):
            self.made[target] = substitute(rhs, {copy: original})
        if copy in self.written:
            self.written.add(original)
        top = self.root(original)
        self.parent.setdefault(top, top)
        self.parent[self.root(copy)] = top
        self.members[top] = [*relatives, *(a for a in heirs if a is not copy)]

    # -- arrays that nothing reads any more ----------------------------------------------------

    def may_take(
        self, statements: Sequence[Statement], position: int, yields: tuple[Atom, ...],
        original: Var, copy: Var,
    ) -> bool:
        """Say whether the original was made in this block and is not read again."""
        here = {
            var for s in statements[: position - 1] for inner in (s, *inside(s))
            for var in (*defined(inner), *bound_inside(inner))
        }
        relatives = self.relatives(original)
        if not all(isinstance(a, Var) and a in here for a in relatives):
            return False
        if any(a in self.escaped for a in relatives) or not self.is_whole(original, set()):
            return False
        if copy in self.sweep and not all(a in self.sweep for a in relatives):
            return False  # a sweep may run again: it must not write into what the forward pass made
        left = used(Block(tuple(statements[position:]), yields))
        return not any(a in left for a in relatives)

    def is_whole(self, atom: Atom, seen: set[Atom]) -> bool:
        """Say whether an array is all of the storage that it has."""
        if atom in seen:
            return True
        seen.add(atom)
        type_ = self.unit.type(atom)
        if not isinstance(atom, Var) or not isinstance(type_, t.Array) or type_.ndim == 0:
            return False
        if atom in self.handed:
            return all(self.is_whole(a, seen) for a in self.handed[atom])
        rhs = self.made.get(atom)
        if isinstance(rhs, Update):
            return self.is_whole(rhs.obj, seen)
        if not isinstance(rhs, Call):
            return False
        if is_scatter(rhs) or (isinstance(rhs.func, Const) and rhs.func.value is unbroadcast):
            return self.is_whole(unstar(rhs.args[0]), seen)
        if rhs.args and known(rhs).sharing and all(s.how == LAYOUT for s in known(rhs).sharing):
            return self.is_whole(unstar(rhs.args[0]), seen)  # all elements, in another shape
        return not self.operands(atom, rhs) and not gives_views(rhs)

    # -- parts that nothing writes into --------------------------------------------------------

    def may_read(
        self, statements: list[Statement], position: int, yields: tuple[Atom, ...],
        original: Var, copy: Var,
    ) -> bool:
        """Say whether the copy is only read, and the original not changed until that is done.

        Zeros that are written meanwhile are moved behind the last reading.
        """
        heirs = self.heirs(copy)
        if heirs & self.written or any(a in heirs for a in yields):
            return False
        last = max((
            i for i in range(position, len(statements))
            if any(v in heirs for v in used(Block((statements[i],))))
        ), default=None)
        if last is None:
            return False
        inner = {v for s in statements[position:] for v in made_in(s)}
        if any(heir is not copy and heir not in inner for heir in heirs):
            return False
        storage = set(self.relatives(original))
        moved: list[Statement] = []
        for i in range(position, last + 1):
            if not self.writes(statements[i], storage):
                continue
            if i == last or not self.is_movable(statements, i, last):
                return False
            moved.append(statements[i])
        if moved:
            gone = {id(s) for s in moved}
            kept = [s for s in statements[position : last + 1] if id(s) not in gone]
            statements[position : last + 1] = [*kept, *moved]
        return True

    def writes(self, statement: Statement, storage: set[Atom]) -> bool:
        """Say whether a statement may write into ``storage``."""
        for inner in (statement, *inside(statement)):
            match inner:
                case Let(_, rhs, _):
                    if written_operand(rhs) in storage:
                        return True
                    if written_operand(rhs) is None and not self.purity.is_pure(rhs):
                        return True
                case Do(rhs, _):
                    if not checks(rhs):
                        return True
        return False

    def is_movable(self, statements: Sequence[Statement], position: int, last: int) -> bool:
        """Say whether a statement writes zeros that nothing reads up to another one."""
        match statements[position]:
            case Let(target, Update(_, (step,), value, False)):
                if step.kind != "item" or not self.sharing.is_basic(step.args[0]):
                    return False
                return is_zero(value) and target not in used(
                    Block(tuple(statements[position + 1 : last + 1]))
                )
        return False


def copied(rhs: Rhs) -> Var | None:
    """Return the variable of which ``rhs`` is a copy, None if it is something else."""
    match rhs:
        case Call(Const(), (Var() as original,), ()) if meaning(rhs) == "copy" and (
            known(rhs).order != IN_C  # which may lie in memory in another way
        ):
            return original
    return None


def gives_views(rhs: Call) -> bool:
    """Say whether a function gives views; that of a number, broadcast, cannot be written into."""
    return known(rhs).gives_views


def is_scatter(rhs: Rhs | None) -> bool:
    """Say whether ``rhs`` adds to a part of its first argument."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is add_at


def inside(statement: Statement) -> Iterable[Statement]:
    """Iterate over the statements in the blocks of a statement."""
    for inner in walk(Block((statement,))):
        if inner is not statement:
            yield inner


def made_in(statement: Statement) -> Iterable[Var]:
    """Iterate over all variables that a statement, or one inside it, defines or binds."""
    for inner in (statement, *inside(statement)):
        yield from (*defined(inner), *bound_inside(inner))

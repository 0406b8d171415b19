"""What the body of a ``try`` has written if an exception leaves it: all of a write, or nothing.

A body whose first change of storage is the last that may raise leaves storage as it was when it
raises. Other bodies are specialised in parts, see ``frontend/try_statements.py``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from adcompiler.analyses.purity import Purity, is_destructive
from adcompiler.analyses.storage import written_operand
from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, If, Item, Let, Pack, Raise, Region, Rhs, Statement, Step, Update,
    Var, With,
)
from adcompiler.ir.visit import blocks_of, defined, walk
from adcompiler.ops.queries import meaning
from adcompiler.runtime import keeps_shape, note_value, own
from adcompiler.infer.storage.heap import Heap
from adcompiler.infer.storage.state import State
from adcompiler.typed.callee import Callee
from adcompiler.typed.unit import Unit


def changed_roots(heap: Heap, body: State) -> list[Var]:
    """Return what was there before a body that ended in the state ``body``, and is written in it.

    The heap is in the state before the body.
    """
    heap.level += 1
    found = [
        root for root, value in body.latest.items()
        if heap.is_outer(root) and value is not heap.state.value(root)
    ]
    heap.level -= 1
    return found


def written_before_raising(
    heap: Heap, statements: Sequence[Statement], completes: bool
) -> list[Var]:
    """Return what was there before a body, and is written in it on ways that end by raising.

    What the ways that complete the body write is in the state that it ends in, if it ``completes``
    with any change; otherwise all ways count. The heap is in the state before the body.
    """
    body = Block(tuple(statements))
    written = (
        heap.reference(statement.target).root
        for statement in (ending_in_a_raise(body) if completes else walk(body))
        if isinstance(statement, Let) and is_write(heap, statement)
    )
    return [root for root in written if heap.levels.get(root, 0) <= heap.level]


def is_write(heap: Heap, statement: Let) -> bool:
    """Say whether a statement writes into storage, or makes a container anew that is written."""
    change = heap.history.changes.get(statement.target)
    return written_operand(statement.rhs) is not None or (change is not None and change.stored)


def ending_in_a_raise(block: Block) -> Iterator[Statement]:
    """Iterate over the statements of those blocks inside ``block`` that nothing follows."""
    for statement in block.statements:
        for inner in blocks_of(statement):
            yield from walk(inner) if raises(inner) else ending_in_a_raise(inner)


def raises(block: Block) -> bool:
    """Say whether every way through a block raises."""
    return any(
        isinstance(statement, Raise) or (
            is_left_once(statement) and all(map(raises, statement.blocks()))
        )
        for statement in block.statements
    )


def is_left_once(statement: Statement) -> TypeGuard[Region]:
    """Say whether a statement runs one of its blocks, once, and lets its exceptions pass."""
    return isinstance(statement, Region) and bool(statement.arms()) and not statement.watched()


def is_all_or_nothing(
    unit: Unit, heap: Heap, body: State, roots: Iterable[Var], statements: Sequence[Statement]
) -> bool:
    """Say whether a body has written nothing into ``roots`` when it raises."""
    made = {var: st for st in walk(Block(tuple(statements))) for var in defined(st)}
    values: set[Atom] = set()
    waiting = [(body.latest[root], heap.state.value(root)) for root in roots]
    while waiting:
        value, before = waiting.pop()
        if value is before or value in values:
            continue
        if value not in heap.history.changes or not isinstance(value, Var) or value not in made:
            return False
        values.add(value)
        earlier = heap.history.changes[value].before
        waiting.append((earlier, before))
        statement = made[value]
        if is_left_once(statement):
            position = statement.results.index(value)
            waiting += [
                (arm.yields[position], earlier) for arm in statement.arms() if not arm.diverges
            ]
    return not Halves(unit, values).possible(statements)


class Halves:
    """Finds statements that may raise when one of ``values``, which are written, has been made."""

    def __init__(self, unit: Unit, values: set[Atom]) -> None:
        self.unit = unit
        self.values = values
        self.purity = Purity(unit.type, unit.definition)
        self.parts: dict[Atom, tuple[Step, ...]] = {}

    def possible(self, statements: Sequence[Statement]) -> bool:
        """Say whether statements may raise after a write."""
        made: Statement | None = None
        for statement in statements:
            if made is not None and may_raise(self.purity, self.unit, statement) and not (
                self.is_read_again(statement) or checks_shape(statement, made)
            ):
                return True
            changes = any(var in self.values for var in defined(statement))
            if isinstance(statement, If) or (
                isinstance(statement, With) and self.purity.handles_errors(statement.context)
            ):
                if any(self.possible(arm.statements) for arm in statement.arms()):
                    return True
            elif isinstance(statement, Let):
                if changes and not at_once(self.purity, statement.rhs):
                    return True
                changes = changes and not copies(statement.rhs)
            elif changes or any(
                var in self.values for inner in walk(Block((statement,))) for var in defined(inner)
            ):
                return True
            made = statement if changes else made
        return False

    def is_read_again(self, statement: Statement) -> bool:
        """Say whether a statement reads the part that was just written, as a whole or a part of it.
        """
        if not isinstance(statement, Let) or not isinstance(statement.rhs, Item):
            return False
        obj, index = statement.rhs.obj, statement.rhs.index
        written = self.unit.definition(obj)
        if obj in self.values and isinstance(written, Update):
            self.parts[obj] = written.steps
        steps = self.parts.get(obj, ())
        if not steps or steps[0].kind != "item" or not is_same_index(steps[0].args[0], index):
            return False
        self.parts[statement.target] = steps[1:]
        return True


def is_same_index(a: Atom, b: Atom) -> bool:
    """Say whether two subscripts are the same."""
    return a is b or (
        isinstance(a, Const) and isinstance(b, Const) and repr(a.value) == repr(b.value)
    )


def checks_shape(statement: Statement, made: Statement) -> bool:
    """Say whether a statement is the check that ``made``, of an in-place operator, keeps the shape.

    Until then nothing has been written.
    """
    return isinstance(statement, Do) and isinstance(made, Let) and isinstance(made.rhs, Call) and (
        isinstance(statement.rhs, Call) and isinstance(statement.rhs.func, Const)
        and statement.rhs.func.value is keeps_shape and statement.origin == made.origin
    )


def may_catch_errors_of_ufuncs(unit: Unit, kind: Atom) -> bool:
    """Say whether a handler may catch what NumPy raises when a ufunc has written its results."""
    if isinstance(kind, Const):
        kinds = kind.value if isinstance(kind.value, tuple) else (kind.value,)
        return any(
            not isinstance(cls, type) or issubclass(cls, (FloatingPointError, Warning))
            or issubclass(FloatingPointError, cls) or issubclass(RuntimeWarning, cls)
            for cls in kinds
        )
    elements = unit.elements(kind)
    return elements is None or any(may_catch_errors_of_ufuncs(unit, e) for e in elements)


def at_once(purity: Purity, rhs: Rhs) -> bool:
    """Say whether a value of storage is made of the one before without leaving something half done.
    """
    if isinstance(rhs, (Update, Pack)) or is_destructive(rhs):
        return True
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and not isinstance(
        rhs.func.value, Callee
    ) and purity.is_pure(rhs)


def copies(rhs: Rhs) -> bool:
    """Say whether a value of storage is a copy of the one before."""
    return meaning(rhs) == "copy" or (
        isinstance(rhs, Call) and isinstance(rhs.func, Const) and rhs.func.value is own
    )


def may_raise(purity: Purity, unit: Unit, statement: Statement) -> bool:
    """Say whether a statement may raise, by all that is known of it."""
    if isinstance(statement, Do) and isinstance(statement.rhs, Call) and (
        isinstance(statement.rhs.func, Const) and statement.rhs.func.value is note_value
    ):
        return False
    if isinstance(statement, Let):
        return purity.may_raise(statement.rhs)
    if isinstance(statement, If):
        return not isinstance(unit.type(statement.condition), t.Scalar) or any(
            arm.diverges or any(may_raise(purity, unit, inner) for inner in arm.statements)
            for arm in statement.arms()
        )
    return not (isinstance(statement, Do) and not purity.may_raise(statement.rhs))

"""Which variables may share storage, and which in-place operators somebody else could notice.

``x += y`` on an array writes into it. Where nothing else refers to that array, this is the same as
``x = x + y``, and is compiled as that. Storage classes are found by union-find over the variables:
a value that a function may return as a view of its argument, or that holds it, is in its class.
"""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.ir import types as t
from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, Free, Global, Let, Region, Rhs, Statement, Var,
    operands, unstar,
)
from adcompiler.ir.operators import IN_PLACE
from adcompiler.ir.visit import blocks_of, defined, direct_uses, free_variables
from adcompiler.ops.registry import REGISTRY
from adcompiler.runtime import store_global

TypeOf = Callable[[Atom], t.Type]


def noticed_writes(block: Block, type_of: TypeOf) -> list[Let]:
    """Return the in-place operators of ``block`` whose write something else may see.

    Storage that is not made by a statement of the block, such as that of parameters and globals,
    is somebody else's.
    """
    return _Writes(block, type_of).found


class _Classes:
    """Storage classes: ``None`` stands for the storage that the block did not make."""

    def __init__(self, type_of: TypeOf) -> None:
        self.parent: dict[Var | None, Var | None] = {}
        self.type_of = type_of

    def find(self, var: Var | None) -> Var | None:
        while (above := self.parent.get(var, var)) is not var:
            var = above
        return var

    def join(self, a: Atom | None, b: Atom | None) -> None:
        """Record that two values may share storage; numbers and texts have none."""
        for atom in (a, b):
            if isinstance(atom, Const) or (
                isinstance(atom, Var) and isinstance(self.type_of(atom), (t.Scalar, t.Text))
            ):
                return
        one, two = self.find(a), self.find(b)  # type: ignore[arg-type]
        if one is not two:
            if one is None:
                one, two = two, one
            self.parent[one] = two


class _Writes:
    def __init__(self, block: Block, type_of: TypeOf) -> None:
        self.classes = _Classes(type_of)
        self.found: list[Let] = []
        for var in free_variables(block):
            self.classes.join(var, None)
        self.connect(block)
        self.visit(block, set())

    # -- classes -------------------------------------------------------------------------------

    def connect(self, block: Block) -> None:
        for statement in block.statements:
            match statement:
                case Let(target, rhs, _):
                    self.connect_value(target, rhs)
                case Do(Call(Const(function), (_, _, value))) if function is store_global:
                    self.classes.join(unstar(value), None)
                case Region():
                    targets = set()
                    for target, source, _ in statement.edges():
                        self.classes.join(target, source)
                        targets.add(target)
                    for var in statement.binds():
                        if var not in targets:  # it comes from a context or an exception
                            self.classes.join(var, None)
            for inner in blocks_of(statement):
                self.connect(inner)

    def connect_value(self, target: Var, rhs: Rhs) -> None:
        if isinstance(rhs, (Global, Free)):
            self.classes.join(target, None)
        elif is_in_place(rhs):
            self.classes.join(target, operands(rhs)[1])
        elif not self.is_fresh(rhs) or isinstance(
            self.classes.type_of(target), (t.List, t.Tuple, t.Dict, t.Object)
        ):
            for atom in operands(rhs):
                self.classes.join(target, atom)
            if isinstance(rhs, Call) and not isinstance(rhs.func, Const):
                self.classes.join(target, None)

    @staticmethod
    def is_fresh(rhs: Rhs) -> bool:
        if not isinstance(rhs, Call) or not isinstance(rhs.func, Const):
            return False
        return REGISTRY.facts(rhs.func.value).gives_own_arrays

    # -- what is read later --------------------------------------------------------------------

    def visit(self, block: Block, live: set[Var]) -> None:
        """Walk backwards; ``live`` is what is read after the block, and becomes what before it."""
        live.update(a for a in block.yields if isinstance(a, Var))
        for statement in reversed(block.statements):
            self.statement(statement, live)

    def statement(self, statement: Statement, live: set[Var]) -> None:
        live.difference_update(defined(statement))
        if isinstance(statement, Let):
            self.check(statement, live)
        elif isinstance(statement, Region):
            around = set(live)
            for later in statement.may_follow():  # from anywhere in the block before
                around |= set(free_variables(later))
            around.difference_update(statement.binds())
            for block in statement.blocks():
                self.visit(block, inner := set(around))
                live |= inner.difference(statement.binds())
            live |= around
        live.update(a for a in direct_uses(statement) if isinstance(a, Var))

    def check(self, statement: Let, live: set[Var]) -> None:
        if not is_in_place(statement.rhs):
            return
        buffer = operands(statement.rhs)[1]
        written = self.classes.find(buffer) if isinstance(buffer, Var) else self.classes.find(None)
        if written is self.classes.find(None) or any(
            self.classes.find(var) is written for var in live
        ):
            self.found.append(statement)


def is_in_place(rhs: Rhs) -> bool:
    """Say whether ``rhs`` is an in-place operator."""
    return isinstance(rhs, Call) and isinstance(rhs.func, Const) and any(
        rhs.func.value is function for function in IN_PLACE
    )

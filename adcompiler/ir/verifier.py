"""The grammar of the IR, executable: what every stage may rely on and must keep.

``verify`` raises InternalError for a function in which a variable is defined twice or read where
no definition of it has run, a region yields a wrong number of values, something follows the end of
a block that always raises, or a variable has a type that contradicts what it is computed of. What
the parser gives may hold a statement twice, in ways that exclude one another: in two handlers. It
runs after every stage and pass if ``ADCOMPILER_DEBUG`` or ``ADCOMPILER_VERIFY`` is set, after all
passes together if the latter is ``stages``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from adcompiler.errors import InternalError
from adcompiler.ir.agreement import TypeOf, contradiction, contradictions
from adcompiler.ir.nodes import (
    Atom, Block, Const, Do, Function, If, Let, Loop, Raise, Region, Statement, Try, Unsupported,
    Var, With, operands,
)
from adcompiler.ir.visit import bound_inside, defined, direct_uses, free_variables


def verifying() -> bool:
    """Say whether the IR is to be verified after every stage and pass."""
    return any(os.environ.get(f"ADCOMPILER_{name}", "0") not in ("", "0")
               for name in ("DEBUG", "VERIFY"))


def verifying_passes() -> bool:
    """Say whether it is to be verified after each pass, and not only after all of them."""
    alone = os.environ.get("ADCOMPILER_VERIFY", "0") not in ("", "0", "stages")
    return alone or os.environ.get("ADCOMPILER_DEBUG", "0") not in ("", "0")


def verify_block(block: Block, outside: Iterable[Var], type_of: TypeOf, where: str) -> None:
    """Raise InternalError unless a part of a function is well-formed that reads ``outside``."""
    verifier = _Verifier(where, type_of)
    outside = list(outside)
    verifier.define(outside)
    verifier.block(block, set(outside), root=True)


def readable(block: Block) -> list[Var]:
    """Return the variables that a part of a function takes from outside."""
    return list(free_variables(block))


def verify(function: Function, type_of: TypeOf | None = None, parsed: bool = False) -> None:
    """Raise InternalError unless ``function``, perhaps as ``parsed``, is well-formed."""
    verifier = _Verifier(function.name, type_of, parsed)
    params = [p.var for p in function.params]
    verifier.define(params)
    if function.itself is not None:
        verifier.define([function.itself])
    verifier.define(function.captures)
    visible = {*params, *function.captures, *([function.itself] if function.itself else [])}
    verifier.block(function.body, visible, root=type_of is not None)


class _Verifier:
    def __init__(
        self, name: str, type_of: TypeOf | None = None, parsed: bool = False
    ) -> None:
        self.name = name
        self.type_of = type_of
        self.parsed = parsed
        self.defined: set[Var] = set()

    def fail(self, problem: str) -> None:
        raise InternalError(f"ill-formed IR in {self.name}: {problem}")

    def define(self, variables: Iterable[Var]) -> None:
        for var in variables:
            if var in self.defined and not self.parsed:
                self.fail(f"{var!r} is defined twice")
            self.defined.add(var)

    def read(self, atoms: Iterable[Atom], visible: set[Var], where: str | Var) -> None:
        """Check atoms that are read in ``where``, which a variable says that they define."""
        for atom in atoms:
            if isinstance(atom, Const) or (isinstance(atom, Var) and atom in visible):
                continue
            problem = "is not defined where it is read" if isinstance(atom, Var) else "is no atom"
            place = f"the definition of {where!r}" if isinstance(where, Var) else where
            self.fail(f"{atom!r} {problem}, in {place}")

    def block(self, block: Block, visible: set[Var], root: bool = False) -> None:
        """Check a block in which ``visible`` may be read.

        That of a typed function may go on after a raise that it always comes to.
        """
        inside = set(visible)
        for position, statement in enumerate(block.statements):
            self.statement(statement, inside)
            if isinstance(statement, Raise) and not root and not (
                block.diverges and position == len(block.statements) - 1
            ):
                self.fail("a block goes on after a raise")
            inside.update(defined(statement))
        if not block.diverges:
            self.read(block.yields, inside, "the yields of a block")

    def statement(self, statement: Statement, visible: set[Var]) -> None:
        match statement:
            case Let(target, rhs, _):
                self.read(operands(rhs), visible, target)
                if self.type_of is not None and (why := contradiction(target, rhs, self.type_of)):
                    self.fail(why)
            case Do() | Raise() | Unsupported():
                self.read(direct_uses(statement), visible, "a statement")
            case If():
                self.branch(statement, visible)
            case Loop():
                self.loop(statement, visible)
            case With() | Try():
                self.read(direct_uses(statement), visible, "the head of a region")
                bound = bound_inside(statement)
                self.define(bound)
                for arm in statement.arms():
                    self.arm(arm, statement.results, visible | set(bound))
        self.define(defined(statement))
        if self.type_of is not None and isinstance(statement, Region):
            for why in contradictions(statement, self.type_of):
                self.fail(why)

    def branch(self, node: If, visible: set[Var]) -> None:
        self.read((node.condition,), visible, "a condition")
        for arm in (node.then, node.orelse):
            self.arm(arm, node.results, visible)

    def arm(self, arm: Block, results: tuple[Var, ...], visible: set[Var]) -> None:
        if len(arm.yields) != len(results) and not arm.diverges:
            self.fail(f"an arm yields {len(arm.yields)} values for {len(results)} results")
        self.block(arm, visible)

    def loop(self, node: Loop, visible: set[Var]) -> None:
        self.read((*node.iterables, *node.inits), visible, "the head of a loop")
        if len(node.items) != len(node.iterables):
            self.fail("a loop binds other items than it has sequences")
        if not len(node.params) == len(node.inits) == len(node.results):
            self.fail("a loop has other carried values than initial values or results")
        wanted = len(node.params) + len(node.collects) + node.stops
        if len(node.body.yields) != wanted and not node.body.diverges:
            self.fail(f"a loop's body yields {len(node.body.yields)} values, not {wanted}")
        if node.condition is None and not node.items:
            self.fail("a loop has neither a condition nor items")
        self.define((*node.params, *node.items))
        if node.condition is not None:
            if len(node.condition.yields) != 1 and not node.condition.diverges:
                self.fail("a loop's condition yields more than one value")
            self.block(node.condition, visible | set(node.params))
        self.block(node.body, visible | {*node.params, *node.items})

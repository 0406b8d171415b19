"""Which variables emitted code reads, to hand them on, where the program may not have set them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

from adcompiler.derive.primal_and_pullback import CalleePart
from adcompiler.ir.nodes import Atom, Block, Call, Const, Do, Let, Pack, Var, operands, unstar
from adcompiler.ir.regions import COLLECTED, LAST, SKIPS
from adcompiler.ir.visit import edges, walk
from adcompiler.runtime import check_assigned, own, zeros_like
from adcompiler.typed.callee import Callee


def read_unbound(body: Block, hands_on: Callable[[Var, Var], bool]) -> set[Var]:
    """Return the variables that may be read, to be handed on, where no assignment reached them.

    What is saved on a tape or as a residual, or copied under another name, is read whether or not
    the program goes on to use it.
    """
    found: set[Var] = set()
    copies = list(copied(body))
    made = {s.target: s.rhs for s in walk(body) if isinstance(s, Let)}
    saved = [*body.yields, *(edge.source for edge in edges(body) if edge.how == COLLECTED)]
    for statement in walk(body):
        match statement:
            case Do(rhs):
                found.update(a for a in operands(rhs) if isinstance(a, Var))
            case Let(rhs=Call(func=Const(value=function)) as rhs) if takes_unbound(function):
                found.update(a for a in operands(rhs) if isinstance(a, Var))
    found.update(a for a in saved[len(body.yields):] if isinstance(a, Var))
    for atom in saved:
        packed = made.get(atom) if isinstance(atom, Var) else None
        if isinstance(packed, Pack):
            found.update(a for a in operands(packed) if isinstance(a, Var))
    size = -1
    while size != len(found):
        size = len(found)
        found.update(
            value for target, value in copies
            if isinstance(value, Var) and (target in found or hands_on(target, value))
        )
    return found


def takes_unbound(function: Callable[..., Any] | CalleePart) -> bool:
    """Say whether a function is handed variables that it need not read: is_ asks flags of them."""
    if isinstance(function, CalleePart):
        return function.role in ("augmented", "pushforward", "linearized")
    return isinstance(function, Callee) or function in (zeros_like, own, operator.is_)


def marked_unbound(body: Block) -> set[Var]:
    """Return the variables that hold ``Unassigned``, not None, while no assignment reached them.

    These are the ones that a variable whose type is not known gets its value from, where it is
    checked that it has one: its value may be None.
    """
    found = {
        unstar(call.args[0]) for statement in walk(body)
        if isinstance(statement, Do) and isinstance(call := statement.rhs, Call)
        and isinstance(call.func, Const) and call.func.value is check_assigned
    }
    if not found:
        return set()
    sources: dict[Atom, list[Atom]] = {}
    for target, value in copied(body):
        sources.setdefault(target, []).append(value)
    waiting = list(found)
    while waiting:
        for value in sources.get(waiting.pop(), ()):
            if isinstance(value, Var) and value not in found:
                found.add(value)
                waiting.append(value)
    return {var for var in found if isinstance(var, Var)}


def copied(body: Block) -> Iterator[tuple[Var, Atom]]:
    """Yield the variables that regions give, or carry, each with what it may get its value from."""
    for edge in edges(body):
        if edge.hands_on and edge.how not in (LAST, SKIPS):
            yield edge.target, edge.source

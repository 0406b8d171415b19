"""Which variables emitted code reads, to hand them on, where the program may not have set them."""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.ir.nodes import (
    Atom, Block, Call, Const, Do, If, Let, Loop, Pack, Try, Var, With, operands,
)
from adcompiler.ir.visit import arms_of, walk
from adcompiler.runtime import own, zeros_like


def read_unbound(body: Block, hands_on: Callable[[Var, Var], bool]) -> set[Var]:
    """Return the variables that may be read, to be handed on, where no assignment reached them.

    What is saved on a tape or as a residual, or copied under another name, is read whether or not
    the program goes on to use it.
    """
    found: set[Var] = set()
    copies: list[tuple[Var, Atom]] = []
    made = {s.target: s.rhs for s in walk(body) if isinstance(s, Let)}
    saved = [*body.yields]
    for statement in walk(body):
        match statement:
            case Do(rhs):
                found.update(a for a in operands(rhs) if isinstance(a, Var))
            case Let(rhs=Call(func=Const(value=function)) as rhs) if function in (zeros_like, own):
                found.update(a for a in operands(rhs) if isinstance(a, Var))
            case If(results=results, then=then, orelse=orelse):
                for arm in (then, orelse):
                    copies += zip(results, arm.yields, strict=False)
            case With() | Try():
                for arm in arms_of(statement):
                    copies += zip(statement.results, arm.yields, strict=False)
            case Loop(params=params, inits=inits, results=results):
                saved += statement.collected()
                copies += zip(params, inits, strict=True)
                copies += zip(params, statement.next_values(), strict=False)
                copies += zip(results, params, strict=True)
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

"""In-place operators whose write nobody else can see become the operators that make a new value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from adcompiler.analyses.aliasing import IN_PLACE, noticed_writes
from adcompiler.ir.nodes import Atom, Block, Call, Const, If, Let, Loop, Statement, operands
from adcompiler.transforms.folds import refuse_write
from adcompiler.transforms.specialise import Specialiser


def rebound(
    s: Specialiser, statements: Sequence[Statement], yields: tuple[Atom, ...]
) -> tuple[Statement, ...]:
    """Return a specialised function's statements without writes; report writes that are noticed."""
    block = Block(tuple(statements), yields)
    for statement in noticed_writes(block, s.unit.type):
        function, written = operands(statement.rhs)[:2]
        assert isinstance(function, Const)
        refuse_write(s, s.unit.type(written), IN_PLACE[function.value], statement.origin)
    return tuple(map(plain, block.statements))


def plain(statement: Statement) -> Statement:
    """Return ``statement`` with in-place operators replaced."""

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(map(plain, block.statements)))

    match statement:
        case Let(target, Call(Const(function), args, ()), origin) if any(
            function is other for other in IN_PLACE
        ):
            return Let(target, Call(Const(IN_PLACE[function]), args), origin)
        case If():
            return replace(
                statement, then=within(statement.then), orelse=within(statement.orelse)
            )
        case Loop():
            test = statement.condition
            return replace(
                statement, condition=None if test is None else within(test),
                body=within(statement.body),
            )
    return statement

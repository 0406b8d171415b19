"""Joins branches on one condition: the primal's arm and its reverse become one arm."""

from __future__ import annotations

from dataclasses import replace

from adcompiler.analyses.purity import Purity
from adcompiler.ir.nodes import Atom, Block, If, Let, Loop, Statement, Var
from adcompiler.ir.visit import defined, direct_uses, substitute_block, with_blocks


def join_branches(block: Block, purity: Purity) -> Block:
    """Return ``block`` with neighbouring branches on the same condition made one."""
    statements: list[Statement] = []
    for old in block.statements:
        statement = inside(old, purity)
        if isinstance(statement, If):
            position = partner(statements, statement, purity)
            if position is not None:
                first = statements.pop(position)
                assert isinstance(first, If)
                statement = joined(first, statement)
        statements.append(statement)
    return replace(block, statements=tuple(statements))


def inside(statement: Statement, purity: Purity) -> Statement:
    """Return ``statement`` with the branches inside it joined."""
    match statement:
        case If():
            return replace(
                statement, then=join_branches(statement.then, purity),
                orelse=join_branches(statement.orelse, purity),
            )
        case Loop():
            return replace(statement, body=join_branches(statement.body, purity))
    return with_blocks(statement, lambda block: join_branches(block, purity))


def partner(statements: list[Statement], second: If, purity: Purity) -> int | None:
    """Return where an earlier branch on the same condition stands that may move down to here."""
    passed: set[Var] = set()
    for position in range(len(statements) - 1, -1, -1):
        statement = statements[position]
        if isinstance(statement, If) and statement.condition is second.condition:
            if statement.then.diverges or statement.orelse.diverges:
                return None
            return None if passed & set(defined(statement)) else position
        if not isinstance(statement, Let) or not purity.is_pure(statement.rhs):
            return None
        passed.update(a for a in direct_uses(statement) if isinstance(a, Var))
    return None


def joined(first: If, second: If) -> If:
    """Return one branch that does what two neighbouring ones on the same condition do."""
    arms = []
    for one, two in ((first.then, second.then), (first.orelse, second.orelse)):
        mapping: dict[Var, Atom] = dict(zip(first.results, one.yields, strict=True))
        after = substitute_block(two, mapping)
        arms.append(Block(
            (*one.statements, *after.statements), (*one.yields, *after.yields), after.diverges
        ))
    return If(
        first.condition, arms[0], arms[1], (*first.results, *second.results), first.origin
    )



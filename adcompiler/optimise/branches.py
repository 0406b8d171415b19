"""Joins branches on one condition: the primal's arm and its reverse become one arm.

The first one moves down to the second, not past a write if it reads what is written into.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing, written_operand
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir.nodes import Atom, Block, If, Let, Region, Statement, Var
from adcompiler.ir.visit import defined, direct_uses, substitute_block, used


def join_branches(block: Block, purity: Purity) -> Block:
    """Return ``block`` with neighbouring branches on the same condition made one."""
    exposed = exposed_values(block, Sharing(purity.type_of, purity.definition))
    return joined_within(block, purity, exposed)


def joined_within(block: Block, purity: Purity, exposed: set[Atom]) -> Block:
    """As ``join_branches``; ``exposed`` are the values that do not stay as they are."""
    statements: list[Statement] = []
    for old in block.statements:
        statement = inside(old, purity, exposed)
        if isinstance(statement, If):
            position = partner(statements, statement, purity, exposed)
            if position is not None:
                first = statements.pop(position)
                assert isinstance(first, If)
                statement = joined(first, statement)
        statements.append(statement)
    return replace(block, statements=tuple(statements))


def inside(statement: Statement, purity: Purity, exposed: set[Atom]) -> Statement:
    """Return ``statement`` with the branches inside it joined."""
    if not isinstance(statement, Region):
        return statement
    return statement.with_bodies(lambda block: joined_within(block, purity, exposed))


def partner(
    statements: list[Statement], second: If, purity: Purity, exposed: set[Atom]
) -> int | None:
    """Return where an earlier branch on the same condition stands that may move down to here."""
    passed: set[Var] = set()
    writes = False
    for position in range(len(statements) - 1, -1, -1):
        statement = statements[position]
        if isinstance(statement, If) and statement.condition is second.condition:
            if statement.then.diverges or statement.orelse.diverges:
                return None
            if writes and any(var in exposed for var in used(Block((statement,)))):
                return None
            return None if passed & set(defined(statement)) else position
        if not isinstance(statement, Let) or not purity.is_pure(statement.rhs):
            return None
        writes |= written_operand(statement.rhs) is not None
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

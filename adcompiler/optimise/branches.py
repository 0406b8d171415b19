"""Joins branches on one condition: the primal's arm and its reverse become one arm.

The first one moves down to the second, not past a write if it reads what is written into. What
reads its results moves behind both.
"""

from __future__ import annotations

from collections.abc import Sequence


from adcompiler.analyses.purity import Purity
from adcompiler.analyses.storage import Sharing, written_operand
from adcompiler.analyses.versions import exposed_values
from adcompiler.ir.nodes import Atom, Block, If, Let, Region, Statement, Var
from adcompiler.ir.regions import altered
from adcompiler.ir.visit import defined, direct_uses, substitute_block, used


def join_branches(block: Block, purity: Purity) -> Block:
    """Return ``block`` with neighbouring branches on the same condition made one."""
    exposed = exposed_values(block, Sharing(purity.type_of, purity.definition))
    return joined_within(block, purity, exposed)


def joined_within(
    block: Block, purity: Purity, exposed: set[Atom], known: bool = False
) -> Block:
    """As ``join_branches``; ``exposed`` are the values that do not stay as they are.

    What is inside of the statements is left alone if it is ``known`` to be joined.
    """
    statements: list[Statement] = []
    for old in block.statements:
        statement = old if known else inside(old, purity, exposed)
        if isinstance(statement, If):
            found = partner(statements, statement, purity, exposed)
            if found is not None:
                position, first = found
                parts = parted(
                    first, statements[position + 1:], statement, purity, exposed)
                if parts is not None:
                    statements[position:] = parts[0]
                    statements += [joined(first, statement, purity, exposed), *parts[1]]
                    continue
        statements.append(statement)
    return altered(block, statements=tuple(statements))


def inside(statement: Statement, purity: Purity, exposed: set[Atom]) -> Statement:
    """Return ``statement`` with the branches inside it joined."""
    if not isinstance(statement, Region):
        return statement
    return statement.with_bodies(lambda block: joined_within(block, purity, exposed))


def partner(
    statements: list[Statement], second: If, purity: Purity, exposed: set[Atom]
) -> tuple[int, If] | None:
    """Return an earlier branch on the same condition that may become one with this, and its place.
    """
    writes = False
    for position in range(len(statements) - 1, -1, -1):
        statement = statements[position]
        if isinstance(statement, If) and statement.condition is second.condition:
            if statement.then.diverges or statement.orelse.diverges:
                return None
            if writes and any(var in exposed for var in used(Block((statement,)))):
                return None
            return position, statement
        if not isinstance(statement, Let) or not purity.is_pure(statement.rhs):
            return None
        writes |= written_operand(statement.rhs) is not None
    return None


def parted(
    first: If, between: Sequence[Statement], second: If, purity: Purity, exposed: set[Atom]
) -> tuple[list[Statement], list[Statement]] | None:
    """Return which statements between two branches come before both, and which behind.

    What reads a result of the first one comes behind; None if the second one reads that, or if it
    may raise: the second one may too, and has to be later.
    """
    before: list[Statement] = []
    behind: list[Statement] = []
    later = set(defined(first))
    for statement in between:
        reads = {atom for atom in direct_uses(statement) if isinstance(atom, Var)}
        if not reads & later:
            before.append(statement)
            continue
        if reads & exposed or (isinstance(statement, Let) and written_operand(statement.rhs)):
            return None
        later |= set(defined(statement))
        behind.append(statement)
    if behind and set(used(Block((second,)))) & (later - set(defined(first))):
        return None
    return before, behind


def joined(first: If, second: If, purity: Purity, exposed: set[Atom]) -> If:
    """Return one branch that does what two neighbouring ones on the same condition do.

    Branches of its arms may be neighbours now.
    """
    arms = []
    for one, two in ((first.then, second.then), (first.orelse, second.orelse)):
        mapping: dict[Var, Atom] = dict(zip(first.results, one.yields, strict=True))
        after = substitute_block(two, mapping)
        both = (*one.statements, *after.statements)
        arm = Block(both, (*one.yields, *after.yields), after.diverges)
        arms.append(joined_within(arm, purity, exposed, known=True))
    return If(
        first.condition, arms[0], arms[1], (*first.results, *second.results), first.origin
    )

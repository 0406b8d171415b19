"""Where values of the typed IR are made, and where they are read, for lowering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from adcompiler.backends.native.ops.function_table import key_in
from adcompiler.backends.native.ops.scalars import TABLE
from adcompiler.backends.native.values import Declined
from adcompiler.ir.nodes import Block, Call, Const, If, Let, Region, Statement, Update, Var, unstar
from adcompiler.ir.visit import blocks_of, direct_uses, walk


def readers_of(body: Block) -> dict[Var, Statement]:
    """Return the statement that reads each variable, the last one if there are several."""
    found: dict[Var, Statement] = {}
    for statement in walk(body):
        found.update((atom, statement) for atom in direct_uses(statement) if isinstance(atom, Var))
    return found


def tested(bodies: Sequence[Block]) -> set[Var]:
    """Return the variables that nothing reads but branches, which ask whether they are true."""
    conditions, others, given = set[Any](), set[Any](), list[tuple[Any, Var]]()
    for body in bodies:
        others |= set(body.yields)
        for statement in walk(body):
            read = list(direct_uses(statement))
            if isinstance(statement, If):
                read.remove(statement.condition)
                conditions.add(statement.condition)
                given += [pair for arm in (statement.then, statement.orelse)
                          for pair in zip(arm.yields, statement.results, strict=False)]
            else:
                read += [atom for block in blocks_of(statement) for atom in block.yields]
            others |= set(read)
    before = -1
    while before != len(others):
        before = len(others)
        others |= {atom for atom, result in given if result in others}
    return {atom for atom in (*conditions, *(result for _, result in given))
            if isinstance(atom, Var) and atom not in others}


def used_once(body: Block) -> set[Var]:
    """Return the variables read at one place only, which is in the block that defines them."""
    uses: dict[Var, int] = {}
    here: set[Var] = set()

    def visit(block: Block) -> None:
        made: set[Var] = set()
        for statement in block.statements:
            read = [atom for atom in direct_uses(statement) if isinstance(atom, Var)]
            for var in read:
                uses[var] = uses.get(var, 0) + 1
            here.update(var for var in read if var in made)
            for inner in blocks_of(statement):
                visit(inner)
            if isinstance(statement, Let):
                made.add(statement.target)
        for atom in block.yields:
            if isinstance(atom, Var):
                uses[atom] = uses.get(atom, 0) + 1
                if atom in made:
                    here.add(atom)

    visit(body)
    return {var for var in here if uses[var] == 1}


def read_whole(body: Block) -> set[Var]:
    """Return the variables that something reads which does not go through arrays by elements."""
    found = set(body.yields)
    for statement in walk(body):
        for block in blocks_of(statement):
            found |= set(block.yields)
        match statement:
            case Let(rhs=Call(Const(function))) if key_in(TABLE, function) is not None:
                continue
            case Let(rhs=Update(value=value)):
                found |= set(direct_uses(statement)) - {value}
            case _:
                found |= set(direct_uses(statement))
    return {atom for atom in found if isinstance(atom, Var)}


def makers(body: Block) -> dict[Var, tuple[Statement, int]]:
    """Return the region, and the position among its results, that gives each variable."""
    found: dict[Var, tuple[Statement, int]] = {}
    for statement in walk(body):
        match statement:
            case Let(target=target):
                found[target] = (statement, 0)
            case Region():
                found.update((var, (statement, i)) for i, var in enumerate(statement.results))
    return found


def told_apart(args: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the positions of parameters of which some share no storage, and which ones."""
    atoms = [unstar(atom) for atom in args[1:3]]
    places, written = (atom.value if isinstance(atom, Const) else () for atom in atoms)
    if not places or min(places) < 0:
        raise Declined("what is written into is no argument")
    return places, tuple(places[i] for i in written)

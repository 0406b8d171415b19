"""Walking and rebuilding IR: variables used and defined, substitution, sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard, TypeVar

from adcompiler.ir.nodes import (
    Atom, Block, Do, Edge, If, Let, Loop, Raise, Region, Statement, Unsupported, Var, operands,
    substitute,
)

R = TypeVar("R", bound=Region)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks inside a statement."""
    return statement.blocks() if isinstance(statement, Region) else ()


def with_blocks(statement: Statement, new: Callable[[Block], Block]) -> Statement:
    """Return ``statement`` with ``new`` of each of its blocks; itself if it has none."""
    return statement.with_blocks(new) if isinstance(statement, Region) else statement


def is_plain_region(statement: Statement) -> TypeGuard[If | Loop]:
    """Say whether a statement holds blocks, and nothing that is raised in there ends in it."""
    return isinstance(statement, Region) and not statement.may_catch()


def with_head(region: R, mapping: Mapping[Var, Atom]) -> R:
    """Return a region with variables replaced that it reads outside its blocks."""
    return region.with_reads(
        lambda atom: mapping.get(atom, atom) if isinstance(atom, Var) else atom
    )


def edges(block: Block) -> Iterator[Edge]:
    """Yield how values go into, round in and out of all regions of a block."""
    for statement in walk(block):
        if isinstance(statement, Region):
            yield from statement.edges()


def defined(statement: Statement) -> tuple[Var, ...]:
    """Return the variables that a statement defines for what follows it."""
    if isinstance(statement, Let):
        return (statement.target,)
    return statement.defines() if isinstance(statement, Region) else ()


def bound_inside(statement: Statement) -> tuple[Var, ...]:
    """Return the variables that a statement binds for its own blocks."""
    return statement.binds() if isinstance(statement, Region) else ()


def direct_uses(statement: Statement) -> tuple[Atom, ...]:
    """Return the atoms that a statement reads outside its blocks."""
    if isinstance(statement, (Let, Do)):
        return operands(statement.rhs)
    if isinstance(statement, Region):
        return statement.reads()
    return (statement.exception, statement.cause) if isinstance(statement, Raise) else ()


def walk(block: Block) -> Iterator[Statement]:
    """Iterate over all statements of a block, inner ones after the statement that holds them."""
    waiting = [iter(block.statements)]
    while waiting:
        for statement in waiting[-1]:
            yield statement
            if isinstance(statement, (Let, Do)):
                continue  # most statements: there is nothing inside
            inside = blocks_of(statement)
            if inside:
                waiting.extend(iter(inner.statements) for inner in reversed(inside))
                break
        else:
            waiting.pop()


def loops_in(block: Block) -> Iterator[Loop]:
    """Iterate over the loops in ``block``, at any depth."""
    return (statement for statement in walk(block) if isinstance(statement, Loop))


def definitions(block: Block) -> set[Var]:
    """Return every variable defined or bound anywhere inside ``block``."""
    found: set[Var] = set()
    for statement in walk(block):
        found.update(defined(statement))
        found.update(bound_inside(statement))
    return found


def used(block: Block) -> dict[Var, None]:
    """Return every variable read anywhere inside ``block``, in order of first use."""
    found: dict[Var, None] = {}

    def note(atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                found[atom] = None

    for statement in walk(block):
        note(direct_uses(statement))
        for inner in blocks_of(statement):
            note(inner.yields)
    note(block.yields)
    return found


def free_variables(block: Block) -> dict[Var, None]:
    """Return the variables that ``block`` reads and does not define, in order of first use."""
    inside = definitions(block)
    return {var: None for var in used(block) if var not in inside}


def size(block: Block) -> int:
    """Return the number of statements in ``block``, inner ones included."""
    return sum(1 for _ in walk(block))


def substitute_statement(statement: Statement, mapping: Mapping[Var, Atom]) -> Statement:
    """Return ``statement`` with variables replaced everywhere in it; itself if none occurs."""

    def new(atom: Atom) -> Any:
        return mapping.get(atom, atom) if isinstance(atom, Var) else atom

    def block(inner: Block) -> Block:
        return substitute_block(inner, mapping)

    match statement:
        case Let(target, rhs, origin):
            changed = substitute(rhs, mapping)
            return statement if changed is rhs else Let(target, changed, origin)
        case Do(rhs, origin):
            changed = substitute(rhs, mapping)
            return statement if changed is rhs else Do(changed, origin)
        case Raise(exception, cause, origin):
            return Raise(new(exception), new(cause), origin)
        case Region():
            blocks = {inner: block(inner) for inner in statement.blocks()}
            if all(map(operator.is_, blocks, blocks.values())) and all(
                new(atom) is atom for atom in statement.reads()
            ):
                return statement
            return statement.with_reads(new).with_blocks(blocks.__getitem__)
    assert isinstance(statement, Unsupported)
    return statement


def substitute_block(block: Block, mapping: Mapping[Var, Atom]) -> Block:
    """Return ``block`` with variables replaced everywhere in it; itself if none occurs."""
    if not mapping:
        return block
    statements = tuple(substitute_statement(s, mapping) for s in block.statements)
    yields = tuple(mapping.get(a, a) if isinstance(a, Var) else a for a in block.yields)
    if all(map(operator.is_, statements, block.statements)) and all(
        map(operator.is_, yields, block.yields)
    ):
        return block
    return Block(statements, yields, block.diverges)


def renamed(
    block: Block, new: Mapping[Var, Var], reading: Mapping[Var, Atom]
) -> Block:
    """Return ``block`` with other variables defined in it, and those of ``reading`` read."""

    def of(var: Var) -> Var:
        return new.get(var, var)

    def inner(block: Block) -> Block:
        return replace(block, statements=tuple(map(statement, block.statements)))

    def statement(one: Statement) -> Statement:
        if isinstance(one, Let):
            return Let(of(one.target), one.rhs, one.origin)
        return one.with_blocks(inner).renamed(of) if isinstance(one, Region) else one

    return inner(substitute_block(block, reading))


def count_uses(block: Block) -> dict[Var, int]:
    """Return how often each variable is read in ``block``.

    The condition of ``a and b``, which the branch also yields, counts once.
    """
    counts: dict[Var, int] = {}

    def note(atoms: Sequence[Atom]) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                counts[atom] = counts.get(atom, 0) + 1

    for statement in walk(block):
        note(direct_uses(statement))
        short = isinstance(statement, If) and is_short_circuit(statement)
        for inner in blocks_of(statement):
            if not (short and isinstance(statement, If) and yields_condition(statement, inner)):
                note(inner.yields)
    note(block.yields)
    return counts


def is_short_circuit(node: If) -> bool:
    """Say whether a branch is ``condition and x`` or ``condition or x``."""
    if len(node.results) != 1 or node.then.diverges or node.orelse.diverges:
        return False
    return yields_condition(node, node.then) != yields_condition(node, node.orelse)


def yields_condition(node: If, arm: Block) -> bool:
    """Say whether an arm does nothing but yield the condition of its branch."""
    return not arm.statements and arm.yields[0] is node.condition

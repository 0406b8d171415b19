"""Walking and rebuilding IR: variables used and defined, substitution, sizes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from adcompiler.ir.nodes import (
    Atom, Block, Do, If, Let, Loop, Raise, Statement, Try, Unsupported, Var, With, operands,
    substitute,
)


def blocks_of(statement: Statement) -> tuple[Block, ...]:
    """Return the blocks inside a statement."""
    if isinstance(statement, (Let, Do)):
        return ()  # most statements
    match statement:
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case Loop(condition=condition, body=body):
            return (body,) if condition is None else (condition, body)
        case With(body=body):
            return (body,)
        case Try():
            return statement.arms()
    return ()


def arms_of(statement: If | With | Try) -> tuple[Block, ...]:
    """Return the blocks of a region of which one, run once, gives the results."""
    return blocks_of(statement)


def with_blocks(statement: Statement, new: Callable[[Block], Block]) -> Statement:
    """Return ``statement`` with ``new`` of each of its blocks; itself if it has none."""
    match statement:
        case If(then=then, orelse=orelse):
            return replace(statement, then=new(then), orelse=new(orelse))
        case Loop(condition=condition, body=body):
            test = None if condition is None else new(condition)
            return replace(statement, condition=test, body=new(body))
        case With(body=body):
            return replace(statement, body=new(body))
        case Try(body=body, handlers=handlers):
            return replace(statement, body=new(body), handlers=tuple(
                replace(handler, body=new(handler.body)) for handler in handlers
            ))
    return statement


def with_head(statement: With | Try, mapping: Mapping[Var, Atom]) -> With | Try:
    """Return a region with variables replaced that it reads outside its blocks."""

    def new(atom: Atom) -> Atom:
        return mapping.get(atom, atom) if isinstance(atom, Var) else atom

    if isinstance(statement, With):
        return replace(statement, context=new(statement.context))
    return replace(statement, handlers=tuple(
        replace(handler, exception=new(handler.exception)) for handler in statement.handlers
    ))


def defined(statement: Statement) -> tuple[Var, ...]:
    """Return the variables that a statement defines for what follows it."""
    match statement:
        case Let(target=target):
            return (target,)
        case If(results=results) | With(results=results) | Try(results=results):
            return results
        case Loop(results=results, collects=collects):
            return (*results, *collects)
    return ()


def bound_inside(statement: Statement) -> tuple[Var, ...]:
    """Return the variables that a statement binds for its own blocks."""
    match statement:
        case Loop(items=items, params=params):
            return (*items, *params)
        case With(target=Var() as target):
            return (target,)
        case Try(handlers=handlers):
            return tuple(handler.name for handler in handlers if handler.name is not None)
    return ()


def direct_uses(statement: Statement) -> tuple[Atom, ...]:
    """Return the atoms that a statement reads outside its blocks."""
    if isinstance(statement, (Let, Do)):
        return operands(statement.rhs)
    match statement:
        case Raise(exception=exception, cause=cause):
            return (exception, cause)
        case If(condition=condition):
            return (condition,)
        case Loop(iterables=iterables, inits=inits):
            return (*iterables, *inits)
        case With(context=context):
            return (context,)
        case Try(handlers=handlers):
            return tuple(handler.exception for handler in handlers)
    return ()


def walk(block: Block) -> Iterator[Statement]:
    """Iterate over all statements of a block, inner ones after the statement that holds them."""
    waiting = list(reversed(block.statements))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, (Let, Do)):
            continue  # most statements: there is nothing inside
        for inner in reversed(blocks_of(statement)):
            waiting.extend(reversed(inner.statements))


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

    def new(atom: Any) -> Any:
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
        case If() | Loop() | With() | Try():
            blocks = {inner: block(inner) for inner in blocks_of(statement)}
            if all(map(operator.is_, blocks, blocks.values())) and all(
                new(atom) is atom for atom in direct_uses(statement)
            ):
                return statement
            return with_blocks(with_heads(statement, new), blocks.__getitem__)
    assert isinstance(statement, Unsupported)
    return statement


def with_heads(
    statement: If | Loop | With | Try, new: Callable[[Any], Any]
) -> Statement:
    """Return a region with atoms replaced that it reads outside its blocks."""
    match statement:
        case If():
            return replace(statement, condition=new(statement.condition))
        case Loop():
            return replace(
                statement, iterables=tuple(map(new, statement.iterables)),
                inits=tuple(map(new, statement.inits)),
            )
        case With():
            return replace(statement, context=new(statement.context))
    return replace(statement, handlers=tuple(
        replace(handler, exception=new(handler.exception)) for handler in statement.handlers
    ))


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

    def of(names: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(new.get(var, var) for var in names)

    def inner(block: Block) -> Block:
        return replace(block, statements=tuple(map(statement, block.statements)))

    def statement(one: Statement) -> Statement:
        one = with_blocks(one, inner)
        match one:
            case Let(target, rhs, origin):
                return Let(new.get(target, target), rhs, origin)
            case If():
                return replace(one, results=of(one.results))
            case Loop():
                return replace(
                    one, items=of(one.items), params=of(one.params), results=of(one.results),
                    collects=of(one.collects),
                )
            case With():
                bound = None if one.target is None else new.get(one.target, one.target)
                return replace(one, target=bound, results=of(one.results))
            case Try():
                handlers = tuple(
                    replace(h, name=None if h.name is None else new.get(h.name, h.name))
                    for h in one.handlers
                )
                return replace(one, handlers=handlers, results=of(one.results))
        return one

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
        if isinstance(statement, If):
            for arm in (statement.then, statement.orelse):
                if not (is_short_circuit(statement) and yields_condition(statement, arm)):
                    note(arm.yields)
        elif isinstance(statement, Loop):
            note(statement.body.yields)
            if statement.condition is not None:
                note(statement.condition.yields)
        elif isinstance(statement, (With, Try)):
            for arm in arms_of(statement):
                note(arm.yields)
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

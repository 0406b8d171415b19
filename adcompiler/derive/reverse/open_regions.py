"""Regions of the forward pass while they are open: the sweep may still ask them to save more.

The reverse of a branch or loop is written after the forward pass, and only then is it known what
it reads of values made inside the region. Until ``finish``, a region is therefore a record that
can be added to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set as AbstractSet
from dataclasses import replace

from adcompiler.analyses.storage import METADATA
from adcompiler.ir.nodes import (
    Atom, Attribute, Block, If, Let, Loop, Region, Statement, Try, Var, With,
)
from adcompiler.ir.visit import defined, with_head
from adcompiler.support.structs import dataclass


@dataclass(eq=False)
class PendingArms:
    """A branch, ``with`` or ``try`` of the forward pass whose arms may be asked to yield more.

    ``head`` maps what it reads outside its blocks to the values of the forward pass. ``nothing`` is
    what the other arms yield where one is asked for more; ``regions`` are the numbers of the arms.
    """

    node: If | With | Try
    head: dict[Var, Atom]
    nothing: Atom
    arms: list[list[Written]]
    yields: list[list[Atom]]
    results: list[Var]
    regions: list[int]


@dataclass(eq=False)
class PendingLoop:
    """A loop of the forward pass whose iterations may still be asked to save more."""

    node: Loop
    iterables: tuple[Atom, ...]
    inits: tuple[Atom, ...]
    condition: Block | None
    body: list[Written]
    following: tuple[Atom, ...]
    collected: list[Atom]
    collects: list[Var]
    stop: Atom | None
    region: int


Written = Statement | PendingArms | PendingLoop
"""What the forward pass writes."""


def top_level(statements: Iterable[Written]) -> Iterator[Var]:
    """Yield the variables that statements of the forward pass define for what follows them."""
    for statement in statements:
        match statement:
            case PendingArms():
                yield from statement.results
            case PendingLoop():
                yield from statement.node.results
                yield from statement.collects
            case _:
                yield from defined(statement)


def region_variables(written: Iterable[Written], primal: Block) -> set[Var]:
    """Return the variables that a region defines: of its augmented form and of the primal."""
    found = set(top_level(written))
    for statement in primal.statements:
        found.update(defined(statement))
    return found


def hoist_metadata(
    sweep: list[Statement], forward: list[Written], made: set[Var], unsure: AbstractSet[Atom]
) -> None:
    """Move reads of shapes, sizes and dtypes of forward values from the sweep to the forward pass.

    What is saved is then the shape, not the array. ``made`` holds the forward values; the variables
    moved join them. Those in ``unsure``, which may have no value, are read where they have one.
    """

    def kept(statements: Iterable[Statement]) -> Iterator[Statement]:
        for statement in statements:
            match statement:
                case Let(target, Attribute(obj, name), origin) if (
                    name in METADATA and obj in made and obj not in unsure
                ):
                    forward.append(replace(statement, origin=replace(origin, reverse=False)))
                    made.add(target)
                case Region():
                    yield statement.with_bodies(within)
                case _:
                    yield statement

    def within(block: Block) -> Block:
        return replace(block, statements=tuple(kept(block.statements)))

    sweep[:] = kept(sweep)


def finish(statements: Iterable[Written]) -> list[Statement]:
    """Return statements with the regions of the forward pass as they ended up."""
    finished: list[Statement] = []
    for statement in statements:
        match statement:
            case PendingArms():
                finished.append(finished_arms(statement))
            case PendingLoop():
                finished.append(finished_loop(statement))
            case _:
                finished.append(statement)
    return finished


def finished_arms(pending: PendingArms) -> Statement:
    """Return a region that yields what was asked for."""
    blocks = iter([
        Block(tuple(finish(arm)), tuple(row), primal.diverges)
        for arm, row, primal in zip(
            pending.arms, pending.yields, pending.node.arms(), strict=True
        )
    ])
    node = with_head(pending.node, pending.head).with_blocks(lambda _: next(blocks))
    return replace(node, results=tuple(pending.results))


def finished_loop(pending: PendingLoop) -> Loop:
    """Return a loop that collects what was asked for."""
    node = pending.node
    stop = () if pending.stop is None else (pending.stop,)
    body = Block(
        tuple(finish(pending.body)), (*pending.following, *pending.collected, *stop),
        node.body.diverges,
    )
    return Loop(
        node.items, pending.iterables, pending.condition, node.params, pending.inits, body,
        node.results, node.origin, tuple(pending.collects), node.stops,
    )

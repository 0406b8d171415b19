"""Checks, where code is run, that a container which is written into holds every object once.

They are written only where that cannot be proved when compiling; see ``analyses.repeats``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from adcompiler.analyses.container_aliasing import Repeats
from adcompiler.analyses.storage import Sharing
from adcompiler.ir.nodes import Atom, Block, Call, Const, Do, Let, Origin, Statement, Var
from adcompiler.ir.visit import with_blocks
from adcompiler.runtime import holds_once
from adcompiler.typed.unit import Unit


def with_repeats_checked(unit: Unit, block: Block, apart: Iterable[Var] = ()) -> Block:
    """Return ``block`` with the checks; ``apart`` are parameters that have been checked."""
    if not unit.writes.written_inside:
        return block
    repeats = Repeats(
        block, Sharing(unit.type, unit.definition), apart, unit.writes.rearranged,
        unit.writes.stored_copies, unit.writes.popped,
    )
    needed: dict[int, Atom] = {}
    for let, container in repeats.needed():
        if repeats.is_copied(container):
            unit.findings.append(let.origin.finding(
                "this writes into what a container holds; whether that is one object in two "
                "places is not known when compiling",
                "put copies into the container: `x.copy()`", "aliases",
            ))
        needed[id(let)] = container
    return _checked(block, needed) if needed else block


def _checked(block: Block, needed: Mapping[int, Atom]) -> Block:
    def statements() -> Iterator[Statement]:
        for statement in block.statements:
            if isinstance(statement, Let) and id(statement) in needed:
                place = Const(place_of(statement.origin))
                yield Do(Call(Const(holds_once), (place, needed[id(statement)])), statement.origin)
            yield with_blocks(statement, lambda inner: _checked(inner, needed))

    return replace(block, statements=tuple(statements()))


def place_of(origin: Origin) -> str:
    """Return what messages of emitted code call a line."""
    return origin.where

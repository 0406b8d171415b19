"""Copies made so that the caller's arrays stay as they are lie in memory as these arrays do.

Whether a reshape gives a view or a copy depends on that, and so does what a later write means. It
matters only where some reshape is relied on: elsewhere a plain copy is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from adcompiler.ir.nodes import Block, Call, Const, Let, Statement
from adcompiler.ir.visit import with_blocks
from adcompiler.ops.queries import meaning
from adcompiler.runtime.shaping import copy_as_laid_out
from adcompiler.typed.unit import Unit


def with_layouts_kept(unit: Unit, block: Block) -> Block:
    """Return ``block`` with copies that keep the layout, if views of reshaped arrays are used."""
    if not unit.writes.relies_on_layout or not unit.writes.copied_for_writes:
        return block
    return replace(block, statements=tuple(_kept(unit, block.statements)))


def _kept(unit: Unit, statements: tuple[Statement, ...]) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case Let(target, Call(args=args) as rhs, origin) if meaning(rhs) == "copy" and (
                target in unit.writes.copied_for_writes
            ):
                unit.defs[target] = Call(Const(copy_as_laid_out), args)
                yield Let(target, unit.defs[target], origin)
            case _:
                yield with_blocks(statement, lambda block: with_layouts_kept(unit, block))

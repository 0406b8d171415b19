"""Variables that code carries out of branches and round loops although nobody reads them there.

The parser carries every name that is assigned. Emitted code assigns many names in its loops, most
of which hold views and tapes that the next iteration makes anew: as long as they were carried, a
write to what they share storage with would have to be followed.
"""

from __future__ import annotations

from dataclasses import replace

from adcompiler.analyses.liveness import live_variables
from adcompiler.ir.nodes import UNDEF, Block, Function, Region, Statement
from adcompiler.ir.remembered import remembered


@remembered
def without_dead_carries(function: Function) -> Function:
    """Return ``function`` with nothing in the place of carried values that are never read."""
    live = live_variables(function)

    def cleaned(block: Block) -> Block:
        return replace(block, statements=tuple(map(statement, block.statements)))

    def statement(old: Statement) -> Statement:
        if not isinstance(old, Region):
            return old
        dead = [live.isdisjoint(variables) for variables in old.slots()]
        return old.with_blocks(cleaned).with_handed(lambda i, atom: UNDEF if dead[i] else atom)

    return replace(function, body=cleaned(function.body))

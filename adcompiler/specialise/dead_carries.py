"""Variables that code carries out of branches and round loops although nobody reads them there.

The parser carries every name that is assigned. Emitted code assigns many names in its loops, most
of which hold views and tapes that the next iteration makes anew: as long as they were carried, a
write to what they share storage with would have to be followed.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from adcompiler.analyses.liveness import live_variables
from adcompiler.ir.nodes import UNDEF, Block, Function, If, Loop, Statement, Try, Var, With
from adcompiler.ir.visit import with_blocks


@functools.lru_cache(maxsize=512)
def without_dead_carries(function: Function) -> Function:
    """Return ``function`` with nothing in the place of carried values that are never read."""
    live = live_variables(function)

    def is_dead(*variables: Var) -> bool:
        return not any(var in live for var in variables)

    def cleaned(block: Block) -> Block:
        return replace(block, statements=tuple(map(statement, block.statements)))

    def statement(old: Statement) -> Statement:
        new = with_blocks(old, cleaned)
        match new:
            case Loop(params=params, results=results):
                dead = [is_dead(*both) for both in zip(params, results, strict=True)]
                yields = tuple(
                    UNDEF if i < len(dead) and dead[i] else atom
                    for i, atom in enumerate(new.body.yields)
                )
                inits = tuple(
                    UNDEF if gone else atom for gone, atom in zip(dead, new.inits, strict=True)
                )
                return replace(new, inits=inits, body=replace(new.body, yields=yields))
            case If(results=results) | With(results=results) | Try(results=results):
                return with_blocks(new, lambda arm: replace(arm, yields=tuple(
                    UNDEF if is_dead(result) else atom
                    for result, atom in zip(results, arm.yields, strict=False)
                )))
        return new

    return replace(function, body=cleaned(function.body))

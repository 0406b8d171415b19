"""The optimisation passes, in order."""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.analyses.purity import Purity
from adcompiler.ir.nodes import Block, Unsupported
from adcompiler.ir.verifier import readable, verify_block, verifying, verifying_passes
from adcompiler.optimise.algebra import algebra
from adcompiler.optimise.branches import join_branches
from adcompiler.optimise.common_subexpressions import common_subexpressions
from adcompiler.optimise.copies import needless_copies
from adcompiler.optimise.dead_code import dead_code
from adcompiler.optimise.may_raise import without_needless_marks
from adcompiler.optimise.recomputing import saved_less
from adcompiler.optimise.scatters import late_scatters
from adcompiler.optimise.stores import direct_stores
from adcompiler.optimise.subscripts import sink_subscripts
from adcompiler.optimise.tapes import join_tapes
from adcompiler.typed.unit import Unit

Pass = Callable[[Block, Unit, Purity], Block]


def _dead_code(block: Block, unit: Unit, purity: Purity) -> Block:
    return dead_code(block, purity)


def _algebra(block: Block, unit: Unit, purity: Purity) -> Block:
    return algebra(block, unit)


def _join_branches(block: Block, unit: Unit, purity: Purity) -> Block:
    """Arms that have become one may compute a value twice."""
    joined = join_branches(block, purity)
    return joined if joined is block else common_subexpressions(joined, purity)


PASSES: list[tuple[str, Pass]] = [
    ("dead_code", _dead_code),
    ("algebra", _algebra),
    ("algebra_again", _algebra),
    ("common_subexpressions", lambda block, unit, purity: common_subexpressions(block, purity)),
    ("dead_code_between", _dead_code),
    ("algebra_on_common", lambda block, unit, purity: algebra(block, unit, last=True)),
    ("join_branches", _join_branches),
    ("late_scatters", lambda block, unit, purity: late_scatters(block, unit)),
    ("direct_stores", lambda block, unit, purity: direct_stores(block, unit)),
    ("needless_copies", lambda block, unit, purity: needless_copies(block, unit, purity)),
    ("subscripts", lambda block, unit, purity: sink_subscripts(block, unit)),
    ("needless_marks", lambda block, unit, purity: without_needless_marks(block, purity)),
    ("dead_code_again", _dead_code),
    ("saved_less", lambda block, unit, purity: saved_less(block, unit, purity)),
    ("join_tapes", lambda block, unit, purity: join_tapes(block, unit, purity)),
]


def optimise(block: Block, unit: Unit, join: bool = True) -> Block:
    """Return ``block`` after all passes.

    ``join`` allows branches of the primal and of the sweep to become one, which a pair of
    functions to be emitted apart cannot have. A pass that left a block as it is does not run again
    over the same block.
    """
    purity = Purity(unit.type, unit.definition)
    outside = readable(block) if verifying() else None
    if outside is not None:
        verify_block(block, outside, unit.type, "what is to be optimised")
    stable: dict[Pass, Block] = {}
    for name, rewrite in PASSES:
        if stable.get(rewrite) is block or (name == "join_branches" and not join):
            continue
        before, block = block, rewrite(block, unit, purity)
        if block is before:
            stable[rewrite] = block
        elif outside is not None and verifying_passes():
            verify_block(block, outside, unit.type, f"what {name} gives")
        if block.statements and not isinstance(first := block.statements[0], Unsupported):
            unit.settings.budget.check(first.origin)
    if outside is not None and not verifying_passes():
        verify_block(block, outside, unit.type, "what all passes give")
    return block

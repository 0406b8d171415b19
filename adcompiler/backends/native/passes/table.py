"""The passes over loops, in order."""

from __future__ import annotations

from collections.abc import Callable

from adcompiler.backends.native.loops import LoopFunction
from adcompiler.backends.native.passes.copies import without_copies
from adcompiler.backends.native.passes.inner_loops import with_tight_loops
from adcompiler.backends.native.passes.loop_fusion import with_merged_loops
from adcompiler.backends.native.passes.overwritten import without_overwritten
from adcompiler.backends.native.passes.concatenation_in_place import with_pieces_in_place
from adcompiler.backends.native.passes.row_fusion import with_rows_together
from adcompiler.backends.native.passes.transpose_folding import with_turned_products
from adcompiler.backends.native.writer import Writer

Pass = Callable[[Writer, LoopFunction], LoopFunction]
WHOLE, RECURSIVE, SEED_BY_SEED, ALL_SEEDS = "whole", "recursive", "seed by seed", "all seeds"
"""Functions of loops: of a product, that call themselves, and of many seeds in two ways."""

PASSES: list[tuple[str, Pass, tuple[str, ...]]] = [
    ("overwritten", without_overwritten, (WHOLE,)),
    ("copies", without_copies, (WHOLE,)),
    ("rows_together", with_rows_together, (WHOLE,)),
    ("turned_products", with_turned_products, (WHOLE, ALL_SEEDS)),
    ("merged_loops", with_merged_loops, (WHOLE, RECURSIVE)),
    ("pieces_in_place", with_pieces_in_place, (WHOLE, SEED_BY_SEED, ALL_SEEDS)),
    ("tight_loops", with_tight_loops, (WHOLE, RECURSIVE, SEED_BY_SEED, ALL_SEEDS)),
]
"""Each pass, and the functions that it is for. Last, `printer.py` lets an iteration use the arrays
of the one before."""
OF_EACH = (with_rows_together, with_turned_products)
"""Passes over functions in which functions of whole arrays are computed in steps of their own."""


def improved(w: Writer, function: LoopFunction, kind: str, of_each: bool = True) -> LoopFunction:
    """Return a function with fewer copies, passes over arrays, and tests: after all passes."""
    for _, run, kinds in PASSES:
        if kind in kinds and (of_each or run not in OF_EACH):
            function = run(w, function)
    return function


__all__ = ["ALL_SEEDS", "PASSES", "RECURSIVE", "SEED_BY_SEED", "WHOLE", "improved"]

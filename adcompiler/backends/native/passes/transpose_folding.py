"""Products of which a factor is the transpose of a matrix are computed with the matrix as it lies.

BLAS takes matrices that lie row by row, or column by column: a transpose needs no copy.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from adcompiler.backends.native.loops import LoopFunction, Turn, Use, rows_of
from adcompiler.backends.native.passes.unused import all_needed
from adcompiler.backends.native.reading import bound_by
from adcompiler.backends.native.rewriting import with_rows
from adcompiler.backends.native.writer import Writer


def with_turned_products(w: Writer, function: LoopFunction) -> LoopFunction:
    """Return a function of loops that multiplies matrices in place of their transposes."""
    rows = list(rows_of(function.body))
    bound = Counter(map(bound_by, rows))
    turns = {row.name: row.buffer for row in rows if isinstance(row, Turn)
             and row.axes == (1, 0) and bound[row.name] == 1 and bound[row.buffer] < 2}
    if not any(isinstance(row, Use) and turned(row, turns) is not row for row in rows):
        return function
    body = with_rows(
        function.body, lambda row: [turned(row, turns) if isinstance(row, Use) else row])
    return all_needed(replace(function, body=body))


def turned(row: Use, turns: dict[str, str]) -> Use:
    """Return a product of a matrix in place of one of its transpose."""
    match row:
        case Use(name, "matrix_product", (str(a), b)) if a in turns:
            return Use(name, "turned_times", (turns[a], b))
        case Use(name, "matrix_product", (a, str(b))) if b in turns:
            return Use(name, "times_turned", (a, turns[b]))
    return row


__all__ = ["with_turned_products"]

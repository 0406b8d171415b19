"""Second derivatives: which records are alive, and the pairs of inputs that they bring together.

Every nonlinear operation left a record. A record is alive if the result depends on it by a
derivative that may be nonzero; the sweep goes from the result backwards. Each element of a live
record adds the pairs of the inputs that its operands depend on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.ir.dataflow import fixpoint
from adcompiler.sparsity.dependences import index_sets
from adcompiler.sparsity.dependences.index_sets import Array, Bag, Own
from adcompiler.sparsity.dependences.sets import Positions, Set, elements_of, set_of, size_of
from adcompiler.sparsity.dependences.values import Relation, whole
from adcompiler.sparsity.interpreter.fullness import bounded
from adcompiler.sparsity.interpreter.run import Record

Pairs = tuple[Positions, Positions]


def alive(records: Sequence[Record], numbers: int, result: Relation) -> Any:
    """Return, for each number that a record stands for, whether the result depends on it."""
    live = np.zeros(numbers, bool)
    live[elements_of(whole(result))] = True

    def sweep() -> bool:  # a second time only for loops, whose records depend on later ones
        changed = False
        for record in reversed(records):
            here = live[record.start : record.start + record.size]
            if record.children and here.any():
                changed |= spread(record, here, live)
        return changed

    fixpoint(sweep)  # of arrays: a step from each element to each other one would be too many
    return live


def spread(record: Record, here: Array, live: Array) -> bool:
    """Mark what flows into the live elements of a record; say if later records are among it."""
    again = False
    for common, own in record.children:
        for found in flowing(common, own, here, record):
            if not live[found].all():
                again = again or bool((found[~live[found]] >= record.start).any())
                live[found] = True
    return again


def flowing(common: Set, own: Own, here: Array, record: Record) -> Iterator[Positions]:
    """Yield the numbers that live elements depend on."""
    if common:
        yield elements_of(common)
    if isinstance(own, Bag):
        for member in own.members:
            columns = member.ravel()[here]
            yield columns[columns >= 0]
    elif own is not None:
        rows, columns = index_sets.pairs_of(own)
        yield columns[here[rows]]


def pattern(records: Sequence[Record], live: Array, size: int) -> Any:
    """Return the symmetric pattern that live records add up to."""
    rows: list[Positions] = [np.empty(0, np.int64)]
    columns: list[Positions] = [np.empty(0, np.int64)]
    seen: set[tuple[Any, Any]] = set()
    for record in records:
        here = live[record.start : record.start + record.size]
        if record.pairs and here.any():
            for a, b in record.pairs:
                for r, c in crossed(a, b, here, size, seen):
                    rows.append(r)
                    columns.append(c)
    r, c = np.concatenate(rows), np.concatenate(columns)
    both = np.concatenate([r, c]), np.concatenate([c, r])
    found = sp.csr_array((np.ones(len(both[0]), bool), both), shape=(size, size))
    found.sum_duplicates()
    return found


def crossed(
    a: Relation, b: Relation, here: Array, size: int, seen: set[tuple[Set, Set]]
) -> Iterator[Pairs]:
    """Yield the pairs of inputs that two operands of live elements depend on."""
    yield from product(a.common, b.common, seen)
    if a.common and b.own is not None:
        yield from product(a.common, live_columns(b.own, here), seen)
    if b.common and a.own is not None:
        yield from product(live_columns(a.own, here), b.common, seen)
    if isinstance(a.own, Bag) and isinstance(b.own, Bag):
        for i, first in enumerate(a.own.members):
            x = first.ravel()[here]
            for second in b.own.members[i if a.own is b.own else 0 :]:
                y = second.ravel()[here]
                both = (x >= 0) & (y >= 0)
                yield x[both], y[both]
    elif a.own is not None and b.own is not None:
        left, right = (matrix(own, here, size) for own in (a.own, b.own))
        together = (left.T @ right).tocoo()
        yield together.row.astype(np.int64), together.col.astype(np.int64)


def product(a: Set, b: Set, seen: set[tuple[Set, Set]]) -> Iterator[Pairs]:
    """Yield all pairs of elements of two sets, unless they were before."""
    if not a or not b or (a, b) in seen:
        return
    seen.add((a, b))
    if size_of(a) == size_of(b) == 1:
        (x,), (y,) = a, b  # type: ignore[misc]
        yield np.array([x]), np.array([y])
        return
    x, y = elements_of(a), elements_of(b)
    bounded(len(x) * len(y))
    yield np.repeat(x, len(y)), np.tile(y, len(x))


def live_columns(own: Own, here: Array) -> Set:
    """Return the union of the sets of live elements."""
    rows, columns = index_sets.pairs_of(own)
    return set_of(columns[here[rows]])


def matrix(own: Own, here: Array, size: int) -> Any:
    """Return the sets of live elements as the rows of a matrix."""
    rows, columns = index_sets.pairs_of(own)
    kept = here[rows]
    return sp.csr_array(
        (np.ones(int(kept.sum()), bool), (rows[kept], columns[kept])), shape=(len(here), size)
    )

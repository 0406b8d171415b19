"""Systems whose matrix falls into blocks: rows and columns that only zeros connect to the others.

Which elements of a matrix are zero for all inputs is known of what ``np.diag`` and its kin make
(``Dependent.zeros``). The bipartite graph that connects row i and column j where an element may not
be zero has components; by permutations of rows and columns the matrix is block diagonal, so that
each unknown depends on the elements and right-hand sides of its own component.
"""

from __future__ import annotations


import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from adcompiler.sparsity.dependences.index_sets import Array, count
from adcompiler.sparsity.dependences.sets import Positions
from adcompiler.sparsity.dependences.values import (
    Dependent, Relation, combined, moved, shape_of, unite,
)

MAX_PAIRS = 20_000_000
"""Pairs of an element and a result that are written down; more are taken to be all of them."""


def in_blocks(a: Dependent, b: Dependent | Array | None) -> Dependent | None:
    """Return what the solution of ``a x = b`` depends on, or the inverse of ``a`` without ``b``.

    None if the matrix is not known to fall into blocks.
    """
    if not isinstance(a, Dependent) or a.zeros is None or a.zeros.ndim != 2:
        return None
    size = a.zeros.shape[0]
    if size != a.zeros.shape[1]:
        return None
    row, column = np.nonzero(~a.zeros)
    return by_entries(a, row, column, row * size + column, size, b)


def by_entries(
    a: Dependent, row: Array, column: Array, places: Array, size: int, b: Dependent | Array | None
) -> Dependent | None:
    """Return the same of the matrix whose entries in ``row`` and ``column`` ``a`` has at places."""
    there = sp.coo_array((np.ones(row.size, bool), (row, column)), shape=(size, size))
    labels = connected_components(sp.bmat([
        [None, there], [sp.csr_array((size, size), dtype=bool), None],
    ]), directed=False)[1]
    of_rows, of_columns = labels[:size], labels[size:]
    if len(np.unique(labels)) < 2:
        return None
    width = 1 if b is None else count(shape_of(b)[1:])
    across = np.arange(width)
    inputs = [] if not isinstance(a, Dependent) else [(
        a, (of_rows[row][:, None] * width + across).ravel(), np.repeat(places, width))]
    if b is None:
        owner = np.where(of_columns[:, None] == of_rows, of_rows, -1)
    else:
        owner = (of_columns[:, None] * width + across).reshape(size, *shape_of(b)[1:])
        if isinstance(b, Dependent):
            sides = (of_rows[:, None] * width + across).ravel()
            inputs.append((b, sides, np.arange(size * width)))
    return gathered_by(inputs, owner)


def gathered_by(
    there: list[tuple[Dependent, Positions, Positions]], owner: Array
) -> Dependent | None:
    """Return the dependences of an array on elements of others that have the same label.

    ``there`` are those others, each with the labels of some elements and their positions; ``owner``
    has the label of each element of the result, -1 for what is zero.
    """
    flat = owner.ravel()
    order = np.argsort(flat, kind="stable")
    first_of = np.searchsorted(flat[order], np.arange(flat.max() + 2))
    parts = []
    for value, labels, positions in there:
        known = labels <= flat.max()
        labels, positions = labels[known], positions[known]
        sizes = first_of[labels + 1] - first_of[labels]
        total = int(sizes.sum())
        if total > MAX_PAIRS:
            return None
        within = np.arange(total) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        targets = order[np.repeat(first_of[labels], sizes) + within]
        value.shared = True
        parts.append((value, targets, np.repeat(positions, sizes)))
    relations: list[Relation] = [
        unite([
            combined(moved(getattr(value, which), np.ravel), targets, positions, owner.shape)
            for value, targets, positions in parts
        ], owner.shape) for which in ("first", "second")
    ]
    made = Dependent(owner.shape, np.dtype(float), *relations)
    made.zeros = owner == -1
    return made

"""Kernels for the interpreter: what the others compute, by lists, slices and long integers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence


def greedy_colors(
    row_ptr: Sequence[int], row_indices: Sequence[int], column_ptr: Sequence[int],
    column_indices: Sequence[int], visits: Sequence[int],
) -> list[int]:
    """Color columns greedily so that those with a nonzero in the same row differ.

    Each row has an integer whose bits are the colors of its columns so far.
    """
    colors = [-1] * (len(column_ptr) - 1)
    taken = [0] * (len(row_ptr) - 1)
    for v in visits:
        rows = column_indices[column_ptr[v] : column_ptr[v + 1]]
        forbidden = 0
        for row in rows:
            forbidden |= taken[row]
        free = ~forbidden & (forbidden + 1)  # the lowest bit that is not set
        for row in rows:
            taken[row] |= free
        colors[v] = free.bit_length() - 1
    return colors


def dynamic_order(
    indptr: Sequence[int], indices: Sequence[int], smallest_last: bool
) -> list[int]:
    """Order vertices by degrees that change: smallest last, or largest incidence degree first.

    A bucket is a stack of all that ever came to its degree: what has left it since is skipped.
    """
    n = len(indptr) - 1
    lengths = [stop - start for start, stop in itertools.pairwise(indptr)]
    highest = max(lengths, default=0)
    if smallest_last:
        step, places, degree = -1, range(n - 1, -1, -1), lengths
    else:
        step, places, degree = 1, range(n), [0] * n
    d = 0
    gone = -len(indices) - 1
    buckets: list[list[int]] = [[] for _ in range(highest + 1)]
    for v in range(n - 1, -1, -1):
        buckets[degree[v]].append(v)
    order = [0] * n
    for place in places:
        v = -1
        while v < 0 or degree[v] != d:
            while not buckets[d]:
                d -= step
            v = buckets[d].pop()
        order[place] = v
        degree[v] = gone
        for w in indices[indptr[v] : indptr[v + 1]]:
            new = degree[w] + step
            degree[w] = new
            if new >= 0:
                buckets[new].append(w)
        d = min(max(d + step, 0), highest)
    return order

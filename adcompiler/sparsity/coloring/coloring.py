"""Colorings of sparsity patterns: which columns, rows or both can share one derivative evaluation.

A coloring gives every column (row) of a matrix a color, such that the sums of the columns (rows) of
each color still show every nonzero:

- ``column``: no two columns of a color have a nonzero in the same row (structurally orthogonal);
  one forward derivative a color. ``row`` is the same of the transposed pattern, for reverse mode.
- ``bidirectional``: some nonzeros are read from sums of columns, the others from sums of rows: for
  patterns with both a full row and a full column.
- ``star``: of a symmetric matrix; every nonzero or its mirror image is alone in its row among the
  columns of its color. ``acyclic``: the two-colored parts of the graph are trees, and nonzeros are
  found one after another by substitution; fewer colors, and rounding errors may add up.

Definitions and algorithms: A. H. Gebremedhin, F. Manne, A. Pothen, "What color is your Jacobian?
Graph coloring for computing derivatives", SIAM Review 47 (2005); A. H. Gebremedhin, A. Tarafdar,
F. Manne, A. Pothen, "New acyclic and star coloring algorithms with application to computing
Hessians", SIAM J. Sci. Comput. 29 (2007), algorithms 3.1 and 4.1. The greedy algorithms are not
optimal, but good on patterns that occur.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from adcompiler.plot import Pattern
from adcompiler.sparsity.coloring.kernels import (
    acyclic_kernel, dynamic_order_kernel, partial_distance_two_kernel, star_kernel,
)
from adcompiler.sparsity.coloring.lattices import entries, linear_forms, residues
from adcompiler.sparsity.dependences.values import DType, Value
from adcompiler.support.structs import dataclass

ORDERS = ("natural", "largest_first", "smallest_last", "incidence_degree")
KINDS = ("column", "row", "bidirectional", "star", "acyclic")
MAX_GRAPH = 50_000_000
FURTHER = 8
"""So many numbers of colors more than the fewest possible one are tried with formulas."""

CLIQUES = 64
"""So many neighbours are tried as the next vertex of a clique."""

MAX_AGAIN = 2_000_000
"""Steps of a greedy algorithm up to which it is run again."""

MAX_STARS = 100_000
"""Entries off the diagonal from which columns that are apart by a formula are colored by that."""

MANY_STARS = 64
"""Colors that a star coloring may always have from which unused ones will be dropped."""


@dataclass(frozen=True, eq=False)
class Coloring:
    """A coloring of ``pattern``, a CSR array of bool with sorted indices.

    ``columns`` and ``rows`` are the colors, 0 to ``column_count - 1`` and ``row_count - 1``; -1
    is a column (row) that no sum needs. A coloring of one kind leaves the other array at -1.
    """

    kind: str
    pattern: Any
    columns: np.ndarray
    rows: np.ndarray = field(repr=False)

    @cached_property
    def column_count(self) -> int:
        """The number of colors of columns: forward derivatives that are needed."""
        return int(self.columns.max(initial=-1)) + 1

    @cached_property
    def row_count(self) -> int:
        """The number of colors of rows: reverse derivatives that are needed."""
        return int(self.rows.max(initial=-1)) + 1

    @property
    def count(self) -> int:
        """The number of colors, of columns and rows together."""
        return self.column_count + self.row_count

    @cached_property
    def least(self) -> int:
        """A number of colors that every coloring of this kind needs at least."""
        pattern = self.pattern
        in_rows = int(np.diff(pattern.indptr).max(initial=0))
        in_columns = int(np.bincount(pattern.indices).max(initial=0))
        if self.kind in ("column", "row"):
            return in_rows if self.kind == "column" else in_columns
        if self.kind == "bidirectional":
            return int(pattern.nnz > 0)
        return clique(*without_diagonal(pattern)) if pattern.nnz else 0

    def __str__(self) -> str:
        rows, columns = self.pattern.shape
        parts = [f"{count} color{'s' * (count > 1)} of {what}" for count, what in (
            (self.column_count, "columns"), (self.row_count, "rows")) if count]
        return (f"{rows} x {columns}, {self.pattern.nnz} nonzeros; "
                f"{' and '.join(parts) or 'no colors'} ({self.kind}), at least {self.least}")

    def plot(self, ax: Value = None, title: str | None = None) -> Any:
        """Draw the pattern, each nonzero in its color, and return matplotlib's axes."""
        from adcompiler.plot import spy

        return spy(self.pattern, ax, title, self)

    def _repr_html_(self) -> str:
        from adcompiler.plot import drawn

        return drawn(self.plot, str(self))

    def column_seeds(self, dtype: type = float) -> np.ndarray:
        """Return the seeds of forward derivatives: shape (column_count, columns of the matrix)."""
        return indicators(self.columns, 0, self.column_count, dtype)

    def row_seeds(self, dtype: type = float) -> np.ndarray:
        """Return the seeds of reverse derivatives: shape (row_count, rows of the matrix)."""
        return indicators(self.rows, 0, self.row_count, dtype)


def indicators(colors: np.ndarray, start: int, stop: int, dtype: DType) -> np.ndarray:
    """Return the indicators of the colors from ``start`` to ``stop``, one in each row."""
    found = np.zeros((stop - start, colors.size), dtype)
    used = np.flatnonzero((colors >= start) & (colors < stop))
    found[colors[used] - start, used] = 1
    return found


def color(pattern: Pattern, kind: str = "column", order: str = "smallest_last") -> Coloring:
    """Color a pattern: columns or rows of one color share no nonzero that has to be told apart.

    Parameters:
        pattern: A dense or ``scipy.sparse`` matrix of which the nonzeros count.
        kind (str): ``"column"``, ``"row"``, ``"bidirectional"``, ``"star"`` or ``"acyclic"``; the
            last two are for symmetric patterns.
        order (str): In which order the greedy algorithm visits columns: ``"natural"``,
            ``"largest_first"`` (by decreasing degree), ``"smallest_last"`` or
            ``"incidence_degree"`` (after as many colored neighbours as possible).

    Returns:
        Coloring: The colors, and how entries are read from compressed derivatives; ``count`` is how
        many colors there are.

    Raises:
        ValueError: For other words, and for a pattern that is not symmetric where it has to be.

    Example:
        >>> import numpy as np
        >>> from adcompiler import color
        >>> color(np.eye(5) + np.eye(5, k=1)).count
        2
    """
    if kind not in KINDS:
        raise ValueError(f"kind is one of {', '.join(KINDS)}, not {kind!r}")
    if order not in ORDERS:
        raise ValueError(f"order is one of {', '.join(ORDERS)}, not {order!r}")
    csr = as_pattern(pattern)
    rows, columns = csr.shape
    if kind == "column":
        return Coloring(kind, csr, structurally_orthogonal(csr, order), np.full(rows, -1))
    if kind == "row":
        return Coloring(
            kind, csr, np.full(columns, -1), structurally_orthogonal(csr.T.tocsr(), order)
        )
    if kind == "bidirectional":
        return bidirectional(csr, order)
    if rows != columns or (csr != csr.T).nnz:
        raise ValueError(f"a {kind} coloring is one of a symmetric pattern")
    colors = symmetric(csr, kind, order)
    return Coloring(kind, csr, colors, np.full(rows, -1))


def as_pattern(pattern: Pattern) -> Any:
    """Return a pattern as a CSR array of bool with sorted indices and no zeros or duplicates."""
    csr = sp.csr_array(pattern, dtype=bool, copy=True)
    csr.sum_duplicates()
    csr.eliminate_zeros()
    csr.sort_indices()
    return csr


# --- columns --------------------------------------------------------------------------------------


def structurally_orthogonal(csr: sp.csr_array, order: str) -> np.ndarray:
    """Return colors of the columns, no two of one color with a nonzero in the same row.

    There are at least as many as the fullest row has nonzeros: where residues or the columns'
    natural order need no more, no other order is tried.
    """
    columns = csr.shape[1]
    lengths = np.diff(csr.indptr).astype(np.int64)
    least = max(int(lengths.max(initial=0)), min(columns, 1))
    if least == columns:
        return np.arange(columns)
    found = by_formula(csr, range(least, least + 1))
    if found is not None:
        return found
    csc = csr.tocsc()

    def greedy(visits: np.ndarray) -> np.ndarray:
        return as_colors(partial_distance_two_kernel(
            csr.indptr, csr.indices, csc.indptr, csc.indices, visits
        ))

    natural = greedy(np.arange(columns))
    if order == "natural" or int(natural.max()) + 1 == least:
        return natural
    if int((lengths * lengths).sum()) > MAX_GRAPH:  # too many pairs to write down
        ordered = greedy(np.argsort(-np.diff(csc.indptr), kind="stable"))
    else:
        ordered = greedy(visiting_order(*intersection_graph(csr), order))
    fewest = min(ordered.max(), natural.max()) + 1
    found = by_formula(csr, range(least + 1, min(fewest, least + FURTHER)))
    if found is not None:
        return found
    found = natural if natural.max() < ordered.max() else ordered
    return found if int((lengths * lengths).sum()) > MAX_AGAIN else by_classes(greedy, found, least)


def by_classes(
    greedy: Callable[[np.ndarray], np.ndarray], colors: np.ndarray, least: int
) -> np.ndarray:
    """Return colors by a greedy algorithm that visits the columns color by color.

    That never needs more colors: those of one color are apart from one another (J. C. Culberson,
    F. Luo, "Exploring the k-colorable landscape with iterated greedy", 1996). It is done over with
    the colors in reverse order, the largest ones first, and at random, until that is of no use.
    """
    rng, failed = np.random.default_rng(1), 0
    while failed < len(ARRANGED) and int(colors.max()) + 1 > least:
        ranks = ARRANGED[failed](np.bincount(colors), rng)
        found = greedy(np.argsort(ranks[colors], kind="stable"))
        failed = 0 if found.max() < colors.max() else failed + 1
        colors = found
    return colors


ARRANGED: tuple[Callable[[np.ndarray, np.random.Generator], np.ndarray], ...] = (
    lambda sizes, _: -np.arange(sizes.size),
    lambda sizes, _: np.argsort(np.argsort(-sizes, kind="stable")),
    *(lambda sizes, rng: rng.permutation(sizes.size) for _ in range(2)),
)
"""Ranks of colors of these sizes, by which the columns are visited again."""


def by_formula(csr: sp.csr_array, counts: range) -> np.ndarray | None:
    """Return colors by residues or linear forms, of as few colors as one of ``counts``."""
    found = residues(csr, counts)
    by_form = linear_forms(csr, counts if found is None else range(counts.start, found.max() + 1))
    return found if by_form is None else by_form


def as_colors(found: Value) -> np.ndarray:
    """Return what a kernel found, a list or an array, as an array of integers."""
    return np.asarray(found, dtype=np.int64)


def intersection_graph(csr: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the graph that connects columns with a nonzero in the same row, as CSR arrays."""
    counted = csr.astype(np.int32)
    graph = counted.T.tocsr() @ counted
    graph.sort_indices()
    return without_diagonal(graph)


def without_diagonal(csr: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the index arrays of a square CSR pattern without its diagonal."""
    row, column = entries(csr)
    off = row != column
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[off], minlength=csr.shape[0]))])
    return indptr.astype(np.int64), column[off]


def visiting_order(indptr: np.ndarray, indices: np.ndarray, order: str) -> np.ndarray:
    """Return the order in which a greedy algorithm visits the vertices of a graph."""
    degrees = np.diff(indptr)
    if order == "natural":
        return np.arange(degrees.size)
    if order == "largest_first":
        return np.argsort(-degrees, kind="stable")
    return as_colors(dynamic_order_kernel(indptr, indices, order == "smallest_last"))


# --- symmetric matrices ---------------------------------------------------------------------------


def symmetric(csr: sp.csr_array, kind: str, order: str, most: int = 0) -> np.ndarray:
    """Return a star or acyclic coloring of the graph of a symmetric pattern.

    A star coloring that needs more than ``most`` colors is given up: some are -1.
    """
    indptr, indices = without_diagonal(csr)
    n = indptr.size - 1
    if indices.size == n * (n - 1):  # all are neighbours
        return np.arange(n)
    if kind == "star" and has_path_of_four(indptr, indices):
        found = residues(csr, (3,), symmetric=True)
        if found is not None:  # two colors are not enough
            return found
        if not most and indices.size > MAX_STARS:
            degrees = int(np.diff(indptr).max())
            found = by_formula(csr, range(degrees + 1, degrees + 2))
            if found is not None:
                return found
    visits = visiting_order(indptr, indices, order)
    mirror = mirror_images(indptr, indices)
    if kind == "acyclic":
        return as_colors(acyclic_kernel(indptr, indices, mirror, visits))
    stars = as_colors(star_kernel(indptr, indices, mirror, visits, most or indptr.size))
    if most or int(stars.max(initial=-1)) <= int(np.diff(indptr).max(initial=0)):
        return stars  # fewer than columns apart need
    columns = structurally_orthogonal(csr, order)  # of these all entries are read directly
    return columns if columns.max(initial=-1) < stars.max(initial=-1) else stars


def has_path_of_four(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Say whether two neighbours both have other neighbours: a path of four vertices, or three."""
    degrees = np.diff(indptr)
    inner = degrees > 1
    return bool(np.any(np.repeat(inner, degrees) & inner[indices]))


def mirror_images(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return, for each stored (i, j) of a symmetric CSR pattern, where (j, i) is stored."""
    row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    return np.lexsort((row, indices))  # in the order of (column, row): the mirror's own order


# --- both directions ------------------------------------------------------------------------------


def bidirectional(csr: sp.csr_array, order: str) -> Coloring:
    """Color columns and rows; the fewest colors that one of several ways finds.

    The ways are columns alone, rows alone, rows (columns) with many nonzeros read by themselves
    and columns (rows) for the rest, and a star coloring of ``[[0, AT], [A, 0]]`` of which unused
    colors are dropped (T. F. Coleman, A. Verma, SIAM J. Sci. Comput. 19 (1998), sections 3 and 4).
    """
    rows, columns = csr.shape
    colorings: list[Coloring] = []

    def enter(flipped: bool, most: np.ndarray, few: np.ndarray) -> None:
        colors = (few, most) if flipped else (most, few)
        colorings.append(Coloring("bidirectional", csr, *colors))

    ways = ((False, csr), (True, csr.T.tocsr()))
    for flipped, pattern in ways:
        apart = crowded_rows(pattern)
        few = np.full(pattern.shape[0], -1)
        few[apart] = structurally_orthogonal(pattern[apart].T.tocsr(), order)
        enter(flipped, structurally_orthogonal(pattern[~apart], order), few)
    for flipped, pattern in ways:
        if np.diff(pattern.indptr).max(initial=0) < min(one.count for one in colorings):
            alone = structurally_orthogonal(pattern, order)
            enter(flipped, alone, np.full(pattern.shape[0], -1))
    if min(coloring.count for coloring in colorings) <= least_of_both(csr, 1.0):
        return min(colorings, key=lambda coloring: coloring.count)
    corner = sp.csr_array((columns, columns), dtype=bool), sp.csr_array((rows, rows), dtype=bool)
    both = as_pattern(sp.bmat([[corner[0], csr.T], [csr, corner[1]]]))
    fewest = min(coloring.count for coloring in colorings)
    colors = symmetric(both, "star", order, max(MANY_STARS, 4 * fewest))
    if colors.min(initial=0) >= 0:
        colorings.append(dropped(Coloring(
            "bidirectional", csr, compacted(colors[:columns]), compacted(colors[columns:])
        )))
    return min(colorings, key=lambda coloring: coloring.count)


def least_of_both(csr: sp.csr_array, row_cost: float) -> float:
    """Return a bound of the colors of columns and, times a cost, of rows, which read a pattern.

    It holds for rows that are read by themselves and columns for the rest, or the other way round.
    """
    found = np.inf
    for pattern, first, second in ((csr, row_cost, 1.0), (csr.T.tocsr(), 1.0, row_cost)):
        apart = crowded_rows(pattern)
        in_columns = int(np.bincount(pattern[apart].indices).max(initial=0))
        in_rows = int(np.diff(pattern.indptr)[~apart].max(initial=0))
        found = min(found, first * in_columns + second * in_rows)
    return found


def clique(indptr: np.ndarray, indices: np.ndarray) -> int:
    """Return how many vertices of a clique around a vertex with most neighbours are found.

    They all need colors of their own in a star or acyclic coloring.
    """
    degrees = np.diff(indptr)
    start = int(degrees.argmax())
    found, left = 1, indices[indptr[start] : indptr[start + 1]]
    while left.size:
        inner = [np.intersect1d(left, indices[indptr[v] : indptr[v + 1]]) for v in left[:CLIQUES]]
        found, left = found + 1, max(inner, key=len)
    return max(found, 3 if has_path_of_four(indptr, indices) else 1)


def crowded_rows(csr: sp.csr_array) -> np.ndarray:
    """Say which rows are better read by themselves, so that columns need fewer colors.

    Columns need as many colors as the longest of the other rows has nonzeros, rows as many as
    there are crowded rows in the fullest column: the sum of the two bounds is made smallest.
    """
    lengths = np.diff(csr.indptr)
    lines = np.argsort(-lengths, kind="stable")
    in_column = np.zeros(csr.shape[1], np.int64)
    best, most = int(lengths.max(initial=0)), 0
    for taken, line in enumerate(lines, 1):
        in_column[csr.indices[csr.indptr[line] : csr.indptr[line + 1]]] += 1
        rest = int(lengths[lines[taken]]) if taken < lines.size else 0
        fullest = int(in_column.max(initial=0))
        if fullest + rest < best:
            best, most = fullest + rest, taken
        if fullest >= best:
            break
    crowded = np.zeros(csr.shape[0], bool)
    crowded[lines[:most]] = True
    return crowded


def compacted(colors: np.ndarray) -> np.ndarray:
    """Return colors renumbered without gaps; -1 stays."""
    used = np.unique(colors[colors >= 0])
    found = np.full(colors.shape, -1)
    found[colors >= 0] = np.searchsorted(used, colors[colors >= 0])
    return found


def dropped(coloring: Coloring) -> Coloring:
    """Return a bidirectional coloring without the colors that no nonzero has to be read from."""
    row, column = entries(coloring.pattern)
    columns, rows = coloring.columns.copy(), coloring.rows.copy()
    by_column = is_alone(row, columns[column], coloring.column_count)
    by_row = is_alone(column, rows[row], coloring.row_count)
    needed_columns = np.zeros(coloring.column_count, bool)
    needed_rows = np.zeros(coloring.row_count, bool)
    needed_columns[columns[column[~by_row]]] = True
    needed_rows[rows[row[~by_column]]] = True
    free = ~(needed_columns[columns[column]] & by_column | needed_rows[rows[row]] & by_row)
    row, column = row[free], column[free]
    while row.size:  # what may be read either way: the colors that show most of it
        in_columns = np.bincount(columns[column], minlength=coloring.column_count)
        in_rows = np.bincount(rows[row], minlength=coloring.row_count)
        if in_columns.max() >= in_rows.max():
            best = int(in_columns.argmax())
            needed_columns[best] = True
            left = columns[column] != best
        else:
            best = int(in_rows.argmax())
            needed_rows[best] = True
            left = rows[row] != best
        row, column = row[left], column[left]
    columns[~needed_columns[columns]] = -1
    rows[~needed_rows[rows]] = -1
    return Coloring(coloring.kind, coloring.pattern, compacted(columns), compacted(rows))


def is_alone(lines: np.ndarray, colors: np.ndarray, count: int) -> np.ndarray:
    """Say of each nonzero whether it is the only one of its color in its line, a row or column."""
    keys = lines.astype(np.int64) * (count + 1) + colors + 1
    if keys.max(initial=0) <= 8 * keys.size:
        found, where = np.bincount(keys), keys
    else:
        _, where, found = np.unique(keys, return_inverse=True, return_counts=True)
    alone: np.ndarray = (found[where] == 1) & (colors >= 0)
    return alone

"""Colors of columns by formulas: of bands by residues, of stencils on grids by linear forms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp

MAX_DIAGONALS = 64
"""Diagonals on which nonzeros may lie for residues to be tried as colors."""

MAX_POINTS = 128
"""Nonzeros in the fullest row of what may be a stencil."""

SAMPLED = 64
"""Rows from which the steps between columns are taken; a coloring is tested on all."""

MAX_FORMS = 100_000
"""Linear forms that are tried for one number of colors."""


def entries(csr: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows and the columns of the nonzeros of a CSR pattern, in its order."""
    lengths = np.diff(csr.indptr)
    return np.repeat(np.arange(csr.shape[0]), lengths), csr.indices.astype(np.int64)


def residues(
    csr: sp.csr_array, counts: Iterable[int], symmetric: bool = False,
) -> np.ndarray | None:
    """Return the column numbers modulo the first of ``counts`` for which these are colors.

    They are unless two diagonals that hold nonzeros are a multiple of the count apart: patterns of
    bands and of stencils are colored so. Of a ``symmetric`` pattern all entries of the main
    diagonal count. None if no count will do.
    """
    rows, columns = csr.shape
    row, column = entries(csr)
    held = np.bincount(column - row + rows, minlength=rows + 1)
    held[rows] += symmetric
    diagonals = np.flatnonzero(held)
    if diagonals.size > MAX_DIAGONALS:
        return None
    apart = np.unique(np.abs(diagonals[:, None] - diagonals))
    for count in counts:
        if np.count_nonzero(apart % count == 0) == 1:  # only of a diagonal and itself
            return np.arange(columns) % count
    return None


def linear_forms(csr: sp.csr_array, counts: Iterable[int]) -> np.ndarray | None:
    """Return colors that are a linear form of grid coordinates, modulo the first of ``counts``.

    The strides of the grid are those that the nonzeros of full rows are apart: a column number is
    so many of the longest stride, then of the next one. Steps between columns of a row must not
    have the color 0, by which the coefficients are found; the colors are tested on the whole
    pattern, so that it need not be a grid. None if nothing is found.
    """
    lengths = np.diff(csr.indptr)
    if lengths.max(initial=0) > MAX_POINTS:
        return None
    full = np.argsort(-lengths, kind="stable")[:: max(1, lengths.size // SAMPLED)][:SAMPLED]
    rows = [np.sort(csr.indices[csr.indptr[i] : csr.indptr[i + 1]]) for i in full]
    found = Counter(tuple(strides_of(row)) for row in rows).most_common(1)
    strides = list(found[0][0]) if found else []
    if not strides:
        return None
    steps = np.unique(np.concatenate([
        (digits(row, strides)[:, None] - digits(row, strides)[None]).reshape(-1, len(strides))
        for row in rows]), axis=0)
    steps = steps[np.any(steps != 0, axis=1)]
    places = digits(np.arange(csr.shape[1]), strides)
    for count in counts:
        form = coefficients(steps, count)
        if form is not None:
            colors = places @ form % count
            if is_orthogonal(csr, colors, count):
                return np.unique(colors, return_inverse=True)[1].reshape(-1)
    return None


def strides_of(columns: np.ndarray) -> list[int]:
    """Return the strides of the grid that columns of a row are neighbours on, longest first.

    Columns that are the shortest distance apart are neighbours along one axis; the middles of the
    runs of these are in turn the columns of a grid of one axis less.
    """
    strides = []
    while len(columns) > 1:
        apart = np.diff(columns)
        strides.append(int(apart.min()))
        runs = np.split(columns, np.flatnonzero(apart != apart.min()) + 1)
        columns = np.array([run[(len(run) - 1) // 2] for run in runs])
    return strides[::-1]


def digits(numbers: np.ndarray, strides: list[int]) -> np.ndarray:
    """Return the coordinates of numbers, one row for each: how many of each stride they are."""
    found, rest = [], np.asarray(numbers, np.int64)
    for stride in strides:
        found.append(rest // stride)
        rest = rest % stride
    if strides[-1] > 1:
        found[-1] = found[-1] * strides[-1] + rest
    return np.stack(found, axis=-1)


def coefficients(steps: np.ndarray, count: int) -> np.ndarray | None:
    """Return a linear form that is not 0 modulo a count for any of the steps; None if none is."""
    axes = steps.shape[1]
    if count**axes > MAX_FORMS:
        return None
    forms = np.stack(np.meshgrid(*[np.arange(count)] * axes, indexing="ij"), -1).reshape(-1, axes)
    left = np.ones(len(forms), bool)
    for step in steps:
        left[left] = forms[left] @ step % count != 0
        if not left.any():
            return None
    return np.asarray(forms[int(left.argmax())])


def is_orthogonal(csr: sp.csr_array, colors: np.ndarray, count: int) -> bool:
    """Say whether no two columns of a color have a nonzero in the same row."""
    row, column = entries(csr)
    keys = row * count + colors[column]
    return bool(np.unique(keys).size == keys.size)

"""Where histograms count what they are given. Every function is pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def bins_of(x: Any, edges: Any) -> Any:
    """Return the bin between ``edges`` of each element of ``x``, -1 outside of all of them.

    The last bin has both of its edges, the others only the lower one.
    """
    x, edges = np.asarray(x), np.asarray(edges)
    places = np.searchsorted(edges, x, "right") - 1
    places = np.where(x == edges[-1], edges.size - 2, places)
    return np.where((x >= edges[0]) & (x <= edges[-1]), places, -1)


def cells_of(sample: Any, edges: Sequence[Any]) -> Any:
    """Return the cell of each point in the flattened ``np.histogramdd``, -1 outside of all."""
    columns = list(np.atleast_2d(sample.T)) if isinstance(sample, np.ndarray) else sample
    cell = np.zeros(len(columns[0]), int)
    outside = np.zeros(len(columns[0]), bool)
    for column, bounds in zip(columns, edges, strict=True):
        places = bins_of(column, bounds)
        outside |= places < 0
        cell = cell * (len(bounds) - 1) + places
    return np.where(outside, -1, cell)


def range_adjoint(dedges: Any, a: Any) -> Any:
    """Return the cotangent of the data that evenly spaced ``edges`` of bins were laid around."""
    a = np.asarray(a)
    da = np.zeros(a.shape, np.asarray(dedges).dtype)
    if a.size:
        t = np.linspace(0.0, 1.0, np.size(dedges))
        for extreme, weights in ((a.min(), 1.0 - t), (a.max(), t)):
            tied = a == extreme
            da += np.dot(weights, dedges) / np.count_nonzero(tied) * tied
    return da

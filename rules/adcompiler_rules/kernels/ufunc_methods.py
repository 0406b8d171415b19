"""What the derivatives of ``np.maximum.accumulate``, ``np.add.reduceat`` and their like need.

Every function is pure. ``reduceat`` cuts an axis into segments: from each index up to the next one,
or the one element at the index where the next one is not larger.
"""

from __future__ import annotations

from typing import Any

import numpy as np

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""


def share(x: Any, other: Any, y: Any) -> Any:
    """Return 1 where ``y``, the larger or smaller of two arrays, is ``x``, and 1/2 for a tie."""
    return np.where(x == y, np.where(other == y, 0.5, 1.0), 0.0).astype(np.real(y).dtype)


def carried_back(dy: Any, kept: Any) -> Any:
    """Return ``g`` with ``g[i] = dy[i] + conj(kept[i]) * g[i + 1]``, along the first axis.

    It is what reaches each ``y[i]`` of a scan in which ``y[i + 1]`` changes by ``kept[i]`` with it.
    """
    g = np.array(dy, np.result_type(dy, kept))
    for i in range(len(g) - 2, -1, -1):
        g[i] += np.conj(kept[i]) * g[i + 1]
    return g


def carried_on(v: Any, kept: Any) -> Any:
    """Return ``h`` with ``h[i + 1] = v[i + 1] + kept[i] * h[i]``, along the first axis."""
    h = np.array(v, np.result_type(v, kept))
    for i in range(1, len(h)):
        h[i] += kept[i - 1] * h[i - 1]
    return h


# --- segments -------------------------------------------------------------------------------------


def segments(indices: Any, n: int) -> tuple[Any, Any, Any]:
    """Return the segments of an axis of length ``n``, one after the other.

    These are the positions of their elements, which segment each of these is in, and where in the
    list of positions each segment begins.
    """
    first = np.asarray(indices)
    last = np.append(first[1:], n)
    sizes = np.maximum(last - first, 1)
    which = np.repeat(np.arange(first.size), sizes)
    begin = np.cumsum(sizes) - sizes
    return np.arange(which.size) - begin[which] + first[which], which, begin


def segment_counts(chosen: Any, begin: Any, axis: int) -> Any:
    """Return how many of ``chosen`` there are in each segment, at least 1."""
    return np.maximum(np.add.reduceat(chosen, begin, axis, int), 1)


# --- at positions that may occur several times ----------------------------------------------------


def changed_at(ufunc: Any, a: Any, indices: Any, b: Any) -> Any:
    """Return ``a`` after ``ufunc.at(a, indices, b)``.

    Raises TypeError where NumPy would drop imaginary parts, with a warning.
    """
    if np.iscomplexobj(b) and not np.iscomplexobj(a):
        raise TypeError("ufunc.at of a real array and complex numbers")
    y = np.array(a)
    ufunc.at(y, indices, b)
    return y


def multiplied_at(a: Any, indices: Any, b: Any) -> Any:
    """Return ``a`` after ``np.multiply.at(a, indices, b)``."""
    return changed_at(np.multiply, a, indices, b)


def divided_at(a: Any, indices: Any, b: Any) -> Any:
    """Return ``a`` after ``np.divide.at(a, indices, b)``."""
    return changed_at(np.divide, a, indices, b)


def largest_at(a: Any, indices: Any, b: Any) -> Any:
    """Return ``a`` after ``np.maximum.at(a, indices, b)``."""
    return changed_at(np.maximum, a, indices, b)


def smallest_at(a: Any, indices: Any, b: Any) -> Any:
    """Return ``a`` after ``np.minimum.at(a, indices, b)``."""
    return changed_at(np.minimum, a, indices, b)


def hits(shape: tuple[int, ...], indices: Any, chosen: Any) -> Any:
    """Return how many of the ``chosen`` fall on each element of an array of ``shape``."""
    count = np.zeros(shape, int)
    np.add.at(count, indices, np.asarray(chosen, int))
    return count


def places_at(a: Any, indices: Any, b: Any) -> Any:
    """Return the places, in C order, that ``ufunc.at(a, indices, b)`` changes, one after the other.

    Raises TypeError where NumPy would drop imaginary parts, with a warning.
    """
    if np.iscomplexobj(b) and not np.iscomplexobj(a):
        raise TypeError("ufunc.at of a real array and complex numbers")
    return np.ravel(np.reshape(np.arange(np.size(a)), np.shape(a))[indices])


def times_before(places: Any) -> Any:
    """Return how often each of ``places`` occurs before."""
    order = np.argsort(places, kind="stable")
    first = np.searchsorted(places, places, sorter=order)  # where its place begins in that order
    count = np.empty_like(places)
    count[order] = np.arange(np.size(places))
    return count - first

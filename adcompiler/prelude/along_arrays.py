"""Parts of functions along arrays, grids and lengths of parts, as the Python that is compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.shaping import end_lengths, pad_widths


def with_arguments(function: Any, *more: Any, **kwargs: Any) -> Any:
    """Return ``function`` of one argument more, in front of these."""
    return lambda x: function(x, *more, **kwargs)


def counted(items: Sequence[Any], count: int) -> Any:
    """The first ``count`` items for ``np.fromiter``; all for -1."""
    if count < 0:
        return items
    if len(items) < count:
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)}")
    return items[:count]


def no_piece(x: Any) -> Any:
    """The number 0 for each element of ``x``."""
    return np.zeros(x.shape, dtype=int)


def spread_over(values: Any, elements: Any) -> Any:
    """``values``, one of them for each of ``elements`` and of their dtype."""
    return np.zeros_like(elements) + values


def places_of(which: Any) -> Any:
    """Where the elements of each piece are among those of all pieces, one after the other."""
    return np.argsort(np.argsort(which, kind="stable"), kind="stable")


def interp_periodic(x: Any, xp: Any, fp: Any, period: float) -> Any:
    """``np.interp`` with a period: points in order within it, and one more at either end."""
    width = abs(period)
    places, values = np.asarray(xp) % width, np.asarray(fp)
    order = np.argsort(places)
    places, values = places[order], values[order]
    places = np.concatenate((places[-1:] - width, places, places[:1] + width))
    values = np.concatenate((values[-1:], values, values[:1]))
    return np.interp(x % width, places, values)


def padded(statistic: Any, array: Any, pad_width: Any, stat_length: Any) -> Any:
    """``np.pad`` with a statistic of the elements next to each end, axis after axis."""
    y = np.asarray(array)
    for axis in range(np.ndim(array)):
        before, after = pad_widths(pad_width, np.ndim(array))[axis]
        if before + after > 0:
            n = y.shape[axis]
            first, last = end_lengths(stat_length, np.ndim(array), axis, n)
            low = statistic(np.take(y, np.arange(first), axis), axis=axis, keepdims=True)
            high = statistic(np.take(y, np.arange(n - last, n), axis), axis=axis, keepdims=True)
            y = np.concatenate(
                (np.repeat(low, before, axis), y, np.repeat(high, after, axis)), axis)
    return y


def evenly_spaced(start: Any, stop: Any, number: int, dtype: Any) -> Any:
    """Return ``number`` points from ``start`` to ``stop``, as for the step ``number * 1j``."""
    step = 1 if number == 1 else (stop - start) / float(number - 1)
    return np.arange(number, dtype=dtype) * step + start


def stepped(start: Any, stop: Any, step: Any, dtype: Any) -> Any:
    """Return points in front of ``stop``, ``step`` apart, as along one of several axes."""
    return np.arange(math.ceil((stop - start) / step), dtype=dtype) * step + start


def dense_grid(*vectors: Any) -> Any:
    """Return the coordinates of all points, one array of them for each axis."""
    return np.stack(np.meshgrid(*vectors, indexing="ij"))


def equal_length(length: int, parts: int) -> int:
    """Return the length of each of several equal parts, as ``np.split`` makes them."""
    if length % parts != 0:
        raise ValueError("array split does not result in an equal division")
    return length // parts


def length_up_to(length: int, parts: int, count: int) -> int:
    """Return the length of the first ``count`` parts of those of ``np.array_split``."""
    return length // parts * count + min(count, length % parts)

"""Parts of functions along arrays, as the Python code that is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


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

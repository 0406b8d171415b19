"""Arguments and results as trees: their numbers and arrays in order, and trees made of others."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from adcompiler.dispatch.arguments import described
from adcompiler.runtime.records import is_record, record, state_of


def is_leaf(value: Any) -> bool:
    """Say whether a value is a number or an array of numbers; bools are none."""
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "iufc"
    return isinstance(value, (int, float, complex, np.number))


def leaves(tree: Any) -> Iterator[Any]:
    """Iterate over the numbers and arrays of a tree of tuples, lists, dicts and instances."""
    if is_leaf(tree):
        yield tree
    else:
        for child in children(tree).values():
            yield from leaves(child)


def children(tree: Any) -> dict[Any, Any]:
    """Return what a container holds, by position, key or name; nothing for other values."""
    if isinstance(tree, (tuple, list)):
        return dict(enumerate(tree))
    if isinstance(tree, dict):
        return dict(tree)
    return state_of(tree) if is_record(tree) else {}


def map_tree(function: Callable[[Any], Any], tree: Any) -> Any:
    """Return the tree with ``function`` of each number and array, and None for other values."""
    if is_leaf(tree):
        return function(tree)
    if not isinstance(tree, (tuple, list, dict)) and not is_record(tree):
        return None
    new = {key: map_tree(function, child) for key, child in children(tree).items()}
    if isinstance(tree, dict):
        return new
    if is_record(tree):
        return record(**new)
    if hasattr(tree, "_fields"):
        return type(tree)(*new.values())
    return list(new.values()) if isinstance(tree, list) else tuple(new.values())


def size_of(tree: Any) -> int:
    """Return how many numbers a tree holds."""
    return sum(int(np.size(leaf)) for leaf in leaves(tree))


MAX_NUMBERS = 1 << 24
"""Numbers in the seeds of one sweep: more seeds are taken in several sweeps."""
MAX_UNITS = 256
"""Up to so many unit seeds of an array are kept."""


def seeds_at_once(size: int) -> int:
    """Return how many seeds, of ``size`` numbers each, one sweep may take."""
    return max(1, MAX_NUMBERS // max(size, 1))


@functools.lru_cache(maxsize=32)
def kept_units(shape: tuple[int, ...], dtype: np.dtype[Any], turned: bool) -> np.ndarray:
    """Return the unit vectors of an array's elements, not to be written into."""
    count = math.prod(shape)
    found = np.eye(count, dtype=dtype)
    found.flags.writeable = False
    if turned:
        return np.moveaxis(found.reshape(*shape, count), -1, 0)
    return found.reshape(count, *shape)


def units(like: np.ndarray, turned: bool = False) -> np.ndarray:
    """Return the unit vectors of an array's elements, along a first axis.

    With ``turned`` that axis is the last one in memory, as loops over seeds have it.
    """
    return kept_units(like.shape, like.dtype, turned)


def unit_batches(tree: Any, at_once: int, turned: bool = False) -> Iterator[Any]:
    """Iterate over the unit tangents of a tree: 1 in one element of one leaf, 0 elsewhere.

    They come ``at_once`` at a time: every leaf has a leading axis that counts them. Of no element
    there is one batch of no tangent. With ``turned``
    that axis is the last one in memory, as loops over seeds have it.
    """
    count = size_of(tree)
    for first in range(0, max(count, 1), at_once):
        number = min(at_once, count - first)
        start = first

        def batch(leaf: Any, number: int = number) -> Any:
            nonlocal start
            size = int(np.size(leaf))
            dtype = np.asarray(leaf).dtype
            dtype = dtype if dtype.kind in "fc" else np.dtype(np.float64)
            first, start = start, start - size
            if turned:
                eye = np.eye(size, number, -first, dtype)
                return np.moveaxis(eye.reshape(*np.shape(leaf), number), -1, 0)
            return np.eye(number, size, first, dtype).reshape(number, *np.shape(leaf))

        yield map_tree(batch, tree)


def check_real(tree: Any, what: str, holomorphic: bool) -> None:
    """Raise TypeError where complex numbers come in and the function is not said holomorphic."""
    for leaf in leaves(tree):
        if np.iscomplexobj(leaf) != holomorphic:
            raise TypeError(
                f"{what} is {described(leaf)}: a Jacobian of complex numbers exists for "
                "holomorphic functions of complex arguments only, which holomorphic=True says"
                if not holomorphic else
                f"{what} is {described(leaf)}, but holomorphic=True needs complex arguments and "
                "results"
            )

"""Trees of points: which points are near is an answer that carries no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.record.functions import HOOKS
from adcompiler.record.library.derived import plain_in
from adcompiler.record.library.special import SPECIAL
from adcompiler.record.tape import refused

ANSWERS = ("query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors")
"""Methods that give numbers of points, and positions in the list of these."""
OTHERS = ("query", "sparse_distance_matrix", "maxes", "mins", "tree", "indices", "leafsize",
          "boxsize", "size")
"""Methods and attributes that hold distances or positions, or are not followed."""


class Tree:
    """Stands for a tree of SciPy's that was made of active points, of which it has a copy."""

    def __init__(
        self, cls: type, data: Any, args: tuple[object, ...], kwargs: dict[str, object]
    ) -> None:
        self.data = HOOKS["call"](np.array, data, dtype=float)
        self.native = cls(np.array(self.data), *args, **kwargs)
        self.n, self.m = self.data.shape


def answering(name: str) -> Callable[..., Any]:
    """Return a method that asks the tree of SciPy."""

    def method(self: Tree, *args: Any, **kwargs: Any) -> Any:
        given = (plain_in(arg.native if isinstance(arg, Tree) else arg) for arg in args)
        return getattr(self.native, name)(*given, **kwargs)

    return method


def refusing(name: str) -> Callable[..., Any]:
    """Return a property that is refused."""

    def getter(self: Tree) -> Any:
        raise refused(
            f"`.{name}` of a tree of points that carry a derivative",
            "find the points by `query_ball_point`, and compute distances from these", "recording")

    return getter


for _name in ANSWERS:
    _method = answering(_name)
    setattr(Tree, _name, _method)
    SPECIAL[_method] = _method
for _name in OTHERS:
    _method = refusing(_name)
    setattr(Tree, _name, property(_method))
    SPECIAL[_method] = _method


def is_tree(cls: type) -> bool:
    """Say whether a class is one of SciPy's trees of points."""
    return cls.__name__ in ("cKDTree", "KDTree") and cls.__module__ in (
        "scipy.spatial", "scipy.spatial._ckdtree", "scipy.spatial._kdtree")

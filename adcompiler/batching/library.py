"""What is known of library functions when their arguments get a leading axis."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adcompiler.runtime import zeros_like

OPERATORS: frozenset[Any] = frozenset({
    operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
    np.where, np.real, np.imag,
})
"""Functions, beside ufuncs, that work on each element by itself."""

SAME: frozenset[Any] = frozenset({np.copy, np.array, np.asarray, np.ascontiguousarray, zeros_like,
                                  np.zeros_like})
"""Functions of one argument that do for arrays with one more axis what they do for others."""

ALONG_AXIS: frozenset[Any] = frozenset({
    np.flip, np.roll, np.cumsum, np.diff, np.sum, np.squeeze, np.mean,
})
"""Functions ``f(x, ..., axis)``; without an axis some of them work on all axes."""

ON_ALL_AXES: frozenset[Any] = frozenset({np.flip, np.sum, np.mean})

IN_ORDER: frozenset[Any] = frozenset({np.roll, np.cumsum})
"""Functions that without an axis take the numbers of an array as one sequence."""

SEQUENCES: frozenset[Any] = frozenset({reversed, list, tuple, zip, enumerate, iter})
JOINING: frozenset[Any] = frozenset({np.concatenate, np.stack})
FLATTENING = ("ravel", "flatten")
SIZES: dict[Any, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim", len: "len"}
METHODS: dict[str, Any] = {"sum": np.sum, "mean": np.mean, "copy": np.copy}


def is_elementwise(function: Any) -> bool:
    """Say whether a function is a ufunc that works on each element by itself."""
    return isinstance(function, np.ufunc) and function.signature is None and function.nout == 1


def is_solver(function: Any) -> bool:
    """Say whether a function solves linear systems for the columns of its second argument."""
    home = (getattr(function, "__module__", None) or "").split("._")[0]
    return function is np.linalg.solve or (
        home == "scipy.linalg" and getattr(function, "__name__", "") == "lu_solve"
    )

"""What types of arguments say of results of NumPy's functions, where calls of these would not tell.

Also defaults that signatures do not say.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adcompiler.rulekit import UNTYPED, Undecided, facts


def of_shape(x: Any, *shape: Any, **kwargs: Any) -> Any:
    """Return an array with as many axes as ``shape`` has entries: for ``reshape`` and the like."""
    wanted = kwargs.get("shape", kwargs.get("newshape", kwargs.get("new_shape", shape)))
    while isinstance(wanted, tuple) and len(wanted) > 0 and isinstance(wanted[0], (tuple, list)):
        wanted = tuple(wanted[0])
    wanted = tuple(n for n in wanted if not isinstance(n, str)) if isinstance(
        wanted, (tuple, list)) else (wanted,)
    return np.empty((1,) * len(wanted), np.asarray(x).dtype)


def of_shape_first(x: Any, shape: Any = (), *rest: Any, **kwargs: Any) -> Any:
    """Return the same for ``np.reshape`` and the like: ``rest`` is no part of the shape."""
    return of_shape(x, shape, **kwargs) if shape != () else of_shape(x, **kwargs)


def squeezed(x: Any, axis: Any = None) -> Any:
    """Return an array without axes: which ones have length 1, only shapes tell."""
    if axis is None and np.ndim(x) > 0:
        raise Undecided
    count = 0 if axis is None else np.size(axis)
    return np.empty((1,) * (np.ndim(x) - count), np.asarray(x).dtype)


def undecided(*args: Any, **kwargs: Any) -> Any:
    """Say that values or shapes decide."""
    raise Undecided


def eigenvalues(a: Any) -> Any:
    """Return eigenvalues; of real matrices the values decide whether they are complex."""
    if not np.iscomplexobj(a):
        raise Undecided
    return np.linalg.eigvals(a)


def eigenvectors(a: Any) -> Any:
    """Return eigenvalues and vectors: of real matrices of unknown types."""
    found: Any = np.linalg.eig(a)
    if np.iscomplexobj(a):
        return found
    return type(found)(UNTYPED, UNTYPED)


def covariance(m: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return covariances; of one variable they are a number."""
    if np.ndim(m) > 1 and y is None:
        raise Undecided
    return np.cov(m, y, *args, **kwargs)


facts(np.reshape, np.broadcast_to, np.resize, typed_as=of_shape_first)
facts(np.ndarray.reshape, typed_as=of_shape)
facts(np.split, typed_as=np.array_split)
facts(np.squeeze, np.ndarray.squeeze, typed_as=squeezed)
facts(np.cov, np.corrcoef, typed_as=covariance)
facts(np.linalg.eig, typed_as=eigenvectors)
facts(np.linalg.eigvals, typed_as=eigenvalues)
facts(np.roots, np.real_if_close, np.cross, typed_as=undecided)

facts(np.ndarray.reshape, np.ndarray.copy, np.ndarray.flatten, defaults={"order": "C"})
facts(np.ndarray.astype, defaults={
    "order": "K", "casting": "unsafe", "subok": True, "copy": True,
})
facts(np.array, defaults={"dtype": None, "copy": True, "order": "K", "subok": False, "ndmin": 0})
facts(np.asarray, np.asanyarray, defaults={"dtype": None, "order": None})
facts(np.ascontiguousarray, np.asfortranarray, defaults={"dtype": None})
facts(np.concatenate, defaults={
    "axis": 0, "out": None, "dtype": None, "casting": "same_kind",
})
facts(np.pad, defaults={"mode": "constant", "constant_values": 0})
facts(np.dot, defaults={"out": None})

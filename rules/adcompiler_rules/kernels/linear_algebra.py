"""Linear algebra that NumPy leaves out, on stacks of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

COVERED_WITH = "numpy"
"""The module whose rules come with those of these functions."""

# NumPy 1 takes b in solve(a, b) for vectors where it has one axis less than a; NumPy 2 where it
# has one axis.
VECTORS_BY_RANK = int(np.__version__.partition(".")[0]) < 2


def cofactors(a: Any) -> Any:
    """Return the cofactors of ``a``, the derivatives of its determinant.

    They are ``det(a) * inv(a)^T``, or, where a matrix of the stack is singular, follow from
    ``a = u s v``: ``det(u) det(v) conj(u) diag(products of the other singular values) conj(v)``.
    """
    a = np.asarray(a)
    det = np.linalg.det(a)
    if np.all(det):
        return det[..., np.newaxis, np.newaxis] * np.swapaxes(np.linalg.inv(a), -1, -2)
    u, s, v = np.linalg.svd(a)
    ones = np.ones_like(s[..., :1])
    before = np.cumprod(np.concatenate([ones, s[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, s[..., :0:-1]], -1), -1)[..., ::-1]
    unit = (np.linalg.det(u) * np.linalg.det(v))[..., np.newaxis, np.newaxis]
    return unit * ((np.conj(u) * (before * after)[..., np.newaxis, :]) @ np.conj(v))


def nearest(values: Any, others: Any) -> Any:
    """Return for each of ``values`` the position of the nearest of ``others``, by the last axis.

    No position is returned twice: among numbers that coincide each has a partner of its own.
    """
    distances = np.abs(values[..., :, np.newaxis] - others[..., np.newaxis, :])
    found = np.argmin(distances, axis=-1)
    for i in np.ndindex(found.shape[:-1]):
        if len(set(found[i].tolist())) < found.shape[-1]:
            found[i] = partners(distances[i])
    return found


def partners(distances: Any) -> Any:
    """Return for each row the column of the nearest that no earlier row has taken."""
    left = distances.copy()
    found = np.empty(len(left), dtype=np.intp)
    for i in range(len(left)):
        found[i] = np.argmin(left[i])
        left[:, found[i]] = np.inf
    return found


def real_elements(v: Any) -> Any:
    """Return where each column of ``v`` has its largest real element, one for each column."""
    size = np.where(np.imag(v) == 0.0, np.abs(v), -1.0)
    largest = np.argmax(size, axis=-2)[..., np.newaxis, :]
    return np.arange(v.shape[-2])[:, np.newaxis] == largest

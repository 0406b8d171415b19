"""Linear algebra that NumPy leaves out, on stacks of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

# NumPy 1 takes b in solve(a, b) for vectors where it has one axis less than a; NumPy 2 where it
# has one axis.
VECTORS_BY_RANK = np.lib.NumpyVersion(np.__version__) < "2.0.0"


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

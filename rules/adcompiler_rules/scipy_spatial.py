"""Distances between all pairs of points, written as NumPy code that is compiled.

Formulas: the documentation of ``scipy.spatial.distance.cdist``. The Euclidean distance of two equal
points has the derivative 0, as ``np.linalg.norm`` has.
"""

from __future__ import annotations

from typing import Any

import adcompiler_rules.scipy.rotations  # noqa: F401
import numpy as np
from scipy.spatial import distance

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError

KNOWN = "euclidean, sqeuclidean, cityblock, chebyshev, minkowski, canberra, braycurtis, cosine, " \
        "correlation, seuclidean, mahalanobis or a function"


def points(x: Any, name: str) -> Any:
    """Return points as SciPy takes them: a matrix of doubles, one in each row."""
    found = np.asarray(x, dtype=np.float64)
    if found.ndim != 2:
        raise ValueError(f"{name} must be a 2-dimensional array.")
    return found


def power_sum(d: Any, p: Any) -> Any:
    """Return ``sum(d**p)**(1 / p)`` along the last axis for numbers that are not negative.

    Where all are 0 so is the sum, and its derivative.
    """
    total = np.sum(d**p, axis=-1)
    nothing = total == 0.0
    return np.where(nothing, 0.0, np.where(nothing, 1.0, total) ** (1.0 / p))


def quotient(above: Any, below: Any) -> Any:
    """Return ``above / below``, and 0 where both are 0."""
    nothing = below == 0.0
    return np.where(nothing & (above == 0.0), 0.0, above / np.where(nothing, 1.0, below))


def cosines(u: Any, v: Any, w: Any) -> Any:
    """Return the cosine distances of vectors along the last axis."""
    weights = 1.0 if w is None else w
    uv = np.sum(weights * u * v, axis=-1)
    return 1.0 - uv / np.sqrt(np.sum(weights * u * u, axis=-1) * np.sum(weights * v * v, axis=-1))


def centred(u: Any, w: Any) -> Any:
    """Return vectors along the last axis less their weighted means."""
    if w is None:
        return u - np.mean(u, axis=-1, keepdims=True)
    return u - np.sum(u * (w / np.sum(w)), axis=-1, keepdims=True)


def distances(u: Any, v: Any, metric: str, p: float, V: Any, VI: Any, w: Any) -> Any:
    """Return the distances of vectors along the last axis, by the name of the metric."""
    d = u - v
    weights = 1.0 if w is None else np.asarray(w, dtype=np.float64)
    if metric in ("euclidean", "euclid", "eu", "e"):
        return np.linalg.norm(d if w is None else np.sqrt(weights) * d, axis=-1)
    if metric in ("sqeuclidean", "sqe", "sqeuclid"):
        return np.sum(weights * d * d, axis=-1)
    if metric in ("cityblock", "cblock", "cb", "c", "manhattan"):
        return np.sum(weights * np.abs(d), axis=-1)
    if metric in ("chebyshev", "chebychev", "cheby", "cheb", "ch"):
        return np.max(np.abs(d) if w is None else (weights != 0.0) * np.abs(d), axis=-1)
    if metric in ("minkowski", "mi", "m", "pnorm"):
        return power_sum(np.abs(d) if w is None else weights ** (1.0 / p) * np.abs(d), p)
    if metric in ("canberra",):
        return np.sum(weights * quotient(np.abs(d), np.abs(u) + np.abs(v)), axis=-1)
    if metric in ("braycurtis",):
        return np.sum(weights * np.abs(d), axis=-1) / np.sum(weights * np.abs(u + v), axis=-1)
    if metric in ("cosine", "cos"):
        return cosines(u, v, None if w is None else weights)
    if metric in ("correlation", "co"):
        own = None if w is None else weights
        return cosines(centred(u, own), centred(v, own), own)
    if metric in ("seuclidean", "se", "s"):
        return np.linalg.norm(d / np.sqrt(V), axis=-1)
    if metric in ("mahalanobis", "mahal", "mah"):
        total = np.sum((d @ VI) * d, axis=-1)
        nothing = total == 0.0
        return np.where(nothing, 0.0, np.sqrt(np.where(nothing, 1.0, total)))
    raise UncoveredError(f"distances have derivatives for metric= {KNOWN}, not {metric!r}")


def spread(metric: Any, V: Any, rows: Any) -> Any:
    """Return the variances that ``seuclidean`` divides by: those of the points, if none are given.
    """
    if metric in ("seuclidean", "se", "s"):
        return np.var(rows, axis=0, ddof=1) if V is None else np.asarray(V, dtype=np.float64)
    return None


def shape_of(metric: Any, VI: Any, rows: Any) -> Any:
    """Return the inverse covariance of ``mahalanobis``: that of the points, if none is given."""
    if metric in ("mahalanobis", "mahal", "mah"):
        return np.linalg.inv(np.cov(rows.T)).T if VI is None else np.asarray(VI, dtype=np.float64)
    return None


def refuse_out(out: Any) -> None:
    """Raise where the caller has an array for the distances."""
    if out is not None:
        raise UncoveredError("distances are differentiated without out=")


def cdist(
    XA: Any, XB: Any, metric: Any = "euclidean", *, out: Any = None, p: float = 2.0, V: Any = None,
    VI: Any = None, w: Any = None,
) -> Any:
    """``scipy.spatial.distance.cdist``."""
    refuse_out(out)
    a, b = points(XA, "XA"), points(XB, "XB")
    if a.shape[1] != b.shape[1]:
        raise ValueError(
            "XA and XB must have the same number of columns (i.e. feature dimension.)"
        )
    if callable(metric):
        return np.array([[metric(u, v) for v in b] for u in a])
    both = np.concatenate((a, b))
    return distances(
        a[:, np.newaxis, :], b[np.newaxis, :, :], metric, p, spread(metric, V, both),
        shape_of(metric, VI, both), w,
    )


def pdist(
    X: Any, metric: Any = "euclidean", *, out: Any = None, p: float = 2.0, V: Any = None,
    VI: Any = None, w: Any = None,
) -> Any:
    """``scipy.spatial.distance.pdist``."""
    refuse_out(out)
    a = points(X, "X")
    i, j = np.triu_indices(a.shape[0], 1)
    if callable(metric):
        return np.array([metric(a[k], a[m]) for k in range(len(a)) for m in range(k + 1, len(a))])
    return distances(
        a[i], a[j], metric, p, spread(metric, V, a), shape_of(metric, VI, a), w
    )


def squareform(X: Any, force: str = "no", checks: bool = True) -> Any:
    """``scipy.spatial.distance.squareform``, of a vector or a symmetric matrix."""
    x = np.asarray(X)
    if force.lower() == ("tovector" if x.ndim == 1 else "tomatrix"):
        raise ValueError(f"Forcing {force!r} but input X has already that form.")
    if x.ndim == 1:
        size = int(np.ceil(np.sqrt(x.size * 2)))
        if size * (size - 1) != x.size * 2:
            raise ValueError(
                "Incompatible vector size. It must be a binomial coefficient n choose 2 for some "
                "integer n >= 2."
            )
        size = max(size, 1)
        i, j = np.triu_indices(size, 1)
        upper = np.zeros((size, size), dtype=x.dtype)
        upper[i, j] = x
        return upper + upper.T
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError("The matrix argument must be square.")
    if checks:
        distance.is_valid_dm(X, throw=True, name="X")
    i, j = np.triu_indices(x.shape[0], 1)
    return x[i, j]


facts(distance.cdist, written_as=cdist)
facts(distance.pdist, written_as=pdist)
facts(distance.squareform, written_as=squareform)

"""Where an integral is summed up for its derivatives: places and weights, and a check of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import integrate

COVERED_WITH = "scipy.integrate"
"""The module whose rules come with those of these functions."""

FINE, FINE_WEIGHTS = np.polynomial.legendre.leggauss(14)
LEVELS = 9
"""How often the pieces at both ends of the interval are halved, at least."""
MOST = 400
"""So many pieces are enough, or there are too many."""
NEAR = 1e-5


def places_of_integral(f: Any, a: float, b: float, options: Any) -> Any:
    """Return places and weights of an integral of ``f`` from ``a`` to ``b``, in five rows.

    A place is ``row0 * a + row1 * b + row2``; the fourth row has weights, the last one those of a
    formula of lower order at every other piece of the same places. Weights are in units of
    ``b - a`` if both are finite.
    """
    points = options[3]
    cuts = pieces(f, a, b, points)
    half, middle = 0.5 * np.diff(cuts), 0.5 * (cuts[:-1] + cuts[1:])
    u = np.ravel(middle[:, None] + half[:, None] * FINE)
    weights = np.ravel(half[:, None] * FINE_WEIGHTS)
    lower = np.ravel(half[:, None] * lower_weights())
    of_a, of_b, shift, stretch = moved(u, a, b)
    return np.stack([of_a, of_b, shift, weights * stretch, lower * stretch])


def lower_weights() -> Any:
    """Return weights of the places of ``FINE`` that are exact for polynomials of degree 11."""
    kept = np.array([0, 1, 2, 4, 5, 6, 7, 8, 9, 11, 12, 13])
    powers = FINE[kept] ** np.arange(12)[:, None]
    moments = np.array([2.0 / (k + 1) if k % 2 == 0 else 0.0 for k in range(12)])
    weights = np.zeros(FINE.size)
    weights[kept] = np.linalg.solve(powers, moments)
    return weights


def moved(u: Any, a: float, b: float) -> tuple[Any, Any, Any, Any]:
    """Return what places ``u`` in the interval from 0 to 1 are of ``a``, ``b`` and besides, and
    how much longer the interval is there.
    """
    none, one = np.zeros_like(u), np.ones_like(u)
    if np.isfinite(a) and np.isfinite(b):
        return 1.0 - u, u, none, one
    if np.isfinite(a):
        sign = 1.0 if b > 0 else -1.0
        return one, none, sign * u / (1.0 - u), sign / (1.0 - u) ** 2
    if np.isfinite(b):
        sign = 1.0 if a < 0 else -1.0
        return none, one, sign * (u - 1.0) / u, sign / u**2
    t = 2.0 * u - 1.0
    sign = 1.0 if b > a else -1.0
    return none, none, sign * t / (1.0 - t * t), sign * 2.0 * (1.0 + t * t) / (1.0 - t * t) ** 2


def pieces(f: Any, a: float, b: float, points: Any) -> Any:
    """Return where the interval from 0 to 1 is cut, so that a formula is exact on each piece."""
    whole = b - a if np.isfinite(a) and np.isfinite(b) else 1.0
    low, high = (end if np.isfinite(end) else 0.0 for end in (a, b))

    def integrand(u: float) -> Any:
        at = np.array([u])
        of_a, of_b, shift, stretch = moved(at, a, b)
        x = float(of_a[0] * low + of_b[0] * high + shift[0])
        return np.asarray(f(x), float)[()] * float(stretch[0]) * whole

    cuts = [0.5**k for k in range(1, LEVELS)] + [0.375, 0.4375, 0.3125]
    inner = [(p - a) / (b - a) for p in ([] if points is None else points)]
    inner = [u for u in inner if 0.0 < u < 1.0]
    with np.errstate(all="ignore"):
        found = integrate.quad_vec(
            integrand, 0.0, 1.0, epsabs=1e-11, epsrel=1e-10, limit=MOST, points=inner or None,
            full_output=True,
        )[2]
    ends = np.ravel(found.intervals)
    return np.unique([0.0, 1.0, *cuts, *(1.0 - c for c in cuts), *ends, *inner])


def settled(fine: Any, coarse: Any) -> Any:
    """Return ``fine``. In forward mode its tangent is compared with that of ``coarse``."""
    return fine


def checked_tangent(fine: Any, coarse: Any) -> Any:
    """Return a tangent; raise where a formula of lower order gives another one."""
    size = 1.0 + np.max(np.abs(fine), initial=0.0)
    if not np.max(np.abs(fine - coarse), initial=0.0) <= NEAR * size:
        raise ValueError(
            "the derivative of the integrand of quad() is not resolved by the places at which it "
            "is summed up in forward mode: use reverse mode, or tell quad() by points= where the "
            "integrand has a kink or a singularity"
        )
    return fine

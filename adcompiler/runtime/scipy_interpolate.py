"""Slopes of interpolators that are linear between neighbouring knots."""

from __future__ import annotations

from typing import Any

import numpy as np


def axes_but(ndim: int, first: int, count: int) -> tuple[int, ...]:
    """Return the axes of an array apart from ``count`` ones from ``first`` on."""
    return tuple(axis for axis in range(ndim) if not first <= axis < first + count)


def cells(knots: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return the ends of the intervals that places lie in, and whether they lie within the knots.

    Places beyond the knots belong to the first or the last interval.
    """
    left = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
    return knots[left], knots[left + 1], (x >= knots[0]) & (x <= knots[-1])


def grid_slopes(interpolator: Any, xi: Any, dy: Any) -> Any:
    """Return the cotangent of the places for a ``RegularGridInterpolator`` with linear cells."""
    xi_bar = np.zeros(xi.shape, np.result_type(xi, dy))
    for i, knots in enumerate(interpolator.grid):
        low, high, inside = cells(np.asarray(knots), xi[..., i])
        ends = []
        for end in (low, high):
            moved = np.array(xi, float)
            moved[..., i] = end
            ends.append(interpolator(moved, "linear"))
        slopes = np.real(np.conj(ends[1] - ends[0]) * dy)
        slopes = slopes.reshape(*xi.shape[:-1], -1).sum(-1) / (high - low)
        constant = interpolator.fill_value is not None
        xi_bar[..., i] = np.where(inside, slopes, 0.0) if constant else slopes
    return xi_bar


def line_slopes(interpolator: Any, x: Any) -> Any:
    """Return the derivative of a linear ``interp1d`` at its places, laid out as its result."""
    x = np.asarray(x)
    x = x if x.dtype.kind in "fc" else x.astype(float)
    low, high, inside = cells(interpolator.x, x)
    axis = interpolator.axis % interpolator.y.ndim if interpolator.y.ndim else 0
    shape = (*x.shape, *(1,) * (interpolator.y.ndim - 1 - axis))
    slopes = (interpolator(high) - interpolator(low)) / (high - low).reshape(shape)
    extrapolates = isinstance(interpolator.fill_value, str)
    return slopes if extrapolates else np.where(inside.reshape(shape), slopes, 0.0)

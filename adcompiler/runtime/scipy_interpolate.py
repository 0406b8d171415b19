"""Slopes of interpolators that are linear between neighbouring knots, and bases of splines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate


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


# --- what is linear in values ---------------------------------------------------------------------


def spline_slopes(x: Any, y: Any, bc_type: Any) -> Any:
    """Return the slopes that ``CubicSpline`` has at ``x``."""
    return interpolate.CubicSpline(x, y, bc_type=bc_type)(x, 1)


def slopes_by_value(x: Any, bc_type: Any) -> Any:
    """Return the matrix that gives the slopes from the values."""
    units = np.eye(len(x))
    if bc_type == "periodic":
        units[-1, 0], units[-1, -1] = 1.0, 0.0
    return spline_slopes(x, units, bc_type)


def interpolating_coefficients(
    x: Any, y: Any, k: int, t: Any = None, bc_type: Any = None
) -> Any:
    """Return the coefficients of ``make_interp_spline``."""
    return interpolate.make_interp_spline(x, y, k, t, bc_type).c


def knots_chosen(x: Any, k: int, t: Any = None, bc_type: Any = None) -> Any:
    """Return the knots of ``make_interp_spline``."""
    return interpolate.make_interp_spline(x, np.zeros(len(x)), k, t, bc_type).t


def coefficients_by_value(x: Any, k: int, t: Any = None, bc_type: Any = None) -> Any:
    """Return the matrix that gives the coefficients from the values."""
    return interpolating_coefficients(x, np.eye(len(x)), k, t, bc_type)


def basis_of_splines(x: Any, t: Any, k: int, nu: int, extrapolate: Any) -> Any:
    """Return all B-splines of degree ``k``, or a derivative of them, at ``x``: the last axis."""
    units = np.eye(len(t) - k - 1)
    return interpolate.BSpline(t, units, k, extrapolate=extrapolate)(x, nu)

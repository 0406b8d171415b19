"""Slopes of interpolators that are linear between neighbouring knots, and bases of splines."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy import interpolate

COVERED_WITH = "scipy.interpolate"
TOLD_OF = {
    "smoothed": (
        "a spline of FITPACK that smooths, or has an even degree or a bbox,",
        "give s=0 and an odd degree, or take make_smoothing_spline: both have derivatives"),
}
"""What messages call a function that users do not write, and say to write instead."""
"""The module whose rules come with those of these functions."""


def axes_but(ndim: int, first: int, count: int) -> tuple[int, ...]:
    """Return the axes of an array apart from ``count`` ones from ``first`` on."""
    return tuple(axis for axis in range(ndim) if not first <= axis < first + count)


def cells(knots: Any, x: Any) -> tuple[Any, Any, Any]:
    """Return the ends of the intervals that places lie in, and whether they lie within the knots.

    Places beyond the knots belong to the first or the last interval.
    """
    left = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
    return knots[left], knots[left + 1], (x >= knots[0]) & (x <= knots[-1])


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
    """Return all B-splines of degree ``k``, or a derivative of them, at ``x``: the last axis.

    ``nu=-1`` stands for their integrals from the first inner knot on.
    """
    splines = interpolate.BSpline(t, np.eye(len(t) - k - 1), k, extrapolate=extrapolate)
    return splines(x, nu) if nu >= 0 else splines.antiderivative()(x)


def least_squares_coefficients(x: Any, y: Any, t: Any, k: int, w: Any) -> Any:
    """Return the coefficients of ``make_lsq_spline``."""
    return interpolate.make_lsq_spline(x, y, t, k, w).c


def smoothing_coefficients(x: Any, y: Any, w: Any, lam: Any) -> Any:
    """Return the coefficients of ``make_smoothing_spline``."""
    return interpolate.make_smoothing_spline(x, y, w, lam).c


def smoothing_by_value(x: Any, w: Any, lam: Any) -> Any:
    """Return the matrix that gives the coefficients of a smoothing spline from the values."""
    return np.stack([smoothing_coefficients(x, unit, w, lam) for unit in np.eye(len(x))], -1)


def knots_of_smoothing(x: Any) -> Any:
    """Return the knots of ``make_smoothing_spline``."""
    return interpolate.make_smoothing_spline(x, np.zeros(len(x)), lam=1.0).t


def fitpack_values(x: Any, t: Any, c: Any, k: int, nu: int, ext: int) -> Any:
    """Return the values, or a derivative, of a spline: as ``splev``, and zero for higher ones."""
    if nu > k:
        return np.zeros(np.shape(x))
    return np.asarray(interpolate.splev(x, (t, c, k), nu, ext))


def fitpack_basis(x: Any, t: Any, k: int, nu: int, ext: int) -> Any:
    """Return what ``fitpack_values`` gives for each coefficient alone: the last axis."""
    units = np.eye(len(t) - k - 1, len(t))
    return np.stack([fitpack_values(x, t, unit, k, nu, ext) for unit in units], -1)


def univariate_values(spline: Any, x: Any, nu: int, ext: Any) -> Any:
    """Return the values, or a derivative, of a ``UnivariateSpline``, and zero for higher ones."""
    if nu > spline._eval_args[2]:
        return np.zeros(np.shape(x))
    return spline(x, nu, ext)


def mode_of_slope(nu: int, ext: Any, spline: Any = None) -> Any:
    """Return how the derivative of a spline goes on beyond the knots.

    Where the values there are those at the ends, it is zero; FITPACK does not say so.
    """
    ext = spline.ext if ext is None else ext
    return 1 if nu == 0 and ext in (3, "const") else ext


def smoothed(x: Any, y: Any, w: Any, ends: Any, k: int, s: Any) -> Any:
    """Return the knots and the coefficients of a smoothing spline of FITPACK, in two rows."""
    t, c, _ = interpolate.UnivariateSpline(x, y, w, ends, k, s)._eval_args
    return np.stack((t, np.concatenate((c, np.zeros(len(t) - len(c))))))


# --- scattered places -----------------------------------------------------------------------------


def corners_of(points: Any, xi: Any, rescale: bool) -> Any:
    """Return, for each of ``xi``, the corners of the simplex it lies in: -1 where there is none."""
    linear = interpolate.LinearNDInterpolator(points, np.zeros(len(points)), rescale=rescale)
    scaled = (xi - linear.offset) / linear.scale if rescale else xi
    found = linear.tri.find_simplex(scaled)
    return np.where((found < 0)[:, None], -1, linear.tri.simplices[found])


def nearest_of(points: Any, xi: Any, rescale: bool) -> Any:
    """Return the number of the point that is nearest to each of ``xi``."""
    numbers = interpolate.NearestNDInterpolator(points, np.arange(len(points)), rescale=rescale)
    return numbers(xi).astype(int)


def powers_of(ndim: int, degree: int) -> Any:
    """Return the exponents of the monomials up to a degree, one monomial in a row."""
    found = [
        np.bincount(np.array(chosen, int), minlength=ndim)
        for total in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(range(ndim), total)
    ]
    return np.array(found, int).reshape(len(found), ndim)


# --- on a grid ------------------------------------------------------------------------------------


def grid_derivatives(interpolator: Any, xi: Any, method: Any, order: int) -> Any:
    """Return all derivatives of an order of a ``RegularGridInterpolator`` at ``xi``.

    Each order has an axis, the last ones, along which the coordinates of ``xi`` lie.
    """
    found = [
        grid_derivative(interpolator, xi, method, chosen)
        for chosen in itertools.product(range(xi.shape[-1]), repeat=order)
    ]
    shape = (*found[0].shape, *(xi.shape[-1],) * order)
    return np.stack(found, -1).reshape(shape)


def grid_derivative(interpolator: Any, xi: Any, method: Any, chosen: tuple[int, ...]) -> Any:
    """Return the derivative in some coordinates, one after another."""
    nu = tuple(chosen.count(i) for i in range(xi.shape[-1]))
    method = interpolator.method if method is None else method
    if method in ("slinear", "cubic", "quintic"):
        found = interpolator(xi, method, nu=nu)
        fill = interpolator.fill_value
        if not interpolator.bounds_error and fill is not None and any(nu):
            outside = np.zeros(xi.shape[:-1], bool)
            for i, knots in enumerate(interpolator.grid):
                outside |= (xi[..., i] < knots[0]) | (xi[..., i] > knots[-1])
            found[outside] = 0.0
        return found
    if (method == "nearest" and any(nu)) or max(nu, default=0) > 1:
        return np.zeros_like(interpolator(xi, method))
    for i, order in enumerate(nu):
        if order:
            knots = np.asarray(interpolator.grid[i])
            low, high, inside = cells(knots, xi[..., i])
            ends = []
            for end in (low, high):
                moved = np.array(xi, float)
                moved[..., i] = end
                rest = tuple(j for j in chosen if j != i)
                ends.append(grid_derivative(interpolator, moved, method, rest))
            shape = (*np.shape(low), *(1,) * (np.ndim(ends[0]) - np.ndim(low)))
            slope = (ends[1] - ends[0]) / np.reshape(high - low, shape)
            if not interpolator.bounds_error and interpolator.fill_value is not None:
                slope = np.where(np.reshape(inside, shape), slope, 0.0)
            return slope
    return interpolator(xi, method)

"""Interpolators on lines and grids whose values are differentiated.

What is linear between neighbouring knots is written out; splines along several axes are products of
their bases; values that are taken from a neighbour have no derivative in the places.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator, interp1d, interpn

from adcompiler.rulekit import facts
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.scipy_interpolate import (
    basis_of_splines, interpolating_coefficients, knots_chosen,
)
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler_rules.scipy.interpolate.interpolators import Monotone
from adcompiler_rules.scipy.interpolate.fitpack import OnRectangle


def rising(points: Any) -> Any:
    """Return the knots along each axis; raise where they fall."""
    grid = tuple(np.asarray(knots) * 1.0 for knots in points)
    for knots in grid:
        if knots[0] > knots[-1]:
            raise UncoveredError("RegularGridInterpolator has a derivative for rising points")
    return grid


class OnGrid:
    """``RegularGridInterpolator``; one class for each method."""

    def __init__(self, points: Any, values: Any, bounds_error: Any, fill_value: Any) -> None:
        self.grid = rising(points)
        self.values = np.asarray(values) * 1.0
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None, nu: Any = None) -> Any:
        if nu is not None or method is not None:
            raise UncoveredError(
                "RegularGridInterpolator has a derivative in values without method= and nu= of "
                "the call"
            )
        places = placed_in(xi, len(self.grid))
        outside = beyond_of(self.grid, places)
        if self.bounds_error and np.any(outside):
            raise ValueError("One of the requested xi is out of bounds")
        total = self.inside(places)
        if self.bounds_error or self.fill_value is None:
            return total
        return np.where(meeting(outside, np.ndim(total)), self.fill_value, total)

    def inside(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis, also beyond the grid."""
        raise NotImplementedError


class LinearOnGrid(OnGrid):
    """What is linear between the knots along each axis."""

    def inside(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis, also beyond the grid."""
        return between_corners(self.grid, self.values, xi)


class NearestOnGrid(OnGrid):
    """The values at the nearest knots."""

    def inside(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis, also beyond the grid."""
        return at_corners(self.grid, self.values, xi)


class MonotoneOnGrid(OnGrid):
    """Monotone cubics along the only axis."""

    def inside(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis, also beyond the grid."""
        return Monotone(self.grid[0], self.values)(xi[..., 0])


class SplinesOnGrid(OnGrid):
    """Splines along all axes."""

    def __init__(
        self, points: Any, values: Any, degree: int, bounds_error: Any, fill_value: Any
    ) -> None:
        OnGrid.__init__(self, points, values, bounds_error, fill_value)
        self.degree = degree
        self.c = coefficients_on(self.grid, self.values, degree)

    def inside(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis, also beyond the grid."""
        return splines_on(self.grid, self.c, xi, self.degree)


def on_grid(
    points: Any, values: Any, method: Any = "linear", bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:
    """``RegularGridInterpolator``."""
    if method == "linear":
        return LinearOnGrid(points, values, bounds_error, fill_value)
    if method == "nearest":
        return NearestOnGrid(points, values, bounds_error, fill_value)
    if method == "slinear":
        return SplinesOnGrid(points, values, 1, bounds_error, fill_value)
    if method == "cubic":
        return SplinesOnGrid(points, values, 3, bounds_error, fill_value)
    if method == "quintic":
        return SplinesOnGrid(points, values, 5, bounds_error, fill_value)
    if method == "pchip" and len(points) == 1:
        return MonotoneOnGrid(points, values, bounds_error, fill_value)
    raise UncoveredError(
        "RegularGridInterpolator has a derivative in values for the methods linear, nearest, "
        "slinear, cubic and quintic, and pchip along one axis"
    )


def placed_in(xi: Any, ndim: int) -> Any:
    """Return places with their coordinates along the last axis."""
    if isinstance(xi, tuple):
        return np.stack(np.broadcast_arrays(*xi), -1)
    xi = np.asarray(xi)
    if np.ndim(xi) == 1:
        return np.expand_dims(xi, 0) if ndim > 1 else np.expand_dims(xi, -1)
    return xi


def beyond_of(grid: Any, xi: Any) -> Any:
    """Return which places are not on the grid."""
    outside = np.zeros(np.shape(xi)[:-1], dtype=bool)
    for i in range(len(grid)):
        outside = outside | (xi[..., i] < grid[i][0]) | (xi[..., i] > grid[i][-1])
    return outside


def meeting(mask: Any, ndim: int) -> Any:
    """Return a mask with axes behind it for what stands at each place."""
    return np.reshape(mask, (*np.shape(mask), *(1,) * (ndim - np.ndim(mask))))


def cell_of(knots: Any, x: Any) -> Any:
    """Return the number of the interval that a place lies in, or is next to."""
    return np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)


def between_corners(grid: Any, values: Any, xi: Any) -> Any:
    """Return what is linear between the knots along each axis."""
    low: tuple[Any, ...] = ()
    parts: tuple[Any, ...] = ()
    for i in range(len(grid)):
        knots = grid[i]
        k = cell_of(knots, xi[..., i])
        low = (*low, k)
        parts = (*parts, (xi[..., i] - knots[k]) / (knots[k + 1] - knots[k]))
    ones = (1,) * (np.ndim(values) - len(grid))
    total: Any = 0.0
    for corner in range(2 ** len(grid)):
        weight: Any = 1.0
        index: tuple[Any, ...] = ()
        for i in range(len(grid)):
            above = corner // 2**i % 2
            index = (*index, low[i] + above)
            weight = weight * (parts[i] if above == 1 else 1.0 - parts[i])
        total = total + np.reshape(weight, (*np.shape(weight), *ones)) * values[index]
    return total


def at_corners(grid: Any, values: Any, xi: Any) -> Any:
    """Return the values at the nearest knots."""
    index: tuple[Any, ...] = ()
    for i in range(len(grid)):
        knots = grid[i]
        k = cell_of(knots, xi[..., i])
        part = (xi[..., i] - knots[k]) / (knots[k + 1] - knots[k])
        index = (*index, np.where(part <= 0.5, k, k + 1))
    return values[index]


def coefficients_on(grid: Any, values: Any, degree: int) -> Any:
    """Return the coefficients of splines along all axes of a grid."""
    c = values
    for i in range(len(grid)):
        c = np.moveaxis(interpolating_coefficients(grid[i], np.moveaxis(c, i, 0), degree), 0, i)
    return c


def splines_on(grid: Any, c: Any, xi: Any, degree: int) -> Any:
    """Return the values of splines along all axes, of which ``c`` are the coefficients."""
    places = np.reshape(xi, (-1, np.shape(xi)[-1]))
    basis = basis_of_splines(places[:, 0], knots_chosen(grid[0], degree), degree, 0, True)
    total = np.tensordot(basis, c, 1)
    for i in range(1, len(grid)):
        basis = basis_of_splines(places[:, i], knots_chosen(grid[i], degree), degree, 0, True)
        total = np.sum(
            np.reshape(basis, (*np.shape(basis), *(1,) * (np.ndim(total) - 2))) * total, 1)
    return np.reshape(total, (*np.shape(xi)[:-1], *np.shape(c)[len(grid) :]))


def interpolated(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:
    """``interpn``."""
    if method != "splinef2d":
        return on_grid(points, values, method, bounds_error, fill_value)(xi)
    places = placed_in(xi, 2)
    grid = rising(points)
    outside = beyond_of(grid, places)
    if bounds_error and np.any(outside):
        raise ValueError("One of the requested xi is out of bounds")
    found = OnRectangle(grid[0], grid[1], values).ev(places[..., 0], places[..., 1])
    return found if bounds_error else np.where(outside, fill_value, found)


class OnLine:
    """``interp1d``; one class for each kind. ``rows`` are the values, with their axis in front."""

    def __init__(
        self, x: Any, y: Any, axis: int, bounds_error: Any, fill_value: Any, assume_sorted: bool
    ) -> None:
        x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
        self.axis = axis % np.ndim(y)
        y = np.moveaxis(y, axis, 0)
        if not assume_sorted:
            order = np.argsort(x, kind="mergesort")
            x, y = x[order], y[order]
        self.x = x
        self.rows = y
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x)
        y = self.along(x)
        if not isinstance(self.fill_value, str):
            y = filled_beyond(x, y, self.x, self.fill_value, self.bounds_error)
        if self.axis == 0:
            return y
        first = tuple(range(np.ndim(x)))
        return np.moveaxis(y, first, tuple(range(self.axis, self.axis + np.ndim(x))))

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        raise NotImplementedError


def filled_beyond(x: Any, y: Any, knots: Any, fill_value: Any, bounds_error: Any) -> Any:
    """Return values with those beyond the knots replaced; raise where this is asked for."""
    if isinstance(fill_value, tuple):
        below, above = fill_value
        raises = False if bounds_error is None else bounds_error
    else:
        below = above = fill_value
        raises = bool(np.isnan(fill_value)) if bounds_error is None else bounds_error
    if np.ndim(below) != 0 or np.ndim(above) != 0:
        raise UncoveredError("interp1d has a derivative with numbers as fill_value=")
    if raises and np.any((x < knots[0]) | (x > knots[-1])):
        raise ValueError("A value in x_new is outside of the interpolation range.")
    y = np.where(meeting(x < knots[0], np.ndim(y)), below, y)
    return np.where(meeting(x > knots[-1], np.ndim(y)), above, y)


class LinearOnLine(OnLine):
    """What is linear between the knots."""

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        k = np.clip(np.searchsorted(self.x, x) - 1, 0, len(self.x) - 2)
        low, high = self.rows[k], self.rows[k + 1]
        slope = (high - low) / meeting(self.x[k + 1] - self.x[k], np.ndim(low))
        return slope * meeting(x - self.x[k], np.ndim(low)) + low


class BeforeOnLine(OnLine):
    """The value at the knot before."""

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        k = np.searchsorted(np.nextafter(self.x, -np.inf), x, "left") - 1
        y = self.rows[np.clip(k, 0, len(self.x) - 1)]
        return np.where(meeting(x < self.x[0], np.ndim(y)), np.nan, y)


class BehindOnLine(OnLine):
    """The value at the knot behind."""

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        k = np.searchsorted(np.nextafter(self.x, np.inf), x, "right")
        y = self.rows[np.clip(k, 0, len(self.x) - 1)]
        return np.where(meeting(x > self.x[-1], np.ndim(y)), np.nan, y)


class NearestOnLine(OnLine):
    """The value at the nearest knot, of two the lower one."""

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        halves = self.x / 2.0
        return self.rows[np.searchsorted(halves[1:] + halves[:-1], x, "left")]


class UpperOnLine(OnLine):
    """The value at the nearest knot, of two the upper one."""

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        halves = self.x / 2.0
        return self.rows[np.searchsorted(halves[1:] + halves[:-1], x, "right")]


class SplineOnLine(OnLine):
    """A spline."""

    def __init__(
        self, x: Any, y: Any, degree: int, axis: int, bounds_error: Any, fill_value: Any,
        assume_sorted: bool,
    ) -> None:
        OnLine.__init__(self, x, y, axis, bounds_error, fill_value, assume_sorted)
        self.degree = degree
        self.c = interpolating_coefficients(self.x, self.rows, degree)

    def along(self, x: Any) -> Any:
        """Return the values at places, also beyond the knots."""
        t = knots_chosen(self.x, self.degree)
        return np.tensordot(basis_of_splines(x, t, self.degree, 0, True), self.c, 1)


def on_line(
    x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
    bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: bool = False,
) -> Any:
    """``interp1d``."""
    if kind == "linear":
        return LinearOnLine(x, y, axis, bounds_error, fill_value, assume_sorted)
    if kind == "previous":
        return BeforeOnLine(x, y, axis, bounds_error, fill_value, assume_sorted)
    if kind == "next":
        return BehindOnLine(x, y, axis, bounds_error, fill_value, assume_sorted)
    if kind == "nearest":
        return NearestOnLine(x, y, axis, bounds_error, fill_value, assume_sorted)
    if kind == "nearest-up":
        return UpperOnLine(x, y, axis, bounds_error, fill_value, assume_sorted)
    if kind == "slinear":
        return SplineOnLine(x, y, 1, axis, bounds_error, fill_value, assume_sorted)
    if kind == "quadratic":
        return SplineOnLine(x, y, 2, axis, bounds_error, fill_value, assume_sorted)
    if kind == "cubic":
        return SplineOnLine(x, y, 3, axis, bounds_error, fill_value, assume_sorted)
    if isinstance(kind, int) and kind > 0:
        return SplineOnLine(x, y, kind, axis, bounds_error, fill_value, assume_sorted)
    raise UncoveredError("interp1d has no derivative in values for this kind")


STAND_FOR.update({
    LinearOnGrid: RegularGridInterpolator, NearestOnGrid: RegularGridInterpolator,
    MonotoneOnGrid: RegularGridInterpolator, SplinesOnGrid: RegularGridInterpolator,
    LinearOnLine: interp1d, BeforeOnLine: interp1d, BehindOnLine: interp1d,
    NearestOnLine: interp1d, UpperOnLine: interp1d, SplineOnLine: interp1d,
})
facts(RegularGridInterpolator, written_as=on_grid)
facts(interp1d, written_as=on_line)
facts(interpn, written_as=interpolated)

"""Interpolators of scattered places, in values, places, and the places that values are given at.

Which simplex, or which point, a place belongs to does not change nearby.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import (
    LinearNDInterpolator, NearestNDInterpolator, RBFInterpolator, griddata,
)

from adcompiler.rulekit import facts, non_differentiable
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import stop_gradient
from adcompiler_rules.kernels.scipy_interpolate import corners_of, nearest_of, powers_of
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler_rules.scipy.interpolate.grids import on_line

non_differentiable(corners_of, nearest_of, powers_of)


def coordinates(points: Any) -> Any:
    """Return places given by arrays of their coordinates, or as rows, in rows."""
    if isinstance(points, tuple):
        return np.stack(np.broadcast_arrays(*points), -1) * 1.0
    points = np.asarray(points) * 1.0
    return np.expand_dims(points, -1) if np.ndim(points) == 1 else points


def asked(args: Any, ndim: int) -> Any:
    """Return the places of a call, which has one argument for each coordinate, or one for all."""
    if len(args) > 1:
        return np.stack(np.broadcast_arrays(*args), -1) * 1.0
    if isinstance(args[0], tuple):
        return np.stack(np.broadcast_arrays(*args[0]), -1) * 1.0
    xi = np.asarray(args[0]) * 1.0
    if np.ndim(xi) == 1:
        return np.expand_dims(xi, -1) if ndim == 1 else np.expand_dims(xi, 0)
    return xi


class InSimplices:
    """``LinearNDInterpolator``, of the simplices that SciPy finds."""

    def __init__(
        self, points: Any, values: Any, fill_value: Any = np.nan, rescale: bool = False
    ) -> None:
        self.points = coordinates(points)
        self.values = np.asarray(values) * 1.0
        self.fill_value = fill_value
        self.rescale = rescale

    def __call__(self, *args: Any) -> Any:
        xi = asked(args, np.shape(self.points)[1])
        rows = np.reshape(xi, (-1, np.shape(xi)[-1]))
        corners = corners_of(self.points, rows, self.rescale)
        found = in_simplices(self.points, self.values, corners, rows, self.fill_value)
        return np.reshape(found, (*np.shape(xi)[:-1], *np.shape(self.values)[1:]))


def in_simplices(points: Any, values: Any, corners: Any, xi: Any, fill_value: Any) -> Any:
    """Return what is linear between the corners of the simplices that places lie in."""
    missed = np.reshape(corners[:, 0] < 0, (-1, 1, 1))
    ends = points[corners]
    last = ends[:, -1]
    sides = np.swapaxes(ends[:, :-1] - np.expand_dims(last, 1), 1, 2)
    sides = np.where(missed, np.eye(np.shape(points)[1]), sides)
    parts = np.linalg.solve(sides, np.expand_dims(xi - last, -1))[:, :, 0]
    weights = np.concatenate((parts, 1.0 - np.sum(parts, 1, keepdims=True)), 1)
    ones = (1,) * (np.ndim(values) - 1)
    found = np.sum(np.reshape(weights, (*np.shape(weights), *ones)) * values[corners], 1)
    return np.where(np.reshape(missed, (-1, *ones)), fill_value, found)


class Nearest:
    """``NearestNDInterpolator``."""

    def __init__(
        self, x: Any, y: Any, rescale: bool = False, tree_options: Any = None
    ) -> None:
        if tree_options is not None:
            raise UncoveredError("NearestNDInterpolator is compiled without tree_options=")
        self.points = coordinates(x)
        self.values = np.asarray(y) * 1.0
        self.rescale = rescale

    def __call__(self, *args: Any) -> Any:
        xi = asked(args, np.shape(self.points)[1])
        return self.values[nearest_of(self.points, xi, self.rescale)]


class Radial:
    """``RBFInterpolator`` that uses all points for each place."""

    def __init__(
        self, y: Any, d: Any, neighbors: Any = None, smoothing: Any = 0.0,
        kernel: str = "thin_plate_spline", epsilon: Any = None, degree: Any = None,
    ) -> None:
        if neighbors is not None:
            raise UncoveredError("RBFInterpolator has a derivative without neighbors=")
        if np.iscomplexobj(d):
            raise UncoveredError("RBFInterpolator has a derivative for real values")
        least = least_degree(kernel)
        if epsilon is None:
            if least == -1 or kernel == "multiquadric":
                raise ValueError("`epsilon` must be specified for this kernel")
            epsilon = 1.0
        self.y = np.asarray(y) * 1.0
        self.kernel = kernel
        self.epsilon = epsilon
        count, ndim = np.shape(self.y)
        self.powers = powers_of(ndim, max(least, 0) if degree is None else int(degree))
        # Any others give the same polynomials, so that these count as constant.
        low, high = stop_gradient(np.min(self.y, 0)), stop_gradient(np.max(self.y, 0))
        self.shift = (high + low) / 2.0
        self.scale = np.where(high == low, 1.0, (high - low) / 2.0)
        terms = len(self.powers)
        monomials = self.monomials(self.y)
        inner = self.radial(self.y) + np.diag(np.zeros(count) + smoothing)
        matrix = np.concatenate((
            np.concatenate((inner, monomials), 1),
            np.concatenate((np.transpose(monomials), np.zeros((terms, terms))), 1),
        ))
        values = np.asarray(d) * 1.0
        self.rest = np.shape(values)[1:]
        columns = np.reshape(values, (count, -1))
        self.c = np.linalg.solve(
            matrix, np.concatenate((columns, np.zeros((terms, np.shape(columns)[1])))))

    def radial(self, x: Any) -> Any:
        """Return the kernel between places and points."""
        apart = np.expand_dims(x, 1) - np.expand_dims(self.y, 0)
        return kernel_of(self.kernel, np.sum(apart * apart, -1) * self.epsilon**2)

    def monomials(self, x: Any) -> Any:
        """Return the monomials at places."""
        return np.prod(np.expand_dims((x - self.shift) / self.scale, 1) ** self.powers, -1)

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x) * 1.0
        found = np.concatenate((self.radial(x), self.monomials(x)), 1) @ self.c
        return np.reshape(found, (np.shape(x)[0], *self.rest))


def least_degree(kernel: str) -> int:
    """Return the degree of the polynomial that a kernel needs."""
    if kernel == "multiquadric" or kernel == "linear":
        return 0
    if kernel == "thin_plate_spline" or kernel == "cubic":
        return 1
    if kernel == "quintic":
        return 2
    if kernel in ("gaussian", "inverse_multiquadric", "inverse_quadratic"):
        return -1
    raise UncoveredError("RBFInterpolator has a derivative for kernels that are named in small")


def kernel_of(kernel: str, squared: Any) -> Any:
    """Return a kernel of squared distances; where these are zero, so is each of its derivatives."""
    if kernel == "gaussian":
        return np.exp(-squared)
    if kernel == "multiquadric":
        return -np.sqrt(squared + 1.0)
    if kernel == "inverse_multiquadric":
        return 1.0 / np.sqrt(squared + 1.0)
    if kernel == "inverse_quadratic":
        return 1.0 / (squared + 1.0)
    nothing = squared == 0.0
    s = np.where(nothing, 1.0, squared)
    if kernel == "linear":
        found = -np.sqrt(s)
    elif kernel == "thin_plate_spline":
        found = 0.5 * s * np.log(s)
    elif kernel == "cubic":
        found = s * np.sqrt(s)
    else:
        found = -s * s * np.sqrt(s)
    return np.where(nothing, 0.0, found)


def gridded(
    points: Any, values: Any, xi: Any, method: str = "linear", fill_value: Any = np.nan,
    rescale: bool = False,
) -> Any:
    """``griddata``."""
    places = coordinates(points)
    if np.shape(places)[1] == 1:
        row = xi[0] if isinstance(xi, tuple) else xi
        beyond = "extrapolate" if method == "nearest" else fill_value
        return on_line(places[:, 0], values, method, 0, True, False, beyond)(row)
    if method == "nearest":
        return Nearest(places, values, rescale)(xi)
    if method == "linear":
        return InSimplices(places, values, fill_value, rescale)(xi)
    raise UncoveredError("griddata() has no derivative for method='cubic' in the plane")


for _own, _cls in {
    InSimplices: LinearNDInterpolator, Nearest: NearestNDInterpolator, Radial: RBFInterpolator,
}.items():
    facts(_cls, written_as=_own)
    STAND_FOR[_own] = _cls
facts(griddata, written_as=gridded)

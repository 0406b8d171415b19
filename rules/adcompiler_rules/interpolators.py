"""Interpolators that are made of values which are differentiated.

An instance that is made in compiled code is one of a class written here, whose methods are opened
as a user's are; it counts as one of SciPy's. Values carry derivatives, and the places at which
interpolators are called; of where the values are given, only piecewise polynomials that are made
of slopes know the derivative. B-splines are products of their coefficients with a basis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import (
    BSpline, CubicHermiteSpline, CubicSpline, InterpolatedUnivariateSpline, PchipInterpolator,
    RectBivariateSpline, RegularGridInterpolator, interp1d, make_interp_spline,
)

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime.scipy_interpolate import (
    basis_of_splines, coefficients_by_value, interpolating_coefficients, knots_chosen,
    slopes_by_value, spline_slopes,
)
from adcompiler.runtime.shaping import like
from adcompiler.runtime.substitutes import STAND_FOR

non_differentiable(coefficients_by_value, knots_chosen, slopes_by_value)


KNOTS = np.array([0.0, 0.8, 1.7, 2.5, 3.6, 4.4])
AT_A_KNOT = "of the piece that is evaluated there, which is the right one"


def values(rng, *shape):
    """Return values at the knots."""
    return rng.normal(size=(len(KNOTS), *shape))


def places(rng, *shape):
    """Return places that are away from the knots, inside and beside them."""
    return rng.choice([0.35, 1.2, 2.1, 3.05, 4.0], shape) + rng.uniform(-0.2, 0.2, shape)


# --- what is linear in values ---------------------------------------------------------------------


@rrule(spline_slopes, wrt=("y",), linear=(1,), domain=lambda rng: [
    call(KNOTS, values(rng), "not-a-knot"), call(KNOTS, values(rng, 2), "natural"),
    call(KNOTS[:3], values(rng)[:3], "clamped"), call(KNOTS[:2], values(rng)[:2], "not-a-knot"),
])
def spline_slopes_rule(x, y, bc_type):
    if not isinstance(bc_type, str):
        raise NotImplementedError("CubicSpline has a derivative for bc_type= that is one word")

    def spline_slopes_pullback(dslopes):
        return like(np.tensordot(slopes_by_value(x, bc_type).T, dslopes, 1), y)

    return spline_slopes(x, y, bc_type), spline_slopes_pullback


@rrule(interpolating_coefficients, wrt=("y",), linear=(1,), domain=lambda rng: [
    call(KNOTS, values(rng), 3), call(KNOTS, values(rng, 2), 2), call(KNOTS, values(rng), 1),
    call(KNOTS, values(rng), 3, None, "natural"),
])
def interpolating_coefficients_rule(x, y, k, t=None, bc_type=None):
    if not (bc_type is None or isinstance(bc_type, str)):
        raise NotImplementedError(
            "make_interp_spline has a derivative for bc_type= that is one word"
        )

    def interpolating_coefficients_pullback(dc):
        return like(np.tensordot(coefficients_by_value(x, k, t, bc_type).T, dc, 1), y)

    return interpolating_coefficients(x, y, k, t, bc_type), interpolating_coefficients_pullback


@rrule(basis_of_splines, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(places(rng, 3), make_interp_spline(KNOTS, values(rng)).t, 3, 0, True),
    call(float(places(rng)), make_interp_spline(KNOTS, values(rng), 2).t, 2, 1, True),
])
def basis_of_splines_rule(x, t, k, nu, extrapolate):
    def basis_of_splines_pullback(dbasis):
        return like(np.sum(basis_of_splines(x, t, k, nu + 1, extrapolate) * dbasis, -1), x)

    return basis_of_splines(x, t, k, nu, extrapolate), basis_of_splines_pullback


# --- piecewise polynomials ------------------------------------------------------------------------


class Cubics:
    """Polynomials of the third degree, with values ``y`` and slopes ``s`` at ``x``."""

    def __init__(self, x: Any, y: Any, s: Any, extrapolate: Any = True) -> None:
        widths = np.reshape(np.diff(x), (-1, *(1,) * (np.ndim(y) - 1)))
        rises = np.diff(y, axis=0) / widths
        bends = (s[:-1] + s[1:] - 2 * rises) / widths
        self.x = x
        self.bends = bends / widths
        self.halves = (rises - s[:-1]) / widths - bends
        self.slopes = s[:-1]
        self.values = y[:-1]
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            x = self.x[0] + (x - self.x[0]) % (self.x[-1] - self.x[0])
        x = np.asarray(x)
        k = np.clip(np.searchsorted(self.x, x, "right") - 1, 0, len(self.x) - 2)
        z = np.reshape(x - self.x[k], (*np.shape(x), *(1,) * (np.ndim(self.values) - 1)))
        if nu == 0:
            y = ((self.bends[k] * z + self.halves[k]) * z + self.slopes[k]) * z + self.values[k]
        elif nu == 1:
            y = (3.0 * self.bends[k] * z + 2.0 * self.halves[k]) * z + self.slopes[k]
        elif nu == 2:
            y = 6.0 * self.bends[k] * z + 2.0 * self.halves[k]
        elif nu == 3:
            y = 6.0 * self.bends[k] + 0.0 * z
        else:
            raise UncoveredError("derivatives of splines up to the third order are known here")
        if isinstance(beyond, str) or beyond:
            return y
        outside = np.reshape((x < self.x[0]) | (x > self.x[-1]), np.shape(z))
        return np.where(outside, np.nan, y)

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order ``nu``, as what can be called."""
        return Derivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from ``a`` to ``b``."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str) or not beyond:
            raise UncoveredError("integrate() of a spline has a derivative with extrapolate=True")
        return self.area(b) - self.area(a)

    def area(self, x: Any) -> Any:
        """Return the integral from the first knot to a number ``x``."""
        widths = np.diff(self.x)
        before = np.clip(np.searchsorted(self.x, x, "right") - 1, 0, len(self.x) - 2)
        pieces = np.arange(len(widths))
        last = x - self.x[before]
        z = np.where(pieces < before, widths, np.where(pieces == before, last, 0.0))
        z = np.reshape(z, (-1, *(1,) * (np.ndim(self.values) - 1)))
        return np.sum((((
            self.bends / 4.0 * z + self.halves / 3.0) * z + self.slopes / 2.0
        ) * z + self.values) * z, axis=0)


class Derivative:
    """A derivative of a spline."""

    def __init__(self, spline: Any, nu: int) -> None:
        self.spline = spline
        self.nu = nu

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        return self.spline(x, self.nu + nu, extrapolate)

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order ``nu``."""
        return Derivative(self.spline, self.nu + nu)

    def integrate(self, a: Any, b: Any) -> Any:
        """Return the integral from ``a`` to ``b``."""
        return self.spline(b, self.nu - 1) - self.spline(a, self.nu - 1)


def checked(x: Any, y: Any, axis: int) -> tuple[Any, Any]:
    """Return where values are given, and the values; raise for other axes."""
    if axis != 0 and axis != -np.ndim(y):
        raise UncoveredError("interpolators have derivatives in values along axis 0")
    return np.asarray(x) * np.ones(1), np.asarray(y) * np.ones(1)


class ByCurvature(Cubics):
    """``CubicSpline``."""

    def __init__(
        self, x: Any, y: Any, axis: int = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None,
    ) -> None:
        x, y = checked(x, y, axis)
        if extrapolate is None:
            extrapolate = "periodic" if bc_type == "periodic" else True
        Cubics.__init__(self, x, y, spline_slopes(x, y, bc_type), extrapolate)


class BySlopes(Cubics):
    """``CubicHermiteSpline``."""

    def __init__(
        self, x: Any, y: Any, dydx: Any, axis: int = 0, extrapolate: Any = None
    ) -> None:
        x, y = checked(x, y, axis)
        Cubics.__init__(
            self, x, y, np.asarray(dydx) * np.ones(1), True if extrapolate is None else extrapolate)


class Monotone(Cubics):
    """``PchipInterpolator``."""

    def __init__(self, x: Any, y: Any, axis: int = 0, extrapolate: Any = None) -> None:
        x, y = checked(x, y, axis)
        Cubics.__init__(
            self, x, y, monotone_slopes(x, y), True if extrapolate is None else extrapolate)


def monotone_slopes(x: Any, y: Any) -> Any:
    """Return the slopes of Fritsch and Butland, as SciPy computes them."""
    h = np.reshape(np.diff(x), (-1, *(1,) * (np.ndim(y) - 1)))
    m = np.diff(y, axis=0) / h
    if len(y) == 2:
        return np.concatenate((m, m))
    flat = (np.sign(m[1:]) != np.sign(m[:-1])) | (m[1:] == 0) | (m[:-1] == 0)
    before, behind = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    inner = np.where(flat, 0.0, (w1 + w2) / (w1 / before + w2 / behind))
    first = slope_at_end(h[0], h[1], m[0], m[1])
    last = slope_at_end(h[-1], h[-2], m[-1], m[-2])
    return np.concatenate((np.expand_dims(first, 0), inner, np.expand_dims(last, 0)))


def slope_at_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    """Return the slope of three points at the first one, changed so that it keeps the shape."""
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    turned = np.sign(d) != np.sign(m0)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(turned, 0.0, np.where(steep, 3.0 * m0, d))


# --- B-splines ------------------------------------------------------------------------------------


class OfBasis:
    """``BSpline``: coefficients ``c`` of the basis with knots ``t`` and degree ``k``."""

    def __init__(self, t: Any, c: Any, k: int, extrapolate: Any = True, axis: int = 0) -> None:
        if axis != 0:
            raise UncoveredError("BSpline has a derivative in coefficients along axis 0")
        self.t = np.asarray(t) * 1.0
        self.c = np.asarray(c) * 1.0
        self.k = k
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: int = 0, extrapolate: Any = None) -> Any:
        beyond = self.extrapolate if extrapolate is None else extrapolate
        count = len(self.t) - self.k - 1
        return np.tensordot(basis_of_splines(x, self.t, self.k, nu, beyond), self.c[:count], 1)

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order ``nu``, as what can be called."""
        return Derivative(self, nu)


def interpolating_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0,
    check_finite: bool = True,
) -> Any:
    """As ``make_interp_spline``, with conditions at the ends that are given by a word."""
    x, y = checked(x, y, axis)
    c = interpolating_coefficients(x, y, k, t, bc_type)
    return OfBasis(knots_chosen(x, k, t, bc_type), c, k)


class Fitted:
    """A spline of FITPACK that interpolates."""

    def __init__(self, x: Any, y: Any, k: int) -> None:
        x, y = checked(x, y, 0)
        if k % 2 == 0:
            raise UncoveredError("splines of FITPACK have derivatives in values for odd degrees")
        self.c = interpolating_coefficients(x, y, k)
        self.t = knots_chosen(x, k)
        self.k = k

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        if ext is not None and ext != 0:
            raise UncoveredError("splines of FITPACK have derivatives in values for ext=0")
        return np.tensordot(basis_of_splines(x, self.t, self.k, nu, True), self.c, 1)

    def derivative(self, n: int = 1) -> Any:
        """Return the derivative of order ``n``, as what can be called."""
        return Derivative(self, n)


class Interpolated(Fitted):
    """``InterpolatedUnivariateSpline``."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = None, k: int = 3, ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        if bbox is not None or w is not None or ext != 0:
            raise UncoveredError("this spline has a derivative in values without w=, bbox=, ext=")
        Fitted.__init__(self, x, y, k)


class OnRectangle:
    """``RectBivariateSpline`` without smoothing."""

    def __init__(
        self, x: Any, y: Any, z: Any, bbox: Any = None, kx: int = 3, ky: int = 3, s: Any = 0,
        maxit: int = 20,
    ) -> None:
        if bbox is not None or s != 0 or kx % 2 == 0 or ky % 2 == 0:
            raise UncoveredError(
                "RectBivariateSpline has a derivative in values for s=0 and odd degrees"
            )
        x, y, z = np.asarray(x) * 1.0, np.asarray(y) * 1.0, np.asarray(z) * 1.0
        half = interpolating_coefficients(x, z, kx)
        self.c = np.transpose(interpolating_coefficients(y, np.transpose(half), ky))
        self.x, self.y, self.kx, self.ky = x, y, kx, ky
        self.along, self.across = knots_chosen(x, kx), knots_chosen(y, ky)

    def parts(self, x: Any, y: Any, dx: int, dy: int) -> Any:
        """Return the bases at ``x`` and ``y``, which are moved to the rectangle's border."""
        x, y = np.clip(x, self.x[0], self.x[-1]), np.clip(y, self.y[0], self.y[-1])
        return (
            basis_of_splines(x, self.along, self.kx, dx, True),
            basis_of_splines(y, self.across, self.ky, dy, True),
        )

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        if grid:
            along, across = self.parts(np.ravel(x), np.ravel(y), dx, dy)
            return along @ self.c @ np.transpose(across)
        return self.ev(x, y, dx, dy)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Return the values at single places."""
        along, across = self.parts(np.asarray(xi) * 1.0, np.asarray(yi) * 1.0, dx, dy)
        return np.sum((along @ self.c) * across, -1)


# --- linear interpolation -------------------------------------------------------------------------


class OnGrid:
    """``RegularGridInterpolator`` with ``method="linear"``."""

    def __init__(
        self, points: Any, values: Any, method: Any = "linear", bounds_error: Any = True,
        fill_value: Any = np.nan,
    ) -> None:
        if method != "linear":
            raise UncoveredError("RegularGridInterpolator has a derivative for method='linear'")
        self.points = points
        self.values = np.asarray(values) * 1.0
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any) -> Any:
        if isinstance(xi, tuple):
            return self.at(np.stack(np.broadcast_arrays(*xi), -1))
        xi = np.asarray(xi)
        if np.ndim(xi) == 1 and len(self.points) > 1:
            return self.at(np.expand_dims(xi, 0))
        if np.ndim(xi) == 1:
            return self.at(np.expand_dims(xi, -1))
        return self.at(xi)

    def at(self, xi: Any) -> Any:
        """Return the values at places that lie along the last axis."""
        outside = np.zeros(np.shape(xi)[:-1], dtype=bool)
        found = self.values
        low: tuple[Any, ...] = ()
        parts: tuple[Any, ...] = ()
        for i in range(len(self.points)):
            knots = np.asarray(self.points[i]) * 1.0
            if knots[0] > knots[-1]:
                raise UncoveredError("RegularGridInterpolator has a derivative for rising points")
            x = xi[..., i]
            k = np.clip(np.searchsorted(knots, x, "right") - 1, 0, len(knots) - 2)
            outside = outside | (x < knots[0]) | (x > knots[-1])
            low = (*low, k)
            parts = (*parts, (x - knots[k]) / (knots[k + 1] - knots[k]))
        if self.bounds_error and np.any(outside):
            raise ValueError("One of the requested xi is out of bounds")
        rest = np.ndim(found) - len(self.points)
        total: Any = 0.0
        for corner in range(2 ** len(self.points)):
            weight: Any = 1.0
            index: tuple[Any, ...] = ()
            for i in range(len(self.points)):
                above = corner // 2**i % 2
                index = (*index, low[i] + above)
                weight = weight * (parts[i] if above == 1 else 1.0 - parts[i])
            weight = np.reshape(weight, (*np.shape(outside), *(1,) * rest))
            total = total + weight * found[index]
        if self.bounds_error or self.fill_value is None:
            return total
        return np.where(
            np.reshape(outside, (*np.shape(outside), *(1,) * rest)), self.fill_value, total)


class OnLine:
    """``interp1d`` with ``kind="linear"``, of one row of values."""

    def __init__(
        self, x: Any, y: Any, kind: Any = "linear", axis: int = -1, copy: bool = True,
        bounds_error: Any = None, fill_value: Any = np.nan, assume_sorted: bool = False,
    ) -> None:
        if kind != "linear" or np.ndim(y) != 1 or isinstance(fill_value, tuple):
            raise UncoveredError(
                "interp1d has a derivative in one row of values for kind='linear', and one "
                "number beyond"
            )
        x, y = np.asarray(x) * 1.0, np.asarray(y) * 1.0
        if not assume_sorted:
            order = np.argsort(x, kind="mergesort")
            x, y = x[order], y[order]
        self.x = x
        self.y = y
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, x: Any) -> Any:
        x = np.asarray(x)
        k = np.clip(np.searchsorted(self.x, x) - 1, 0, len(self.x) - 2)
        slope = (self.y[k + 1] - self.y[k]) / (self.x[k + 1] - self.x[k])
        y = slope * (x - self.x[k]) + self.y[k]
        if isinstance(self.fill_value, str):
            return y
        outside = (x < self.x[0]) | (x > self.x[-1])
        raises = self.bounds_error
        if raises is None:
            raises = bool(np.isnan(self.fill_value))
        if raises and np.any(outside):
            raise ValueError("A value in x_new is outside of the interpolation range.")
        return np.where(outside, self.fill_value, y)


for _own, _cls in {
    ByCurvature: CubicSpline, BySlopes: CubicHermiteSpline, Monotone: PchipInterpolator,
    OfBasis: BSpline, Interpolated: InterpolatedUnivariateSpline,
    OnRectangle: RectBivariateSpline, OnGrid: RegularGridInterpolator, OnLine: interp1d,
}.items():
    facts(_cls, written_as=_own)
    STAND_FOR[_own] = _cls
facts(make_interp_spline, written_as=interpolating_spline)

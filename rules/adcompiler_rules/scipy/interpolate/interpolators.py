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
    Akima1DInterpolator, BSpline, CubicHermiteSpline, CubicSpline, PchipInterpolator,
    make_interp_spline, make_lsq_spline, make_smoothing_spline,
)

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.scipy_interpolate import (
    basis_of_splines, coefficients_by_value, interpolating_coefficients, knots_chosen,
    knots_of_smoothing, least_squares_coefficients, slopes_by_value, smoothing_by_value,
    smoothing_coefficients, spline_slopes,
)
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.substitutes import STAND_FOR

non_differentiable(coefficients_by_value, slopes_by_value, smoothing_by_value)


KNOTS = np.array([0.0, 0.8, 1.7, 2.5, 3.6, 4.4])
AT_A_KNOT = "of the piece that is evaluated there, which is the right one"


def values(rng, *shape):
    """Return values at the knots."""
    return rng.normal(size=(len(KNOTS), *shape))


def places(rng, *shape):
    """Return places that are away from the knots, inside and beside them."""
    return rng.choice([0.35, 1.2, 2.1, 3.05, 4.0], shape) + rng.uniform(-0.2, 0.2, shape)


@rrule(knots_chosen, wrt=(), domain=lambda rng: [call(KNOTS, 3)])
def knots_chosen_rule(x, k, t=None, bc_type=None):
    def knots_chosen_pullback(dt):
        return ()

    return knots_chosen(x, k, t, bc_type), knots_chosen_pullback


@rrule(knots_of_smoothing, wrt=(), domain=lambda rng: [call(KNOTS)])
def knots_of_smoothing_rule(x):
    def knots_of_smoothing_pullback(dt):
        return ()

    return knots_of_smoothing(x), knots_of_smoothing_pullback


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


@rrule(least_squares_coefficients, wrt=("y",), linear=(1,), domain=lambda rng: [
    call(KNOTS, values(rng), np.repeat([0.0, 2.0, 4.5], (4, 1, 4)), 3, None),
    call(KNOTS, values(rng, 2), np.repeat([0.0, 4.5], 3), 2, np.arange(1.0, 7.0)),
])
def least_squares_coefficients_rule(x, y, t, k, w):
    def least_squares_coefficients_pullback(dc):
        matrix = least_squares_coefficients(x, np.eye(len(x)), t, k, w)
        return like(np.tensordot(matrix.T, dc, 1), y)

    return least_squares_coefficients(x, y, t, k, w), least_squares_coefficients_pullback


@rrule(smoothing_coefficients, wrt=("y",), linear=(1,), domain=lambda rng: [
    call(KNOTS, values(rng), None, 0.7), call(KNOTS, values(rng), np.arange(1.0, 7.0), 2.0),
])
def smoothing_coefficients_rule(x, y, w, lam):
    if lam is None:
        raise NotImplementedError("make_smoothing_spline has a derivative where lam= is given")

    def smoothing_coefficients_pullback(dc):
        return like(smoothing_by_value(x, w, lam).T @ dc, y)

    return smoothing_coefficients(x, y, w, lam), smoothing_coefficients_pullback


@rrule(basis_of_splines, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(places(rng, 3), make_interp_spline(KNOTS, values(rng)).t, 3, 0, True),
    call(float(places(rng)), make_interp_spline(KNOTS, values(rng), 2).t, 2, 1, True),
    call(places(rng, 2), make_interp_spline(KNOTS, values(rng)).t, 3, -1, True),
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
        if nu == -1:
            y = self.area(x)
        elif nu == 0:
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

    @property
    def c(self) -> Any:
        """The coefficients of the pieces, that of the highest power first."""
        return np.stack((self.bends, self.halves, self.slopes, self.values))

    def derivative(self, nu: int = 1) -> Any:
        """Return the derivative of order ``nu``, as what can be called."""
        return Derivative(self, nu)

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from ``a`` to ``b``."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str) or not beyond:
            raise UncoveredError("integrate() of a spline has a derivative with extrapolate=True")
        return self.area(b) - self.area(a)

    def antiderivative(self, nu: int = 1) -> Any:
        """Return the integral from the first knot on, as what can be called."""
        if nu != 1 or isinstance(self.extrapolate, str) or not self.extrapolate:
            raise UncoveredError(
                "antiderivative() of a spline has a derivative for nu=1 and extrapolate=True"
            )
        return Derivative(self, -1)

    def area(self, x: Any) -> Any:
        """Return the integrals from the first knot to places."""
        ones = (1,) * (np.ndim(self.values) - 1)
        widths = np.reshape(np.diff(self.x), (-1, *ones))
        x = np.asarray(x)
        k = np.clip(np.searchsorted(self.x, x, "right") - 1, 0, len(self.x) - 2)
        before = np.cumsum(quartic(
            self.bends, self.halves, self.slopes, self.values, widths), axis=0)
        before = np.concatenate((np.zeros_like(before[:1]), before))
        z = np.reshape(x - self.x[k], (*np.shape(x), *ones))
        return before[k] + quartic(
            self.bends[k], self.halves[k], self.slopes[k], self.values[k], z)


def quartic(bends: Any, halves: Any, slopes: Any, values: Any, z: Any) -> Any:
    """Return the integrals of cubics from zero to ``z``."""
    return (((bends / 4.0 * z + halves / 3.0) * z + slopes / 2.0) * z + values) * z


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


class ByNeighbours(Cubics):
    """``Akima1DInterpolator``."""

    def __init__(
        self, x: Any, y: Any, axis: int = 0, method: str = "akima", extrapolate: Any = None
    ) -> None:
        x, y = checked(x, y, axis)
        if method != "akima" and method != "makima":
            raise NotImplementedError("`method` is unsupported.")
        Cubics.__init__(
            self, x, y, slopes_of_neighbours(x, y, method == "makima"),
            False if extrapolate is None else extrapolate)


def slopes_of_neighbours(x: Any, y: Any, modified: bool) -> Any:
    """Return the slopes of Akima, as SciPy computes them.

    H. Akima, *A new method of interpolation and smooth curve fitting based on local procedures*,
    Journal of the ACM 17, 1970.
    """
    m = np.diff(y, axis=0) / np.reshape(np.diff(x), (-1, *(1,) * (np.ndim(y) - 1)))
    if len(y) == 2:
        return np.concatenate((m, m))
    before, behind = 2.0 * m[:1] - m[1:2], 2.0 * m[-1:] - m[-2:-1]
    m = np.concatenate((2.0 * before - m[:1], before, m, behind, 2.0 * behind - m[-1:]))
    steps = np.abs(np.diff(m, axis=0))
    if modified:
        steps = steps + 0.5 * np.abs(m[1:] + m[:-1])
    left, right = steps[2:], steps[:-2]
    whole = left + right
    known = whole > 1e-9 * np.max(whole)
    part = right / np.where(known, whole, 1.0)
    return np.where(known, m[1:-2] + part * (m[2:-1] - m[1:-2]), 0.5 * (m[3:] + m[:-3]))


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

    def integrate(self, a: Any, b: Any, extrapolate: Any = None) -> Any:
        """Return the integral from ``a`` to ``b``."""
        beyond = self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            raise UncoveredError("integrate() of a periodic spline has no derivative")
        count = len(self.t) - self.k - 1
        ends = np.stack((np.asarray(a) * 1.0, np.asarray(b) * 1.0))
        if not beyond:
            ends = np.clip(ends, self.t[self.k], self.t[count])
        areas = np.tensordot(
            basis_of_splines(ends, self.t, self.k, -1, True), self.c[:count], 1)
        return areas[1] - areas[0]


def interpolating_spline(
    x: Any, y: Any, k: int = 3, t: Any = None, bc_type: Any = None, axis: int = 0,
    check_finite: bool = True,
) -> Any:
    """As ``make_interp_spline``, with conditions at the ends that are given by a word."""
    x, y = checked(x, y, axis)
    c = interpolating_coefficients(x, y, k, t, bc_type)
    return OfBasis(knots_chosen(x, k, t, bc_type), c, k)


def least_squares_spline(
    x: Any, y: Any, t: Any, k: int = 3, w: Any = None, axis: int = 0, check_finite: bool = True,
) -> Any:
    """As ``make_lsq_spline``."""
    x, y = checked(x, y, axis)
    return OfBasis(t, least_squares_coefficients(x, y, t, k, w), k)


def smoothing_spline(x: Any, y: Any, w: Any = None, lam: Any = None, axis: int = 0) -> Any:
    """As ``make_smoothing_spline``."""
    x, y = checked(x, y, axis)
    if np.ndim(y) != 1:
        raise UncoveredError("make_smoothing_spline has a derivative in one row of values")
    return OfBasis(knots_of_smoothing(x), smoothing_coefficients(x, y, w, lam), 3)


for _own, _cls in {
    ByCurvature: CubicSpline, BySlopes: CubicHermiteSpline, ByNeighbours: Akima1DInterpolator,
    Monotone: PchipInterpolator, OfBasis: BSpline,
}.items():
    facts(_cls, written_as=_own)
    STAND_FOR[_own] = _cls
facts(make_interp_spline, written_as=interpolating_spline)
facts(make_lsq_spline, written_as=least_squares_spline)
facts(make_smoothing_spline, written_as=smoothing_spline)

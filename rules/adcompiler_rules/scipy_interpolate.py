"""Rules for the evaluation of SciPy's splines and piecewise polynomials, which are constant.

The derivative with respect to the place is the spline's own next derivative. Those that are made in
a function are written in ``scipy/interpolate``.
"""

import inspect

import adcompiler_rules.scipy.interpolate.fitpack
import adcompiler_rules.scipy.interpolate.grids
import adcompiler_rules.scipy.interpolate.scattered  # noqa: F401
import numpy as np
import scipy.interpolate

from adcompiler.rulekit import call, non_differentiable, rrule
from adcompiler_rules.scipy.interpolate.interpolators import AT_A_KNOT, KNOTS, places, values
from adcompiler_rules.scipy.facts import state_facts
from adcompiler_rules.kernels.scipy_interpolate import (
    axes_but, grid_derivatives, line_slopes, mode_of_slope, univariate_values,
)
from adcompiler.runtime.adjoints.shaping import like

non_differentiable(axes_but)

def place_adjoint(slope, dy, ndim, axis):
    """Return the cotangent of places with ``ndim`` axes, which stand in the result at ``axis``."""
    product = np.conj(slope) * dy
    return np.sum(product, axes_but(np.ndim(product), axis, ndim))


# --- piecewise polynomials: CubicSpline, PchipInterpolator, Akima1DInterpolator, PPoly, BPoly -----


def samples(rng):
    """Return splines of several kinds with numbers and arrays of places."""
    cubic = scipy.interpolate.CubicSpline(KNOTS, values(rng))
    several = scipy.interpolate.CubicSpline(KNOTS, values(rng, 2))
    across = scipy.interpolate.CubicSpline(KNOTS, values(rng, 2).T, axis=1)
    return [
        call(cubic, places(rng, 4)),
        call(cubic, float(places(rng))),
        call(cubic, places(rng, 2, 2), 1),
        call(several, places(rng, 3)),
        call(across, places(rng, 3)),
        call(scipy.interpolate.PchipInterpolator(KNOTS, values(rng)), places(rng, 3)),
        call(scipy.interpolate.Akima1DInterpolator(KNOTS, values(rng)), places(rng, 3)),
        call(cubic, np.array([-0.5, 5.0])),
        call(scipy.interpolate.CubicSpline(KNOTS, values(rng) + 1j * values(rng)), places(rng, 3)),
    ]


@rrule(scipy.interpolate.PPoly.__call__, wrt=("x",), kink=AT_A_KNOT, domain=samples)
def piecewise_call(self, x, nu=0, extrapolate=None):
    y = scipy.interpolate.PPoly.__call__(self, x, nu, extrapolate)

    def piecewise_call_pullback(dy):
        slope = scipy.interpolate.PPoly.__call__(self, x, nu + 1, extrapolate)
        return like(np.real(place_adjoint(slope, dy, np.ndim(x), self.axis)), x)

    return y, piecewise_call_pullback


@rrule(scipy.interpolate.PPoly.integrate, wrt=("a", "b"), domain=lambda rng: [
    call(scipy.interpolate.CubicSpline(KNOTS, values(rng)), 0.5, 3.2),
    call(scipy.interpolate.PchipInterpolator(KNOTS, values(rng, 2)), 3.2, 0.5),
])
def piecewise_integrate(self, a, b, extrapolate=None):
    """The derivative in an end is the value there."""
    y = scipy.interpolate.PPoly.integrate(self, a, b, extrapolate)

    def piecewise_integrate_pullback(dy):
        lower = scipy.interpolate.PPoly.__call__(self, a, 0, extrapolate)
        upper = scipy.interpolate.PPoly.__call__(self, b, 0, extrapolate)
        da = -np.sum(np.real(np.conj(lower) * dy))
        return like(da, a), like(np.sum(np.real(np.conj(upper) * dy)), b)

    return y, piecewise_integrate_pullback


# --- B-splines ------------------------------------------------------------------------------------


@rrule(scipy.interpolate.BSpline.__call__, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(scipy.interpolate.make_interp_spline(KNOTS, values(rng)), places(rng, 4)),
    call(scipy.interpolate.make_interp_spline(KNOTS, values(rng, 2), k=2), places(rng, 3)),
    call(scipy.interpolate.make_interp_spline(KNOTS, values(rng, 2).T, k=1, axis=1),
         places(rng, 3)),
    call(scipy.interpolate.make_interp_spline(KNOTS, values(rng)), float(places(rng)), 1),
])
def spline_call(self, x, nu=0, extrapolate=None):
    y = scipy.interpolate.BSpline.__call__(self, x, nu, extrapolate)

    def spline_call_pullback(dy):
        slope = scipy.interpolate.BSpline.__call__(self, x, nu + 1, extrapolate)
        return like(np.real(place_adjoint(slope, dy, np.ndim(x), self.axis)), x)

    return y, spline_call_pullback


@rrule(scipy.interpolate.UnivariateSpline.__call__, wrt=("x",), kink=AT_A_KNOT,
       domain=lambda rng: [
    call(scipy.interpolate.UnivariateSpline(KNOTS, values(rng), s=0.0), places(rng, 4)),
    call(scipy.interpolate.InterpolatedUnivariateSpline(KNOTS, values(rng)), places(rng, 2), 1),
    call(scipy.interpolate.UnivariateSpline(KNOTS, values(rng), s=0.0, ext=3),
         np.array([-0.3, 1.2, 4.9])),
    call(scipy.interpolate.UnivariateSpline(KNOTS, values(rng), s=0.0), places(rng, 4), 3),
])
def univariate_call(self, x, nu=0, ext=None):
    y = scipy.interpolate.UnivariateSpline.__call__(self, x, nu, ext)

    def univariate_call_pullback(dy):
        slope = univariate_values(self, x, nu + 1, mode_of_slope(nu, ext, self))
        return like(dy * slope, x)

    return y, univariate_call_pullback


@rrule(univariate_values, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(scipy.interpolate.UnivariateSpline(KNOTS, values(rng), s=0.0), places(rng, 4), 1, 0),
])
def univariate_values_rule(spline, x, nu, ext):
    y = univariate_values(spline, x, nu, ext)

    def univariate_values_pullback(dy):
        slope = univariate_values(spline, x, nu + 1, mode_of_slope(nu, ext, spline))
        return like(dy * slope, x)

    return y, univariate_values_pullback


# --- linear interpolation -------------------------------------------------------------------------


BY_SPLINES = "nu" in inspect.signature(
    scipy.interpolate.RegularGridInterpolator.__call__).parameters  # SciPy 1.13
COVERED = ("linear", "nearest", *(("slinear", "cubic", "quintic") if BY_SPLINES else ()))
"""The methods of ``RegularGridInterpolator`` of which derivatives in places are known."""


def along_places(products, xi):
    """Return the real part of what meets the places: the first axes, and the last one."""
    first = np.ndim(xi) - 1
    return np.sum(np.real(products), axes_but(np.ndim(products) - 1, 0, first))


@rrule(scipy.interpolate.RegularGridInterpolator.__call__, wrt=("xi",), kink=AT_A_KNOT,
       domain=lambda rng: [
    call(scipy.interpolate.RegularGridInterpolator((KNOTS, KNOTS[:4]), values(rng, 4)),
         np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1)),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS,), values(rng, 2), bounds_error=False, fill_value=None), np.array([[-0.5], [1.1]])),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:3]), values(rng, 3), bounds_error=False, fill_value=0.5),
        np.array([[0.4, -0.3], [6.0, 1.0], [1.1, 1.0]])),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:4]), values(rng, 4), method="cubic" if BY_SPLINES else "linear"),
        np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1)),
    call(scipy.interpolate.RegularGridInterpolator((KNOTS, KNOTS[:4]), values(rng, 4)),
         np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1), "nearest"),
])
def grid_call(self, xi: np.ndarray, method=None, *, nu=None):
    """Linear between the ends of a cell along each axis, or a product of splines."""
    if nu is not None or not isinstance(xi, np.ndarray):
        raise NotImplementedError(
            "RegularGridInterpolator has a rule for an array of places, without nu="
        )
    if (self.method if method is None else method) not in COVERED:
        raise NotImplementedError(
            "RegularGridInterpolator has a rule for the methods " + ", ".join(COVERED)
        )
    y = scipy.interpolate.RegularGridInterpolator.__call__(self, xi, method)

    def grid_call_pullback(dy):
        slopes = grid_derivatives(self, xi, method, 1)
        return like(along_places(slopes * np.expand_dims(np.conj(dy), -1), xi), xi)

    return y, grid_call_pullback


@rrule(grid_derivatives, wrt=("xi",), kink=AT_A_KNOT, domain=lambda rng: [
    call(scipy.interpolate.RegularGridInterpolator((KNOTS, KNOTS[:4]), values(rng, 4)),
         np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1), "linear", 1),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:4]), values(rng, 4, 2), method="cubic" if BY_SPLINES else "linear"),
        np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1), None, 1),
])
def grid_derivatives_rule(interpolator, xi, method, order):
    def grid_derivatives_pullback(dy):
        slopes = grid_derivatives(interpolator, xi, method, order + 1)
        return like(along_places(slopes * np.expand_dims(np.conj(dy), -1), xi), xi)

    return grid_derivatives(interpolator, xi, method, order), grid_derivatives_pullback


@rrule(scipy.interpolate.interp1d.__call__, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(scipy.interpolate.interp1d(KNOTS, values(rng)), places(rng, 4)),
    call(scipy.interpolate.interp1d(KNOTS, values(rng, 2).T), places(rng, 3)),
    call(scipy.interpolate.interp1d(KNOTS, values(rng, 2), axis=0), places(rng, 2, 2)),
    call(scipy.interpolate.interp1d(KNOTS, values(rng), bounds_error=False, fill_value=1.0),
         np.array([-1.0, 0.3, 9.0])),
    call(scipy.interpolate.interp1d(KNOTS, values(rng), fill_value="extrapolate"),
         np.array([-1.0, 0.3, 9.0])),
])
def line_call(self, x):
    """Linear between the knots."""
    if self._kind != "linear":
        raise NotImplementedError("interp1d has a rule for kind='linear'")
    y = scipy.interpolate.interp1d.__call__(self, x)

    def line_call_pullback(dy):
        return like(place_adjoint(line_slopes(self, x), dy, np.ndim(x), self.axis), x)

    return y, line_call_pullback

state_facts("scipy.interpolate")

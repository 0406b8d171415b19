"""Rules for the evaluation of SciPy's splines and piecewise polynomials, which are constant.

The derivative with respect to the place is the spline's own next derivative. Those that are made in
a function are written in ``interpolators``.
"""

import numpy as np
import scipy.interpolate

from adcompiler.rulekit import Undecided, call, facts, non_differentiable, rrule
from adcompiler_rules import interpolators
from adcompiler_rules.interpolators import AT_A_KNOT, KNOTS, places, values
from adcompiler_rules.scipy_facts import state_facts
from adcompiler.runtime.scipy_interpolate import axes_but, grid_slopes, line_slopes
from adcompiler.runtime.shaping import like

__all__ = ["interpolators"]

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


@rrule(scipy.interpolate.splev, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(places(rng, 4), scipy.interpolate.splrep(KNOTS, values(rng))),
    call(places(rng, 4), scipy.interpolate.splrep(KNOTS, values(rng)), 1),
    call(places(rng, 2), scipy.interpolate.make_interp_spline(KNOTS, values(rng))),
])
def splev(x, tck, der=0, ext=0):
    # FITPACK reads as many knots as it is told: see the facts below.
    y = scipy.interpolate.splev(x, tck, der, ext)

    def splev_pullback(dy):
        return like(dy * scipy.interpolate.splev(x, tck, der + 1, ext), x)

    return y, splev_pullback


def values_of_splev(x, tck, der=0, ext=0):
    """Give an array as ``splev`` does for a spline of numbers, without a call of FITPACK."""
    if not isinstance(tck, tuple) or np.ndim(tck[1]) != 1:
        raise Undecided
    return np.zeros(np.shape(x))


facts(scipy.interpolate.splev, typed_as=values_of_splev, tried=False)


@rrule(scipy.interpolate.UnivariateSpline.__call__, wrt=("x",), kink=AT_A_KNOT,
       domain=lambda rng: [
    call(scipy.interpolate.UnivariateSpline(KNOTS, values(rng), s=0.0), places(rng, 4)),
    call(scipy.interpolate.InterpolatedUnivariateSpline(KNOTS, values(rng)), places(rng, 2), 1),
])
def univariate_call(self, x, nu=0, ext=None):
    y = scipy.interpolate.UnivariateSpline.__call__(self, x, nu, ext)

    def univariate_call_pullback(dy):
        return like(dy * scipy.interpolate.UnivariateSpline.__call__(self, x, nu + 1, ext), x)

    return y, univariate_call_pullback


# --- linear interpolation -------------------------------------------------------------------------


@rrule(scipy.interpolate.RegularGridInterpolator.__call__, wrt=("xi",), kink=AT_A_KNOT,
       domain=lambda rng: [
    call(scipy.interpolate.RegularGridInterpolator((KNOTS, KNOTS[:4]), values(rng, 4)),
         np.stack((places(rng, 3), 0.5 * places(rng, 3)), -1)),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS,), values(rng, 2), bounds_error=False, fill_value=None), np.array([[-0.5], [1.1]])),
    call(scipy.interpolate.RegularGridInterpolator(
        (KNOTS, KNOTS[:3]), values(rng, 3), bounds_error=False, fill_value=0.5),
        np.array([[0.4, -0.3], [6.0, 1.0], [1.1, 1.0]])),
])
def grid_call(self, xi, method=None, *, nu=None):
    """Linear between the ends of a cell along each axis."""
    if nu is not None or not isinstance(xi, np.ndarray):
        raise NotImplementedError(
            "RegularGridInterpolator has a rule for an array of places, without nu="
        )
    if method not in (None, "linear") or (method is None and self.method != "linear"):
        raise NotImplementedError("RegularGridInterpolator has a rule for method='linear'")
    y = scipy.interpolate.RegularGridInterpolator.__call__(self, xi, method)

    def grid_call_pullback(dy):
        return like(grid_slopes(self, xi, dy), xi)

    return y, grid_call_pullback


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

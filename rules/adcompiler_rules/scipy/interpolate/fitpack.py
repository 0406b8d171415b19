"""Splines of FITPACK whose values are differentiated, where they interpolate.

These are the splines of ``make_interp_spline`` for odd degrees. What is smoothed has derivatives in
the places alone: its knots are found by trial, and the smoothness to a tolerance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate

from adcompiler.rulekit import call, facts, non_differentiable, rrule
from adcompiler.rulekit.problems import UncoveredError
from adcompiler_rules.kernels.scipy_interpolate import (
    basis_of_splines, fitpack_basis, fitpack_values, interpolating_coefficients, knots_chosen,
    mode_of_slope, smoothed,
)
from adcompiler.runtime import stop_gradient
from adcompiler.runtime.adjoints.shaping import like
from adcompiler.runtime.substitutes import STAND_FOR
from adcompiler_rules.scipy.interpolate.interpolators import (
    AT_A_KNOT, KNOTS, Derivative, checked, places, values,
)


non_differentiable(mode_of_slope)


@rrule(fitpack_values, wrt=("x", "c"), kink=AT_A_KNOT, domain=lambda rng: [
    call(places(rng, 4), *interpolate.splrep(KNOTS, values(rng)), 0, 0),
    call(places(rng, 4), *interpolate.splrep(KNOTS, values(rng)), 1, 1),
    call(float(places(rng)), *interpolate.splrep(KNOTS, values(rng), k=1), 0, 0),
    call(places(rng, 2), *interpolate.splrep(KNOTS, values(rng)), 3, 0),
    call(np.array([-0.3, 1.2, 4.9]), *interpolate.splrep(KNOTS, values(rng)), 0, 3),
    call(np.array([-0.3, 1.2, 4.9]), *interpolate.splrep(KNOTS, values(rng)), 1, 3),
])
def fitpack_values_rule(x, t, c, k, nu, ext):
    def fitpack_values_pullback(dy):
        def c_cotangent():
            dc = np.tensordot(dy, fitpack_basis(x, t, k, nu, ext), np.ndim(dy))
            return like(np.concatenate((dc, np.zeros(np.size(c) - np.size(dc)))), c)

        slope = fitpack_values(x, t, c, k, nu + 1, mode_of_slope(nu, ext))
        return like(dy * slope, x), c_cotangent

    return fitpack_values(x, t, c, k, nu, ext), fitpack_values_pullback


@rrule(fitpack_basis, wrt=("x",), kink=AT_A_KNOT, domain=lambda rng: [
    call(places(rng, 4), interpolate.splrep(KNOTS, values(rng))[0], 3, 0, 0),
    call(float(places(rng)), interpolate.splrep(KNOTS, values(rng))[0], 3, 2, 1),
])
def fitpack_basis_rule(x, t, k, nu, ext):
    def fitpack_basis_pullback(dbasis):
        slopes = fitpack_basis(x, t, k, nu + 1, mode_of_slope(nu, ext))
        return like(np.sum(slopes * dbasis, -1), x)

    return fitpack_basis(x, t, k, nu, ext), fitpack_basis_pullback


@rrule(smoothed, wrt=(), domain=lambda rng: [
    call(KNOTS, values(rng), None, (None, None), 3, 0.5),
])
def smoothed_rule(x, y, w, ends, k, s):
    def smoothed_pullback(dtc):
        return ()

    return smoothed(x, y, w, ends, k, s), smoothed_pullback


def mode_of(ext: Any) -> int:
    """Return the number of a way to go on beyond the knots."""
    if ext == "extrapolate":
        return 0
    if ext == "zeros":
        return 1
    if ext == "raise":
        return 2
    if ext == "const":
        return 3
    return int(ext)


class Fitted:
    """A spline of FITPACK: coefficients ``c`` of the splines with knots ``t`` and degree ``k``."""

    def __init__(self, t: Any, c: Any, k: int, ext: Any) -> None:
        self.t = t
        self.c = c
        self.k = k
        self.ext = mode_of(ext)

    def __call__(self, x: Any, nu: int = 0, ext: Any = None) -> Any:
        return fitpack_values(
            np.asarray(x), self.t, self.c, self.k, nu, self.ext if ext is None else mode_of(ext))

    def derivative(self, n: int = 1) -> Any:
        """Return the derivative of order ``n``, as what can be called."""
        return Derivative(self, n)

    def antiderivative(self, n: int = 1) -> Any:
        """Return the integral from the first knot on, ``n`` times, as what can be called."""
        t, c, k = splantider((self.t, self.c, self.k), n)
        return Fitted(t, c, k, self.ext)

    def derivatives(self, x: Any) -> Any:
        """Return all derivatives at a number ``x``."""
        return np.stack([
            fitpack_values(np.asarray(x) * 1.0, self.t, self.c, self.k, nu, 0)
            for nu in range(self.k + 1)
        ])

    def integral(self, a: Any, b: Any) -> Any:
        """Return the integral from ``a`` to ``b``; the spline is zero beyond its knots."""
        return spline_integral(a, b, self.t, self.c, self.k)

    def get_coeffs(self) -> Any:
        """Return the coefficients."""
        return self.c[: len(self.t) - self.k - 1]

    def get_knots(self) -> Any:
        """Return the inner knots, and the ends."""
        return self.t[self.k : len(self.t) - self.k]


def spline_integral(a: Any, b: Any, t: Any, c: Any, k: int) -> Any:
    """Return the integral of a spline that is zero beyond its knots."""
    ends = np.clip(np.stack((np.asarray(a) * 1.0, np.asarray(b) * 1.0)), t[k], t[-k - 1])
    areas = basis_of_splines(ends, t, k, -1, True) @ c[: len(t) - k - 1]
    return areas[1] - areas[0]


def padded(c: Any, k: int) -> Any:
    """Return coefficients as FITPACK keeps them, with zeros behind them."""
    return np.concatenate((c, np.zeros(k + 1)))


class Smoothing(Fitted):
    """``UnivariateSpline``."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, s: Any = None,
        ext: Any = 0, check_finite: bool = False,
    ) -> None:
        plain = bbox[0] is None and bbox[1] is None and k % 2 == 1
        if plain and s is not None and s == 0:
            x, y = checked(x, y, 0)
            c = padded(interpolating_coefficients(x, y, k), k)
            Fitted.__init__(self, knots_chosen(x, k), c, k, ext)
        else:
            table = smoothed(x, y, w, bbox, k, s)
            knots = stop_gradient(table[0])  # the refusal of ``smoothed`` is enough
            Fitted.__init__(self, knots, table[1], k, ext)


class Interpolated(Smoothing):
    """``InterpolatedUnivariateSpline``."""

    def __init__(
        self, x: Any, y: Any, w: Any = None, bbox: Any = (None, None), k: int = 3, ext: Any = 0,
        check_finite: bool = False,
    ) -> None:
        Smoothing.__init__(self, x, y, w, bbox, k, 0, ext)


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
        self.kx, self.ky = kx, ky
        self.tx, self.ty = knots_chosen(x, kx), knots_chosen(y, ky)

    def along(self, x: Any, nu: int) -> Any:
        """Return the splines at ``x``, which is moved to the rectangle's border."""
        return clipped_basis(x, self.tx, self.kx, nu)

    def across(self, y: Any, nu: int) -> Any:
        """Return the splines at ``y``, which is moved to the rectangle's border."""
        return clipped_basis(y, self.ty, self.ky, nu)

    def __call__(self, x: Any, y: Any, dx: int = 0, dy: int = 0, grid: bool = True) -> Any:
        if grid:
            across = np.transpose(self.across(np.ravel(y), dy))
            return self.along(np.ravel(x), dx) @ self.c @ across
        return self.ev(x, y, dx, dy)

    def ev(self, xi: Any, yi: Any, dx: int = 0, dy: int = 0) -> Any:
        """Return the values at single places."""
        along = self.along(np.asarray(xi) * 1.0, dx)
        return np.sum((along @ self.c) * self.across(np.asarray(yi) * 1.0, dy), -1)

    def integral(self, xa: Any, xb: Any, ya: Any, yb: Any) -> Any:
        """Return the integral over a part of the rectangle."""
        along = self.along(np.stack((np.asarray(xa) * 1.0, np.asarray(xb) * 1.0)), -1)
        across = self.across(np.stack((np.asarray(ya) * 1.0, np.asarray(yb) * 1.0)), -1)
        return (along[1] - along[0]) @ self.c @ (across[1] - across[0])


def clipped_basis(x: Any, t: Any, k: int, nu: int) -> Any:
    """Return all splines at places that are moved to the ends of the knots."""
    return basis_of_splines(np.clip(x, t[0], t[-1]), t, k, nu, True)


# --- functions ------------------------------------------------------------------------------------


def tolerance(x: Any) -> Any:
    """Return the smoothing that ``splrep`` has where weights are given."""
    return len(x) - np.sqrt(2 * len(x))


def splrep(
    x: Any, y: Any, w: Any = None, xb: Any = None, xe: Any = None, k: int = 3, task: int = 0,
    s: Any = None, t: Any = None, full_output: Any = 0, per: Any = 0, quiet: Any = 1,
) -> Any:
    """``splrep`` without knots of the user's."""
    if task != 0 or t is not None or per or full_output:
        raise UncoveredError("splrep() is compiled without task=, t=, per= and full_output=")
    if s is None:
        spline = Smoothing(x, y, w, (xb, xe), k, 0 if w is None else tolerance(x))
    else:
        spline = Smoothing(x, y, w, (xb, xe), k, s)
    return spline.t, spline.c, spline.k


def parts_of_spline(tck: Any) -> Any:
    """Return knots, coefficients and degree of a tuple or a ``BSpline``."""
    if isinstance(tck, interpolate.BSpline):
        return tck.t, tck.c, tck.k
    return tck


def one_row(c: Any, k: int, der: int) -> None:
    """Raise for several rows of coefficients, and for derivatives that a spline has not."""
    if isinstance(c, list) or np.ndim(c) > 1:
        raise UncoveredError("splev() has a derivative for splines with one row of coefficients")
    if der < 0 or der > k:
        raise ValueError("0<=der=<=k must hold")


def splev(x: Any, tck: Any, der: int = 0, ext: int = 0) -> Any:
    """``splev``."""
    t, c, k = parts_of_spline(tck)
    one_row(c, k, der)
    return fitpack_values(np.asarray(x) * 1.0, t, c, k, der, ext)


def splint(a: Any, b: Any, tck: Any, full_output: Any = 0) -> Any:
    """``splint``."""
    if full_output:
        raise UncoveredError("splint() is compiled without full_output=")
    t, c, k = parts_of_spline(tck)
    return spline_integral(a, b, t, c, k)


def splder(tck: Any, n: int = 1) -> Any:
    """``splder``, for a tuple and up to two derivatives."""
    once = slopes_of(tck)
    if n == 1:
        return once
    if n == 2:
        return slopes_of(once)
    raise UncoveredError("splder() has a derivative for n=1 and n=2")


def slopes_of(tck: Any) -> Any:
    """Return the spline that is the derivative of one."""
    t, c, k = parts_of_spline(tck)
    c = np.diff(c[: len(t) - k - 1]) * k / (t[k + 1 : -1] - t[1 : -k - 1])
    return t[1:-1], padded(c, k - 1), k - 1


def splantider(tck: Any, n: int = 1) -> Any:
    """``splantider``, for a tuple and up to two integrals."""
    once = areas_of(tck)
    if n == 1:
        return once
    if n == 2:
        return areas_of(once)
    raise UncoveredError("splantider() has a derivative for n=1 and n=2")


def areas_of(tck: Any) -> Any:
    """Return the spline that is the integral of one from the first knot on."""
    t, c, k = parts_of_spline(tck)
    areas = np.cumsum(c[: len(t) - k - 1] * (t[k + 1 :] - t[: -k - 1])) / (k + 1)
    c = np.concatenate((np.zeros(1), areas, np.repeat(areas[-1:], k + 2)))
    return np.concatenate((t[:1], t, t[-1:])), c, k + 1


for _own, _cls in {
    Smoothing: interpolate.UnivariateSpline,
    Interpolated: interpolate.InterpolatedUnivariateSpline,
    OnRectangle: interpolate.RectBivariateSpline,
}.items():
    facts(_cls, written_as=_own)
    STAND_FOR[_own] = _cls
facts(interpolate.splrep, written_as=splrep)
facts(interpolate.splev, written_as=splev)
facts(interpolate.splint, written_as=splint)
facts(interpolate.splder, written_as=splder)
facts(interpolate.splantider, written_as=splantider)

"""Rules of error functions, exponential and logarithmic integrals and the like.

Formulas by their number in the NIST Digital Library of Mathematical Functions (DLMF). Constants:
2/sqrt(pi) = 1.1283..., sqrt(pi)/2 = 0.8862..., 1/sqrt(2 pi) = 0.3989..., 1/sqrt(2) = 0.7071...
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Domain, call, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import log, of_order

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 4.0)
UNIT = (0.02, 0.98)
WIDE = (-30.0, 60.0)
FAR = 25.0
DOUBLE_FACTORIALS = (135135.0, 10395.0, 945.0, 105.0, 15.0, 3.0, 1.0)

TWO_OVER_ROOT_PI = 1.1283791670955126
HALF_ROOT_PI = 0.886226925452758
ROOT_TWO_PI = 2.5066282746310002


def asymptotic(t: Any) -> Any:
    """Return ``t + 3 t**2 + 15 t**3 + ...`` for small ``t``, of DLMF 7.12.1."""
    total = 0.0 * t
    for factor in DOUBLE_FACTORIALS:
        total = t * (factor + total)
    return total


# --- error functions ------------------------------------------------------------------------------
# Far out the two terms of a slope cancel; their difference has an asymptotic series of its own.


def erfcx_slope(x: Any, y: Any) -> Any:
    """Return ``2 x y - 2 / sqrt(pi)``, DLMF 7.2.7 differentiated."""
    far = np.real(x) > FAR
    z = np.where(far, x, FAR)
    near = 2.0 * np.where(far, 0.0, x) * y - TWO_OVER_ROOT_PI
    return np.where(far, TWO_OVER_ROOT_PI * asymptotic(-0.5 / (z * z)), near)


def dawsn_slope(x: Any, y: Any) -> Any:
    """Return ``1 - 2 x y``, DLMF 7.2.5 differentiated."""
    far = np.abs(np.real(x)) > FAR
    z = np.where(far, x, FAR)
    return np.where(far, -asymptotic(0.5 / (z * z)), 1.0 - 2.0 * np.where(far, 0.0, x) * y)


def wofz_slope(z: Any, y: Any) -> Any:
    """Return ``-2 z y + 2i / sqrt(pi)``, DLMF 7.10.2."""
    far = (np.abs(z) > FAR) & (np.imag(z) >= 0.0)
    w = np.where(far, z, FAR)
    near = -2.0 * np.where(far, 0.0, z) * y + 1j * TWO_OVER_ROOT_PI
    return np.where(far, -1j * TWO_OVER_ROOT_PI * asymptotic(0.5 / (w * w)), near)


def normal_slope(x: Any) -> Any:
    """Return the density of the standard normal distribution."""
    return 0.3989422804014327 * np.exp(-0.5 * x * x)


scalar_rule(sc.erf,    lambda x: TWO_OVER_ROOT_PI * np.exp(-x * x),           domain=ANY)
scalar_rule(sc.erfc,   lambda x: -TWO_OVER_ROOT_PI * np.exp(-x * x),          domain=ANY)
scalar_rule(sc.erfi,   lambda x: TWO_OVER_ROOT_PI * np.exp(x * x),            domain=ANY)
scalar_rule(sc.erfcx,  lambda x, y: erfcx_slope(x, y),                        domain=Domain(
    (ANY,), lambda rng: [call(np.array([5.0, 24.0, 26.0, 300.0])), call(np.array([27.0 + 3.0j]))]))
scalar_rule(sc.dawsn,  lambda x, y: dawsn_slope(x, y),                        domain=Domain(
    (ANY,), lambda rng: [call(np.array([-26.0, 24.0, 300.0])), call(np.array([27.0 + 3.0j]))]))
scalar_rule(sc.wofz,   lambda z, y: wofz_slope(z, y),                         domain=Domain(
    (ANY,), lambda rng: [call(np.array([27.0 + 3.0j, -3.0 + 40.0j, 0.5 - 1.0j]))]))
scalar_rule(sc.erfinv,  lambda x, y: HALF_ROOT_PI * np.exp(y * y),            domain=(-0.95, 0.95))
scalar_rule(sc.erfcinv, lambda x, y: -HALF_ROOT_PI * np.exp(y * y),           domain=(0.05, 1.95))
scalar_rule(sc.ndtr,    lambda x: normal_slope(x),                            domain=ANY)
scalar_rule(sc.log_ndtr,
            lambda x: 0.7978845608028654 / sc.erfcx(-0.7071067811865476 * x),
            domain=Domain((ANY,), lambda rng: [call(np.array([-50.0, -3.0, 6.0]))]))
scalar_rule(sc.ndtri,   lambda p, y: ROOT_TWO_PI * np.exp(0.5 * y * y),       domain=UNIT)
scalar_rule(sc.ndtri_exp,
            lambda p, y: 1.2533141373155003 * sc.erfcx(-0.7071067811865476 * y),
            domain=(-9.0, -0.05))

# Owen, Tables for computing bivariate normal probabilities, Ann. Math. Statist. 27 (1956).
scalar_rule(sc.owens_t,
            lambda h, a: -0.5 * normal_slope(h) * sc.erf(0.7071067811865476 * a * h),
            lambda h, a: np.exp(-0.5 * h * h * (1.0 + a * a)) / (6.283185307179586 * (1.0 + a * a)),
            domain=(ANY, ANY))


def voigt_point(x: Any, sigma: Any, gamma: Any) -> Any:
    """Return the ``z`` at which the Voigt profile is the real part of ``wofz(z)``, scaled."""
    return (x + 1j * gamma) / (1.4142135623730951 * sigma)


def voigt_slope(x: Any, sigma: Any, gamma: Any) -> Any:
    """Return the complex derivative of the Voigt profile in ``x``, DLMF 7.19.1."""
    z = voigt_point(x, sigma, gamma)
    return 0.28209479177387814 * wofz_slope(z, sc.wofz(z)) / (sigma * sigma)


scalar_rule(sc.voigt_profile,
            lambda x, s, g: np.real(voigt_slope(x, s, g)),
            lambda x, s, g, y: -(y + np.real(voigt_slope(x, s, g) * (x + 1j * g))) / s,
            lambda x, s, g: -np.imag(voigt_slope(x, s, g)),
            domain=(ANY, (0.3, 2.0), (0.1, 2.0)), kink="nan where sigma is 0")

points = [0.7, np.float64(-1.3), np.array([2.6, -1.3]), np.array([[0.7], [1.9]]), np.empty((0, 2))]
upper_points = [0.7, np.float64(1.3), np.array([1.6, 0.3]), np.array([[0.7], [1.9]])]
complex_points = [0.7 - 0.2j, np.array([2.6 + 0.3j, -1.3 - 0.4j])]


@rrule(sc.fresnel, domain=lambda rng: [call(x) for x in (*points, *complex_points)])
def fresnel_rule(z):
    """Differentiate the integrals of DLMF 7.2.7 and 7.2.8."""
    y = sc.fresnel(z)

    def fresnel_pullback(dy):
        angle = np.conj(1.5707963267948966 * z * z)
        return project(np.sin(angle) * dy[0] + np.cos(angle) * dy[1], z)

    return y, fresnel_pullback


@rrule(sc.modfresnelp, domain=lambda rng: [call(x) for x in upper_points])
def modfresnelp_rule(x):
    """Differentiate ``F``, the integral of ``exp(i t**2)`` from ``x``, and ``F`` times its phase.

    The second value is ``F * exp(-i (x**2 + pi/4)) / sqrt(pi)``. For negative ``x`` the derivative
    is that of the integral, of which SciPy 1.17 gives a wrong imaginary part there.
    """
    y = sc.modfresnelp(x)

    def modfresnelp_pullback(dy):
        slope = -2.0j * x * y[1] - (0.3989422804014327 - 0.3989422804014327j)
        return project(np.conj(slope) * dy[1] - np.exp(-1j * x * x) * dy[0], x)

    return y, modfresnelp_pullback


@rrule(sc.modfresnelm, domain=lambda rng: [call(x) for x in upper_points])
def modfresnelm_rule(x):
    """Differentiate the complex conjugates of the functions of ``modfresnelp``."""
    y = sc.modfresnelm(x)

    def modfresnelm_pullback(dy):
        slope = 2.0j * x * y[1] - (0.3989422804014327 + 0.3989422804014327j)
        return project(np.conj(slope) * dy[1] - np.exp(1j * x * x) * dy[0], x)

    return y, modfresnelm_pullback


# --- exponential, sine and cosine integrals -------------------------------------------------------


def expn_slope(n: Any, x: Any) -> Any:
    """Return the derivative of the exponential integral in ``x``, DLMF 8.19.13."""
    first = n == 0
    e_minus_1 = np.exp(-x) * (1.0 + 1.0 / x) / x
    return -np.where(first, e_minus_1, sc.expn(n - 1 + first, x))


scalar_rule(sc.expi,   lambda x: np.exp(x) / x,                                domain=POSITIVE)
scalar_rule(sc.exp1,   lambda x: -np.exp(-x) / x,                              domain=POSITIVE)
scalar_rule(sc.expn,   None, lambda n, x: expn_slope(n, x),                    domain=of_order(
    (0, 1, 3), POSITIVE))


def spence_slope(x: Any) -> Any:
    """Return ``log(x) / (1 - x)``, near 1 by its power series, which has derivatives there."""
    h = x - 1.0
    near = np.abs(h) < 0.01
    t = np.where(near, h, 0.0)
    series: Any = 0.0
    for n in range(10, 0, -1):
        series = -1.0 / n - t * series
    return np.where(near, series, log(x) / (near - h))


scalar_rule(sc.spence,  # the dilogarithm of 1 - x, DLMF 25.12.2
            lambda x: spence_slope(x),
            domain=Domain((POSITIVE,), lambda rng: [call(np.array([1.0, 1.0 + 1e-9]))]))


def at_pole(factor: Any, z: Any) -> Any:
    """Return ``factor / z``, and 0 where ``z`` is 0."""
    return factor * (z != 0.0) / (z + (z == 0.0))


@rrule(sc.sici, domain=lambda rng: [call(x) for x in (*upper_points, *complex_points)],
       kink="0 of the second integral at 0, where it is -inf")
def sici_rule(x):
    """Differentiate the integrals of DLMF 6.2.9 and 6.2.11."""
    y = sc.sici(x)

    def sici_pullback(dy):
        z = np.conj(x)
        sinc = (np.sin(z) + (z == 0.0)) / (z + (z == 0.0))
        return project(sinc * dy[0] + at_pole(np.cos(z), z) * dy[1], x)

    return y, sici_pullback


@rrule(sc.shichi, domain=lambda rng: [call(x) for x in (*upper_points, *complex_points)],
       kink="0 of the second integral at 0, where it is -inf")
def shichi_rule(x):
    """Differentiate the integrals of DLMF 6.2.15 and 6.2.16."""
    y = sc.shichi(x)

    def shichi_pullback(dy):
        z = np.conj(x)
        sinhc = (np.sinh(z) + (z == 0.0)) / (z + (z == 0.0))
        return project(sinhc * dy[0] + at_pole(np.cosh(z), z) * dy[1], x)

    return y, shichi_pullback


# --- Lambert W, Wright omega ----------------------------------------------------------------------


@rrule(sc.lambertw, wrt=("z",), domain=lambda rng: [
    call(0.7), call(np.array([0.0, 2.5, -0.2])), call(np.array([0.3 + 0.5j, 2.0 - 1.0j])),
    call(np.array([-0.2, -0.05]), -1), call(1.5 + 0.2j, 2), call(np.float64(0.3)),
], kink="infinite at the branch point -1/e")
def lambertw_rule(z, k=0, tol=1e-8):
    """Differentiate the inverse of ``w * exp(w)``, DLMF 4.13.4."""
    w = sc.lambertw(z, k, tol)

    def lambertw_pullback(dw):
        return project(np.conj(np.exp(-w) / (1.0 + w)) * dw, z)

    return w, lambertw_pullback


# The inverse of w + log(w): Corless and Jeffrey, The Wright omega function, 2002.
scalar_rule(sc.wrightomega, lambda z, y: y / (1.0 + y),                        domain=ANY)

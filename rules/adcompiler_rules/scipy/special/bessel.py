"""Rules of Bessel functions and their kin, by argument; there is no rule for derivatives by order.

Formulas by their number in the NIST Digital Library of Mathematical Functions (DLMF). The
exponentially scaled functions of complex arguments are not holomorphic where the scale is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import call, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import of_order

ANY = (-2.0, 2.0)
ORDER = (0.3, 3.0)
POSITIVE = (0.3, 6.0)
SIGNED = (-4.0, 4.0)

# --- Bessel functions of any order, DLMF 10.6.1 and 10.29.1 ---------------------------------------

scalar_rule(sc.jv, None, lambda v, z: 0.5 * (sc.jv(v - 1, z) - sc.jv(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.yv, None, lambda v, z: 0.5 * (sc.yv(v - 1, z) - sc.yv(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.iv, None, lambda v, z: 0.5 * (sc.iv(v - 1, z) + sc.iv(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.kv, None, lambda v, z: -0.5 * (sc.kv(v - 1, z) + sc.kv(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.kve, None, lambda v, z, y: y - 0.5 * (sc.kve(v - 1, z) + sc.kve(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.kn, None, lambda n, x: -0.5 * (sc.kn(np.abs(n - 1), x) + sc.kn(n + 1, x)),
            domain=of_order((0, 1, 3), POSITIVE))
scalar_rule(sc.yn, None, lambda n, x: 0.5 * (sc.yn(n - 1, x) - sc.yn(n + 1, x)),
            domain=of_order((0, 1, 3), POSITIVE))
scalar_rule(sc.hankel1, None, lambda v, z: 0.5 * (sc.hankel1(v - 1, z) - sc.hankel1(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.hankel2, None, lambda v, z: 0.5 * (sc.hankel2(v - 1, z) - sc.hankel2(v + 1, z)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.hankel1e, None,
            lambda v, z, y: 0.5 * (sc.hankel1e(v - 1, z) - sc.hankel1e(v + 1, z)) - 1j * y,
            domain=(ORDER, POSITIVE))
scalar_rule(sc.hankel2e, None,
            lambda v, z, y: 0.5 * (sc.hankel2e(v - 1, z) - sc.hankel2e(v + 1, z)) + 1j * y,
            domain=(ORDER, POSITIVE))


def scaled_samples(rng: np.random.Generator) -> list[Any]:
    """Return samples of functions of an order and a real or complex argument."""
    z = rng.uniform(0.3, 4.0, (2, 3))
    return [
        call(1.5, 0.7), call(2, -0.7), call(1.5, z), call(np.array([0.5, 1.0, 2.5]), z),
        call(1.5, z[0] + 1j), call(np.array([0.5, 1.0, 2.5]), z - 0.5j), call(1.5, 0.4 - 0.8j),
        call(np.float64(0.5), np.float64(2.5)), call(1, np.empty(0)),
    ]


def away_from_axis(z: Any, y: Any, dy: Any) -> Any:
    """Return what ``exp(-abs(imag(z)))`` adds to the cotangent of a complex ``z``."""
    return -1j * np.sign(np.imag(z)) * np.real(np.conj(y) * dy)


@rrule(sc.jve, wrt=("z",), domain=scaled_samples, kink="the scale has slope 0 on the real axis")
def jve_rule(v, z):
    """Differentiate ``jv(v, z) * exp(-abs(imag(z)))``."""
    y = sc.jve(v, z)

    def jve_pullback(dy):
        scale = np.exp(-np.abs(np.imag(z)))
        slope = 0.5 * scale * (sc.jv(v - 1, z) - sc.jv(v + 1, z))
        return project(np.conj(slope) * dy + away_from_axis(z, y, dy), z)

    return y, jve_pullback


@rrule(sc.yve, wrt=("z",), domain=lambda rng: [
    c for c in scaled_samples(rng) if np.min(np.real(c.args[1]), initial=1.0) > 0.0
], kink="the scale has slope 0 on the real axis")
def yve_rule(v, z):
    """Differentiate ``yv(v, z) * exp(-abs(imag(z)))``."""
    y = sc.yve(v, z)

    def yve_pullback(dy):
        scale = np.exp(-np.abs(np.imag(z)))
        slope = 0.5 * scale * (sc.yv(v - 1, z) - sc.yv(v + 1, z))
        return project(np.conj(slope) * dy + away_from_axis(z, y, dy), z)

    return y, yve_pullback


@rrule(sc.ive, wrt=("z",), domain=scaled_samples,
       kink="the scale has slope 0 on the imaginary axis")
def ive_rule(v, z):
    """Differentiate ``iv(v, z) * exp(-abs(real(z)))``."""
    y = sc.ive(v, z)

    def ive_pullback(dy):
        slope = 0.5 * (sc.ive(v - 1, z) + sc.ive(v + 1, z))
        of_scale = np.sign(np.real(z)) * np.real(np.conj(y) * dy)
        return project(np.conj(slope) * dy - of_scale, z)

    return y, ive_pullback


# --- of orders 0 and 1, DLMF 10.6.2, 10.6.3, 10.29.2, 10.29.3 -------------------------------------

scalar_rule(sc.j0,  lambda x: -sc.j1(x),                                         domain=SIGNED)
scalar_rule(sc.j1,  lambda x: 0.5 * (sc.j0(x) - sc.jv(2, x)),                    domain=SIGNED)
scalar_rule(sc.y0,  lambda x: -sc.y1(x),                                         domain=POSITIVE)
scalar_rule(sc.y1,  lambda x: 0.5 * (sc.y0(x) - sc.yv(2, x)),                    domain=POSITIVE)
scalar_rule(sc.i0,  lambda x: sc.i1(x),                                          domain=SIGNED)
scalar_rule(sc.i1,  lambda x: 0.5 * (sc.i0(x) + sc.iv(2, x)),                    domain=SIGNED)
scalar_rule(sc.k0,  lambda x: -sc.k1(x),                                         domain=POSITIVE)
scalar_rule(sc.k1,  lambda x: -0.5 * (sc.k0(x) + sc.kv(2, x)),                   domain=POSITIVE)
scalar_rule(sc.i0e, lambda x, y: sc.i1e(x) - np.sign(x) * y,                     domain=POSITIVE,
            kink="i0e'(0) = 0")
scalar_rule(sc.i1e, lambda x, y: 0.5 * (sc.i0e(x) + sc.ive(2, x)) - np.sign(x) * y,
            domain=POSITIVE)
scalar_rule(sc.k0e, lambda x, y: y - sc.k1e(x),                                  domain=POSITIVE)
scalar_rule(sc.k1e, lambda x, y: y - 0.5 * (sc.k0e(x) + sc.kve(2, x)),           domain=POSITIVE)

# --- derivatives ----------------------------------------------------------------------------------


def derivative_samples(rng: np.random.Generator) -> list[Any]:
    """Return samples of derivatives of Bessel functions."""
    z = rng.uniform(0.3, 4.0, (2, 3))
    return [
        call(1.5, 0.7), call(2, z, 2), call(np.array([0.5, 1.0, 2.5]), z), call(1.5, z + 0.5j),
        call(1.5, z, n=0), call(np.float64(1.5), np.float64(2.5), n=3),
    ]


def differentiated(function: Any) -> None:
    """Register the rule of the n-th derivative of a Bessel function: the next one."""

    @rrule(function, wrt=("z",), domain=derivative_samples)
    def rule(v, z, n=1):
        y = function(v, z, n)

        def derivative_pullback(dy):
            slope = function(v, z, n + 1)
            return project(np.conj(slope) * dy, z)

        return y, derivative_pullback


for _derivative in (sc.jvp, sc.yvp, sc.ivp, sc.kvp, sc.h1vp, sc.h2vp):
    differentiated(_derivative)


# --- spherical Bessel functions, DLMF 10.51.2 and 10.51.5 -----------------------------------------


def spherical_samples(rng: np.random.Generator) -> list[Any]:
    """Return samples of spherical Bessel functions and their derivatives."""
    z = rng.uniform(0.3, 4.0, (2, 3))
    return [
        call(0, 0.7), call(2, z), call(np.array([0, 1, 3]), z), call(1, z + 0.5j), call(0, z, True),
        call(np.array([0, 1, 3]), z, derivative=True), call(3, np.float64(1.5)),
    ]


def spherical(function: Any, below: float, above: float) -> None:
    """Register the rule of a spherical Bessel function and its derivative.

    The derivative at order n is ``n / (2 n + 1)`` times ``below`` times the function at n - 1, and
    ``(n + 1) / (2 n + 1)`` times ``above`` times the one at n + 1.
    """

    @rrule(function, wrt=("z",), domain=spherical_samples)
    def rule(n, z, derivative=False):
        y = function(n, z, derivative)

        def spherical_pullback(dy):
            if derivative:
                before, after = function(n - 1 + (n == 0), z, True), function(n + 1, z, True)
                slope = (below * n * before + above * (n + 1) * after) / (2 * n + 1)
            else:
                slope = function(n, z, True)
            return project(np.conj(slope) * dy, z)

        return y, spherical_pullback


spherical(sc.spherical_jn, 1.0, -1.0)
spherical(sc.spherical_yn, 1.0, -1.0)
spherical(sc.spherical_in, 1.0, 1.0)
spherical(sc.spherical_kn, -1.0, -1.0)

# --- Kelvin functions: ber(x) + i bei(x) = i0(r x), r = exp(i pi / 4); DLMF 10.61.1 and 3 ------

ROOT = complex(np.sqrt(0.5), np.sqrt(0.5))


def bend(x: Any) -> Any:
    """Return the second derivative of ``ber(x) + 1j * bei(x)``."""
    z = ROOT * x
    return 0.5j * (sc.iv(0, z) + sc.iv(2, z))


scalar_rule(sc.ber,  lambda x: sc.berp(x),                                       domain=POSITIVE)
scalar_rule(sc.bei,  lambda x: sc.beip(x),                                       domain=POSITIVE)
scalar_rule(sc.ker,  lambda x: sc.kerp(x),                                       domain=POSITIVE)
scalar_rule(sc.kei,  lambda x: sc.keip(x),                                       domain=POSITIVE)
scalar_rule(sc.berp, lambda x: np.real(bend(x)),                                 domain=POSITIVE)
scalar_rule(sc.beip, lambda x: np.imag(bend(x)),                                 domain=POSITIVE)
scalar_rule(sc.kerp, lambda x, y: -sc.kei(x) - y / x,                            domain=POSITIVE)
scalar_rule(sc.keip, lambda x, y: sc.ker(x) - y / x,                             domain=POSITIVE)

points = [0.7, np.float64(1.3), np.array([2.6, 1.3]), np.array([[0.7], [1.9]]), np.empty((0, 2))]


@rrule(sc.kelvin, domain=lambda rng: [call(x) for x in points])
def kelvin_rule(x):
    y = sc.kelvin(x)

    def kelvin_pullback(dy):
        second = 1j * y[1] - y[3] / x
        dx = (np.conj(y[2]) * dy[0] + np.conj(y[3]) * dy[1] + np.conj(bend(x)) * dy[2]
              + np.conj(second) * dy[3])
        return project(dx, x)

    return y, kelvin_pullback


# --- Struve functions, DLMF 11.4.27 and 11.4.29 ---------------------------------------------------


def struve_rest(v: Any, x: Any) -> Any:
    """Return ``(x / 2)**v / (sqrt(pi) * gamma(v + 3/2))``."""
    return 0.5641895835477563 * np.power(0.5 * x, v) * sc.rgamma(v + 1.5)


scalar_rule(sc.struve, None,
            lambda v, x: 0.5 * (sc.struve(v - 1, x) - sc.struve(v + 1, x) + struve_rest(v, x)),
            domain=(ORDER, POSITIVE))
scalar_rule(sc.modstruve, None,
            lambda v, x: 0.5 * (
                sc.modstruve(v - 1, x) + sc.modstruve(v + 1, x) + struve_rest(v, x)),
            domain=(ORDER, POSITIVE))

# --- integrals of Bessel and Struve functions -----------------------------------------------------

scalar_rule(sc.itstruve0,    lambda x: sc.struve(0, x),                          domain=POSITIVE)
scalar_rule(sc.it2struve0,   lambda x: np.where(  # struve(0, x) is 2 x / pi near 0
                np.equal(x, 0.0), -2.0 / np.pi,
                -sc.struve(0, x) / np.where(np.equal(x, 0.0), 1.0, x)),          domain=POSITIVE)
scalar_rule(sc.itmodstruve0, lambda x: sc.modstruve(0, x),                       domain=POSITIVE)
scalar_rule(sc.besselpoly,  # the integral of x**lmb * jv(nu, 2 a x) over [0, 1], differentiated
            lambda a, lmb, nu: (
                sc.besselpoly(a, lmb + 1.0, nu - 1.0) - sc.besselpoly(a, lmb + 1.0, nu + 1.0)),
            None, None, domain=((0.3, 2.0), (0.2, 2.0), (1.2, 3.0)))


@rrule(sc.itj0y0, domain=lambda rng: [call(x) for x in points])
def itj0y0_rule(x):
    def itj0y0_pullback(dy):
        return project(sc.j0(x) * dy[0] + sc.y0(x) * dy[1], x)

    return sc.itj0y0(x), itj0y0_pullback


@rrule(sc.iti0k0, domain=lambda rng: [call(x) for x in points])
def iti0k0_rule(x):
    def iti0k0_pullback(dy):
        return project(sc.i0(x) * dy[0] + sc.k0(x) * dy[1], x)

    return sc.iti0k0(x), iti0k0_pullback


def less_one(x: Any, y: Any, sign: float) -> Any:
    """Return ``(y - 1) / x`` for ``y`` either i0(x) or j0(x), of sign 1.0 or -1.0: DLMF 10.25.2."""
    small = np.abs(x) < 1.0
    q = np.where(small, 0.25 * sign * x * x, 0.0)
    series = 1.0 + q / 4.0 * (1.0 + q / 9.0 * (1.0 + q / 16.0 * (1.0 + q / 25.0 * (
        1.0 + q / 36.0 * (1.0 + q / 49.0 * (1.0 + q / 64.0 * (1.0 + q / 81.0)))))))
    return np.where(small, 0.25 * sign * x * series, (y - 1.0) / (x + small))


@rrule(sc.it2j0y0, domain=lambda rng: [call(x) for x in points])
def it2j0y0_rule(x):
    """Differentiate the integrals of ``(1 - j0(t)) / t`` to ``x`` and of ``y0(t) / t`` from it."""
    def it2j0y0_pullback(dy):
        return project(-less_one(x, sc.j0(x), -1.0) * dy[0] - sc.y0(x) / x * dy[1], x)

    return sc.it2j0y0(x), it2j0y0_pullback


@rrule(sc.it2i0k0, domain=lambda rng: [call(x) for x in points])
def it2i0k0_rule(x):
    """Differentiate the integrals of ``(i0(t) - 1) / t`` to ``x`` and of ``k0(t) / t`` from it."""
    def it2i0k0_pullback(dy):
        return project(less_one(x, sc.i0(x), 1.0) * dy[0] - sc.k0(x) / x * dy[1], x)

    return sc.it2i0k0(x), it2i0k0_pullback


# --- Airy functions: solutions of w'' = z w, DLMF 9.2.1 -------------------------------------------


def airy_samples(rng: np.random.Generator) -> list[Any]:
    """Return real and complex samples."""
    return [call(x) for x in (*points, 0.7 - 0.4j, rng.uniform(0.3, 2.0, (2, 3)) + 0.5j)]


@rrule(sc.airy, domain=lambda rng: [*airy_samples(rng), call(np.array([-1.3, 0.0, 2.5]))])
def airy_rule(z):
    y = sc.airy(z)

    def airy_pullback(dy):
        dz = (np.conj(y[1]) * dy[0] + np.conj(z * y[0]) * dy[1] + np.conj(y[3]) * dy[2]
              + np.conj(z * y[2]) * dy[3])
        return project(dz, z)

    return y, airy_pullback


@rrule(sc.airye, domain=airy_samples)
def airye_rule(z):
    """Differentiate Ai times ``exp(s)`` and Bi times ``exp(-abs(real(s)))``, ``s' = sqrt(z)``."""
    y = sc.airye(z)

    def airye_pullback(dy):
        root = np.sqrt(z if np.iscomplexobj(z) else np.maximum(z, 0.0))
        first, second = y[1] + root * y[0], z * y[0] + root * y[1]
        holomorphic = (np.conj(first) * dy[0] + np.conj(second) * dy[1] + np.conj(y[3]) * dy[2]
                       + np.conj(z * y[2]) * dy[3])
        of_scale = np.real(np.conj(y[2]) * dy[2] + np.conj(y[3]) * dy[3])
        side = np.sign(np.real(z * root))
        return project(holomorphic - np.conj(root) * side * of_scale, z)

    return y, airye_pullback


@rrule(sc.itairy, domain=lambda rng: [call(x) for x in (0.7, np.array([1.3, 0.4]))])
def itairy_rule(x):
    """Differentiate the integrals of Ai(t), Bi(t), Ai(-t) and Bi(-t) from 0 to ``x``."""
    def itairy_pullback(dy):
        ahead, behind = sc.airy(x), sc.airy(-x)
        return project(
            ahead[0] * dy[0] + ahead[2] * dy[1] + behind[0] * dy[2] + behind[2] * dy[3], x)

    return sc.itairy(x), itairy_pullback

"""Rules of orthogonal polynomials, and of parabolic cylinder and Mathieu functions.

They are differentiated by their argument: there is no rule for derivatives by degree, order or
parameter. Formulas by their number in the NIST Digital Library of Mathematical Functions (DLMF).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import call, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import of_order

INSIDE = (-0.9, 0.9)
UNIT = (0.05, 0.95)
SHIFTED = (-1.8, 1.8)
ANY = (-2.0, 2.0)
POSITIVE = (0.3, 3.0)
RADIANS = 0.017453292519943295
DEGREES = (0, 1, 4)

# --- orthogonal polynomials, DLMF 18.9.15-28 ------------------------------------------------------


def jacobi_slope(n: Any, a: Any, b: Any, x: Any) -> Any:
    """Return ``(n + a + b + 1) / 2`` times the Jacobi polynomial (n - 1, a + 1, b + 1)."""
    first = n == 0
    slope = 0.5 * (n + a + b + 1.0) * sc.eval_jacobi(n - 1 + first, a + 1.0, b + 1.0, x)
    return slope * (n != 0)


def below(n: Any) -> Any:
    """Return ``n - 1``, and 0 for 0."""
    return n - 1 + (n == 0)


scalar_rule(sc.eval_jacobi, None, None, None, lambda n, a, b, x: jacobi_slope(n, a, b, x),
            domain=of_order(DEGREES, POSITIVE, POSITIVE, INSIDE, complex_=True))
scalar_rule(sc.eval_sh_jacobi, None, None, None,
            lambda n, p, q, x: (
                2.0 * jacobi_slope(n, p - q, q - 1.0, 2.0 * x - 1.0) / sc.binom(2 * n + p - 1, n)),
            domain=of_order(DEGREES, (2.0, 4.0), (0.5, 1.8), UNIT, complex_=True))
scalar_rule(sc.eval_legendre, None, lambda n, x: jacobi_slope(n, 0.0, 0.0, x),
            domain=of_order(DEGREES, INSIDE, complex_=True))
scalar_rule(sc.eval_sh_legendre, None, lambda n, x: 2.0 * jacobi_slope(n, 0.0, 0.0, 2.0 * x - 1.0),
            domain=of_order(DEGREES, UNIT, complex_=True))
scalar_rule(sc.eval_gegenbauer, None, None,
            lambda n, a, x: 2.0 * a * (n != 0) * sc.eval_gegenbauer(below(n), a + 1.0, x),
            domain=of_order(DEGREES, POSITIVE, INSIDE, complex_=True))
scalar_rule(sc.eval_chebyt, None, lambda n, x: n * sc.eval_chebyu(below(n), x),
            domain=of_order(DEGREES, INSIDE, complex_=True))
scalar_rule(sc.eval_chebyu, None, lambda n, x: 2.0 * (n != 0) * sc.eval_gegenbauer(
                below(n), 2.0 * np.ones_like(n), x),
            domain=of_order(DEGREES, INSIDE, complex_=True))
scalar_rule(sc.eval_chebyc, None, lambda n, x: n * sc.eval_chebyu(below(n), 0.5 * x),
            domain=of_order(DEGREES, SHIFTED, complex_=True))
scalar_rule(sc.eval_chebys, None, lambda n, x: 1.0 * (n != 0) * sc.eval_gegenbauer(
                below(n), 2.0 * np.ones_like(n), 0.5 * x),
            domain=of_order(DEGREES, SHIFTED, complex_=True))
scalar_rule(sc.eval_sh_chebyt, None, lambda n, x: 2.0 * n * sc.eval_chebyu(below(n), 2.0 * x - 1.0),
            domain=of_order(DEGREES, UNIT, complex_=True))
scalar_rule(sc.eval_sh_chebyu, None, lambda n, x: 4.0 * (n != 0) * sc.eval_gegenbauer(
                below(n), 2.0 * np.ones_like(n), 2.0 * x - 1.0),
            domain=of_order(DEGREES, UNIT, complex_=True))
scalar_rule(sc.eval_hermite, None, lambda n, x: 2.0 * n * sc.eval_hermite(below(n), x),
            domain=of_order(DEGREES, ANY))
scalar_rule(sc.eval_hermitenorm, None, lambda n, x: n * sc.eval_hermitenorm(below(n), x),
            domain=of_order(DEGREES, ANY))
scalar_rule(sc.eval_laguerre, None, lambda n, x: -1.0 * (n != 0) * sc.eval_genlaguerre(
                below(n), 1.0 * np.ones_like(n), x),
            domain=of_order(DEGREES, POSITIVE, complex_=True))
scalar_rule(sc.eval_genlaguerre, None, None, lambda n, a, x: -1.0 * (n != 0) * sc.eval_genlaguerre(
                below(n), a + 1.0, x),
            domain=of_order(DEGREES, POSITIVE, POSITIVE, complex_=True))


@rrule(sc.assoc_laguerre, wrt=("x",), domain=lambda rng: [
    call(0.7, 2), call(rng.uniform(0.5, 2.0, 3), 3, 1.5), call(rng.uniform(0.5, 2.0, (2, 3)), 0, 1),
])
def assoc_laguerre_rule(x, n, k=0.0):
    def assoc_laguerre_pullback(dy):
        slope = -1.0 * (n != 0) * sc.eval_genlaguerre(below(n), k + 1.0, x)
        return project(np.conj(slope) * dy, x)

    return sc.assoc_laguerre(x, n, k), assoc_laguerre_pullback


# (1 - x**2) dP/dx = (v + m) P(v - 1) - v x P(v), DLMF 14.10.5.
scalar_rule(sc.lpmv, None, None,
            lambda m, v, x, y: ((v + m) * sc.lpmv(m, v - 1.0, x) - v * x * y) / (1.0 - x * x),
            domain=of_order((0, 1, 2), (2.2, 4.0), INSIDE), kink="nan at -1 and 1")

# --- parabolic cylinder functions, DLMF 12.2.2-3 --------------------------------------------------

CYLINDER = [
    (1.5, 0.7), (np.array([0.5, 1.5, -1.3]), np.array([[0.7], [-1.2]])), (1.5, np.array([2.0])),
    (np.float64(0.3), np.float64(-0.4)), (0.5, np.empty(0)),
]


@rrule(sc.pbdv, wrt=("x",), domain=lambda rng: [call(*c) for c in CYLINDER])
def pbdv_rule(v, x):
    y = sc.pbdv(v, x)

    def pbdv_pullback(dy):
        return project(y[1] * dy[0] + (0.25 * x * x - v - 0.5) * y[0] * dy[1], x)

    return y, pbdv_pullback


@rrule(sc.pbvv, wrt=("x",), domain=lambda rng: [call(*c) for c in CYLINDER])
def pbvv_rule(v, x):
    y = sc.pbvv(v, x)

    def pbvv_pullback(dy):
        return project(y[1] * dy[0] + (0.25 * x * x - v - 0.5) * y[0] * dy[1], x)

    return y, pbvv_pullback


@rrule(sc.pbwa, wrt=("x",), domain=lambda rng: [call(*c) for c in CYLINDER])
def pbwa_rule(a, x):
    y = sc.pbwa(a, x)

    def pbwa_pullback(dy):
        return project(y[1] * dy[0] + (a - 0.25 * x * x) * y[0] * dy[1], x)

    return y, pbwa_pullback


# --- Mathieu functions, DLMF 28.2.1 and 28.20.1 ---------------------------------------------------

MATHIEU = [(2, 0.7, 35.0), (np.array([1, 2, 3]), 1.5, np.array([[20.0], [70.0]])),
           (np.array([1, 2]), 2.0, np.float64(50.0))]
MODIFIED = [(2, 0.7, 0.6), (np.array([1, 2, 3]), 1.5, np.array([[0.3], [0.9]])),
            (np.array([1, 2]), 2.0, np.float64(0.5))]


def angular(characteristic: Any, q: Any, x: Any, y: Any, dy: Any) -> Any:
    """Return the cotangent of ``x``, in degrees, of a function and its slope by radians."""
    curvature = (2.0 * q * np.cos(2.0 * RADIANS * x) - characteristic) * y[0]
    return project(RADIANS * (y[1] * dy[0] + curvature * dy[1]), x)


def radial(characteristic: Any, q: Any, x: Any, y: Any, dy: Any) -> Any:
    """Return the cotangent of ``x`` of a modified Mathieu function and its slope."""
    curvature = (characteristic - 2.0 * q * np.cosh(2.0 * x)) * y[0]
    return project(y[1] * dy[0] + curvature * dy[1], x)


def mathieu(function: Any, characteristic: Any, cotangent: Any, samples: Any) -> None:
    """Register the rule of a Mathieu function and its slope, of one parity and one kind."""

    @rrule(function, wrt=("x",), domain=lambda rng: [call(*c) for c in samples])
    def rule(m, q, x):
        y = function(m, q, x)

        def mathieu_pullback(dy):
            return cotangent(characteristic(m, q), q, x, y, dy)

        return y, mathieu_pullback


mathieu(sc.mathieu_cem, sc.mathieu_a, angular, MATHIEU)
mathieu(sc.mathieu_sem, sc.mathieu_b, angular, MATHIEU)
mathieu(sc.mathieu_modcem1, sc.mathieu_a, radial, MODIFIED)
mathieu(sc.mathieu_modcem2, sc.mathieu_a, radial, MODIFIED)
mathieu(sc.mathieu_modsem1, sc.mathieu_b, radial, MODIFIED)
mathieu(sc.mathieu_modsem2, sc.mathieu_b, radial, MODIFIED)

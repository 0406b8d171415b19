"""Rules of the ``cmath`` module: Python numbers in, Python complex numbers out.

The functions are holomorphic but for ``phase``, ``polar`` and ``rect``. On a branch cut the
derivative is that of the side which the sign of the zero chooses, as the value is; sums with real
numbers would lose that sign, so they are made of real parts where it matters.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np

import adcompiler_rules.recurrences
import adcompiler_rules.slopes  # noqa: F401
from adcompiler.rulekit import Call, Domain, call, non_differentiable, rrule, scalar_rule
from adcompiler.runtime import project

LOG_10 = math.log(10.0)
CUT = "on the branch cut that of the side of the value"


def numbers(*points: Any) -> Domain:
    """Return the domain of these points, and of complex numbers around the origin."""

    def calls(rng: np.random.Generator) -> list[Call]:
        parts = rng.uniform(0.2, 1.4, (4, 2)) * rng.choice([-1.0, 1.0], (4, 2))
        return [call(complex(*part)) for part in parts] + [call(x) for x in points]

    return Domain(calls=calls)


def root_of_hyperbola(x: Any) -> Any:
    """Return ``sqrt(x - 1) * sqrt(x + 1)``, each on its side of the cut."""
    z = complex(x)
    return cmath.sqrt(complex(z.real - 1.0, z.imag)) * cmath.sqrt(complex(z.real + 1.0, z.imag))


def root_of_sine(x: Any) -> Any:
    """Return ``sqrt(1 + x) * sqrt(1 - x)``, each on its side of the cut."""
    z = complex(x)
    return cmath.sqrt(complex(1.0 + z.real, z.imag)) * cmath.sqrt(complex(1.0 - z.real, -z.imag))


def root_above_square(x: Any) -> Any:
    """Return ``sqrt(1 + x * x)``, on its side of the cut."""
    z = complex(x)
    square = z * z
    return cmath.sqrt(complex(square.real + 1.0, square.imag))


# --- exponentials, logarithms, roots --------------------------------------------------------------

scalar_rule(cmath.exp, lambda x, y: y, domain=numbers(0.7, np.complex128(0.3 - 0.2j)))
scalar_rule(cmath.log10, lambda x: 1.0 / (LOG_10 * x), domain=numbers(0.7))
scalar_rule(cmath.sqrt, lambda x, y: 0.5 / y if y else math.inf, domain=numbers(0.7, -1.5),
            kink="inf at 0; " + CUT)


def _log_calls(rng: np.random.Generator) -> list[Call]:
    return [call(0.3), call(5), call(0.5 - 2j), call(2.5j, 3.0), call(-0.5 + 1j, 0.5 + 0.7j),
            call(2.5, 1j), call(1.5 - 1j, 10)]


@rrule(cmath.log, wrt=("x", "base"), domain=_log_calls)
def log(x: Any, base: Any = None) -> Any:
    """``dx = dy / (x log(base))``, ``dbase = -dx y x / base``, by conjugates."""
    y = cmath.log(x) if base is None else cmath.log(x, base)

    def log_pullback(dy: Any) -> Any:
        dx = dy / np.conj(x) if base is None else dy / np.conj(x * cmath.log(base))
        dbase = None if base is None else project(-dx * np.conj(y * x / base), base)
        return project(dx, x), dbase

    return y, log_pullback


# --- trigonometric and hyperbolic functions -------------------------------------------------------

scalar_rule(cmath.sin, lambda x: cmath.cos(x), domain=numbers(0.7))
scalar_rule(cmath.cos, lambda x: -cmath.sin(x), domain=numbers(0.7))
scalar_rule(cmath.tan, lambda x, y: 1.0 + y * y, domain=numbers(0.7))
scalar_rule(cmath.sinh, lambda x: cmath.cosh(x), domain=numbers(0.7))
scalar_rule(cmath.cosh, lambda x: cmath.sinh(x), domain=numbers(0.7))
scalar_rule(cmath.tanh, lambda x, y: 1.0 - y * y, domain=numbers(0.7))
scalar_rule(cmath.asin, lambda x: 1.0 / root_of_sine(x), domain=numbers(0.7, 2.0, -2.0), kink=CUT)
scalar_rule(cmath.acos, lambda x: -1.0 / root_of_sine(x), domain=numbers(0.7, 2.0, -2.0), kink=CUT)
scalar_rule(cmath.atan, lambda x: 1.0 / (1.0 + x * x), domain=numbers(0.7))
scalar_rule(cmath.asinh, lambda x: 1.0 / root_above_square(x), domain=numbers(0.7), kink=CUT)
scalar_rule(cmath.acosh, lambda x: 1.0 / root_of_hyperbola(x),
            domain=numbers(1.7, 0.3, -2.0), kink=CUT)
scalar_rule(cmath.atanh, lambda x: 1.0 / (1.0 - x * x), domain=numbers(0.7, 2.0))

# --- polar coordinates ----------------------------------------------------------------------------


def turn(z: Any) -> Any:
    """Return ``1j * z / abs(z)**2``, along which the phase of ``z`` grows; 0 at the origin."""
    return 1j / complex(z.real, -z.imag) if z else 0.0  # as a float the square may be 0, or inf


def unit(z: Any) -> Any:
    """Return ``z / abs(z)``, along which the size of ``z`` grows; 0 at the origin."""
    return z / abs(z) if z else 0.0


@rrule(cmath.phase, domain=numbers(1.5, -0.5), kink="0 at the origin")
def phase(x: Any) -> Any:
    """``dx = dy * 1j * x / abs(x)**2``."""

    def phase_pullback(dy: Any) -> Any:
        return project(dy * turn(x), x)

    return cmath.phase(x), phase_pullback


@rrule(cmath.polar, domain=numbers(1.5, -0.5), kink="0 at the origin")
def polar(x: Any) -> Any:
    """The radius grows along ``x``, the angle at right angles to it."""

    def polar_pullback(dparts: Any) -> Any:
        return project(dparts[0] * unit(x) + dparts[1] * turn(x), x)

    return cmath.polar(x), polar_pullback


@rrule(cmath.rect, domain=lambda rng: [
    call(1.5, 0.3), call(-0.5, 2.0), call(0.0, 1.0), call(2, 0.5),
])
def rect(r: Any, phi: Any) -> Any:
    """``dr = real(conj(exp(1j phi)) dz)``, ``dphi = real(conj(1j z) dz)``."""
    cosine, sine = math.cos(phi), math.sin(phi)

    def rect_pullback(dz: Any) -> Any:
        dr = dz.real * cosine + dz.imag * sine
        return dr, r * (dz.imag * cosine - dz.real * sine)

    return cmath.rect(r, phi), rect_pullback


non_differentiable(cmath.isclose, cmath.isfinite, cmath.isinf, cmath.isnan)

"""Rules of the ``math`` module: Python scalars in, Python scalars out, no NumPy in between.

Where the function is finite and its slope is not (``sqrt`` at 0, ``asin`` at 1) the derivative
is ``inf``, as NumPy has it, where plain division would raise ZeroDivisionError.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import scipy  # its subpackages are imported when they are first asked for

import adcompiler_rules.recurrences
import adcompiler_rules.slopes  # noqa: F401
from adcompiler.rulekit import Call, Recurrence, call, facts, non_differentiable, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler.runtime.adjoints.kinks import first_derivative
from adcompiler.runtime.adjoints.sequences import like, spread
from adcompiler_rules.kernels.sequences import scale, scale_other_products
from adcompiler_rules.compositions import composed
from adcompiler_rules.kernels.scipy_series import gamma_series, loggamma_derivative

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 3.0)
INSIDE = (-1.0, 1.0)
LOG_2 = math.log(2.0)
LOG_10 = math.log(10.0)
TWO_OVER_ROOT_PI = 2.0 / math.sqrt(math.pi)

# --- trigonometric and hyperbolic functions ------------------------------------------------------

scalar_rule(math.sin, lambda x: math.cos(x), domain=ANY)
scalar_rule(math.cos, lambda x: -math.sin(x), domain=ANY)
scalar_rule(math.tan, lambda x, y: 1.0 + y * y, domain=(-1.4, 1.4))
scalar_rule(
    math.asin, lambda x: 1.0 / math.sqrt((1.0 - x) * (1.0 + x)) if abs(x) < 1.0 else math.inf,
    domain=INSIDE, kink="inf at -1 and 1",
)
scalar_rule(
    math.acos, lambda x: -1.0 / math.sqrt((1.0 - x) * (1.0 + x)) if abs(x) < 1.0 else -math.inf,
    domain=INSIDE, kink="-inf at -1 and 1",
)
scalar_rule(math.atan, lambda x: 1.0 / (1.0 + x * x), domain=ANY)
scalar_rule(
    math.atan2,
    lambda y, x: x / math.hypot(x, y) / math.hypot(x, y) if x or y else 0.0,
    lambda y, x: -y / math.hypot(x, y) / math.hypot(x, y) if x or y else 0.0,
    domain=(ANY, ANY), kink="0 at the origin",
)
scalar_rule(math.sinh, lambda x: math.cosh(x), domain=ANY)
scalar_rule(math.cosh, lambda x: math.sinh(x), domain=ANY)
scalar_rule(math.tanh, lambda x, y: 1.0 - y * y, domain=ANY)
scalar_rule(math.asinh, lambda x: 1.0 / math.hypot(1.0, x), domain=ANY)
scalar_rule(
    math.acosh, lambda x: 1.0 / math.sqrt((x - 1.0) * (x + 1.0)) if x > 1.0 else math.inf,
    domain=(1.1, 4.0), kink="inf at 1",
)
scalar_rule(math.atanh, lambda x: 1.0 / ((1.0 - x) * (1.0 + x)), domain=INSIDE)
scalar_rule(math.degrees, 180.0 / math.pi, domain=ANY)
scalar_rule(math.radians, math.pi / 180.0, domain=ANY)

# --- exponentials, logarithms, powers ------------------------------------------------------------

scalar_rule(math.exp, lambda x, y: y, domain=ANY)
scalar_rule(math.exp2, lambda x, y: LOG_2 * y, domain=ANY)
scalar_rule(math.expm1, lambda x, y: y + 1.0, domain=ANY)
scalar_rule(math.log2, lambda x: 1.0 / (LOG_2 * x), domain=POSITIVE)
scalar_rule(math.log10, lambda x: 1.0 / (LOG_10 * x), domain=POSITIVE)
scalar_rule(math.log1p, lambda x: 1.0 / (1.0 + x), domain=(-0.9, 3.0))
scalar_rule(
    math.sqrt, lambda x, y: 0.5 / y if y else math.inf, domain=POSITIVE, kink="inf at 0",
)
scalar_rule(
    math.cbrt, lambda x, y: 1.0 / (3.0 * y * y) if y else math.inf,
    domain=lambda rng: [call(1.7), call(-0.4), call(8.0)], kink="inf at 0",
)
scalar_rule(
    math.pow,
    lambda x, y: (
        y * math.pow(x, y - 1.0) if y >= 1.0 or x else y * math.inf if y else 0.0
    ),
    lambda x, y, z: z * math.log(x) if x > 0.0 else 0.0 if x == 0.0 else math.nan,
    domain=lambda rng: [call(1.7, 2.5), call(0.3, -1.5), call(2.0, 0.0), call(1.2, 1.0),
                        call(-1.5, 3), call(-1.5, -2), call(0.0, 3.0), call(2, 0.5)],
    kink="at x == 0: dx = 0 for y == 0, inf for 0 < y < 1, dy = 0; dy = nan for negative x",
)


def _log_calls(rng: np.random.Generator) -> list[Call]:
    return [call(0.3), call(1.0), call(5), call(2.5, 3.0), call(0.5, 0.7), call(2.5, 10)]


@rrule(math.log, wrt=("x", "base"), domain=_log_calls)
def log(x: Any, base: Any = None) -> Any:
    """``dx = dy / (x log(base))``, ``dbase = -dx y x / base``."""
    y = math.log(x) if base is None else math.log(x, base)

    def log_pullback(dy: Any) -> Any:
        dx = dy / x if base is None else dy / (x * math.log(base))
        dbase = None if base is None else -dx * y * x / base
        return dx, dbase

    return y, log_pullback


# --- norms and signs -----------------------------------------------------------------------------


def _hypot_calls(rng: np.random.Generator) -> list[Call]:
    return [call(3.0, -4.0), call(0.0, 2.0), call(1.5), call(1.0, 2.0, -2.0), call(0.0, 0.0),
            call(0.0, 0.0, 0.0), call(), call(3, 4.0), call(1e200, 2e200)]


@rrule(math.hypot, domain=_hypot_calls, kink="0 at the origin")
def hypot(*coordinates: Any) -> Any:
    """``dx[i] = dy x[i] / y``."""
    y = math.hypot(*coordinates)

    def hypot_pullback(dy: Any) -> Any:
        size = y or 1.0
        if len(coordinates) == 2:
            dx, dz = dy * (coordinates[0] / size), dy * (coordinates[1] / size)
            return first_derivative(dx, dy, y), first_derivative(dz, dy, y)
        unit = first_derivative(tuple(x / size for x in coordinates), dy, y)
        return scale(first_derivative(dy, dy, y), unit)

    return y, hypot_pullback


def _dist_calls(rng: np.random.Generator) -> list[Call]:
    p, q = (1.0, 2.0, -0.5), (0.5, -1.0, 2.0)
    return [call(p, q), call(list(p), list(q)), call(p, list(q)), call(p, p), call((), ()),
            call(np.array(p), np.array(q)), call((1, 2.0), (3.0, 4))]


@rrule(math.dist, domain=_dist_calls, kink="0 where the points coincide")
def dist(p: Any, q: Any) -> Any:
    """``dp = dy (p - q) / y``, ``dq = -dp``."""
    y = math.dist(p, q)

    def dist_pullback(dy: Any) -> Any:
        size = y or 1.0
        unit = [(a - b).real / size for a, b in zip(p, q, strict=True)]
        slope, unit = first_derivative(dy, dy, y), first_derivative(unit, dy, y)
        return like(scale(slope, unit), p), like(scale(-slope, unit), q)

    return y, dist_pullback


scalar_rule(
    math.fabs, lambda x: 1.0 if x > 0.0 else -1.0 if x < 0.0 else 0.0,
    domain=lambda rng: [call(1.5), call(-2.5), call(0.0), call(-0.0), call(3)], kink="0 at 0",
)
scalar_rule(
    math.copysign, lambda x, y: math.copysign(1.0, x) * math.copysign(1.0, y) if x else 0.0, 0.0,
    domain=lambda rng: [call(x, y) for x in (1.5, -2.5) for y in (1.0, -3.0)] + [call(0.0, 1.0)],
    kink="0 where x is 0; the step at y == 0 is ignored",
)

# --- remainders and parts of numbers -------------------------------------------------------------

QUOTIENT = "the steps where the quotient passes an integer are ignored"


def _remainder_calls(rng: np.random.Generator) -> list[Call]:
    return [call(7.3, 2.0), call(-7.3, 2.0), call(7.3, -2.0), call(0.4, 3.0), call(9, 2.5),
            call(-0.9, -0.35)]


# z = x - n y with a locally constant integer n: dz/dy = -n = (z - x) / y
scalar_rule(math.fmod, 1, lambda x, y, z: (z - x) / y, domain=_remainder_calls, kink=QUOTIENT)
scalar_rule(math.remainder, 1, lambda x, y, z: (z - x) / y, domain=_remainder_calls, kink=QUOTIENT)


@rrule(math.modf, domain=lambda rng: [call(2.7), call(-0.3), call(-5.25), call(7)],
       kink="the steps at integers are ignored")
def modf(x: Any) -> Any:
    """The fractional part has slope 1, the integral part 0."""
    parts = math.modf(x)

    def modf_pullback(dparts: Any) -> Any:
        return dparts[0]

    return parts, modf_pullback


@rrule(math.frexp, domain=lambda rng: [call(2.7), call(-0.3), call(1e-3), call(-700.5), call(3)],
       kink="the steps at powers of two are ignored; 1 at 0")
def frexp(x: Any) -> Any:
    """``dx = dmantissa / 2**exponent``."""
    mantissa, exponent = math.frexp(x)

    def frexp_pullback(dparts: Any) -> Any:
        return math.ldexp(dparts[0], -exponent)

    return (mantissa, exponent), frexp_pullback


scalar_rule(
    math.ldexp, lambda x, i: math.ldexp(1.0, i), None,
    domain=lambda rng: [call(1.5, 3), call(-0.7, -4), call(0.0, 2)],
)
scalar_rule(
    math.nextafter, 1, 0.0,
    domain=lambda rng: [call(1.5, math.inf), call(-0.7, 0.0), call(2.5, 2.0)],
)

# --- special functions ---------------------------------------------------------------------------


def _gamma_calls(rng: np.random.Generator) -> list[Call]:
    return [call(x) for x in (0.3, 1.0, 1.4616, 2.5, 7.0, -0.5, -1.7, 20.5)]


scalar_rule(math.erf, lambda x: TWO_OVER_ROOT_PI * math.exp(-x * x), domain=ANY)
scalar_rule(math.erfc, lambda x: -TWO_OVER_ROOT_PI * math.exp(-x * x), domain=ANY)
scalar_rule(math.gamma, lambda x, y: y * float(scipy.special.digamma(x)), domain=_gamma_calls)
scalar_rule(math.lgamma, lambda x: float(scipy.special.digamma(x)), domain=_gamma_calls)
facts(math.gamma, recurrence=Recurrence(gamma_series, first="real"))
facts(math.lgamma, recurrence=composed(loggamma_derivative))

# --- sums and products of sequences --------------------------------------------------------------


def _sequence_calls(rng: np.random.Generator) -> list[Call]:
    x = rng.normal(size=5)
    return [call(x.tolist()), call(tuple(x.tolist())), call(x), call([1, 2.5]), call([]),
            call([1.5])]


@rrule(math.fsum, linear=(0,), domain=_sequence_calls)
def fsum(x: Any) -> Any:
    """Every item receives ``dy``."""

    def fsum_pullback(dy: Any) -> Any:
        return spread(dy, x)

    return math.fsum(x), fsum_pullback


def _prod_calls(rng: np.random.Generator) -> list[Call]:
    zeros = [call([2.0, 0.0, 3.0]), call([0.0, 1.5, 0.0]), call([0.0])]
    starts = [call([2.0, 3.0], start=0.5), call((1.5, 2.0), start=2)]
    return _sequence_calls(rng) + zeros + starts


@rrule(math.prod, wrt=("x", "start"), domain=_prod_calls)
def prod(x: Any, *, start: Any = 1) -> Any:
    """``dx[i] = dy start prod(x[j] for j != i)``, ``dstart = dy prod(x)``."""

    def prod_pullback(dy: Any) -> Any:
        dx = scale_other_products(dy * np.conj(start), x)
        return dx, project(dy * np.conj(math.prod(x)), start)

    return math.prod(x, start=start), prod_pullback


if sys.version_info >= (3, 12):

    def _sumprod_calls(rng: np.random.Generator) -> list[Call]:
        p, q = rng.normal(size=(2, 4))
        return [call(p.tolist(), q.tolist()), call(tuple(p.tolist()), q), call([], []),
                call([1, 2], [1.5, 2.5])]

    @rrule(math.sumprod, bilinear=(0, 1), domain=_sumprod_calls)
    def sumprod(p: Any, q: Any) -> Any:
        """``dp = dy q``, ``dq = dy p``."""

        def sumprod_pullback(dy: Any) -> Any:
            dp = like([dy * np.conj(item) for item in q], p)
            return dp, like([dy * np.conj(item) for item in p], q)

        return math.sumprod(p, q), sumprod_pullback


if sys.version_info >= (3, 13):
    scalar_rule(
        math.fma, lambda x, y, z: y, lambda x, y, z: x, 1, domain=(ANY, ANY, ANY),
    )

# --- integers and truth values -------------------------------------------------------------------

non_differentiable(
    math.ceil, math.comb, math.factorial, math.floor, math.gcd, math.isclose, math.isfinite,
    math.isinf, math.isnan, math.isqrt, math.lcm, math.perm, math.trunc, math.ulp,
)

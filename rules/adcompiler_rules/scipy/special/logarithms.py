"""Rules of logistic functions, entropies and losses, powers and their inverses, angles in degrees.

Where a formula has the form ``0 / 0`` or ``0 * inf`` at a point, the partial derivative is written
so that it gives the limit there; SciPy's own functions stand for NumPy's logarithm and power where
those would warn. Constants: pi/180 = 0.01745..., log(2) = 0.6931..., log(10) = 2.3025...
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Domain, call, non_differentiable, rrule, scalar_rule
from adcompiler.runtime import project
from adcompiler_rules.scipy.special.common import log

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 4.0)
UNIT = (0.02, 0.98)
DEGREES = (10.0, 80.0)
WIDE = (-30.0, 60.0)
RADIANS = 0.017453292519943295

# --- logistic functions ---------------------------------------------------------------------------

scalar_rule(sc.expit,     lambda x, y: y * sc.expit(-x),                       domain=WIDE)
scalar_rule(sc.logit,     lambda x: 1.0 / (x * (1.0 - x)),                     domain=UNIT)
scalar_rule(sc.log_expit, lambda x: sc.expit(-x),                              domain=WIDE)
if hasattr(sc, "softplus"):  # SciPy 1.15
    scalar_rule(sc.softplus, lambda x: sc.expit(x),                            domain=WIDE)

# --- entropies and losses -------------------------------------------------------------------------


def quotient(x: Any, y: Any) -> Any:
    """Return ``x / y``, and 0 where both are 0."""
    return x / (y + ((x == 0.0) & (y == 0.0)))


AT_ZERO = Domain(intervals=(POSITIVE, POSITIVE), calls=lambda rng: [
    call(np.array([0.5, 1.5]), np.array([1.5, 1.5])),
])
scalar_rule(sc.entr,     lambda x: -1.0 - log(x),                    domain=POSITIVE)
scalar_rule(sc.rel_entr, lambda x, y: 1.0 + log(quotient(x, y)),
                         lambda x, y: -quotient(x, y),                         domain=AT_ZERO,
            kink="d/dy is 0 where both are 0")
scalar_rule(sc.kl_div,   lambda x, y: log(quotient(x, y)),
                         lambda x, y: 1.0 - quotient(x, y),                    domain=AT_ZERO,
            kink="d/dy is 1 where both are 0")
scalar_rule(sc.xlogy,    lambda x, y: log(y),
                         lambda x, y: quotient(x, y),
            domain=Domain((ANY, POSITIVE), lambda rng: [
                call(np.zeros(2), np.array([1.5, 2.0]))]),
            kink="d/dy is 0 where both are 0")
scalar_rule(sc.xlog1py,  lambda x, y: sc.xlog1py(np.ones_like(y), y),
                         lambda x, y: quotient(x, 1.0 + y),
            domain=Domain((ANY, (-0.9, 3.0)), lambda rng: [
                call(np.zeros(2), np.array([1.5, 2.0]))]),
            kink="d/dy is 0 where x is 0 and y is -1")
scalar_rule(sc.huber,    lambda delta, r: np.maximum(np.abs(r) - delta, 0.0),
                         lambda delta, r: np.maximum(np.minimum(r, delta), -delta),
            domain=((0.2, 1.0), (1.2, 3.0)))


def pseudo_huber_slope(delta: Any, r: Any) -> Any:
    """Return ``(s - delta)**2 / s`` for ``s = sqrt(delta**2 + r**2)``, without cancellation."""
    s = np.hypot(delta, r)
    origin = s == 0.0
    rest = r * (r / (s + delta + origin))
    return rest * rest / (s + origin)


# The value is delta * (sqrt(delta**2 + r**2) - delta).
scalar_rule(sc.pseudo_huber,
            lambda delta, r: pseudo_huber_slope(delta, r),
            lambda delta, r: delta * quotient(r, np.hypot(delta, r)),
            domain=((0.2, 2.0), ANY), kink="0 where both are 0")

# --- powers and logarithms ------------------------------------------------------------------------

scalar_rule(sc.expm1,  lambda x: np.exp(x),                                    domain=ANY)
scalar_rule(sc.log1p,  lambda x: 1.0 / (1.0 + x),                              domain=(-0.9, 3.0))
scalar_rule(sc.exp2,   lambda x, y: 0.6931471805599453 * y,                    domain=ANY)
scalar_rule(sc.exp10,  lambda x, y: 2.302585092994046 * y,                     domain=ANY)
scalar_rule(sc.cbrt,   lambda x, y: 1.0 / (3.0 * y * y),                       domain=POSITIVE,
            kink="cbrt'(0) = inf")
scalar_rule(sc.cosm1,  lambda x: -np.sin(x),                                   domain=ANY)
# expm1(x) / x is the hypergeometric function 1F1(1; 2; x), and its derivative 1F1(2; 3; x) / 2.
scalar_rule(sc.exprel, lambda x: 0.5 * sc.hyp1f1(2.0, 3.0, x),                 domain=Domain(
    (ANY,), lambda rng: [call(np.array([-300.0, -20.0, 0.0, 1e-9, 30.0]))]))
scalar_rule(sc.powm1,
            lambda x, y: y * np.exp(sc.xlogy(y - 1.0, x)),
            lambda x, y, out: sc.xlogy(out + 1.0, x), domain=(POSITIVE, ANY))


def power_slope(log: Any, scale: Any) -> Any:
    """Return the derivative of ``expm1(scale * log) / scale`` in ``scale``.

    With ``t = scale * log`` it is ``log**2 * exprel'(t)``: ``(exp(t) * (t - 1) + 1) / scale**2``.
    """
    t = scale * log
    small = np.abs(t) < 1.0
    near = np.where(small, log, 0.0)
    far = np.where(small, 1.0, scale)
    power = np.exp(np.where(small, 0.0, t))
    product = np.where(power == 0.0, 0.0, power * np.where(power == 0.0, 0.0, t))
    series = 0.5 * near * near * sc.hyp1f1(2.0, 3.0, np.where(small, t, 0.0))
    return np.where(small, series, (product - power + 1.0) / (far * far))


scalar_rule(sc.boxcox,
            lambda x, scale: np.exp(sc.xlogy(scale - 1.0, x)),
            lambda x, scale: power_slope(log(x), scale),
            domain=Domain((POSITIVE, ANY), lambda rng: [call(1.5, 0.0), call(
                np.array([0.5, 20.0]), np.array([[1e-9], [0.0], [-7.0], [9.0]]))]))
scalar_rule(sc.boxcox1p,
            lambda x, scale: np.exp(sc.xlog1py(scale - 1.0, x)),
            lambda x, scale: power_slope(sc.xlog1py(np.ones_like(x), x), scale),
            domain=Domain((POSITIVE, ANY), lambda rng: [call(1.5, 0.0), call(
                np.array([0.5, 20.0]), np.array([[1e-9], [0.0], [-7.0], [9.0]]))]))


def root_slope(y: Any, scale: Any) -> Any:
    """Return the derivative of ``log1p(scale * y) / scale`` in ``scale``.

    With ``u = scale * y``, ``log1p(u) / u`` is the hypergeometric function 2F1(1, 1; 2; -u).
    """
    u = scale * y
    small = np.abs(u) < 0.5
    near = -0.5 * y * y * sc.hyp2f1(2.0, 2.0, 3.0, np.where(small, -u, 0.0))
    safe, far = np.where(small, 0.0, u), np.where(small, 1.0, scale)
    return np.where(small, near, (y / (1.0 + safe) - np.log1p(safe) / far) / far)


scalar_rule(sc.inv_boxcox,
            lambda y, scale, x: np.exp(sc.xlogy(1.0 - scale, x)),
            lambda y, scale, x: x * root_slope(y, scale),
            domain=Domain(((0.1, 2.0), (0.1, 2.0)), lambda rng: [
                call(np.array([0.3, -0.7]), np.array([[0.0], [1e-9], [-0.9]]))]))
scalar_rule(sc.inv_boxcox1p,
            lambda y, scale, x: np.exp(sc.xlog1py(1.0 - scale, x)),
            lambda y, scale, x: (x + 1.0) * root_slope(y, scale),
            domain=Domain(((0.1, 2.0), (0.1, 2.0)), lambda rng: [
                call(np.array([0.3, -0.7]), np.array([[0.0], [1e-9], [-0.9]]))]))

# --- angles in degrees ----------------------------------------------------------------------------

scalar_rule(sc.sindg, lambda x: RADIANS * sc.cosdg(x),                         domain=DEGREES)
scalar_rule(sc.cosdg, lambda x: -RADIANS * sc.sindg(x),                        domain=DEGREES)
scalar_rule(sc.tandg, lambda x, y: RADIANS * (1.0 + y * y),                    domain=DEGREES)
scalar_rule(sc.cotdg, lambda x, y: -RADIANS * (1.0 + y * y),                   domain=DEGREES)
scalar_rule(sc.radian, RADIANS, RADIANS / 60.0, RADIANS / 3600.0, domain=(POSITIVE,) * 3)

non_differentiable(sc.round)


@rrule(sc.diric, wrt=("x",), domain=lambda rng: [
    call(0.7, 3), call(rng.uniform(0.5, 2.5, 3), 4), call(np.array([0.0, 1.5]), 5),
    call(np.array([[0.3], [-2.0]]), 1),
])
def diric_rule(x, n):
    """Differentiate ``sin(n x / 2) / (n sin(x / 2))``; at a distance ``d`` of its peaks, where the
    quotient cancels, the slope is that of the series ``y (1 - (n**2 - 1) d**2 / 24)``.
    """
    y = sc.diric(x, n)

    def diric_pullback(dy):
        sine = np.sin(0.5 * x)
        peak = np.abs(sine) < 1e-4
        slope = 0.5 * (np.cos(0.5 * n * x) - np.cos(0.5 * x) * y) / np.where(peak, 1.0, sine)
        near = -y * (n * n - 1.0) / 6.0 * np.tan(0.5 * np.where(peak, x, 0.0))
        return project(np.where(peak, near, slope) * dy, x)

    return y, diric_pullback

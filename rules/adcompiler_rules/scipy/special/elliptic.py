"""Rules of elliptic integrals and functions, hypergeometric and Wright functions.

Formulas by their number in the NIST Digital Library of Mathematical Functions (DLMF). Derivatives
by the parameter ``m`` are written in Carlson's symmetric integrals, which do not cancel near 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special as sc

from adcompiler.rulekit import Domain, call, rrule, scalar_rule
from adcompiler.runtime import project

ANY = (-2.0, 2.0)
POSITIVE = (0.2, 4.0)
PARAMETER = (-1.5, 0.9)

# --- Legendre's integrals -------------------------------------------------------------------------


def complement_slope(p: Any) -> Any:
    """Return dK/dm for ``m = 1 - p``: K is RF(0, p, 1), DLMF 19.25.1; its derivative 19.18.1."""
    one = np.ones_like(p)
    return sc.elliprd(0.0 * one, one, p) / 6.0


def complete_k_slope(m: Any) -> Any:
    """Return dK/dm."""
    return complement_slope(np.ones_like(m) - m)


def complete_e_slope(m: Any) -> Any:
    """Return dE/dm = (E - K) / (2 m), DLMF 19.4.1; K - E is m RD(0, 1 - m, 1) / 3."""
    one = np.ones_like(m)
    return -sc.elliprd(0.0 * one, one - m, one) / 6.0


def half_turns(phi: Any) -> Any:
    """Return how often the interval (-pi/2, pi/2) is left behind by an amplitude."""
    return np.rint(phi / 3.141592653589793)


def incomplete_f_slope(phi: Any, m: Any) -> Any:
    """Return dF/dm, from DLMF 19.25.5 and, outside of (-pi/2, pi/2), 19.2.10."""
    turns = half_turns(phi)
    s, c = np.sin(phi) * np.cos(3.141592653589793 * turns), np.cos(phi)
    one = np.ones_like(s + m)
    within = s * s * s * sc.elliprd(c * c * one, one, one - m * s * s) / 6.0
    rest = complete_k_slope(np.where(turns == 0.0, 0.0 * one, m * one))
    return within + 2.0 * turns * rest


def incomplete_e_slope(phi: Any, m: Any) -> Any:
    """Return dE/dm = (E - F) / (2 m), DLMF 19.4.6, from 19.25.10 and 19.2.10."""
    turns = half_turns(phi)
    s, c = np.sin(phi) * np.cos(3.141592653589793 * turns), np.cos(phi)
    one = np.ones_like(s + m)
    within = -s * s * s * sc.elliprd(c * c * one, one - m * s * s, one) / 6.0
    rest = complete_e_slope(np.where(turns == 0.0, 0.0 * one, m * one))
    return within + 2.0 * turns * rest


def delta(phi: Any, m: Any) -> Any:
    """Return ``sqrt(1 - m sin(phi)**2)``."""
    s = np.sin(phi)
    return np.sqrt(1.0 - m * s * s)


PARAMETERS = Domain((PARAMETER,), lambda rng: [call(np.array([0.0, 1e-9, -300.0]))])
AMPLITUDES = Domain(((-1.2, 1.2), PARAMETER), lambda rng: [
    call(np.array([-7.0, 2.0, 30.0, 1.5]), np.array([0.6, 0.1, 0.3, 0.9])),
    call(np.array([0.7]), np.array([1e-9, 0.0, -0.3]))])
scalar_rule(sc.ellipk,      lambda m: complete_k_slope(m),                    domain=PARAMETERS)
scalar_rule(sc.ellipkm1,    lambda p: -complement_slope(p),                   domain=POSITIVE)
scalar_rule(sc.ellipe,      lambda m: complete_e_slope(m),                    domain=PARAMETERS)
scalar_rule(sc.ellipkinc,   lambda phi, m: 1.0 / delta(phi, m),
                            lambda phi, m: incomplete_f_slope(phi, m),        domain=AMPLITUDES)
scalar_rule(sc.ellipeinc,   lambda phi, m: delta(phi, m),
                            lambda phi, m: incomplete_e_slope(phi, m),        domain=AMPLITUDES)


@rrule(sc.ellipj, domain=lambda rng: [
    call(0.7, 0.4), call(rng.uniform(-4.0, 9.0, 3), rng.uniform(0.1, 0.9, 3)),
    call(rng.uniform(-1.0, 3.0, (2, 3)), 0.3), call(1.3, rng.uniform(0.1, 0.9, 3)),
    call(np.float64(0.4), np.float64(0.01)), call(np.empty(0), 0.5),
])
def ellipj_rule(u, m):
    """Differentiate sn, cn, dn (DLMF 22.13.1-3) and the amplitude, the inverse of ``F(phi, m)``."""
    y = sc.ellipj(u, m)

    def ellipj_pullback(dy):
        sn, cn, dn, phi = y
        by_amplitude = cn * dy[0] - sn * dy[1] - m * sn * cn / dn * dy[2] + dy[3]
        dm = -dn * incomplete_f_slope(phi, m) * by_amplitude - 0.5 * sn * sn / dn * dy[2]
        return project(dn * by_amplitude, u), project(dm, m)

    return y, ellipj_pullback


def mean_slope(a: Any, b: Any, mean: Any) -> Any:
    """Return the derivative of the arithmetic-geometric mean in ``b``.

    It is ``pi a / (2 K(m))`` with ``1 - m = (b / a)**2``, DLMF 19.8.5 and 19.4.1.
    """
    p = (b / a) * (b / a)
    one = np.ones_like(p)
    part = sc.ellipkm1(p) - sc.elliprd(0.0 * one, p, one) / 3.0
    return 0.6366197723675814 * mean * mean * part / (a * b)


scalar_rule(sc.agm,
            lambda a, b, y: mean_slope(b, a, y), lambda a, b, y: mean_slope(a, b, y),
            domain=Domain((POSITIVE, POSITIVE), lambda rng: [
                call(1.5, 1.5), call(-1.5, np.array([-0.1, -9.0]))]))

# --- Carlson's integrals, DLMF 19.18 --------------------------------------------------------------


def elliprc_slope_x(x: Any, y: Any, value: Any) -> Any:
    """Return the derivative of ``RC(x, y) = RF(x, y, y)`` in ``x``; of the principal value."""
    principal = (np.real(y) < 0.0) & (np.imag(y) == 0.0)
    safe = np.where(principal, x, y)
    far = np.where(principal, y - x, 1.0)
    return np.where(
        principal, 0.5 * (value - 1.0 / np.sqrt(np.where(principal, x, 1.0))) / far,
        -sc.elliprd(safe, safe, x) / 6.0,
    )


scalar_rule(sc.elliprc,
            lambda x, y, value: elliprc_slope_x(x, y, value),
            lambda x, y, value: -(0.5 * value + x * elliprc_slope_x(x, y, value)) / y,
            domain=Domain((POSITIVE, POSITIVE), lambda rng: [
                call(np.array([0.3, 2.0]), np.array([-0.7, -3.0])), call(1.5, 1.5)]))
scalar_rule(sc.elliprf,
            lambda x, y, z: -sc.elliprd(y, z, x) / 6.0,
            lambda x, y, z: -sc.elliprd(z, x, y) / 6.0,
            lambda x, y, z: -sc.elliprd(x, y, z) / 6.0,
            domain=(POSITIVE, POSITIVE, POSITIVE))


def elliprg_slope(x: Any, y: Any, z: Any) -> Any:
    """Return the derivative of RG in ``x``: ``(RF - x RD(y, z, x) / 3) / 4``."""
    part = np.where(x == 0.0, 0.0, x * sc.elliprd(y, z, np.where(x == 0.0, 1.0, x)))
    return 0.25 * sc.elliprf(x, y, z) - part / 12.0


scalar_rule(sc.elliprg,
            lambda x, y, z: elliprg_slope(x, y, z),
            lambda x, y, z: elliprg_slope(y, z, x),
            lambda x, y, z: elliprg_slope(z, x, y),
            domain=(POSITIVE, POSITIVE, POSITIVE))

# --- hypergeometric functions, by their last argument ---------------------------------------------

scalar_rule(sc.hyp0f1, None, lambda b, z: sc.hyp0f1(b + 1, z) / b,            # DLMF 16.3.1
            domain=(POSITIVE, ANY))
scalar_rule(sc.hyp1f1, None, None, lambda a, b, z: a / b * sc.hyp1f1(a + 1, b + 1, z),
            domain=(ANY, POSITIVE, ANY))                                      # DLMF 13.3.15
scalar_rule(sc.hyperu, None, None, lambda a, b, z: -a * sc.hyperu(a + 1, b + 1, z),
            domain=((0.5, 2.0), (1.2, 2.8), (0.5, 4.0)))                      # DLMF 13.3.22
scalar_rule(sc.hyp2f1, None, None, None,
            lambda a, b, c, z: a * b / c * sc.hyp2f1(a + 1, b + 1, c + 1, z),
            domain=(ANY, ANY, POSITIVE, (-0.8, 0.8)))                         # DLMF 15.5.1
scalar_rule(sc.wright_bessel, None, None, lambda a, b, x: sc.wright_bessel(a, a + b, x),
            domain=((0.2, 2.0), (0.2, 2.0), POSITIVE))                        # DLMF 10.46.1
if hasattr(sc, "log_wright_bessel"):  # SciPy 1.14
    scalar_rule(sc.log_wright_bessel, None, None,
                lambda a, b, x, y: np.exp(sc.log_wright_bessel(a, a + b, x) - y),
                domain=((0.2, 2.0), (0.2, 2.0), POSITIVE))

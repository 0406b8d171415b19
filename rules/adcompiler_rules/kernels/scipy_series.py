"""Truncated Taylor series of special functions whose derivatives of every order are known.

The composition ``g(x(t))`` is a polynomial in ``x(t) - x``, of which ``g`` gives the coefficients.
DLMF is the Digital Library of Mathematical Functions, https://dlmf.nist.gov.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # its subpackages are imported when they are first asked for

from adcompiler.runtime.adjoints.elementwise import sinc_derivative
from adcompiler.runtime.series import of_coefficients
from adcompiler_rules.kernels.series import (
    by_order, cauchy, exponentials, folded, from_first, kind_of, log_series, number, orders_of,
    silent,
)


@of_coefficients(3)
def composed_series(
    derivative: Callable[..., Any], place: int, args: tuple[Any, ...], dx: Any, z: Any
) -> np.ndarray:
    """Return the coefficients of ``z = g(*args)``, of which the argument at ``place`` varies.

    ``derivative(k, *args)`` is the derivative of ``g`` by it, of an order from 1 on.
    """
    return from_first(composed(derivative, place, args, dx), kind_of(z))


@silent
def composed(
    derivative: Callable[..., Any], place: int, args: tuple[Any, ...], dx: Any
) -> list[Any]:
    """Return all coefficients of a composition but for that of order 0, which is left 0."""
    moved = [0.0 * c if k == 0 else c for k, c in enumerate(orders_of(args[place], dx))]
    total: list[Any] = [0.0] * len(moved)
    for k in range(len(dx), 0, -1):
        total[0] = total[0] + number(derivative(k, *args)) / scipy.special.gamma(k + 1.0)
        total = cauchy(total, moved)
    return total


@of_coefficients(1)
@silent
def gamma_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = gamma(x)``, which is ``exp(L)`` for ``L' = psi(x) x'``."""
    logarithm = composed(loggamma_derivative, 0, (x,), dx)
    return from_first(exponentials(logarithm, y, 1.0, 0.0), kind_of(y))


@of_coefficients(1)
@silent
def expit_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = expit(x)``, with ``y' = y (1 - y) x'``."""
    c, weighted = [number(y)], by_order(orders_of(x, dx))
    slope = [number(y * scipy.special.expit(-np.asarray(x)))]
    for k in range(1, len(weighted)):
        c.append(folded(weighted, slope) / k)
        slope.append(c[k] - c[0] * c[k] - folded(c, c[:-1]))
    return from_first(c, kind_of(y))


@of_coefficients(1, 3)
def xlogy_series(
    x: Any, dx: Any, y: Any, dy: Any, z: Any, shift: float = 0.0
) -> np.ndarray:
    """Return the coefficients of ``z = x log(y + shift)``, 0 where ``x`` is a constant 0."""
    return from_first(xlogy_orders(x, dx, y, dy, shift), kind_of(z))


@silent
def xlogy_orders(x: Any, dx: Any, y: Any, dy: Any, shift: float) -> list[Any]:
    """Return the coefficients of ``x log(y + shift)``; that of order 0 may be nan."""
    logarithm = scipy.special.log1p(y) if shift else np.log(y)
    if dy is None:
        return [c * logarithm for c in orders_of(x, dx)]
    moved = orders_of(logarithm, log_series(y, dy, np.asarray(logarithm), 1.0, shift))
    if dx is None:
        return [np.where(x == 0, 0.0, x * c)[()] for c in moved]
    return cauchy(orders_of(x, dx), moved)


def rising(k: int, a: Any) -> Any:
    """Return the product ``a (a + 1) ... (a + k - 1)``."""
    return scipy.special.poch(a, k)


def hyperu_derivative(k: int, a: Any, b: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``hyperu(a, b, z)`` (DLMF 13.3.23)."""
    return (-1.0) ** k * rising(k, a) * scipy.special.hyperu(a + k, b + k, z)


def loggamma_derivative(k: int, x: Any) -> Any:
    """Return the ``k``-th derivative of the logarithm of the gamma function (DLMF 5.15)."""
    return scipy.special.psi(x) if k == 1 else scipy.special.polygamma(k - 1, x)[()]


def psi_derivative(k: int, x: Any) -> Any:
    """Return the ``k``-th derivative of the digamma function."""
    return scipy.special.polygamma(k, x)[()]


def polygamma_derivative(k: int, n: Any, x: Any) -> Any:
    """Return the ``k``-th derivative by ``x`` of ``polygamma(n, x)``."""
    return scipy.special.polygamma(n + k, x)[()]


def zeta_derivative(k: int, s: Any, x: Any) -> Any:
    """Return the ``k``-th derivative by ``x`` of Hurwitz's ``zeta(s, x)`` (DLMF 25.11.17)."""
    return (-1.0) ** k * rising(k, s) * scipy.special.zeta(s + k, x)


def hyp0f1_derivative(k: int, b: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``hyp0f1(b, z)`` (DLMF 16.3.1)."""
    return scipy.special.hyp0f1(b + k, z) / rising(k, b)


def hyp1f1_derivative(k: int, a: Any, b: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``hyp1f1(a, b, z)`` (DLMF 13.3.16)."""
    return rising(k, a) / rising(k, b) * scipy.special.hyp1f1(a + k, b + k, z)


def hyp2f1_derivative(k: int, a: Any, b: Any, c: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``hyp2f1(a, b, c, z)`` (DLMF 15.5.2)."""
    factor = rising(k, a) * rising(k, b) / rising(k, c)
    return factor * scipy.special.hyp2f1(a + k, b + k, c + k, z)


def jv_derivative(k: int, v: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``jv(v, z)`` (DLMF 10.6.7)."""
    return scipy.special.jvp(v, z, k)


def yv_derivative(k: int, v: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``yv(v, z)`` (DLMF 10.6.7)."""
    return scipy.special.yvp(v, z, k)


def iv_derivative(k: int, v: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``iv(v, z)`` (DLMF 10.29.5)."""
    return scipy.special.ivp(v, z, k)


def kv_derivative(k: int, v: Any, z: Any) -> Any:
    """Return the ``k``-th derivative by ``z`` of ``kv(v, z)`` (DLMF 10.29.5)."""
    return scipy.special.kvp(v, z, k)


def j0_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``j0``."""
    return jv_derivative(k, 0, z)


def j1_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``j1``."""
    return jv_derivative(k, 1, z)


def y0_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``y0``."""
    return yv_derivative(k, 0, z)


def y1_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``y1``."""
    return yv_derivative(k, 1, z)


def i0_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``i0``."""
    return iv_derivative(k, 0, z)


def i1_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``i1``."""
    return iv_derivative(k, 1, z)


def k0_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``k0``."""
    return kv_derivative(k, 0, z)


def k1_derivative(k: int, z: Any) -> Any:
    """Return the ``k``-th derivative of ``k1``."""
    return kv_derivative(k, 1, z)


def sinc_of_order(k: int, x: Any) -> Any:
    """Return the ``k``-th derivative of ``np.sinc``."""
    return sinc_derivative(x, k)


__all__ = [
    "composed_series", "expit_series", "gamma_series", "hyp0f1_derivative", "hyp1f1_derivative",
    "hyp2f1_derivative", "hyperu_derivative", "i0_derivative", "i1_derivative", "iv_derivative",
    "j0_derivative", "j1_derivative", "jv_derivative", "k0_derivative", "k1_derivative",
    "kv_derivative", "loggamma_derivative", "polygamma_derivative", "psi_derivative",
    "sinc_of_order", "xlogy_series", "y0_derivative", "y1_derivative", "yv_derivative",
    "zeta_derivative",
]

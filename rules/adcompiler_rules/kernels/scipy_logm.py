"""Adjoints of the logarithm and of fractional powers of a matrix.

A. H. Al-Mohy, N. J. Higham, S. D. Relton, Computing the Frechet derivative of the matrix logarithm
and estimating the condition number, 2013: roots are taken until the matrix is close to the
identity, and the derivative follows them by Sylvester equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import expm_frechet, solve_sylvester, sqrtm

COVERED_WITH = "scipy.linalg"
"""The module whose rules come with those of these functions."""

NODES, WEIGHTS = (0.5 * (part + shift) for part, shift in zip(
    np.polynomial.legendre.leggauss(8), (1.0, 0.0), strict=True
))
"""Gauss's rule on [0, 1]: for ``log(i + x)`` it is the Pade approximant of degree 8."""

CLOSE = 0.25
"""How far from the identity that approximant is exact to double precision."""

MOST_ROOTS = 2.0**100


def logm_adjoint(a: Any, dy: Any) -> Any:
    """Return the cotangent of ``a`` for its principal logarithm: ``L(a^H, dy)``.

    With ``log(i + x) = integral of x (i + t x)^-1`` the derivative of the last root is the
    integral of ``(i + t x)^-1 e (i + t x)^-1``. Single precision is computed in double.
    """
    a = np.asarray(a)
    x, e, factor = a.astype(np.result_type(a, dy, np.float64)), dy, 1.0
    while is_far(x, factor):
        x = root(x)
        xH = np.conj(x.T)
        e = solve_sylvester(xH, xH, e)
        factor *= 2.0
    total: Any = 0.0
    for weight, inverse in resolvents(np.conj(x.T)):
        total = total + weight * (inverse @ e @ inverse)
    return factor * total


def power_adjoint(a: Any, t: float, dy: Any) -> Any:
    """Return the cotangent of ``a`` for ``a^t = exp(t log(a))``, principal."""
    a = np.asarray(a)
    exponent = t * np.conj(logarithm(a).T)
    return t * logm_adjoint(a, expm_frechet(exponent, dy, compute_expm=False))


def logarithm(a: Any) -> Any:
    """Return the principal logarithm of a matrix, in double precision.

    Unlike SciPy's it draws no random numbers: the same matrix has the same logarithm to the bit.
    """
    a = np.asarray(a)
    x, factor = a.astype(np.result_type(a, np.float64)), 1.0
    while is_far(x, factor):
        x, factor = root(x), 2.0 * factor
    total: Any = 0.0
    for weight, inverse in resolvents(x):
        total = total + weight * inverse
    return factor * ((x - np.eye(len(x))) @ total)


def root(x: Any) -> Any:
    """Return the principal square root of a matrix, in double precision.

    SciPy's is in extended precision before 1.12 where it is complex, which no other function takes.
    """
    y = sqrtm(x)
    return y.astype(np.complex128 if np.iscomplexobj(y) else np.float64)


def is_far(x: Any, factor: float) -> bool:
    """Say whether another root is to be taken."""
    return bool(np.linalg.norm(x - np.eye(len(x)), 1) > CLOSE and factor < MOST_ROOTS)


def resolvents(x: Any) -> Iterator[tuple[float, Any]]:
    """Yield ``(i + t (x - i))^-1`` at the nodes ``t``, each with its weight."""
    eye = np.eye(len(x))
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        yield weight, np.linalg.inv(eye + node * (x - eye))

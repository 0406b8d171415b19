"""The matrix exponential, kept so that its derivative takes up what the value was computed from.

A. H. Al-Mohy, N. J. Higham, Computing the Frechet derivative of the matrix exponential, 2009: the
powers, the factorised denominator of the Pade approximant and the repeated squares serve both.
The degree and the scaling follow their A new scaling and squaring algorithm for the matrix
exponential, 2009, which does not scale more than the powers of a matrix ask for.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

COVERED_WITH = "scipy.linalg"
"""The module whose rules come with those of these functions."""

DEGREES = {3: 1.08e-2, 5: 2.0e-1, 7: 7.83e-1, 9: 1.78, 13: 4.25}
"""Up to which size of a matrix an approximant is exact to double precision, derivative included."""

UNIT_ROUNDOFF = 2.0**-53


@dataclass(frozen=True, slots=True, eq=False)
class Exponential:
    """What the exponential of one matrix was computed from, the matrix scaled by ``2**-scaling``.

    ``powers`` are the even ones, from the square on. ``odd`` is the odd part of the numerator
    without its factor, ``upper`` and ``upper_odd`` what is multiplied by the sixth power in the
    even and odd part of degree 13. ``squares`` starts with the approximant itself.
    """

    degree: int
    scaling: int
    matrix: Any
    powers: tuple[Any, ...]
    odd: Any
    upper: Any
    upper_odd: Any
    factors: Any
    squares: tuple[Any, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Exponentials:
    """What the exponential of each matrix of a stack was computed from, in order, and its value."""

    matrices: Any
    each: tuple[Exponential, ...]
    value: Any


def expm_kept(a: Any) -> Exponentials:
    """Return ``scipy.linalg.expm(a)`` of matrices, and how that of each was computed."""
    a = np.asarray(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise np.linalg.LinAlgError("The input array must be at least 2D and square")
    if a.dtype.kind not in "fc":
        a = a.astype(float)
    y, kept = np.empty(a.shape, a.dtype), []
    for place in np.ndindex(a.shape[:-2] if a.size else (0,)):
        y[place], record = exponential(a[place])
        kept.append(record)
    return Exponentials(a, tuple(kept), y)


def expm_value(kept: Exponentials, a: Any) -> Any:
    """Return the exponential of ``a``, which is kept if it is that of the same matrices."""
    return kept_of(kept, a).value


def expm_adjoint(kept: Exponentials, a: Any, dy: Any) -> Any:
    """Return the cotangent of ``a`` for ``expm_value(kept, a)``: ``L(a^H, dy)``."""
    kept = kept_of(kept, a)
    a_bar = np.zeros(dy.shape, dy.dtype)
    if kept.each and np.iscomplexobj(kept.each[0].matrix):
        a_bar = a_bar.astype(np.result_type(dy, kept.each[0].matrix))
    for place, record in zip(np.ndindex(dy.shape[:-2]), kept.each, strict=False):
        a_bar[place] = adjoint_of_one(record, dy[place])
    return a_bar


def kept_of(kept: Exponentials, a: Any) -> Exponentials:
    """Return what is kept if it is of ``a``, otherwise what is computed of that."""
    same = kept.matrices is a or np.array_equal(kept.matrices, a, equal_nan=True)
    return kept if same else expm_kept(a)


def exponential(a: Any) -> tuple[Any, Exponential]:
    """Return the exponential of one matrix, and how it was computed."""
    square = a @ a
    fourth = square @ square
    sixth = fourth @ square
    size = max(one_norm(fourth) ** (1 / 4), one_norm(sixth) ** (1 / 6))
    degree, scaling = degree_and_scaling(a, size)
    factor = 2.0**-scaling
    a = a * factor
    powers = (square * factor**2, fourth * factor**4, sixth * factor**6)
    eye = np.eye(len(a), dtype=a.dtype)
    b = pade_coefficients(degree)
    upper = upper_odd = None
    if degree == 13:
        upper = combination(b[8::2], powers)
        upper_odd = combination(b[9::2], powers)
        even = powers[2] @ upper + combination(b[2:8:2], powers) + b[0] * eye
        odd = powers[2] @ upper_odd + combination(b[3:9:2], powers) + b[1] * eye
    else:
        powers = (*powers, fourth @ fourth)[: degree // 2]
        even = combination(b[2::2], powers) + b[0] * eye
        odd = combination(b[3::2], powers) + b[1] * eye
    product = a @ odd
    factors = lu_factor(even - product, check_finite=False)
    y = lu_solve(factors, even + product, check_finite=False)
    squares = []
    for _ in range(scaling):
        squares.append(y)
        y = y @ y
    first = squares[0] if squares else y
    return y, Exponential(
        degree, scaling, a, powers, odd, upper, upper_odd, factors, (first, *squares[1:])
    )


def adjoint_of_one(kept: Exponential, e: Any) -> Any:
    """Return the derivative of the exponential at ``a^H`` in the direction ``e``.

    Whatever it needs of ``a^H`` is the conjugate transpose of what the value needed of ``a``.
    """
    x = adjoint(kept.matrix)
    powers = [adjoint(power) for power in kept.powers]
    e = e * 2.0**-kept.scaling
    moved = list(moved_powers(x, powers, e))
    b = pade_coefficients(kept.degree)
    if kept.degree == 13:
        even = powers[2] @ combination(b[8::2], moved) + moved[2] @ adjoint(kept.upper)
        even = even + combination(b[2:8:2], moved)
        odd = powers[2] @ combination(b[9::2], moved) + moved[2] @ adjoint(kept.upper_odd)
        odd = odd + combination(b[3:9:2], moved)
    else:
        even, odd = combination(b[2::2], moved), combination(b[3::2], moved)
    product = x @ odd + e @ adjoint(kept.odd)
    value = adjoint(kept.squares[0])
    right = product + even + (product - even) @ value
    moved_value = lu_solve(kept.factors, right, trans=2, check_finite=False)
    for i in range(kept.scaling):
        value = adjoint(kept.squares[i])
        moved_value = value @ moved_value + moved_value @ value
    return moved_value


def moved_powers(x: Any, powers: list[Any], e: Any) -> Iterator[Any]:
    """Yield how the even powers of ``x`` change as it moves along ``e``."""
    previous = x @ e + e @ x
    yield previous
    for lower in powers[:-1]:
        first = x @ e + e @ x
        previous = lower @ first + previous @ powers[0]
        yield previous


def combination(coefficients: Any, matrices: Any) -> Any:
    """Return the sum of as many matrices as there are coefficients, each times its own."""
    total = coefficients[0] * matrices[0]
    for coefficient, matrix in zip(coefficients[1:], matrices[1:], strict=False):
        total = total + coefficient * matrix
    return total


def adjoint(a: Any) -> Any:
    """Return the conjugate transpose of a matrix."""
    return np.conj(a.T)


def one_norm(a: Any) -> float:
    """Return the greatest sum of a column's absolute values."""
    return float(np.max(np.sum(np.abs(a), 0), initial=0.0))


def pade_coefficients(degree: int) -> list[float]:
    """Return the coefficients of the numerator of the Pade approximant, the last one being 1."""
    return [
        float(math.factorial(2 * degree - j) // (math.factorial(j) * math.factorial(degree - j)))
        for j in range(degree + 1)
    ]


def degree_and_scaling(a: Any, size: float) -> tuple[int, int]:
    """Return the degree of the approximant for a matrix, and how often it is halved first."""
    for degree, limit in DEGREES.items():
        if degree < 13 and size <= limit and more_halvings(a, degree) == 0:
            return degree, 0
    if not math.isfinite(size):
        return 13, 0
    scaling = max(0, math.ceil(math.log2(size / DEGREES[13]))) if size > 0.0 else 0
    return 13, scaling + more_halvings(a * 2.0**-scaling, 13)


def more_halvings(a: Any, degree: int) -> int:
    """Return how often more a matrix is halved for rounding errors of ``abs(a)`` to stay small."""
    size = one_norm(a)
    if not 0.0 < size < math.inf:
        return 0
    rows, row = np.abs(a).astype(float), np.ones(len(a))
    for _ in range(2 * degree + 1):
        row = row @ rows
    leading = math.comb(2 * degree, degree) * math.factorial(2 * degree + 1)
    rate = float(np.max(row)) / size / leading
    if not 0.0 < rate < math.inf:
        return 0
    return max(0, math.ceil(math.log2(rate / UNIT_ROUNDOFF) / (2 * degree)))

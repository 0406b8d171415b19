"""Truncated Taylor series: coefficients of functions, order by order.

A value ``x`` that moves along ``x(t)`` is kept in two parts: ``x`` itself, its coefficient of order
0, and ``dx``, the coefficients of orders 1 to K, ``x^(k)(0) / k!``, along a leading axis: of shape
``(K, *shape of x)``, of the dtype of ``x``. The functions return the latter of their result, which
some are given as ``y`` or ``z``. None stands for the coefficients of a constant.

The recurrences are those of Griewank and Walther, Evaluating Derivatives (2008), chapter 13, tables
13.1 and 13.2. They take O(K**2) operations, as O(K) calls of NumPy. Where a coefficient does not
exist it is inf or nan, without a warning.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.runtime.series import Function, of_coefficients


def silent(function: Function) -> Function:
    """Return a function that divides by zero and computes with inf and nan without a warning."""

    @functools.wraps(function)
    def silent_function(*args: Any, **kwargs: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return silent_function  # type: ignore[return-value]


# -- sums over orders ------------------------------------------------------------------------------


def orders_of(x: Any, dx: Any) -> list[Any]:
    """Return the coefficients from order 0 on: Python numbers, or arrays."""
    if dx.ndim > 1:
        return [np.asarray(x), *dx]
    return [x.item() if isinstance(x, (np.generic, np.ndarray)) else x, *dx.tolist()]


def folded(a: list[Any], b: list[Any]) -> Any:
    """Return the sum of ``a[j] b[k - j]`` for j from 1 to k, the length of ``b``."""
    return sum(map(operator.mul, a[1 : len(b) + 1], reversed(b)))


def cauchy(a: list[Any], b: list[Any]) -> list[Any]:
    """Return the product of two series."""
    return [sum(map(operator.mul, a[: k + 1], b[k::-1])) for k in range(len(a))]


def by_order(a: list[Any]) -> list[Any]:
    """Return coefficients times their orders."""
    return [k * c for k, c in enumerate(a)]


def from_first(c: list[Any], kind: Any) -> np.ndarray:
    """Return coefficients from order 1 on as an array of a dtype."""
    found = np.array(c[1:]) if not isinstance(c[-1], np.ndarray) else np.stack(c[1:])
    return found if found.dtype == kind else found.astype(kind)


def kind_of(z: Any) -> Any:
    """Return the dtype of the coefficients of a value."""
    if isinstance(z, (np.ndarray, np.generic)):
        return z.dtype
    return np.dtype(complex if isinstance(z, complex) else float)


def number(z: Any) -> Any:
    """Return a number of Python for one, an array as it is."""
    return z.item() if isinstance(z, np.generic) or (
        isinstance(z, np.ndarray) and z.ndim == 0
    ) else z


def divisor(z: Any) -> Any:
    """Return what can be divided by: NumPy's zero for Python's."""
    return z if isinstance(z, np.ndarray) or z else np.asarray(z)[()]


# -- arithmetic ------------------------------------------------------------------------------------


@of_coefficients(1, 3)
@silent
def product_series(x: Any, dx: Any, y: Any, dy: Any) -> np.ndarray:
    """Return the coefficients of ``x * y``, both of which vary."""
    return from_first(cauchy(orders_of(x, dx), orders_of(y, dy)), np.result_type(dx, dy))


@of_coefficients(1, 3)
@silent
def quotient_series(x: Any, dx: Any, y: Any, dy: Any, z: Any) -> np.ndarray:
    """Return the coefficients of ``z = x / y``, where ``y`` varies and ``x`` may: ``x = y z``."""
    return quotient_with(operator.truediv, folded, x, dx, y, dy, z)


def quotient_with(
    divide: Callable[[Any, Any], Any], fold: Callable[[Any, Any], Any], x: Any, dx: Any, y: Any,
    dy: Any, z: Any,
) -> np.ndarray:
    """Return the coefficients of a quotient: ``fold`` sums the terms of lower orders of ``z``."""
    a = [0.0] * (len(dy) + 1) if dx is None else orders_of(x, dx)
    b, c = orders_of(y, dy), [number(z)]
    first = divisor(b[0])
    for k in range(1, len(b)):
        c.append(divide(a[k] - fold(b, c), first))
    return from_first(c, kind_of(z))


# -- powers ----------------------------------------------------------------------------------------


@of_coefficients(1)
@silent
def power_series(x: Any, dx: Any, a: Any, z: Any) -> np.ndarray:
    """Return the coefficients of ``z = x**a`` for a constant exponent, a number or an array.

    Powers of whole exponents from 0 on are products, exact for every base. Other ones obey ``x z' =
    a z x'``; at ``x = 0`` they have the coefficients 0 below the order ``a``, beyond no finite one.
    """
    base = orders_of(x, dx)
    if np.ndim(a) == 0 and is_whole(a):
        return from_first(whole_power(base, int(np.real(a))), kind_of(z))
    c, a = [number(z)], number(a)
    first, weighted = divisor(base[0]), by_order(base)
    for k in range(1, len(base)):
        c.append(((a + 1) * folded(weighted, c) - k * folded(base, c)) / (k * first))
    if not np.any(base[0] == 0):
        return from_first(c, kind_of(z))
    shape = np.shape(z)
    found = np.stack([np.broadcast_to(row, shape) for row in c]).astype(kind_of(z))
    along = np.stack([np.broadcast_to(row, shape) for row in base])
    at_zero(along, np.broadcast_to(a, shape), found)
    return found[1:]


def is_whole(a: Any) -> bool:
    """Say whether an exponent is 0, 1, 2, ..."""
    return bool(np.imag(a) == 0 and np.real(a) >= 0 and np.real(a) % 1 == 0)


def whole_power(a: list[Any], n: int) -> list[Any]:
    """Return the ``n``-th power of a series, by repeated squaring."""
    one, zero = (np.ones_like(a[0]), np.zeros_like(a[0])) if np.ndim(a[0]) else (1.0, 0.0)
    found = [one, *[zero] * (len(a) - 1)]
    first = True
    while n:
        if n & 1:
            found = a if first else cauchy(found, a)
            first = False
        n >>= 1
        if n:
            a = cauchy(a, a)
    return found


def at_zero(base: np.ndarray, exponents: np.ndarray, c: np.ndarray) -> None:
    """Write the coefficients of powers of bases that are 0 into ``c``."""
    for index in zip(*np.nonzero(np.atleast_1d(base[0] == 0)), strict=True):
        place = index if base.ndim > 1 else ()
        a, along = exponents[place], (slice(None), *place)
        if is_whole(a):
            c[along] = whole_power(list(base[along]), int(np.real(a)))
            continue
        orders = np.arange(1, len(c))
        first = math.ceil(np.real(a))
        c[(slice(1, None), *place)] = np.where(
            (orders < np.real(a)) & (np.real(a) > 0), 0.0, np.nan
        )
        if 0 < first < len(c):
            c[(first, *place)] = base[(1, *place)] ** first * np.inf


@of_coefficients(1, 3)
@silent
def exponent_series(x: Any, dx: Any, a: Any, da: Any, z: Any) -> np.ndarray:
    """Return the coefficients of ``z = x**a`` where the exponent varies, and ``x`` may.

    They are those of ``exp(a log(x))``: nan for negative numbers, where there is no derivative. For
    a constant ``x = 0`` they are 0, as those of positive exponents are.
    """
    base = np.asarray(x)
    if kind_of(z).kind != "c":
        base = np.where(base < 0, np.nan, base)
    if dx is None:
        rate = number(np.where(base == 0, 0.0, np.log(np.where(base == 0, 1.0, base))))
        exponent = [rate * c for c in orders_of(a, da)]
    else:
        y = np.log(base)
        logarithm = orders_of(y, log_series(base, dx, y))
        exponent = cauchy(orders_of(a, da), logarithm)
    return from_first(exponentials(exponent, z, 1.0, 0.0), kind_of(z))


@of_coefficients(1, 3)
@silent
def hypot_series(x: Any, dx: Any, y: Any, dy: Any, z: Any) -> np.ndarray:
    """Return the coefficients of ``z = hypot(x, y)``; at the origin, where it has a kink, 0."""
    size = number(np.where(z == 0, 1.0, z).astype(kind_of(z)))
    total = [0.0] * (len(dy if dx is None else dx) + 1)
    for value, d in ((x, dx), (y, dy)):
        if d is None:
            total[0] = total[0] + (value / size) ** 2
        else:
            part = [c / size for c in orders_of(value, d)]
            total = list(map(operator.add, total, cauchy(part, part)))
    slopes = power_series(total[0], np.stack(total[1:]), 0.5, np.sqrt(total[0])) * size
    return np.where(z == 0, 0.0, slopes).astype(kind_of(z), copy=False)


@of_coefficients(1)
def modulus_series(x: Any, dx: Any, z: Any) -> np.ndarray:
    """Return the coefficients of the absolute values ``z`` of complex numbers."""
    return hypot_series(np.real(x), dx.real, np.imag(x), dx.imag, z)


# -- exponentials and logarithms -------------------------------------------------------------------


@of_coefficients(1)
@silent
def exp_series(x: Any, dx: Any, y: Any, rate: float = 1.0, shift: float = 0.0) -> np.ndarray:
    """Return the coefficients of a ``y`` with ``y' = rate (y + shift) x'``, such as ``exp(x)``."""
    return from_first(exponentials(orders_of(x, dx), y, rate, shift), kind_of(y))


def exponentials(a: list[Any], y: Any, rate: float, shift: float) -> list[Any]:
    """Return the series of a ``y`` with ``y' = rate (y + shift) a'``; that of order 0 shifted."""
    c, weighted = [number(y) + shift], by_order(a)
    for k in range(1, len(a)):
        c.append(folded(weighted, c) * (rate / k))
    return c


@of_coefficients(1)
@silent
def log_series(x: Any, dx: Any, y: Any, rate: float = 1.0, shift: float = 0.0) -> np.ndarray:
    """Return the coefficients of a ``y`` with ``(x + shift) y' = rate x'``, such as ``log(x)``."""
    a = orders_of(x, dx)
    first = divisor(a[0] + shift)
    c, weighted = [number(y)], [0.0]
    for k in range(1, len(a)):
        inner = sum(map(operator.mul, weighted[1:], a[k - 1 : 0 : -1]))
        weighted.append((k * a[k] * rate - inner) / first)
        c.append(weighted[k] / k)
    return from_first(c, kind_of(y))


# -- trigonometric and hyperbolic functions --------------------------------------------------------


@silent
def waves(s: Any, c: Any, x: Any, dx: Any, sign: float) -> tuple[list[Any], list[Any]]:
    """Return the series of ``s`` and ``c`` with ``s' = c x'`` and ``c' = sign s x'``."""
    first, second, weighted = [number(s)], [number(c)], by_order(orders_of(x, dx))
    for k in range(1, len(weighted)):
        rise, fall = folded(weighted, second) / k, folded(weighted, first) * (sign / k)
        first.append(rise)
        second.append(fall)
    return first, second


@of_coefficients(1)
def sin_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = sin(x)``."""
    return from_first(waves(y, np.cos(x), x, dx, -1.0)[0], kind_of(y))


@of_coefficients(1)
def cos_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = cos(x)``."""
    return from_first(waves(np.sin(x), y, x, dx, -1.0)[1], kind_of(y))


@of_coefficients(1)
def sinh_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = sinh(x)``."""
    return from_first(waves(y, np.cosh(x), x, dx, 1.0)[0], kind_of(y))


@of_coefficients(1)
def cosh_series(x: Any, dx: Any, y: Any) -> np.ndarray:
    """Return the coefficients of ``y = cosh(x)``."""
    return from_first(waves(np.sinh(x), y, x, dx, 1.0)[1], kind_of(y))


@of_coefficients(1)
@silent
def tan_series(x: Any, dx: Any, y: Any, sign: float = 1.0) -> np.ndarray:
    """Return the coefficients of a ``y`` with ``y' = (1 + sign y**2) x'``: tan, or tanh with -1."""
    c, weighted = [number(y)], by_order(orders_of(x, dx))
    slope = [1.0 + sign * c[0] * c[0]]
    for k in range(1, len(weighted)):
        c.append(folded(weighted, slope) / k)
        slope.append(sign * (c[0] * c[k] + folded(c, c[:-1])))
    return from_first(c, kind_of(y))

"""Solutions written so that each statement may be differentiated: tangents, and higher orders.

A solution that is known, ``x``, is a fixed point of ``x - F(x, p) / s`` with the slope ``s`` of
``F`` there, taken as constant. If ``x`` has derivatives in ``p`` up to an order, this has them up
to the next one, since its own derivative in ``x`` is zero there (Christianson, Reverse accumulation
and attractive fixed points, Optimization Methods and Software 3, 1994). So as many steps as there
are orders have all of them; the value stays as it is.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import (
    call, frule, function_of, gradient_of, jacobian_of, non_differentiable, passive, rrule, typed,
)
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import stop_gradient
from adcompiler_rules.kernels.scipy_quadrature import checked_tangent, places_of_integral, settled
from adcompiler_rules.implicit import check_square, refuse_unsolved

non_differentiable(places_of_integral)


def followed_root(f, x, args, operands, order):
    """Follow a root of ``f(x, *args)``, a number or an array."""
    x = stop_gradient(x)
    if order > MOST:
        raise UncoveredError(f"solutions have derivatives up to the order {MOST}")
    if np.ndim(x) == 0:
        slope = stop_gradient(gradient_of(f)(x, *args))
        x = typed(passive(checked_number, operands, f(x, *args), slope, x), x)
    else:
        slope = stop_gradient(jacobian_of(f)(x, *args))
        x = typed(passive(checked_system, operands, f(x, *args), slope, x), x)
    x = after_step(f, x, args, slope)
    if order > 1:
        x = after_step(f, x, args, slope)
    if order > 2:
        x = after_step(f, x, args, slope)
    if order > 3:
        x = after_step(f, x, args, slope)
    return x


MOST = 4
"""The highest order. (The steps are written out, as loops of which derivatives are compiled again
hide what types they keep.)"""


def after_step(f, x, args, slope):
    """Return ``x`` after a step that does not change its value."""
    if np.ndim(x) == 0:
        step = f(x, *args) / slope
    elif np.ndim(x) == 1:
        step = np.linalg.solve(slope, f(x, *args))
    else:
        matrix = np.reshape(slope, (np.size(x), np.size(x)))
        step = np.reshape(np.linalg.solve(matrix, np.ravel(f(x, *args))), np.shape(x))
    return x + (stop_gradient(step) - step)


def checked_number(operands, y, slope, x):
    """Return a number; raise where it is no root, and the solver says so."""
    with np.errstate(divide="ignore", invalid="ignore"):
        refuse_unsolved(operands, lambda: np.divide(y, slope), x)
    return x


def checked_system(operands, y, slope, x):
    """Return an array; raise where it is no root, and the solver says so, or not square."""
    check_square(x, y)
    matrix = np.reshape(slope, (np.size(y), np.size(x)))
    refuse_unsolved(operands, lambda: np.linalg.lstsq(matrix, np.ravel(y), rcond=None)[0], x)
    return x


def followed_fixed_point(f, x, args, operands, order):
    """Follow a fixed point of ``f``, a number or an array."""
    def residual(x, *args):
        return x - f(x, *args)

    return followed_root(residual, x, args, operands, order)


# -- integrals -------------------------------------------------------------------------------------


def followed_integral(f, value, args, operands, order):
    """Follow an integral of ``f(x, *args)`` from ``a`` to ``b``: as a sum over fixed places.

    The places are dense wherever the integrand asks for it, and towards both limits, where
    derivatives may be singular and it is not. The value stays that of the library. Whether places
    do for a derivative is checked of tangents, so that there is no second one.
    """
    a, b, options = operands
    low = a if np.isfinite(a) else 0.0
    high = b if np.isfinite(b) else 0.0
    function = function_of(f, (0.0,), args)
    table = typed(passive(places_of_integral, function, a, b, options), np.zeros((5, 1)))
    total = np.zeros_like(value) if isinstance(value, np.ndarray) else 0.0
    coarse = total
    for k in range(table.shape[1]):
        x = table[0, k] * low + table[1, k] * high + table[2, k]
        y = f(x, *args)
        total = total + table[3, k] * y
        coarse = coarse + table[4, k] * y
    if np.isfinite(a) and np.isfinite(b):
        total = total * (high - low)
        coarse = coarse * (high - low)
    total = settled(total, coarse)
    return value + (total - stop_gradient(total))


@rrule(settled, wrt=("fine",), templates=("coarse",), domain=lambda rng: [call(1.5, 1.5)])
def settled_rule(fine, coarse):
    def settled_pullback(dy):
        return dy

    return settled(fine, coarse), settled_pullback


@frule(settled)
def settled_forward(primals, tangents):
    (fine, _), (dfine, dcoarse) = primals, tangents
    return fine, None if dfine is None else checked_tangent(dfine, dcoarse)

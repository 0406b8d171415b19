"""Solutions written so that each statement may be differentiated: tangents, and higher orders.

A solution that is known, ``x``, is a fixed point of ``x - F(x, p) / s`` with the slope ``s`` of
``F`` there, taken as constant. If ``x`` has derivatives in ``p`` up to an order, this has them up
to the next one, since its own derivative in ``x`` is zero there (Christianson, Reverse accumulation
and attractive fixed points, Optimization Methods and Software 3, 1994). So as many steps as there
are orders have all of them; the value stays as it is.
"""

from __future__ import annotations

import numpy as np

from adcompiler.rulekit import gradient_of, jacobian_of, passive, typed
from adcompiler.rulekit.problems import UncoveredError
from adcompiler.runtime import stop_gradient
from adcompiler_rules.implicit import check_square, refuse_unsolved


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

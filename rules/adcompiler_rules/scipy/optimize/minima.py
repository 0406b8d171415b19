"""Minima as what they are for their derivatives: roots of slopes, or of ways to bounds."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from adcompiler.rulekit import function_of, gradient_of, implied, passive, typed
from adcompiler_rules.followed import followed_root
from adcompiler_rules.implicit import active_bounds, root_pullback


def stationary(objective, args, x, success, message):
    """Return a minimum as what it is for its derivative: a root of the gradient."""

    def slope(x, *args):
        return gradient_of(objective)(x, *args)

    return implied(
        root_pullback, slope, (x,), args, x, operands=(success, message), followed=followed_root
    )


def at_bounds(objective, args, x, ends, success, message):
    """Return a minimum between bounds as a root: of the slope, or of the distance to a bound."""
    low, high = ends
    slope = passive(function_of(gradient_of(objective), (x,), args), x)
    active = typed(passive(active_bounds, x, slope, low, high), np.zeros((2, 1), bool))

    def condition(x, low, high, active, *args):
        slope = gradient_of(objective)(x, *args)
        return np.where(active[0], x - low, np.where(active[1], x - high, slope))

    return implied(
        root_pullback, condition, (x,), (low, high, active, *args), x,
        operands=(success, message), followed=followed_root,
    )


def ends_of(bounds):
    """Return lower and upper bounds as arrays."""
    if isinstance(bounds, optimize.Bounds):
        return bounds.lb, bounds.ub
    if isinstance(bounds, np.ndarray):
        return bounds[:, 0], bounds[:, 1]
    low = np.array([-np.inf if pair[0] is None else pair[0] for pair in bounds])
    high = np.array([np.inf if pair[1] is None else pair[1] for pair in bounds])
    return low, high


def ends_around(bounds, start):
    """Return lower and upper bounds of a pair of numbers or arrays, or ``Bounds``, as arrays."""
    if isinstance(bounds, optimize.Bounds):
        low, high = bounds.lb, bounds.ub
    else:
        low, high = bounds[0], bounds[1]
    return np.zeros_like(start) + np.asarray(low), np.zeros_like(start) + np.asarray(high)


def everywhere(start):
    """Return bounds that bound nothing."""
    return np.full_like(start, -np.inf), np.full_like(start, np.inf)

"""Minima under constraints: ``scipy.optimize.minimize(constraints=)``.

Where constraints that are active stay so, a minimum is a root of the conditions of Karush, Kuhn and
Tucker, in the variables and the multipliers (A. V. Fiacco, *Introduction to Sensitivity and
Stability Analysis in Nonlinear Programming*, 1983, section 3.2). They stay active if their
gradients are independent and their multipliers lead out of the region, which is checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from adcompiler.rulekit import (
    function_of, gradient_of, implied, jacobian_of, non_differentiable, passive, replacement, typed,
)
from adcompiler.runtime import stop_gradient
from adcompiler_rules.followed import followed_root
from adcompiler_rules.implicit import AT_BOUND, WEAK, active_bounds, root_pullback

NEAR = 1e-3
"""How far the next step of Newton's method may lead, relative to minimum and multipliers."""
CLOSE = 1e-4
"""How near a constraint a minimum is at it if that has a multiplier: methods of interior points
stop before it. Relative to the minimum, as ``AT_BOUND``.
"""
UNSOLVED = (
    "the conditions of Karush, Kuhn and Tucker do not hold for the constraints that are active at "
    "the point returned; a smaller tol= may help")


@dataclass
class Linear:
    """``scipy.optimize.LinearConstraint``, made in a function."""

    A: Any
    lb: Any
    ub: Any
    keep_feasible: Any


@dataclass
class Nonlinear:
    """``scipy.optimize.NonlinearConstraint``, made in a function."""

    fun: Any
    lb: Any
    ub: Any
    jac: Any
    hess: Any
    keep_feasible: Any
    finite_diff_rel_step: Any
    finite_diff_jac_sparsity: Any


@replacement(optimize.LinearConstraint)
def linear_constraint(A, lb=-np.inf, ub=np.inf, keep_feasible=False):
    return Linear(np.atleast_2d(np.asarray(A)) * 1.0, lb, ub, keep_feasible)


@replacement(optimize.NonlinearConstraint)
def nonlinear_constraint(
    fun, lb, ub, jac="2-point", hess=None, keep_feasible=False, finite_diff_rel_step=None,
    finite_diff_jac_sparsity=None,
):
    return Nonlinear(
        fun, lb, ub, jac, hess, keep_feasible, finite_diff_rel_step, finite_diff_jac_sparsity)


def values_of(constraint, x):
    """Return the values that a constraint bounds, as a vector."""
    if isinstance(constraint, dict):
        found = constraint["fun"](x, *constraint.get("args", ()))
    elif isinstance(constraint, (Linear, optimize.LinearConstraint)):
        found = constraint.A @ x
    else:
        found = constraint.fun(x)
    return np.ravel(np.asarray(found)) * 1.0


def ends_of(constraint, values):
    """Return what bounds the values of a constraint, below and above."""
    if not isinstance(constraint, dict):
        return constraint.lb + np.zeros_like(values), constraint.ub + np.zeros_like(values)
    top = np.zeros_like(values) if constraint["type"] == "eq" else np.full_like(values, np.inf)
    return np.zeros_like(values), top


def for_library(constraint, start):
    """Return a constraint as the library takes it."""
    if isinstance(constraint, dict):
        given = constraint.get("args", ())
        function = function_of(constraint["fun"], (start,), given)
        slope = constraint.get("jac", None)
        if slope is not None and not isinstance(slope, (bool, str)):
            slope = function_of(slope, (start,), given)
        return passive(dict, type=constraint["type"], fun=function, jac=slope)
    if isinstance(constraint, Linear):
        return passive(
            optimize.LinearConstraint, constraint.A, constraint.lb, constraint.ub,
            constraint.keep_feasible)
    if isinstance(constraint, Nonlinear):
        slope = constraint.jac
        if not isinstance(slope, str):
            slope = function_of(slope, (start,), ())
        curvature = constraint.hess
        if curvature is None:
            curvature = passive(optimize.BFGS)
        elif not isinstance(curvature, str):
            curvature = function_of(curvature, (start, values_of(constraint, start)), ())
        return passive(
            optimize.NonlinearConstraint, function_of(constraint.fun, (start,), ()),
            constraint.lb, constraint.ub, slope, curvature, constraint.keep_feasible,
            constraint.finite_diff_rel_step, constraint.finite_diff_jac_sparsity)
    return constraint


def each_of(constraints):
    """Return constraints as a list."""
    return constraints if isinstance(constraints, (list, tuple)) else [constraints]


def minimum_under(constraints, objective, args, x, ends):
    """Return a minimum as what it is for its derivative: a root, with its multipliers.

    ``ends`` are the bounds of the variables, below and above.
    """
    low, high = ends

    def values(x):
        reached = np.zeros(0)
        for one in constraints:
            reached = np.concatenate((reached, values_of(one, x)))
        return reached

    least, most = np.zeros(0), np.zeros(0)
    for one in constraints:
        pair = ends_of(one, stop_gradient(values_of(one, x)))
        least, most = np.concatenate((least, pair[0])), np.concatenate((most, pair[1]))
    normals = function_of(jacobian_of(values), (x,), ())
    slope = function_of(gradient_of(objective), (x,), args)
    reached = stop_gradient(values(x))
    found = passive(active_set, x, slope, normals, reached, (least, most), (low, high))
    z = typed(found[0], x)
    at = typed(found[1], np.zeros((2, 1), bool))

    def lagrangian(x, multipliers, *args):
        return objective(x, *args) - multipliers @ values(x)

    def condition(z, low, high, least, most, at, *args):
        n = np.size(low)
        x, multipliers = z[:n], z[n:]
        slope = gradient_of(lagrangian)(x, multipliers, *args)
        reached = values(x)
        top = np.where(at[0, :n], x - low, np.where(at[1, :n], x - high, slope))
        bottom = np.where(
            at[0, n:], reached - least, np.where(at[1, n:], reached - most, multipliers))
        return np.concatenate((top, bottom))

    whole = implied(
        root_pullback, condition, (z,), (low, high, least, most, at, *args), z,
        operands=(False, UNSOLVED, NEAR), followed=followed_root)
    return whole[: np.size(x)]


def active_set(x, slope, normals, values, limits, bounds):
    """Return a minimum with its multipliers, and which lower and upper bounds are active.

    What is active comes in two rows, of the variables and of the constraints. ValueError where it
    is not determined what stays active.
    """
    slope, normals = np.asarray(slope(x)), np.asarray(normals(x))
    (least, most), (low, high) = limits, bounds
    scale = np.linalg.norm(normals, axis=1) * (1.0 + np.max(np.abs(x), initial=0.0))
    nearest = np.minimum(values - least, most - values)
    free = np.minimum(x - low, high - x) > AT_BOUND * (1.0 + np.abs(x))
    weak = WEAK * (1.0 + np.max(np.abs(slope), initial=0.0))
    pressed = np.abs(multipliers_of(nearest <= CLOSE * scale, free, slope, normals)) * scale > weak
    near = np.where(pressed, CLOSE, AT_BOUND) * scale
    at_least, at_most = values - least <= near, most - values <= near
    active, fixed = at_least | at_most, at_least & at_most
    if np.linalg.matrix_rank(normals[active][:, free]) < np.sum(active):
        raise ValueError(
            "the gradients of the constraints that are active at the minimum depend on one "
            "another: their multipliers are not determined, so it has no derivative")
    multipliers = multipliers_of(active, free, slope, normals)
    outward = fixed | (at_least & (multipliers * scale > weak)) | (
        at_most & (multipliers * scale < -weak))
    if np.any(active & ~outward):
        k = int(np.flatnonzero(active & ~outward)[0])
        raise ValueError(
            f"the minimum lies at constraint {k}, with a multiplier of {multipliers[k]:.3g}: "
            "whether it stays there is not determined, so it has no derivative")
    at_bounds = active_bounds(x, slope - multipliers @ normals, low, high)
    at = np.stack([at_least, at_most & ~at_least])
    return np.concatenate((x, multipliers)), np.concatenate((at_bounds, at), axis=1)


def multipliers_of(active, free, slope, normals):
    """Return the multipliers of active constraints, in least squares; 0 for the others."""
    multipliers = np.zeros(active.size)
    matrix = normals[active][:, free]
    multipliers[active] = np.linalg.lstsq(matrix.T, slope[free], rcond=None)[0]
    return multipliers


non_differentiable(active_set)

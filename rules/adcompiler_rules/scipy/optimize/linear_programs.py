"""Linear programs: ``scipy.optimize.linprog``.

A solution that is the only one is a vertex: as many of the constraints hold there with equality as
there are unknowns, and while the same ones do it solves their equations (D. Bertsimas and J. N.
Tsitsiklis, *Introduction to Linear Optimization*, 1997, chapter 5). It is checked that they are
independent and that their multipliers are not 0, when a derivative is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from adcompiler.rulekit import implied, non_differentiable, passive, replacement, typed
from adcompiler_rules.followed import followed_root
from adcompiler_rules.implicit import root_pullback

AT_VERTEX, WEAK = 1e-7, 1e-9
"""How near a constraint a vertex is at it, and how small a multiplier is 0, relative to others."""


@dataclass
class LinearSolution:
    """What ``linprog`` returns, with derivatives of ``x``, ``fun``, ``slack`` and ``con``."""

    x: Any
    fun: Any
    slack: Any
    con: Any
    success: bool
    status: int
    message: str
    nit: int


def rows_of(matrix, right, c):
    """Return the rows and right sides of constraints, none of them if none are given."""
    if matrix is None:
        return np.zeros((0, np.size(c))), np.zeros(0)
    return np.asarray(matrix) * 1.0, np.ravel(np.asarray(right)) * 1.0


def limits_of(bounds, c):
    """Return lower and upper bounds of each variable."""
    if bounds is None:
        return np.zeros_like(c), np.full_like(c, np.inf)
    if isinstance(bounds, np.ndarray):
        pairs = np.reshape(bounds, (-1, 2)) * 1.0
        return np.zeros_like(c) + pairs[:, 0], np.zeros_like(c) + pairs[:, 1]
    if isinstance(bounds[0], (list, tuple)):
        low = np.array([-np.inf if pair[0] is None else pair[0] for pair in bounds])
        high = np.array([np.inf if pair[1] is None else pair[1] for pair in bounds])
        return np.zeros_like(c) + low, np.zeros_like(c) + high
    least = -np.inf if bounds[0] is None else bounds[0]
    most = np.inf if bounds[1] is None else bounds[1]
    return np.zeros_like(c) + least, np.zeros_like(c) + most


@replacement(optimize.linprog)
def linprog(
    c, A_ub=None, b_ub=None, A_eq=None, b_eq=None, bounds=(0, None), method="highs", *,
    options=None,
):
    cost = np.ravel(np.asarray(c)) * 1.0
    upper, least = rows_of(A_ub, b_ub, cost)
    equal, same = rows_of(A_eq, b_eq, cost)
    low, high = limits_of(bounds, cost)
    units = np.eye(np.size(cost))
    rows = np.concatenate((equal, upper, units, units))
    right = np.concatenate((same, least, low, high))
    found = passive(
        optimize.linprog, c, A_ub=A_ub, b_ub=b_ub, A_eq=A_eq, b_eq=b_eq, bounds=bounds,
        method=method, options=options)
    kept = passive(vertex_of, found, cost, rows, right, (np.size(same), np.size(least)))
    held = typed(kept[1], np.zeros(1, int))

    def condition(x, rows, right, cost, held):
        return rows[held] @ x - right[held] + 0.0 * cost  # so that it is checked where costs move

    x = implied(
        vertex_pullback, condition, (typed(kept[0], cost),), (rows, right, cost, held),
        typed(kept[0], cost), operands=(typed(kept[2], ""),), followed=followed_vertex)
    return LinearSolution(
        x, cost @ x, least - upper @ x, same - equal @ x, typed(found.success, True),
        typed(found.status, 0), typed(found.message, ""), typed(found.nit, 0))


def vertex_of(found, cost, rows, right, counts):
    """Return the solution, the constraints that determine it, and why it has no derivative, or "".

    Constraints come in the order: equalities, inequalities, lower and upper bounds.
    """
    n = cost.size
    none = np.zeros(n, int)
    if found.x is None or not found.success:
        x = np.full(n, np.nan) if found.x is None else found.x
        return x, none, f"linprog() found no solution: {found.message}"
    x = found.x
    equalities, inequalities = counts
    gap = np.abs(rows @ x - np.where(np.isfinite(right), right, np.inf))
    gap[~np.isfinite(right)] = np.inf
    sizes = np.linalg.norm(rows, axis=1) * (1.0 + np.max(np.abs(x), initial=0.0))
    near = gap <= AT_VERTEX * sizes
    near[:equalities] = True
    twice = near[-n:] & near[-2 * n : -n]
    near[-n:] &= ~twice
    held = np.flatnonzero(near)
    if held.size < n or np.linalg.matrix_rank(rows[held]) < n:
        return x, none, "the solution of linprog() is not the only one"
    if held.size > n:
        return x, none, (
            "more constraints hold with equality at the solution of linprog() than there are "
            "unknowns: which of them determine it is not known")
    multipliers = np.linalg.solve(rows[held].T, cost)
    signs = np.ones(rows.shape[0])
    signs[equalities : equalities + inequalities] = -1.0
    signs[-n:] = -1.0
    free = held < equalities
    free |= np.isin(held, np.flatnonzero(twice) + rows.shape[0] - 2 * n)
    if np.any(~free & ~(signs[held] * multipliers > WEAK * np.max(np.abs(multipliers)))):
        return x, none, "a multiplier is 0 at the solution of linprog(): it is not the only one"
    return x, held, ""


def vertex_pullback(f, g, x, operands, rest):
    """Pull back the cotangent of a vertex."""
    if np.any(g):
        determined(x, operands[0])
        return (None, *root_pullback(f, g, x, (), rest))
    return (None, *f.zeros(rest))


def followed_vertex(f, x, args, operands, order):
    """Follow a vertex, a root of linear equations."""
    x = typed(passive(determined, x, operands[0]), x)
    return followed_root(f, x, args, (), order)


def determined(x, problem):
    """Return a vertex; raise where it is not determined which constraints hold there."""
    if problem:
        raise ValueError(f"{problem}; so it has no derivative")
    return x


non_differentiable(vertex_of, vertex_pullback, determined)

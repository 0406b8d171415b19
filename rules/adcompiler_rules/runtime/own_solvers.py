"""Solvers of one's own, with the equation that they solve: ``adcompiler.implicit``."""

import numpy as np

from adcompiler.rulekit import implied, non_differentiable, passive, replacement, typed
from adcompiler.runtime import stop_gradient
from adcompiler.runtime.implicit import implicit, solution_like, solution_of
from adcompiler_rules.followed import followed_root
from adcompiler_rules.implicit import root_pullback

non_differentiable(solution_like)
UNSOLVED = "the next step of Newton's method leads farther than `rtol`, relative to it"


@replacement(implicit)
def implicit_(residual, *, rtol=1e-6, returns=None):
    if returns is not None and np.asarray(returns).dtype.kind not in "fc":
        raise TypeError("implicit: `returns` is a float, a complex number or an array of such")

    def decorate(solver):
        def solved(*params):
            return solution_of(residual, solver, rtol, returns, *params)

        return solved

    return decorate


@replacement(solution_of)
def solution_of_(residual, solver, rtol, returns, *params):
    def equation(y, *params):
        return residual(y, *params)

    if returns is None:
        y = stop_gradient(solver(*params))
    else:
        y = typed(passive(solution_like, returns, solver, *params), returns)
    if isinstance(y, (tuple, list, dict)):
        raise TypeError("implicit: the solver returns a number or an array")
    return implied(
        root_pullback, equation, (y,), params, y, operands=(False, UNSOLVED, rtol),
        followed=followed_root,
    )

"""Least squares without negative numbers: ``scipy.optimize.nnls``.

What is 0 stays 0 as long as the slope there leads out of the region (strict complementarity); the
rest solves the normal equations (Lawson and Hanson, *Solving Least Squares Problems*, chapter 23).
"""

import numpy as np
from scipy import optimize

from adcompiler.rulekit import implied, non_differentiable, passive, replacement, typed
from adcompiler_rules.followed import followed_root
from adcompiler_rules.implicit import root_pullback

SMALL = 1e-9
"""Below this part of what it is compared with, a number counts as 0."""


def free_numbers(A, b, x):
    """Return which numbers of a solution are free to move; raise where that is not determined."""
    slope = A.T @ (A @ x - b)
    free = x > SMALL * (1.0 + np.max(x, initial=0.0))
    sizes = np.linalg.norm(A, axis=0) * max(float(np.linalg.norm(b)), 1e-300)
    weak = ~free & ~(slope > SMALL * sizes)
    if np.any(weak):
        k = int(np.flatnonzero(weak)[0])
        raise ValueError(
            f"x[{k}] of nnls() is 0, and so is the slope there: whether it stays 0 is not "
            "determined, so it has no derivative")
    if np.any(free) and np.linalg.matrix_rank(A[:, free]) < np.sum(free):
        raise ValueError("columns of the matrix of nnls() depend on one another where x is not 0: "
                         "the solution is not determined, so it has no derivative")
    return free


non_differentiable(free_numbers)


@replacement(optimize.nnls)
def nnls(A, b, maxiter=None):
    A = np.asarray(A) * 1.0
    b = np.asarray(b) * 1.0
    found = passive(optimize.nnls, A, b, maxiter=maxiter)
    x = typed(found[0], np.zeros(1))
    free = typed(passive(free_numbers, A, b, x), np.zeros(1, bool))

    def condition(x, A, b, free):
        return np.where(free, A.T @ (A @ x - b), x)

    solution = implied(root_pullback, condition, (x,), (A, b, free), x, followed=followed_root)
    return solution, np.linalg.norm(A @ solution - b)

"""``implicit``: a solver of one's own, with derivatives by the equation that it solves."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.runtime.functionals import passive

COVERED_WITH = "scipy.optimize"
"""The module whose rules come with those of these functions."""


def implicit(
    residual: Callable[..., Any], *, rtol: float = 1e-6, returns: Any = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator for a solver of ``residual(y, *params) == 0``.

    The solver takes ``params``, by position, and returns ``y``, a number or an array, of which the
    residual has the shape. Its derivatives, in all modes and up to the fourth order, follow from
    the equation by the implicit function theorem, and not from its iterations. They go to all
    parameters, and to what ``residual`` captured; what the solver alone reads (a tolerance, a first
    guess) has none.

    The type of ``y`` is found by compiling the solver. ``returns``, an example of a result such as
    ``0.0`` or ``np.empty(0)``, tells it; then the solver is called as it is, whatever it is made
    of. ``rtol`` is how far the next step of Newton's method may lead from ``y``, relative to it:
    where it leads farther, the derivative is a ValueError. Where the equation does not determine
    ``y`` it is a LinAlgError, or infinite.
    """

    if returns is not None and np.asarray(returns).dtype.kind not in "fc":
        raise TypeError("implicit: `returns` is a float, a complex number or an array of such")

    def decorate(solver: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(solver)
        def solved(*params: Any) -> Any:
            return solution_of(residual, solver, rtol, returns, *params)

        return solved

    return decorate


def solution_of(
    residual: Callable[..., Any], solver: Callable[..., Any], rtol: float, returns: Any,
    *params: Any,
) -> Any:
    """Return ``solver(*params)``, at which ``residual`` is zero: see ``implicit``."""
    return solver(*params) if returns is None else solution_like(returns, solver, *params)


def solution_like(returns: Any, solver: Callable[..., Any], *params: Any) -> Any:
    """Return what a solver returns, of the type of ``returns``; raise TypeError if it is another.
    """
    found = passive(solver, *params)
    if np.ndim(found) != np.ndim(returns):
        raise TypeError(
            f"the solver {getattr(solver, '__name__', '')} returned a value with "
            f"{np.ndim(found)} axes, but `returns` has {np.ndim(returns)}")
    dtype = np.asarray(returns).dtype
    value = np.array(found).astype(dtype, casting="same_kind")  # nothing imaginary is dropped
    return value if isinstance(returns, np.ndarray) else type(returns)(value[()])


__all__ = ["implicit", "solution_like", "solution_of"]

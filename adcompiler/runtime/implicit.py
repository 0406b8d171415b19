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

    The derivatives of the solver, in all modes and up to the fourth order, follow from the equation
    by the implicit function theorem, and not from its iterations. They go to all parameters, and to
    what ``residual`` captured; what the solver alone reads (a tolerance, a first guess) has none.

    Parameters:
        residual (callable): ``residual(y, *params)`` has the shape of ``y``.
        rtol (float): How far the next step of Newton's method may lead from ``y``, relative to it.
        returns: An example of a result such as ``0.0`` or ``np.empty(0)``, which tells the type of
            ``y``; then the solver is called as it is, whatever it is made of. By default the type
            is found by compiling the solver.

    Returns:
        callable: A decorator for a function that takes ``params``, by position, and returns ``y``,
        a number or an array.

    Raises:
        ValueError: By derivatives, where the next step of Newton's method leads farther than
            ``rtol``.
        LinAlgError: By derivatives, where the equation does not determine ``y``; or they are
            infinite.

    Example:
        >>> import math
        >>> from adcompiler import grad, implicit
        >>> @implicit(lambda y, p: y * y - p, returns=0.0)
        ... def square_root(p):
        ...     return math.sqrt(p)
        >>> grad(lambda p: square_root(p))(4.0)
        0.25
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

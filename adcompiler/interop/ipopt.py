"""Problems in the form that IPOPT takes by ``cyipopt``, which need not be installed for it.

``cyipopt.Problem(n=p.n, m=p.m, problem_obj=p, lb=lb, ub=ub, cl=cl, cu=cu)`` solves the problem
``p = problem(f, c, x0)``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.lagrangians import Arrays, Lagrangian, lagrangian


class IpoptProblem:
    """A problem with the methods that IPOPT calls; see ``problem``."""

    def __init__(self, derivatives: Lagrangian, x0: Any, params: tuple[Any, ...]) -> None:
        self.derivatives = derivatives
        self.x0 = np.array(x0, dtype=float)
        self.params = params
        self.n = self.x0.size
        self.m = derivatives.constraints(self.x0, *params).size

    def objective(self, x: np.ndarray) -> float:
        """Return the value of the function."""
        return float(self.derivatives.value(self.point(x), *self.params))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """Return the gradient of the function, a vector of ``n`` floats."""
        return np.ravel(self.derivatives.gradient(self.point(x), *self.params))

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """Return the constraints, a vector of ``m`` floats."""
        return self.derivatives.constraints(self.point(x), *self.params)

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """Return the nonzeros of the Jacobian of the constraints."""
        if not self.m:
            return np.zeros(0)
        return self.derivatives.jacobian_values(self.point(x), *self.params)

    def jacobianstructure(self) -> Arrays:
        """Return the rows and columns of the nonzeros of the Jacobian."""
        if not self.m:
            return np.zeros(0, int), np.zeros(0, int)
        return self.derivatives.jacobian_coordinates(self.x0, *self.params)

    def hessian(self, x: np.ndarray, lagrange: np.ndarray, obj_factor: float) -> np.ndarray:
        """Return the nonzeros in the lower triangle of the Hessian of the Lagrangian."""
        return self.derivatives.hessian_values(
            self.point(x), lagrange, *self.params, sigma=obj_factor)

    def hessianstructure(self) -> Arrays:
        """Return the rows and columns of the nonzeros in the lower triangle of the Hessian."""
        return self.derivatives.hessian_coordinates(self.x0, *self.params)

    def point(self, x: np.ndarray) -> np.ndarray:
        """Return a vector of IPOPT in the shape of the first point."""
        return np.reshape(x, self.x0.shape)


def problem(
    function: Callable[..., Any], constraints: Callable[..., Any] | None, x0: Any, *params: Any,
    backend: str = "python",
) -> IpoptProblem:
    """Return the problem of minimizing ``f(x, *params)`` with bounds on ``c(x, *params)``.

    Parameters:
        function (callable): ``f``, which returns a number.
        constraints (callable): ``c``, which returns ``m`` numbers, or None.
        x0 (ndarray): A first point, an array of ``n`` floats.
        params: Further arguments of both.
        backend (str): That of ``adcompiler.grad``.

    Returns:
        IpoptProblem: An object with ``n``, ``m`` and the methods that
        ``cyipopt.Problem(problem_obj=)`` asks for, with exact first and second derivatives: sparse
        ones, of which the structure is found once.

    Raises:
        ADError: For what the compiler refuses.

    Example:
        >>> import numpy as np
        >>> from adcompiler.interop.ipopt import problem
        >>> p = problem(lambda x: np.sum(x**2), lambda x: x[1:] * x[:-1], np.ones(3))
        >>> p.n, p.m, p.jacobian(np.array([1.0, 2.0, 3.0]))
        (3, 2, array([2., 1., 3., 2.]))
    """
    return IpoptProblem(
        lagrangian(function, constraints, backend=backend, triangle="lower"), x0, params)


__all__ = ["IpoptProblem", "problem"]

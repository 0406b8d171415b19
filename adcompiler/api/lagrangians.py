"""Lagrangians of constrained problems: all derivatives that a solver of these asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.emitted import EmittedDerivative
from adcompiler.api.grad import grad, value_and_grad
from adcompiler.api.keywords import suggesting
from adcompiler.api.sparse.operators import SparseHessian, ValueAndSparseJacobian
from adcompiler.api.sparse.structures import Settings
from adcompiler.dispatch import Options
from adcompiler.sparsity.coloring.decompression import Out

Arrays = tuple[np.ndarray, np.ndarray]


class Lagrangian:
    """The derivatives of ``sigma * f(x) + v @ c(x)``, and of its parts; see ``lagrangian``."""

    def __init__(
        self, function: Callable[..., Any], constraints: Callable[..., Any] | None,
        backend: str, form: str, triangle: str | None,
    ) -> None:
        self.made_of = function, constraints, backend, form, triangle
        if backend == "python":
            self.objective: Callable[..., Any] = function
        else:
            self.objective = EmittedDerivative(function, Options("primal", (), backend=backend))
        self.gradient_of = grad(function, backend=backend)
        self.both = value_and_grad(function, backend=backend)
        self.constrained: ValueAndSparseJacobian[...] | None = None
        if constraints is not None:
            self.constrained = ValueAndSparseJacobian(
                constraints, 0, Settings(backend=backend, form=form))
        self.second: SparseHessian[...] = SparseHessian(
            weighted_sum(function, constraints), 0,
            Settings("star", backend=backend, form=form, triangle=triangle))

    def __reduce__(self) -> Any:
        return type(self), self.made_of

    def __repr__(self) -> str:
        return f"<lagrangian of {getattr(self.made_of[0], '__qualname__', self.made_of[0])}>"

    def value(self, x: np.ndarray, *params: Any) -> Any:
        """Return the value of the function."""
        return self.objective(x, *params)

    def gradient(self, x: np.ndarray, *params: Any) -> Any:
        """Return the gradient of the function, of the shape of ``x``."""
        return self.gradient_of(x, *params)

    def value_and_gradient(self, x: np.ndarray, *params: Any) -> Any:
        """Return the value of the function and its gradient, from one run."""
        return self.both(x, *params)

    def constraints(self, x: np.ndarray, *params: Any) -> np.ndarray:
        """Return the constraints, a vector of floats; without any an empty one."""
        if self.constrained is None:
            return np.zeros(0)
        return as_vector(self.constrained.valued(x, *params))

    def jacobian(self, x: np.ndarray, *params: Any, out: Out = None) -> Any:
        """Return the Jacobian of the constraints, a sparse array of a row for each of them.

        ``out`` is one of an earlier call, or a vector for its nonzeros. Raises ValueError where
        there are no constraints.
        """
        return self.jacobian_of(x, *params, out=out)[1]

    def jacobian_values(
        self, x: np.ndarray, *params: Any, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the nonzeros of the Jacobian, in the order of ``jacobian_coordinates``."""
        found: np.ndarray = self.jacobian_of.values(x, *params, out=out)
        return found

    def jacobian_coordinates(self, x: np.ndarray, *params: Any) -> Arrays:
        """Return the rows and columns of the nonzeros of the Jacobian, counted from 0."""
        found: Arrays = self.jacobian_of.coordinates(x, *params)
        return found

    def hessian(
        self, x: np.ndarray, multipliers: np.ndarray, *params: Any, sigma: float = 1.0,
        out: Out = None,
    ) -> Any:
        """Return the Hessian of ``sigma * f + multipliers @ c`` in ``x``, a sparse array.

        ``multipliers`` is a vector of a number for each constraint, empty without any. The
        structure does not depend on it, nor on ``sigma``. ``out`` is as for ``jacobian``.
        """
        return self.second(x, float(sigma), as_vector(multipliers), *params, out=out)

    def hessian_values(
        self, x: np.ndarray, multipliers: np.ndarray, *params: Any, sigma: float = 1.0,
        out: np.ndarray | None = None,
    ) -> np.ndarray:
        """Return the nonzeros of the Hessian, in the order of ``hessian_coordinates``."""
        return self.second.values(x, float(sigma), as_vector(multipliers), *params, out=out)

    def hessian_coordinates(self, x: np.ndarray, *params: Any) -> Arrays:
        """Return the rows and columns of the nonzeros of the Hessian, counted from 0."""
        multipliers = np.ones(self.constraints(x, *params).size)
        return self.second.coordinates(x, 1.0, multipliers, *params)

    @property
    def jacobian_of(self) -> Any:
        """What computes the constraints and their Jacobian; ValueError if there are none."""
        if self.constrained is None:
            raise ValueError("the problem has no constraints")
        return self.constrained


def as_vector(numbers: Any) -> np.ndarray:
    """Return a number, array or list of numbers as a vector of floats."""
    if isinstance(numbers, tuple):
        raise TypeError("constraints are one array: np.concatenate several")
    return np.ravel(np.asarray(numbers, dtype=float))


def weighted_sum(
    function: Callable[..., Any], constraints: Callable[..., Any] | None
) -> Callable[..., Any]:
    """Return the Lagrangian as a function of the point, the factor and the multipliers."""
    if constraints is None:

        def scaled(x, sigma, multipliers, *params):  # type: ignore[no-untyped-def]
            return sigma * function(x, *params)

        return scaled

    def lagrangian(x, sigma, multipliers, *params):  # type: ignore[no-untyped-def]
        return sigma * function(x, *params) + np.dot(multipliers, np.ravel(constraints(x, *params)))

    return lagrangian


@suggesting
def lagrangian(
    function: Callable[..., Any], constraints: Callable[..., Any] | None = None, *,
    backend: str = "python", format: str = "csr", triangle: str | None = None,
) -> Lagrangian:
    """Return all that a solver asks for of: minimize ``f(x)`` subject to bounds on ``c(x)``.

    Parameters:
        function (callable): ``function(x, *params)`` returns a number; ``x`` is an array of floats.
        constraints (callable): ``constraints(x, *params)`` returns an array or list of numbers.
        backend (str): That of ``grad``.
        format (str): That of the matrices, sparse arrays: ``"csr"``, ``"csc"`` or ``"coo"``.
        triangle (str): ``"lower"`` or ``"upper"`` leaves that of the Hessian.

    Returns:
        Lagrangian: An object with the methods ``value``, ``gradient``, ``value_and_gradient``,
        ``constraints``, ``jacobian`` of the constraints, and ``hessian`` of ``sigma * f + v @ c``,
        each of which is compiled at its first call. Solvers that are given the structure once take
        ``jacobian_coordinates(x)`` and ``hessian_coordinates(x)``, then ``jacobian_values(x,
        out=)`` and ``hessian_values(x, v, sigma=, out=)``: the structure depends neither on ``x``
        nor on ``v``.

    Raises:
        UnsupportedError: At the first call, for code that cannot be followed.
        ValueError: For other words.
        TypeError: For constraints that are a tuple.

    Example:
        >>> import numpy as np
        >>> from adcompiler import lagrangian
        >>> problem = lagrangian(lambda x: np.sum(x**2), lambda x: x[1:] * x[:-1])
        >>> problem.hessian(np.ones(2), np.array([3.0])).toarray()
        array([[2., 3.],
               [3., 2.]])
    """
    return Lagrangian(function, constraints, backend, format, triangle)


__all__ = ["Lagrangian", "lagrangian"]

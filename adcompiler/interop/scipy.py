"""Jacobians in the shapes that SciPy's solvers ask for, where these are shapes of their own.

Everything else is passed as it is: ``minimize(f, x, jac=grad(f), hess=hessian(f))``,
``minimize(value_and_grad(f), x, jac=True)``, ``least_squares(f, x, jac=sparse_jacobian(f))``,
``root(f, x, jac=jacobian(f))``, ``solve_ivp(f, span, y, jac=jacobian(f, argnums=1))``,
``NonlinearConstraint(c, low, high, jac=sparse_jacobian(c))``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.jacobians import Jacobian
from adcompiler.api.seeds import batched_jvp


class FitJacobian:
    """The Jacobian of a model in its parameters; see ``fit_jacobian``."""

    def __init__(self, model: Callable[..., Any], backend: str = "python") -> None:
        self.model = model
        self.backend = backend
        self._by_count: dict[int, Jacobian[...]] = {}

    def __reduce__(self) -> Any:
        return type(self), (self.model, self.backend)

    def __repr__(self) -> str:
        return f"<fit_jacobian of {getattr(self.model, '__qualname__', self.model)}>"

    def __call__(self, x: np.ndarray, *parameters: Any) -> np.ndarray:
        """Return the matrix of derivatives: a row for each value, a column for each parameter."""
        count = len(parameters)
        if count not in self._by_count:
            self._by_count[count] = Jacobian(
                self.model, tuple(range(1, count + 1)), "auto", False, None, self.backend)
        columns = self._by_count[count](x, *parameters)
        return np.stack([np.ravel(column) for column in columns], axis=1)


def fit_jacobian(model: Callable[..., Any], *, backend: str = "python") -> FitJacobian:
    """Return the Jacobian of ``model(x, *parameters)`` for ``scipy.optimize.curve_fit(jac=)``.

    Parameters:
        model (callable): A function that returns ``m`` numbers, of ``n`` numbers as parameters.
        backend (str): That of ``adcompiler.grad``.

    Returns:
        FitJacobian: A function of the same arguments, which returns an array of shape ``(m, n)``.

    Raises:
        ADError: At the first call, for what the compiler refuses.

    Example:
        >>> import numpy as np
        >>> from adcompiler.interop.scipy import fit_jacobian
        >>> fit_jacobian(lambda t, a, b: a * t + b)(np.array([1.0, 2.0]), 3.0, 4.0)
        array([[1., 1.],
               [2., 1.]])
    """
    return FitJacobian(model, backend)


class PointwiseJacobian:
    """The Jacobian of a right-hand side at each point; see ``pointwise_jacobian``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __reduce__(self) -> Any:
        return type(self), (self.function,)

    def __repr__(self) -> str:
        return f"<pointwise_jacobian of {getattr(self.function, '__qualname__', self.function)}>"

    def __call__(self, x: np.ndarray, y: np.ndarray, *p: Any) -> Any:
        """Return the derivatives by ``y``, and, where there are parameters, those by ``p``."""
        args = (x, y, *p)
        found = [self.along(args, i, units(args[i])) for i in range(1, len(args))]
        return tuple(found) if p else found[0]

    def along(self, args: tuple[np.ndarray, ...], position: int, seeds: np.ndarray) -> np.ndarray:
        """Return the derivatives along some seeds of an argument, by equation, seed and point."""
        _, columns = batched_jvp(self.function, args, (seeds,), argnums=(position,))
        return np.moveaxis(columns, 0, 1)


def units(value: np.ndarray) -> np.ndarray:
    """Return the directions that move one row of a value, at all points together."""
    value = np.asarray(value, dtype=float)
    eye = np.eye(len(value))
    return np.broadcast_to(eye.reshape(*eye.shape, *[1] * (value.ndim - 1)),
                           (len(value), *value.shape)).copy()


def pointwise_jacobian(function: Callable[..., Any]) -> PointwiseJacobian:
    """Return the Jacobian of a right-hand side for ``scipy.integrate.solve_bvp(fun_jac=)``.

    One sweep in forward mode gives all of it. For ``bc_jac=`` use ``jacobian(bc, argnums=(0, 1))``,
    or ``(0, 1, 2)``.

    Parameters:
        function (callable): ``function(x, y)`` or ``function(x, y, p)``, that of ``solve_bvp``: for
            ``m`` points and ``n`` equations ``y`` and the result have the shape ``(n, m)``, and a
            column of the result depends on the same column of ``y`` alone.

    Returns:
        PointwiseJacobian: A function of the same arguments, which returns an array of shape
        ``(n, n, m)``; with ``k`` parameters a pair, whose second has the shape ``(n, k, m)``.

    Raises:
        ADError: At the first call, for what the compiler refuses.

    Example:
        >>> import numpy as np
        >>> from adcompiler.interop.scipy import pointwise_jacobian
        >>> swing = pointwise_jacobian(lambda x, y: np.stack((y[1], -np.sin(y[0]))))
        >>> swing(np.zeros(1), np.zeros((2, 1)))[:, :, 0]
        array([[ 0.,  1.],
               [-1., -0.]])
    """
    return PointwiseJacobian(function)


class ValueAndJacobian:
    """A value and its Jacobian; see ``value_and_jacobian``."""

    def __init__(self, function: Callable[..., Any], backend: str = "python") -> None:
        self.function = function
        self.jacobian: Jacobian[...] = Jacobian(function, 0, "auto", False, None, backend)
        self.backend = backend

    def __reduce__(self) -> Any:
        return type(self), (self.function, self.backend)

    def __repr__(self) -> str:
        return f"<value_and_jacobian of {getattr(self.function, '__qualname__', self.function)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """Return the function's value and its Jacobian in the first argument, as a pair."""
        return self.jacobian.with_value(*args, **kwargs)


def value_and_jacobian(
    function: Callable[..., Any], *, backend: str = "python"
) -> ValueAndJacobian:
    """Return a function that gives the value of ``function`` and its Jacobian, from one run.

    It is what ``scipy.optimize.root(jac=True)`` takes.

    Parameters:
        function (callable): A function of an array, its first argument.
        backend (str): That of ``adcompiler.grad``.

    Returns:
        ValueAndJacobian: A function of the same arguments, for which it returns a pair.

    Raises:
        ADError: At the first call, for what the compiler refuses.

    Example:
        >>> import numpy as np
        >>> from adcompiler.interop.scipy import value_and_jacobian
        >>> value_and_jacobian(lambda x: x**2)(np.array([1.0, 3.0]))
        (array([1., 9.]), array([[2., 0.],
               [0., 6.]]))
    """
    return ValueAndJacobian(function, backend)


__all__ = ["fit_jacobian", "pointwise_jacobian", "value_and_jacobian"]

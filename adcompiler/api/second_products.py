"""Diagonals of Hessians, Laplacians, Gauss-Newton products, and transposes of linear functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adcompiler.api.derivative import Derivative, P
from adcompiler.api.emitted import EmittedDerivative, kept_derivative
from adcompiler.api.forward import pushed
from adcompiler.api.grad import vjp
from adcompiler.api.hessian_products import hvp
from adcompiler.api.keywords import suggesting
from adcompiler.dispatch import Options
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.trees import leaves, map_tree
from adcompiler.typed.derivatives import MAKERS, ONLY_OUTSIDE


@suggesting
def hessian_diagonal(function: Callable[P, Any], argnum: int = 0) -> Derivative[P, Any]:
    """Return a function that computes the diagonal of the Hessian of ``function``.

    The derivatives of the gradient along all unit vectors are computed at once where ``vmap`` does,
    exactly; no Hessian is kept.

    Parameters:
        function (callable): A function that returns a real number.
        argnum (int): The argument, a number or an array, which is given by position.

    Returns:
        Derivative: A function of the same arguments; the diagonal has the shape of the argument.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError: For arguments that are no numbers or arrays.

    Example:
        >>> import numpy as np
        >>> from adcompiler import hessian_diagonal
        >>> hessian_diagonal(lambda x: np.sum(x**3))(np.array([1.0, 2.0]))
        array([ 6., 12.])
    """
    return EmittedDerivative(function, Options("hessian_diagonal", argnum))


@suggesting
def laplacian(function: Callable[P, Any], argnum: int = 0) -> Derivative[P, Any]:
    """Return a function that computes the Laplacian of ``function``: the trace of its Hessian.

    It is the sum of ``hessian_diagonal``, and may be differentiated again.

    Parameters:
        function, argnum: As for ``hessian_diagonal``.

    Returns:
        Derivative: A function of the same arguments, which returns a number.

    Raises:
        UnsupportedError, MissingRuleError, TypeError: As ``hessian_diagonal``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import laplacian
        >>> float(laplacian(lambda x: np.sum(x**3))(np.array([1.0, 2.0])))
        18.0
    """
    return EmittedDerivative(function, Options("laplacian", argnum))


@with_users_frames
def gnvp(
    function: Callable[..., Any], x: Any, v: Any, *rest: Any,
    loss: Callable[..., Any] | None = None,
) -> Any:
    """Return the product of the Gauss-Newton matrix of ``function(x, *rest)`` in ``x`` with ``v``.

    With the Jacobian ``J`` of the function, it is ``J^T J v``; with a ``loss``, ``J^T H J v``,
    where ``H`` is the Hessian of the loss: the generalized Gauss-Newton matrix (Schraudolph, Fast
    curvature matrix-vector products, Neural Computation 14, 2002). No matrix is formed.

    Parameters:
        function (callable): A function that returns an array or a structure of arrays.
        x: A number, an array, or a structure of these.
        v: The vector, of the structure and shapes of ``x``.
        rest: Further arguments.
        loss (callable): A function of what ``function`` returns, which returns a real number.

    Returns:
        The product, of the structure and shapes of ``x``.

    Raises:
        UnsupportedError, MissingRuleError: For code that cannot be differentiated.
        TypeError, ValueError: For a ``v`` that does not fit ``x``.

    Example:
        >>> import numpy as np
        >>> from adcompiler import gnvp
        >>> gnvp(lambda x: x[0] * x, np.array([1.0, 2.0]), np.array([1.0, 0.0]))
        array([8., 2.])
    """
    value, along = pushed(function, (0,))(x, *rest)(v)
    if loss is not None:
        along = hvp(loss, value, along)
    _, pullback = kept_derivative(function, "vjp", (0,))(x, *rest)
    return pullback(along)[0]


LINEAR = 1e-6
"""How far a linear function may be from its derivative, relative to its value, by rounding."""


@with_users_frames
def linear_transpose(
    function: Callable[..., Any], *primals: Any
) -> Callable[[Any], tuple[Any, ...]]:
    """Return the transpose of a linear function: from cotangents of its value to its arguments.

    The function is called at random arguments, too, to see that it is linear in all of them
    together.

    Parameters:
        function (callable): A linear function.
        primals: Values of the structure and shapes of its arguments; any values.

    Returns:
        callable: It takes what the value of the function is like, and returns a tuple with one
        entry for each argument.

    Raises:
        UnsupportedError, MissingRuleError: For code that cannot be differentiated.
        ValueError: If the function is not linear.

    Example:
        >>> import numpy as np
        >>> from adcompiler import linear_transpose
        >>> linear_transpose(np.cumsum, np.zeros(3))(np.ones(3))
        (array([3., 2., 1.]),)
    """
    numbers = np.random.default_rng(0)
    zeros = map_tree(np.zeros_like, primals)
    at_random = map_tree(lambda leaf: np.asarray(
        numbers.normal(size=np.shape(leaf)), np.result_type(leaf, np.float16))[()], primals)
    value, along = pushed(function, tuple(range(len(primals))))(*zeros)(*at_random)
    expected = function(*at_random)
    for y, y_dot, there in zip(leaves(value), leaves(along), leaves(expected), strict=True):
        size = LINEAR * (np.max(np.abs(there), initial=0.0) + 1e-300)
        if np.any(y) or not np.allclose(y_dot, there, rtol=0.0, atol=size):
            raise ValueError(
                f"linear_transpose: {getattr(function, '__name__', 'the function')} is not linear "
                "in its arguments; vjp is for other functions")
    return vjp(function, *primals, argnums=tuple(range(len(primals))))[1]


MAKERS.update({hessian_diagonal: "hessian_diagonal", laplacian: "laplacian", gnvp: "gnvp"})
ONLY_OUTSIDE[linear_transpose] = "vjp(f, x)[1], the pullback"

__all__ = ["gnvp", "hessian_diagonal", "laplacian", "linear_transpose"]

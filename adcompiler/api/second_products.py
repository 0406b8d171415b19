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

    ``function`` returns a real number; the argument ``argnum``, which is given by position, is a
    number or an array, in whose shape the diagonal is. The derivatives of the gradient along all
    unit vectors are computed at once where ``vmap`` does, exactly; no Hessian is kept.
    """
    return EmittedDerivative(function, Options("hessian_diagonal", argnum))


@suggesting
def laplacian(function: Callable[P, Any], argnum: int = 0) -> Derivative[P, Any]:
    """Return a function that computes the Laplacian of ``function``: the trace of its Hessian.

    As ``hessian_diagonal``, of which it is the sum. It may be differentiated again.
    """
    return EmittedDerivative(function, Options("laplacian", argnum))


@with_users_frames
def gnvp(
    function: Callable[..., Any], x: Any, v: Any, *rest: Any,
    loss: Callable[..., Any] | None = None,
) -> Any:
    """Return the product of the Gauss-Newton matrix of ``function(x, *rest)`` in ``x`` with ``v``.

    With the Jacobian ``J`` of the function, it is ``J^T J v``; with a ``loss`` of what the function
    returns, a real number, ``J^T H J v``, where ``H`` is the Hessian of the loss there: the
    generalized Gauss-Newton matrix (Schraudolph, Fast curvature matrix-vector products, Neural
    Computation 14, 2002). ``v`` and the result have the structure of ``x``. No matrix is formed.
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

    ``primals`` have the structure and shapes of the arguments, and any values. The result takes
    what the value of the function is like, and returns a tuple with one entry for each argument.
    The function is called at random arguments, too, to see that it is linear in all of them
    together.

    Raises ValueError if it is not.
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

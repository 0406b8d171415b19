"""Jacobians and Hessians as linear operators: products by derivative code, no matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adcompiler.api.emitted import Argnums, kept_derivative
from adcompiler.dispatch.cotangents import Outline, outline
from adcompiler.dispatch.linear_operators import linear_operator
from adcompiler.errors import ADError, TooLongError, UncoveredError
from adcompiler.runtime import own

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


def jacobian_operator(
    function: Callable[..., Any], argnums: Argnums, args: Args, kwargs: Kwargs
) -> LinearOperator:
    """Return the Jacobian of a function at some arguments, which stay as they are.

    The function is run once for products with it, and once for the first with its transpose.
    """
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    args, kwargs = own(args), own(kwargs)

    @functools.cache
    def pull() -> Callable[[Any], Any]:
        pair = kept_derivative(function, "vjp", several)
        found: Callable[[Any], Any] = pair(*own(args), **own(kwargs))[1]
        return found

    _, push = kept_derivative(function, "linearize", several)(*own(args), **own(kwargs))
    domain = Outline(tuple, None, None, {i: form for i, (form, _) in enumerate(push.outlines)})
    return linear_operator(
        lambda tangents: push(*tangents), domain, push.structure, lambda y_bar: pull()(y_bar))


def hessian_operator(
    function: Callable[..., Any], argnums: Argnums, args: Args, kwargs: Kwargs
) -> LinearOperator:
    """Return the Hessian of a function at some arguments: the Jacobian of its gradient.

    It is symmetric. Products push a vector through the gradient, or pull it back where the compiler
    refuses to push.
    """
    several = argnums if isinstance(argnums, tuple) else (argnums,)
    gradient = kept_derivative(function, "grad", several)
    domain = outline(gradient.differentiated(*args, **kwargs))
    args, kwargs = own(args), own(kwargs)
    product: Callable[[Any], Any]
    try:
        push = kept_derivative(gradient, "linearize", several)(*args, **kwargs)[1]
    except (TooLongError, UncoveredError):
        raise
    except ADError:
        product = kept_derivative(gradient, "vjp", several)(*args, **kwargs)[1]
    else:
        product = lambda tangents: push(*tangents)  # noqa: E731
    return linear_operator(product, domain, domain, product)


__all__ = ["hessian_operator", "jacobian_operator"]

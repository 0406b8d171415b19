"""Jacobians and Hessians as linear operators: products by derivative code, no matrix."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adcompiler.dispatch.cotangents import Outline, outline
from adcompiler.dispatch.linear_operators import linear_operator
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError, TooLongError, UncoveredError

if TYPE_CHECKING:
    from scipy.sparse.linalg import LinearOperator

Kept = Callable[[Callable[..., Any], str, tuple[int | str, ...]], Any]
"""Returns the derivative of a mode that calls share, of a function in some arguments."""


def jacobian_operator(
    kept: Kept, function: Callable[..., Any], argnums: tuple[int | str, ...], call: Written
) -> LinearOperator:
    """Return the Jacobian of a function at some arguments, which stay as they are.

    The function is run once for products with it, and once for the first with its transpose.
    """
    call = call.own()

    @functools.cache
    def pull() -> Callable[[Any], Any]:
        found: Callable[[Any], Any] = call.own().given_to(kept(function, "vjp", argnums))[1]
        return found

    _, push = call.own().given_to(kept(function, "linearize", argnums))
    domain = Outline(tuple, None, None, {i: form for i, (form, _) in enumerate(push.outlines)})
    return linear_operator(
        lambda tangents: push(*tangents), domain, push.structure, lambda y_bar: pull()(y_bar))


def hessian_operator(
    kept: Kept, function: Callable[..., Any], argnums: tuple[int | str, ...], call: Written
) -> LinearOperator:
    """Return the Hessian of a function at some arguments: the Jacobian of its gradient.

    It is symmetric. Products push a vector through the gradient, or pull it back where the compiler
    refuses to push.
    """
    gradient = kept(function, "grad", argnums)
    domain = outline(call.given_to(gradient.differentiated))
    call = call.own()
    product: Callable[[Any], Any]
    try:
        push = call.given_to(kept(gradient, "linearize", argnums))[1]
    except (TooLongError, UncoveredError):
        raise
    except ADError:
        product = call.given_to(kept(gradient, "vjp", argnums))[1]
    else:
        product = lambda tangents: push(*tangents)  # noqa: E731
    return linear_operator(product, domain, domain, product)


__all__ = ["hessian_operator", "jacobian_operator"]

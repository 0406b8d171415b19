"""Forward mode: ``jvp`` and ``linearize``, and derivatives of functions of one number."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.api.grad import Argnums, Derivative, DerivativeFunction, kept_derivative
from adcompiler.dispatch import Options, holds_floats
from adcompiler.dispatch.arguments import described
from adcompiler.dispatch.trees import map_tree
from adcompiler.runtime import own
from adcompiler.typed.derivatives import MAKERS, Wanted


def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *,
    argnums: Argnums | None = None, backend: str = "python", **kwargs: Any,
) -> tuple[Any, Any]:
    """Return ``function(*primals, **kwargs)`` and its derivative along ``tangents``.

    ``tangents`` has one tangent for each of ``primals``, or for each of the arguments ``argnums``
    (positions or names, as for ``grad``; the bare tangent for a single one). A tangent has the
    structure and shapes of its argument (TypeError or ValueError where it does not); None stands
    for zero, and an argument with the tangent None is not differentiated, so that it may be
    anything. Integers with a tangent count as floats. The derivative has the structure, shapes and
    precision of the value.

    If the function writes into arguments, they are left as the function leaves them; tangents never
    change. ``backend`` is that of ``grad``. Raises UnsupportedError or MissingRuleError before
    anything runs.
    """
    primals = tuple(primals)
    wanted, given = chosen(primals, tangents, argnums)
    value, along = pushed(function, wanted, backend)(*primals, **kwargs)(*given)
    return value, along


def linearize(
    function: Callable[..., Any], *primals: Any, argnums: Argnums | None = None, **kwargs: Any
) -> tuple[Any, Callable[..., Any]]:
    """Return ``function(*primals, **kwargs)`` and its pushforward there.

    The pushforward takes tangents of the arguments ``argnums`` and returns the derivative of the
    value along them; tangents are those of ``jvp``, None stands for zero. By default they are those
    of all positional arguments, of which those without a float have the tangent None (integers,
    unless there is no float among the arguments). The pushforward may be called any number of
    times. The value is computed once, with what the pushforward reads of it; where that cannot be
    saved (see the page on modes), the pushforward computes the value again each time, from copies
    of the arguments made now.
    """
    wanted = tuple(range(len(primals))) if argnums is None else as_tuple(argnums)
    inside = tuple(argnums is not None or holds_floats(x) for x in primals[: len(wanted)])
    if argnums is not None or not any(inside):
        inside = (True,) * len(wanted)
    chosen = tuple(itertools.compress(wanted, inside))
    value, push = kept_derivative(function, "linearize", chosen)(*primals, **kwargs)

    def pushforward(*tangents: Any) -> Any:
        """Return the derivative of the value along the tangents of the arguments."""
        if len(tangents) != len(wanted):
            raise TypeError(
                f"the pushforward takes {len(wanted)} tangents, one for each argument; "
                f"got {len(tangents)}"
            )
        for one, on, d in zip(wanted, inside, tangents, strict=True):
            if not on and d is not None:
                raise TypeError(
                    f"the argument {one} holds no float, so that its tangent is None; "
                    "argnums names what is to have another"
                )
        return push(*itertools.compress(tangents, inside))

    return value, pushforward


def derivative(
    function: Callable[..., Any], argnum: int | str = 0, *, backend: str = "python"
) -> Callable[..., Any]:
    """Return the derivative of a function of one number, which may return anything.

    ``backend`` is that of ``grad``.

    The result has the structure and shapes of what the function returns. Raises TypeError if the
    argument is not a real number.
    """
    push = Derivative(function, Options("forward", (argnum,), backend=backend))

    def derivative_at(*args: Any, **kwargs: Any) -> Any:
        (value,) = push.differentiated(*args, **kwargs)
        if np.ndim(value) or not isinstance(value, (float, np.floating, np.ndarray)):
            raise TypeError(
                f"derivative needs a real number as the argument {argnum!r}, not "
                f"{described(value)}; jacobian is for arrays"
            )
        one = np.ones_like(value) if isinstance(value, np.ndarray) else 1.0
        return push(*own(args), **own(kwargs))(one)[1]

    options = Wanted("derivative", argnum)
    given = {"argnum": argnum} | ({} if backend == "python" else {"backend": backend})
    return DerivativeFunction(
        function, options, derivative_at, derivative, given, push.__signature__)


def elementwise_grad(function: Callable[..., Any], argnum: int | str = 0) -> Callable[..., Any]:
    """Return the derivative of a function that works element by element, in its shape.

    It is the derivative along ones: that of each element of the result by the element of the
    argument that it comes from. For functions that mix elements it is the sum over these.
    """
    push = Derivative(function, Options("forward", (argnum,)))

    def elementwise_grad_at(*args: Any, **kwargs: Any) -> Any:
        (value,) = push.differentiated(*args, **kwargs)
        ones = map_tree(
            lambda leaf: np.ones_like(leaf) if isinstance(leaf, np.ndarray) else 1.0, value
        )
        return push(*own(args), **own(kwargs))(ones)[1]

    options = Wanted("elementwise_grad", argnum)
    return DerivativeFunction(
        function, options, elementwise_grad_at, elementwise_grad, {"argnum": argnum},
        push.__signature__)


def pushed(
    function: Callable[..., Any], argnums: Argnums, backend: str = "python"
) -> Derivative:
    """Return what gives the pushforward of ``function`` at its arguments."""
    return kept_derivative(function, "forward", argnums, backend=backend)


def chosen(
    primals: tuple[Any, ...], tangents: Any, argnums: Argnums | None
) -> tuple[tuple[int | str, ...], list[Any]]:
    """Return the arguments that are differentiated, and their tangents: those that are not None."""
    positions = tuple(range(len(primals))) if argnums is None else as_tuple(argnums)
    several = argnums is None or isinstance(argnums, (tuple, list))
    given = (tangents,) if not several else tangents
    if not isinstance(given, (tuple, list)) or len(given) != len(positions):
        count = len(given) if isinstance(given, (tuple, list)) else "none"
        raise TypeError(
            f"jvp needs a sequence of {len(positions)} tangents, one for each argument that is "
            f"differentiated; got {count}"
        )
    pairs = [(i, d) for i, d in zip(positions, given, strict=True) if d is not None]
    return tuple(i for i, _ in pairs), [d for _, d in pairs]


def as_tuple(argnums: Argnums | list[Any]) -> tuple[int | str, ...]:
    """Return ``argnums`` as a tuple, also of a single one."""
    return tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)


MAKERS.update({
    jvp: "forward", linearize: "linearize", derivative: "derivative",
    elementwise_grad: "elementwise_grad",
})

__all__ = ["derivative", "elementwise_grad", "jvp", "linearize"]

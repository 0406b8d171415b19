"""Forward mode: ``jvp`` and ``linearize``, and derivatives of functions of one number."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.api.argnums import Asked, of_call
from adcompiler.api.composed import ComposedDerivative, parts_of
from adcompiler.api.derivative import Derivative, P
from adcompiler.api.emitted import Argnums, EmittedDerivative, kept_derivative
from adcompiler.api.keywords import needs_arguments, suggesting
from adcompiler.dispatch import holds_floats
from adcompiler.dispatch.arguments import described
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.linear_maps import Pushforward, PushforwardOfSome
from adcompiler.dispatch.trees import map_tree
from adcompiler.dispatch.written import Written
from adcompiler.runtime import own
from adcompiler.typed.derivatives import MAKERS, Wanted


@with_users_frames
def jvp(
    function: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *,
    argnums: Asked = None, backend: str = "python", **kwargs: Any,
) -> tuple[Any, Any]:
    """Return ``function(*primals, **kwargs)`` and its derivative along ``tangents``.

    If the function writes into arguments, they are left as the function leaves them; tangents never
    change.

    Parameters:
        function (callable): A function of ``primals`` and ``kwargs``, which may return any
            structure.
        primals (sequence): The positional arguments.
        tangents (sequence): One tangent for each of ``primals``, or for each of the arguments
            ``argnums``; the bare tangent for a single one. A tangent has the structure and shapes
            of its argument. None stands for zero, and an argument with the tangent None is not
            differentiated, so that it may be anything. Integers with a tangent count as floats.
        argnums (int, str or tuple): Positions or names, as for ``grad``.
        backend (str): That of ``grad``.
        kwargs: Keyword arguments.

    Returns:
        tuple: The value, and the derivative in its structure, shapes and precision.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: For tangents that do not fit their arguments.

    Example:
        >>> from adcompiler import jvp
        >>> jvp(lambda x, y: x * x * y, (3.0, 2.0), (1.0, None))
        (18.0, 12.0)
    """
    if not isinstance(primals, (tuple, list)):
        raise TypeError(
            f"jvp takes the arguments and their tangents in tuples: write jvp(f, (x,), (v,)); the "
            f"arguments are {described(primals)} here")
    primals = tuple(primals)
    wanted, given = chosen(primals, tangents, of_call(argnums, primals))
    value, along = pushed(function, wanted, backend)(*primals, **kwargs)(*given)
    return value, along


@with_users_frames
def linearize(
    function: Callable[..., Any], *primals: Any, argnums: Asked = None, **kwargs: Any
) -> tuple[Any, Pushforward]:
    """Return ``function(*primals, **kwargs)`` and its pushforward there.

    The value is computed once, with what the pushforward reads of it; where that cannot be saved
    (see the page on modes), the pushforward computes the value again each time, from copies of the
    arguments made now.

    Parameters:
        function (callable): A function of ``primals`` and ``kwargs``, which may return any
            structure.
        primals, kwargs: Its arguments.
        argnums (int, str or tuple): The arguments that the pushforward takes tangents of; by
            default all positional ones, of which those without a float have the tangent None
            (integers, unless there is no float among the arguments).

    Returns:
        tuple: The value, and the pushforward. That takes tangents of the arguments, those of
        ``jvp``, and returns the derivative of the value along them. It may be called any number of
        times.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, for code that cannot be
            differentiated.
        TypeError, ValueError: By the pushforward, for tangents that do not fit.

    Example:
        >>> import numpy as np
        >>> from adcompiler import linearize
        >>> value, push = linearize(lambda x: x[1:] * x[:-1], np.array([1.0, 2.0, 3.0]))
        >>> push(np.array([0.0, 1.0, 0.0]))
        array([1., 3.])
    """
    needs_arguments("linearize", function, Written(primals, kwargs))
    asked = of_call(argnums, primals)
    wanted = tuple(range(len(primals))) if asked is None else as_tuple(asked)
    inside = tuple(asked is not None or holds_floats(x) for x in primals[: len(wanted)])
    if asked is not None or not any(inside):
        inside = (True,) * len(wanted)
    chosen = tuple(itertools.compress(wanted, inside))
    value, push = kept_derivative(function, "linearize", chosen)(*primals, **kwargs)
    return value, PushforwardOfSome(push, wanted, inside) if not all(inside) else push


class AlongOnes(ComposedDerivative[P, Any]):
    """The derivative along ones; see ``derivative`` and ``elementwise_grad``."""

    def __init__(
        self, function: Callable[..., Any], argnum: int | str, maker: Callable[..., Any],
        backend: str = "python",
    ) -> None:
        wanted = Wanted(MAKERS[maker], argnum)
        parts = parts_of(wanted.mode, function, (argnum,), backend)
        super().__init__(function, wanted, maker, {"argnum": argnum, "backend": backend}, parts)
        self.push = parts["push"]

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the derivative at the arguments."""
        (value,) = self.push.differentiated(*args, **kwargs)
        return self.push(*own(args), **own(kwargs))(self.ones(value))[1]

    def ones(self, value: Any) -> Any:
        """Return ones of the structure of the argument."""
        return map_tree(
            lambda leaf: np.ones_like(leaf) if isinstance(leaf, np.ndarray) else 1.0, value)


class OfNumber(AlongOnes[P]):
    """The derivative of a function of one number; see ``derivative``."""

    def ones(self, value: Any) -> Any:
        if np.ndim(value) or not isinstance(value, (float, np.floating, np.ndarray)):
            raise TypeError(
                f"derivative needs a real number as the argument {self.options.argnums!r}, not "
                f"{described(value)}; jacobian is for arrays"
            )
        return super().ones(value)


@suggesting
def derivative(
    function: Callable[P, Any], argnum: int | str = 0, *, backend: str = "python"
) -> Derivative[P, Any]:
    """Return the derivative of a function of one number, which may return anything.

    Parameters:
        function (callable): A function of which the argument ``argnum`` is a real number.
        argnum (int or str): That argument, by position or name.
        backend (str): That of ``grad``.

    Returns:
        Derivative: A function of the same arguments. The derivative has the structure and shapes of
        what the function returns.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError: If the argument is not a real number.

    Example:
        >>> import math
        >>> from adcompiler import derivative
        >>> derivative(math.exp)(0.0)
        1.0
    """
    return OfNumber(function, argnum, derivative, backend)


@suggesting
def elementwise_grad(function: Callable[P, Any], argnum: int | str = 0) -> Derivative[P, Any]:
    """Return the derivative of a function that works element by element, in its shape.

    It is the derivative along ones: that of each element of the result by the element of the
    argument that it comes from. For functions that mix elements it is the sum over these.

    Parameters:
        function (callable): A function of an array, of which the result has the shape.
        argnum (int or str): The argument, by position or name.

    Returns:
        Derivative: A function of the same arguments, which returns an array of the result's shape.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.

    Example:
        >>> import numpy as np
        >>> from adcompiler import elementwise_grad
        >>> elementwise_grad(lambda x: x**2)(np.array([1.0, 2.0]))
        array([2., 4.])
    """
    return AlongOnes(function, argnum, elementwise_grad)


def pushed(
    function: Callable[..., Any], argnums: Argnums, backend: str = "python"
) -> EmittedDerivative[..., Any]:
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


def as_tuple(argnums: Argnums | list[int | str]) -> tuple[int | str, ...]:
    """Return ``argnums`` as a tuple, also of a single one."""
    return tuple(argnums) if isinstance(argnums, (tuple, list)) else (argnums,)


MAKERS.update({
    jvp: "forward", linearize: "linearize", derivative: "derivative",
    elementwise_grad: "elementwise_grad",
})

__all__ = ["derivative", "elementwise_grad", "jvp", "linearize"]

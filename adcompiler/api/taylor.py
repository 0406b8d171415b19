"""Taylor mode: derivatives of all orders at once, by truncated power series."""

from __future__ import annotations

import inspect
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adcompiler.api.composed import ComposedDerivative
from adcompiler.api.derivative import Derivative, P
from adcompiler.api.emitted import Argnums, EmittedDerivative, kept_derivative
from adcompiler.api.forward import chosen, jvp
from adcompiler.dispatch.frames import with_users_frames
from adcompiler.dispatch.targets import find_target
from adcompiler.dispatch.trees import leaves
from adcompiler.dispatch.written import Written
from adcompiler.errors import ADError, TooLongError
from adcompiler.runtime.structure import mapped
from adcompiler.runtime.structure import as_gradient
from adcompiler.typed.derivatives import MAKERS, ONLY_OUTSIDE, Wanted

NESTED_UP_TO = 2
"""The highest order that ``nth_derivative`` computes by forward mode inside forward mode."""

_REFUSED: weakref.WeakSet[EmittedDerivative[..., Any]] = weakref.WeakSet()
"""Derivatives of functions of which Taylor mode can write no code for some arguments."""


@with_users_frames
def taylor(
    function: Callable[..., Any], primals: Sequence[Any], series: Sequence[Any], *,
    argnums: Argnums | None = None, **kwargs: Any,
) -> tuple[Any, Any]:
    """Return ``function(*primals, **kwargs)`` and the Taylor coefficients of its value.

    Parameters:
        function (callable): A function of ``primals`` and ``kwargs``, which may return any
            structure.
        primals (sequence): The positional arguments.
        series (sequence): Coefficients of the arguments: an argument ``x`` moves along ``x(t) = x +
            x_1 t + x_2 t**2 + ...``, of which its series holds ``x_1``, ``x_2``, ... along a
            leading axis that every number and array has, ``(orders, *shape)``. There is one for
            each of ``primals``, or of the arguments ``argnums``; None stands for those of a
            constant argument.
        argnums (int, str or tuple): As for ``jvp``.
        kwargs: Keyword arguments.

    Returns:
        tuple: The value, and its coefficients, which have that axis too: derivatives divided by
        factorials.

    Raises:
        UnsupportedError, MissingRuleError: Before anything runs, also where some function has
            neither a recurrence nor a derivative of which one can be made.
        TypeError, ValueError: For series of another structure, or of different orders.

    Example:
        >>> import math
        >>> import numpy as np
        >>> from adcompiler import taylor
        >>> taylor(math.exp, (0.0,), (np.array([1.0, 0.0]),))
        (1.0, array([1. , 0.5]))
    """
    primals = tuple(primals)
    wanted, given = chosen(primals, series, argnums)
    orders = {len(leaf) for leaf in leaves(list(given)) if np.ndim(leaf)}
    if len(orders) > 1 or 0 in orders:
        raise ValueError(f"series need one number of orders, from 1 on; got {sorted(orders)}")
    value, found = kept_derivative(function, "taylor", wanted, batched=True)(*primals, **kwargs)(
        *given
    )
    return value, found


class Jet(ComposedDerivative[P, Any]):
    """Derivatives of all orders up to one; see ``jet``."""

    def __init__(self, function: Callable[..., Any], order: int) -> None:
        self.order = order
        self.series = kept_derivative(function, "taylor", (0,), batched=True)
        super().__init__(
            function, Wanted("jet", 0, False, (("order", order),)), jet, {"order": order},
            {"series": self.series})
        self.__signature__ = find_target(function).signature

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> tuple[Any, ...]:
        """Return the derivatives of orders 0, 1, ... as a tuple."""
        x, *rest = by_position(self, Written(args, kwargs))
        function, order = self.primal, self.order
        found = None if order == 0 else by_series(function, order, x, tuple(rest))
        if found is not None:
            value, coefficients = found
            return value, *(scaled(value, coefficients, k) for k in range(1, order + 1))
        return tuple(nested(function, k)(x, *rest) for k in range(order + 1))


def jet(function: Callable[P, Any], order: int) -> Derivative[P, tuple[Any, ...]]:
    """Return a function that computes ``function`` and its derivatives up to ``order``.

    They are those in the first argument; divided by factorials they are the coefficients of the
    Taylor polynomial. One run of code that propagates truncated power series gives them all;
    functions of which no such code can be written are differentiated by forward mode inside of
    forward mode, once for each order.

    Parameters:
        function (callable): A function of a real number, which may return a number, an array, or a
            container of these.
        order (int): The highest order.

    Returns:
        Derivative: A function of the same arguments, which returns a tuple of ``order + 1`` values.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError, ValueError: If ``order`` is no natural number.

    Example:
        >>> from adcompiler import jet
        >>> jet(lambda x: x**3, 2)(2.0)
        (8.0, 12.0, 12.0)
    """
    checked(order)
    return Jet(function, order)


class NthDerivative(ComposedDerivative[P, Any]):
    """The derivative of some order; see ``nth_derivative``."""

    def __init__(self, function: Callable[..., Any], n: int) -> None:
        self.n = n
        self.by_forward_mode = nested(function, n)
        self.low = n <= NESTED_UP_TO
        part = (
            kept_derivative(nested(function, n - 1), "forward", (0,)) if self.low and n else
            kept_derivative(function, "taylor", (0,), batched=True))
        super().__init__(
            function, Wanted("nth_derivative", 0, False, (("n", n),)), nth_derivative, {"n": n},
            {"series" if part.options.mode == "taylor" else "push": part})
        self.__signature__ = find_target(function).signature

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Any:
        """Return the derivative at the arguments."""
        x, *others = by_position(self, Written(args, kwargs))
        rest = tuple(others)
        if self.n == 0:
            return self.by_forward_mode(x, *rest)
        if self.low:
            try:
                return self.by_forward_mode(x, *rest)
            except TooLongError:
                raise
            except ADError:
                found = by_series(self.primal, self.n, x, rest)
                if found is None:
                    raise
                self.low = False
        else:
            found = by_series(self.primal, self.n, x, rest)
        return self.by_forward_mode(x, *rest) if found is None else scaled(*found, self.n)


def nth_derivative(function: Callable[P, Any], n: int) -> Derivative[P, Any]:
    """Return the ``n``-th derivative of ``function`` of a number, in its first argument.

    Up to the second, derivatives are by forward mode, inside of forward mode; those of higher order
    by truncated power series as for ``jet``. Where the one is refused, it is the other.

    Parameters:
        function (callable): A function of a real number, which may return a number, an array, or a
            container of these.
        n (int): The order; 0 is the function itself.

    Returns:
        Derivative: A function of the same arguments; the result has the structure of the value.

    Raises:
        UnsupportedError, MissingRuleError: At the first call, for code that cannot be
            differentiated.
        TypeError, ValueError: If ``n`` is no natural number.

    Example:
        >>> from adcompiler import nth_derivative
        >>> nth_derivative(lambda x: x**4, 3)(2.0)
        48.0
    """
    checked(n)
    return NthDerivative(function, n)


def by_position(derivative: ComposedDerivative[..., Any], call: Written) -> tuple[Any, ...]:
    """Return all arguments by position; TypeError where some cannot be given so."""
    if not call.kwargs:
        return call.args
    bound: inspect.BoundArguments = call.given_to(derivative.__signature__.bind)
    if bound.kwargs:
        raise TypeError(
            f"{derivative!r} takes arguments by position; got {', '.join(call.kwargs)}")
    return bound.args


def checked(order: int) -> None:
    """Raise ValueError if ``order`` is not that of a derivative."""
    if not isinstance(order, int) or order < 0:
        raise ValueError(f"the order of a derivative is 0, 1, 2, ...; got {order!r}")


def by_series(
    function: Callable[..., Any], order: int, x: Any, rest: tuple[Any, ...]
) -> tuple[Any, Any] | None:
    """Return the value and its Taylor coefficients up to an order; None if that is refused."""
    derivative = kept_derivative(function, "taylor", (0,), batched=True)
    if derivative in _REFUSED or np.ndim(x):
        return None
    line = np.zeros(order)
    line[0] = 1.0
    try:
        value, coefficients = derivative(x, *rest)(line)
    except TooLongError:
        raise
    except ADError:
        _REFUSED.add(derivative)
        return None
    return value, coefficients


def scaled(value: Any, coefficients: Any, order: int) -> Any:
    """Return the derivative of an order, of the classes that the value has, from coefficients."""

    def of_leaf(c: Any) -> Any:
        if not isinstance(c, np.ndarray):
            return c
        return times_factorial(c[order - 1].astype(np.result_type(c, np.float64)), order)

    return as_gradient(mapped(of_leaf, coefficients), value)


def times_factorial(c: Any, order: int) -> Any:
    """Return ``c`` times the factorial of ``order``, which alone may be too large a number."""
    with np.errstate(over="ignore"):
        c = c * float(math.factorial(min(order, 170)))
        for k in range(171, order + 1):
            c = c * k
    return c


def nested(function: Callable[..., Any], n: int) -> Callable[..., Any]:
    """Return the ``n``-th derivative by forward mode inside of forward mode."""
    for _ in range(n):
        function = slope(function)
    return function


def slope(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the derivative of a function of a number: its tangent along 1.0."""

    def derivative(x: Any, *rest: Any) -> Any:
        return jvp(function, (x, *rest), (1.0,), argnums=(0,))[1]

    return derivative


MAKERS.update({jet: "jet", nth_derivative: "nth_derivative"})
ONLY_OUTSIDE[taylor] = "jet or nth_derivative, or jvp for one order after the other"

__all__ = ["jet", "nth_derivative", "taylor"]

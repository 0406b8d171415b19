"""External functions: code that is not compiled, with the derivative that its author gives."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adcompiler.runtime.adjoints.broadcasting import project
from adcompiler.runtime.adjoints.indexing import own
from adcompiler.runtime.structure import zeros_like

SCHEMES = ("central", "forward", "complex")


class ExternalFunction:
    """A function whose code is left alone: the derivative is what its methods say.

    A subclass defines ``forward(self, *x)``, which returns a number or an array, and
    ``adjoint(self, y_bar)``, which returns the cotangent of ``x``, or a tuple of one per argument
    (None: zero). What ``forward`` stores in ``self`` is there in ``adjoint``: each call works on a
    copy of the object, so it may be called anywhere, any number of times. ``tangent(self, *x_dot)``
    returns the tangent of the result; without it, ``adjoint`` is transposed, which takes one call
    of it for each element of the result.

    ``linear = True`` says that the function is linear, so that ``adjoint`` does not depend on
    ``x``: second derivatives of programs that call it are then known, and refused otherwise.

    A method ``adjoint_at(self, y_bar, *x)`` gives the same cotangents from the arguments alone. It
    is compiled, where second derivatives of programs that call a nonlinear function are asked for,
    and differentiated itself.

    ``returns`` may be set to an example of a result, such as ``0.0`` or ``np.empty((0, 0))``: the
    type is then known when compiling, and the code emitted is not generic. A result of another type
    or number of axes raises TypeError.

    ``pattern`` may be set to the sparsity pattern of the derivative: a boolean matrix with a row
    for each number of the result and a column for each one of the arguments, or a function of the
    arguments' shapes that returns it, ``staticmethod(lambda shape: np.eye(*shape))``. Patterns of
    programs follow it; without it every result depends on all arguments.

    ``fills = True`` says that the last argument is an array which ``forward`` fills, all of it, and
    that nothing is returned. The other methods are about the remaining arguments, and what was
    filled in is the value.

    Instances are called like functions. Other methods are never compiled.

    Example:
        >>> from adcompiler import ExternalFunction, grad
        >>> class Square(ExternalFunction):
        ...     returns = 0.0
        ...     def forward(self, x):
        ...         self.x = x
        ...         return x * x
        ...     def adjoint(self, y_bar):
        ...         return 2.0 * self.x * y_bar
        >>> grad(lambda x: 3.0 * Square()(x))(2.0)
        12.0
    """

    def forward(self, *x: Any) -> Any:
        """Return the value of the function; keep in ``self`` what ``adjoint`` needs."""
        raise NotImplementedError(f"{type(self).__name__} has no method forward(self, *x)")

    def adjoint(self, y_bar: Any) -> Any:
        """Return the cotangents of the arguments of the last ``forward``."""
        raise NotImplementedError(f"{type(self).__name__} has no method adjoint(self, y_bar)")

    def tangent(self, *x_dot: Any) -> Any:
        """Return the tangent of the value of the last ``forward``."""
        value = self.last_value
        rows = [self.adjoint(unit) for unit in units(value)]
        flat = [sum(map(inner, cotangents(row, len(x_dot)), x_dot)) for row in rows]
        return flat[0] if np.ndim(value) == 0 else np.reshape(flat, np.shape(value))

    returns: Any = None
    linear: bool = False
    pattern: Any = None
    fills: bool = False
    last_value: Any = None

    def __call__(self, *x: Any) -> Any:
        """Return the value at ``x``; with ``fills``, write it into the last argument."""
        if not self.fills:
            return call_external(self, *x)
        *given, buffer = x
        buffer[...] = call_external(self, *given, to_be_filled(buffer))
        return None


def call_external(function: ExternalFunction, *x: Any) -> Any:
    """Return the value of an external function."""
    return external_value(external_call(function, x), x)


def external_by_vjp(function: ExternalFunction, pull: Any, filled: Any, x: Any) -> Any:
    """Return the value; ``pull(y_bar, x)``, the derivative, is compiled and differentiated too.

    ``filled`` is a tuple of the array that the function is given for its value, or an empty one.
    """
    return call_external(function, x, *filled)


def external_of_two_by_vjp(
    function: ExternalFunction, pull: Any, filled: Any, a: Any, b: Any
) -> Any:
    """Do as ``external_by_vjp`` for a function of two arguments."""
    return call_external(function, a, b, *filled)


def external_of_three_by_vjp(
    function: ExternalFunction, pull: Any, filled: Any, a: Any, b: Any, c: Any
) -> Any:
    """Do as ``external_by_vjp`` for a function of three arguments."""
    return call_external(function, a, b, c, *filled)


def external_by_jac(function: ExternalFunction, jac: Any, filled: Any, *x: Any) -> Any:
    """Return the value; ``jac(*x)``, the derivative, is compiled and differentiated too."""
    return call_external(function, *x, *filled)


def external_call(function: ExternalFunction, x: tuple[Any, ...]) -> Any:
    """Call an external function; return a copy of it that knows of this call.

    What the copy keeps is not shared with anybody: arrays are copied on their way in and out.
    """
    token = copy.copy(function)
    given = own(x)
    value = token.forward(*given)
    token.last_value = as_promised(given[-1] if function.fills else value, function)
    return token


def to_be_filled(buffer: Any) -> Any:
    """Return an array like another one for an external function to fill: NaN where it does not."""
    return np.full_like(buffer, np.nan)


def external_value(token: Any, x: tuple[Any, ...]) -> Any:
    """Return the value of a call at ``x``."""
    return own(token.last_value)


def as_promised(value: Any, function: ExternalFunction) -> Any:
    """Return a result of the type that a function's ``returns`` has; raise if it has another."""
    example = function.returns
    if example is None:
        return value
    if isinstance(value, np.float64) and type(example) is float:
        return float(value)
    if type(value) is not type(example) or (
        isinstance(value, np.ndarray)
        and (value.ndim, value.dtype) != (example.ndim, example.dtype)
    ):
        raise TypeError(
            f"{type(function).__name__}.forward returned {described(value)}, but `returns` "
            f"promises {described(example)}"
        )
    return value


def described(value: Any) -> str:
    """Return what a value is, for messages."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with {value.ndim} axes"
    return f"a {type(value).__name__}"


def external_adjoint(token: Any, y_bar: Any, x: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the cotangents of the arguments of a call; raise where their shapes do not fit."""
    count = len(x) - token.fills
    bars = own(cotangents(token.adjoint(y_bar), count) + (None,) * token.fills)
    return tuple(
        fitted(bar, value, f"{type(token).__name__}.adjoint, argument {i}")
        for i, (bar, value) in enumerate(zip(bars, x, strict=True))
    )


def external_tangent(token: Any, x: tuple[Any, ...], x_dot: tuple[Any, ...]) -> Any:
    """Return the tangent of the value of a call at ``x``; None among ``x_dot`` means zero."""
    given = [
        zeros_like(value) if dot is None else dot for value, dot in zip(x, x_dot, strict=True)]
    return own(token.tangent(*given[: len(x) - token.fills]))


def cotangents(bars: Any, count: int) -> tuple[Any, ...]:
    """Return what ``adjoint`` returns as a tuple of one cotangent per argument."""
    if count == 1 and not (isinstance(bars, tuple) and len(bars) == 1):
        return (bars,)
    if not isinstance(bars, tuple) or len(bars) != count:
        got = f"a tuple of {len(bars)}" if isinstance(bars, tuple) else type(bars).__name__
        raise TypeError(f"adjoint must return a tuple of {count} cotangents, not {got}")
    return bars


def fitted(bar: Any, x: Any, what: str) -> Any:
    """Return a cotangent with the precision of ``x``; raise ValueError if the shape is another."""
    if bar is None:
        return zeros_like(x)
    if not isinstance(x, (np.ndarray, np.number, float, complex, int)):
        return bar
    if np.shape(bar) != np.shape(x):
        raise ValueError(f"{what}: the cotangent has shape {np.shape(bar)}, not {np.shape(x)}")
    if isinstance(x, np.ndarray):
        return project(np.asarray(bar), x)
    return project(bar, x)


def inner(bar: Any, dot: Any) -> Any:
    """Return what a cotangent makes of a tangent."""
    return 0.0 if bar is None else np.sum(np.asarray(bar) * np.asarray(dot))


def units(value: Any) -> list[Any]:
    """Return the unit cotangents of a value."""
    if np.ndim(value) == 0:
        return [1.0]
    rows = np.eye(np.size(value))
    return [row.reshape(np.shape(value)) for row in rows]


# -- functions with a derivative given beside them -------------------------------------------------


@dataclass(frozen=True)
class Bump:
    """Finite differences: the ``scheme``, and the step ``h`` relative to ``max(1, |x|)``."""

    scheme: str
    h: float | None

    def step(self, x: Any) -> float:
        """Return the step at one value."""
        h = self.h
        if h is None:
            h = {"central": 6e-6, "forward": 1.5e-8, "complex": 1e-20}[self.scheme]
        return float(h * max(1.0, abs(x)))

    def derivative(self, function: Callable[..., Any], x: tuple[Any, ...], i: int, at: Any) -> Any:
        """Return the derivative of a function in one element of its argument ``i``."""
        h = self.step(np.asarray(x[i])[at])

        def moved(by: Any) -> Any:
            array = np.array(x[i], dtype=np.result_type(np.asarray(x[i]).dtype, type(by), float))
            array[at] += by
            value = array if np.ndim(x[i]) else array[()].item()
            return np.asarray(function(*x[:i], value, *x[i + 1 :]))

        if self.scheme == "complex":
            return moved(1j * h).imag / h
        if self.scheme == "forward":
            return (moved(h) - moved(0.0)) / h
        return (moved(h) - moved(-h)) / (2.0 * h)


def bump(scheme: str = "central", h: float | None = None) -> Bump:
    """Return how ``external`` takes finite differences.

    Parameters:
        scheme (str): ``"central"`` and ``"forward"`` differences, or the ``"complex"`` step (for
            functions that take complex arguments and are analytic), each with two calls, one more
            or one for each element of the arguments.
        h (float): The step, relative to ``max(1, |x|)``; by default 6e-6, 1.5e-8 and 1e-20.

    Returns:
        Bump: What ``external(derivative=)`` takes.

    Raises:
        ValueError: For another scheme, and steps that are not positive.

    Example:
        >>> import math
        >>> from adcompiler import bump, external, grad
        >>> sine = external(math.sin, derivative=bump("central"), returns=0.0)
        >>> round(grad(lambda x: sine(x))(0.0), 9)
        1.0
    """
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, not {scheme!r}")
    return Bump(scheme, h)


class Wrapped(ExternalFunction):
    """A function with its derivative in one of the forms that ``external`` takes."""

    def __init__(
        self, function: Callable[..., Any], derivative: Bump | None, jac: Any, vjp: Any, jvp: Any,
        returns: Any, pattern: Any, fills: bool,
    ) -> None:
        self.function = function
        if fills:
            self.fills = True
        self.returns = returns
        if pattern is not None:
            self.pattern = pattern
        self.derivative = derivative
        self.jac = jac
        self.vjp = vjp
        self.jvp = jvp
        self.x: tuple[Any, ...] = ()
        self.__name__ = getattr(function, "__name__", "external")

    def forward(self, *x: Any) -> Any:
        """Return the value of the function."""
        self.x = x[: len(x) - self.fills]
        return self.function(*x)

    def value_at(self, *x: Any) -> Any:
        """Return the value of the function at other arguments, for differences."""
        if not self.fills:
            return self.function(*x)
        buffer = to_be_filled(self.last_value)
        self.function(*x, buffer)
        return buffer

    def adjoint(self, y_bar: Any) -> Any:
        """Return the cotangents by the derivative that was given."""
        if self.vjp is not None:
            return self.vjp(y_bar, *self.x)
        if self.jac is not None:
            rows = self.jac(*self.x)
            rows = rows if len(self.x) > 1 else (rows,)
            return tuple(
                contracted(y_bar, row, x) for row, x in zip(rows, self.x, strict=True)
            )
        if self.jvp is not None:
            return self.by_columns(y_bar, lambda i, at: self.column(i, at))
        bumped = self.derivative
        assert bumped is not None
        return self.by_columns(y_bar, lambda i, at: bumped.derivative(
            self.value_at, self.x, i, at))

    def tangent(self, *x_dot: Any) -> Any:
        """Return the tangent by the derivative that was given."""
        if self.jvp is not None:
            return self.jvp(self.x, x_dot)
        return super().tangent(*x_dot)

    def column(self, i: int, at: Any) -> Any:
        """Return the derivative in one element of argument ``i``, by the given ``jvp``."""
        dots = [np.zeros(np.shape(x)) for x in self.x]
        dots[i][at] = 1.0
        return self.jvp(self.x, tuple(d if np.ndim(d) else float(d) for d in dots))

    def by_columns(self, y_bar: Any, column: Callable[[int, Any], Any]) -> tuple[Any, ...]:
        """Return the cotangents from the columns of the Jacobian."""
        bars: list[Any] = []
        for i, x in enumerate(self.x):
            array = np.asarray(x)
            if array.dtype.kind == "c":
                raise TypeError(
                    f"{self.__name__}: argument {i} is complex, which needs vjp= or jac="
                )
            if array.dtype.kind not in "fiu":
                bars.append(None)
                continue
            bar = np.zeros(array.shape)
            for at in np.ndindex(array.shape):
                bar[at] = np.sum(np.real(np.conj(y_bar) * column(i, at)))
            bars.append(bar if array.ndim else float(bar))
        return tuple(bars)


def contracted(y_bar: Any, jacobian: Any, x: Any) -> Any:
    """Return what the conjugate transpose of a Jacobian, of shape ``y.shape + x.shape``, makes."""
    if jacobian is None:
        return None
    rows = np.reshape(jacobian, np.shape(y_bar) + np.shape(x))
    return np.tensordot(np.conj(rows), y_bar, (range(np.ndim(y_bar)),) * 2)[()]


def external(
    function: Callable[..., Any], *, derivative: Bump | None = None,
    jac: Callable[..., Any] | None = None, vjp: Callable[..., Any] | None = None,
    jvp: Callable[..., Any] | None = None, returns: Any = None, pattern: Any = None,
    fills: bool = False,
) -> ExternalFunction:
    """Return ``function`` as an external one, with its derivative given in one of four forms.

    Parameters:
        function (callable): A function of numbers and arrays, which is never compiled.
        derivative (Bump): ``bump(...)``: finite differences.
        jac (callable): ``jac(*x)`` returns the Jacobian, of shape ``y.shape + x.shape``; of several
            arguments, a tuple of one each.
        vjp (callable): ``vjp(y_bar, *x)`` returns the cotangents.
        jvp (callable): ``jvp(x, x_dot)``, with two tuples, returns the tangent.
        returns, pattern, fills: As in ``ExternalFunction``; none of these functions is given the
            array that is to be filled.

    Returns:
        ExternalFunction: A function of the same arguments.

    Raises:
        TypeError: Unless exactly one form is given.

    Example:
        >>> import math
        >>> from adcompiler import external, grad
        >>> sine = external(math.sin, vjp=lambda y_bar, x: y_bar * math.cos(x), returns=0.0)
        >>> grad(lambda x: 2.0 * sine(x))(0.0)
        2.0
    """
    given = [form for form in (derivative, jac, vjp, jvp) if form is not None]
    if len(given) != 1:
        raise TypeError("external() needs exactly one of derivative=, jac=, vjp= and jvp=")
    return Wrapped(function, derivative, jac, vjp, jvp, returns, pattern, fills)

"""Functions that are given to others: called by a library, and differentiated around its call.

A rule for such a library function is written with ``closed``, ``passive`` and ``implied`` (see
``adcompiler.rulekit``); what stands here runs in emitted code.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from adcompiler.runtime.structure import zeros_like

Pull = Callable[..., tuple[Any, ...]]
"""A pullback as arguments: the cotangent of the result in, a tuple of cotangents out."""


class Halves:
    """A compiled function: ``f(*args)`` is its value, ``linearize`` gives its pullback as well.

    ``active`` says which of its arguments the pullback returns cotangents for, ``wanted`` which of
    the other operands need one, and ``place`` is the line that is differentiated.
    """

    def __init__(
        self, primal: Callable[..., Any], augmented: Callable[..., Any],
        pullback: Callable[..., Any], active: tuple[bool, ...], wanted: tuple[bool, ...],
        place: str,
    ) -> None:
        self.primal = primal
        self.augmented = augmented
        self.pullback = pullback
        self.active = active
        self.count = sum(active)
        self.wanted = wanted
        self.place = place

    def __call__(self, *args: Any) -> Any:
        """Return the value at ``args``."""
        return self.primal(*args)

    def linearize(self, *args: Any) -> tuple[Any, Pull]:
        """Return the value at ``args`` and the pullback there, which always returns a tuple."""
        value, residuals = self.augmented(*args)

        def pull(g: Any) -> tuple[Any, ...]:
            if self.count == 0:
                return ()
            bars = self.pullback(residuals, g)
            return (bars,) if self.count == 1 else tuple(bars)

        return value, pull

    def zeros(self, rest: tuple[Any, ...]) -> list[Any]:
        """Return zero cotangents of those of its last arguments ``rest`` that are active."""
        first = len(self.active) - len(rest)
        return [zeros_like(x) for x, a in zip(rest, self.active[first:], strict=True) if a]


def halves(
    primal: Callable[..., Any], augmented: Callable[..., Any], pullback: Callable[..., Any],
    active: tuple[bool, ...], wanted: tuple[bool, ...] = (), place: str = "",
) -> Halves:
    """Return the functions of a compiled function as one object."""
    return Halves(primal, augmented, pullback, active, wanted, place)


class Closed:
    """A compiled function with its last arguments given: what it captured."""

    def __init__(self, function: Callable[..., Any], rest: tuple[Any, ...]) -> None:
        self.function = function
        self.rest = rest

    def __call__(self, *args: Any) -> Any:
        """Return the value at ``args``."""
        return self.function(*args, *self.rest)


def closed(function: Callable[..., Any], *rest: Any) -> Closed:
    """Return a compiled function with its last arguments given: what it captured."""
    return Closed(function, rest)


def passive(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return ``function(*args, **kwargs)``, through which no derivative is followed."""
    return function(*args, **kwargs)


def array_of(value: Any, dtype: str, ndim: int) -> Any:
    """Return what a library has found as an array of its own, of a type that is known."""
    found = np.asarray(value)
    if found.ndim != ndim or (found.dtype.kind == "c" and np.dtype(dtype).kind != "c"):
        raise TypeError(
            f"the derivative is known of arrays of {dtype} with {ndim} dimensions here, not of one "
            f"of {found.dtype} with {found.ndim}")
    return np.array(found, dtype)


def pushed(f: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> Any:
    """Return ``f(*primals)`` and its tangent, as ``jvp`` does; in a rule it is compiled."""
    return sys.modules["adcompiler"].jvp(f, primals, tangents)  # rules also run as they stand


def pulled(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)`` and what pulls back, as ``vjp`` does; in a rule it is compiled."""
    return sys.modules["adcompiler"].vjp(f, *args)


def gradient_of(f: Callable[..., Any]) -> Any:
    """Return the gradient of ``f`` in its first argument, as ``grad`` does."""
    only_compiled("gradient_of")


def jacobian_of(f: Callable[..., Any]) -> Any:
    """Return the Jacobian of ``f`` in its first argument, as ``jacobian`` does."""
    only_compiled("jacobian_of")


def symmetric(
    value: Any, primal: Callable[..., Any], active: tuple[int, ...], wanted: tuple[int, ...],
    single: bool, *args: Any,
) -> Any:
    """Return ``value``, the gradient of ``primal`` at ``args``, of which the Hessian is symmetric.

    Its arguments ``wanted`` are differentiated (``single``: one, and no tuple); ``active`` may
    carry a derivative.
    """
    return value


def hessian_product(
    primal: Callable[..., Any], wanted: tuple[int, ...], along: tuple[int, ...] | None,
    tangents: Any, args: tuple[Any, ...],
) -> Any:
    """Return the gradient of the derivative of ``primal``: a part for each of ``args``, or None.

    The derivative is along ``tangents`` of the arguments ``along``, or of all those that are not
    None; the gradient is in the arguments ``wanted``.
    """
    only_compiled("hessian_product")


def chosen(parts: tuple[Any, ...], places: int | tuple[int, ...]) -> Any:
    """Return the parts at some places, or at one."""
    only_compiled("chosen")


def only_compiled(name: str) -> NoReturn:
    """Raise the error for what stands for code."""
    raise TypeError(f"{name}() is read by the compiler, in a replacement, and never called")


def implied(
    value: Any, pull: Callable[..., Any], active: tuple[bool, ...], operands: int,
    function: Callable[..., Any], *args: Any,
) -> Any:
    """Return ``value``; what its cotangent is pulled back to is implied by what it satisfies."""
    return value
